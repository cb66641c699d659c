package solve

import (
	"context"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"github.com/darrm/darrm/accountant/game"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/lp"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/answers"
)

func problem(k, c, q int, epsilon, delta float64) answers.Problem {
	return answers.Problem{K: k, Classes: c, Affected: 1, Answers: q, Epsilon: epsilon, Delta: delta}
}

func accuracy(mean float64) answers.Prior {
	return answers.Prior{Objective: plurality.Objective{Accuracy: mean}}
}

var uneven = answers.Prior{Objective: plurality.Objective{Concentration: 1}}

// long reports whether slow tests run.
var long = os.Getenv("DARRM_LONG") != ""

// The tables agree as often as those of another implementation, within 2e-4 or more often. That one
// priced with a coarser lattice, and its two classes of chains are of α = 8.
func TestAgreementIsThatOfAnotherImplementation(t *testing.T) {
	for _, x := range []struct {
		problem                answers.Problem
		prior                  answers.Prior
		normal, better, beyond float64
		long                   bool
	}{
		{problem(11, 2, 100, 1, 1e-5), accuracy(.75), .53734, .53740, .53770, false},
		{problem(25, 2, 100, 3, 1e-6), accuracy(.75), .68989, .68945, .69206, false},
		{problem(40, 2, 300, 2, 1e-5), accuracy(.7), .61519, .61477, .61577, true},
		{problem(101, 2, 100, 3, 1e-6), accuracy(.75), .97212, .97988, .98472, false},
		{problem(9, 3, 50, 2, 1e-5), uneven, .46116, 0, 1, false},
		{problem(11, 3, 100, 3, 1e-6), uneven, .47214, .47324, 1, false},
		{problem(13, 4, 100, 3, 1e-6), uneven, .41112, 0, 1, false},
		{problem(101, 2, 1000, 3, 1e-6), accuracy(.75), .73983, .74171, .74369, true},
		{problem(15, 10, 100, 3, 1e-6), uneven, .25512, .2593, 1, true},
		{problem(50, 3, 100, 3, 1e-6), uneven, .79141, .8026, 1, true},
		{problem(25, 4, 100, 3, 1e-6), uneven, .53938, .5448, 1, true},
		{problem(25, 4, 1000, 3, 1e-6), uneven, .34542, 0, 1, true},
		{problem(25, 10, 100, 3, 1e-6), uneven, .36110, 0, 1, true},
		{problem(40, 6, 100, 3, 1e-6), uneven, .59876, 0, 1, true},
		{problem(100, 4, 100, 3, 1e-6), uneven, .88862, 0, 1, true},
	} {
		if x.long && !long {
			continue
		}
		o := Options{Law: answers.NormalLaw}
		normal := must.Get(Best(context.Background(), x.problem, x.prior, o))(t)
		if normal.Value < x.normal-2e-4 || normal.Value > x.normal+1e-3 {
			t.Errorf("%+v: normal noise agrees with %.5f, want %.5f", x.problem, normal.Value, x.normal)
		}
		if got := normal.UpperBound; math.Abs(got-x.beyond) > 2e-5 && x.beyond < 1 || got < max(x.normal, x.better) {
			t.Errorf("%+v: the bound is %.5f, want %.5f", x.problem, got, x.beyond)
		}
		if x.better == 0 || x.problem.Classes > 2 && x.problem.K > 20 && lp.Backend() == "Go simplex" {
			continue
		}
		o.Law, o.Work = answers.ProgramLaw, math.MaxInt64
		if x.problem.Classes == 2 {
			o.Law = answers.ChainLaw
		}
		better := must.Get(Best(context.Background(), x.problem, x.prior, o))(t)
		if better.Value < x.better-2e-4 || better.Value > x.better+1.5e-3 ||
			better.Value > better.UpperBound {
			t.Errorf("%+v: %s agrees with %.5f, want %.5f", x.problem, o.Law, better.Value, x.better)
		}
		if o.Law == answers.ProgramLaw && better.LawBound-better.Value > 1e-4 {
			t.Errorf("%+v: the program agrees with %.5f, and %.5f is all that is shown", x.problem,
				better.Value, better.LawBound)
		}
		if x.problem.K > 11 && !long {
			continue
		}
		best := must.Get(Best(context.Background(), x.problem, x.prior,
			Options{Work: o.Work}))(t)
		if best.Value < normal.Value || best.Value < better.Value-1e-9 {
			t.Errorf("%+v: the best of %.6f and %.6f has %.6f", x.problem, normal.Value, better.Value,
				best.Value)
		}
	}
}

// secondNormal is the probability of each class by itself, by Gauss's rule in pieces.
func secondNormal(counts []int, class int, sigma float64) float64 {
	sum := 0.0
	for from := -10.0; from < 10; from++ {
		sum += quad.Fixed(func(x float64) float64 {
			p := distuv.UnitNormal.Prob(x)
			for d, u := range counts {
				if d != class {
					p *= distuv.UnitNormal.CDF(x + float64(counts[class]-u)/sigma)
				}
			}
			return p
		}, from, from+1, 30, quad.Legendre{}, 0)
	}
	return sum
}

// The probabilities of normal noise are those of a second rule, for every histogram and number of
// votes.
func TestNormalAgainstASecondRule(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := problem(rapid.IntRange(1, 7).Draw(rt, "K"), rapid.IntRange(2, 4).Draw(rt, "C"), 1, 1, 0.1)
		p.Missing = rapid.Bool().Draw(rt, "missing")
		s := must.Get(answers.NewSystem(context.Background(), p))(rt)
		sigma := rapid.Float64Range(0.3, 40).Draw(rt, "sigma")
		got := normal(s, sigma)
		votes := rapid.SliceOfN(rapid.IntRange(0, p.K), p.Classes, p.Classes).Draw(rt, "votes")
		h, err := s.Index(votes)
		if err != nil {
			rt.Skip() // of another number of votes
		}
		first, end := s.Space().Range(h)
		sorted := slices.Clone(votes)
		slices.Sort(sorted)
		slices.Reverse(sorted)
		for i, class := first, 0; i < end; i++ {
			if want := secondNormal(sorted, class, sigma); math.Abs(got[i]-want) > 1e-11 {
				rt.Fatalf("%v at σ = %v: %.15g of %d votes, want %.15g", votes, sigma, got[i], sorted[class],
					want)
			}
			class += s.Space().ClassesOf(i)
		}
	})
}

// Integers are within a few units of what they stand for, sum to one, and are never 0: a label that
// one histogram has and its neighbour has not would cost all of its mass at every answer.
func TestMassesAreNeverZero(t *testing.T) {
	p := problem(30, 3, 10, 1, 0.1)
	s := must.Get(answers.NewSystem(context.Background(), p))(t)
	for _, sigma := range []float64{0.05, 0.5, 5, 500} {
		q := normal(s, sigma)
		got := masses(s, q)
		if err := s.Space().CheckMasses(got); err != nil {
			t.Fatal(err)
		}
		for i, m := range got {
			if want := q[i] * float64(s.Space().ClassesOf(i)) * float64(plurality.One); m == 0 ||
				math.Abs(float64(m)-want) > 5 {
				t.Errorf("σ = %v: mass %d for %v", sigma, m, want)
			}
		}
	}
	p.Abstain = true
	s = must.Get(answers.NewSystem(context.Background(), p))(t)
	q := normal(s, 5)
	space := s.Space()
	for i, m := range masses(s, q) {
		if (space.Votes(i) == plurality.Abstained) != (m == 0) {
			t.Errorf("%d votes have mass %d", space.Votes(i), m)
		}
	}
	_, end := space.Range(3)
	q[end-1] = 1e-30
	for i, m := range masses(s, q) {
		if m == 0 {
			t.Errorf("%d votes have no mass where one histogram abstains", space.Votes(i))
		}
	}
}

// Every step of a chain is the largest that the bound allows, to a lead that is 2t further: a little
// more breaks it, and both orders of all neighbours obey it.
func TestChainIsTheLargest(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := problem(rapid.IntRange(1, 40).Draw(rt, "K"), 2, 1, 1, 0.1)
		p.Missing = rapid.Bool().Draw(rt, "missing")
		p.Affected = rapid.IntRange(1, min(p.K, 4)).Draw(rt, "t")
		order, r := float64(rapid.IntRange(2, 32).Draw(rt, "order")),
			rapid.Float64Range(1e-3, 3).Draw(rt, "R")
		weight := rapid.SliceOfN(rapid.Float64Range(0, 1), p.K+1, p.K+1).Draw(rt, "weights")
		leads := p.Window(weight, renyiLink(order, r))
		at := func(lead int) float64 {
			if lead < 0 {
				return 1 - leads[-lead]
			}
			return leads[lead]
		}
		for lead := -p.K; lead <= p.K; lead++ {
			for to := lead + 1; to <= min(p.K, lead+2*p.Affected); to++ {
				if !p.Missing && ((p.K-lead)%2 != 0 || (p.K-to)%2 != 0) {
					continue
				}
				for _, pair := range [][2]float64{{at(lead), at(to)}, {at(to), at(lead)}} {
					if x := momentOf(order, pair[0], pair[1]); min(pair[0], 1-pair[0], pair[1], 1-pair[1]) > 1e-7 &&
						x > r*(1+1e-6) {
						rt.Fatalf("K=%d t=%d: from lead %d to %d the moment is %v, above %v", p.K, p.Affected, lead, to, x, r)
					}
				}
				if x := at(to); to == lead+2*p.Affected && lead >= -p.Affected && x < 1-1e-9 {
					more := min(1-1e-15, x+1e-6*(1-x))
					from := at(lead)
					if to == p.Affected {
						from = 1 - more
					}
					if momentOf(order, from, more) <= r && momentOf(order, more, from) <= r {
						rt.Fatalf("K=%d t=%d: at lead %d more than %v is allowed after %v", p.K, p.Affected, to, x, from)
					}
				}
			}
		}
	})
}

// A table whose votes may be missing is priced as one of all leads, and agrees nearly as often
// where nobody's vote is missing. Where every second lead only can occur, it agrees as often.
func TestMissingVotes(t *testing.T) {
	ctx := context.Background()
	for _, k := range []int{7, 8} {
		p := problem(k, 2, 50, 2, 1e-5)
		every := must.Get(Best(ctx, p, accuracy(.75), Options{}))(t)
		p.Missing = true
		prior := accuracy(.75)
		prior.Present = 1
		missing := must.Get(Best(ctx, p, prior, Options{}))(t)
		if missing.Value > every.Value+2e-4 || missing.Value < every.Value-2e-3 {
			t.Errorf("K=%d: %.5f where votes may be missing, %.5f where not", k, missing.Value, every.Value)
		}
	}
	p := problem(6, 3, 20, 2, 1e-5)
	p.Missing = true
	prior := uneven
	prior.Present = .9
	for _, law := range []answers.Name{answers.NormalLaw, answers.ProgramLaw} {
		got := must.Get(Best(ctx, p, prior, Options{Law: law}))(t)
		if again := must.Get(got.Law, error(nil))(t); again.Name != law || got.Value < 1./3 {
			t.Errorf("%s: %+v agrees with %v", law, again, got.Value)
		}
	}
}

// For two classes and t = 1 the program finds what the chain is proved to be, and at t = 2 more
// than normal noise.
func TestProgramOfTwoClasses(t *testing.T) {
	ctx := context.Background()
	p := problem(25, 2, 100, 3, 1e-6)
	chain := must.Get(Best(ctx, p, accuracy(.75), Options{Law: answers.ChainLaw, Order: 8}))(t)
	program := must.Get(Best(ctx, p, accuracy(.75), Options{Law: answers.ProgramLaw}))(t)
	if math.Abs(chain.Value-program.Value) > 2e-4 {
		t.Errorf("%.5f by the chain, %.5f by the program", chain.Value, program.Value)
	}
	p.Affected = 2
	best := must.Get(Best(ctx, p, accuracy(.75), Options{}))(t)
	normal := must.Get(Best(ctx, p, accuracy(.75), Options{Law: answers.NormalLaw}))(t)
	if best.Value < normal.Value || best.Value > chain.Value {
		t.Errorf("%.5f at t = 2, %.5f by normal noise, %.5f at t = 1", best.Value, normal.Value,
			chain.Value)
	}
}

// With an answer that is no class, the program abstains where that is worth more.
func TestAbstaining(t *testing.T) {
	ctx := context.Background()
	p := problem(9, 3, 20, 2, 1e-4)
	plain := must.Get(Best(ctx, p, uneven, Options{}))(t)
	p.Abstain = true
	prior := uneven
	prior.AbstainValue = 0.55
	got := must.Get(Best(ctx, p, prior, Options{}))(t)
	if got.Law.Name != answers.ProgramLaw || got.Value < 0.55 || got.Value < plain.Value {
		t.Errorf("%+v: %v, and %v without abstaining", got.Law, got.Value, plain.Value)
	}
	tie := must.Get(got.Certified.Law([]int{3, 3, 3}))(t)
	clear := must.Get(got.Certified.Law([]int{9, 0, 0}))(t)
	if !(tie[3] > 0.5) || !(clear[3] < tie[3]) {
		t.Errorf("abstains with %v of a tie and with %v of a clear plurality", tie[3], clear[3])
	}
}

// Every table that comes back is certified for exactly the problem, and agrees more often than a
// guess.
func TestBestIsCertified(t *testing.T) {
	ctx := context.Background()
	for n, p := range []answers.Problem{
		{K: 1, Classes: 2, Affected: 1, Answers: 1, Epsilon: 0.1, Delta: 1e-9},
		{K: 1, Classes: 3, Affected: 1, Missing: true, Answers: 30, Epsilon: 1, Delta: 1e-2},
		{K: 9, Classes: 2, Affected: 2, Answers: 22, Epsilon: 20, Delta: 1e-2},
		{K: 8, Classes: 2, Affected: 1, Missing: true, Answers: 7, Epsilon: 3, Delta: 1e-5},
		{K: 5, Classes: 3, Affected: 2, Missing: true, Answers: 3, Epsilon: 3, Delta: 1e-5},
		{K: 4, Classes: 4, Affected: 4, Answers: 1, Epsilon: 0.5, Delta: 1e-3},
	} {
		prior := answers.DefaultPrior(p)
		got, err := Best(ctx, p, prior, Options{})
		if err != nil {
			t.Errorf("%d: %+v: %v", n, p, err)
			continue
		}
		if got.Problem() != p || !got.Prior.Equal(prior) || got.Certificate().Delta > p.Delta ||
			got.Value <= 1/float64(p.Classes)-1e-9 {
			t.Errorf("%+v: %+v with value %v", p, got.Certificate(), got.Value)
		}
		if each := got.Certificate().Each; each != (game.Each{}) {
			if again := must.Get(answers.CertifyEach(ctx, got.System(), massesOf(got.Certified), each))(t); again.Certificate() != got.Certificate() {
				t.Errorf("%+v: %+v, certified again %+v", p, got.Certificate(), again.Certificate())
			}
			continue
		}
		again, _, err := got.System().Price(ctx, massesOf(got.Certified), got.Certificate().Price)
		if err != nil || again != got.Certificate().Delta {
			t.Errorf("%+v: priced again it is %v, %v", p, again, err)
		}
	}
}

func massesOf(c *answers.Certified) []uint64 {
	out := make([]uint64, c.System().Space().Variables())
	for i := range out {
		out[i] = c.Mass(i)
	}
	return out
}

// Of few answers of two classes, the chain of Q coins is near what no table is above: chains of a
// Rényi bound alone were up to 5 points below.
func TestFewAnswers(t *testing.T) {
	for _, x := range []struct {
		k, q    int
		epsilon float64
		below   float64
		least   float64 // points that the chain of order 8 is below the best
	}{{5, 1, 1, 1e-8, .02}, {5, 2, 1, 1e-6, .02}, {15, 1, 3, 1e-8, .001}, {15, 5, 1, .0001, .005}} {
		p := problem(x.k, 2, x.q, x.epsilon, 1e-6)
		best := must.Get(Best(t.Context(), p, accuracy(.75), Options{}))(t)
		if best.Value < best.UpperBound-x.below || best.Value > best.UpperBound {
			t.Errorf("%+v: %s agrees in %g, the bound is %g", p, best.Law.Name, best.Value, best.UpperBound)
		}
		chain := must.Get(Best(t.Context(), p, accuracy(.75),
			Options{Law: answers.ChainLaw, Order: 8}))(t)
		if best.Value < chain.Value+x.least {
			t.Errorf("%+v: the best agrees in %g, the chain in %g", p, best.Value, chain.Value)
		}
	}
	p := problem(5, 2, 2, 1, 1e-6)
	coins := must.Get(Best(t.Context(), p, accuracy(.75), Options{Law: answers.CoinsLaw}))(t)
	if coins.Law.Name != answers.CoinsLaw || !(coins.Law.Epsilon > .9 && coins.Law.Epsilon <= 1) {
		t.Errorf("%+v of coins", coins.Law)
	}
	p.Classes = 3
	if _, err := Best(t.Context(), p, uneven, Options{Law: answers.CoinsLaw}); err == nil {
		t.Error("coins of three classes")
	}
}

// Of few answers every kind of table is tried.
func TestKindsAreTried(t *testing.T) {
	tried := map[answers.Name]bool{}
	must.Get(Best(t.Context(), problem(5, 2, 2, 1, 1e-6), accuracy(.75), Options{Progress: func(p Progress) {
		tried[p.Law] = true
	}}))(t)
	for _, law := range []answers.Name{answers.NormalLaw, answers.ChainLaw, answers.CoinsLaw, answers.OneLaw} {
		if !tried[law] {
			t.Errorf("%s is not tried", law)
		}
	}
}

// The model says where the promise is kept: two prices of a family are enough.
func TestFewPrices(t *testing.T) {
	for _, x := range []struct {
		p   answers.Problem
		law answers.Name
	}{
		{problem(25, 2, 3000, 3, 1e-6), answers.NormalLaw}, {problem(25, 2, 3000, 3, 1e-6), answers.ChainLaw},
		{problem(11, 3, 1000, 2, 1e-6), answers.NormalLaw}, {problem(8, 5, 800, 3, 1e-5), answers.NormalLaw},
	} {
		prices := 0
		got := must.Get(Best(t.Context(), x.p, uneven, Options{Law: x.law, Order: 8,
			Progress: func(Progress) { prices++ }}))(t)
		if prices > 2 || got.Certificate().Delta < x.p.Delta*(1-1.1*tolerance) {
			t.Errorf("%+v, %s: %d prices, the last %v", x.p, x.law, prices, got.Certificate().Delta)
		}
	}
}

// The share that is done grows from price to price, is below 1, and is above a half where the last law is at work.
func TestShareGrows(t *testing.T) {
	for _, p := range []answers.Problem{problem(5, 2, 2, 1, 1e-6), problem(5, 3, 40, 1, 1e-6)} {
		last := Progress{}
		must.Get(Best(t.Context(), p, accuracy(.75), Options{Progress: func(at Progress) {
			if at.Share <= last.Share || at.Next <= at.Share || at.Next >= 1 {
				t.Errorf("price %d of %s: a share of %v after %v, next %v", at.Prices, at.Law, at.Share, last.Share, at.Next)
			}
			last = at
		}}))(t)
		if last.Share < .5 {
			t.Errorf("K = %d: the last price of %d is at %v", p.K, last.Prices, last.Share)
		}
	}
}

func TestOptionsAreRefused(t *testing.T) {
	ctx := context.Background()
	good := problem(5, 3, 10, 1, 1e-5)
	for name, x := range map[string]struct {
		p answers.Problem
		o answers.Prior
		s Options
	}{
		"law":                 {good, uneven, Options{Law: "laplace"}},
		"order":               {good, uneven, Options{Order: 1}},
		"work of the program": {good, uneven, Options{Work: -1}},
		"step of a game":      {good, uneven, Options{Price: game.Options{Step: 2}}},
		"budget delta":        {problem(5, 3, 10, 1, 0), uneven, Options{}},
		"prior":               {good, answers.Prior{}, Options{}},
	} {
		var bad *check.Error
		if _, err := Best(ctx, x.p, x.o, x.s); !errors.As(err, &bad) || bad.Name != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Best(ctx, good, uneven, Options{Law: answers.ChainLaw}); err == nil {
		t.Error("three classes have a chain")
	}
}

// A solve ends with ctx wherever that is looked at, with the best table so far where one is asked
// for.
func TestSolveEnds(t *testing.T) {
	p := problem(5, 3, 10, 2, 1e-3)
	tables, errs := 0, 0
	for n := 0; ; n += 1 + n/3 {
		ctx := must.EndAfter(n, context.Canceled)
		got, err := Best(ctx, p, uneven, Options{BestOnCancel: n%2 == 1})
		if err == nil && (n%2 == 0 || ctx.Err() == nil) { // it was not ended
			break
		}
		switch {
		case err != nil && !errors.Is(err, context.Canceled):
			t.Fatalf("ended at %d: %v", n, err)
		case err != nil:
			errs++
		case got.Certificate().Delta > p.Delta:
			t.Fatalf("ended at %d: %+v", n, got.Certificate())
		default:
			tables++
		}
	}
	if tables == 0 || errs == 0 {
		t.Errorf("%d tables and %d errors: one side is not tested", tables, errs)
	}
}

// Votes of 101 teachers on 1,866 images, all of them answered: the figures of another
// implementation, within 2e-4 or better, by the votes' own law.
func TestVotesOfImages(t *testing.T) {
	if !long {
		t.Skip("long")
	}
	file := must.Get(os.ReadFile("../../../testdata/mnist-5v8-disjoint/votes.csv"))(t)
	var votes [][]int
	var counts []float64
	for _, line := range strings.Split(strings.TrimSpace(string(file)), "\n")[1:] {
		fields := strings.Split(line, ",")
		ones := 0
		for _, v := range fields[1 : len(fields)-1] {
			if v == "1" {
				ones++
			}
		}
		votes, counts = append(votes, []int{ones, 101 - ones}), append(counts, 1)
	}
	prior := answers.Prior{Objective: plurality.Objective{
		Counts: plurality.CountHistograms(votes, counts)}}
	for _, x := range []struct{ delta, normal, chain, bound float64 }{
		{1e-5, .82330, .83403, .83593}, {1e-6, .79943, .80765, .80900},
	} {
		p := problem(101, 2, len(votes), 3, x.delta)
		for law, want := range map[answers.Name]float64{
			answers.NormalLaw: x.normal, answers.ChainLaw: x.chain} {
			got := must.Get(Best(context.Background(), p, prior, Options{Law: law}))(t)
			if got.Value < want-2e-4 || got.Value > want+1.5e-3 ||
				math.Abs(got.UpperBound-x.bound) > 2e-5 {
				t.Errorf("δ = %v, %s: %.5f, at most %.5f, want %.5f and %.5f",
					x.delta, law, got.Value, got.UpperBound, want, x.bound)
			}
		}
	}
}

// momentOf returns Σ P^α·P'^(1-α) - 1 of two coins of bias p and q.
func momentOf(order, p, q float64) float64 {
	return q*math.Pow(p/q, order) + (1-q)*math.Pow((1-p)/(1-q), order) - 1
}
