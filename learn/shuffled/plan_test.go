package shuffled

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/internal/vec"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/shuffled/iteration"
	"github.com/darrm/darrm/learn/train"
)

func TestMethodNoise(t *testing.T) {
	const n = 200
	zero := func(int) float64 { return 0 }
	private, public := gaussians(t, 1, n, 2, zero, 1, false), gaussians(t, 2, n, 2, zero, 1, false)
	for _, v := range []struct {
		method Scheme
		p      float64
		sigma  float64
	}{
		{DPShuffleG, 0.5, 161.0921424},
		{PrivPub, 0.25, 78.9187}, {PrivPub, 0.5, 113.9093}, {PrivPub, 0.75, 138.5767},
		{PubPriv, 0.25, 78.9187}, {PubPriv, 0.5, 113.9093}, {PubPriv, 0.75, 138.5767},
		{Interleaved, 0.25, 13.1095}, {Interleaved, 0.5, 16.0293}, {Interleaved, 0.75, 22.5574},
		{DPSGD, 0.5, 26.76},
	} {
		c := config(v.method)
		c.Epochs, c.Fraction = 50, v.p
		p := plan(t, c, private, public)
		r := p.Report()
		must.Near(t, string(v.method), r.Noise, v.sigma, 2e-3)
		if p.Cost().Epsilon > 5 || p.Cost().Epsilon < 4.999 || p.Rounds() != 50 || p.n != n ||
			p.Dim() != 2 {
			t.Errorf("%s: %+v", v.method, r)
		}
		c.DoubledNoise = true
		doubled := plan(t, c, private, public)
		must.Near(t, "doubled", doubled.Report().Noise, 2*r.Noise, 1e-3)
		if doubled.Cost().Epsilon >= 3.5 {
			t.Errorf("%s: twice the noise still costs %g", v.method, doubled.Cost().Epsilon)
		}
	}
	for _, m := range []Scheme{ShuffleG, PublicOnly} {
		p := plan(t, config(m), private, public)
		want := 0.0
		if m == ShuffleG {
			want = math.Inf(1)
		}
		if p.Cost().Epsilon != want {
			t.Errorf("%s costs %g", m, p.Cost().Epsilon)
		}
	}
}

// Floors and clamps: never more private steps than asked for, and at least one of each.
func TestScheduleParts(t *testing.T) {
	for _, v := range []struct {
		m         Scheme
		n, epochs int
		p         float64
		want      Schedule
	}{
		{PrivPub, 159, 50, 0.25, Schedule{{12, 159, 1, 0}, {38, 0, 0, 0}}},
		{PubPriv, 159, 50, 0.75, Schedule{{13, 0, 0, 0}, {37, 159, 1, 0}}},
		{PubPriv, 159, 50, 0.001, Schedule{{49, 0, 0, 0}, {1, 159, 1, 0}}},
		{PrivPub, 159, 50, 0.999, Schedule{{49, 159, 1, 0}, {1, 0, 0, 0}}},
		{Interleaved, 159, 50, 0.5, Schedule{{50, 79, 1, 1}}},
		{Interleaved, 2, 50, 0.01, Schedule{{50, 1, 1, 1}}},
	} {
		s, err := v.m.Schedule(v.n, v.epochs, v.p)
		if err != nil || !slices.Equal(s, v.want) {
			t.Errorf("%v: %v, %v", v, s, err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.SampledFrom([]Scheme{PrivPub, PubPriv, Interleaved}).Draw(t, "m")
		n := rapid.IntRange(2, 500).Draw(t, "n")
		k := rapid.IntRange(2, 80).Draw(t, "K")
		p := rapid.Float64Range(0.001, 0.999).Draw(t, "p")
		s, err := m.Schedule(n, k, p)
		if err != nil || s.Epochs() != k {
			t.Fatalf("%v, %v", s, err)
		}
		private := 0
		for _, r := range s {
			if r.Epochs < 1 || r.Private < 0 || r.Private > n {
				t.Fatalf("%v", s)
			}
			private += r.Epochs * r.Private
		}
		most := p * float64(n*k)
		if m == Interleaved {
			most = max(most, float64(k))
		} else {
			most = max(most, float64(n))
		}
		if private < 1 || float64(private) > most*(1+1e-12) {
			t.Errorf("%d private steps, at most %g asked for", private, most)
		}
	})
}

func TestConfigErrors(t *testing.T) {
	good := config(Interleaved)
	private := records(t, [][]float64{{1, 0}, {0, 1}, {1, 1}}, []float64{0, 1, 1})
	public := records(t, [][]float64{{1, 0}, {0, 1}, {1, 1}}, []float64{0, 1, 0})
	if _, err := NewPlan(t.Context(), good, private, public); err != nil {
		t.Fatal(err)
	}
	nan := math.NaN()
	for want, f := range map[string]func(c *Config){
		"no task":                         func(c *Config) { c.Task = nil },
		"method = sgd":                    func(c *Config) { c.Method = "sgd" },
		"method = ":                       func(c *Config) { c.Method = "" },
		"epochs = 0":                      func(c *Config) { c.Epochs = 0 },
		"epochs = 1":                      func(c *Config) { c.Method, c.Epochs = PrivPub, 1 },
		"fraction = 0":                    func(c *Config) { c.Fraction = 0 },
		"fraction = 1":                    func(c *Config) { c.Fraction = 1 },
		"order":                           func(c *Config) { c.Order = 0 },
		"step size = NaN":                 func(c *Config) { c.StepSize = nan },
		"step size = 0":                   func(c *Config) { c.StepSize = 0 },
		"clip = 0":                        func(c *Config) { c.Clip = 0 },
		"clip = +Inf":                     func(c *Config) { c.Clip = math.Inf(1) },
		"noise = -1":                      func(c *Config) { c.Noise = -1 },
		"noise = 1, but it must be 0 for": func(c *Config) { c.Method, c.Noise = PublicOnly, 1 },
		"target epsilon = 0":              func(c *Config) { c.Target.Epsilon = 0 },
		"target epsilon = -1":             func(c *Config) { c.Target.Epsilon = -1 },
		"target epsilon = NaN":            func(c *Config) { c.Target.Epsilon = nan },
		"target epsilon = +Inf":           func(c *Config) { c.Target.Epsilon = math.Inf(1) },
		"target delta = 0":                func(c *Config) { c.Target.Delta = 0 },
		"target delta = 1":                func(c *Config) { c.Target.Delta = 1 },
		"accounting mode = poisson":       func(c *Config) { c.Mode = "poisson" },
		"mode rr-mixture": func(c *Config) {
			c.Mode, c.Order = iteration.RRMixture,
				iteration.ShuffledOnce
		},
		"mode cross-epoch":           func(c *Config) { c.Mode = iteration.CrossEpoch },
		"mode so-mixture":            func(c *Config) { c.Mode = iteration.SOMixture },
		"doubled noise = asked for":  func(c *Config) { c.Noise, c.DoubledNoise = 1, true },
		"conversion":                 func(c *Config) { c.Conversion = "kind" },
		"radius":                     func(c *Config) { c.Radius = -1 },
		"dimension of the start = 3": func(c *Config) { c.Start = make([]float64, 3) },
		"start = NaN":                func(c *Config) { c.Start = []float64{0, nan} },
		"ball radius":                func(c *Config) { c.Regularizer = geometry.Ball{} },
		"regulariser":                func(c *Config) { c.Regularizer = geometry.L2{Lambda: -1} },
	} {
		c := good
		f(&c)
		if _, err := NewPlan(t.Context(), c, private, public); err == nil ||
			!strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
	wide := records(t, [][]float64{{1, 0, 2}, {0, 1, 2}}, []float64{0, 1})
	few := records(t, [][]float64{{1, 0}}, []float64{0})
	labels := records(t, [][]float64{{1, 0}, {1, 1}, {0, 1}}, []float64{0, 2, 1})
	signs := records(t, [][]float64{{1, 0}, {1, 1}, {0, 1}}, []float64{-1, 1, 1})
	bare := records(t, [][]float64{{1, 0}, {1, 1}, {0, 1}}, nil)
	logistic := good
	logistic.Task = loss.Logistic{}
	for want, f := range map[string]func() (*Plan, error){
		"no private records": func() (*Plan, error) {
			return NewPlan(t.Context(), good, nil, public)
		},
		"number of public records = 0": func() (*Plan, error) {
			return NewPlan(t.Context(), good, private, nil)
		},
		"number of public records = 1": func() (*Plan, error) {
			return NewPlan(t.Context(), good, private, few)
		},
		"dimension of public records = 3": func() (*Plan, error) {
			return NewPlan(t.Context(), good, private, wide)
		},
		"responses are": func() (*Plan, error) {
			return NewPlan(t.Context(), good, private, bare)
		},
		"private record 2: label = 2": func() (*Plan, error) {
			return NewPlan(t.Context(), logistic, labels, public)
		},
		"public record 2: label = 2": func() (*Plan, error) {
			return NewPlan(t.Context(), logistic, private, labels)
		},
		"private record 1: label = -1, but it": func() (*Plan, error) {
			return NewPlan(t.Context(), logistic, signs, public)
		},
		"number of records = 1, but it must be": func() (*Plan, error) {
			return NewPlan(t.Context(), good, few, public)
		},
		"private record 1: no response": func() (*Plan, error) {
			return NewPlan(t.Context(), logistic, bare, bare)
		},
	} {
		if _, err := f(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
	ridge := config(DPShuffleG)
	ridge.Task = loss.LeastSquares{}
	var sample *data.SampleError
	if _, err := NewPlan(t.Context(), ridge, bare, nil); !errors.As(err, &sample) ||
		sample.Set != "private" || sample.Record != 1 {
		t.Errorf("least squares without responses: %v", err)
	}
	// n = 1 is fine where no public data are needed.
	one := good
	one.Method = DPShuffleG
	if _, err := NewPlan(t.Context(), one, few, nil); err != nil {
		t.Error(err)
	}
	for name, f := range map[string]func() (*data.Records, error){
		"no rows":   func() (*data.Records, error) { return data.NewRecords(0, 2, nil, nil) },
		"dimension": func() (*data.Records, error) { return data.NewRecords(1, 0, nil, nil) },
		"features": func() (*data.Records, error) {
			return data.NewRecords(2, 2, make([]float64, 3), nil)
		},
		"responses": func() (*data.Records, error) {
			return data.NewRecords(2, 1, make([]float64, 2), make([]float64, 1))
		},
		"NaN": func() (*data.Records, error) { return data.NewRecords(1, 1, []float64{nan}, nil) },
		"Inf": func() (*data.Records, error) {
			return data.NewRecords(1, 1, []float64{1}, []float64{math.Inf(1)})
		},
		"overflow": func() (*data.Records, error) { return data.NewRecords(math.MaxInt, 2, nil, nil) },
	} {
		if _, err := f(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// The smoothness that amplification rests on must hold for neighbouring data too.
func TestSmoothnessOfNeighbours(t *testing.T) {
	private := records(t, [][]float64{{1, 0}, {0, 1}, {1, 1}, {30, 40}}, []float64{0, 1, 1, 0})
	public := records(t, [][]float64{{1, 0}, {0, 1}, {1, 1}, {0, 1}}, []float64{0, 1, 1, 0})
	c := config(Interleaved)
	c.Task, c.StepSize, c.Radius = loss.Logistic{}, 1e-3, 0
	p := plan(t, c, private, public)
	must.Near(t, "smoothness", p.Report().Smoothness, 625, 1e-9)
	if p.Report().Amplification <= 1 || len(p.Report().Warnings) != 1 {
		t.Errorf("%+v", p.Report())
	}
	if _, err := train.NewRelease(p.Algorithm()); !errors.Is(err, iteration.ErrNotCertified) {
		t.Errorf("released with a smoothness from the data: %v", err)
	}
	c.Radius = 2
	p = plan(t, c, private, public)
	must.Near(t, "smoothness", p.Report().Smoothness, 1, 1e-9)
	if got := vec.Norm(p.private.Row(3)); got > 2 || got < 1.999 ||
		&p.private.Row(0)[0] == &private.Row(0)[0] || vec.Norm(private.Row(3)) != 50 {
		t.Errorf("shortened to %g", got)
	}
	if _, err := train.NewRelease(p.Algorithm()); err != nil {
		t.Error(err)
	}
	// Without amplification it does not matter, nor for mean estimation, where L = 1.
	c.Radius, c.Method = 0, DPShuffleG
	if _, err := train.NewRelease(plan(t, c, private, public).Algorithm()); err != nil {
		t.Error(err)
	}
	c.Method, c.Task = Interleaved, loss.MeanEstimation{}
	if _, err := train.NewRelease(plan(t, c, private, public).Algorithm()); err != nil {
		t.Error(err)
	}
	// Public data count as well, whatever the private radius is.
	c.Task, c.Radius, c.StepSize = loss.Logistic{}, 2, 1
	long := records(t, [][]float64{{30, 40}, {0, 1}}, []float64{0, 1})
	if p := plan(t, c, private, long); p.Report().Amplification != 1 {
		t.Errorf("step size 1 with public smoothness 625 amplified by %g", p.Report().Amplification)
	}
}

// What a plan says goes out with the model: where it can be released, nothing in it, and
// not that it can be, depends on the private records. Their number is public.
func TestReportsTellNothingOfTheRecords(t *testing.T) {
	raced.Sequential(t)
	y := []float64{0, 1, 1, 0}
	short := records(t, [][]float64{{1, 0}, {0, 1}, {1, 1}, {0, 1}}, y)
	long := records(t, [][]float64{{1, 0}, {0, 1}, {1, 1}, {30, 40}}, y)
	public := records(t, [][]float64{{1, 0}, {0, 1}, {1, 1}, {1, 1}}, y)
	modes := append(iteration.Modes(), "")
	for _, task := range []loss.Loss{loss.LeastSquares{}, loss.Logistic{}} {
		for _, m := range Schemes() {
			for _, mode := range modes {
				for _, order := range []iteration.SampleOrder{iteration.FixedOrder, iteration.ShuffledOnce,
					iteration.Reshuffled} {
					best := mode == "" || mode == iteration.Best
					slow := mode == iteration.GaussianExact || m == DPSGD || best
					if slow && (order != iteration.Reshuffled || task != loss.Loss(loss.Logistic{})) ||
						m == DPSGD && !best ||
						(mode == iteration.GaussianExact || best) && m != DPShuffleG && m != Interleaved {
						continue // the same
					}
					for _, radius := range []float64{0, 2} {
						c := config(m)
						// Between 2/L of the short records and of the long ones.
						c.Task, c.Mode, c.Order, c.Radius, c.StepSize = task, mode, order, radius, 0.05
						if m == DPSGD || m.IsPrivate() && (best || mode == iteration.RRMixture ||
							mode == iteration.SOMixture) {
							c.Noise = 20 // they are slow to calibrate
						}
						tell := func(private *data.Records) (string, bool) {
							p, err := NewPlan(t.Context(), c, private, public)
							if err != nil {
								return "no plan", false
							}
							if _, err := train.NewRelease(p.Algorithm()); err != nil {
								return err.Error(), false
							}
							return fmt.Sprintf("%+v", p.Report()), true
						}
						a, releasedA := tell(short)
						b, releasedB := tell(long)
						if releasedA != releasedB || releasedA && a != b {
							t.Errorf("%s %s %q %v radius %g:\n%s\n%s", task.Name(), m, mode, order, radius, a, b)
						}
					}
				}
			}
		}
	}
}

// The best mode rests on nothing that a record could decide: without a radius the smoothness
// is unknown, the plan is released on what holds without it, and says so. With a radius it
// needs no more noise than any mode by name.
func TestBestModeOfAPlan(t *testing.T) {
	raced.Sequential(t)
	private := records(t, [][]float64{{1, 0}, {0, 1}, {1, 1}, {0, 1}}, []float64{0, 1, 1, 0})
	public := records(t, [][]float64{{1, 0}, {0, 1}, {1, 1}, {1, 1}}, []float64{0, 1, 0, 1})
	c := config(Interleaved)
	c.Task, c.Mode, c.Radius = loss.Logistic{}, "", 0
	blind := plan(t, c, private, public)
	if _, err := train.NewRelease(blind.Algorithm()); err != nil {
		t.Error(err)
	}
	if r := blind.Report(); r.Mode != iteration.GaussianExact || r.Amplification != 1 ||
		r.Smoothness != 0 || len(r.Warnings) != 1 || len(r.Fallback) == 0 {
		t.Errorf("without a radius: %+v", r)
	}
	c.Mode = iteration.Paper
	if _, err := train.NewRelease(plan(t, c, private, public).Algorithm()); !errors.Is(err,
		iteration.ErrNotCertified) {
		t.Errorf("the source's mode without a radius: %v", err)
	}
	c.Radius = 2
	for _, order := range []iteration.SampleOrder{iteration.FixedOrder, iteration.ShuffledOnce,
		iteration.Reshuffled} {
		c.Order, c.Mode = order, iteration.Best
		best := plan(t, c, private, public)
		r := best.Report()
		if best.Cost().Epsilon > c.Target.Epsilon || len(r.Warnings) != 0 || len(r.Trials) == 0 ||
			!(r.Noise < blind.Report().Noise) {
			t.Errorf("%v: %+v", order, r)
		}
		for _, trial := range r.Trials {
			if c.Mode = trial.Mode; trial.Refused != nil {
				if _, err := NewPlan(t.Context(), c, private, public); !errors.Is(err,
					iteration.ErrNotCertified) {
					t.Errorf("%v: %s was refused, by name: %v", order, trial.Mode, err)
				}
				continue
			}
			if named := plan(t, c, private, public).Report(); r.Noise > named.Noise {
				t.Errorf("%v: noise %g, by %s only %g", order, r.Noise, trial.Mode, named.Noise)
			}
		}
	}
	// DP-SGD has one way of accounting only.
	c.Method, c.Mode, c.Order = DPSGD, iteration.Best, 0
	if got := plan(t, c, private, nil).Report().Mode; got != ModeUniformSampling {
		t.Errorf("dp-sgd: mode %s", got)
	}
}

// Without noise on private records the cost is 0 or +Inf at every δ, so none is needed.
func TestDeltaOfNoNoise(t *testing.T) {
	data, public := scalars(t, 1, 2, 3), scalars(t, 3, 2, 2)
	for m, want := range map[Scheme]float64{PublicOnly: 0, ShuffleG: math.Inf(1)} {
		c := config(m)
		c.Target = accountant.Cost{}
		if got := plan(t, c, data, public).Cost(); got != (accountant.Cost{Epsilon: want}) {
			t.Errorf("%s costs %v", m, got)
		}
		c.Target.Delta = 2
		if _, err := NewPlan(t.Context(), c, data, public); err == nil {
			t.Errorf("%s: delta = 2 accepted", m)
		}
	}
}

func TestAcceptance07PlanFallsBack(t *testing.T) {
	zero := func(int) float64 { return 0 }
	private, public := gaussians(t, 1, 100, 2, zero, 1, false), gaussians(t, 2, 100, 2, zero, 1, false)
	c := config(Interleaved)
	sigma := func(eta float64) (float64, iteration.Report) {
		c.StepSize = eta
		r := plan(t, c, private, public).Report()
		return r.Noise, r
	}
	amplified, r := sigma(2)
	if len(r.Warnings) != 1 || r.Amplification < 50 {
		t.Errorf("at 2/L: %+v", r)
	}
	full, r := sigma(2.0001)
	if len(r.Fallback) == 0 || r.Released != iteration.EveryIterate {
		t.Errorf("above 2/L: %+v", r)
	}
	must.Near(t, "noise", full/amplified, math.Sqrt(51), 1e-9)
}

func TestRelease(t *testing.T) {
	private := gaussians(t, 1, 40, 3, func(int) float64 { return 1 }, 1, false)
	p := plan(t, config(DPShuffleG), private, nil)
	a, err := train.NewRelease(p.Algorithm())
	if err != nil {
		t.Fatal(err)
	}
	b, err := train.NewRelease(p.Algorithm())
	if err != nil {
		t.Fatal(err)
	}
	if a.ID() == b.ID() || len(a.ID()) != 32 || a.Cost() != p.Cost() {
		t.Errorf("ids %s and %s, cost %v", a.ID(), b.ID(), a.Cost())
	}
	x, err := a.Run(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	y, err := b.Run(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if slices.Equal(x, y) {
		t.Error("two releases have the same noise")
	}
	if again, err := a.Run(context.Background(), nil); err != nil || !slices.Equal(again, x) {
		t.Errorf("a second Run returns %v, %v", again, err)
	}
	for _, v := range x {
		if math.Mod(v, releaseGrid(p)) != 0 {
			t.Errorf("%g is not a multiple of %g", v, releaseGrid(p))
		}
	}
	if _, err := train.NewRelease(plan(t, config(ShuffleG), private, nil).Algorithm()); err == nil {
		t.Error("a run without noise was released")
	}
	if r, err := train.NewRelease(plan(t, config(PublicOnly), private,
		gaussians(t, 2, 40, 3, func(int) float64 { return 1 }, 1, false)).Algorithm()); err != nil {
		t.Error(err)
	} else if _, err := r.Run(context.Background(), nil); err != nil {
		t.Error(err)
	}
}

// Interrupted at any epoch and resumed, a release is the same model under the same ID.
func TestCheckpoint(t *testing.T) {
	zero := func(int) float64 { return 0 }
	private, public := gaussians(t, 1, 30, 3, zero, 1, false), gaussians(t, 2, 30, 3, zero, 1, false)
	for _, order := range []iteration.SampleOrder{iteration.FixedOrder, iteration.ShuffledOnce,
		iteration.Reshuffled} {
		for _, m := range []Scheme{DPShuffleG, PrivPub, PubPriv, Interleaved, DPSGD} {
			c := config(m)
			c.Order, c.Regularizer = order, geometry.Ball{Radius: 5}
			p := plan(t, c, private, public)
			r, err := train.NewRelease(p.Algorithm())
			if err != nil {
				t.Fatal(err)
			}
			saved := [][]byte{r.Checkpoint()}
			want, err := r.Run(context.Background(), func(int) error {
				saved = append(saved, r.Checkpoint())
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			for epoch, b := range saved {
				again, err := train.ResumeRelease(plan(t, c, private, public).Algorithm(), b)
				if err != nil {
					t.Fatal(err)
				}
				if again.Round() != epoch || again.ID() != r.ID() {
					t.Errorf("epoch %d, id %s", again.Round(), again.ID())
				}
				if x, err := again.Run(context.Background(), nil); err != nil || !slices.Equal(x, want) {
					t.Errorf("%s %v from epoch %d: %v, %v, want %v", m, order, epoch, x, err, want)
				}
			}
		}
	}
}

func TestCheckpointIsRefused(t *testing.T) {
	private := gaussians(t, 1, 10, 3, func(int) float64 { return 0 }, 1, false)
	p := plan(t, config(DPShuffleG), private, nil)
	r, err := train.NewRelease(p.Algorithm())
	if err != nil {
		t.Fatal(err)
	}
	good := r.Checkpoint()
	other := config(DPShuffleG)
	other.StepSize = 0.02
	otherData := gaussians(t, 2, 10, 3, func(int) float64 { return 0 }, 1, false)
	tests := map[string]func() error{
		"another plan": func() error {
			_, err := train.ResumeRelease(plan(t, other, private, nil).Algorithm(), good)
			return err
		},
		"other data": func() error {
			_, err := train.ResumeRelease(plan(t, config(DPShuffleG), otherData, nil).Algorithm(), good)
			return err
		},
		"as a simulation": func() error { _, err := train.ResumeSimulation(p.Algorithm(), good); return err },
		"a simulation's": func() error {
			_, err := train.ResumeRelease(p.Algorithm(), train.Simulate(p.Algorithm(), 1).Checkpoint())
			return err
		},
		"nothing": func() error { _, err := train.ResumeRelease(p.Algorithm(), nil); return err },
		"of something longer": func() error {
			_, err := train.ResumeRelease(p.Algorithm(), append(bytes.Clone(good), 0))
			return err
		},
	}
	for name, f := range tests {
		if err := f(); !errors.Is(err, train.ErrCheckpoint) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for i := range good { // every byte flipped, every truncation
		bad := bytes.Clone(good)
		bad[i] ^= 1
		if _, err := train.ResumeRelease(p.Algorithm(), bad); !errors.Is(err, train.ErrCheckpoint) {
			t.Errorf("byte %d flipped: %v", i, err)
		}
		if _, err := train.ResumeRelease(p.Algorithm(), good[:i]); !errors.Is(err, train.ErrCheckpoint) {
			t.Errorf("cut to %d: %v", i, err)
		}
	}
	if _, err := train.ResumeRelease(p.Algorithm(), good); err != nil {
		t.Error(err)
	}
	s := train.Simulate(p.Algorithm(), 4)
	if again, err := train.ResumeSimulation(p.Algorithm(), s.Checkpoint()); err != nil {
		t.Error(err)
	} else if x, err := again.Run(context.Background(), nil); err != nil ||
		!slices.Equal(x, simulate(t, p, 4)) {
		t.Errorf("%v, %v", x, err)
	}
}

// A digest differs wherever anything does that a run depends on besides its coins: the same
// noise on anything else would be a second release.
func TestDigestBindsWhatARunDependsOn(t *testing.T) {
	zero := func(int) float64 { return 0 }
	private, public := gaussians(t, 1, 10, 3, zero, 1, false), gaussians(t, 2, 10, 3, zero, 1, false)
	digest := func(change func(*Config), public *data.Records) [32]byte {
		c := config(Interleaved)
		c.Fraction, c.Noise, c.Epochs, c.Radius = 0.5, 3, 4, 100
		change(&c)
		return plan(t, c, private, public).digest
	}
	known := map[[32]byte]string{digest(func(*Config) {}, public): "nothing"}
	for name, change := range map[string]func(*Config){
		"clip":              func(c *Config) { c.Clip *= 2 },
		"step size":         func(c *Config) { c.StepSize /= 2 },
		"noise":             func(c *Config) { c.Noise = 4 },
		"epochs":            func(c *Config) { c.Epochs = 5 },
		"fraction":          func(c *Config) { c.Fraction = 0.7 },
		"order":             func(c *Config) { c.Order = iteration.ShuffledOnce },
		"start":             func(c *Config) { c.Start = []float64{0, 0, 1e-3} },
		"regulariser":       func(c *Config) { c.Regularizer = geometry.L2{Lambda: 0.1} },
		"its weight":        func(c *Config) { c.Regularizer = geometry.L2{Lambda: 0.2} },
		"public gradients":  func(c *Config) { c.UnclippedPublic = true },
		"radius":            func(c *Config) { c.Radius = 0.5 }, // shortens records
		"public data":       nil,
		"DP-SGD's sampling": func(c *Config) { c.Method = DPSGD },
	} {
		of := public
		if change == nil {
			change, of = func(*Config) {}, gaussians(t, 3, 10, 3, zero, 1, false)
		}
		d := digest(change, of)
		if same, ok := known[d]; ok {
			t.Errorf("other %s: the digest is that of other %s", name, same)
		}
		known[d] = name
	}
}

func FuzzResume(f *testing.F) {
	r, err := data.NewRecords(2, 2, []float64{1, 2, 3, 4}, nil)
	if err != nil {
		f.Fatal(err)
	}
	p := plan(f, config(DPShuffleG), r, nil)
	f.Add(train.Simulate(p.Algorithm(), 1).Checkpoint())
	release, err := train.NewRelease(p.Algorithm())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(release.Checkpoint())
	f.Add(release.Checkpoint()[:30])
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := train.ResumeSimulation(p.Algorithm(), b); err == nil {
			if !bytes.Equal(s.Checkpoint(), b) {
				t.Error("accepted, but it is another")
			}
		} else if !errors.Is(err, train.ErrCheckpoint) {
			t.Error(err)
		}
		if _, err := train.ResumeRelease(p.Algorithm(), b); err != nil && !errors.Is(err, train.ErrCheckpoint) {
			t.Error(err)
		}
	})
}

// The zero Plan costs nothing, since it trains on nothing: no release is made of it.
func TestZeroPlanIsNotReleased(t *testing.T) {
	if r, err := train.NewRelease((&Plan{}).Algorithm()); err == nil {
		t.Errorf("%v", r)
	}
}

// A loss whose model is longer than a record would be read beyond its end.
func TestNetworksAreRefused(t *testing.T) {
	network, err := loss.NewNetwork(3)
	if err != nil {
		t.Fatal(err)
	}
	records, err := data.NewRecords(2, 2, []float64{1, 2, 3, 4}, []float64{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewPlan(t.Context(), Config{Task: network, Epochs: 1, StepSize: 0.1, Clip: 1},
		records, nil); err == nil || !strings.Contains(err.Error(), "task = network:3") {
		t.Errorf("%v", err)
	}
}

// Whoever plans may stop the calibration, in every mode, before it begins and between its prices,
// of which a closed form like Paper's has one.
func TestPlanHeedsItsContext(t *testing.T) {
	private := must.Get(data.NewRecords(40, 1, make([]float64, 40), nil))(t)
	for _, c := range []Config{
		{Method: DPShuffleG, Order: iteration.Reshuffled},
		{Method: DPShuffleG, Order: iteration.Reshuffled, Mode: iteration.RRMixture},
		{Method: DPShuffleG, Order: iteration.FixedOrder, Mode: iteration.Paper}, {Method: DPSGD},
	} {
		c.Task, c.Epochs, c.StepSize, c.Clip, c.Target = loss.MeanEstimation{}, 7, 0.1, 1,
			accountant.Cost{Epsilon: 0.913, Delta: 1e-6}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := NewPlan(ctx, c, private, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, mode %q: %v", c.Method, c.Mode, err)
		}
		if _, err := NewPlan(must.EndAfter(2, context.DeadlineExceeded), c, private,
			nil); c.Mode != iteration.Paper && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s, mode %q, after two prices: %v", c.Method, c.Mode, err)
		}
		if _, err := NewPlan(t.Context(), c, private, nil); err != nil {
			t.Errorf("%s, mode %q: %v", c.Method, c.Mode, err)
		}
	}
}
