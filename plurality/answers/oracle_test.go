package answers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/accountant/game"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/plurality"
)

// A second opinion, from the definition: ballots are lists of votes, nothing is sorted, and the
// game is played without a grid.

// ballots returns the votes for each class of all lists of k votes, and of each list the votes
// themselves. The vote c is none.
func ballots(p Problem) (lists, tallies [][]int) {
	values := p.Classes
	if p.Missing {
		values++
	}
	lists = [][]int{nil}
	for range p.K {
		var longer [][]int
		for _, l := range lists {
			for v := range values {
				longer = append(longer, append(slices.Clone(l), v))
			}
		}
		lists = longer
	}
	for _, l := range lists {
		tally := make([]int, p.Classes+1)
		for _, v := range l {
			tally[v]++
		}
		tallies = append(tallies, tally[:p.Classes])
	}
	return lists, tallies
}

// pairOf returns the laws of two tallies, class by class, as one canonical value.
func pairOf(p, q []float64) string {
	columns := make([][2]float64, len(p))
	for c := range p {
		columns[c] = [2]float64{p[c], q[c]}
	}
	slices.SortFunc(columns, func(a, b [2]float64) int { return slices.Compare(a[:], b[:]) })
	return fmt.Sprint(columns)
}

// brutePairs returns the laws of all neighbouring ballots, each pair once.
func brutePairs(t testing.TB, c *Certified) map[string][2][]float64 {
	t.Helper()
	p := c.Problem()
	lists, tallies := ballots(p)
	out := map[string][2][]float64{}
	for i, a := range lists {
		for j, b := range lists {
			differ := 0
			for k := range a {
				if a[k] != b[k] {
					differ++
				}
			}
			if differ > p.Affected || slices.Equal(tallies[i], tallies[j]) {
				continue
			}
			from, to := must.Get(c.Law(tallies[i]))(t), must.Get(c.Law(tallies[j]))(t)
			if slices.Equal(from, to) { // such as two classes with one lead: that tells nothing
				continue
			}
			out[pairOf(from, to)] = [2][]float64{from, to}
		}
	}
	return out
}

// bruteDelta plays the game by recursion.
func bruteDelta(pairs map[string][2][]float64, answers int, factor float64) float64 {
	if answers == 0 {
		return max(0, 1-factor)
	}
	most := 0.0
	for _, pair := range pairs {
		sum := 0.0
		for o, p := range pair[0] {
			if p > 0 {
				sum += p * bruteDelta(pairs, answers-1, factor*pair[1][o]/p)
			}
		}
		most = max(most, sum)
	}
	return most
}

// random returns masses of which all are positive and no two histograms' are alike.
func random(t *rapid.T, s *System) []uint64 {
	p := make([]float64, s.space.Variables())
	for h := range s.space.Histograms() {
		first, end := s.space.Range(h)
		sum := 0.0
		for i := first; i < end; i++ {
			p[i] = rapid.Float64Range(0.2, 1).Draw(t, "weight") + float64(i)*1e-3
			sum += p[i] * float64(s.space.ClassesOf(i))
		}
		for i := first; i < end; i++ {
			p[i] /= sum
		}
	}
	return s.space.Masses(p)
}

func drawProblem(t *rapid.T) Problem {
	p := Problem{
		K: rapid.IntRange(1, 4).Draw(t, "K"), Classes: rapid.IntRange(2, 3).Draw(t, "C"),
		Missing: rapid.Bool().Draw(t, "missing"),
		Answers: rapid.IntRange(1, 3).Draw(t, "Q"),
		Epsilon: rapid.SampledFrom([]float64{0.1, 0.5, 1, 3}).Draw(t, "eps"),
		Delta:   0.999, Abstain: rapid.Bool().Draw(t, "abstain"),
	}
	p.Affected = rapid.IntRange(1, p.K).Draw(t, "t")
	return p
}

// The pairs in the price are those of the definition: all pairs of ballots of which at most t
// entries differ, classes matched by their names, whether votes may be missing or not. The price is
// never below that of all transcripts, and little above.
func TestPriceIsThatOfAllTranscripts(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(rt *rapid.T) {
		p := drawProblem(rt)
		s := must.Get(NewSystem(ctx, p))(rt)
		c := &Certified{system: s, masses: random(rt, s)}
		brute := brutePairs(t, c)
		found := map[string]bool{}
		for pair, err := range s.Laws(ctx, c.masses) {
			if err != nil {
				rt.Fatal(err)
			}
			var from, to []float64
			for _, o := range pair {
				for range o.Count {
					from = append(from, float64(o.P.Mass)/float64(plurality.One)/float64(o.P.Classes))
					to = append(to, float64(o.PPrime.Mass)/float64(plurality.One)/float64(o.PPrime.Classes))
				}
			}
			if slices.Equal(from, to) {
				continue
			}
			for _, key := range []string{pairOf(from, to), pairOf(to, from)} {
				if _, ok := brute[key]; !ok {
					rt.Fatalf("%+v: %s is no pair of neighbours", p, key)
				}
				found[key] = true
			}
		}
		if len(found) != len(brute) {
			rt.Fatalf("%+v: %d of %d pairs of laws are in the price", p, len(found), len(brute))
		}
		if len(brute) > 60 && p.Answers > 2 { // the recursion takes too long
			return
		}
		want := bruteDelta(brute, p.Answers, math.Exp(p.Epsilon))
		got, o, err := s.Price(ctx, c.masses, game.Options{Step: 1. / 400})
		if err != nil || o.Step != 1./400 {
			rt.Fatal(o, err)
		}
		if got < want*(1-1e-12) || got > want*1.02+3e-3 { // ratios of two answers move by a step each
			rt.Fatalf("%+v: the price is %v, of all transcripts %v", p, got, want)
		}
	})
}

// Masses pass at their own price and not below it, by however little.
func TestCertifyDecidesByThePrice(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(rt *rapid.T) {
		p := drawProblem(rt)
		s := must.Get(NewSystem(ctx, p))(rt)
		masses := random(rt, s)
		price, o, err := s.Price(ctx, masses, game.Options{Step: 0.25})
		if err != nil || !(price > 0 && price < 0.99) {
			rt.Skip()
		}
		for _, x := range []struct {
			delta float64
			ok    bool
		}{{up(price), true}, {down(down(price)), false}} {
			p.Delta = x.delta
			s := must.Get(NewSystem(ctx, p))(rt)
			c, err := Certify(ctx, s, masses, game.Options{Step: 0.25})
			var over *PriceError
			switch {
			case x.ok && (err != nil || c.Certificate() != Certificate{Pairs: s.pairs, Delta: price,
				Price: o}):
				rt.Fatalf("%+v: refused at its price: %v", p, err)
			case !x.ok && (!errors.As(err, &over) || over.Delta != price):
				rt.Fatalf("%+v: %v", p, err)
			}
		}
		masses[0]++
		if _, err := Certify(ctx, s, masses, o); err == nil {
			rt.Fatal("masses that sum to more than 1 are certified")
		}
	})
}

// fromLeads returns masses of two classes whose leading one is the answer with probability a(lead).
func fromLeads(s *System, a func(lead int) float64) []uint64 {
	p := make([]float64, s.space.Variables())
	for h := range s.space.Histograms() {
		first, end := s.space.Range(h)
		x := a(s.Lead(h))
		p[first] = x
		if end-first == 2 {
			p[first+1] = 1 - x
		}
	}
	return s.space.Masses(p)
}

// The prices of normal noise on two classes are those that the definition gives to nine digits.
func TestPriceOfNormalNoise(t *testing.T) {
	ctx := context.Background()
	for _, x := range []struct {
		k       int
		mu, eps float64
		want    []float64
	}{
		{5, 0.4, 0.2, []float64{.085766776, .129541418, .168189667}},
		{5, 0.4, 0.6, []float64{0, .039972141, .069055904}},
		{4, 0.7, 0.6, []float64{.094815425, .168013036, .237212265}},
		{11, 0.3, 0.2, []float64{.049551947, .082952677, .109674032}},
	} {
		for n, want := range x.want {
			s := must.Get(NewSystem(ctx, Problem{K: x.k, Classes: 2, Affected: 1, Answers: n + 1,
				Epsilon: x.eps, Delta: 0.9}))(t)
			masses := fromLeads(s, func(lead int) float64 {
				return math.Erfc(-x.mu*float64(lead)/2/math.Sqrt2) / 2
			})
			got, _, err := s.Price(ctx, masses, game.Options{Step: 1. / 64})
			if err != nil || got < want-5e-10 || got > want*1.002+1e-5 {
				t.Errorf("K=%d mu=%v eps=%v, %d answers: %.9f, %v, want %.9f", x.k, x.mu, x.eps, n+1, got, err,
					want)
			}
		}
	}
}

// The masses of a histogram are those of its groups of classes with equal votes, in descending
// order of the votes, then that of abstaining, as Law has them.
func TestMassesOfVotes(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(rt *rapid.T) {
		p := drawProblem(rt)
		s := must.Get(NewSystem(ctx, p))(rt)
		c := &Certified{system: s, masses: random(rt, s)}
		_, tallies := ballots(p)
		votes := rapid.SampledFrom(tallies).Draw(rt, "votes")
		groups, law := must.Get(c.Masses(votes))(rt), must.Get(c.Law(votes))(rt)
		distinct := slices.Compact(slices.Sorted(slices.Values(votes)))
		slices.Reverse(distinct)
		if len(groups) != len(distinct)+abstaining(p) || len(law) != p.Classes+abstaining(p) {
			rt.Fatalf("%v: masses %v, law %v", votes, groups, law)
		}
		sum := uint64(0)
		for g, mass := range groups {
			sum += mass
			got := 0.0
			for class, probability := range law {
				if class == len(votes) && g == len(distinct) || class < len(votes) && g < len(distinct) &&
					votes[class] == distinct[g] {
					got += probability
				}
			}
			if want := float64(mass) / float64(plurality.One); math.Abs(got-want) > 1e-15 {
				rt.Fatalf("%v: group %d has %v, want %v", votes, g, got, want)
			}
		}
		if sum != plurality.One {
			rt.Fatalf("%v: masses %v", votes, groups)
		}
	})
	var none *Certified
	if _, err := none.Law([]int{1, 0}); err == nil {
		t.Error("what was not certified has a law")
	}
	if _, err := none.Masses([]int{1, 0}); err == nil {
		t.Error("what was not certified has masses")
	}
}

func abstaining(p Problem) int {
	if p.Abstain {
		return 1
	}
	return 0
}

// The weights are the law of ballots: each teacher votes with probability present, for the right
// class with probability mu.
func TestWeightsAreTheLawOfBallots(t *testing.T) {
	ctx := context.Background()
	for _, p := range []Problem{
		{K: 4, Classes: 2}, {K: 4, Classes: 2, Missing: true}, {K: 5, Classes: 2, Missing: true},
		{K: 3, Classes: 3}, {K: 4, Classes: 3, Missing: true},
	} {
		p.Affected, p.Answers, p.Epsilon, p.Delta = 1, 10, 1, 1e-5
		s := must.Get(NewSystem(ctx, p))(t)
		prior := Prior{Objective: plurality.Objective{Accuracy: 0.7}}
		if p.Missing {
			prior.Present = 0.85
		}
		want := make([]float64, s.space.Histograms())
		lists, tallies := ballots(p)
		for i, list := range lists {
			probability := 1.0
			for _, v := range list {
				switch {
				case v == p.Classes:
					probability *= 1 - prior.Present
				case v == 0:
					probability *= 0.7
				default:
					probability *= 0.3 / float64(p.Classes-1)
				}
				if p.Missing && v < p.Classes {
					probability *= prior.Present
				}
			}
			want[must.Get(s.Index(tallies[i]))(t)] += probability
		}
		w := must.Get(prior.Weights(ctx, s))(t)
		for h := range want {
			if !(w.Low[h] <= w.High[h]) || math.Abs(w.Low[h]-want[h]) > 1e-12 ||
				math.Abs(w.High[h]-want[h]) > 1e-12 {
				t.Errorf("%+v: histogram %v has weight between %v and %v, want %v", p, s.space.Histogram(h),
					w.Low[h], w.High[h], want[h])
			}
		}
	}
}

// Counts of a prior are of votes, also where the Space has half votes.
func TestCountsOfAPrior(t *testing.T) {
	ctx := context.Background()
	s := must.Get(NewSystem(ctx, Problem{K: 5, Classes: 2, Affected: 1, Missing: true, Answers: 1,
		Epsilon: 1, Delta: 1e-5}))(t)
	prior := Prior{Objective: plurality.Objective{Counts: []plurality.HistogramCount{{Votes: []int{1,
		3}, Count: 1}, {Votes: []int{2, 0}, Count: 2}, {Votes: []int{2, 3}, Count: 1}}}}
	w := must.Get(prior.Weights(ctx, s))(t)
	for lead, h := range s.Leads() {
		if want := map[int]float64{1: 0.25, 2: 0.75}[lead]; w.Low[h] > want || w.High[h] < want ||
			w.High[h]-w.Low[h] > 1e-15 {
			t.Errorf("lead %d: %v to %v, want %v", lead, w.Low[h], w.High[h], want)
		}
	}
	prior.Counts[0].Votes = []int{3, 3}
	if _, err := prior.Weights(ctx, s); err == nil {
		t.Error("more votes than teachers")
	}
}

// The Space of two classes has one histogram for each lead that votes can have.
func TestLeads(t *testing.T) {
	for _, missing := range []bool{false, true} {
		for k := 1; k <= 6; k++ {
			s := must.Get(NewSystem(context.Background(),
				Problem{K: k, Classes: 2, Affected: 1, Missing: missing, Answers: 1, Epsilon: 1, Delta: 1e-5}))(
				t)
			for lead, h := range s.Leads() {
				possible := missing || (k-lead)%2 == 0
				if possible != (h >= 0) || h >= 0 && s.Lead(h) != lead {
					t.Errorf("K=%d, missing %t: lead %d is histogram %d", k, missing, lead, h)
				}
			}
		}
	}
}

var gameOptions = game.Options{Step: 0.05}

// Whoever handed masses over cannot change what was certified.
func TestMassesAreKept(t *testing.T) {
	ctx := context.Background()
	s := must.Get(NewSystem(ctx, Problem{K: 3, Classes: 2, Affected: 1, Answers: 1, Epsilon: 1,
		Delta: 0.5}))(t)
	masses := slanted(s, 0.1)
	c := must.Get(Certify(ctx, s, masses, gameOptions))(t)
	before := c.Mass(0)
	masses[0] = 0
	must.Get(c.Masses([]int{3, 0}))(t)[0] = 0
	if c.Mass(0) != before || must.Get(c.Masses([]int{2, 1}))(t)[0] != before {
		t.Error("what was certified changes")
	}
}

// Numbers of votes that are left out of the weights, since they hardly occur, are in their upper
// bounds.
func TestNegligibleNumbers(t *testing.T) {
	ctx := context.Background()
	s := must.Get(NewSystem(ctx, Problem{K: 60, Classes: 2, Affected: 1, Missing: true, Answers: 1,
		Epsilon: 1, Delta: 0.5}))(t)
	prior := Prior{Objective: plurality.Objective{Accuracy: 0.999}, Present: 0.99}
	w := must.Get(prior.Weights(ctx, s))(t)
	least := 0.0
	for _, share := range prior.numbers(60) {
		if share.Upper() < 0x1p-80 {
			least += share.Lower()
		}
	}
	high := 0.0
	for h := range w.High {
		if w.High[h] <= w.Low[h]+least/2 {
			t.Errorf("lead %d lacks %v", s.Lead(h), least)
		}
		high += w.High[h]
	}
	if least == 0 || high > 1+1e-9 {
		t.Errorf("%v is left out, the bounds sum to %v", least, high)
	}
}

// The curve of a table's answers is nowhere below that of all transcripts, and an event of the
// accountant.
func TestCurve(t *testing.T) {
	ctx := context.Background()
	s := must.Get(NewSystem(ctx, Problem{K: 3, Classes: 3, Affected: 1, Missing: true, Answers: 2,
		Epsilon: 1, Delta: 0.5}))(t)
	c := must.Get(Certify(ctx, s, slanted(s, 0.4), gameOptions))(t)
	curve := must.Get(c.Curve(ctx, 1e-3))(t)
	pairs := brutePairs(t, c)
	points := make([]accountant.HockeyStickPoint, len(curve))
	for i, p := range curve {
		points[i] = accountant.HockeyStickPoint(p)
		want := bruteDelta(pairs, 2, math.Exp(p.Epsilon))
		if p.Delta < want*(1-1e-12) || p.Delta > want*1.05+1e-3 {
			t.Errorf("at ε = %v: %v, of all transcripts %v", p.Epsilon, p.Delta, want)
		}
	}
	if _, err := accountant.NewHockeyStick(accountant.ReplaceOne, "a test", points); err != nil ||
		len(points) < 3 {
		t.Errorf("%d points: %v", len(points), err)
	}
	var none *Certified
	if _, err := none.Curve(ctx, 1e-3); err == nil {
		t.Error("what was not certified has a curve")
	}
}
