package gamma

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/testing/must"
)

// boundFor is lowerBound where no System is at hand.
func boundFor(p constraints.Problem, weights []float64, shape Shape,
	proof []Multiplier) (float64, error) {
	s, err := constraints.NewSystem(p)
	if err != nil {
		return 0, err
	}
	return lowerBound(s, weights, 0, shape, proof)
}

// drawMultiset draws any multiset of p.
func drawMultiset(t *rapid.T, p constraints.Problem) constraints.Multiset {
	var m constraints.Multiset
	left := p.Affected
	for c := constraints.NearZeroUp; c <= constraints.Low; c++ {
		if p.TeacherDelta == 0 && c < constraints.High {
			continue
		}
		m[c] = rapid.IntRange(0, left).Draw(t, c.String())
		left -= m[c]
	}
	rest := p.K - m.Teachers()
	m[constraints.Ones] = rapid.IntRange(0, rest).Draw(t, "ones")
	m[constraints.Zeros] = rest - m[constraints.Ones]
	return m
}

// alike are the shapes that treat the labels alike.
var alike = []Shape{Any, Free, Monotone}

// Whatever the multipliers, the bound is below the expected error of every
// function that can be certified, for its shape: multipliers may come from
// anyone.
func TestLowerBoundIsBelowEveryPrivateFunction(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t, 7)
		proof := make([]Multiplier, rapid.IntRange(0, 6).Draw(t, "multipliers"))
		for i := range proof {
			proof[i].Multiset = drawMultiset(t, p)
			proof[i].Value = rapid.OneOf(
				rapid.Float64Range(0, 3),
				rapid.SampledFrom([]float64{0, 1e-300, 1e6, 1e300, math.MaxFloat64}),
			).Draw(t, "multiplier")
		}
		weights, err := Weights(p.K, rapid.SampledFrom([]float64{0.6, 0.75, 0.85}).Draw(t, "μ"))
		if err != nil {
			t.Fatal(err)
		}
		candidates := []Func{mustConstant(t, p.K, 0)}
		baselines, err := Baselines(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range baselines {
			candidates = append(candidates, b.Certified.Func())
		}
		random, err := FromFree(p.K, drawFree(t, p.K))
		if err != nil {
			t.Fatal(err)
		}
		c, err := CertifyShrunk(context.Background(), p, random)
		if err != nil {
			t.Fatal(err)
		}
		candidates = append(candidates, c.Func())
		for _, shape := range alike {
			bound, err := boundFor(p, weights, shape, proof)
			if err != nil {
				t.Fatal(err)
			}
			if !(bound >= 0) {
				t.Fatalf("%s: bound %v", shape, bound)
			}
			for _, f := range candidates {
				if e := expectedError(f, weights); bound > e && shape.check(f) == nil {
					t.Fatalf("%s: bound %.17g, but %v is private with error %.17g", shape, bound, f, e)
				}
			}
		}
	})
}

func mustConstant(t *rapid.T, k int, c float64) Func {
	return must.Get(Constant(k, c))(t)
}

// An optimal table's own proof is tight, stays valid when altered, and loses
// its force when dropped. The monotone bound is at least the free one: it speaks of
// fewer functions.
func TestLowerBoundOfOptimalTables(t *testing.T) {
	for _, name := range goldenNames(t, 41) {
		table := goldenTable(t, name)
		p := table.Problem()
		weights, err := Weights(p.K, table.PriorMean)
		if err != nil {
			t.Fatal(err)
		}
		bound := func(proof []Multiplier, shape Shape) float64 {
			t.Helper()
			return must.Get(boundFor(p, weights, shape, proof))(t)
		}
		if got := bound(table.Proof.Multipliers, table.Shape); got > table.ExpectedError ||
			table.ExpectedError-got > 1e-9 || table.Gap > 1e-9 {
			t.Errorf("%s: bound %.15f, error %.15f, gap %g", name, got, table.ExpectedError, table.Gap)
		}
		if got := bound(nil, table.Shape); got != 0 {
			t.Errorf("%s: no proof proves %g", name, got)
		}
		for _, factor := range []float64{0.5, 0.999, 1.001, 2, 100} {
			altered := make([]Multiplier, len(table.Proof.Multipliers))
			for i, m := range table.Proof.Multipliers {
				altered[i] = Multiplier{Multiset: m.Multiset, Value: m.Value * factor}
			}
			if got := bound(altered, table.Shape); got > table.ExpectedError {
				t.Errorf("%s: proof × %g proves %.15f, above the error %.15f", name, factor, got,
					table.ExpectedError)
			}
		}
		if free, monotone := bound(table.Proof.Multipliers, Free),
			bound(table.Proof.Multipliers, Monotone); monotone < free-1e-12 {
			t.Errorf("%s: monotone bound %g, free %g", name, monotone, free)
		}
	}
}

func TestLowerBoundRefuses(t *testing.T) {
	p := problem(t, 5, 2, 0.1, 0)
	weights, err := Weights(5, 0.75)
	if err != nil {
		t.Fatal(err)
	}
	at := constraints.Multiset{constraints.High: 5}
	bad := p
	bad.K = 0
	one := p
	one.Affected = 1
	huge := math.MaxInt/2 + 1 // twice it wraps around to a negative number, four times to 0
	for name, c := range map[string]struct {
		p       constraints.Problem
		weights []float64
		shape   Shape
		proof   []Multiplier
		want    string
	}{
		"problem":  {bad, weights, Free, nil, "number of teachers K"},
		"weights":  {p, weights[:2], Free, nil, "2 weights"},
		"shape":    {p, weights, "round", nil, "round"},
		"negative": {p, weights, Free, []Multiplier{{Multiset: at, Value: -1e-300}}, "multiplier 0"},
		"NaN":      {p, weights, Free, []Multiplier{{Multiset: at, Value: 1}, {Multiset: at, Value: math.NaN()}}, "multiplier 1"},
		"infinite": {p, weights, Free, []Multiplier{{Multiset: at, Value: math.Inf(1)}}, "multiplier 0"},
		"teachers": {p, weights, Free, []Multiplier{{Multiset: constraints.Multiset{constraints.High: 4}, Value: 1}},
			"no constraint"},
		"affected": {one, weights, Free, []Multiplier{{Multiset: at, Value: 1}}, "no constraint"},
		"corner": {p, weights, Free, []Multiplier{{Multiset: constraints.Multiset{constraints.NearZeroUp: 5}, Value: 1}},
			"no constraint"},
		"minus": {p, weights, Free,
			[]Multiplier{{Multiset: constraints.Multiset{constraints.High: 6, constraints.Low: -1}, Value: 1}},
			"no constraint"},
		"wrapped": {p, weights, Free,
			[]Multiplier{{Multiset: constraints.Multiset{constraints.Zeros: huge, constraints.Ones: huge,
				constraints.High: huge, constraints.Low: huge + 5}, Value: 1}}, "no constraint"},
	} {
		if _, err := boundFor(c.p, c.weights, c.shape, c.proof); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", name, err, c.want)
		}
	}
}

// Multipliers whose sums overflow prove nothing, and say so.
func TestLowerBoundSurvivesOverflow(t *testing.T) {
	p := problem(t, 5, 2, 0.1, 1e-5)
	weights, err := Weights(5, 0.75)
	if err != nil {
		t.Fatal(err)
	}
	var proof []Multiplier
	for _, at := range []constraints.Multiset{
		// Rows -0.1 at γ(0) and +0.1 at γ(1): their sums overflow to both infinities,
		// which cancel to NaN in a prefix sum.
		{constraints.Ones: 5}, {constraints.Ones: 1, constraints.Zeros: 4}, {constraints.High: 5},
	} {
		for range 15 {
			proof = append(proof, Multiplier{Multiset: at, Value: math.MaxFloat64})
		}
	}
	for n := range len(proof) + 1 {
		for _, shape := range []Shape{Free, Monotone} {
			if got, err := boundFor(p, weights, shape, proof[:n]); err != nil || got != 0 {
				t.Errorf("%s, %d multipliers: %v, %v, want 0", shape, n, got, err)
			}
		}
	}
}

func TestNewTableRefuses(t *testing.T) {
	p := problem(t, 5, 2, 0.1, 0)
	c, err := Certify(context.Background(), p, mustFree(t, 5, 0.1, 0.2, 0.1))
	if err != nil {
		t.Fatal(err)
	}
	good := Objective{PriorMean: 0.75, Shape: Free}
	if _, err := NewTable(context.Background(), c, good, Proof{}); err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]Objective{
		"increasing": {PriorMean: 0.75, Shape: Monotone},
		"prior":      {PriorMean: 0.5, Shape: Free},
		"NaN":        {PriorMean: math.NaN(), Shape: Free},
		"shape":      {PriorMean: 0.75, Shape: ""},
	} {
		if table, err := NewTable(context.Background(), c, o, Proof{}); table != nil || err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if table, err := NewTable(context.Background(), c, good,
		Proof{Multipliers: []Multiplier{{Multiset: constraints.Multiset{}, Value: 1}}}); table != nil || err == nil {
		t.Error("a foreign multiplier passes")
	}
}

// BestTable takes the best baseline of the shape where it is better, NewTable what it is
// given; both say the same of what can be reached.
func TestBestTable(t *testing.T) {
	for _, p := range []constraints.Problem{problem(t, 5, 2, 0.1, 1e-5), problem(t, 8, 3, 0.5, 0),
		problem(t, 5, 0.5, 0.1, 1e-2)} {
		coin, err := Constant(p.K, 0)
		if err != nil {
			t.Fatal(err)
		}
		useless, err := Certify(context.Background(), p, coin)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range []Objective{{PriorMean: 0.75, Shape: Free}, {PriorMean: 0.75, Shape: Monotone},
			{WorstCase: true, Shape: Free}, {PriorMean: 0.75, Shape: Any}} {
			given, err := NewTable(context.Background(), useless, o, Proof{})
			if err != nil {
				t.Fatal(err)
			}
			best, err := BestTable(useless, o, Proof{}, given.Baselines)
			if err != nil {
				t.Fatal(err)
			}
			least := math.Inf(1)
			var by *Certified
			for _, b := range best.Baselines {
				if e := best.BaselineError(b); e < least && o.Shape.check(b.Certified.Func()) == nil {
					least, by = e, b.Certified
				}
			}
			if !given.Certified.Same(useless) || best.Certified != by || best.ExpectedError != least ||
				best.Gap < least || best.LowerBound != given.LowerBound {
				t.Errorf("%+v %+v: error %v, gap %v, at least %v; the best baseline has %v", p, o,
					best.ExpectedError, best.Gap, best.LowerBound, least)
			}
			if b := given.BetterBaseline(); b == nil || given.BaselineError(*b) != least ||
				best.BetterBaseline() != nil {
				t.Errorf("%+v %+v: better than coins is %v, better than the best %v", p, o, b,
					best.BetterBaseline())
			}
			// A baseline is no better than the best baseline.
			if again, err := BestTable(by, o, Proof{}, given.Baselines); err != nil ||
				!again.Certified.Same(by) {
				t.Errorf("%+v %+v: the best baseline was replaced, %v", p, o, err)
			}
		}
	}
}

// A function below 0 anywhere is of shape any alone, in tables and in their files.
func TestShapes(t *testing.T) {
	p := problem(t, 5, 1, 0.5, 0)
	for _, c := range []struct {
		free []float64
		want []Shape
	}{
		{[]float64{0.25, 0.125, 0}, []Shape{Any, Free, Monotone}},
		{[]float64{0.125, 0.25, 0}, []Shape{Any, Free}},
		{[]float64{0.25, 0.125, -0x1p-53}, []Shape{Any}},
		{[]float64{-0.25, 0.125, 0}, []Shape{Any}},
	} {
		certified, err := Certify(t.Context(), p, mustFree(t, 5, c.free...))
		if err != nil {
			t.Fatal(err)
		}
		for _, shape := range alike {
			_, err := NewTable(t.Context(), certified, Objective{PriorMean: 0.75, Shape: shape}, Proof{})
			if want := slices.Contains(c.want, shape); (err == nil) != want {
				t.Errorf("%v as %s: %v", c.free, shape, err)
			}
		}
	}
}

// exactBound is the right-hand side of the weak duality that LowerBound states, in
// fractions, for the rows as they were computed, less Σy·RowError, which is what the rows
// themselves may be off by.
func exactBound(t *testing.T, p constraints.Problem, weights []float64, shape Shape,
	proof []Multiplier) *big.Rat {
	t.Helper()
	s, err := constraints.NewSystem(p)
	if err != nil {
		t.Fatal(err)
	}
	fraction := func(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }
	one := num.FromInt(1)
	e := num.Exp(new(big.Rat).Mul(num.Decimal(p.M), num.Decimal(p.Epsilon)))
	release := num.FromRat(num.Decimal(p.Delta))
	r, _ := e.Sub(one).Add(release).Add(release).Quo(e.Add(one)).Hi().Rat(nil)

	bound := new(big.Rat)
	d := make([]*big.Rat, len(weights))
	for l, w := range weights {
		bound.Add(bound, fraction(w))
		d[l] = fraction(-w)
	}
	for _, m := range proof {
		y := fraction(m.Value)
		for l, x := range s.Row(m.Multiset, nil) {
			d[l].Add(d[l], new(big.Rat).Mul(y, fraction(x)))
		}
		bound.Sub(bound, new(big.Rat).Mul(y, r))
		bound.Sub(bound, new(big.Rat).Mul(y, fraction(s.RowError())))
	}
	least, prefix := new(big.Rat), new(big.Rat)
	for _, x := range d {
		prefix.Add(prefix, x)
		switch {
		case shape == Any:
			least.Sub(least, new(big.Rat).Abs(x))
		case shape == Free && x.Sign() < 0:
			least.Add(least, x)
		case shape == Monotone && prefix.Cmp(least) < 0:
			least.Set(prefix)
		}
	}
	return bound.Add(bound, least)
}

// The computed bound is never above the exact one: rounding errors are subtracted, those of
// the rows and those of the sums. Each of the two is much the larger one in some of these:
// multipliers that are small beside the weights, and K in the hundreds.
func TestLowerBoundSubtractsItsErrors(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	positive, tight := 0, 0
	for range 400 {
		k := 1 + rng.IntN(7)
		if rng.IntN(20) == 0 {
			k = 201
		}
		p := problem(t, k, []float64{1, 1.5, 2}[rng.IntN(3)], []float64{0.01, 0.1, 1}[rng.IntN(3)],
			[]float64{0, 1e-5, 0.1}[rng.IntN(3)])
		weights, err := Weights(k, 0.6+0.3*rng.Float64())
		if err != nil {
			t.Fatal(err)
		}
		scale := math.Pow(10, float64(-rng.IntN(7)))
		proof := make([]Multiplier, 1+rng.IntN(4))
		for i := range proof {
			at := constraints.Multiset{constraints.High: k - rng.IntN(min(k, 3))}
			at[constraints.Ones] = rng.IntN(k + 1 - at[constraints.High])
			at[constraints.Zeros] = k - at.Teachers()
			proof[i] = Multiplier{Multiset: at, Value: scale * rng.Float64()}
		}
		for _, shape := range alike {
			got, err := boundFor(p, weights, shape, proof)
			if err != nil {
				t.Fatal(err)
			}
			exact := exactBound(t, p, weights, shape, proof)
			if got == 0 {
				continue // always a bound
			}
			if positive++; new(big.Rat).SetFloat64(got).Cmp(exact) > 0 {
				f, _ := exact.Float64()
				t.Fatalf("%+v, %s, %v: bound %.17g, exactly %.17g", p, shape, proof, got, f)
			}
			if f := new(big.Rat).SetFloat64(got + 4e-15); f.Cmp(exact) > 0 {
				tight++
			}
		}
	}
	if t.Logf("%d positive bounds, %d within 4e-15 of the exact one", positive, tight); positive <
		100 || tight < 50 {
		t.Error("this tests nothing")
	}
}

// What the weights may be off by is subtracted once, under every objective that has weights, and
// twice where 1-γ may be 2.
func TestLowerBoundSubtractsTheWeightsError(t *testing.T) {
	p := problem(t, 7, 1, 0.1, 1e-5)
	s, err := constraints.NewSystem(p)
	if err != nil {
		t.Fatal(err)
	}
	proof := []Multiplier{{Multiset: constraints.Multiset{constraints.High: 7}, Value: 1e-3}}
	for _, o := range []Objective{{PriorMean: 0.7, Shape: Free}, {PriorMean: 0.7, Shape: Any},
		{Counts: []float64{3, 1, 4, 1, 5, 9, 2, 6}, Shape: Monotone}} {
		weights, err := o.Weights(7)
		if err != nil {
			t.Fatal(err)
		}
		plain, err := boundFor(p, weights, o.Shape, proof)
		if err != nil {
			t.Fatal(err)
		}
		got, err := o.lowerBound(s, Proof{Multipliers: proof})
		if err != nil {
			t.Fatal(err)
		}
		want := weightsError(7)
		if o.Shape == Any {
			want *= 2
		}
		if less := plain - got; less < want*(1-0x1p-4) || less > want*(1+0x1p-4) {
			t.Errorf("%+v: %g is subtracted, want %g", o, less, want)
		}
	}
}

// The sums of a worst-case proof are rounded too: the bound is that of LowerBound made
// smaller by more than the weights may sum to above ½: Ku is let pass, and K sums are off by
// up to u/2 each, u = 2⁻⁵³. That is 1.5K·2⁻⁵² of ½.
func TestWorstCaseBoundLeavesRoomForItsWeights(t *testing.T) {
	p := problem(t, 5, 1, 0.1, 1e-5)
	o := Objective{WorstCase: true, Shape: Free}
	system, err := constraints.NewSystem(p)
	if err != nil {
		t.Fatal(err)
	}
	proof := Proof{Multipliers: []Multiplier{{Multiset: constraints.Multiset{constraints.High: 5}, Value: 1e-3}}}
	within := []float64{0.25, 0.125, 0.125}
	above := []float64{0.25, 0.125, 0.125 + 0x1p-52} // sums to ½ + 2u, which is let pass
	for _, weights := range [][]float64{within, above} {
		proof.Weights = weights
		got, err := o.lowerBound(system, proof)
		if err != nil {
			t.Fatal(err)
		}
		plain, err := boundFor(p, weights, Free, proof.Multipliers)
		if err != nil {
			t.Fatal(err)
		}
		if !(plain > 0) || !(got <= plain*(1-1.5*5*0x1p-52)) || got < plain*(1-1e-13) {
			t.Errorf("weights %v: bound %.17g, of LowerBound %.17g", weights, got, plain)
		}
	}
	proof.Weights = []float64{0.5, 0, 0} // all at one count
	if _, err := o.lowerBound(system, proof); err != nil {
		t.Error(err)
	}
	for _, weights := range [][]float64{{0.25, 0.125, 0.125 + 0x1p-48}, {0.5, 0.05, 0.01}, {0.6, 0, 0},
		{-0x1p-60, 0.25, 0.25}, {math.NaN(), 0, 0}} {
		proof.Weights = weights
		if _, err := o.lowerBound(system, proof); err == nil {
			t.Errorf("weights %v pass", weights)
		}
	}
}

// The gap is rounded up: the exact error of the function is never above LowerBound + Gap.
func TestTheGapIsRoundedUp(t *testing.T) {
	fraction := func(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }
	rng := rand.New(rand.NewPCG(33, 34))
	inexact := 0
	for range 2000 {
		a, b := rng.Float64(), rng.Float64()*math.Pow(10, float64(-rng.IntN(12)))
		g := gap(a, b)
		exact := new(big.Rat).Sub(fraction(a), fraction(b))
		if g < 0 || fraction(g).Cmp(exact) < 0 {
			t.Fatalf("gap(%v, %v) = %v", a, b, g)
		}
		if fraction(a-b).Cmp(exact) < 0 {
			inexact++
		}
	}
	if gap(0.25, 0.5) != 0 || inexact < 100 {
		t.Errorf("gap of a bound above the error: %v; %d differences are rounded down", gap(0.25, 0.5),
			inexact)
	}
	below := 0
	for _, name := range goldenNames(t, 101) {
		table := goldenTable(t, name)
		weights, err := table.Weights(table.Problem().K)
		if err != nil {
			t.Fatal(err)
		}
		exact := new(big.Rat)
		for l, w := range weights {
			share := new(big.Rat).Sub(big.NewRat(1, 1), fraction(table.Func().At(l)))
			exact.Add(exact, share.Mul(share, fraction(w)))
		}
		if fraction(table.ExpectedError).Cmp(exact) < 0 {
			below++
		}
		if most := new(big.Rat).Add(fraction(table.LowerBound), fraction(table.Gap)); most.Cmp(exact) <
			0 {
			t.Errorf("%s: gap %g is too small by %s", name, table.Gap,
				exact.Sub(exact, most).FloatString(25))
		}
	}
	if below == 0 {
		t.Error("no table's error is rounded down: this tests nothing")
	}
}
