package amplification

import (
	"errors"
	"math"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/poissonbinom"
)

// byLosses returns δ(ε) of so many rounds by their losses.
func byLosses(t testing.TB, r Round, rounds int, epsilon float64) float64 {
	t.Helper()
	a := must.Get(must.Get(accountant.New(accountant.ReplaceOne))(t).Charge(
		must.Get(r.Losses())(t), rounds))(t)
	best, _ := must.Get(a.AtEpsilon(epsilon, accountant.MethodPLD))(t).Best()
	return best.Cost.Delta
}

// power returns the product of a law with itself, n times.
func power(law []float64, n int) []float64 {
	out := []float64{1}
	for range n {
		next := make([]float64, 0, len(out)*len(law))
		for _, x := range out {
			for _, y := range law {
				next = append(next, x*y)
			}
		}
		out = next
	}
	return out
}

func hockey(p, q []float64, epsilon float64) float64 {
	d := 0.0
	for i := range p {
		d += max(0, p[i]-math.Exp(epsilon)*q[i])
	}
	return d
}

// blanketPair is the pair of laws of the package comment, by the blanket and its signs.
func blanketPair(reports int, epsilon float64) (p, q []float64) {
	kappa := math.Tanh(epsilon / 2)
	for c, pc := range poissonbinom.Binomial(reports-1, 2/(math.Exp(epsilon)+1)) {
		for a, w := range poissonbinom.Binomial(c+1, 0.5) {
			y := kappa * float64(2*a-c-1) / float64(c+1)
			p, q = append(p, pc*w*(1+y)), append(q, pc*w*(1-y))
		}
	}
	return p, q
}

// Rounds cost by their losses no less than what is enumerated, over what others hold, and hardly
// more than the pair of laws that is the worst for all ε at once.
func TestLossesCompose(t *testing.T) {
	raced.Sequential(t)
	for _, c := range []struct {
		reports, rounds int
		epsilon         float64
	}{{1, 1, 1}, {2, 3, 0.5}, {3, 2, 2}, {5, 3, 1}, {8, 2, 0.3}} {
		r := stream(c.reports, c.epsilon)
		p, q := blanketPair(c.reports, c.epsilon)
		p, q = power(p, c.rounds), power(q, c.rounds)
		for _, part := range []float64{0, 0.1, 0.5, 0.8} {
			e := part * c.epsilon * float64(c.rounds)
			got, pair := byLosses(t, r, c.rounds, e), hockey(p, q, e)
			if got < pair*(1-1e-9) || got > pair*1.02+1e-6 {
				t.Errorf("%+v: δ(%g) = %g, of the worst pair %g", c, e, got, pair)
			}
			for k := range c.reports {
				ones := counts(k+1, c.reports-1-k, c.epsilon)
				zeros := counts(k, c.reports-k, c.epsilon)
				x, y := power(ones, c.rounds), power(zeros, c.rounds)
				if truth := max(hockey(x, y, e), hockey(y, x, e)); got < truth*(1-1e-9) {
					t.Errorf("%+v: δ(%g) = %g, but %g where %d others hold 1", c, e, got, truth, k)
				}
			}
		}
	}
}

// A profile is nowhere below δ of one stream, and δ is that of the theorem by a plain double sum.
func TestLossesAreOfTheTheorem(t *testing.T) {
	raced.Sequential(t)
	for _, c := range []struct {
		reports int
		epsilon float64
	}{{40, 0.5}, {300, 1}, {1000, 2}} {
		p, q := blanketPair(c.reports, c.epsilon)
		for _, e := range []float64{0, 0.01, 0.03, 0.1, 0.3} {
			want := hockey(p, q, e)
			delta := must.Get(stream(c.reports, c.epsilon).Delta(e))(t)
			if delta < want*(1-1e-12) || delta > want*(1+1e-3)+1e-15 {
				t.Errorf("%+v: δ(%g) = %g, want %g", c, e, delta, want)
			}
			if got := byLosses(t, stream(c.reports, c.epsilon), 1, e); got < want*(1-1e-9) ||
				got > want*1.02+1e-9 {
				t.Errorf("%+v: δ(%g) = %g by losses, want %g", c, e, got, want)
			}
		}
	}
}

// Two streams cost twice; batches and other modes have no losses.
func TestLossesOfStreams(t *testing.T) {
	two := stream(50, 0.5)
	two.Streams = 2
	if one, both := byLosses(t, stream(50, 0.5), 6, 0.5), byLosses(t, two, 3, 0.5); one != both {
		t.Errorf("six rounds of a stream have δ = %g, three of two %g", one, both)
	}
	for name, change := range map[string]func(*Round){
		"a batch":         func(r *Round) { r.Rate = 0.5 },
		"a batch, exact":  func(r *Round) { r.Rate, r.Mode = 0.5, Exact },
		"another mode":    func(r *Round) { r.Mode = Ternary },
		"believed":        func(r *Round) { r.Mode = Numeric },
		"a third stream":  func(r *Round) { r.Streams = 3 },
		"no reports":      func(r *Round) { r.Reports = 0 },
		"a batch of many": func(r *Round) { r.Rate, r.OneBit = 0.01, false },
	} {
		r := stream(50, 0.5)
		change(&r)
		_, err := r.Losses()
		if err == nil || r.Streams == 1 && r.Reports > 0 && !errors.Is(err, ErrInapplicable) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// 16,512 reports on 999 streams at ε₀ = 0.58: ε of .584 by losses, .640 by divergences.
func TestLossesCostLessThanDivergences(t *testing.T) {
	raced.Sequential(t)
	r := stream(16512, 0.58)
	a := must.Get(must.Get(accountant.New(accountant.ReplaceOne))(t).Charge(
		must.Get(r.Losses())(t), 999))(t)
	best, _ := must.Get(a.AtDelta(1e-5, accountant.MethodPLD))(t).Best()
	must.Near(t, "by losses", best.Cost.Epsilon, 0.5835, 1e-3)
	eps, _, err := Epsilon(1e-5, Improved,
		accountant.Charge{Event: must.Get(r.Event())(t), Count: 999})
	must.Near(t, "by divergences", must.Get(eps, err)(t), 0.6398, 1e-3)
}
