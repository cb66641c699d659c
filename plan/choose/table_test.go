package choose

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/plan"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/answers"
	answerssolve "github.com/darrm/darrm/plurality/answers/solve"
	"github.com/darrm/darrm/release"
)

// withTable is a request whose table is read, with what it states of the classes.
func withTable(table release.Table, many Many) Request {
	return Request{
		Stated: ensemble.Stated{Classes: 2, Neighbours: accountant.ReplaceOne}, Many: many, TableName: "t.json",
		ReadTable: func(context.Context) (release.Table, error) { return table, nil },
	}
}

// byName solves for a table for one answer of classes that are told apart, of 90 and 10 %.
func byName(t *testing.T, epsilon float64, costs plurality.Costs) *answers.Table {
	t.Helper()
	return must.Get(answerssolve.Best(t.Context(), answers.Problem{K: 3, Classes: 2, Affected: 1, Answers: 1, Epsilon: epsilon,
		Delta: 1e-5, Named: true}, answers.Prior{Objective: plurality.Objective{Accuracy: 0.75},
		Shares: plurality.Shares{0.9, 0.1}, Costs: costs}, answerssolve.Options{}))(t)
}

// No budget is spent on labels that tell nothing: a table of them is refused when it is read, and when it was
// solved for, unless its price is accepted. Tables of either kind whose labels tell more are taken.
func TestTablesThatTellNothingAreRefused(t *testing.T) {
	shares := Many{Shares: "0.95,0.05"}
	noise := func(epsilon float64) release.Table {
		o := must.Get(shares.CompleteNoise(t.Context(), Noise{}, 3, []string{"no", "yes"}, nil))(t)
		return release.Table{Gamma: must.Get(solve.Optimal(t.Context(), constraints.Problem{K: 3, TotalEpsilon: epsilon,
			Epsilon: math.Inf(1), Affected: 1}, o))(t)}
	}
	for name, tt := range map[string]struct {
		table release.Table
		tells bool
	}{
		"noise":         {noise(1e-4), false},
		"clear noise":   {noise(6), true},
		"answers":       {release.Table{Answers: byName(t, 0.01, nil)}, false},
		"clear answers": {release.Table{Answers: byName(t, 6, nil)}, true},
	} {
		var usage *release.UsageError
		c, err := Prepare(t.Context(), withTable(tt.table, Many{}))
		if tt.tells != (err == nil) || !tt.tells && (!errors.As(err, &usage) || c != nil ||
			!strings.Contains(err.Error(), "its labels tell nothing")) {
			t.Errorf("%s is read: %v, %v", name, c, err)
		}
		c = must.Get(Prepare(t.Context(), withTable(tt.table, Many{AcceptConstant: true})))(t)
		if g, err := c.Choose(t.Context(), c.K(), 2); err != nil || g.Noise != tt.table.Gamma || g.Answers != tt.table.Answers {
			t.Errorf("%s is accepted: %+v, %v", name, g, err)
		}
	}
	// Labels of a question that tell nothing each, of which one is mostly yes: there is no one constant answer.
	p := answers.Problem{K: 3, Classes: 2, Affected: 1, Answers: 2, Epsilon: .01, Delta: 1e-5, Named: true, Labels: 2}
	labels := must.Get(answerssolve.Best(t.Context(), p, answers.Prior{Objective: plurality.Objective{Accuracy: .75},
		Yes: []float64{.05, .95}}, answerssolve.Options{}))(t)
	if err := (Many{}).CheckTells(t.Context(), labels, nil); err == nil || !strings.Contains(err.Error(),
		"always answering each label's likelier answer is as good") {
		t.Errorf("labels that tell nothing: %v", err)
	}
	if err := (Many{AcceptConstant: true}).CheckTells(t.Context(), labels, nil); err != nil {
		t.Error(err)
	}
	for epsilon, tells := range map[float64]bool{1e-4: false, 6: true} {
		r := of(2)
		r.Mechanism, r.Many, r.Stated.LabelEpsilon = ensemble.OptimalCounts, shares, &epsilon
		g, err := choice(t, r)
		if tells != (err == nil) || tells != (g.Mechanism() != nil) {
			t.Errorf("solved for epsilon = %v: %+v, %v", epsilon, g, err)
		}
		r.Many.AcceptConstant = true
		if g, err := choice(t, r); err != nil || g.Noise == nil {
			t.Errorf("solved for epsilon = %v, accepted: %v", epsilon, err)
		}
	}
}

// Classes without names have their numbers, by which shares may be stated too.
func TestClassesWithoutNames(t *testing.T) {
	for classes, want := range map[int][]string{-1: {}, 0: {}, 1: {"0"}, 3: {"0", "1", "2"}} {
		if got := Numbered(classes); !slices.Equal(got, want) {
			t.Errorf("%d classes: %q", classes, got)
		}
	}
	var want *gamma.Table
	for _, shares := range []string{"0.7,0.3", "1=0.3,0=0.7", "yes=0.3,no=0.7"} {
		r := of(2)
		r.Mechanism, r.Many.Shares = ensemble.OptimalCounts, shares
		if strings.Contains(shares, "yes") {
			r.Names = []string{"no", "yes"}
		}
		g, err := choice(t, r)
		if err != nil {
			t.Fatalf("%s: %v", shares, err)
		}
		if want == nil {
			want = g.Noise
		}
		if !slices.Equal(g.Noise.Counts, want.Counts) {
			t.Errorf("%s: counts %v, want %v", shares, g.Noise.Counts, want.Counts)
		}
	}
}

// Shares and costs go with agreement alone, and one that cannot be read is none.
func TestLossesAreStatedWhole(t *testing.T) {
	names := []string{"no", "yes"}
	shares := Many{Shares: "0.7,0.3"}
	for _, n := range []Noise{{Objective: Source}, {Prior: Uniform}, {Prior: WorstCase}} {
		if o, err := shares.CompleteNoise(t.Context(), n, 3, names, nil); err == nil {
			t.Errorf("%+v beside shares: %+v", n, o)
		}
	}
	for _, m := range []Many{{Shares: "0.7"}, {Cost: "no:yes=x"}, {Shares: "0.7,0.3", Cost: "no:no=1"}} {
		if l, err := m.Losses(names); err == nil {
			t.Errorf("%+v are %+v", m, l)
		}
	}
	for _, m := range []Many{shares, {Cost: "no:yes=9"}} {
		r := of(3)
		r.Many = m
		if _, err := Prepare(t.Context(), r); err == nil {
			t.Errorf("%+v: nothing is solved for them, and yet they are taken", m)
		}
		if _, err := PrepareComparison(Request{Stated: of(3).Stated, Many: m}); err == nil {
			t.Errorf("%+v: compared", m)
		}
	}
}

// Beside a table for many answers what is left out is the table's: its shares may be stated alone, and its costs.
func TestStatedBesideATableForManyAnswers(t *testing.T) {
	plain := byName(t, 6, nil)
	costly := byName(t, 6, plurality.Costs{{0, 1}, {9, 0}})
	names := []string{"no", "yes"}
	const shares, costs = "0.9,0.1", "yes:no=9"
	for _, tt := range []struct {
		shares, costs string
		fits          [2]bool // the plain table, the costly one
	}{
		{"", "", [2]bool{true, true}}, {shares, "", [2]bool{true, true}}, {"", costs, [2]bool{false, true}}, {shares, costs, [2]bool{false, true}},
		{shares, "no:yes=1,yes:no=1", [2]bool{true, false}}, {"", "no:yes=1", [2]bool{true, false}}, {"0.8,0.2", "", [2]bool{}}, {"", "no:yes=9", [2]bool{}}, {"0.8,0.2", costs, [2]bool{}},
	} {
		m := Many{Shares: tt.shares, Cost: tt.costs}
		for i, table := range []*answers.Table{plain, costly} {
			if err := m.checkTable(table, nil, names, "table.json"); (err == nil) != tt.fits[i] {
				t.Errorf("%+v, costs %v: %v", m, table.Prior.Costs, err)
			}
		}
	}
}

// A table that is shown to be no optimum takes the name of none.
func TestTableWithoutProofIsNoOptimum(t *testing.T) {
	ctx := t.Context()
	p := constraints.Problem{K: 3, TotalEpsilon: 1, Epsilon: math.Inf(1), Affected: 1}
	c := must.Get(gamma.Certify(ctx, p, must.Get(gamma.Constant(3, 0.1))(t)))(t)
	r := withTable(release.Table{Gamma: must.Get(gamma.NewTable(ctx, c, gamma.Objective{PriorMean: 0.75, Shape: gamma.Free},
		gamma.Proof{}))(t)}, Many{})
	if g := must.Get(must.Get(Prepare(ctx, r))(t).Choose(ctx, 3, 2))(t); g.Mechanism().Name() != ensemble.OtherTable {
		t.Errorf("%s", g.Mechanism().Name())
	}
	r.Mechanism = ensemble.OptimalCounts
	const want = "mechanism optimal-counts, but t.json is not shown to be an optimum: leave mechanism out"
	if _, err := Prepare(ctx, r); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// The law of votes is the one that a table is best for, and the default where it has none.
func TestPriorOfTables(t *testing.T) {
	p := constraints.Problem{K: 4, TotalEpsilon: 1, Epsilon: math.Inf(1), Affected: 1}
	noise := func(o solve.Options) release.Table {
		return release.Table{Gamma: must.Get(solve.Optimal(t.Context(), p, o))(t)}
	}
	many := func(o plurality.Objective) release.Table {
		return release.Table{Plurality: &plurality.Table{Objective: o}}
	}
	standard := must.Get(plan.DefaultLaw(4, 2))(t)
	for name, tt := range map[string]struct {
		table release.Table
		want  *plan.Law
	}{
		"none": {release.Table{}, standard}, "the worst case": {noise(solve.Options{WorstCase: true}), standard},
		"a mean":         {noise(solve.Options{PriorMean: 0.9}), must.Get(plan.Prior(4, 2, 0.9))(t)},
		"counts":         {noise(solve.Options{Counts: []float64{5, 1, 0, 1, 3}}), must.Get(plan.NamedOnes([]float64{5, 1, 0, 1, 3}))(t)},
		"an accuracy":    {many(plurality.Objective{Accuracy: 0.6}), must.Get(plan.Prior(4, 2, 0.6))(t)},
		"uneven classes": {many(plurality.Objective{Concentration: 2}), must.Get(plan.Uneven(4, 2, 2))(t)},
	} {
		got, err := PriorOf(tt.table, 4, 2)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := map[int]float64{}
		for counts, share := range tt.want.Histograms() {
			want[counts[1]] = share
		}
		for counts, share := range got.Histograms() {
			if math.Abs(share-want[counts[1]]) > 1e-12 {
				t.Errorf("%s: %v has %v, want %v", name, counts, share, want[counts[1]])
			}
			delete(want, counts[1])
		}
		if len(want) > 0 {
			t.Errorf("%s: %v are missing", name, want)
		}
	}
}

// Without a relation of neighbours nothing is promised: what was solved for or read gets no mechanism.
func TestNoMechanismWithoutNeighbours(t *testing.T) {
	inf := math.Inf(1)
	majority, lnmax, baseline := of(2), of(2), of(2)
	majority.Mechanism, lnmax.Mechanism = ensemble.OptimalCounts, "lnmax"
	baseline.Mechanism, baseline.Stated.Epsilon = "subsampling", &inf
	read := withTable(release.Table{Answers: byName(t, 6, nil)}, Many{})
	for name, r := range map[string]Request{"two classes": majority, "three classes": of(3), "noise": lnmax,
		"a baseline": baseline, "a table": read} {
		r.Neighbours = 0
		c, err := Prepare(t.Context(), r)
		if err == nil {
			var g Choice
			if g, err = c.Choose(t.Context(), 3, r.Classes); err == nil {
				t.Errorf("%s: %+v", name, g.Plan)
			}
		}
	}
}

// Shares are a law of the counts themselves: one that is stated besides is refused, be it of one word or a file.
func TestOneLawOfCounts(t *testing.T) {
	read := func(context.Context, string, int) ([]float64, error) { return []float64{1, 2, 3, 4}, nil }
	for law, ok := range map[string]bool{"": true, BinomialCounts: true, UniformCounts: false, "counts.csv": false} {
		_, err := Many{Shares: "0.7,0.3"}.CompleteNoise(t.Context(), Noise{PriorCounts: law}, 3, []string{"no", "yes"}, read)
		if (err == nil) != ok {
			t.Errorf("%q beside shares: %v", law, err)
		}
	}
	for law, ok := range map[string]bool{"": true, BinomialCounts: false, UniformCounts: false, "counts.csv": true} {
		if o, err := (Many{}).Objective(law, 3); (err == nil) != ok {
			t.Errorf("%q of three classes: %+v, %v", law, o, err)
		}
	}
}

// What a mechanism presumes of the teachers is their whole promise, δ included, and nothing of those that promise nothing.
func TestPresumesTheWholePromise(t *testing.T) {
	table := func(epsilon, delta float64) *ensemble.Mechanism {
		p := constraints.Problem{K: 3, M: 1, Epsilon: epsilon, TeacherDelta: delta, Delta: 1e-3, Affected: 2}
		if math.IsInf(epsilon, 1) {
			p = constraints.Problem{K: 3, TotalEpsilon: 1, Epsilon: epsilon, Affected: 2}
		}
		noise := must.Get(solve.Optimal(t.Context(), p, solve.Options{}))(t)
		return must.Get(ensemble.Optimal(noise, accountant.ReplaceOne))(t)
	}
	s := Presumes(table(0.5, 1e-6), 2)
	if *s.Epsilon != 0.5 || s.TeacherDelta == nil || *s.TeacherDelta != 1e-6 || *s.Affected != 2 {
		t.Errorf("private teachers: %+v", s)
	}
	if s := Presumes(table(math.Inf(1), 0), 2); !math.IsInf(*s.Epsilon, 1) || s.TeacherDelta != nil {
		t.Errorf("others: %+v", s)
	}
}

// A comparison without tables has no promise unless one is stated.
func TestComparisonNeedsAPromise(t *testing.T) {
	r := of(2)
	r.Stated.LabelEpsilon = nil
	var usage *release.UsageError
	if c, err := PrepareComparison(r); !errors.As(err, &usage) {
		t.Errorf("%+v, %v", c, err)
	}
}

// An objective of many classes has one law: an accuracy, a concentration or a file, alone.
func TestOneLawOfManyClasses(t *testing.T) {
	accuracy, concentration := 0.6, 2.0
	for _, tt := range []struct {
		m    Many
		file string
		want plurality.Objective // the zero value where it is refused
	}{
		{Many{Accuracy: &accuracy}, "", plurality.Objective{Accuracy: accuracy}},
		{Many{Concentration: &concentration}, "", plurality.Objective{Concentration: concentration}},
		{Many{}, "", plurality.DefaultObjective(3)},
		{Many{Accuracy: &accuracy, Concentration: &concentration}, "", plurality.Objective{}},
		{Many{Accuracy: &accuracy}, "counts.csv", plurality.Objective{}},
		{Many{Concentration: &concentration}, "counts.csv", plurality.Objective{}},
	} {
		o, err := tt.m.Objective(tt.file, 3)
		if refused := tt.want.Accuracy == 0 && tt.want.Concentration == 0; refused != (err != nil) || !refused &&
			(o.Accuracy != tt.want.Accuracy || o.Concentration != tt.want.Concentration) {
			t.Errorf("%+v, file %q: %+v, %v", tt.m, tt.file, o, err)
		}
	}
	for law, want := range map[string]bool{"": false, UniformCounts: true, BinomialCounts: true, "counts.csv": true} {
		if got, err := (Noise{PriorCounts: law}).ForAgreement(); got != want || err != nil {
			t.Errorf("counts %q ask for agreement: %t, %v", law, got, err)
		}
	}
	if shares, err := ParseShares("0.7,0.2,0.1", []string{"no", "yes"}); err == nil {
		t.Errorf("three shares of two classes: %v", shares)
	}
}

// A comparison on votes of fewer teachers than one record is said to reach has no promise.
func TestComparisonOfFewTeachers(t *testing.T) {
	r := of(2)
	*r.Stated.Affected = 2
	for _, r.Missing = range []bool{false, true} {
		c := must.Get(PrepareComparison(r))(t)
		if o, err := c.Options(t.Context(), 1); err == nil {
			t.Errorf("missing votes %t: %+v", r.Missing, o)
		}
	}
}
