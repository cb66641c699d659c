package noisymax

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant/game"
	"github.com/darrm/darrm/internal/noise"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/internal/testing/golden"
)

// brute is the price of all histograms of K teachers, of the law of the integers itself.
func brute(t *testing.T, k, classes, affected, queries int, sigma, epsilon float64, missing bool) float64 {
	t.Helper()
	square := num.Decimal(sigma)
	g, err := noise.NewGaussian(square.Mul(square, square))
	if err != nil {
		t.Fatal(err)
	}
	table := g.Table()
	law := func(counts []int) []uint64 {
		p, left := make([]uint64, classes), uint64(game.One)
		for c, q := range table.ArgMax(counts)[1:] {
			p[c+1] = uint64(q * game.One)
			left -= p[c+1]
		}
		p[0] = left
		return p
	}
	var histograms [][]int
	var add func(counts []int, left int)
	add = func(counts []int, left int) {
		if len(counts) == classes {
			if left == 0 || missing {
				histograms = append(histograms, append([]int(nil), counts...))
			}
			return
		}
		for n := 0; n <= left; n++ {
			add(append(counts, n), left-n)
		}
	}
	add(nil, k)
	var pairs []game.Pair
	for _, h := range histograms {
		for _, g := range histograms {
			up, down := 0, 0
			for c := range h {
				up, down = up+max(0, g[c]-h[c]), down+max(0, h[c]-g[c])
			}
			if moved := max(up, down); moved < 1 || moved > affected {
				continue
			}
			p, q := law(h), law(g)
			pair := make(game.Pair, classes)
			for c := range pair {
				pair[c] = game.Outcome{Count: 1, P: game.Probability{Mass: p[c], Classes: 1},
					PPrime: game.Probability{Mass: q[c], Classes: 1}}
			}
			pairs = append(pairs, pair)
		}
	}
	all, err := game.New(t.Context(), func(yield func(game.Pair, error) bool) {
		for _, p := range pairs {
			if !yield(p, nil) {
				return
			}
		}
	}, game.Options{Step: 0.01})
	if err != nil {
		t.Fatal(err)
	}
	d, err := all.Delta(t.Context(), epsilon, queries)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// No price is below that of all histograms, whose game is worked out from the law of the integers, and
// each is as it was.
func TestNotBelowAllHistograms(t *testing.T) {
	var said strings.Builder
	for _, c := range []struct {
		k, classes, affected, queries int
		sigma, epsilon                float64
		missing                       bool
		within                        float64 // of ln δ; 0 where K and C matter more
	}{
		{7, 2, 1, 3, 1.2, 1, false, 0.2},
		{7, 2, 2, 3, 2.5, 1, false, 0.2},
		{6, 2, 1, 3, 1.2, 1, true, 0.2},
		{3, 2, 3, 4, 4, 1, true, 0.2}, // the pair of all votes for either class alone
		{7, 3, 1, 1, 0.7, 1, false, 0.1},
		{9, 3, 1, 4, 1.3, 2, false, 0.1},
		{6, 3, 1, 2, 1, 1, true, 0.5},  // a vote that is none tells the largest of the others
		{6, 4, 1, 2, 1, 1, false, 0.5}, // two answers: what is told of the others costs most
		{5, 5, 1, 3, 1.5, 1, false, 0.1},
		{4, 3, 1, 5, 6, 0.5, false, 0.02},
		{8, 4, 1, 6, 4, 1, true, 0.05},
	} {
		want := brute(t, c.k, c.classes, c.affected, c.queries, c.sigma, c.epsilon, c.missing)
		got, err := Price(t.Context(), Problem{Teachers: c.k, Classes: c.classes, Missing: c.missing,
			Affected: c.affected, Answers: c.queries, Epsilon: c.epsilon, Delta: min(0.5, want)}, c.sigma, 0.05)
		if err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		// The other price is rounded up itself, of a lattice that costs 1e-3 at most.
		if got < want*(1-1e-3) {
			t.Errorf("%+v: %.9g, below %.9g of all histograms", c, got, want)
		}
		if c.within > 0 && got > want*math.Exp(c.within) {
			t.Errorf("%+v: %.9g, far above %.9g", c, got, want)
		}
		fmt.Fprintf(&said, "%+v: %.9g, all histograms %.6g\n", c, got, want)
	}
	golden.Compare(t, "prices.golden", said.String(), 1e-8)
}

// The bounds of a square hold for every pair in it, of both kinds.
func TestSquaresHoldTheirPairs(t *testing.T) {
	for _, sigma := range []string{"3/4", "3", "12"} {
		v, _ := new(big.Rat).SetString(sigma)
		l, err := newLaw(v.Mul(v, v), 120, 4)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []square{{-3, -2, 1}, {0, 0, 2}, {-8, 4, 4}, {5, -9, 8}, {-20, -20, 16}} {
			c := l.cell(s)
			for at := range 2 * s.width * s.width {
				kind, a, b := at%2, s.a+at/2%s.width, s.b+at/2/s.width
				p, q := l.outcomes(a, b, kind), l.outcomes(a-1, b+1, kind)
				for _, x := range []float64{0.3, 0.7, 0.9, 0.98, 1, 1.01, 1.1, 1.4, 3} {
					value := 0.0
					for i := range p {
						value += max(0, p[i].low-x*q[i].up)
					}
					if bound := curveOf(c, x); value > bound+1e-12 {
						t.Fatalf("σ = %s, %+v: at (%d, %d), kind %d, x = %v the curve is %v, above %v", sigma, s, a,
							b, kind, x, value, bound)
					}
				}
			}
		}
	}
}

// The law at a fraction is the mixture of its control points.
func TestFractionsAreMixtures(t *testing.T) {
	l, err := newLaw(big.NewRat(4, 1), 60, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range [][2]int{{0, 0}, {3, -2}, {-4, 1}, {5, 5}} {
		a, b := at[0], at[1]
		zero, one, two := l.outcomes(a, b, 0), l.outcomes(a, b, 1), l.outcomes(a-1, b-1, 0)
		if r, want := l.rest(a, b, 1), l.outcomes(a-1, b+1, 1)[2].over(one[2]); !(r.low <= want.up && want.low <= r.up) {
			t.Errorf("(%d, %d): the rest's ratio is %v, not within %v", a, b, want, r)
		}
		for _, f := range []float64{0, 0.2, 0.7, 1} {
			sum := 0.0
			for i, p := range l.fraction(a, b, f) {
				want := (1-f)*(1-f)*zero[i].up + 2*f*(1-f)*one[i].up + f*f*two[i].up
				if sum += p; math.Abs(p-want) > 1e-12 {
					t.Errorf("(%d, %d), f = %v: outcome %d has %v, of the mixture %v", a, b, f, i, p, want)
				}
			}
			if math.Abs(sum-1) > 1e-12 {
				t.Errorf("(%d, %d), f = %v: the law sums to %v", a, b, f, sum)
			}
		}
	}
}

// fraction returns the law of the three outcomes at a fraction, from the formulas of the package comment.
func (l *law) fraction(a, b int, f float64) [3]float64 {
	at := func(s span) float64 { return (s.low + s.up) / 2 }
	one := func(a, b int) float64 {
		rest := at(l.wins(a, b)) - at(l.p(-a))*(at(l.f(-b-1))+at(l.p(-b))/2)
		return rest + at(l.p(-a))*((1-f)*at(l.f(-b-1))+(1-f*f)*at(l.p(-b))/2)
	}
	return [3]float64{one(a, b), one(b, a),
		(at(l.f(-a-1)) + f*at(l.p(-a))) * (at(l.f(-b-1)) + f*at(l.p(-b)))}
}

func curveOf(c game.Cell, x float64) float64 {
	of := func(list []game.Bounds) float64 {
		first, second := 0.0, 1-x
		for _, b := range list {
			first += b.P * max(0, 1-x*b.Ratio)
			second += b.PPrime * max(0, x-b.Inverse)
		}
		return min(first, second)
	}
	all, corners := of(c.All), 0.0
	if len(c.Corners) == 0 {
		return all
	}
	for _, b := range c.Corners {
		corners = max(corners, of(b))
	}
	return min(all, corners+c.Slack+c.Slope*math.Abs(1-x))
}

// The law that is priced is the one that is drawn: of 200,000 draws of three outcomes, the sampler's
// integers with uniform fractions, the number of each is within 5 standard deviations. A right sampler
// fails once in 10⁵ runs of other seeds; a shift of one outcome by 1.2 % is found with probability .99.
func TestDrawnAsPriced(t *testing.T) {
	const draws = 200_000
	v := big.NewRat(9, 4)
	g, err := noise.NewGaussian(v)
	if err != nil {
		t.Fatal(err)
	}
	l, err := newLaw(v, 30, 1)
	if err != nil {
		t.Fatal(err)
	}
	src, err := randsrc.SeededCoins(7).Of("drawn as priced", []int{1}, 0)
	if err != nil {
		t.Fatal(err)
	}
	uniform := func() float64 {
		u, err := noise.Uniform(src, 1<<53)
		if err != nil {
			t.Fatal(err)
		}
		return float64(u) / (1 << 53)
	}
	for _, c := range []struct {
		a, b int
		f    float64
	}{{0, 0, 0.25}, {1, -1, 0.6}, {2, 2, 0.9}} {
		var seen [3]int
		for range draws {
			i, err1 := g.Sample(src)
			j, err2 := g.Sample(src)
			if err := errors.Join(err1, err2); err != nil {
				t.Fatal(err)
			}
			x, y := float64(c.a)+float64(i)+uniform(), float64(c.b)+float64(j)+uniform()
			switch {
			case x > y && x > c.f:
				seen[0]++
			case y > c.f:
				seen[1]++
			default:
				seen[2]++
			}
		}
		for i, p := range l.fraction(c.a, c.b, c.f) {
			if d := float64(seen[i]) - draws*p; math.Abs(d) > 5*math.Sqrt(draws*p*(1-p)) {
				t.Errorf("%+v: outcome %d came %d times, %.0f were expected", c, i, seen[i], draws*p)
			}
		}
	}
}

// A price neither falls with Q nor rises with σ or ε; what is calibrated keeps the promise.
// Fifty teachers and twenty answers of ten classes take twenty times the work of all others: a long run.
func TestSigmaKeepsThePromise(t *testing.T) {
	problems := []Problem{
		{Teachers: 1001, Classes: 2, Affected: 1, Answers: 100, Epsilon: 2, Delta: 1e-6},
		{Teachers: 100, Classes: 2, Affected: 3, Answers: 10, Epsilon: 1, Delta: 1e-5},
		{Teachers: 50, Classes: 10, Affected: 1, Answers: 1, Epsilon: 3, Delta: 1e-5},
		{Teachers: 10, Classes: 10, Affected: 1, Answers: 20, Epsilon: 3, Delta: 1e-5},
	}
	if os.Getenv("DARRM_LONG") != "" {
		problems = append(problems, Problem{Teachers: 50, Classes: 10, Affected: 1, Answers: 20, Epsilon: 3, Delta: 1e-5})
	}
	var said strings.Builder
	for _, p := range problems {
		n, err := Sigma(t.Context(), p)
		if err != nil {
			t.Fatalf("%+v: %v", p, err)
		}
		if p.Teachers != 50 || p.Answers != 20 {
			fmt.Fprintf(&said, "%+v: %+v\n", p, n)
		}
		again, err := Price(t.Context(), p, n.Sigma, n.Step)
		if err != nil || again != n.Delta || again > p.Delta || again < 0.9*p.Delta {
			t.Errorf("%+v: σ = %v costs %v, then %v: %v", p, n.Sigma, n.Delta, again, err)
		}
		more := p
		more.Answers *= 2
		if d, err := Price(t.Context(), more, n.Sigma, n.Step); err != nil || d <= again {
			t.Errorf("%+v: twice the answers cost %v, as many %v: %v", p, d, again, err)
		}
		if d, err := Price(t.Context(), p, n.Sigma*1.1, n.Step); err != nil || d >= again {
			t.Errorf("%+v: more noise costs %v, before %v: %v", p, d, again, err)
		}
	}
	golden.Compare(t, "sigma.golden", said.String(), 1e-8)
}

func TestRefused(t *testing.T) {
	good := Problem{Teachers: 10, Classes: 3, Affected: 1, Answers: 2, Epsilon: 1, Delta: 1e-5}
	for _, c := range []func(*Problem){
		func(p *Problem) { p.Teachers = 0 }, func(p *Problem) { p.Classes = 1 },
		func(p *Problem) { p.Affected = 0 }, func(p *Problem) { p.Affected = 2 },
		func(p *Problem) { p.Answers = 0 }, func(p *Problem) { p.Answers = MaxAnswers + 1 },
		func(p *Problem) { p.Epsilon = 0 }, func(p *Problem) { p.Delta = 0 }, func(p *Problem) { p.Delta = 1 },
	} {
		p := good
		c(&p)
		if _, err := Sigma(t.Context(), p); err == nil {
			t.Errorf("%+v is not refused", p)
		}
	}
	for _, sigma := range []float64{0, 0.0499, 16385, math.Inf(1), math.NaN()} {
		if _, err := newGame(t.Context(), good, sigma, 0); err == nil || !strings.Contains(err.Error(), "sigma") {
			t.Errorf("noise of %v: %v", sigma, err)
		}
	}
	p := good
	p.Affected = 2
	if err := p.Validate(); !errors.Is(err, ErrReach) {
		t.Errorf("two votes among three classes: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Sigma(ctx, good); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of its context: %v", err)
	}
	p = good
	p.Epsilon, p.Delta, p.Answers = 1e-4, 1e-300, MaxAnswers
	if _, err := Sigma(t.Context(), p); !errors.Is(err, ErrNoNoise) {
		t.Errorf("a budget for which there is no noise: %v", err)
	}
}

// Without the plane, or a part of it, three classes cost no more than two: with it, they do.
func TestEveryRegionCounts(t *testing.T) {
	p := Problem{Teachers: 100, Classes: 3, Affected: 1, Answers: 20, Epsilon: 2, Delta: 1e-4}
	two := p
	two.Classes = 2
	many, err1 := Price(t.Context(), p, 6, 0.1)
	few, err2 := Price(t.Context(), two, 6, 0.1)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	if many < few*1.02 || many > few*1.15 {
		t.Errorf("three classes cost %v, two %v", many, few)
	}
	l, err := newLaw(big.NewRat(4, 1), 40, 1)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[[2]int]bool{}
	for _, part := range l.plane(12, 1, 1000) {
		for queue := []game.Part{part}; len(queue) > 0; queue = queue[1:] {
			if queue[0].Parts == nil {
				b := queue[0].Cell.All[0]
				seen[[2]int{int(math.Float64bits(b.P) >> 20), int(math.Float64bits(b.Ratio) >> 20)}] = true
				continue
			}
			queue = append(queue, queue[0].Parts()...)
		}
	}
	for a := -12; a <= 12; a++ {
		for b := -12; b <= 12; b++ {
			for kind := range 2 {
				o := l.bounds(square{a, b, 1}, kind, kind)[0]
				if !seen[[2]int{int(math.Float64bits(o.P) >> 20), int(math.Float64bits(o.Ratio) >> 20)}] {
					t.Fatalf("(%d, %d), kind %d is in no square", a, b, kind)
				}
			}
		}
	}
}
