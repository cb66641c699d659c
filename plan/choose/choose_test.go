package choose

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/plan"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/answers"
	pluralitysolve "github.com/darrm/darrm/plurality/solve"
	"github.com/darrm/darrm/release"
)

// of is a request about K = 3 teachers of which one record reaches one, and labels of ε = 1.
func of(classes int) Request {
	one, epsilon := 1, 1.0
	return Request{
		Stated: ensemble.Stated{Classes: classes, Neighbours: accountant.ReplaceOne, Affected: &one,
			LabelEpsilon: &epsilon},
		Solve: Solvers{
			Noise: func(ctx context.Context, p constraints.Problem, o solve.Options) (*gamma.Table, error) {
				return solve.Optimal(ctx, p, o)
			},
			Plurality: func(ctx context.Context, p plurality.Problem, o plurality.Objective,
				_ int64) (*plurality.Table, error) {
				return pluralitysolve.Optimal(ctx, p, o, pluralitysolve.Options{Gap: DefaultGap})
			},
		},
	}
}

func choice(t *testing.T, r Request) (Choice, error) {
	t.Helper()
	c := must.Get(Prepare(t.Context(), r))(t)
	return c.Choose(t.Context(), 3, r.Classes)
}

// Where nobody names the mechanism the number of classes decides.
func TestDefault(t *testing.T) {
	two := of(2)
	two.Stated.Epsilon = new(float64)
	*two.Stated.Epsilon = math.Inf(1)
	g := must.Get(choice(t, two))(t)
	if g.Noise == nil || g.Mechanism().Name() != ensemble.OptimalCounts {
		t.Errorf("two classes: %v", g.Mechanism().Name())
	}
	g = must.Get(choice(t, of(3)))(t)
	if g.Optimum == nil || g.Instead != nil || g.Mechanism().Name() != ensemble.OptimalCounts {
		t.Errorf("three classes: %v, %v", g.Mechanism().Name(), g.Instead)
	}
}

// The optimum that nobody named and that takes too much work has permute-and-flip of the same ε and
// δ = 0 in its place; no other optimum has, and none that ended by a clock.
func TestFallback(t *testing.T) {
	limits := []int64{}
	late := func() Request {
		r := of(3)
		delta := 1e-3
		r.Stated.Delta = &delta
		r.Solve.Plurality = func(_ context.Context, p plurality.Problem, _ plurality.Objective,
			work int64) (*plurality.Table, error) {
			limits = append(limits, work)
			return nil, &pluralitysolve.LimitError{Problem: p, Work: work}
		}
		return r
	}
	g := must.Get(choice(t, late()))(t)
	if g.Mechanism().Name() != ensemble.Fallback || g.Instead == nil || g.Optimum != nil {
		t.Errorf("%v, instead %v", g.Mechanism().Name(), g.Instead)
	}
	if per, want := g.Mechanism().PerAnswer(), (accountant.Cost{Epsilon: 1}); per != want ||
		g.Mechanism().Problem().Delta != 0 || g.Mechanism().Problem().TotalEpsilon != 1 {
		t.Errorf("it costs %v, planned %+v", per, g.Mechanism().Problem())
	}
	for name, change := range map[string]func(*Request){
		"named":      func(r *Request) { r.Mechanism = ensemble.OptimalCounts },
		"service":    func(r *Request) { r.Service, r.K = true, 3 },
		"resumed":    func(r *Request) { r.Checkpoint = true },
		"abstaining": func(r *Request) { r.Many.Abstain = new(float64) },
	} {
		r := late()
		change(&r)
		g, err := choice(t, r)
		var limit *pluralitysolve.LimitError
		if g.Mechanism() != nil || !errors.As(err, &limit) {
			t.Errorf("%s: %v, %v", name, g.Mechanism(), err)
		}
		// What may not be replaced may take any work.
		if replaceable := name == "resumed" || name == "abstaining"; (limits[len(limits)-1] != 0) !=
			replaceable {
			t.Errorf("%s: work %v", name, limits[len(limits)-1])
		}
	}
	// A solver that fails otherwise is no reason, nor one that a stated time ended.
	for _, failed := range []error{errors.New("failed"),
		&pluralitysolve.LimitError{Limit: time.Second}} {
		r := late()
		r.Solve.Plurality = func(context.Context, plurality.Problem, plurality.Objective,
			int64) (*plurality.Table, error) {
			return nil, failed
		}
		if g, err := choice(t, r); !errors.Is(err, failed) || g.Mechanism() != nil {
			t.Errorf("%v", err)
		}
	}
}

// The optimum of two classes is the noise function that agrees most often, for teachers that
// promise nothing: the same numbers as if that had been asked for.
func TestMajority(t *testing.T) {
	nothing, accuracy := math.Inf(1), 0.8
	optimum := of(2)
	optimum.Mechanism, optimum.Many.Accuracy = ensemble.OptimalCounts, &accuracy
	noise := of(2)
	noise.Stated.Epsilon, noise.Noise = &nothing, Noise{Objective: Agreement, PriorMean: &accuracy}
	g, want := must.Get(choice(t, optimum))(t), must.Get(choice(t, noise))(t)
	if g.Noise == nil || !g.Mechanism().NoiseFunction().Func().Equal(
		want.Mechanism().NoiseFunction().Func()) ||
		g.Mechanism().Problem() != want.Mechanism().Problem() {
		t.Errorf("%+v, want %+v", g.Plan, want.Plan)
	}
	if c := must.Get(Prepare(t.Context(), optimum))(t); c.Promise() {
		t.Error("the teachers promise something")
	}
}

// A table answers for the teachers that it is certified for, and takes nothing that is about
// solving.
func TestTable(t *testing.T) {
	inf := math.Inf(1)
	solved := of(3)
	table := must.Get(pluralitysolve.Optimal(t.Context(), solved.plurality(3, 3),
		plurality.DefaultObjective(3), pluralitysolve.Options{Gap: DefaultGap}))(t)
	with := func() Request {
		r := of(3)
		r.Stated = ensemble.Stated{Classes: 3, Neighbours: accountant.ReplaceOne}
		r.TableName = "t.json"
		r.ReadTable = func(context.Context) (release.Table, error) {
			return release.Table{Plurality: table}, nil
		}
		return r
	}
	c := must.Get(Prepare(t.Context(), with()))(t)
	g := must.Get(c.Choose(t.Context(), 3, 3))(t)
	if c.K() != 3 || !c.TeachersOfTable() || c.Promise() || !g.Mechanism().Table().Same(table.Certified) ||
		g.Optimum != table {
		t.Errorf("K = %d, %t, %t, %+v", c.K(), c.TeachersOfTable(), c.Promise(), g)
	}
	one, two := 1, 2
	r := with()
	r.Stated.Epsilon, r.Stated.Affected = &inf, &one
	if c := must.Get(Prepare(t.Context(), r))(t); c.TeachersOfTable() {
		t.Error("the teachers were stated")
	}
	for want, change := range map[string]func(*Request){
		"affected = 2, but t.json is for 1":       func(r *Request) { r.Stated.Affected = &two },
		"K = 4, but t.json is for K = 3 teachers": func(r *Request) { r.K = 4 },
		"2 classes, but t.json is for 3: say classes or numbered classes": func(r *Request) {
			r.Classes =
				2
		},
		"table goes with mechanism optimal-teachers, optimal-counts, many-answers or gnmax-label": func(r *Request) {
			r.Mechanism =
				"lnmax"
		},
		"objective and table exclude each other: the table is solved": func(r *Request) {
			r.Noise.Objective = Agreement
		},
		"gap and table exclude each other: the table is solved": func(r *Request) {
			r.Many.Gap =
				new(float64)
		},
		"mechanism optimal-teachers, but t.json is one of optimal-counts: leave mechanism out": func(r *Request) { r.Mechanism = ensemble.OptimalTeachers },
	} {
		r := with()
		change(&r)
		if want == "affected = 2, but t.json is for 1" {
			r.Stated.Epsilon = &inf
		}
		if _, err := Prepare(t.Context(), r); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// What does not go together is refused before the votes are read, as a usage error that names
// parameters.
func TestRules(t *testing.T) {
	f := func(x float64) *float64 { return &x }
	d := func(x time.Duration) *time.Duration { return &x }
	none := func(classes int) Request { return Request{Stated: ensemble.Stated{Classes: classes}} }
	for _, tt := range []struct {
		want   string
		r      Request
		change func(*Request)
	}{
		{"privacy allowance m (or label epsilon), epsilon and teacher delta must be given; teachers " +
			"that promise nothing have epsilon inf, and no teacher delta", none(2), nil},
		{"epsilon and teacher delta must be given; teachers that promise nothing have epsilon inf, and " +
			"no teacher delta", none(2), func(r *Request) { r.Stated.M = f(1) }},
		{"epsilon must be given", of(2), func(r *Request) { r.Stated.TeacherDelta = f(0) }},
		{"privacy allowance m and label epsilon exclude each other", of(2),
			func(r *Request) { r.Stated.M = f(1) }},
		{"label epsilon and affected (or data) must be given", none(3), nil},
		{"teacher delta goes with two classes and mechanism optimal-teachers; mechanism optimal-counts is told label " +
			"epsilon and affected (or data)", of(3), func(r *Request) { r.Stated.TeacherDelta = f(0) }},
		{"eps = 1, but mechanism optimal-counts presumes nothing of the teachers: leave epsilon out, or say inf",
			of(3), func(r *Request) { r.Stated.Epsilon = f(1) }},
		{`objective = "source", but mechanism optimal-counts is for "agreement"`, of(3), func(r *Request) {
			r.Noise.Objective = Source
		}},
		{"solve-within = 0s, but it must be > 0", of(3), func(r *Request) { r.SolveWithin = d(0) }},
		{`objective = "best", but it must be "source" or "agreement"`, of(2),
			func(r *Request) { r.Noise.Objective = "best" }},
		{"timeout = 0s, but it must be > 0", of(3), func(r *Request) { r.Timeout = d(0) }},
		{"accuracy and concentration exclude each other", of(3), func(r *Request) {
			r.Many.Accuracy, r.Many.Concentration = f(0.5), f(1)
		}},
		{"gap = 0, but it must be in (0,1)", of(3), func(r *Request) { r.Many.Gap = f(0) }},
		{"gap goes with mechanism optimal-counts, not with optimal-teachers of 2 classes", of(2),
			func(r *Request) { r.Many.Gap = f(0.1) }},
		{"gap goes with more than two classes: of two the optimum is known exactly", of(2),
			func(r *Request) { r.Mechanism, r.Many.Gap = ensemble.OptimalCounts, f(0.1) }},
		{"concentration goes with more than two classes: for two say accuracy or prior counts", of(2),
			func(r *Request) { r.Mechanism, r.Many.Concentration = ensemble.OptimalCounts, f(1) }},
		{"delta must be given", of(2), func(r *Request) { r.Mechanism = "gnmax" }},
		{"delta = 0.1, but lnmax needs none: leave delta out", of(2), func(r *Request) {
			r.Mechanism, r.Stated.Delta = "lnmax", f(0.1)
		}},
		{"timeout goes with mechanism optimal-teachers: lnmax uses nothing of it", of(2), func(r *Request) {
			r.Mechanism, r.Timeout = "lnmax", d(1)
		}},
		{"shape goes with mechanism optimal-teachers: subsampling uses nothing of it", of(2), func(r *Request) {
			r.Mechanism, r.Stated.Epsilon, r.Noise.Shape = "subsampling", f(math.Inf(1)),
				string(gamma.Monotone)
		}},
		{"threshold goes with mechanism confident-gnmax", of(2),
			func(r *Request) { r.Threshold = new(int) }},
		{`on interrupt best is not for serve: a table that the clock made would be another after the next start`, of(2), func(r *Request) {
			r.Service, r.K, r.Stated.Epsilon, r.Noise.OnInterrupt = true, 3, f(math.Inf(1)), Best
		}},
		{"number of teachers K must be given, the number of teachers, or table", of(3),
			func(r *Request) { r.Service = true }},
	} {
		if tt.change != nil {
			tt.change(&tt.r)
		}
		if _, err := Prepare(t.Context(), tt.r); err == nil || err.Error() != tt.want {
			t.Errorf("%v\nwant %s", err, tt.want)
		}
	}
}

// The reach that is stated is judged before the votes are read, of as many teachers as it needs.
func TestReachOfCounts(t *testing.T) {
	for affected, want := range map[int]bool{
		-1: false, ensemble.AllTeachers: true, 1: true, 2: true, 40: true, 1 << 40: false,
	} {
		r := of(3)
		r.Stated.Affected = &affected
		if _, err := Prepare(t.Context(), r); (err == nil) != want {
			t.Errorf("a reach of %d: %v", affected, err)
		}
	}
}

// A baseline is certified for the promise, of teachers of which nothing says whom a record reaches;
// and votes whose prior cannot be read get no mechanism.
func TestBaselineAndPrior(t *testing.T) {
	r := of(2)
	m, teachers, delta := 1.0, 0.5, 0.0
	r.Mechanism = "subsampling"
	r.Stated = ensemble.Stated{Classes: 2, Neighbours: accountant.ReplaceOne, Mechanism: r.Mechanism, M: &m,
		Epsilon: &teachers, TeacherDelta: &delta}
	g := must.Get(choice(t, r))(t)
	if got := g.Mechanism(); got == nil || got.Name() != "subsampling" || got.Problem().Affected != 3 {
		t.Errorf("%+v", g)
	}

	unread := errors.New("no such file")
	two := of(2)
	nothing := math.Inf(1)
	two.Stated.Epsilon = &nothing
	two.Noise.PriorCounts = "counts.csv"
	two.Solve.Histogram = func(context.Context, string, int) ([]float64, error) { return nil, unread }
	if _, err := choice(t, two); !errors.Is(err, unread) {
		t.Errorf("two classes without their prior: %v", err)
	}
	three := of(3)
	three.Noise.PriorCounts = "counts.csv"
	three.Solve.Histograms = func(context.Context, string, int, int) ([]plurality.HistogramCount, error) {
		return nil, unread
	}
	if _, err := choice(t, three); !errors.Is(err, unread) {
		t.Errorf("three classes without their prior: %v", err)
	}
}

// Of votes that may be none nothing says that the teachers' promise covers whether one votes: it is
// refused, and so are mechanisms of which no such votes are priced. By default permute-and-flip answers.
func TestMissingVotes(t *testing.T) {
	half := 0.5
	missing := of(2)
	missing.Missing = true
	g := must.Get(choice(t, missing))(t)
	if g.Mechanism().Name() != ensemble.Fallback || g.Instead != nil {
		t.Errorf("by default: %v", g.Mechanism().Name())
	}
	for want, change := range map[string]func(*Request){
		"epsilon = 0.5 goes without missing abstain": func(r *Request) { r.Stated.Epsilon = &half },
		"mechanism optimal-counts does not go with missing abstain": func(r *Request) {
			r.Mechanism = ensemble.OptimalCounts
		},
	} {
		r := missing
		change(&r)
		if _, err := Prepare(t.Context(), r); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		_, err := PrepareComparison(r)
		if r.Mechanism == "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("a comparison: %v, want %s", err, want)
		}
	}
}

// An objective is what is stated, or an error: no part of it is left out.
func TestObjectiveIsWhole(t *testing.T) {
	abstain, mean := 0.3, 0.7
	o, err := (Many{Abstain: &abstain}).Objective("", 3)
	if err != nil || o.AbstainValue != abstain {
		t.Errorf("%+v, %v", o, err)
	}
	for _, n := range []Noise{{Prior: Uniform, PriorMean: &mean}, {Prior: Clear, PriorMean: &mean},
		{Prior: WorstCase, PriorMean: &mean}, {Prior: Custom}} {
		if o, err := n.Options(); err == nil {
			t.Errorf("%+v is %+v", n, o)
		}
	}
	for law, want := range map[string]bool{"": false, UniformCounts: false, BinomialCounts: false,
		"counts.csv": true} {
		if got := (Noise{PriorCounts: law}).CountsFile(); got != want {
			t.Errorf("%q is a file: %t", law, got)
		}
	}
	for _, name := range []string{Uniform, Clear, Custom, WorstCase} {
		n := Noise{Prior: name}
		if name == Custom {
			n.PriorMean = &mean
		}
		o := must.Get(n.Options())(t)
		if got := PriorName(gamma.Objective{PriorMean: o.PriorMean, WorstCase: o.WorstCase}); got != name {
			t.Errorf("the prior %s is told as %s", name, got)
		}
	}
}

// A comparison of many classes presumes nothing of the teachers, and shows why an optimum is
// missing.
func TestComparison(t *testing.T) {
	r := of(2)
	p := must.Get(must.Get(PrepareComparison(r))(t).Options(t.Context(), 3))(t)
	if !math.IsInf(p.Teachers.Epsilon, 1) || p.Teachers.Delta != 0 {
		t.Errorf("of teachers of whom nothing is stated: %+v", p.Teachers)
	}
	r = of(3)
	r.Solve.Plurality = func(_ context.Context, p plurality.Problem, _ plurality.Objective,
		work int64) (*plurality.Table, error) {
		return nil, &pluralitysolve.LimitError{Problem: p, Work: work}
	}
	o := must.Get(must.Get(PrepareComparison(r))(t).Options(t.Context(), 3))(t)
	if !math.IsInf(o.Teachers.Epsilon, 1) || o.Target != (accountant.Cost{Epsilon: 1}) ||
		o.Affected != 1 {
		t.Errorf("%+v", o)
	}
	if len(o.Tables) != 1 || o.Tables[0].Refused == nil {
		t.Errorf("%+v", o.Tables)
	}
	// A solver that fails otherwise is no reason to leave an optimum out.
	failed := errors.New("failed")
	r.Solve.Plurality = func(context.Context, plurality.Problem, plurality.Objective, int64) (*plurality.Table, error) {
		return nil, failed
	}
	if _, err := must.Get(PrepareComparison(r))(t).Options(t.Context(), 3); !errors.Is(err, failed) {
		t.Errorf("three classes: %v", err)
	}
	r = of(2)
	r.Solve.Noise = func(context.Context, constraints.Problem, solve.Options) (*gamma.Table, error) { return nil, failed }
	if _, err := must.Get(PrepareComparison(r))(t).Options(t.Context(), 3); !errors.Is(err, failed) {
		t.Errorf("two classes: %v", err)
	}
	r = of(2)
	r.Many.Accuracy = new(float64)
	if _, err := PrepareComparison(r); err == nil ||
		err.Error() != "accuracy goes with more than two classes, or with value of abstaining" {
		t.Error(err)
	}
}

// Tables of whoever compares come first. The promise is that of the first one, unless one is
// stated, and the teachers are its teachers, unless they are stated.
func TestComparisonWithTables(t *testing.T) {
	ctx := t.Context()
	f := must.Get(gamma.Constant(3, 0.2))(t)
	p := constraints.Problem{K: 3, M: 3, Epsilon: 0.5, TeacherDelta: 1e-6, Delta: 1e-3, Affected: 2}
	noise := NamedTable{Name: "noise", Table: release.Table{Gamma: must.Get(gamma.NewTable(ctx,
		must.Get(gamma.Certify(ctx, p, f))(t), gamma.Objective{PriorMean: 0.75, Shape: gamma.Free},
		gamma.Proof{}))(t)}}
	many := plurality.Problem{K: 3, Classes: 2, Epsilon: 1.25, Affected: 1}
	s := must.Get(plurality.NewSystem(many))(t)
	plural := NamedTable{Name: "plural",
		Table: release.Table{Plurality: must.Get(plurality.NewTable(ctx,
			must.Get(plurality.Round(ctx, s, s.PermuteAndFlip()))(t), plurality.DefaultObjective(2),
			plurality.Proof{}))(t)}}
	together := NamedTable{Name: "answers", Table: release.Table{Answers: new(answers.Table)}}

	r := Request{Stated: ensemble.Stated{Classes: 2, Neighbours: accountant.ReplaceOne},
		Tables: []NamedTable{noise, plural, together}}
	r.Solve.defaults()
	o := must.Get(must.Get(PrepareComparison(r))(t).Options(ctx, 3))(t)
	if o.Target != (accountant.Cost{Epsilon: 1.5, Delta: 1e-3}) || o.Affected != 2 ||
		o.Teachers != (accountant.Cost{Epsilon: 0.5, Delta: 1e-6}) {
		t.Errorf("%+v", o)
	}
	if len(o.Tables) != 5 ||
		o.Tables[0] != (ensemble.NamedTable{Name: "table", Title: "table, noise", Noise: noise.Gamma.Certified}) ||
		o.Tables[1].Title != "table, plural" || o.Tables[1].Plurality != plural.Plurality.Certified ||
		!strings.Contains(fmt.Sprint(o.Tables[2].Refused), "for many answers, which have one price") {
		t.Errorf("%+v", o)
	}

	r.Tables = []NamedTable{plural, noise}
	o = must.Get(must.Get(PrepareComparison(r))(t).Options(ctx, 3))(t)
	if o.Target != (accountant.Cost{Epsilon: 1.25}) || o.Affected != 1 ||
		!math.IsInf(o.Teachers.Epsilon, 1) || o.Teachers.Delta != 0 {
		t.Errorf("%+v", o)
	}
	epsilon, teachers, none, reach := 2.0, 0.25, 0.0, 3
	r.Stated = ensemble.Stated{Classes: 2, Neighbours: accountant.ReplaceOne, LabelEpsilon: &epsilon, Affected: &reach, Epsilon: &teachers,
		TeacherDelta: &none}
	o = must.Get(must.Get(PrepareComparison(r))(t).Options(ctx, 3))(t)
	if o.Target.Epsilon != 2 || o.Affected != 3 || o.Teachers.Epsilon != 0.25 ||
		len(o.Tables) != 4 {
		t.Errorf("%+v", o)
	}
	r.Tables, r.Stated = []NamedTable{together}, ensemble.Stated{Classes: 2, Neighbours: accountant.ReplaceOne}
	if _, err := PrepareComparison(r); err == nil {
		t.Error("no promise is stated, but compared")
	}
}

// What is wrong without the votes is refused before they are read, and what is right is not.
func TestComparisonIsPreparedWithoutVotes(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*Request)
		want   string
	}{
		"teachers":      {func(r *Request) { *r.Stated.Epsilon = -1 }, "epsilon"},
		"reach":         {func(r *Request) { *r.Stated.Affected = -1 }, "affected"},
		"no gap":        {func(r *Request) { r.Many.Gap = new(float64) }, "gap"},
		"all the gap":   {func(r *Request) { one := 1.0; r.Many.Gap = &one }, "gap"},
		"a gap":         {func(r *Request) { gap := 1e-3; r.Many.Gap = &gap }, ""},
		"gap and two":   {func(r *Request) { gap := 1e-3; r.Many.Gap, r.Classes = &gap, 2 }, "more than two classes"},
		"a mechanism":   {func(r *Request) { r.Mechanism = "no such" }, ""},
		"no objective":  {func(r *Request) { r.Noise.Objective = "best" }, "objective"},
		"costs as yet":  {func(r *Request) { r.Many.Cost = "0:1=2" }, "cost"},
		"shares as yet": {func(r *Request) { r.Many.Shares = "0.5,0.5" }, "shares"},
	} {
		r := of(3)
		r.Stated.Epsilon = new(float64)
		*r.Stated.Epsilon, r.Stated.TeacherDelta = 1, new(float64)
		tt.change(&r)
		c, err := PrepareComparison(r)
		if (err == nil) != (tt.want == "") || err == nil && c == nil ||
			err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, %v, want %q", name, c, err, tt.want)
		}
	}
}

// Without an objective a release is judged by agreement; a prior of the source's objective asks for
// that.
func TestObjectiveByDefault(t *testing.T) {
	mean := 0.9
	for _, tt := range []struct {
		stated Noise
		want   string
	}{
		{Noise{}, Agreement}, {Noise{PriorMean: &mean}, Agreement},
		{Noise{PriorCounts: UniformCounts}, Agreement},
		{Noise{Shape: string(gamma.Monotone)}, Agreement},
		{Noise{Prior: Counts, PriorCounts: BinomialCounts}, Agreement},
		{Noise{Prior: Uniform}, Source}, {Noise{Prior: WorstCase}, Source},
		{Noise{Objective: Source}, Source},
	} {
		r := of(2)
		r.Noise = tt.stated
		g := must.Get(choice(t, r))(t)
		if got := g.Noise.Objective.Counts != nil; got != (tt.want == Agreement) {
			t.Errorf("%+v: agreement %v", tt.stated, got)
		}
	}
}

// The price of an answer is that of the mechanism that would be chosen.
func TestPriced(t *testing.T) {
	inf := math.Inf(1)
	noise := of(2)
	noise.Stated.Epsilon = &inf
	lnmax := of(2)
	lnmax.Mechanism = "lnmax"
	two := of(3)
	two.Stated.Affected = new(int)
	*two.Stated.Affected = 2
	for of, r := range map[string]Request{"noise": noise, "lnmax": lnmax, "table": of(3), "table of two": two} {
		name := map[string]string{"lnmax": "lnmax"}[of]
		name = cmp.Or(name, ensemble.OptimalCounts)
		g := must.Get(choice(t, r))(t)
		r.K = 3
		x := must.Get(Priced(t.Context(), r))(t)
		event := g.Mechanism().Event()
		if g.Optimum != nil || g.Noise != nil { // no table is solved for a price
			event = accountant.ApproxDP{Cost: x.PerAnswer, Neighbours: r.Neighbours}
		}
		if x.Mechanism != name || x.PerAnswer != g.Mechanism().PerAnswer() ||
			x.Problem != g.Mechanism().Problem() ||
			x.Problem.Affected != *r.Stated.Affected ||
			x.Answer == nil || fmt.Sprint(x.Answer) != fmt.Sprint(event) || x.Teachers != (of == "noise") {
			t.Errorf("%s: %+v, chosen %+v, %v", name, x, g.Plan, g.Mechanism().Event())
		}
	}
	if _, err := Priced(t.Context(), of(3)); err == nil ||
		err.Error() != "number of teachers K must be given" {
		t.Error(err)
	}
	half, teachers, none := 0.5, 0.5, 0.0 // of the teachers' ε, which no sample of their votes keeps to
	cheap := Request{Stated: ensemble.Stated{Classes: 2, K: 3, Neighbours: accountant.ReplaceOne, Mechanism: "subsampling",
		M: &half, Epsilon: &teachers, TeacherDelta: &none}}
	if x, err := Priced(t.Context(), cheap); err == nil {
		t.Errorf("a baseline that is not private costs %v", x.PerAnswer)
	}
	beyond := two // one record reaches more teachers than there are
	beyond.K = 1
	if x, err := Priced(t.Context(), beyond); err == nil {
		t.Errorf("a reach of 2 of one teacher costs %v", x.PerAnswer)
	}
}

// What a plan says is what a release charges; a plan that says otherwise is refused, be it less.
func TestCheckPlanned(t *testing.T) {
	r := plan.Request{
		Stated: ensemble.Stated{K: 3, Classes: 2, Affected: new(1), Neighbours: accountant.ReplaceOne},
		Votes:  must.Get(plan.Prior(3, 2, 0.75))(t), Budget: accountant.Cost{Epsilon: 6, Delta: 1e-5}, Queries: 2,
	}
	noise := must.Get(plan.New(t.Context(), r))(t).Choices
	r.Epsilon, r.Teachers = new(0.1), ensemble.FrozenTeachers
	for _, c := range append(noise, must.Get(plan.New(t.Context(), r))(t).Choices...) {
		if err := CheckPlanned(c, r.Queries); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
		c.Total.Epsilon = math.Nextafter(c.Total.Epsilon, 0)
		if CheckPlanned(c, r.Queries) == nil {
			t.Errorf("%s: planned for less than is charged", c.Name)
		}
	}
}
