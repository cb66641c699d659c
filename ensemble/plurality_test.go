package ensemble

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/internal/testing/composetest"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/internal/testing/randsrctest"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/solve"
)

var solvedPluralities sync.Map // plurality.Problem → *plurality.Table

// solvedPlurality returns the optimal table, solved once.
func solvedPlurality(t testing.TB, p plurality.Problem) *plurality.Table {
	t.Helper()
	if table, ok := solvedPluralities.Load(p); ok {
		return table.(*plurality.Table)
	}
	o := plurality.Objective{Accuracy: 0.6}
	if p.Abstain {
		o.AbstainValue = 0.7
	}
	table, err := solve.Optimal(context.Background(), p, o, solve.Options{Gap: 1e-7})
	if err != nil {
		t.Fatal(err)
	}
	solvedPluralities.Store(p, table)
	return table
}

func mustPlurality(t testing.TB, table *plurality.Table) *Mechanism {
	t.Helper()
	return must.Get(Plurality(table.Certified, accountant.ReplaceOne))(t)
}

// pluralityCases are small problems of every kind.
var pluralityCases = []plurality.Problem{
	{K: 6, Classes: 3, Epsilon: 0.7, Affected: 1},
	{K: 5, Classes: 3, Epsilon: 1, Affected: 2},
	{K: 6, Classes: 2, Epsilon: 0.5, Affected: 1},
	{K: 4, Classes: 4, Epsilon: 0.8, Affected: 1},
	{K: 6, Classes: 3, Epsilon: 0.5, Delta: 0.01, Affected: 2},
	{K: 6, Classes: 3, Epsilon: 0.7, Affected: 1, Abstain: true},
	{K: 5, Classes: 3, Epsilon: 0.6, Delta: 1e-3, Affected: 1, Abstain: true},
}

// groupsOf returns a table's masses by its file: of each number of votes, and of abstaining
// under plurality.Abstained.
func groupsOf(t testing.TB, table *plurality.Table) map[string]map[int]uint64 {
	t.Helper()
	var b bytes.Buffer
	if err := table.Encode(&b); err != nil {
		t.Fatal(err)
	}
	var file struct {
		Masses []struct {
			Votes  []int
			Groups []uint64
		}
	}
	if err := json.Unmarshal(b.Bytes(), &file); err != nil {
		t.Fatal(err)
	}
	all := map[string]map[int]uint64{}
	for _, h := range file.Masses {
		groups, distinct := map[int]uint64{}, slices.Compact(slices.Clone(h.Votes))
		if table.Problem().Abstain {
			distinct = append(distinct, plurality.Abstained)
		}
		for i, v := range distinct {
			groups[v] = h.Groups[i]
		}
		all[fmt.Sprint(h.Votes)] = groups
	}
	return all
}

func descending(counts []int) string {
	sorted := slices.Clone(counts)
	slices.Sort(sorted)
	slices.Reverse(sorted)
	return fmt.Sprint(sorted)
}

// For every vector of votes the law is what the table's file says; and over all votes that t
// changed votes tell apart the true ε at δ is no more than the mechanism claims, and within 2e-6
// of it: the optimum spends what it has. With the votes that t+1 changes tell apart the claim is
// broken, so a t that is left out of the account would show here.
func TestPluralityLawByBruteForce(t *testing.T) {
	for _, p := range pluralityCases {
		table := solvedPlurality(t, p)
		m, groups := mustPlurality(t, table), groupsOf(t, table)
		if want := (Setting{p.K, p.Classes, p.Affected, accountant.ReplaceOne, false}); m.Setting() != want ||
			m.Abstains() != p.Abstain {
			t.Errorf("%+v: %+v, abstains %t", p, m.Setting(), m.Abstains())
		}
		laws := map[string][]float64{}
		votesOf(p.K, p.Classes, func(counts []int) {
			law, err := m.Probabilities(counts)
			if err != nil {
				t.Fatal(err)
			}
			laws[fmt.Sprint(counts)] = law
			g, alike := groups[descending(counts)], map[int]int{plurality.Abstained: 1}
			for _, v := range counts {
				alike[v]++
			}
			votes := slices.Clone(counts)
			if p.Abstain {
				votes = append(votes, plurality.Abstained)
			}
			if len(law) != len(votes) {
				t.Fatalf("%+v, %v: %d answers", p, counts, len(law))
			}
			for y, v := range votes {
				if want := float64(g[v]) / (1 << 53) / float64(alike[v]); math.Abs(law[y]-want) > 0x1p-53 {
					t.Errorf("%+v, %v: Pr[%d] = %v, the file says %v", p, counts, y, law[y], want)
				}
			}
		})
		worst := func(moved int) (epsilon float64) {
			votesOf(p.K, p.Classes, func(counts []int) {
				neighboursOf(counts, moved, func(other []int) {
					epsilon = max(epsilon, trueEpsilon(laws[fmt.Sprint(counts)], laws[fmt.Sprint(other)], p.Delta))
				})
			})
			return epsilon
		}
		cost := m.PerAnswer()
		if cost != (accountant.Cost{Epsilon: p.Epsilon, Delta: p.Delta}) {
			t.Errorf("%+v: promises %v", p, cost)
		}
		if got := worst(p.Affected); got > cost.Epsilon+1e-9 || got < cost.Epsilon-2e-6 {
			t.Errorf("%+v: claims %v, true ε is %v", p, cost, got)
		}
		if got := worst(p.Affected + 1); got < cost.Epsilon+0.01 {
			t.Errorf("%+v: hides %d votes, more than the %d that it claims: ε is %v", p, p.Affected+1,
				p.Affected, got)
		}
	}
}

// pluralityDraw is draw of a plurality or a mutant of it.
type pluralityDraw func(m *Mechanism, src randsrc.Source, counts []int) (int, error)

// checkPluralityDraw goes through the outcomes of draw: with the words at both ends of each
// group's masses, and every word by which classes of the group are told apart, each class of the
// group comes up once, and abstaining in its own.
func checkPluralityDraw(m *Mechanism, draw pluralityDraw, groups map[string]map[int]uint64,
	counts []int) error {
	byVotes := map[int][]int{plurality.Abstained: {Abstained}}
	for c, v := range counts {
		byVotes[v] = append(byVotes[v], c)
	}
	order := slices.Clone(counts)
	slices.Sort(order)
	slices.Reverse(order)
	order = slices.Compact(order)
	if _, ok := groups[descending(counts)][plurality.Abstained]; ok {
		order = append(order, plurality.Abstained)
	}
	from := uint64(0)
	for _, v := range order {
		end := from + groups[descending(counts)][v]
		if from == end {
			continue
		}
		for _, u := range []uint64{from, from + (end-from)/2, end - 1} {
			var seen []int
			// A word is drawn of one class too, and plays no part.
			for w := range max(2, len(byVotes[v])) {
				class, err := draw(m, &randsrctest.Sequence{Words: []uint64{u, uint64(w)}}, counts)
				if err != nil {
					return err
				}
				seen = append(seen, class)
			}
			slices.Sort(seen)
			if len(byVotes[v]) == 1 {
				seen = slices.Compact(seen)
			}
			if !slices.Equal(seen, byVotes[v]) {
				return fmt.Errorf("%v, word %d: answers %v, want each of %v once", counts, u, seen, byVotes[v])
			}
		}
		from = end
	}
	if from != randsrc.One53 {
		return fmt.Errorf("%v: masses add up to %d", counts, from)
	}
	return nil
}

// The draw has exactly the law of the table, for all votes.
func TestPluralityDrawIsExact(t *testing.T) {
	for _, p := range pluralityCases {
		table := solvedPlurality(t, p)
		m, groups := mustPlurality(t, table), groupsOf(t, table)
		votesOf(p.K, p.Classes, func(counts []int) {
			if err := checkPluralityDraw(m, drawCounts, groups, counts); err != nil {
				t.Errorf("%+v: %v", p, err)
			}
		})
	}
}

// Mistakes of a draw, seen both word by word and in 30,000 answers. Of the latter a draw
// without a mistake would be rejected with probability 1e-6 at most, in all votes together 2e-6;
// the mistakes move classes by several percent, tens of standard errors, and are rejected but
// for a probability below 1e-12.
func TestPluralityDrawKillsMutants(t *testing.T) {
	const n = 30_000
	p := plurality.Problem{K: 6, Classes: 3, Epsilon: 0.7, Affected: 1, Abstain: true}
	table := solvedPlurality(t, p)
	m, groups := mustPlurality(t, table), groupsOf(t, table)
	firstAlike := func(counts []int, class int) int { return slices.Index(counts, counts[class]) }
	for _, c := range []struct {
		name   string
		counts []int
		draw   pluralityDraw
		wrong  bool
	}{
		{"none", []int{2, 2, 2}, drawCounts, false},
		{"none", []int{1, 4, 1}, drawCounts, false},
		{"the group's mass goes to its first class", []int{1, 4, 1},
			func(m *Mechanism, src randsrc.Source, counts []int) (int, error) {
				class, err := drawCounts(m, src, counts)
				if class == Abstained || err != nil {
					return class, err
				}
				return firstAlike(counts, class), nil
			}, true},
		{"abstaining is class 0", []int{3, 2, 1}, func(m *Mechanism, src randsrc.Source,
			counts []int) (int, error) {
			class, err := drawCounts(m, src, counts)
			return max(class, 0), err
		}, true},
		{"groups as if each class had the mass", []int{1, 4, 1},
			func(m *Mechanism, src randsrc.Source, counts []int) (int, error) {
				// Groups by their mass for each class: multiplicity is left out of the choice.
				u, err := src.Uint53()
				if err != nil {
					return 0, err
				}
				w, err := src.Uint53()
				g := groups[descending(counts)]
				whole := g[4] + 2*g[1] + g[plurality.Abstained]
				x := float64(u) / (1 << 53) * float64(whole)
				switch {
				case x < float64(g[4]):
					return 1, err
				case x < float64(g[4]+2*g[1]):
					return []int{0, 2}[w%2], err
				}
				return Abstained, err
			}, true},
	} {
		exact := checkPluralityDraw(m, c.draw, groups, c.counts)
		sampled := checkFrequencies(m, drawFunc(c.draw), randsrc.NewSeeded(5), c.counts, n)
		if (exact != nil) != c.wrong || (sampled != nil) != c.wrong {
			t.Errorf("%s, %v: by words %v; in %d answers %v", c.name, c.counts, exact, n, sampled)
		}
	}
}

// The optimal plurality draws two words for all votes and answers.
func TestPluralityDrawsTwoWords(t *testing.T) {
	p := plurality.Problem{K: 6, Classes: 3, Epsilon: 0.7, Affected: 1, Abstain: true}
	m := mustPlurality(t, solvedPlurality(t, p))
	src := randsrc.NewSeeded(3)
	seen := map[int]bool{}
	votesOf(p.K, p.Classes, func(counts []int) {
		for range 20 {
			u, _ := src.Uint53()
			drawn := &randsrctest.Sequence{Words: []uint64{u, 5, 6}}
			class, err := m.answer(drawn, counts, 0)
			if words, bits := drawn.Used(); err != nil || words != 2 || bits != 0 {
				t.Fatalf("%v: answer %d, %d words, %d bits, %v", counts, class, words, bits, err)
			}
			seen[class] = true
		}
	})
	if len(seen) != 4 {
		t.Errorf("answers %v", seen)
	}
}

// All answers together cost no more than the composition of (ε, δ)-DP answers, worked out by a
// convolution of the worst such mechanism's privacy loss. They are answers of noise of their own
// for t changed votes.
func TestPluralityAnswersAddUp(t *testing.T) {
	const slack = 1e-6
	for _, delta := range []float64{0, 1e-8} {
		p := plurality.Problem{K: 5, Classes: 3, Epsilon: 0.25, Delta: delta, Affected: 2}
		m := mustPlurality(t, solvedPlurality(t, p))
		if n, ok := m.Noise(); !ok || n.Affected != 2 || n.Event != m.Event() {
			t.Fatalf("noise %+v, %t", n, ok)
		}
		if e, ok := m.Event().(accountant.HockeyStick); !ok || e.Relation() != accountant.ReplaceOne ||
			e.Cost().Epsilon != p.Epsilon || e.Cost().Delta > delta {
			t.Fatalf("event %v", m.Event())
		}
		for _, q := range []int{1, 3, 40, 500} {
			total, err := m.Answers(q, slack).Total()
			if err != nil {
				t.Fatal(err)
			}
			if q == 1 {
				if one := m.PerAnswer(); total.Cost.Delta != one.Delta || total.Cost.Epsilon > one.Epsilon ||
					total.Cost.Epsilon < one.Epsilon*(1-1e-6) {
					t.Errorf("one answer costs %v", total.Cost)
				}
				continue
			}
			// (1-δ)^Q of the answers are as pure ones; of these δ' is left at the total ε.
			if got := composetest.Delta(q, p.Epsilon, 0, total.Cost.Epsilon); got < slack*(1-1e-6) &&
				total.Cost.Epsilon < float64(q)*p.Epsilon {
				t.Errorf("δ = %v, Q = %d: ε' = %v leaves δ' = %v, less than %v", delta, q, total.Cost.Epsilon,
					got, slack)
			}
			if want := -math.Expm1(float64(q)*math.Log1p(-delta) +
				math.Log1p(-slack)); math.Abs(total.Cost.Delta-want) > 1e-9*want &&
				total.Cost.Epsilon < float64(q)*p.Epsilon {
				t.Errorf("δ = %v, Q = %d: total δ %v, want %v", delta, q, total.Cost.Delta, want)
			}
		}
	}
}

// A table is compared where it is for these votes and promises enough, and only there.
func TestComparePlurality(t *testing.T) {
	p := plurality.Problem{K: 6, Classes: 3, Epsilon: 0.7, Affected: 1}
	table := solvedPlurality(t, p)
	b, err := NewBallots(6, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, counts := range [][]int{{4, 1, 1}, {0, 3, 3}, {2, 2, 2}, {1, 5, 0}} {
		if err := b.Add(counts, 0); err != nil {
			t.Fatal(err)
		}
	}
	compare := func(b *Ballots, change func(*CompareOptions)) ComparisonRow {
		t.Helper()
		o := CompareOptions{
			Target: accountant.Cost{Epsilon: 0.7}, Teachers: accountant.Cost{Epsilon: math.Inf(1)},
			Affected: 1, Neighbours: accountant.ReplaceOne,
			Tables: []NamedTable{{Name: OptimalCounts, Title: "the table", Plurality: table.Certified}},
		}
		if change != nil {
			change(&o)
		}
		c, err := Compare(context.Background(), b, o)
		if err != nil {
			t.Fatal(err)
		}
		return c.Rows[0]
	}
	row := compare(b, nil)
	if row.Refused != nil || row.Title != "the table" || row.Name != OptimalCounts ||
		row.Score.Queries != 4 || row.AtVotes != nil {
		t.Fatalf("%+v", row)
	}
	agree := 0.0
	for _, counts := range [][]int{{4, 1, 1}, {0, 3, 3}, {2, 2, 2}, {1, 5, 0}} {
		law, _ := row.Mechanism.Probabilities(counts)
		for c, n := range counts {
			if n == slices.Max(counts) {
				agree += law[c] / 4
			}
		}
	}
	if math.Abs(row.Score.Agreement-agree) > 1e-12 {
		t.Errorf("agreement %v, want %v", row.Score.Agreement, agree)
	}
	four, _ := NewBallots(6, 4)
	seven, _ := NewBallots(7, 3)
	slow := errors.New("no time")
	for want, got := range map[string]ComparisonRow{
		"the table is for K = 6 teachers and 3 classes, not 6 and 4": compare(four, nil),
		"the table is for K = 6 teachers and 3 classes, not 7 and 3": compare(seven, nil),
		"the table promises (0.7, 0.01) only": compare(b, func(o *CompareOptions) {
			o.Tables[0].Plurality = solvedPlurality(t,
				plurality.Problem{K: 6, Classes: 3, Epsilon: 0.7, Delta: 0.01, Affected: 1}).Certified
			o.Target.Delta = 0.009
		}),
		"the table promises (0.7, 0) only": compare(b,
			func(o *CompareOptions) { o.Target.Epsilon = 0.6 }),
		"the table presumes that one record reaches at most 1 of the teachers, not 2": compare(b,
			func(o *CompareOptions) { o.Affected = 2 }),
		"no time": compare(b, func(o *CompareOptions) {
			o.Tables[0] = NamedTable{Refused: slow}
		}),
	} {
		if got.Refused == nil || got.Refused.Error() != want || got.Mechanism != nil {
			t.Errorf("%v, want %q", got.Refused, want)
		}
	}
	o := CompareOptions{
		Target: accountant.Cost{Epsilon: 0.7}, Teachers: accountant.Cost{Epsilon: math.Inf(1)},
		Affected: 1, Neighbours: accountant.ReplaceOne,
		Tables: []NamedTable{{Name: "zero", Plurality: new(plurality.Certified)}},
	}
	if _, err := Compare(context.Background(), b, o); err == nil {
		t.Error("the zero Certified is compared")
	}
}

func TestPluralityNeedsACertificate(t *testing.T) {
	for _, c := range []*plurality.Certified{nil, {}} {
		if m, err := Plurality(c, accountant.ReplaceOne); err == nil || m != nil {
			t.Errorf("%+v: %v, %v", c, m, err)
		}
	}
	table := solvedPlurality(t, pluralityCases[0])
	if m, err := Plurality(table.Certified, 0); err == nil || m != nil {
		t.Errorf("no relation: %v, %v", m, err)
	}
}

// The published values of LNMax and GNMax under the objective of the optimal plurality. GNMax is
// at δ = 1e-5, by its exact law. The published noise is continuous. Ours is discrete, so that noisy
// counts tie, which moves LNMax's values by less than 6e-4 and GNMax's by less than 3e-4.
func TestNoisyMaximaUnderThePrior(t *testing.T) {
	raced.Sequential(t)
	for _, x := range []struct {
		k, c, t        int
		eps, mu        float64
		laplace, gauss float64 // 0: not in the table
		long           bool
	}{
		{50, 4, 2, .4, .5, .64278, 0, false},
		{50, 4, 1, .1, .5, 0, .35819, false},
		{50, 4, 1, .1, .5, .45627, 0, true},
		{50, 4, 1, .5, .4, .74923, 0, true},
		{25, 10, 1, .2, .3, .19158, 0, true},
		{25, 10, 1, .5, .3, .36796, 0, true},
		{100, 4, 1, .1, .5, .64971, .47652, true},
		{100, 4, 1, .5, .4, .92323, .77936, true},
		{250, 3, 1, .05, .5, .70427, 0, true},
	} {
		if x.long && os.Getenv("DARRM_LONG") == "" {
			continue
		}
		s, err := plurality.NewSystem(plurality.Problem{K: x.k, Classes: x.c, Affected: x.t,
			Epsilon: x.eps})
		if err != nil {
			t.Fatal(err)
		}
		w, err := plurality.Objective{Accuracy: x.mu}.Weights(context.Background(), s.Space)
		if err != nil {
			t.Fatal(err)
		}
		for _, of := range []struct {
			name             string
			cost             accountant.Cost
			value, tolerance float64
		}{
			{"lnmax", accountant.Cost{Epsilon: x.eps}, x.laplace, 6e-4},
			{"gnmax", accountant.Cost{Epsilon: x.eps, Delta: 1e-5}, x.gauss, 3e-4},
		} {
			if of.value == 0 {
				continue
			}
			m, err := Calibrated(of.name, Setting{K: x.k, Classes: x.c, Affected: x.t,
				Neighbours: accountant.ReplaceOne}, of.cost, Check{})
			if err != nil {
				t.Fatal(err)
			}
			value := 0.0
			for h, weight := range w.Low {
				first, _ := s.Range(h)
				p, err := m.Probabilities(s.Histogram(h))
				if err != nil {
					t.Fatal(err)
				}
				for _, right := range p[:s.ClassesOf(first)] {
					value += weight * right
				}
			}
			if math.Abs(value-of.value) > of.tolerance {
				t.Errorf("%+v: %s is worth %.6f", x, m.Title(), value)
			}
		}
	}
}
