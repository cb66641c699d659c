package ensemble

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/internal/check"
)

func statementOptions(t *testing.T, m, teacherDelta float64) StatementOptions {
	t.Helper()
	p, err := constraints.NewProblem(11, m, 0.1, teacherDelta)
	if err != nil {
		t.Fatal(err)
	}
	var per accountant.Cost
	per.Epsilon, per.Delta = p.Total()
	return StatementOptions{
		Problem: p, PerAnswer: per, Answer: accountant.ApproxDP{Cost: per,
			Neighbours: accountant.ReplaceOne}, Queries: []int{1, 50, 1000},
	}
}

// Of what the teachers' answers cost, the bound by votes is the smallest that holds.
func TestVotesBoundIsTheSmallest(t *testing.T) {
	o := statementOptions(t, 3, 1e-5)
	const delta = 1e-2
	got, err := o.votesBound(50, delta)
	if err != nil || got == nil {
		t.Fatal(got, err)
	}
	r := o.answers(50, FreshTeachers)
	r.Delta = delta
	report, err := r.Bounds()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, b := range report.Bounds {
		if b.Of == OfTeacherAnswers && b.Holds {
			if n++; b.Cost.Epsilon < got.Cost.Epsilon {
				t.Errorf("%v, but %s has %v", got.Cost, b.Method, b.Cost)
			}
		}
	}
	if n < 2 {
		t.Errorf("%d bounds: this tests nothing", n)
	}
}

// A statement's totals are those that a release of as many answers is charged.
func TestStatementIsWhatIsCharged(t *testing.T) {
	o := statementOptions(t, 3, 1e-5)
	s, err := NewStatement(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for i, q := range o.Queries {
		r := o.answers(q, FreshTeachers)
		r.Slack = SlackFor(o.PerAnswer)
		charged, err := r.Total()
		if err != nil {
			t.Fatal(err)
		}
		row := s.Fresh[i]
		// The table has methods that a charge does not try: it may be smaller, by them.
		if row.Queries != q || row.Epsilon == nil || *row.Epsilon > charged.Cost.Epsilon || q > 1 &&
			row.Delta != charged.Cost.Delta {
			t.Errorf("Q = %d: %+v, charged %v", q, row, charged.Cost)
		}
		for _, m := range []accountant.Method{accountant.MethodBasic, accountant.MethodOptimal} {
			if epsilon, ok := row.Bound(string(m)); !ok || *row.Epsilon > epsilon {
				t.Errorf("Q = %d: %s %v, %v, but the smallest is %v", q, m, epsilon, ok, *row.Epsilon)
			}
		}
	}
	frozen, err := o.answers(7, FrozenTeachers).AnyNumber()
	if err != nil || s.Frozen == nil || s.Frozen.Cost != frozen.Cost {
		t.Errorf("frozen: %+v, want %v, %v", s.Frozen, frozen, err)
	}
	if m := s.Methods(); slices.Contains(m, ByVotes) || m[0] != string(accountant.MethodBasic) {
		t.Errorf("methods %v", m)
	}
	// Where m is large, fresh votes cost less than the answers.
	if s, err = NewStatement(t.Context(), statementOptions(t, 20, 1e-5)); err != nil {
		t.Fatal(err)
	}
	for _, r := range s.Fresh {
		epsilon, ok := r.Bound(ByVotes)
		if basic, _ := r.Bound(string(accountant.MethodBasic)); !ok || *r.Epsilon != epsilon ||
			!(epsilon < basic) {
			t.Errorf("m = 20, Q = %d: by the votes %v, %v, smallest %v", r.Queries, epsilon, ok, *r.Epsilon)
		}
	}
}

// What is shown depends on who votes: of frozen teachers the answers do not add up.
func TestStatementShowsWhatHolds(t *testing.T) {
	for _, tt := range []struct {
		teachers      TeacherRandomness
		epsilon       float64
		fresh, frozen bool
	}{{"", 0.1, true, true}, {FreshTeachers, 0.1, true, false}, {FrozenTeachers, 0.1, false, true},
		{"", math.Inf(1), true, false}} {
		o := statementOptions(t, 3, 0)
		o.Randomness, o.Problem.Epsilon = tt.teachers, tt.epsilon
		s, err := NewStatement(t.Context(), o)
		if err != nil || (s.Fresh != nil) != tt.fresh || (s.Frozen != nil) != tt.frozen {
			t.Errorf("%+v: %+v, %v", tt, s, err)
		}
	}
	for name, change := range map[string]func(*StatementOptions){
		"slack":   func(o *StatementOptions) { one := 1.0; o.Slack = &one },
		"queries": func(o *StatementOptions) { o.Queries = []int{0} },
		"teachers": func(o *StatementOptions) {
			o.Problem.Epsilon, o.Randomness = math.Inf(1),
				FrozenTeachers
		},
	} {
		o := statementOptions(t, 3, 0)
		change(&o)
		var parameter *check.Error
		if _, err := NewStatement(t.Context(), o); !errors.As(err, &parameter) || parameter.Name != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := NewStatement(ctx, statementOptions(t, 3, 0)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// A total that protects nobody is warned of, once; part of a statement warns of its own.
func TestStatementWarnings(t *testing.T) {
	s, err := NewStatement(t.Context(), statementOptions(t, 3, 1e-5))
	if err != nil || len(s.Warnings) != 1 || !strings.HasPrefix(s.Warnings[0], "Q = 50: ") {
		t.Fatalf("%q, %v", s.Warnings, err)
	}
	if some := s.Only([]int{1}); some.Warnings != nil || len(some.Fresh) != 1 ||
		len(s.Fresh) != 3 {
		t.Errorf("%+v", some)
	}
	o := statementOptions(t, 3, 1e-5)
	o.Queries, o.Records = []int{1}, 1000
	if s, err = NewStatement(t.Context(), o); err != nil || s.Warnings != nil {
		t.Errorf("1,000 records: %q, %v", s.Warnings, err)
	}
	o.Records = 10_000
	if s, err = NewStatement(t.Context(), o); err != nil || len(s.Warnings) != 1 ||
		!strings.HasPrefix(s.Warnings[0], "frozen teachers: ") {
		t.Errorf("10,000 records: %q, %v", s.Warnings, err)
	}
	// A δ that adds up to 1 promises nothing.
	o = statementOptions(t, 3, 0.5)
	if s, err = NewStatement(t.Context(), o); err != nil || s.Fresh[2].Epsilon != nil ||
		len(s.Fresh[2].Bounds) != 0 {
		t.Errorf("δ = 0.5: %+v, %v", s, err)
	}
}

// The numbers between keep the given ones, their order, and the ends.
func TestQueriesBetween(t *testing.T) {
	got := QueriesBetween([]int{1000, 3, 77}, 20)
	if !slices.IsSorted(got) || got[0] != 3 || got[len(got)-1] != 1000 || !slices.Contains(got, 77) ||
		len(got) < 20 || len(slices.Compact(slices.Clone(got))) != len(got) {
		t.Errorf("%v", got)
	}
	if got := QueriesBetween([]int{7}, 20); !slices.Equal(got, []int{7}) {
		t.Errorf("one number: %v", got)
	}
}

// A row that cannot be worked out is an error, not a row without a bound.
func TestStatementOfNoEvent(t *testing.T) {
	o := statementOptions(t, 3, 1e-5)
	o.Answer = accountant.ApproxDP{Cost: accountant.Cost{Epsilon: -1},
		Neighbours: accountant.ReplaceOne}
	var parameter *check.Error
	if s, err := NewStatement(t.Context(), o); s != nil || !errors.As(err, &parameter) {
		t.Errorf("%+v, %v", s, err)
	}
}

// Progress counts the rows one by one.
func TestStatementProgress(t *testing.T) {
	o := statementOptions(t, 3, 1e-5)
	var lock sync.Mutex
	var told []int
	o.Progress = func(done, of int) {
		lock.Lock()
		defer lock.Unlock()
		if told = append(told, done); of != len(o.Queries) {
			t.Errorf("%d of %d", done, of)
		}
	}
	if _, err := NewStatement(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if slices.Sort(told); !slices.Equal(told, []int{1, 2, 3}) {
		t.Errorf("told %v", told)
	}
}

// A price that is not worked out is none, and not 0.
func TestStatementWithoutAPrice(t *testing.T) {
	o := statementOptions(t, 3, 1e-5)
	o.Joint = newJointPrice(maxJointWork, nil) // too much work for more than one answer
	s, err := NewStatement(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range s.Fresh {
		if e, ok := r.Bound(string(methodGame)); ok || r.Epsilon == nil || *r.Epsilon <= 0 {
			t.Errorf("Q = %d: price %g, %t; ε = %v", r.Queries, e, ok, r.Epsilon)
		}
	}
}
