package ensemble_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant/game"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/votes"
)

// severalGame is a release of all labels of Q questions, with everything that it could be fed.
type severalGame struct {
	// labels is 0 where each query is a question of its own, of a vote for each teacher
	k, labels, most, affected, questions int
	table                                []float64 // Pr[yes] at 0..K yes votes, public ones among them, whole numbers of 2⁻⁵³
	epsilon                              float64
	yesFrom                              string
}

func (g severalGame) several() ensemble.Several {
	s, err := ensemble.Several{Labels: g.labels, MostYes: g.most, YesFrom: g.yesFrom}.Of(g.k)
	if err != nil {
		panic(err)
	}
	return s
}

// each returns how many queries a question is.
func (g severalGame) each() int { return max(1, g.labels) }

// counts returns the yes votes for each label of every question that K teachers can cast, read from a file
// as a release reads it. Question i has the vectors of the teachers as the bits of i.
func (g severalGame) counts(t *testing.T, most int) [][]int {
	t.Helper()
	var names []string
	for l := range g.labels {
		names = append(names, fmt.Sprintf("l%d", l))
	}
	var file strings.Builder
	missing := votes.MissingNo
	if g.labels == 0 {
		missing = votes.MissingError
	}
	for q := range 1 << (g.k * g.each()) {
		for teacher := range g.k {
			var set []string
			for l := range g.labels {
				if q>>(teacher*g.labels+l)&1 == 1 {
					set = append(set, names[l])
				}
			}
			if g.labels == 0 {
				set = []string{fmt.Sprint(q >> teacher & 1)}
			}
			if teacher > 0 {
				file.WriteByte(',')
			}
			file.WriteString(strings.Join(set, "|"))
		}
		file.WriteByte('\n')
	}
	r, err := votes.NewReader(context.Background(), strings.NewReader("t1,t2,t3\n"[:3*g.k-1]+"\n"+file.String()),
		votes.Options{Labels: names, MostYes: most, YesFrom: g.yesFrom, Missing: missing, K: g.k, Header: votes.HeaderYes})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var counts [][]int
	for b, err := range r.Batches() {
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Len() {
			if i%g.each() == 0 {
				counts = append(counts, nil)
			}
			counts[len(counts)-1] = append(counts[len(counts)-1], b.Ones(i))
			if from := g.several().From(); from > 0 {
				_, public := g.several().Public()
				if yes := b.Ones(i)-public >= from; yes != (b.Majority(i) == 1) {
					t.Fatalf("%+v: %v has the majority %d", g, b.Row(i), b.Majority(i))
				}
			}
		}
	}
	return counts
}

// neighbours returns each pair of counts that two neighbouring inputs have: the first t teachers, or all
// that one record reaches, vote otherwise.
func (g severalGame) neighbours(counts [][]int) [][2][]int {
	var pairs [][2][]int
	seen := make(map[string]bool)
	changed := 1<<(g.affected*g.each()) - 1
	for i := range counts {
		for bits := range changed + 1 {
			p := [2][]int{counts[i], counts[i&^changed|bits]}
			if key := fmt.Sprint(p); !seen[key] && !slices.Equal(p[0], p[1]) {
				seen[key] = true
				pairs = append(pairs, p)
			}
		}
	}
	return pairs
}

// exact returns the largest δ at ε of all answers to all questions together, by the definition: whoever asks
// knows all labels of the questions before. It is the maximum over strategies of Σ max(0, P - e^ε·P'),
// where each question's labels are drawn independently.
func (g severalGame) exact(pairs [][2][]int) float64 {
	type law struct{ p, q []float64 }
	var laws []law
	for _, pair := range pairs {
		l := law{[]float64{1}, []float64{1}}
		for label := range g.each() {
			a, b := g.table[pair[0][label]], g.table[pair[1][label]]
			var p, q []float64
			for i := range l.p {
				p, q = append(p, l.p[i]*a, l.p[i]*(1-a)), append(q, l.q[i]*b, l.q[i]*(1-b))
			}
			l = law{p, q}
		}
		laws = append(laws, l)
	}
	var most func(n int, p, q float64) float64
	most = func(n int, p, q float64) float64 {
		if n == 0 {
			return max(0, p-q)
		}
		best := 0.0
		for _, l := range laws {
			sum := 0.0
			for o := range l.p {
				sum += most(n-1, p*l.p[o], q*l.q[o])
			}
			best = max(best, sum)
		}
		return best
	}
	return most(g.questions, 1, math.Exp(g.epsilon))
}

// charged returns the price of so many answers of the table.
func (g severalGame) charged(t *testing.T, answers int) float64 {
	t.Helper()
	pairs := func(yield func(game.Pair, error) bool) {
		mass := func(p float64) game.Probability {
			return game.Probability{Mass: uint64(p * game.One), Classes: 1}
		}
		for k := range g.table {
			for d := 1; d <= g.affected && k+d < len(g.table); d++ {
				a, b := g.table[k], g.table[k+d]
				if !yield(game.Pair{{Count: 1, P: mass(a), PPrime: mass(b)}, {Count: 1, P: mass(1 - a), PPrime: mass(1 - b)}}, nil) {
					return
				}
			}
		}
	}
	priced, err := game.New(context.Background(), pairs, game.Options{Step: 1e-3})
	if err != nil {
		t.Fatal(err)
	}
	delta, err := priced.Delta(context.Background(), g.epsilon, answers)
	if err != nil {
		t.Fatal(err)
	}
	return delta
}

var severalGames = []severalGame{
	{2, 3, 1, 1, 1, []float64{.25, .5, .75}, .5, ""},
	{2, 3, 1, 1, 2, []float64{.25, .5, .75}, .75, ""},
	{2, 3, 1, 1, 2, []float64{.125, .25, .75}, 1, ""},
	{3, 3, 1, 1, 1, []float64{.25, .4375, .5625, .75}, .25, ""},
	{3, 3, 1, 1, 2, []float64{.25, .4375, .5625, .75}, .5, ""},
	{3, 2, 1, 1, 3, []float64{.25, .4375, .5625, .75}, .5, ""},
	{2, 4, 1, 1, 1, []float64{.25, .5, .75}, .5, ""},
	{2, 4, 2, 1, 1, []float64{.25, .5, .75}, .5, ""},
	{2, 5, 2, 1, 1, []float64{.25, .5, .75}, .75, ""},
	{3, 3, 1, 2, 1, []float64{.25, .375, .625, .75}, .5, ""},
	{2, 4, 1, 2, 1, []float64{.25, .75, .75}, .5, ""}, // one vote decides, as of rare labels
	{2, 3, 0, 1, 1, []float64{.25, .5, .75}, .25, ""},
	{2, 3, 2, 1, 2, []float64{.25, .5, .75}, .25, ""},
	{2, 3, 1, 1, 2, []float64{.25, .4375, .5625, .75}, .5, "1"}, // with a public vote for yes
	{3, 3, 1, 1, 1, []float64{.125, .25, .375, .625, .75, .875}, .5, "3"},
	{3, 2, 1, 2, 2, []float64{.25, .4375, .5625, .75}, .5, "2/3"}, // more than half, without public votes
	{3, 0, 0, 1, 3, []float64{.125, .25, .375, .625, .75, .875}, .5, "1"},
	{3, 0, 0, 2, 2, []float64{.125, .25, .375, .625, .75, .875}, .5, "3"},
	{2, 0, 0, 1, 4, []float64{.25, .4375, .5625, .75}, .5, "1/2"},
}

// N = min(L, 2τt)·Q answers of a table for reach t are at least as dear as the labels of Q questions
// together, whatever all teachers vote: by brute force over every input that a file can hold, every
// neighbour of it, and every strategy of whoever asks.
func TestSeveralLabelsCostNoMoreThanCharged(t *testing.T) {
	tight := 0
	for _, g := range severalGames {
		pairs := g.neighbours(g.counts(t, g.most))
		charge := g.several().Answers(g.each()*g.questions, g.affected)
		if votes := g.several().Votes(g.k); votes != len(g.table)-1 {
			t.Fatalf("%+v: %d votes", g, votes)
		}
		if want := g.several().PerQuestion(g.affected) * g.questions; charge != want {
			t.Fatalf("%+v: charged as %d answers, want %d", g, charge, want)
		}
		exact, charged := g.exact(pairs), g.charged(t, charge)
		if exact > charged {
			t.Errorf("%+v: the labels cost δ = %v, and are charged %v", g, exact, charged)
		}
		if exact > .99*charged {
			tight++
		}
	}
	if tight < 3 {
		t.Errorf("%d of %d settings cost what is charged: the others prove little", tight, len(severalGames))
	}
}

// The same brute force catches what would be too cheap: τ answers for a question instead of 2τ, votes that
// nobody cut to τ, a charge for one label of those that are asked, and neighbours at distance 1 for t = 2.
func TestSeveralLabelsBruteForceCatches(t *testing.T) {
	for _, tt := range []struct {
		name  string
		g     severalGame
		most  int // that the reader cuts to
		cheap func(g severalGame) (answers int)
	}{
		{"r = τ", severalGames[0], 1, func(g severalGame) int { return g.most * g.questions }},
		{"r = τ, two questions", severalGames[1], 1, func(g severalGame) int { return g.most * g.questions }},
		{"r = 2τ for t = 2", severalGames[10], 1, func(g severalGame) int { return 2 * g.most * g.questions }},
		{"nothing is cut", severalGames[0], 0, func(g severalGame) int { return g.several().Answers(g.labels, 1) }},
		{"nothing is cut, four labels", severalGames[6], 0, func(g severalGame) int { return g.several().Answers(g.labels, 1) }},
		{"one answer for each question", severalGames[4], 1, func(g severalGame) int { return g.questions }},
	} {
		exact := tt.g.exact(tt.g.neighbours(tt.g.counts(t, tt.most)))
		if charged := tt.g.charged(t, tt.cheap(tt.g)); exact <= charged {
			t.Errorf("%s: the labels cost δ = %v, no more than %v: the test sees no mistake", tt.name, exact, charged)
		}
	}
}

func TestSeveral(t *testing.T) {
	for _, tt := range []struct {
		s                    ensemble.Several
		t, queries, r, total int
		text                 string
	}{
		{ensemble.Several{}, 3, 7, 1, 7, ""},
		{ensemble.Several{Labels: 20, MostYes: 2}, 1, 10_000, 4, 2000, "20 labels each, of which a teacher says yes to at most 2"},
		{ensemble.Several{Labels: 20, MostYes: 2}, 3, 10_000, 12, 6000, "20 labels each, of which a teacher says yes to at most 2"},
		{ensemble.Several{Labels: 20, MostYes: 2}, 50, 20, 20, 20, "20 labels each, of which a teacher says yes to at most 2"},
		{ensemble.Several{Labels: 20}, 1, 40, 20, 40, "20 labels each"},
		{ensemble.Several{Labels: 3, MostYes: 3}, 1, 3, 3, 3, "3 labels each"},
		{ensemble.Several{Labels: 20, MostYes: 1}, 1, 1, 2, 2, "20 labels each, of which a teacher says yes to at most 1"}, // one label asked
		{ensemble.Several{YesFrom: "1/3"}, 5, 21, 1, 21, "yes from 1/3 of the teachers on"},
		{ensemble.Several{YesFrom: "4", Teachers: 10}, 5, 21, 1, 21, "yes from 4 of 10 teachers on"},
		{ensemble.Several{Labels: 3, YesFrom: "4", Teachers: 10}, 1, 3, 3, 3, "3 labels each, and yes from 4 of 10 teachers on"},
		{ensemble.Several{Labels: 20, MostYes: 1}, 1, 21, 2, 4, "20 labels each, of which a teacher says yes to at most 1"},
	} {
		if r, n := tt.s.PerQuestion(tt.t), tt.s.Answers(tt.queries, tt.t); r != tt.r || n != tt.total || tt.s.Validate() != nil {
			t.Errorf("%+v, t = %d: r = %d, N = %d, want %d and %d (%v)", tt.s, tt.t, r, n, tt.r, tt.total, tt.s.Validate())
		}
		if tt.s.String() != tt.text {
			t.Errorf("%q, want %q", tt.s, tt.text)
		}
	}
	for _, s := range []ensemble.Several{{Labels: 1}, {Labels: -1}, {Labels: 1001}, {Labels: 3, MostYes: 4},
		{Labels: 3, MostYes: -1}, {MostYes: 1}, {YesFrom: "11", Teachers: 10}, {YesFrom: "x", Teachers: 10}} {
		if s.Validate() == nil {
			t.Errorf("%+v is taken", s)
		}
	}
}

// A share and the number of teachers that it comes to are one statement, so that a ledger takes them as one.
func TestShareOfTeachersIsANumber(t *testing.T) {
	share, err := ensemble.Several{Labels: 3, YesFrom: "1/3"}.Of(9)
	number, wrong := ensemble.Several{Labels: 3, YesFrom: "3"}.Of(9)
	if err != nil || wrong != nil || share != number || share.From() != 3 {
		t.Errorf("%+v and %+v", share, number)
	}
}
