package pairwise

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/traintest"
	"github.com/darrm/darrm/learn/train"
)

// trace is T3's data, and the indices of its run.
func trace(t testing.TB) (r samplesOf, indices []int) {
	x := [][]float64{{1, .5}, {.2, -.3}, {-.5, .1}, {-1, -.4}, {.6, -.9}, {-.1, .8}}
	return samplesOf{records(t, x, []float64{1, 1, 0, 0, 1, 0})}, []int{0, 3, 1, 2, 2, 4, 5, 0, 3}
}

// T3: the traces of Algorithm 1, for every loss, orientation and output.
func TestTraces(t *testing.T) {
	r, indices := trace(t)
	run := func(s Setting, output Output, schedule Schedule, lambda float64) *iterates {
		task, err := s.basic(6, 2)
		if err != nil {
			t.Fatal(err)
		}
		e := newIterates(&task, output)
		e.lambda = lambda
		for j := 1; j < len(indices); j++ {
			i, b := indices[j], indices[j-1]
			e.step(j, schedule.At(j), r.Row(i), r.Response(i), r.Row(b), r.Response(b))
		}
		return e
	}
	same := func(what string, got []float64, want ...float64) {
		t.Helper()
		for j := range want {
			if math.Abs(got[j]-want[j]) > 1e-9 {
				t.Errorf("%s = %.10f, want %.10f", what, got, want)
				return
			}
		}
	}
	for _, c := range []struct {
		loss string
		want [6]float64 // w_8, uniform, lagged
		risk float64
	}{
		{"hinge", [6]float64{0.9769686923, -0.2133826942, 0.9630617955, 0.0370080159, 0.7188196224,
			0.0903536895}, 0.0987480399},
		{"hinge:ordered", [6]float64{0.9312427797, -0.3643993486, 0.6906213899, -0.1634496743,
			0.4578106949, -0.0723498371}, 0.0596033377},
		{"logistic", [6]float64{0.9878233431, -0.1555796995, 0.8546255973, 0.0190925980, 0.6099597625,
			0.0691748248}, 0.2054172541},
		{"logistic:ordered", [6]float64{0.7229131160, -0.2388574179, 0.4265744307, -0.0971313106,
			0.2458461517, -0.0374169561}, 0.1406191661},
		{"square", [6]float64{0.4854671868, -0.5516476182, 0.8471201303, -0.0382090505, 0.6912685251,
			0.0841846902}, 0.0940664538},
		{"square:ordered", [6]float64{0.9255102723, 0.1116271921, 0.8506010821, 0.0830989365,
			0.6192235140, 0.0551921385}, 0.0673072414},
		{"loglink", [6]float64{0.7803093828, -0.1633191340, 0.5230926089, -0.0205927603, 0.3380312077,
			0.0247441983}, 0.0779380857},
		{"loglink:ordered", [6]float64{0.3878548682, -0.1327423358, 0.2222887559, -0.0540776648,
			0.1253250389, -0.0208920808}, 0.0561469706},
	} {
		s := Setting{Base: Base{Loss: pair(t, c.loss)}, Ball: 1}
		half := Schedule{StepSize: .5}
		same(c.loss+" last", run(s, Last, half, 0).model(), c.want[:2]...)
		uniform := run(s, Uniform, half, 0).model()
		same(c.loss+" uniform", uniform, c.want[2:4]...)
		same(c.loss+" lagged", run(s, Lagged, half, 0).model(), c.want[4:]...)
		if risk := Risk(s.Loss, r.Records, uniform); math.Abs(risk-c.risk) > 1e-9 {
			t.Errorf("%s: risk %.10f, want %.10f", c.loss, risk, c.risk)
		}
	}
	s := Setting{Base: Base{Loss: pair(t, "hinge")}, Ball: 2}
	strong := run(s, LaggedStrong, StrongSchedule(.4), .2)
	same("regularised last", strong.w, 0.5784400836, -0.4077575179)
	same("regularised", strong.model(), 0.9914772409, -0.3335987998)
	// The second half of T3's iterates, w_5 to w_8, as they are published.
	logistic := Setting{Base: Base{Loss: pair(t, "logistic")}, Ball: 1}
	task, err := logistic.basic(6, 2)
	if err != nil {
		t.Fatal(err)
	}
	suffix := newIterates(&task, Suffix)
	suffix.skipped = 4
	for j := 1; j < len(indices); j++ {
		i, b := indices[j], indices[j-1]
		suffix.step(j, .5, r.Row(i), r.Response(i), r.Row(b), r.Response(b))
	}
	must.Near(t, "suffix", suffix.model()[0], (.99999138+.97013159+.96950334+.98782334)/4, 1e-8)
	must.Near(t, "suffix", suffix.model()[1], (.00415107-.24257924-.24507812-.15557970)/4, 1e-7)
	if _, err := NewOnline(logistic, 2, Schedule{StepSize: .5}, Suffix); err == nil {
		t.Error("the second half of a stream without an end")
	}
	// Last and Uniform differ in the model that is returned, not in the iterates.
	if a, b := run(s, Last, Schedule{StepSize: .5}, 0).model(),
		run(s, Uniform, Schedule{StepSize: .5}, 0).w; !slices.Equal(a, b) {
		t.Error("the output changes the iterates")
	}
}

// The stream is Algorithm 1 with the records in order, keeps no example but one, and what it
// refuses is as if it had not been.
func TestOnline(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	r := gaussians(t, rng, 60, 3, 1, .5, .3)
	s := Setting{Base: Base{Loss: pair(t, "logistic"), Radius: 1}, Ball: 2}
	for _, output := range []Output{Uniform, Lagged, LaggedStrong, Last} {
		schedule := Schedule{StepSize: 1, Decay: Root}
		o, err := NewOnline(s, 3, schedule, output)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 60 {
			if err := o.Learn(r.Row(i), r.Response(i)); err != nil {
				t.Fatal(err)
			}
			if i%10 == 0 {
				for _, bad := range [][]float64{{1, 2}, {1, 2, math.NaN()}} {
					if o.Learn(bad, 1) == nil {
						t.Error("taken", bad)
					}
				}
				if o.Learn(r.Row(0), -1) == nil {
					t.Error("another class is taken")
				}
			}
		}
		got, err := o.Model()
		if err != nil || o.Seen() != 60 {
			t.Fatal(err, o.Seen())
		}
		want := traintest.Simulate(t, traintest.Trained(t,
			plan(t, SGD{Setting: s, Schedule: schedule, Sampling: InOrder, Output: output}, 60, 3), r), 1)
		if floats.Distance(got, want, 2) > 1e-12 {
			t.Errorf("%s: %v, in order %v", output, got, want)
		}
	}
	o, err := NewOnline(Setting{Base: Base{Loss: pair(t, "square")}}, 1, Schedule{StepSize: 1e40},
		Last)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		if err := o.Learn([]float64{float64(1-2*(i%2)) * 1e20}, float64(i%2)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := o.Model(); !errors.Is(err, train.ErrDiverged) {
		t.Error("diverged:", err)
	}
	if n := testing.AllocsPerRun(100, func() { _ = o.Learn([]float64{1}, 1) }); n > 1 {
		t.Errorf("%g allocations an example", n)
	}
}

// The projection to two balls is the point of both that is nearest: by a search over a grid.
func TestIntersect(t *testing.T) {
	rng := rand.New(rand.NewPCG(33, 34))
	for range 60 {
		centre := unit(rng, 2)
		floats.Scale(rng.Float64(), centre)
		r := .05 + rng.Float64()
		w := []float64{3 * rng.NormFloat64(), 3 * rng.NormFloat64()}
		got := slices.Clone(w)
		intersect(got, 1, centre, r)
		if floats.Norm(got, 2) > 1+1e-9 || floats.Distance(got, centre, 2) > r*(1+1e-9) {
			t.Fatalf("%v is outside", got)
		}
		best := math.Inf(1)
		for a := -1.0; a <= 1; a += .01 {
			for b := -1.0; b <= 1; b += .01 {
				if v := []float64{a, b}; floats.Norm(v, 2) <= 1 && floats.Distance(v, centre, 2) <= r {
					best = min(best, floats.Distance(v, w, 2))
				}
			}
		}
		if d := floats.Distance(got, w, 2); d > best+1e-9 {
			t.Errorf("%v is %g away, %g is possible", got, d, best)
		}
	}
}

func TestSchedules(t *testing.T) {
	for _, c := range []struct {
		s    Schedule
		want [3]float64 // at 1, 4, 9
	}{
		{Schedule{StepSize: 3}, [3]float64{3, 3, 3}},
		{Schedule{StepSize: 3, Decay: Root}, [3]float64{3, 1.5, 1}},
		{StrongSchedule(.5), [3]float64{2, .8, .4}},
		{PLSchedule(.5, 1), [3]float64{.4, 4. / 13, 4. / 18}},
	} {
		for i, t1 := range []int{1, 4, 9} {
			must.Near(t, "step", c.s.At(t1), c.want[i], 1e-15)
		}
	}
	// E4: with the shift 4L²η² ≤ 1 from the first step on, without it not.
	if s := PLSchedule(.1, 2); 4*4*s.At(1)*s.At(1) > 1 {
		t.Error("the first step is too long")
	}
}

// A plan's suffix is the second half of its steps: 2/T times the sum that the uniform averages of
// the whole and of its first half leave.
func TestSuffixOfAPlan(t *testing.T) {
	r := gaussians(t, rand.New(rand.NewPCG(4, 1)), 40, 3, 1, .5, .3)
	model := func(output Output, passes int) []float64 {
		p, err := SGD{Setting: Setting{Base: Base{Loss: pair(t, "hinge"), Radius: 1}, Ball: 2},
			Schedule: Schedule{StepSize: .3}, Output: output, Passes: passes}.Plan(40, 3)
		if err != nil {
			t.Fatal(err)
		}
		return traintest.Simulate(t, traintest.Trained(t, p, r), 5)
	}
	whole, half, suffix := model(Uniform, 4), model(Uniform, 2), model(Suffix, 4)
	for j := range suffix {
		must.Near(t, "suffix", suffix[j], 2*whole[j]-half[j], 1e-9)
	}
}
