package plurality

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/internal/strictjson"
	"github.com/darrm/darrm/internal/testing/must"
)

func drawProblem(t *rapid.T) Problem {
	p := Problem{
		K: rapid.IntRange(1, 5).Draw(t, "K"), Classes: rapid.IntRange(2, 4).Draw(t, "C"),
		Epsilon: rapid.SampledFrom([]float64{1e-6, 0.01, 0.3, 1, 5, 100, 700}).Draw(t, "eps"),
		Delta:   rapid.SampledFrom([]float64{0, 0, 1e-9, 0.01, 0.5}).Draw(t, "delta"),
		Abstain: rapid.Bool().Draw(t, "abstain"),
	}
	p.Affected = rapid.IntRange(1, p.K).Draw(t, "t")
	return p
}

// Whatever floating point proposes, what Round returns is certified, and it is within the
// stated mixing of what was proposed.
func TestRoundCertifiesAnything(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := drawProblem(rt)
		s := system(rt, p)
		x := s.PermuteAndFlip()
		noise := rapid.SampledFrom([]float64{0, 1e-16, 1e-9, 1e-3, 1}).Draw(rt, "noise")
		for i := range x {
			x[i] += noise * rapid.Float64Range(-1, 1).Draw(rt, "off")
		}
		q, err := s.normalise(x)
		if err != nil {
			return // nothing positive is left of a histogram
		}
		eta, err := s.excess(context.Background(), q)
		if err != nil {
			rt.Fatal(err)
		}
		c, err := Round(context.Background(), s, x)
		if err != nil {
			rt.Fatalf("%+v: %v", p, err)
		}
		if !private(rt, s, c.masses, s.delta) {
			rt.Fatalf("%+v: not private", p)
		}
		lambda := min(1, s.mixing(eta+0x1p-40, 1<<10))
		for i, g := range c.masses {
			if off := math.Abs(float64(g)/float64(One)/float64(s.classesOf[i]) - q[i]); off > lambda+1e-12 {
				rt.Fatalf("%+v: variable %d moved by %g, mixing is %g", p, i, off, lambda)
			}
		}
	})
}

// Where rows are tight, what breaks them is mixed away, and no more than that.
func TestRoundMixesEnough(t *testing.T) {
	for _, delta := range []float64{0, 1e-4, 1e-15} {
		s := system(t, Problem{K: 4, Classes: 2, Epsilon: 0.1, Delta: delta, Affected: 1})
		x := s.PermuteAndFlip() // its rows are tight for even K
		_, end := s.Range(s.Histograms() - 1)
		x[end-2] += 1e-3
		x[end-1] -= 1e-3
		c, err := Round(context.Background(), s, x)
		if err != nil {
			t.Errorf("δ = %g: %v", delta, err)
			continue
		}
		if got := float64(c.Mass(end-2)) / float64(One); got < x[end-2]-0.03 || got >= x[end-2] {
			t.Errorf("δ = %g: %g became %g", delta, x[end-2], got)
		}
	}
}

func TestRoundRefuses(t *testing.T) {
	s := system(t, Problem{K: 3, Classes: 3, Epsilon: 1, Affected: 1})
	x := s.exponential()
	for name, bad := range map[string]float64{"NaN": math.NaN(), "infinite": math.Inf(1)} {
		y := slices.Clone(x)
		y[2] = bad
		if c, err := Round(context.Background(), s, y); err == nil || c != nil {
			t.Errorf("%s was rounded", name)
		}
	}
	if _, err := Round(context.Background(), s, x[1:]); err == nil {
		t.Error("too few values were rounded")
	}
	tiny := system(t, Problem{K: 3, Classes: 3, Epsilon: 1e-16, Affected: 1})
	if c, err := Round(context.Background(), tiny, x); err == nil || c != nil ||
		!strings.Contains(err.Error(), "label epsilon = 1e-16") {
		t.Errorf("ε = 1e-16: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Round(ctx, s, x); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Rounding takes the largest remainders: every mass is within one unit of what it is of, and with
// one class in each group the units that are left go where the most is missing.
func TestMassesTakeTheLargestRemainders(t *testing.T) {
	s := NewSpace(3, 3, true, false) // (2,1,0) and abstaining are four groups of one class
	h, err := s.Index([]int{2, 1, 0})
	if err != nil {
		t.Fatal(err)
	}
	first, end := s.Range(h)
	rapid.Check(t, func(rt *rapid.T) {
		p := make([]float64, s.Variables())
		for h := range s.Histograms() {
			first, _ := s.Range(h)
			p[first] = 1 / float64(s.ClassesOf(first))
		}
		// eighths of a mass's unit, of which all together are whole units
		sum := uint64(0)
		for i := first; i < end-1; i++ {
			x := rapid.Uint64Range(0, One/4).Draw(rt, "eighths")
			if i == end-2 {
				x += (8 - (sum+x)%8) % 8
			}
			sum += x
			p[i] = float64(x) / float64(8*One)
		}
		p[end-1] = float64(8*One-sum) / float64(8*One)
		var up, down float64 // the least that is rounded up, the most that is rounded down
		up = 1
		for i, g := range s.Masses(p)[first:end] {
			exact := p[first+i] * float64(One)
			off := float64(int64(g)-int64(exact)) - (exact - math.Floor(exact))
			if !(math.Abs(off) < 1) {
				rt.Fatalf("%v becomes %d", exact, g)
			}
			if off > 0 {
				up = min(up, exact-math.Floor(exact))
			} else {
				down = max(down, exact-math.Floor(exact))
			}
		}
		if up < down {
			rt.Fatalf("%v: a remainder of %v is rounded up and one of %v down", p[first:end], up, down)
		}
	})
}

// Mixing is by the formula of Round, and no more.
func TestMixing(t *testing.T) {
	for _, delta := range []float64{0, 1e-9, 0.1} {
		for _, eta := range []float64{0, 1e-12, 1e-6, 1e-3} {
			s := system(t, Problem{K: 4, Classes: 3, Epsilon: 0.1, Delta: delta, Affected: 1})
			e := math.Exp(0.1)
			want := 3 * eta / math.Expm1(0.1)
			if delta > 0 && eta > 0 {
				want = min(want, eta/(delta+eta))
			}
			want += 3 * (1 + e) / float64(One) / math.Expm1(0.1)
			if got := s.mixing(eta, 1); got < want*(1-1e-14) || got > want*(1+1e-11) {
				t.Errorf("δ = %g, η = %g: λ = %.17g, want %.17g", delta, eta, got, want)
			}
		}
	}
}

// A law has each group's mass, in equal shares, whatever the classes are called.
func TestLawIsOfTheMasses(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := drawProblem(rt)
		p.Epsilon, p.Delta = 1, 0
		s := system(rt, p)
		c, err := Round(context.Background(), s, s.PermuteAndFlip())
		if err != nil {
			rt.Fatal(err)
		}
		h := rapid.IntRange(0, s.Histograms()-1).Draw(rt, "histogram")
		counts := rapid.Permutation(s.Histogram(h)).Draw(rt, "votes")
		law, err := c.Law(counts)
		if err != nil {
			rt.Fatalf("%+v: %v", p, err)
		}
		first, end := s.Range(h)
		for i := first; i < end; i++ {
			want := float64(c.Mass(i)) / float64(One) / float64(s.ClassesOf(i))
			for class, v := range counts {
				if v == s.Votes(i) && math.Abs(law[class]-want) > 1e-16 {
					rt.Errorf("%v: class %d with %g, want %g", counts, class, law[class], want)
				}
			}
			if s.Votes(i) == Abstained && law[len(counts)] != want {
				rt.Errorf("%v: abstains with %g, want %g", counts, law[len(counts)], want)
			}
		}
	})
	if _, err := new(Certified).Law([]int{1, 0}); err == nil {
		t.Error("what is not certified has a law")
	}
}

// The definition of U(y), in fractions: the bound that is computed is above it, by little.
func TestUpperBoundIsRoundedUp(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := drawProblem(rt)
		p.Epsilon = min(p.Epsilon, 5)
		s := system(rt, p)
		o := Objective{Accuracy: 0.8}
		if p.Abstain {
			o.AbstainValue = 0.3
		}
		w, err := o.Weights(context.Background(), s.Space)
		if err != nil {
			rt.Fatal(err)
		}
		rat := func(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }
		r := make([]*big.Rat, s.Variables())
		for h := range s.Histograms() {
			first, end := s.Range(h)
			for i := first; i < end; i++ {
				r[i] = new(big.Rat)
				if i == first {
					r[i].Mul(rat(w.Low[h]), big.NewRat(int64(s.ClassesOf(i)), 1))
				}
				if s.Votes(i) == Abstained {
					r[i].Mul(rat(w.Low[h]), rat(o.AbstainValue))
				}
			}
		}
		var proof Proof
		extra := new(big.Rat)
		e := rat(s.above)
		use := func(i, j int, y float64) {
			r[i].Sub(r[i], rat(y))
			r[j].Add(r[j], new(big.Rat).Mul(e, rat(y)))
		}
		size := 1.0
		multiplier := func() float64 {
			y := rapid.SampledFrom([]float64{0, 1e-9, 0.01, 0.1}).Draw(rt, "scale") * rapid.Float64Range(0,
				1).Draw(rt, "y")
			size += y
			return y
		}
		for h := range s.Histograms() {
			s.Neighbours(h, p.Affected, func(pair *Pair) bool {
				m := PairMultiplier{From: h, Changes: slices.Clone(pair.Changes)}
				most := new(big.Rat)
				for _, c := range pair.Columns {
					y := multiplier()
					if p.Delta == 0 {
						proof.Rows = append(proof.Rows, RowMultiplier{c.I, c.J, y})
					} else {
						m.Values = append(m.Values, y)
						if x := new(big.Rat).Quo(rat(y), big.NewRat(int64(c.Classes), 1)); x.Cmp(most) > 0 {
							most = x
						}
					}
					use(c.I, c.J, y)
				}
				if p.Delta > 0 {
					proof.Pairs = append(proof.Pairs, m)
					extra.Add(extra, most)
				}
				return rapid.IntRange(0, 3).Draw(rt, "more") > 0 // not too many
			})
		}
		want := new(big.Rat).Mul(s.delta, extra)
		for h := range s.Histograms() {
			first, end := s.Range(h)
			var best *big.Rat
			for i := first; i < end; i++ {
				if x := new(big.Rat).Quo(r[i], big.NewRat(int64(s.ClassesOf(i)), 1)); best == nil ||
					x.Cmp(best) > 0 {
					best = x
				}
			}
			want.Add(want, best)
		}
		got, err := s.UpperBound(w, o.AbstainValue, proof)
		if err != nil {
			rt.Fatal(err)
		}
		if one := big.NewRat(1, 1); want.Cmp(one) > 0 { // if by less than float64 tells
			want = one
		}
		exact, _ := want.Float64()
		if rat(got).Cmp(want) < 0 || got-exact > 1e-12*size*s.above {
			rt.Fatalf("%+v: U = %.17g, computed %.17g", p, exact, got)
		}
	})
}

// No multipliers prove less than a private mechanism reaches, however they are chosen.
func TestUpperBoundHolds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := drawProblem(rt)
		s := system(rt, p)
		c, err := Round(context.Background(), s, s.PermuteAndFlip())
		if err != nil {
			rt.Fatal(err)
		}
		var proof Proof
		for h := range s.Histograms() {
			s.Neighbours(h, p.Affected, func(pair *Pair) bool {
				m := PairMultiplier{From: h, Changes: slices.Clone(pair.Changes)}
				for _, col := range pair.Columns {
					y := rapid.Float64Range(0, 0.2).Draw(rt, "y")
					m.Values = append(m.Values, y)
					if p.Delta == 0 {
						proof.Rows = append(proof.Rows, RowMultiplier{col.I, col.J, y})
					}
				}
				if p.Delta > 0 {
					proof.Pairs = append(proof.Pairs, m)
				}
				return rapid.Bool().Draw(rt, "more")
			})
		}
		table, err := NewTable(context.Background(), c, Objective{Accuracy: 0.7}, proof)
		if err != nil || table.Gap < 0 || table.UpperBound < table.Value {
			rt.Fatalf("%+v: %v", p, err)
		}
	})
}

func TestUpperBoundRefuses(t *testing.T) {
	s := system(t, Problem{K: 4, Classes: 3, Epsilon: 1, Affected: 1})
	sd := system(t, Problem{K: 4, Classes: 3, Epsilon: 1, Affected: 1, Delta: 0.1})
	w, err := Objective{Accuracy: 0.7}.Weights(context.Background(), s.Space)
	if err != nil {
		t.Fatal(err)
	}
	first, _ := s.Range(0)
	last := s.Variables() - 1
	change := []Change{{2, 1, 1}, {1, -1, 1}} // of 2,1,1
	for name, x := range map[string]struct {
		s     *System
		proof Proof
	}{
		"negative":            {s, Proof{Rows: []RowMultiplier{{first, first, -1}}}},
		"NaN":                 {s, Proof{Rows: []RowMultiplier{{first, first, math.NaN()}}}},
		"infinite":            {s, Proof{Rows: []RowMultiplier{{first, first, math.Inf(1)}}}},
		"no row":              {s, Proof{Rows: []RowMultiplier{{first, last, 1}}}},
		"no variable":         {s, Proof{Rows: []RowMultiplier{{first, last + 1, 1}}}},
		"before the first":    {s, Proof{Rows: []RowMultiplier{{-1, 0, 1}}}},
		"pairs without delta": {s, Proof{Pairs: []PairMultiplier{{0, change, []float64{1, 1, 1}}}}},
		"rows with delta":     {sd, Proof{Rows: []RowMultiplier{{first, first, 1}}}},
		"no histogram":        {sd, Proof{Pairs: []PairMultiplier{{99, change, []float64{1, 1, 1}}}}},
		"histogram -1":        {sd, Proof{Pairs: []PairMultiplier{{-1, change, []float64{1, 1, 1}}}}},
		"one histogram more": {sd,
			Proof{Pairs: []PairMultiplier{{sd.Histograms(), change, []float64{1, 1, 1}}}}},
		"too few values":     {sd, Proof{Pairs: []PairMultiplier{{0, change, []float64{1}}}}},
		"no change":          {sd, Proof{Pairs: []PairMultiplier{{0, nil, []float64{1, 1}}}}},
		"votes from nowhere": {sd, Proof{Pairs: []PairMultiplier{{0, change[:1], []float64{1, 1, 1}}}}},
		"negative votes": {sd,
			Proof{Pairs: []PairMultiplier{{0, []Change{{2, 1, 1}, {1, -2, 1}}, []float64{1, 1, 1}}}}},
		"too many votes move": {sd,
			Proof{Pairs: []PairMultiplier{{0, []Change{{2, -2, 1}, {1, 1, 2}}, []float64{1, 1}}}}},
		"overflow": {sd,
			Proof{Pairs: []PairMultiplier{{0, []Change{{2, math.MaxInt, 1}, {1, math.MinInt, 1}},
				[]float64{1, 1, 1}}}}},
	} {
		if u, err := x.s.UpperBound(w, 0, x.proof); err == nil {
			t.Errorf("%s: bound %g", name, u)
		}
	}
	if u, err := s.UpperBound(w, 0,
		Proof{Rows: []RowMultiplier{{first, first, math.MaxFloat64}}}); err != nil || u != 1 {
		t.Errorf("huge multiplier: %g, %v, want 1", u, err)
	}
}

// Of a weight that is known between two numbers, the value takes the lower one and the bound the
// higher one.
func TestWeightsAreTakenOutward(t *testing.T) {
	s := system(t, Problem{K: 1, Classes: 2, Epsilon: 1, Affected: 1, Abstain: true})
	c, err := Certify(context.Background(), s, []uint64{One / 2, One / 4, One / 4})
	if err != nil {
		t.Fatal(err)
	}
	table, err := NewWeightedTable(c, Objective{Accuracy: 0.6, AbstainValue: 0.5},
		Weights{Low: []float64{0.25}, High: []float64{0.75}}, Proof{})
	if err != nil {
		t.Fatal(err)
	}
	if v := 0.25 * (0.5 + 0.5*0.25); table.Value > v || table.Value < v-1e-15 {
		t.Errorf("value %v, want %v", table.Value, v)
	}
	if table.UpperBound < 0.75 || table.UpperBound > 0.75+1e-15 {
		t.Errorf("bound %v, want 0.75", table.UpperBound)
	}
}

// A value with abstaining is at most what it is in fractions, and the gap at least; both by little.
func TestValueAndGapAreRounded(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := system(rt, Problem{K: 1, Classes: 2, Epsilon: 700, Affected: 1, Abstain: true})
		abstaining := rapid.Uint64Range(0, One).Draw(rt, "abstaining")
		right := rapid.Uint64Range(0, One-abstaining).Draw(rt, "right")
		c := &Certified{system: s, masses: []uint64{right, One - abstaining - right, abstaining}}
		o := Objective{Accuracy: 0.6, AbstainValue: rapid.Float64Range(0, 1).Draw(rt, "worth")}
		weight := rapid.Float64Range(1e-3, 0.5).Draw(rt, "weight")
		table, err := NewWeightedTable(c, o, Weights{Low: []float64{weight}, High: []float64{2 * weight}},
			Proof{})
		if err != nil {
			rt.Fatal(err)
		}
		rat := func(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }
		mass := func(g uint64) *big.Rat { return rat(float64(g) / float64(One)) }
		want := new(big.Rat).Mul(mass(abstaining), rat(o.AbstainValue))
		want.Add(want, mass(right)).Mul(want, rat(weight))
		near, _ := want.Float64()
		if rat(table.Value).Cmp(want) > 0 || table.Value < near*(1-1e-15)-1e-300 {
			rt.Errorf("value %.17g, want %.17g rounded down", table.Value, near)
		}
		gap := new(big.Rat).Sub(rat(table.UpperBound), rat(table.Value))
		near, _ = gap.Float64()
		if rat(table.Gap).Cmp(gap) < 0 || table.Gap > near*(1+1e-15) {
			rt.Errorf("gap %.17g, want %.17g rounded up", table.Gap, near)
		}
	})
}

// Values of the baselines in the published table.
func TestBaselineValues(t *testing.T) {
	for _, x := range []struct {
		k, c, t       int
		eps, mu       float64
		flip, exponen float64
	}{
		{50, 4, 1, .1, .5, .51183, .43387},
		{50, 4, 1, .5, .4, .81731, .74690},
		{25, 10, 1, .2, .3, .19454, .18016},
		{25, 10, 1, .5, .3, .40061, .33619},
		{50, 4, 2, .4, .5, .72747, .62633},
		{100, 4, 1, .1, .5, .73859, .63176},
		{100, 4, 1, .5, .4, .95614, .93043},
		{250, 3, 1, .05, .5, .79624, .69897},
	} {
		s := system(t, Problem{K: x.k, Classes: x.c, Epsilon: x.eps, Affected: x.t})
		c, err := Round(context.Background(), s, s.PermuteAndFlip())
		if err != nil {
			t.Fatal(err)
		}
		table, err := NewTable(context.Background(), c, Objective{Accuracy: x.mu}, Proof{})
		if err != nil {
			t.Fatal(err)
		}
		all := table.Baselines()
		if math.Abs(all[0].Value-x.flip) > 6e-6 || math.Abs(all[1].Value-x.exponen) > 6e-6 ||
			math.Abs(table.Value-x.flip) > 6e-6 {
			t.Errorf("%+v: %v, certified %g", x, all, table.Value)
		}
	}
}

// Permute-and-flip as its definition has it: all orders of the classes.
func TestPermuteAndFlipLaw(t *testing.T) {
	s := system(t, Problem{K: 5, Classes: 4, Epsilon: 1.3, Affected: 2})
	p := s.PermuteAndFlip()
	for h := range s.Histograms() {
		counts := s.Histogram(h)
		rho := make([]float64, len(counts))
		for c, v := range counts {
			rho[c] = math.Exp(-1.3 / 4 * float64(counts[0]-v))
		}
		want := make([]float64, len(counts))
		var visit func(left []int, p float64, orders int)
		visit = func(left []int, p float64, orders int) {
			for i, c := range left {
				want[c] += p / float64(len(left)) * rho[c]
				rest := append(append([]int(nil), left[:i]...), left[i+1:]...)
				visit(rest, p/float64(len(left))*(1-rho[c]), orders)
			}
		}
		visit([]int{0, 1, 2, 3}, 1, 1)
		first, end := s.Range(h)
		at := 0
		for i := first; i < end; i++ {
			if math.Abs(p[i]-want[at]) > 1e-14 {
				t.Errorf("%v, %d votes: %g, want %g", counts, s.Votes(i), p[i], want[at])
			}
			at += s.ClassesOf(i)
		}
	}
}

func tableOf(t testing.TB, p Problem, o Objective) *Table {
	t.Helper()
	s := system(t, p)
	c, err := Round(context.Background(), s, s.PermuteAndFlip())
	if err != nil {
		t.Fatal(err)
	}
	var proof Proof
	for h := range s.Histograms() {
		s.Neighbours(h, p.Affected, func(pair *Pair) bool {
			m := PairMultiplier{From: h, Changes: slices.Clone(pair.Changes)}
			for n, col := range pair.Columns {
				m.Values = append(m.Values, 0.001*float64(n))
				if p.Delta == 0 {
					proof.Rows = append(proof.Rows, RowMultiplier{col.I, col.J, 0.001 / 3})
				}
			}
			if p.Delta > 0 {
				proof.Pairs = append(proof.Pairs, m)
			}
			return true
		})
	}
	table, err := NewTable(context.Background(), c, o, proof)
	if err != nil {
		t.Fatal(err)
	}
	table.Solver, table.Version = "test", "v1"
	return table
}

func examples(t testing.TB) map[string]*Table {
	return map[string]*Table{
		"pure": tableOf(t, Problem{K: 4, Classes: 3, Epsilon: 0.1, Affected: 1},
			Objective{Accuracy: 0.6}),
		"delta": tableOf(t, Problem{K: 4, Classes: 3, Epsilon: 0.1, Delta: 1e-5, Affected: 2},
			Objective{Accuracy: 0.6}),
		"abstain": tableOf(t, Problem{K: 3, Classes: 4, Epsilon: 1, Affected: 1, Abstain: true},
			Objective{Accuracy: 0.4, AbstainValue: 0.25}),
		"uneven": tableOf(t, Problem{K: 4, Classes: 3, Epsilon: 0.5, Affected: 1},
			Objective{Concentration: 0.7}),
		"counts": tableOf(t, Problem{K: 3, Classes: 3, Epsilon: 1, Affected: 1},
			Objective{Counts: []HistogramCount{
				{[]int{0, 3, 0}, 10}, {[]int{1, 2, 0}, 3}, {[]int{1, 1, 1}, 0.5}}}),
	}
}

func encode(t testing.TB, table *Table) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := table.Encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestTablesComeBack(t *testing.T) {
	for name, table := range examples(t) {
		data := encode(t, table)
		claim, err := ReadClaim(bytes.NewReader(data))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		again, err := claim.Verify(context.Background())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if again.Problem() != table.Problem() || !again.Objective.Equal(table.Objective) ||
			!slices.Equal(again.masses, table.masses) ||
			again.Value != table.Value || again.UpperBound != table.UpperBound ||
			again.Certificate() != table.Certificate() ||
			again.Solver != table.Solver || again.Version != table.Version {
			t.Errorf("%s comes back as another table", name)
		}
		if !bytes.Equal(encode(t, again), data) {
			t.Errorf("%s is written otherwise the second time", name)
		}
	}
}

// Whenever the context ends, there is a table or its error.
func TestCertifyHonoursTheContextAtEachStep(t *testing.T) {
	claim, err := ReadClaim(bytes.NewReader(encode(t, examples(t)["pure"])))
	if err != nil {
		t.Fatal(err)
	}
	for n := range 10_000 {
		table, err := claim.Certify(must.EndAfter(n, context.Canceled))
		if err == nil && table != nil && n > 0 {
			return
		}
		if table != nil || !errors.Is(err, context.Canceled) {
			t.Fatalf("cancelled at step %d: %v, %v", n, table, err)
		}
	}
	t.Fatal("the context is asked without end")
}

// What a right answer and none are worth in a proof.
func TestWorthOfAnswers(t *testing.T) {
	s, err := NewSystem(Problem{K: 4, Classes: 3, Epsilon: 1, Affected: 1, Abstain: true})
	if err != nil {
		t.Fatal(err)
	}
	weights := make([]float64, s.Histograms())
	for h := range weights {
		weights[h] = float64(h + 1)
	}
	for h := range weights {
		first, end := s.Range(h)
		for i := first; i < end; i++ {
			want := 0.0
			switch i {
			case first:
				want = up(weights[h] * float64(s.classesOf[i]))
			case end - 1:
				want = up(weights[h] * 0.25)
			}
			if got := s.worth(weights, 0.25, h, i); got != want {
				t.Errorf("histogram %d, entry %d: worth %v, want %v", h, i-first, got, want)
			}
		}
	}
}

// A file that says something wrong is refused: as no table, as not private, or as wrong about
// itself.
func TestAlteredTablesAreRefused(t *testing.T) {
	pure, delta, uneven := string(encode(t, examples(t)["pure"])),
		string(encode(t, examples(t)["delta"])), string(encode(t, examples(t)["uneven"]))
	var format *FormatError
	var violation *ViolationError
	var mismatch *MismatchError
	for name, x := range map[string]struct {
		in, old, new string
		want         any
	}{
		"another format":    {pure, `"format_version":1`, `"format_version":2`, &format},
		"another kind":      {pure, `"kind":"plurality"`, `"kind":"majority"`, &format},
		"a smaller epsilon": {pure, `"total_epsilon":0.1`, `"total_epsilon":0.05`, &violation},
		"more reach":        {pure, `"affected":1`, `"affected":2`, &violation},
		// its proof is one for δ > 0
		"no delta":          {delta, `"delta":0.00001`, `"delta":0`, &format},
		"a smaller delta":   {delta, `"total_epsilon":0.1`, `"total_epsilon":0.01`, &violation},
		"another K":         {pure, `"k":4`, `"k":5`, &format},
		"a negative K":      {pure, `"k":4`, `"k":-4`, &format},
		"a huge K":          {pure, `"k":4`, `"k":2001`, &format},
		"another C":         {pure, `"classes":3`, `"classes":4`, &format},
		"a field twice":     {pure, `"k":4`, `"k":4,"k":4`, &format},
		"another votes":     {pure, `[3,1,0]`, `[2,2,0]`, &format},
		"a better value":    {pure, `"value":0.`, `"value":0.9`, &mismatch},
		"a smaller gap":     {pure, `"gap":0.`, `"gap":0.0`, &mismatch},
		"fewer rows":        {pure, `"rows":`, `"rows":1`, &mismatch},
		"a negative proof":  {pure, `0.000333`, `-0.000333`, &format},
		"an empty proof":    {pure, `[0,`, `[99,`, &format},
		"a long multiplier": {pure, `"proof":[[`, `"proof":[[1,`, &format},
		"no multiplier":     {pure, `"proof":[`, `"proof":[{},`, &format},
		"half a variable":   {pure, `"proof":[`, `"proof":[[0.5,1,0],`, &format},
		"more after it":     {pure, "}\n", "}]", &format},
		"abstaining":        {pure, `"value":`, `"abstain":0.1,"value":`, &format},
		"accuracy":          {pure, `"accuracy":0.6`, `"accuracy":0.2`, &format},
		"another accuracy":  {pure, `"accuracy":0.6`, `"accuracy":0.61`, &mismatch},
		"two priors":        {pure, `"accuracy":0.6`, `"accuracy":0.6,"concentration":1`, &format},
		"uneven and counts": {uneven, `"concentration":0.7`,
			`"concentration":0.7,"prior_counts":[{"votes":[4,0,0],"count":1}]`, &format},
		"other shares": {uneven, `"concentration":0.7`, `"concentration":0.71`, &mismatch},
		"other prior":  {uneven, `"concentration":0.7`, `"accuracy":0.7`, &mismatch},
		"no shares":    {uneven, `"concentration":0.7`, `"concentration":-1`, &format},
		"no prior":     {uneven, `"concentration":0.7,`, ``, &format},
	} {
		changed := strings.Replace(x.in, x.old, x.new, 1)
		if changed == x.in {
			t.Fatalf("%s: %q is not in the table: %.300s", name, x.old, x.in)
		}
		claim, err := ReadClaim(strings.NewReader(changed))
		if err == nil {
			_, err = claim.Verify(context.Background())
		}
		if !errors.As(err, x.want) {
			t.Errorf("%s: %v, want %T", name, err, x.want)
		}
	}
	for _, text := range []string{"", " ", "{}", "[]", "null", "{",
		`{"format_version":1,"kind":"plurality"}`, strings.Repeat("[", 100000)} {
		if _, err := ReadClaim(strings.NewReader(text)); !errors.As(err, &format) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

// A file that claims more than is proved is refused, by however little; one that claims less is
// not.
func TestClaimsNoMoreThanIsProved(t *testing.T) {
	for name, table := range map[string]*Table{"delta": examples(t)["delta"],
		"uneven": examples(t)["uneven"]} {
		verify := func(change func(*fileFigures)) error {
			claim, err := ReadClaim(bytes.NewReader(encode(t, table)))
			if err != nil {
				t.Fatal(err)
			}
			change(&claim.stated)
			_, err = claim.Verify(t.Context())
			return err
		}
		for figure, f := range map[string]struct {
			of   func(*fileFigures) *float64
			more float64 // the direction of a stronger claim
		}{
			"value":             {func(f *fileFigures) *float64 { return &f.Value }, 1},
			"upper_bound":       {func(f *fileFigures) *float64 { return &f.UpperBound }, -1},
			"gap":               {func(f *fileFigures) *float64 { return &f.Gap }, -1},
			"certificate.spent": {func(f *fileFigures) *float64 { return &f.Certificate.Spent }, -1},
		} {
			for _, by := range []float64{0, 1e-9, 1e-3} {
				moved := func(sign float64) error {
					return verify(func(s *fileFigures) {
						x := f.of(s)
						if by == 0 {
							*x = math.Nextafter(*x, *x+sign)
						} else {
							*x += sign * by
						}
					})
				}
				var mismatch *MismatchError
				if err := moved(f.more); !errors.As(err, &mismatch) || len(mismatch.Wrong) != 1 ||
					!strings.HasPrefix(mismatch.Wrong[0], figure+": ") {
					t.Errorf("%s: a stronger %s by %g: %v", name, figure, by, err)
				}
				if err := moved(-f.more); err != nil {
					t.Errorf("%s: a weaker %s by %g: %v", name, figure, by, err)
				}
			}
		}
		for figure, of := range map[string]func(*fileFigures) *int64{
			"pairs": func(f *fileFigures) *int64 { return &f.Certificate.Pairs },
			"rows":  func(f *fileFigures) *int64 { return &f.Certificate.Rows },
		} {
			for _, by := range []int64{-1, 1, 1 << 60} {
				if err := verify(func(s *fileFigures) { *of(s) += by }); err == nil {
					t.Errorf("%s: %d more %s pass", name, by, figure)
				}
			}
		}
	}
}

// Long lists are refused while they are read.
func TestLongListsAreRefused(t *testing.T) {
	data := append(bytes.Repeat([]byte("0,"), strictjson.MaxList), '0', ']')
	var l strictjson.List[int]
	if err := json.Unmarshal(append([]byte("["), data...), &l); err == nil ||
		len(l) > strictjson.MaxList {
		t.Errorf("%d members, %v", len(l), err)
	}
	l = nil
	if err := json.Unmarshal(append([]byte("["), data[2:]...), &l); err != nil ||
		len(l) != strictjson.MaxList {
		t.Errorf("%d members, %v", len(l), err)
	}
	if err := json.Unmarshal([]byte("{}"), &l); err == nil {
		t.Error("an object is a list")
	}
}

// What is read and certified is private, and comes back as itself.
func FuzzDecode(f *testing.F) {
	// Small ones: the fuzzer spends its time on making inputs smaller.
	for _, table := range []*Table{
		tableOf(f, Problem{K: 2, Classes: 2, Epsilon: 1, Affected: 1}, Objective{Accuracy: 0.6}),
		tableOf(f, Problem{K: 1, Classes: 2, Epsilon: 1, Delta: 0.1, Affected: 1},
			Objective{Accuracy: 0.6}),
		tableOf(f, Problem{K: 1, Classes: 3, Epsilon: 1, Affected: 1, Abstain: true},
			Objective{Counts: []HistogramCount{{[]int{0, 1, 0}, 2}}}),
	} {
		f.Add(encode(f, table))
	}
	f.Add([]byte(`{"format_version":1,"kind":"plurality","k":1,"classes":2,"total_epsilon":1,"affected":1,"accuracy":0.9,"masses":[{"votes":[1,0],"groups":[4503599627370496,4503599627370496]}],"proof":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		claim, err := ReadClaim(bytes.NewReader(data))
		if err != nil || claim.System.Histograms() > 200 {
			return
		}
		table, err := claim.Certify(context.Background())
		if err != nil {
			return
		}
		if table.Problem().K <= 4 && table.Problem().Classes <= 3 &&
			!private(t, table.system, table.masses, table.system.delta) {
			t.Fatal("certified, but not private")
		}
		again, err := Decode(context.Background(), bytes.NewReader(encode(t, table)))
		if err != nil || !slices.Equal(again.masses, table.masses) ||
			again.Problem() != table.Problem() || again.UpperBound != table.UpperBound {
			t.Fatalf("what was written does not come back: %v", err)
		}
	})
}

func TestProblemsAreRefused(t *testing.T) {
	good := Problem{K: 5, Classes: 3, Epsilon: 1, Affected: 1}
	for name, change := range map[string]func(*Problem){
		"K":          func(p *Problem) { p.K = 0 },
		"classes":    func(p *Problem) { p.Classes = 1 },
		"epsilon":    func(p *Problem) { p.Epsilon = 0 },
		"negative":   func(p *Problem) { p.Epsilon = -1 },
		"infinite":   func(p *Problem) { p.Epsilon = math.Inf(1) },
		"NaN":        func(p *Problem) { p.Epsilon = math.NaN() },
		"delta":      func(p *Problem) { p.Delta = 1 },
		"affected":   func(p *Problem) { p.Affected = 0 },
		"too far":    func(p *Problem) { p.Affected = 6 },
		"too many":   func(p *Problem) { p.K, p.Classes = 200, 100 },
		"many votes": func(p *Problem) { p.K = 2002 },
	} {
		p := good
		change(&p)
		if s, err := NewSystem(p); err == nil || s != nil {
			t.Errorf("%s: %+v is accepted", name, p)
		}
	}
	for name, o := range map[string]Objective{
		"nothing":         {},
		"both":            {Accuracy: 0.5, Counts: []HistogramCount{{[]int{5, 0, 0}, 1}}},
		"two laws":        {Accuracy: 0.5, Concentration: 1},
		"shares too":      {Concentration: 1, Counts: []HistogramCount{{[]int{5, 0, 0}, 1}}},
		"no shares":       {Concentration: -1},
		"NaN shares":      {Concentration: math.NaN()},
		"even shares":     {Concentration: 1.1e6},
		"infinite shares": {Concentration: math.Inf(1)},
		"guessing":        {Accuracy: 1. / 3},
		"certain":         {Accuracy: 1},
		"no abstaining":   {Accuracy: 0.5, AbstainValue: 0.1},
		"a worth above 1": {Accuracy: 0.5, AbstainValue: 1.1},
	} {
		if err := o.Validate(good); err == nil {
			t.Errorf("%s: %+v is accepted", name, o)
		}
	}
	s := system(t, good)
	for name, counts := range map[string][]HistogramCount{
		"none":         {},
		"zeros":        {{[]int{5, 0, 0}, 0}},
		"negative":     {{[]int{5, 0, 0}, -1}},
		"NaN":          {{[]int{5, 0, 0}, math.NaN()}},
		"other votes":  {{[]int{4, 0, 0}, 1}},
		"more classes": {{[]int{5, 0, 0, 0}, 1}},
	} {
		if _, err := (Objective{Counts: counts}).Weights(context.Background(), s.Space); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// The complete table of 100 teachers and 4 classes, behind DARRM_LONG in package solve, is
// read and verified again in less than ten seconds; this one is a tenth of its size.
func BenchmarkVerify(b *testing.B) {
	k := 50
	if os.Getenv("DARRM_LONG") != "" {
		k = 100
	}
	data := encode(b, tableOf(b, Problem{K: k, Classes: 4, Epsilon: 0.1, Affected: 1},
		Objective{Accuracy: 0.5}))
	b.ReportMetric(float64(len(data))/1e6, "MB")
	for b.Loop() {
		claim, err := ReadClaim(bytes.NewReader(data))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := claim.Verify(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}

func ExampleCertified_Law() {
	s, err := NewSystem(Problem{K: 5, Classes: 3, Epsilon: 1, Affected: 1})
	if err != nil {
		panic(err)
	}
	c, err := Round(context.Background(), s, s.PermuteAndFlip())
	if err != nil {
		panic(err)
	}
	law, err := c.Law([]int{1, 4, 0})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.3f\n", law)
	// Output: [0.107 0.831 0.063]
}

// Histograms of the same votes are one, whichever classes they were for, and none is lost.
func TestCountHistograms(t *testing.T) {
	votes := [][]int{{0, 3, 0}, {1, 0, 2}, {3, 0, 0}, {2, 1, 0}, {1, 1, 1}}
	got := CountHistograms(votes, []float64{1, 2, 4, 8, 16})
	want := []HistogramCount{{[]int{1, 1, 1}, 16}, {[]int{2, 1, 0}, 10}, {[]int{3, 0, 0}, 5}}
	if !(Objective{Counts: got}).Equal(Objective{Counts: want}) {
		t.Errorf("%v", got)
	}
	if !slices.Equal(votes[0], []int{0, 3, 0}) {
		t.Error("the votes were sorted in place")
	}
}
