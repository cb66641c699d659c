package accountant

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
)

func mustHockeyStick(t testing.TB, points ...HockeyStickPoint) HockeyStick {
	t.Helper()
	return must.Get(NewHockeyStick(ReplaceOne, "Theorem 3", points))(t)
}

// outcomes is a mechanism on two neighbours by its definition.
type outcomes struct{ p, q []float64 }

func (o outcomes) swapped() outcomes { return outcomes{o.q, o.p} }

// delta is Σ (p - e^ε·q)₊.
func (o outcomes) delta(epsilon float64) float64 {
	sum := 0.0
	for i, p := range o.p {
		sum += max(0, p-math.Exp(epsilon)*o.q[i])
	}
	return sum
}

// and is both mechanisms, by enumeration.
func (o outcomes) and(x outcomes) (both outcomes) {
	for i := range o.p {
		for j := range x.p {
			both.p, both.q = append(both.p, o.p[i]*x.p[j]), append(both.q, o.q[i]*x.q[j])
		}
	}
	return both
}

// response is randomised response.
func response(epsilon float64) outcomes {
	p := 1 / (1 + math.Exp(-epsilon))
	return outcomes{[]float64{p, 1 - p}, []float64{1 - p, p}}
}

// pointsOf are the points of both directions, rounded up.
func (o outcomes) pointsOf(epsilons ...float64) (points []HockeyStickPoint) {
	least := 1.0
	for _, e := range epsilons {
		least = min(least, max(o.delta(e), o.swapped().delta(e))*(1+1e-12)+1e-18)
		points = append(points, HockeyStickPoint{e, least})
	}
	return points
}

func grid(high float64, n int) (g []float64) {
	for k := range n + 1 {
		g = append(g, high*float64(k)/float64(n))
	}
	return g
}

func deltaOf(t testing.TB, epsilon float64, charge Charge) float64 {
	t.Helper()
	return must.Get(lossDelta([]Charge{charge}, epsilon, testBits))(t)
}

// The profile of randomised response is that of the worst pure mechanism, however many points
// define it, and so are compositions and divergences.
func TestHockeyStickOfRandomizedResponse(t *testing.T) {
	const eps = 0.7
	want := ApproxDP{Cost{Epsilon: eps}, ReplaceOne}
	for _, n := range []int{1, 7, 40} {
		points := response(eps).pointsOf(grid(eps, n)...)
		points[n] = HockeyStickPoint{eps, 0}
		e := mustHockeyStick(t, points...)
		for _, alpha := range []float64{1.001, 1.5, 2, 10, 1e3, 1e8} {
			got, err := RDP(e, alpha)
			if err != nil {
				t.Fatal(err)
			}
			if worst := responseRDP(eps, alpha); got > worst || got < worst*(1-1e-6) {
				t.Errorf("%d points, order %v: %v, want %v", n, alpha, got, worst)
			}
		}
		for _, count := range []int{1, 2, 30} {
			for _, x := range []float64{0, 0.3, 1, 5} {
				got, worst := deltaOf(t, x, Charge{e, count}), deltaOf(t, x, Charge{want, count})
				if math.Abs(got-worst) > 1e-6*worst+1e-9 {
					t.Errorf("%d points, %d times, ε = %v: %v, want %v", n, count, x, got, worst)
				}
			}
		}
	}
}

// What the definition spends is never above the event's δ, in each direction and in mixtures of
// both, composed by enumeration; for many points it is near.
func TestHockeyStickAgainstEnumeration(t *testing.T) {
	raced.Sequential(t)
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		n := rapid.IntRange(2, 4).Draw(t, "outcomes")
		o := outcomes{make([]float64, n), make([]float64, n)}
		sp, sq := 0.0, 0.0
		for i := range n {
			o.p[i] = r.Float64() + 0.02
			o.q[i] = o.p[i] * math.Exp(2*r.Float64()-1)
			sp, sq = sp+o.p[i], sq+o.q[i]
		}
		most := 0.0
		for i := range n {
			o.p[i], o.q[i] = o.p[i]/sp, o.q[i]/sq
			most = max(most, math.Abs(math.Log(o.p[i]/o.q[i])))
		}
		points := o.pointsOf(grid(most*rapid.Float64Range(0.3, 1.3).Draw(t, "reach"),
			rapid.IntRange(1, 30).Draw(t, "points"))...)
		e, err := NewHockeyStick(ReplaceOne, "T", points)
		if err != nil {
			t.Fatal(err)
		}
		a, err := New(ReplaceOne)
		if err != nil {
			t.Fatal(err)
		}
		count := rapid.IntRange(1, 3).Draw(t, "count")
		if a, err = a.Charge(e, count); err != nil {
			t.Fatal(err)
		}
		sums := []outcomes{{[]float64{1}, []float64{1}}}
		for range count {
			var next []outcomes
			for _, s := range sums {
				next = append(next, s.and(o), s.and(o.swapped()))
			}
			sums = next
		}
		for _, x := range []float64{0, most / 3, 1.7 * most} {
			delta, err := lossDelta(a.Charges(), x, 10)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range sums {
				if truth := s.delta(x); delta < truth-1e-15 {
					t.Fatalf("%+v by %v, %d times, ε = %v: δ %v, but it is %v", o, points, count, x, delta, truth)
				}
			}
		}
	})
}

// A few dozen points lose little: two and three answers of a mechanism that is alike in both
// directions cost what the definition says, within a hundredth.
func TestHockeyStickHasPower(t *testing.T) {
	o := outcomes{[]float64{.4, .15, .1, .25, .1}, []float64{.15, .4, .1, .1, .25}}
	most := math.Log(.4 / .15)
	points := o.pointsOf(grid(most, 32)...)
	points[32].Delta = 0
	e := mustHockeyStick(t, points...)
	if two := o.and(o); math.Abs(two.delta(0)-two.swapped().delta(0)) > 1e-15 {
		t.Fatal("not alike")
	}
	sum := o
	for count := 1; count <= 3; count++ {
		for _, x := range []float64{0, 0.2, 0.5, most * float64(count) * 0.8} {
			got, truth := deltaOf(t, x, Charge{e, count}), sum.delta(x)
			if got < truth || got > truth*1.01+1e-12 {
				t.Errorf("%d times, ε = %v: %v, truth %v", count, x, got, truth)
			}
			rr := deltaOf(t, x, Charge{ApproxDP{e.Cost(), ReplaceOne}, count})
			if got > rr*(1+1e-9) {
				t.Errorf("%d times, ε = %v: %v, more than the worst mechanism's %v", count, x, got, rr)
			}
		}
		sum = sum.and(o)
	}
	// A divergence is that of the definition, or just above.
	for _, alpha := range []float64{1.01, 2, 7.5, 60} {
		moment := 0.0
		for i, p := range o.p {
			moment += o.q[i] * math.Pow(p/o.q[i], alpha)
		}
		truth := math.Log(moment) / (alpha - 1)
		if got, err := RDP(e, alpha); err != nil || got < truth || got > truth*1.01 {
			t.Errorf("order %v: %v, %v, truth %v", alpha, got, err, truth)
		}
	}
}

// Points that lie above chords of others change nothing: the true curve is convex.
func TestHockeyStickTakesTheLowerHull(t *testing.T) {
	few := mustHockeyStick(t, HockeyStickPoint{0, .2}, HockeyStickPoint{.5, .02},
		HockeyStickPoint{1, .001})
	more := mustHockeyStick(t, HockeyStickPoint{0, .2}, HockeyStickPoint{.2, .2},
		HockeyStickPoint{.5, .02}, HockeyStickPoint{.9, .02}, HockeyStickPoint{1, .001})
	if !reflect.DeepEqual(few.proved.loss, more.proved.loss) {
		t.Errorf("%v, %v", few.proved.loss, more.proved.loss)
	}
	sum := few.proved.loss.infinite
	for i, a := range few.proved.loss.atoms {
		sum += a.mass
		if mirror := few.proved.loss.atoms[len(few.proved.loss.atoms)-1-i]; math.Abs(a.loss+mirror.loss) >
			1e-15 {
			t.Errorf("losses %v and %v", a.loss, mirror.loss)
		}
	}
	if !(sum >= 1 && sum < 1+1e-14) || few.proved.loss.infinite != 0.001 {
		t.Errorf("masses sum to %v", sum)
	}
	// δ of the atoms is the points' own where they are corners, and what chords say in between.
	for x, want := range map[float64]float64{0: .2, .5: .02, 1: .001, 1.5: .001,
		math.Log((1 + math.Exp(.5)) / 2): .11} {
		got := few.proved.loss.infinite
		for _, a := range few.proved.loss.atoms {
			got += a.mass * max(0, -math.Expm1(x-a.loss))
		}
		if got < want*(1-1e-15) || got > want*(1+1e-12) {
			t.Errorf("δ(%v) = %v, want %v", x, got, want)
		}
	}
}

func TestHockeyStickRefusals(t *testing.T) {
	type points = []HockeyStickPoint
	for name, p := range map[string]points{
		"none": nil, "not from 0": {{.1, .5}}, "not ascending": {{0, .5}, {.2, .1}, {.2, .1}},
		"rising":  {{0, .5}, {.2, .6}},
		"above 1": {{0, 1.1}, {1, 0}}, "negative": {{0, .5}, {1, -1e-9}}, "NaN": {{0, math.NaN()}},
		"NaN ε":     {{0, .5}, {math.NaN(), .1}},
		"too large": {{0, .5}, {701, .1}}, "nothing": {{0, 1}},
		"too many": slices.Repeat(points{{0, 0}}, 2001),
	} {
		if e, err := NewHockeyStick(ReplaceOne, "T", p); err == nil || e != (HockeyStick{}) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := NewHockeyStick(0, "T", points{{0, .1}}); err == nil {
		t.Error("no relation")
	}
	if _, err := NewHockeyStick(ReplaceOne, "", points{{0, .1}}); err == nil {
		t.Error("no theorem")
	}
	e := mustHockeyStick(t, HockeyStickPoint{0, .1})
	for _, x := range []Event{HockeyStick{}, &e, &HockeyStick{}} {
		if _, err := mustNew(t, ReplaceOne).Charge(x, 1); err == nil {
			t.Errorf("%T is charged", x)
		}
	}
	if _, err := RDP(e, 2); !errors.Is(err, ErrUnsupported) {
		t.Errorf("δ > 0 has no divergence: %v", err)
	}
	if _, err := mustNew(t, AddOrRemoveOne).Charge(e, 1); !errors.Is(err, ErrUnsupported) {
		t.Errorf("another relation: %v", err)
	}
}

// The points are copied, and equal events are one.
func TestHockeyStickIsACopy(t *testing.T) {
	points := []HockeyStickPoint{{0, .1}, {1, 0}}
	e, again := mustHockeyStick(t, points...), mustHockeyStick(t, points...)
	points[0].Delta = 0
	if a := mustNew(t, ReplaceOne, Charge{e, 2}, Charge{again, 1}); len(a.Charges()) != 1 ||
		a.Charges()[0].Count != 3 {
		t.Errorf("%v", a.Charges())
	}
	if e.Cost() != (Cost{Epsilon: 1}) || deltaOf(t, 0, Charge{e, 1}) < .1 {
		t.Errorf("%v", e.Cost())
	}
	best, err := mustNew(t, ReplaceOne, Charge{e, 3}).AtDelta(0)
	if b, ok := best.Best(); err != nil || !ok || b.Cost != (Cost{Epsilon: 3}) {
		t.Errorf("at δ = 0: %v, %v", best, err)
	}
}
