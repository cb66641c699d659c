package accountant

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
)

func mustCurve(t testing.TB, relation Relation, points ...CurvePoint) Curve {
	t.Helper()
	return must.Get(NewCurve(relation, "Theorem 1", points))(t)
}

func mustProfile(t testing.TB, relation Relation, parts ...ProfilePart) Profile {
	t.Helper()
	return must.Get(NewProfile(relation, "Theorem 2", parts))(t)
}

// A mechanism that reveals nothing has no divergence.
func TestProfileOfNothing(t *testing.T) {
	p := mustProfile(t, ReplaceOne, ProfilePart{1, math.Inf(1)})
	for _, alpha := range []float64{1.5, 2, 100} {
		if got := p.proved.loss.rdp(alpha); got != 0 {
			t.Errorf("order %v: %v", alpha, got)
		}
	}
}

func TestProvedEventsAreChecked(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for name, points := range map[string][]CurvePoint{
		"no orders":         {},
		"order 1":           {{1, 0.1}},
		"order below 1":     {{0.5, 0.1}, {2, 0.2}},
		"order NaN":         {{nan, 0.1}},
		"order infinite":    {{2, 0.1}, {inf, 0.1}},
		"order twice":       {{2, 0.1}, {2, 0.1}},
		"orders descend":    {{3, 0.1}, {2, 0.2}},
		"negative":          {{2, -1e-300}},
		"ρ NaN":             {{2, nan}},
		"ρ infinite":        {{2, 0.1}, {3, inf}},
		"divergences fall":  {{2, 0.1}, {3, math.Nextafter(0.1, 0)}},
		"second order is 1": {{2, 0.1}, {1, 0.1}},
	} {
		if c, err := NewCurve(ReplaceOne, "T", points); err == nil || c != (Curve{}) {
			t.Errorf("%s: %v, %v", name, c, err)
		}
	}
	for name, parts := range map[string][]ProfilePart{
		"no parts":        {},
		"mass lost":       {{0.4, 1}, {0.5, 2}},
		"little lost":     {{0.5, 1}, {0.5 - 1e-9, inf}},
		"too much":        {{0.6, 1}, {0.5, 2}},
		"weight 0":        {{0, 1}, {1, 2}},
		"negative weight": {{-0.5, 1}, {1, 2}, {0.5, 3}},
		"weight NaN":      {{nan, 1}},
		"weight above 1":  {{1.5, 1}},
		"too little σ":    {{1, 1e-5}},
		"negative σ":      {{1, -1}},
		"σ NaN":           {{0.5, 1}, {0.5, nan}},
		"too many":        slices.Repeat([]ProfilePart{{1.0 / 2001, 1}}, 2001),
	} {
		if p, err := NewProfile(ReplaceOne, "T", parts); err == nil || p != (Profile{}) {
			t.Errorf("%s: %v, %v", name, p, err)
		}
	}
	for _, relation := range []Relation{0, BlankOne + 1, ReplaceOne} {
		theorem := ""
		if relation != ReplaceOne {
			theorem = "T"
		}
		if c, err := NewCurve(relation, theorem, []CurvePoint{{2, 1}}); err == nil {
			t.Errorf("%v", c)
		}
		if p, err := NewProfile(relation, theorem, []ProfilePart{{1, 1}}); err == nil {
			t.Errorf("%v", p)
		}
	}
}

// forgedCurve has every method of a Curve, and a relation that suits.
type forgedCurve struct{ Curve }

func (forgedCurve) Relation() Relation { return ReplaceOne }

type forgedProfile struct{ Profile }

func (forgedProfile) Relation() Relation { return ReplaceOne }

// What nobody proved is refused wherever an event is taken.
func TestProvedEventsCannotBeForged(t *testing.T) {
	curve, profile := mustCurve(t, ReplaceOne, CurvePoint{2, 1}),
		mustProfile(t, ReplaceOne, ProfilePart{1, 1})
	none := mustNew(t, ReplaceOne)
	for _, e := range []Event{
		Curve{}, Profile{}, &Curve{}, &Profile{}, &curve, &profile, forgedCurve{curve},
		forgedProfile{profile}, forgedCurve{}, forgedProfile{}, (*Curve)(nil),
	} {
		if a, err := none.Charge(e, 1); err == nil || len(a.Charges()) > 0 {
			t.Errorf("%T is charged", e)
		}
		if _, err := Compose(Charge{e, 1}); err == nil {
			t.Errorf("%T is composed", e)
		}
		if _, err := RDP(e, 2); err == nil {
			t.Errorf("%T has a divergence", e)
		}
	}
	other := mustNew(t, AddOrRemoveOne)
	for _, e := range []Event{curve, profile} {
		if _, err := other.Charge(e, 1); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%v for %q is charged for %q: %v", e, e.Relation(), other.relation, err)
		}
		if _, err := Compose(Charge{e, 1}, Charge{Gaussian{1, AddOrRemoveOne}, 1}); !errors.Is(err,
			ErrUnsupported) {
			t.Errorf("%v is composed with another relation: %v", e, err)
		}
		if !strings.Contains(e.String(), "Theorem") {
			t.Errorf("%v does not say what proves it", e)
		}
	}
}

// Slices that the caller changes later change no event, and equal events are charged together.
func TestProvedEventsAreCopies(t *testing.T) {
	points, parts := []CurvePoint{{2, 0.1}, {8, 0.5}}, []ProfilePart{{0.5, 2}, {0.5, math.Inf(1)}}
	curve, profile := mustCurve(t, ReplaceOne, points...), mustProfile(t, ReplaceOne, parts...)
	a := mustNew(t, ReplaceOne, Charge{curve, 3}, Charge{profile, 1})
	before, err := a.AtDelta(1e-5, MethodRDP)
	if err != nil {
		t.Fatal(err)
	}
	again := mustNew(t, ReplaceOne, Charge{mustCurve(t, ReplaceOne, points...), 2}, Charge{curve, 1},
		Charge{mustProfile(t, ReplaceOne, parts...), 1})
	if c := again.Charges(); len(c) != 2 || c[0].Count != 3 {
		t.Errorf("%v", c)
	}
	points[0], points[1], parts[0], parts[1] = CurvePoint{2, 0}, CurvePoint{8, 0},
		ProfilePart{0.5, 1e8}, ProfilePart{0.5, 1e8}
	for _, a := range []Accountant{a, again} {
		after, err := a.AtDelta(1e-5, MethodRDP)
		if err != nil || len(before.Bounds) != 1 || after.Bounds[0] != before.Bounds[0] {
			t.Errorf("%+v, then %+v, %v", before, after, err)
		}
	}
	if c := mustNew(t, ReplaceOne, Charge{curve, 3},
		Charge{mustCurve(t, ReplaceOne, points...), 1}).Charges(); len(c) != 2 {
		t.Errorf("different curves are charged together: %v", c)
	}
}

// Between its points a Curve is the mean of (α-1)ρ(α), never below it. Points of the Rényi
// curve of normal noise are its own curve from above.
func TestCurveBetweenItsOrders(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sigma := math.Pow(10, rapid.Float64Range(-2, 2).Draw(t, "log σ"))
		orders := rapid.SliceOfNDistinct(rapid.Float64Range(1.001, 100), 1, 6, rapid.ID).Draw(t, "orders")
		slices.Sort(orders)
		var points []CurvePoint
		for _, a := range orders {
			points = append(points, CurvePoint{a, gaussianRDP(sigma, a)})
		}
		c, err := NewCurve(ReplaceOne, "T", points)
		if err != nil {
			t.Fatal(err)
		}
		last := points[len(points)-1]
		alpha := rapid.Float64Range(1.0001, last.Alpha).Draw(t, "α")
		got, err := RDP(c, alpha)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(points, func(p CurvePoint) bool { return p.Alpha >= alpha })
		b, before, one := points[i], CurvePoint{1, 0}, num.FromInt(1)
		if i > 0 {
			before = points[i-1]
		}
		weight := binaryValue(alpha).Sub(binaryValue(before.Alpha)).Quo(
			binaryValue(b.Alpha).Sub(binaryValue(before.Alpha)))
		moment := func(p CurvePoint) num.Interval {
			return binaryValue(p.Alpha).Sub(one).Mul(binaryValue(p.Rho))
		}
		want := moment(before).Add(weight.Mul(moment(b).Sub(moment(before)))).Quo(
			binaryValue(alpha).Sub(one))
		if binaryValue(got).Cmp(want) < 0 && got < b.Rho || got > want.Nearest()*(1+1e-12) {
			t.Errorf("ρ(%g) = %.17g, want %.17g", alpha, got, want.Nearest())
		}
		if got < gaussianRDP(sigma, alpha)*(1-1e-12) {
			t.Errorf("ρ(%g) = %g is below the truth, %g", alpha, got, gaussianRDP(sigma, alpha))
		}
		var rule *check.Error
		if rho, err := RDP(c, math.Nextafter(last.Alpha, 200)); !errors.As(err, &rule) {
			t.Errorf("beyond the last order: %g, %v", rho, err)
		}
	})
}

// The search asks no Curve beyond its last order, where nothing is known: neither where that is
// off a grid point by rounding, nor where it is as near to 1 as the search begins.
func TestCurveIsNotAskedBeyondItsOrders(t *testing.T) {
	last := []float64{1 + 0x1p-52, 1 + 9e-7, 1 + 1e-6, 1 + 1.1e-6, 485.62166833054204,
		41036.588205875574}
	for x := 1e-7; x < 1e9; x *= 1.037 {
		last = append(last, 1+x)
	}
	for _, alpha := range last {
		a := mustNew(t, ReplaceOne, Charge{mustCurve(t, ReplaceOne, CurvePoint{alpha, 0.1}), 1})
		r, err := a.AtDelta(1e-6, MethodRDP)
		if err != nil || len(r.Bounds) != 1 {
			t.Fatalf("last order %v: %+v, %v", alpha, r, err)
		}
		if _, err := a.AtEpsilon(1, MethodRDP); err != nil {
			t.Fatalf("last order %v: %v", alpha, err)
		}
	}
}

// A Curve of one order gives what the conversion of that order gives, also where it is
// nearer to 1 than any order of the search; beside others the best order of all is found.
func TestCurveIsConvertedAtItsOrders(t *testing.T) {
	for _, p := range []CurvePoint{{1 + 1e-8, 1e-9}, {1.5, 0.01}, {32, 0.4}, {1e12, 3}} {
		r, err := mustNew(t, ReplaceOne, Charge{mustCurve(t, ReplaceOne, p), 5}).AtDelta(1e-6)
		if err != nil || len(r.Bounds) != 1 || r.Bounds[0].Method != MethodRDP {
			t.Fatalf("%+v: %+v, %v", p, r, err)
		}
		want, err := EpsilonFromRDP(p.Alpha, 5*p.Rho, 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		// a lower order is better than 1e12
		if got := r.Bounds[0].Cost.Epsilon; got < want && p.Alpha < 100 || got > want*(1+1e-12) {
			t.Errorf("%+v: ε = %.17g, at its order %.17g", p, got, want)
		}
		for _, f := range r.Refused {
			if !errors.Is(f.Err, ErrUnsupported) || !strings.Contains(f.Err.Error(), "Rényi curve") {
				t.Errorf("%s: %v", f.Method, f.Err)
			}
		}
	}
	a := mustNew(t, ReplaceOne, Charge{mustCurve(t, ReplaceOne, CurvePoint{3, 0.1},
		CurvePoint{7, 0.15}), 2}, Charge{Gaussian{4, ReplaceOne}, 1})
	r, err := a.AtDelta(1e-3, MethodRDP)
	if err != nil {
		t.Fatal(err)
	}
	best := math.Inf(1)
	for alpha := 1 + 0x1p-10; alpha <= 7; alpha += 0x1p-10 {
		rho, err := chargesRDP(a.charges, alpha)
		if err != nil {
			t.Fatal(err)
		}
		best = min(best, improvedEpsilon(alpha, rho, 1e-3))
	}
	if got := r.Bounds[0].Cost.Epsilon; math.Abs(got-best) > 1e-5*best {
		t.Errorf("%+v, over all orders %g", r.Bounds[0], best)
	}
}

// Noise above MaxNoise is counted as MaxNoise and never as silence: it costs something.
func TestProfileCapsNoiseTowardsPrivacy(t *testing.T) {
	capped := mustNew(t, ReplaceOne, Charge{mustProfile(t, ReplaceOne, ProfilePart{1, 1e300}), 1})
	at := mustNew(t, ReplaceOne, Charge{mustProfile(t, ReplaceOne, ProfilePart{1, MaxNoise}), 1})
	for _, m := range []Method{MethodRDP, MethodPLD} {
		got, err := capped.AtEpsilon(0, m)
		if err != nil {
			t.Fatal(err)
		}
		want, err := at.AtEpsilon(0, m)
		if err != nil {
			t.Fatal(err)
		}
		if exact, _ := GaussianDelta(MaxNoise, 0); !(got.Bounds[0].Cost.Delta >= exact) ||
			got.Bounds[0] != want.Bounds[0] {
			t.Errorf("%s: %+v, at the largest noise %+v", m, got.Bounds, want.Bounds)
		}
	}
}

// δ(ε) of a Profile is the mean of its parts' curves, and twice a Profile is one of the four
// pairs of parts. No mass is lost: not the part that says nothing, not the one that says all.
func TestProfileAgainstItsParts(t *testing.T) {
	raced.Sequential(t)
	const silent, all = 0.3, 1e-3
	inf := math.Inf(1)
	single := []ProfilePart{{0.5 - all, 1.5}, {silent, inf}, {0.2, 0.8}, {all, 0}}
	profile := mustProfile(t, ReplaceOne, single...)
	curve := func(sigma, eps float64) float64 {
		switch {
		case math.IsInf(sigma, 1):
			return 0
		case sigma == 0:
			return 1
		}
		return gaussianDeltaFloat(sigma, eps)
	}
	for _, eps := range []float64{0.1, 1, 3, 10, 200} {
		once, twice := 0.0, 0.0
		for _, p := range single {
			once += p.Weight * curve(p.NoiseMultiplier, eps)
			for _, q := range single {
				twice += p.Weight * q.Weight * curve(1/math.Hypot(1/p.NoiseMultiplier, 1/q.NoiseMultiplier),
					eps)
			}
		}
		for count, want := range map[int]float64{1: once, 2: twice} {
			r, err := mustNew(t, ReplaceOne, Charge{profile, count}).AtEpsilon(eps)
			if err != nil || len(r.Bounds) != 1 || r.Bounds[0].Method != MethodPLD {
				t.Fatalf("%+v, %v", r, err)
			}
			if got := r.Bounds[0].Cost.Delta; got < want*(1-1e-9) || got > want*1.002 {
				t.Errorf("%d at ε = %g: δ = %.10g, by its parts %.10g", count, eps, got, want)
			}
		}
	}
	if eps, err := mustNew(t, ReplaceOne, Charge{profile, 1}).Epsilon(all / 2); !errors.Is(err,
		ErrDeltaTooSmall) {
		t.Errorf("δ below what reveals all: ε = %g, %v", eps, err)
	}
	if rho, err := RDP(profile, 2); !errors.Is(err, ErrUnsupported) {
		t.Errorf("ρ = %g, %v", rho, err)
	}
	// Parts that say nothing, or everything, alone.
	for _, c := range []struct {
		parts []ProfilePart
		delta float64
	}{{[]ProfilePart{{1, inf}}, 0}, {[]ProfilePart{{1, 0}}, 1},
		{[]ProfilePart{{0.25, 0}, {0.75, inf}}, 0.25}} {
		r, err := mustNew(t, ReplaceOne, Charge{mustProfile(t, ReplaceOne, c.parts...), 1}).AtEpsilon(0,
			MethodPLD)
		if err != nil || len(r.Bounds) != 1 || r.Bounds[0].Cost.Delta < c.delta ||
			r.Bounds[0].Cost.Delta > c.delta+1e-9 {
			t.Errorf("%v: %+v, %v", c.parts, r, err)
		}
	}
}

// The Rényi divergence of a Profile is that of its mixture of normal noises, never below.
func TestProfileDivergence(t *testing.T) {
	one := num.FromInt(1)
	rapid.Check(t, func(t *rapid.T) {
		sigmas := rapid.SliceOfN(rapid.Float64Range(-1, 2), 1, 4).Draw(t, "log σ")
		silent := rapid.Bool().Draw(t, "silent")
		alpha := 1 + math.Pow(10, rapid.Float64Range(-5, 2).Draw(t, "log α-1"))
		n := len(sigmas)
		if silent {
			n++
		}
		a := binaryValue(alpha)
		x := a.Sub(one).Mul(a).Quo(num.FromInt(2))
		sum, parts := num.FromInt(0), []ProfilePart(nil)
		for _, s := range sigmas {
			sigma := math.Pow(10, s)
			parts = append(parts, ProfilePart{1 / float64(n), sigma})
			if x.Nearest() > 5000*sigma*sigma {
				t.Skip("beyond what intervals hold")
			}
			sum = sum.Add(num.Expm1(x.Quo(binaryValue(sigma).Mul(binaryValue(sigma)))).Quo(
				num.FromInt(int64(n))))
		}
		if silent {
			parts = append(parts, ProfilePart{1 / float64(n), math.Inf(1)})
		}
		p, err := NewProfile(ReplaceOne, "T", parts)
		if err != nil {
			t.Fatal(err)
		}
		got, err := RDP(p, alpha)
		if err != nil {
			t.Fatal(err)
		}
		want := num.Log(one.Add(sum)).Quo(a.Sub(one))
		if binaryValue(got).Cmp(want) < 0 || got > want.Nearest()*(1+1e-7) {
			t.Errorf("ρ(%g) = %.17g, want %.17g", alpha, got, want.Nearest())
		}
	})
}

// Which methods take which event, alone and beside one that all methods but two take.
func TestWhichMethodTakesWhichEvent(t *testing.T) {
	raced.Sequential(t)
	all := map[Method]string{MethodBasic: "b", MethodGeneral: "g", MethodOptimal: "o",
		MethodGaussian: "n", MethodZCDP: "z", MethodRDP: "r", MethodPLD: "p"}
	for _, c := range []struct {
		e    Event
		want string // letters of the methods
	}{
		{ApproxDP{Cost{1, 0}, AddOrRemoveOne}, "bgozrp"},
		{ApproxDP{Cost{1, 1e-9}, AddOrRemoveOne}, "bgop"},
		{RandomizedResponse{1, AddOrRemoveOne}, "bgozrp"},
		{BoundedRange{1, AddOrRemoveOne}, "bgozrp"},
		{Laplace{1, AddOrRemoveOne}, "bgozrp"},
		{Gaussian{2, AddOrRemoveOne}, "nzrp"},
		{DiscreteGaussian{2, 1, AddOrRemoveOne}, "zrp"},
		{SubsampledGaussian{2, 0.1, AddOrRemoveOne}, "rp"},
		{mustCurve(t, AddOrRemoveOne, CurvePoint{2, 0.1}, CurvePoint{50, 1}), "r"},
		{mustProfile(t, AddOrRemoveOne, ProfilePart{1, 2}), "rp"},
		{mustProfile(t, AddOrRemoveOne, ProfilePart{0.999, 2}, ProfilePart{0.001, 0}), "p"},
	} {
		for beside, taken := range map[Event]string{c.e: c.want, Gaussian{3, AddOrRemoveOne}: "nzrp",
			ApproxDP{Cost{0.1, 0}, AddOrRemoveOne}: "bgozrp"} {
			a := mustNew(t, AddOrRemoveOne, Charge{c.e, 1}, Charge{beside, 2})
			for by, bound := range map[string]func(Method) (Report, error){
				"δ": func(m Method) (Report, error) { return a.AtDelta(0.01, m) },
				"ε": func(m Method) (Report, error) { return a.AtEpsilon(9, m) },
			} {
				for _, m := range Methods() {
					if m == MethodPLD && strings.Contains(c.want, "p") {
						continue // takes long
					}
					r, err := bound(m)
					if err != nil || len(r.Bounds)+len(r.Refused) != 1 {
						t.Fatal(fmt.Sprint(m, r, err))
					}
					supported := strings.Contains(c.want, all[m]) && strings.Contains(taken, all[m])
					if supported != (len(r.Bounds) == 1) || !supported &&
						!errors.Is(r.Refused[0].Err, ErrUnsupported) {
						t.Errorf("%v and %v at %s by %s: %+v", c.e, beside, by, m, r)
					}
				}
			}
		}
		if _, _, err := lossDirections([]Charge{{c.e, 1}}); (err == nil) != strings.Contains(c.want,
			"p") {
			t.Errorf("privacy losses of %v: %v", c.e, err)
		}
	}
}
