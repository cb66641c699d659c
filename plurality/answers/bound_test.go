package answers

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/accountant/game"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/plurality"
)

// hockeyStick is Σ_j (B_a(j) - e^ε·B_b(j))₊ of two binomials of n coins, by sums of 200 bits.
func hockeyStick(n int, a, b, epsilon float64) float64 {
	number := func(x float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(x) }
	term := func(p float64, j int) *big.Float {
		x := new(big.Float).SetPrec(200).SetInt(new(big.Int).Binomial(int64(n), int64(j)))
		other := new(big.Float).SetPrec(200).Sub(number(1), number(p))
		for range j {
			x.Mul(x, number(p))
		}
		for range n - j {
			x.Mul(x, other)
		}
		return x
	}
	sum := number(0)
	for j := range n + 1 {
		x := term(a, j)
		y := term(b, j)
		if x.Sub(x, y.Mul(y, number(math.Exp(epsilon)))); x.Sign() > 0 {
			sum.Add(sum, x)
		}
	}
	got, _ := sum.Float64()
	return got
}

// Coins that are judged to be too far apart are so, and those that are too far apart by a millionth
// of δ are judged to be.
func TestCoinsApart(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(rt, "Q")
		b := rapid.Float64Range(0.01, 0.98).Draw(rt, "b")
		a := b + (1-b)*rapid.Float64Range(0.001, 0.999).Draw(rt, "a")
		epsilon := rapid.Float64Range(0.01, 5).Draw(rt, "eps")
		exact := hockeyStick(n, a, b, epsilon)
		if !(exact > 1e-12 && exact < 0.9) {
			rt.Skip()
		}
		if newCoins(n, epsilon, exact*(1+1e-7)).apart(a, b) {
			rt.Fatalf("%d coins of bias %v and %v are at %v, and are judged to be beyond", n, a, b, exact)
		}
		if !newCoins(n, epsilon, exact*(1-1e-6)).apart(a, b) {
			rt.Fatalf("%d coins of bias %v and %v are at %v, which is not noticed", n, a, b, exact)
		}
	})
	if newCoins(100, 1, 1e-5).apart(0.6, 0.6) || newCoins(100, 1, 1e-5).apart(1, 0.5) {
		t.Error("coins of which nothing is judged are judged")
	}
}

// The bounds of two classes are those of an implementation that rounds to nearest, in the settings
// where there are figures, to as many digits as these have. In three of them (.608222, .804370,
// .674382 there) cells are finer here.
func TestTwoClassBound(t *testing.T) {
	ctx := context.Background()
	for _, x := range []struct {
		p    Problem
		mean float64
		want float64
	}{
		{Problem{K: 11, Answers: 100, Epsilon: 1, Delta: 1e-5}, .75, .53770},
		{Problem{K: 25, Answers: 100, Epsilon: 3, Delta: 1e-6}, .75, .69206},
		{Problem{K: 40, Answers: 300, Epsilon: 2, Delta: 1e-5}, .7, .61577},
		{Problem{K: 101, Answers: 100, Epsilon: 3, Delta: 1e-6}, .75, .98472},
		{Problem{K: 101, Answers: 1000, Epsilon: 3, Delta: 1e-6}, .75, .74369},
		{Problem{K: 6, Affected: 2, Answers: 3, Epsilon: 1.2, Delta: 1e-5}, .75, .699020},
		{Problem{K: 10, Affected: 2, Answers: 1, Epsilon: 2, Delta: 1e-5}, .75, .957128},
		{Problem{K: 10, Affected: 2, Answers: 2, Epsilon: 2, Delta: 1e-5}, .75, .867124},
		{Problem{K: 10, Affected: 2, Answers: 5, Epsilon: 2, Delta: 1e-5}, .75, .721859},
		{Problem{K: 20, Affected: 2, Answers: 50, Epsilon: 2, Delta: 1e-5}, .75, .593753},
		{Problem{K: 15, Affected: 2, Answers: 20, Epsilon: 2, Delta: 1e-5}, .75, .608188},
		{Problem{K: 25, Affected: 2, Answers: 10, Epsilon: 3, Delta: 1e-6}, .75, .804327},
		{Problem{K: 25, Affected: 3, Answers: 10, Epsilon: 2, Delta: 1e-5}, .75, .674362},
		{Problem{K: 5, Affected: 1, Answers: 2, Epsilon: 1, Delta: 1e-6}, .75, .740255},
		{Problem{K: 25, Affected: 1, Answers: 5, Epsilon: 2, Delta: 1e-5}, .75, .951754},
	} {
		x.p.Classes, x.p.Affected = 2, max(1, x.p.Affected)
		s := must.Get(NewSystem(ctx, x.p))(t)
		w := must.Get(plurality.Objective{Accuracy: x.mean}.Weights(ctx, s.space))(t)
		slack := 1e-6
		if x.want == math.Round(x.want*1e5)/1e5 {
			slack = 1.1e-5
		}
		if got := s.twoClassBound(w); got < x.want-slack || got > x.want+slack {
			t.Errorf("%+v: %.7f, want %.6f", x.p, got, x.want)
		}
		// Where votes may be missing, the odd and the even leads each have their chain.
		x.p.Missing = true
		missing := must.Get(NewSystem(ctx, x.p))(t)
		wide := must.Get(Prior{Objective: plurality.Objective{Accuracy: x.mean}, Present: 1}.Weights(ctx,
			missing))(t)
		if got, want := missing.twoClassBound(wide), s.twoClassBound(w); math.Abs(got-want) > 1e-12 {
			t.Errorf("%+v: %.15f, want %.15f where nobody's vote is missing", x.p, got, want)
		}
	}
	s := must.Get(NewSystem(ctx, Problem{K: 5, Classes: 3, Affected: 1, Answers: 5, Epsilon: 1,
		Delta: 0.1}))(t)
	if got := s.twoClassBound(must.Get(plurality.Objective{Accuracy: .5}.Weights(ctx, s.space))(
		t)); got != 1 {
		t.Errorf("more classes are bounded by %v", got)
	}
}

// plainWindow is the largest agreement of the window by its definition: all places of up to two free
// leads on a grid, in order, with links by plain bisection to nearest.
func plainWindow(p Problem, weight []float64, n int) float64 {
	t, apart, least := p.Affected, 2, p.K%2
	if p.Missing {
		apart, least = 1, 0
	}
	next := func(a float64) float64 {
		low, high := a, 1.0
		for range 50 {
			mid := (low + high) / 2
			if max(hockeyStick(p.Answers, mid, a, p.Epsilon), hockeyStick(p.Answers, 1-a, 1-mid,
				p.Epsilon)) <= p.Delta {
				low = mid
			} else {
				high = mid
			}
		}
		return low
	}
	top := .5
	for step := .25; step > 1e-13; step /= 2 {
		if top+step <= next(1-top-step) {
			top += step
		}
	}
	worth := func(d int, a float64) (sum float64) {
		for ; d <= p.K; d += 2 * t {
			sum += weight[d] * a
			a = next(a)
		}
		return sum
	}
	sum := 0.0
	var free [][]float64
	for d := least; d <= t; d += apart {
		switch {
		case d == 0:
			sum += weight[0] + worth(2*t, next(.5))
		case d == t:
			sum += worth(t, top)
		default:
			values := make([]float64, n+1)
			for i := range values {
				a := .5 + (top-.5)*float64(i)/float64(n)
				values[i] = worth(d, a) + worth(2*t-d, next(1-a))
			}
			free = append(free, values)
		}
	}
	switch len(free) {
	case 1:
		sum += slices.Max(free[0])
	case 2:
		most := 0.0
		for i := range free[0] {
			most = max(most, free[0][i]+slices.Max(free[1][i:]))
		}
		sum += most
	}
	return sum
}

// The bound of t votes is not below the best of the window, and not above it by more than the grid
// that finds it.
func TestWindowBoundIsThatOfItsDefinition(t *testing.T) {
	for _, p := range []Problem{
		{K: 7, Affected: 2, Answers: 3, Epsilon: 1, Delta: 1e-3},
		{K: 9, Affected: 3, Answers: 2, Epsilon: .7, Delta: 1e-2},
		{K: 6, Affected: 3, Answers: 4, Epsilon: 1, Delta: 1e-4},
		{K: 5, Affected: 2, Answers: 3, Epsilon: 1, Delta: 1e-3, Missing: true},
		{K: 3, Affected: 3, Answers: 1, Epsilon: 1, Delta: 1e-3},
		{K: 5, Affected: 3, Answers: 2, Epsilon: 1, Delta: 1e-3, Missing: true},
	} {
		weight := make([]float64, p.K+1)
		for d := range weight {
			if p.Missing || (p.K-d)%2 == 0 {
				weight[d] = 1 / float64(2*d+3)
			}
		}
		if p.K == 7 { // the chain of the free lead is best begun at the lower end
			weight = []float64{0, .1, 0, .6, 0, .1, 0, .01}
		}
		if p.Missing && p.Affected == 3 { // each free lead by itself would break the order
			weight = []float64{.1, .4, .01, .1, .4, .01}
		}
		got := p.newWindow(weight, p.CoinLink(p.Epsilon)).bound(1 << 20)
		want := plainWindow(p, weight, 120)
		if got < want || got > want+2e-4 {
			t.Errorf("%+v: %v, by the definition %v", p, got, want)
		}
		// The table that is found is as good, and where the chain begins that no lead is free to choose.
		value := 0.0
		for d, a := range p.Window(weight, p.CoinLink(p.Epsilon)) {
			if value += weight[d] * a; d == 0 {
				value += weight[d] * (1 - a) // at a tie both classes are right
			}
		}
		if value > got+1e-9 || value < want-2e-4 {
			t.Errorf("%+v: the table is worth %v, by the definition %v", p, value, want)
		}
		if most := p.newWindow(weight, p.CoinLink(p.Epsilon)); len(most.free) > 0 {
			if coarse := most.bound(0); coarse < max(want, got) {
				t.Errorf("%+v: %v of coarse cells, %v of fine ones, %v by the definition", p, coarse, got, want)
			}
		}
	}
}

// Leads of both parities are those of votes that may be missing, and the order of the leads matters
// to nothing.
func TestLeadBoundOfBothParities(t *testing.T) {
	p := Problem{K: 9, Classes: 2, Affected: 2, Answers: 10, Epsilon: 1, Delta: 1e-4}
	leads := func(yield func(int, float64) bool) {
		_ = yield(3, .2) && yield(2, .3) && yield(1, .1) && yield(8, .1) && yield(2, .3)
	}
	got := p.LeadBound(leads)
	p.Missing = true
	if want := p.LeadBound(leads); got != want || !(got > .5 && got < .9) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := p.LeadBound(func(yield func(int, float64) bool) { yield(10, 1) }); got != 1 {
		t.Errorf("a lead of more votes than there are: %v", got)
	}
}

// No table of two classes that keeps its promise is above the bound: random tables, whose promise
// is their own price.
func TestTwoClassBoundHolds(t *testing.T) {
	ctx := context.Background()
	closest := 1.0
	rapid.Check(t, func(rt *rapid.T) {
		p := Problem{K: rapid.IntRange(1, 7).Draw(rt, "K"), Classes: 2,
			Missing: rapid.Bool().Draw(rt, "missing"),
			Answers: rapid.IntRange(1, 8).Draw(rt, "Q"), Epsilon: 0.5, Delta: 0.5}
		p.Affected = rapid.IntRange(1, p.K).Draw(rt, "t")
		s := must.Get(NewSystem(ctx, p))(rt)
		steps := rapid.SliceOfN(rapid.Float64Range(0.01, 0.3), p.K+1, p.K+1).Draw(rt, "steps")
		masses := fromLeads(s, func(lead int) float64 {
			a := 0.5
			for _, x := range steps[1 : lead+1] {
				a += (1 - a) * x
			}
			return a
		})
		price, o, err := s.Price(ctx, masses, gameOptions)
		if err != nil || !(price > 1e-6 && price < 1) {
			rt.Skip()
		}
		p.Delta = up(price)
		s = must.Get(NewSystem(ctx, p))(rt)
		prior := DefaultPrior(p)
		table, err := NewTable(ctx, must.Get(Certify(ctx, s, masses, o))(rt), prior,
			Law{Name: NormalLaw, Sigma: 1}, nil)
		if err != nil {
			rt.Fatalf("%+v: %v", p, err)
		}
		closest = min(closest, table.UpperBound-table.Value)
	})
	if closest > 0.02 {
		t.Errorf("no table is nearer than %v to the bound: the test shows nothing", closest)
	}
}

// moments returns the largest Σ P^α·P'^(1-α) - 1 of neighbours.
func moments(t testing.TB, s *System, masses []uint64, order int) float64 {
	t.Helper()
	most := 0.0
	err := s.Pairs(context.Background(), func(p *plurality.Pair) bool {
		sum := -1.0
		for _, c := range p.Columns {
			of := func(i int) float64 {
				return float64(masses[i]) / float64(plurality.One) / float64(s.space.ClassesOf(i))
			}
			sum += float64(c.Classes) * of(c.I) * math.Pow(of(c.I)/of(c.J), float64(order-1))
		}
		most = max(most, sum)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return most
}

// mixed returns the probabilities of masses, mixed with as much of the uniform distribution.
func mixed(s *System, masses []uint64) []float64 {
	p := make([]float64, len(masses))
	outputs := float64(s.problem.Classes + abstaining(s.problem))
	for i, m := range masses {
		p[i] = 0.5*float64(m)/float64(plurality.One)/float64(s.space.ClassesOf(i)) + 0.5/outputs
	}
	return p
}

// Whatever multipliers a proof has, its bound holds for every table under the moment.
func TestLawBoundHolds(t *testing.T) {
	ctx := context.Background()
	below := 0
	rapid.Check(t, func(rt *rapid.T) {
		p := drawProblem(rt)
		s := must.Get(NewSystem(ctx, p))(rt)
		masses := s.space.Masses(mixed(s, random(rt, s)))
		order := rapid.IntRange(2, 12).Draw(rt, "order")
		law := Law{Name: ProgramLaw, Order: float64(order),
			Moment: moments(t, s, masses, order)*(1+1e-9) + 1e-12}
		prior := DefaultPrior(p)
		if p.Abstain {
			prior.AbstainValue = 0.3
		}
		w := must.Get(prior.Weights(ctx, s))(rt)
		var proof Proof
		scale := rapid.SampledFrom([]float64{0.02, 0.05, 0.1}).Draw(rt, "scale")
		err := s.Pairs(ctx, func(pair *plurality.Pair) bool {
			m := Tangent{From: pair.From, Changes: append([]plurality.Change(nil), pair.Changes...),
				Value: scale * w.High[pair.From] * rapid.Float64Range(0.5, 1).Draw(rt, "y")}
			for _, c := range pair.Columns {
				ratio := float64(masses[c.I]) / float64(masses[c.J]) * float64(s.space.ClassesOf(c.J)) /
					float64(s.space.ClassesOf(c.I))
				m.Ratios = append(m.Ratios, ratio*rapid.SampledFrom([]float64{1, 1, 1, 1, 1, 0.9, 1.1}).Draw(rt,
					"off"))
			}
			proof = append(proof, m)
			return true
		})
		if err != nil {
			rt.Fatal(err)
		}
		bound := must.Get(s.lawBound(w, prior.AbstainValue, law, proof))(rt)
		if value := s.space.Value(w, prior.AbstainValue, masses); value > bound {
			rt.Fatalf("%+v: a table under the moment has value %v, above the bound %v", p, value, bound)
		}
		if bound < 1 {
			below++
		}
	})
	if below < 5 {
		t.Errorf("%d bounds are below 1: the test shows nothing", below)
	}
}

// The bound of one tangent is that of its formula.
func TestLawBoundOfOneTangent(t *testing.T) {
	ctx := context.Background()
	s := must.Get(NewSystem(ctx, Problem{K: 3, Classes: 2, Affected: 1, Answers: 5, Epsilon: 1,
		Delta: 0.1}))(t)
	// Histograms (2,1), the variables 0 and 1, and (3,0), 2 and 3: between them one vote moves.
	w := plurality.Weights{Low: []float64{0.3, 0.5}, High: []float64{0.3, 0.5}}
	y, order, r, rho := 0.05, 3.0, 0.2, []float64{1.25, 0.5}
	m := Tangent{From: 1, Changes: []plurality.Change{{Votes: 3, Delta: -1, Classes: 1},
		{Votes: 0, Delta: 1, Classes: 1}}, Ratios: rho, Value: y}
	got := must.Get(s.lawBound(w, 0, Law{Name: ProgramLaw, Order: order, Moment: r}, Proof{m}))(t)
	// p(3,0) loses α·ρ^(α-1)·y for each class, and p(2,1) gains (α-1)·ρ^α·y.
	top := max(0.5-3*rho[0]*rho[0]*y, -3*rho[1]*rho[1]*y)
	low := max(0.3+2*math.Pow(rho[0], 3)*y, 2*math.Pow(rho[1], 3)*y)
	if want := top + low + (1+r)*y; math.Abs(got-want) > 1e-14 || got < want {
		t.Errorf("%.17g, want %.17g", got, want)
	}
	for name, bad := range map[string]Tangent{
		"value":   {From: 1, Changes: m.Changes, Ratios: rho, Value: math.Inf(1)},
		"sign":    {From: 1, Changes: m.Changes, Ratios: rho, Value: -1},
		"ratio":   {From: 1, Changes: m.Changes, Ratios: []float64{1, math.NaN()}, Value: 1},
		"ratios":  {From: 1, Changes: m.Changes, Ratios: rho[:1], Value: 1},
		"pair":    {From: 0, Changes: m.Changes, Ratios: rho, Value: 1},
		"nothing": {From: 1, Ratios: rho, Value: 1},
	} {
		if _, err := s.lawBound(w, 0, Law{Name: ProgramLaw, Order: order, Moment: r}, Proof{bad}); err ==
			nil {
			t.Errorf("a multiplier with a bad %s proves something", name)
		}
	}
	if _, err := s.lawBound(w, 0, Law{Name: NormalLaw, Sigma: 1}, Proof{m}); err == nil {
		t.Error("normal noise has a proof")
	}
	if got := must.Get(s.lawBound(w, 0, Law{Name: NormalLaw, Sigma: 1}, nil))(t); got != 1 {
		t.Errorf("no proof shows %v", got)
	}
}

// The δ of the dearest pair is that of a sum over all numbers of heads, and not above the price.
func TestCoinDelta(t *testing.T) {
	p := Problem{K: 3, Classes: 2, Affected: 1, Answers: 60, Epsilon: 1, Delta: 1e-3}
	s := must.Get(NewSystem(t.Context(), p))(t)
	masses := make([]uint64, s.Space().Variables())
	for lead, a := range map[int]float64{1: .55, 3: .63} {
		first, _ := s.Space().Range(s.Leads()[lead])
		masses[first], masses[first+1] = uint64(a*0x1p53), plurality.One-uint64(a*0x1p53)
	}
	want := 0.0
	for _, pair := range [][2]float64{{.63, .55}, {.55, .63}, {.55, .45}} {
		want = max(want, hockeyStick(p.Answers, pair[0], pair[1], p.Epsilon))
	}
	got := must.Get(s.CoinDelta(t.Context(), masses))(t)
	if math.Abs(got-want) > 1e-9 {
		t.Errorf("%v, want %v", got, want)
	}
	price, _, err := s.Price(t.Context(), masses, game.Options{})
	if err != nil || price < got || price > 1.1*got {
		t.Errorf("the game has %v, the dearest pair %v, %v", price, got, err)
	}
	ended := must.EndAfter(0, context.Canceled)
	if _, err := s.CoinDelta(ended, masses); !errors.Is(err, context.Canceled) {
		t.Errorf("ended: %v", err)
	}
}

// apart reports whether Q coins of bias a > b break the bound for certain.
func (c coins) apart(a, b float64) bool { return c.price(a, b) > c.delta }
