package ensemble

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/votes"
)

func mnist(t testing.TB) *Ballots {
	t.Helper()
	r, err := votes.Open(context.Background(), votes.Options{}, "../testdata/mnist-5v8/votes.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b, err := NewBallots(r.K(), len(r.Classes()))
	if err != nil {
		t.Fatal(err)
	}
	for batch, err := range r.Batches() {
		if err != nil {
			t.Fatal(err)
		}
		for i := range batch.Len() {
			if err := b.Add(batch.Row(i), batch.Labels[i]); err != nil {
				t.Fatal(err)
			}
		}
	}
	return b
}

func optimal(t rapid.TB, p constraints.Problem) *gamma.Certified {
	t.Helper()
	table, err := solve.Optimal(context.Background(), p, solve.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return table.Certified
}

// The real votes at the promise of the README's example, for teachers that promise
// nothing, whose training data are disjoint: everything applies except what rests on the
// teachers' own privacy, and the optimum is above all others at equal (ε, δ).
func TestCompareOnRealVotes(t *testing.T) {
	b := mnist(t)
	o := CompareOptions{
		Target:   accountant.Cost{Epsilon: 0.40731, Delta: 0.000299970001},
		Teachers: accountant.Cost{Epsilon: math.Inf(1)}, Affected: 1, Neighbours: accountant.ReplaceOne,
	}
	best := constraints.Problem{K: 11, TotalEpsilon: o.Target.Epsilon, Delta: o.Target.Delta,
		Epsilon: math.Inf(1), Affected: 1}
	private := constraints.Problem{K: 11, M: 3, Epsilon: 0.13577, TeacherDelta: 1e-4,
		Delta: 0.000299970001, Affected: 11}
	o.Tables = []NamedTable{{Name: OptimalCounts, Noise: optimal(t, best)},
		{Name: OptimalTeachers, Noise: optimal(t, private)}}
	c, err := Compare(context.Background(), b, o)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]ComparisonRow{}
	var order []string
	for _, r := range c.Rows {
		rows[r.Name] = r
		order = append(order, r.Name)
		if (r.Mechanism == nil) == (r.Refused == nil) || r.Title == "" {
			t.Errorf("%s: %+v", r.Name, r)
		}
		if r.Refused != nil {
			continue
		}
		if cost := r.Mechanism.PerAnswer(); cost.Epsilon > o.Target.Epsilon ||
			cost.Delta > o.Target.Delta || r.Mechanism.Name() != r.Name {
			t.Errorf("%s promises %v", r.Mechanism.Name(), cost)
		}
		if n, ok := r.Mechanism.Noise(); !ok || n.Affected != 1 {
			t.Errorf("%s holds for teachers without privacy, but not for any votes: %+v", r.Name, n)
		}
		t.Logf("%-30s %.4f %.4f %.4f", r.Title, r.Score.Agreement, r.Score.Accuracy, r.Score.Abstained)
	}
	want := []string{"optimal-counts", "optimal-teachers", "randomised-response", "randomised-response-tight",
		"subsampling", "double-subsampling", "gnmax-renyi", "gnmax", "confident-gnmax", "lnmax",
		"permute-and-flip"}
	if !reflect.DeepEqual(order, want) {
		t.Errorf("rows %v, want %v", order, want)
	}
	for _, name := range []string{"optimal-teachers", "subsampling", "double-subsampling"} {
		if rows[name].Refused == nil {
			t.Errorf("%s is offered for teachers that promise nothing", name)
		}
	}
	agreement := func(name string) float64 { return rows[name].Score.Agreement }
	for _, name := range []string{"gnmax-renyi", "gnmax", "confident-gnmax", "lnmax",
		"permute-and-flip", "randomised-response-tight"} {
		if rows[name].Refused != nil || agreement(name) >= agreement("optimal-counts") {
			t.Errorf("%s: %v, agreement %v; the optimum's %v", name, rows[name].Refused, agreement(name),
				agreement("optimal-counts"))
		}
	}
	// The optimum is by a linear program; the bound, by a chain of coins, knows nothing of it.
	if gap := c.UpperBound - agreement("optimal-counts"); gap < 0 || gap > 1e-6 {
		t.Errorf("the optimum agrees in %v, and no mechanism in more than %v", agreement("optimal-counts"),
			c.UpperBound)
	}
	if agreement("gnmax-renyi") >= agreement("gnmax") ||
		agreement("gnmax") >= agreement("permute-and-flip") {
		t.Errorf("agreements %v, %v, %v: Rényi, exact and permute-and-flip are out of order",
			agreement("gnmax-renyi"), agreement("gnmax"), agreement("permute-and-flip"))
	}
	if c.Plain.Agreement != 1 || math.Abs(c.Plain.Accuracy-0.8494) > 5e-5 || c.Queries != 1866 {
		t.Errorf("plain majority: %+v of %d", c.Plain, c.Queries)
	}

	// The same votes as those of private teachers that share their data: the figures of the
	// README for γ, and noise for eleven votes.
	o.Teachers, o.Affected, o.Check.Ratio = accountant.Cost{Epsilon: 0.13577, Delta: 1e-4}, 11, 0.5
	c, err = Compare(context.Background(), b, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range c.Rows {
		rows[r.Name] = r
		if n, ok := constantNoise(r); ok && n != 11 {
			t.Errorf("%s hides %d votes, not 11", r.Name, n)
		}
	}
	if rows["optimal-counts"].Refused == nil || !strings.Contains(rows["optimal-counts"].Refused.Error(),
		"at most 1 of the teachers") {
		t.Errorf("a table for disjoint data is offered for shared data: %v", rows["optimal-counts"].Refused)
	}
	for name, want := range map[string][2]float64{
		"optimal-teachers": {0.9449, 0.8223}, "randomised-response": {0.6587, 0.6109},
		"randomised-response-tight": {0.9366, 0.8051},
		"subsampling":               {0.8202, 0.7628}, "double-subsampling": {0.8736, 0.7983},
	} {
		if s := rows[name].Score; math.Abs(s.Agreement-want[0]) > 5.1e-5 ||
			math.Abs(s.Accuracy-want[1]) > 5.1e-5 || s.Labels != 1866 {
			t.Errorf("%s: %+v, want %v", name, s, want)
		}
	}
	for _, name := range []string{"gnmax-renyi", "lnmax", "permute-and-flip"} {
		if s := rows[name].Score; s.Agreement > 0.62 || s.Agreement < 0.5 {
			t.Errorf("%s with noise for eleven votes: %+v", name, s)
		}
	}
}

// constantNoise returns for how many votes the row's noise is.
func constantNoise(r ComparisonRow) (int, bool) {
	if r.Mechanism == nil {
		return 0, false
	}
	n, ok := r.Mechanism.Noise()
	return n.Affected, ok
}

// What does not apply says so, and the rest goes on.
func TestCompareRefusals(t *testing.T) {
	three, err := NewBallots(9, 3)
	if err != nil {
		t.Fatal(err)
	}
	two, err := NewBallots(9, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{three.Add([]int{2, 3, 4}, 1), two.Add([]int{2, 7}, NoTruth)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	table := optimal(t, constraints.Problem{K: 9, TotalEpsilon: 2.5, Epsilon: math.Inf(1),
		Affected: 2})
	one := optimal(t, constraints.Problem{K: 1, TotalEpsilon: 2.5, Epsilon: math.Inf(1), Affected: 1})
	base := CompareOptions{
		Target:   accountant.Cost{Epsilon: 2.5, Delta: 1e-3},
		Teachers: accountant.Cost{Epsilon: math.Inf(1)},
		Affected: 1, Neighbours: accountant.AddOrRemoveOne,
		Tables: []NamedTable{{Name: "table", Title: "a table", Noise: table}},
	}
	for name, c := range map[string]struct {
		votes   *Ballots
		change  func(*CompareOptions)
		refused map[string]string // the others apply
	}{
		"all apply": {two, func(o *CompareOptions) {},
			map[string]string{"subsampling": "promise nothing", "double-subsampling": "promise nothing"}},
		"one teacher's table": {two, func(o *CompareOptions) { o.Tables[0].Noise = one },
			map[string]string{"table": "for K = 1", "subsampling": "", "double-subsampling": ""}},
		"three classes": {three, func(o *CompareOptions) {}, map[string]string{
			"table": "two classes", "randomised-response": "two classes",
			"randomised-response-tight": "two classes", "subsampling": "two classes",
			"double-subsampling": "two classes"}},
		"pure": {two, func(o *CompareOptions) { o.Target.Delta = 0 }, map[string]string{
			"subsampling": "", "double-subsampling": "", "gnmax": "above 0", "gnmax-renyi": "above 0",
			"confident-gnmax": "above 0"}},
		"more affected": {two, func(o *CompareOptions) { o.Affected = 3 }, map[string]string{
			"table": "at most 2 of the teachers, not 3", "subsampling": "", "double-subsampling": ""}},
		"smaller target": {two, func(o *CompareOptions) { o.Target.Epsilon = 2.499 },
			map[string]string{"table": "promises (2.5, 0) only", "subsampling": "",
				"double-subsampling": ""}},
		"private teachers": {two, func(o *CompareOptions) { o.Teachers = accountant.Cost{Epsilon: 0.2} },
			map[string]string{}},
		"less than a teacher": {two, func(o *CompareOptions) { o.Teachers = accountant.Cost{Epsilon: 3} },
			map[string]string{
				"subsampling": "at least one teacher's", "double-subsampling": "at least one teacher's"}},
		"no such problem": {two, func(o *CompareOptions) {
			o.Teachers = accountant.Cost{Epsilon: 0.1, Delta: 0.01}
		}, map[string]string{
			"randomised-response": "delta", "randomised-response-tight": "delta", "subsampling": "delta",
			"double-subsampling": "delta"}},
		"exact in many ways": {three, func(o *CompareOptions) { o.Affected = 2 }, map[string]string{
			"table": "", "randomised-response": "", "randomised-response-tight": "", "subsampling": "",
			"double-subsampling": "", "gnmax": "1 for exact calibration"}},
		"bad threshold": {two, func(o *CompareOptions) { o.Check.Threshold = 10 },
			map[string]string{"subsampling": "", "double-subsampling": "", "confident-gnmax": "threshold"}},
	} {
		o := base
		o.Tables = slices.Clone(base.Tables)
		c.change(&o)
		result, err := Compare(context.Background(), c.votes, o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(result.Rows) != 10 {
			t.Errorf("%s: %d rows", name, len(result.Rows))
		}
		for _, r := range result.Rows {
			want, refused := c.refused[r.Name]
			if refused != (r.Refused != nil) || refused && !strings.Contains(r.Refused.Error(), want) {
				t.Errorf("%s, %s: %v, want refusal %t with %q", name, r.Name, r.Refused, refused, want)
			}
		}
	}

	var parameter *check.Error
	for name, change := range map[string]func(*CompareOptions){
		"no target":       func(o *CompareOptions) { o.Target = accountant.Cost{} },
		"no teachers":     func(o *CompareOptions) { o.Teachers = accountant.Cost{} },
		"teachers' ε":     func(o *CompareOptions) { o.Teachers.Epsilon = math.NaN() },
		"teachers' Δ":     func(o *CompareOptions) { o.Teachers.Delta = 1 },
		"no affected":     func(o *CompareOptions) { o.Affected = 0 },
		"too many":        func(o *CompareOptions) { o.Affected = 10 },
		"target too high": func(o *CompareOptions) { o.Target.Epsilon = 701 },
	} {
		o := base
		change(&o)
		if _, err := Compare(context.Background(), two, o); !errors.As(err, &parameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
	noRelation, noTable := base, base
	noRelation.Neighbours = 0
	noTable.Tables = []NamedTable{{Name: "none"}}
	for name, o := range map[string]CompareOptions{"no relation": noRelation,
		"no certificate": noTable} {
		if _, err := Compare(context.Background(), two, o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Compare(cancelled, two, base); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Scores are the plain sums over the queries.
func TestBallots(t *testing.T) {
	mechanisms := everyMechanism(t, 3)
	rapid.Check(t, func(t *rapid.T) {
		b, err := NewBallots(9, 3)
		if err != nil {
			t.Fatal(err)
		}
		a := rapid.SampledFrom(mechanisms).Draw(t, "mechanism")
		n := rapid.IntRange(0, 12).Draw(t, "queries")
		var want Score
		agreement, accuracy, abstained := 0.0, 0.0, 0.0
		for range n {
			x := rapid.IntRange(0, 9).Draw(t, "n0")
			y := rapid.IntRange(0, 9-x).Draw(t, "n1")
			counts := []int{x, y, 9 - x - y}
			truth := rapid.IntRange(-1, 2).Draw(t, "truth")
			if err := b.Add(counts, truth); err != nil {
				t.Fatal(err)
			}
			p, err := a.Probabilities(counts)
			if err != nil {
				t.Fatal(err)
			}
			for c := range counts {
				if counts[c] == max(counts[0], counts[1], counts[2]) {
					agreement += p[c]
				}
			}
			if truth != NoTruth {
				want.Labels++
				accuracy += p[truth]
			}
			if a.Abstains() {
				abstained += p[3]
			}
			counts[0] = 100 // Add has a copy
		}
		got, err := a.Evaluate(b)
		if err != nil || b.Len() != n || got.Labels != want.Labels {
			t.Fatalf("%+v, %v", got, err)
		}
		if n > 0 {
			want.Agreement, want.Abstained = agreement/float64(n), abstained/float64(n)
		}
		if want.Labels > 0 {
			want.Accuracy = accuracy / float64(want.Labels)
		}
		if math.Abs(got.Agreement-want.Agreement) > 1e-12 ||
			math.Abs(got.Accuracy-want.Accuracy) > 1e-12 || math.Abs(got.Abstained-want.Abstained) > 1e-12 {
			t.Fatalf("%+v, want %+v", got, want)
		}
	})
	b, err := NewBallots(9, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		counts []int
		truth  int
	}{{[]int{9, 0}, 0}, {[]int{9, 1, -1}, 0}, {[]int{3, 3, 2}, 0}, {[]int{3, 3, 3}, 3},
		{[]int{3, 3, 3}, -2}} {
		if err := b.Add(c.counts, c.truth); err == nil || b.Len() != 0 {
			t.Errorf("%v, truth %d: %v", c.counts, c.truth, err)
		}
	}
	for _, c := range [][2]int{{0, 2}, {9, 1}, {9, check.MaxClasses + 1}, {1 << 20, 2}} {
		if _, err := NewBallots(c[0], c[1]); err == nil {
			t.Errorf("NewBallots%v: no error", c)
		}
	}
	for _, a := range everyMechanism(t, 2) {
		if _, err := a.Evaluate(b); err == nil {
			t.Errorf("%s scores votes over three classes", a.Title())
		}
		other, err := NewBallots(8, 2)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.Evaluate(other); err == nil {
			t.Errorf("%s scores votes of other teachers", a.Title())
		}
		if _, err := a.Evaluate(nil); err == nil {
			t.Errorf("%s scores no votes", a.Title())
		}
	}
}

// Calibrated knows the mechanisms over counts by the names that comparisons show.
func TestCalibratedByName(t *testing.T) {
	s := Setting{K: 9, Classes: 3, Affected: 1, Neighbours: accountant.ReplaceOne}
	target := accountant.Cost{Epsilon: 1, Delta: 1e-3}
	for _, name := range []string{"gnmax-renyi", "gnmax", "confident-gnmax", "lnmax",
		"permute-and-flip"} {
		m, err := Calibrated(name, s, target, Check{Ratio: CheckRatio})
		if err != nil || m.Name() != name || m.PerAnswer().Epsilon != 1 || m.Setting() != s {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
	if m, err := Calibrated("darrm", s, target, Check{Ratio: 4}); err == nil {
		t.Errorf("darrm is calibrated: %+v", m)
	}
	if m, err := Calibrated("confident-gnmax", s, target, Check{}); err == nil {
		t.Errorf("a check without noise: %+v", m)
	}
}

func BenchmarkCompare(b *testing.B) {
	ballots := mnist(b)
	o := CompareOptions{
		Target:   accountant.Cost{Epsilon: 0.40731, Delta: 0.000299970001},
		Teachers: accountant.Cost{Epsilon: 0.13577, Delta: 1e-4}, Affected: 1,
		Neighbours: accountant.ReplaceOne,
	}
	for b.Loop() {
		if _, err := Compare(context.Background(), ballots, o); err != nil {
			b.Fatal(err)
		}
	}
}

// A table serves what it was certified for and what is weaker, to the last digit of each of
// its figures; one step beyond any of them, it does not.
func TestCompareTakesTablesForNoMoreThanTheyPromise(t *testing.T) {
	f, err := gamma.Constant(9, 0)
	if err != nil {
		t.Fatal(err)
	}
	c, err := gamma.Certify(context.Background(),
		constraints.Problem{K: 9, M: 2, Epsilon: 0.25, TeacherDelta: 1e-4, Delta: 2e-4, Affected: 2}, f)
	if err != nil {
		t.Fatal(err)
	}
	below := func(x float64) float64 { return math.Nextafter(x, 0) }
	above := func(x float64) float64 { return math.Nextafter(x, 1) }
	for name, v := range map[string]struct {
		change func(o *CompareOptions, s *Setting)
		serves bool
	}{
		"just this": {func(*CompareOptions, *Setting) {}, true},
		"a weaker target": {func(o *CompareOptions, _ *Setting) {
			o.Target = accountant.Cost{Epsilon: 0.6, Delta: 1e-3}
		}, true},
		"better teachers": {func(o *CompareOptions, _ *Setting) {
			o.Teachers = accountant.Cost{Epsilon: 0.2, Delta: 0}
		}, true},
		"fewer reached": {func(_ *CompareOptions, s *Setting) { s.Affected = 1 }, true},
		"a smaller ε": {func(o *CompareOptions, _ *Setting) { o.Target.Epsilon = below(0.5) },
			false},
		"a smaller δ": {func(o *CompareOptions, _ *Setting) { o.Target.Delta = below(2e-4) },
			false},
		"a larger teachers' ε": {func(o *CompareOptions, _ *Setting) { o.Teachers.Epsilon = above(0.25) },
			false},
		"a larger teachers' Δ": {func(o *CompareOptions, _ *Setting) { o.Teachers.Delta = above(1e-4) },
			false},
		"no teachers' promise": {func(o *CompareOptions, _ *Setting) {
			o.Teachers = accountant.Cost{Epsilon: math.Inf(1)}
		}, false},
		"more reached":  {func(_ *CompareOptions, s *Setting) { s.Affected = 3 }, false},
		"more teachers": {func(_ *CompareOptions, s *Setting) { s.K = 10 }, false},
		"more classes":  {func(_ *CompareOptions, s *Setting) { s.Classes = 3 }, false},
	} {
		s := Setting{K: 9, Classes: 2, Affected: 2, Neighbours: accountant.ReplaceOne}
		o := CompareOptions{Target: accountant.Cost{Epsilon: 0.5, Delta: 2e-4},
			Teachers: accountant.Cost{Epsilon: 0.25, Delta: 1e-4}}
		v.change(&o, &s)
		a, err := o.noise(s, c)
		if (err == nil) != v.serves || (a != nil) != v.serves {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The majority agrees with itself whatever queries come, and has no interval for that; how often it
// is right has one.
func TestTableOfComparison(t *testing.T) {
	c := Comparison{Setting: Setting{Classes: 2}, Queries: 4,
		Plain: Score{Queries: 4, Agreement: 1, Shared: 1, Labels: 4, Accuracy: 0.5},
		Rows:  []ComparisonRow{{Name: "none", Refused: errors.New("no reason")}}}
	header, rows := c.Table()
	if len(rows) != 2 || len(rows[0]) != len(header) {
		t.Fatalf("%q, %q", header, rows)
	}
	if r := rows[0]; r[1] != "100.00" || r[2] != "-" || r[3] != "4.0" || r[4] != "50.00" ||
		!strings.Contains(r[5], "–") {
		t.Errorf("%q", r)
	}
	r := c.Report()
	if r.Plain.AgreementInterval != nil || r.Plain.AccuracyInterval == nil || len(r.Mechanisms) != 1 ||
		r.Mechanisms[0].Refused != "no reason" || r.Mechanisms[0].Score != nil {
		t.Errorf("%+v", r)
	}
}

// A label's worth is of the queries where labels are priced one by one, and else of the labels that the
// answers are.
func TestLabelsOfComparison(t *testing.T) {
	five := Several{Labels: 5, MostYes: 1}
	for _, tt := range []struct {
		answers int
		several Several
		want    int
	}{{0, Several{}, 4}, {1, five, 4}, {10, Several{}, 10}, {10, five, 25}} {
		c := Comparison{Setting: Setting{Affected: 1}, Queries: 4, Answers: tt.answers, Several: tt.several}
		if got := c.Labels(); got != tt.want {
			t.Errorf("%d answers, %v: %d labels, want %d", tt.answers, tt.several, got, tt.want)
		}
	}
}
