package ensemble

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
)

// StatementOptions describe answers before any is released.
type StatementOptions struct {
	Problem   constraints.Problem // of K, Affected and what the teachers promise; ε = +Inf for nothing
	Answer    accountant.Event    // one answer
	PerAnswer accountant.Cost     // of one answer
	// Together is the price of all answers where they have one, instead of Answer and PerAnswer; they
	// take no Slack and no Randomness.
	Together Together
	Joint    *JointPrice // of many answers of a table; nil for none

	// Randomness leaves out the totals of other teachers; 0 shows both. It must be 0 for
	// teachers that promise nothing, which have no privacy to add up.
	Randomness TeacherRandomness

	Slack    *float64 // δ' in [0,1) that compositions may spend; nil for [SlackFor] the answer
	Queries  []int    // numbers of answers, each in [1, accountant.MaxOptimalCount]
	Records  int      // that the teachers were trained on; 0 if unknown, see [Worthless]
	Progress func(done, of int)
}

// Statement has the joint cost of answers, for several numbers of them.
type Statement struct {
	K         int             `json:"k"`
	Affected  int             `json:"affected"`
	PerAnswer accountant.Cost `json:"per_answer"`
	Slack     float64         `json:"slack"`
	Warnings  []string        `json:"warnings,omitempty"` // of totals that protect nobody

	// Fresh has a row for each number of queries: answers with randomness of their own. Teachers
	// that promise nothing have these alone.
	Fresh []StatementRow `json:"fresh_teachers,omitempty"`
	// Frozen is the joint cost of any number of answers of teachers that were trained once; nil
	// where it is not shown.
	Frozen *StatementTotal `json:"frozen_teachers,omitempty"`

	records  int
	together bool // all answers have one price
}

// StatementTotal is a total with the rule that it follows from.
type StatementTotal struct {
	accountant.Cost
	Rule string `json:"rule"`
}

// StatementRow is the joint cost of a number of answers: all bounds hold at once, at the same δ.
type StatementRow struct {
	Queries int              `json:"queries"`
	Delta   float64          `json:"delta"`
	Epsilon *float64         `json:"epsilon"` // the smallest; nil where nothing is promised
	Bounds  []StatementBound `json:"bounds"`
}

// StatementBound is the ε of one way of composing.
type StatementBound struct {
	Method  string  `json:"method"` // an accountant.Method, or [ByVotes]
	Epsilon float64 `json:"epsilon"`
	Note    string  `json:"note,omitempty"`
}

// ByVotes is the method that composes the votes of fresh teachers: Q answers are a function
// of tQ votes that one record reaches, each (ε, Δ)-DP, which is less where m is large.
const ByVotes = "votes"

// statementMethods are the methods of a statement, in the order of its columns.
var statementMethods = []string{
	string(accountant.MethodBasic), string(accountant.MethodGeneral), string(accountant.MethodOptimal),
	string(accountant.MethodGaussian),
	string(accountant.MethodZCDP), string(accountant.MethodRDP), string(accountant.MethodPLD), ByVotes,
	string(methodGame),
}

// NewStatement works out what the answers cost, on all processors. Every figure is rounded
// up. Its cost is that of accountant.AtDelta for each number of queries.
func NewStatement(ctx context.Context, o StatementOptions) (*Statement, error) {
	slack := SlackFor(o.PerAnswer)
	if o.Slack != nil {
		slack = *o.Slack
	}
	if err := o.check(slack); err != nil {
		return nil, err
	}
	p := o.Problem
	s := &Statement{K: p.K, Affected: p.Affected, PerAnswer: o.PerAnswer, Slack: slack,
		records: o.Records}
	if o.Together.Most > 0 {
		s.PerAnswer, s.Slack, s.together = o.Together.Cost, 0, true
		for _, q := range o.Queries {
			s.Fresh = append(s.Fresh, o.Together.row(q))
		}
		s.Warnings = s.warnings()
		return s, nil
	}
	if o.Randomness != FreshTeachers && !math.IsInf(p.Epsilon, 1) {
		t, err := o.answers(0, FrozenTeachers).AnyNumber()
		if err != nil {
			return nil, err
		}
		s.Frozen = &StatementTotal{t.Cost, t.Rule}
	}
	if o.Randomness != FrozenTeachers {
		rows, err := o.rows(ctx, slack)
		if err != nil {
			return nil, err
		}
		s.Fresh = rows
	}
	s.Warnings = s.warnings()
	return s, nil
}

func (o StatementOptions) check(slack float64) error {
	if !(slack >= 0 && slack < 1) {
		return check.Want("slack", slack, "in [0,1)")
	}
	if o.Together.Most > 0 && o.Slack != nil {
		return check.Want("slack", slack, "left out where all answers have one price: nothing composes")
	}
	for _, q := range o.Queries {
		if err := check.Whole("queries", q, 1, accountant.MaxOptimalCount); err != nil {
			return err
		}
	}
	if o.Randomness != NothingPromised && math.IsInf(o.Problem.Epsilon, 1) {
		return check.Want("teachers", o.Randomness,
			"left out: teachers that promise nothing have no privacy to add up")
	}
	return nil
}

// rows works out the row of each number of queries.
func (o StatementOptions) rows(ctx context.Context, slack float64) ([]StatementRow, error) {
	none, err := accountant.New(o.Answer.Relation())
	if err != nil {
		return nil, err
	}
	rows := make([]StatementRow, len(o.Queries))
	var done atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, q := range o.Queries {
		g.Go(func() (err error) {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if rows[i], err = o.row(ctx, none, q, slack); err == nil && o.Progress != nil {
				o.Progress(int(done.Add(1)), len(rows))
			}
			return err
		})
	}
	return rows, g.Wait()
}

// row returns the one price, or that nothing is promised of more answers.
func (t Together) row(queries int) StatementRow {
	r := StatementRow{Queries: queries, Delta: t.Cost.Delta, Bounds: []StatementBound{}}
	if queries <= t.Most {
		r.Epsilon = &t.Cost.Epsilon
		r.Bounds = append(r.Bounds, StatementBound{string(methodGame), t.Cost.Epsilon,
			"of " + upTo(t.Most)})
	}
	return r
}

func (o StatementOptions) row(ctx context.Context, none accountant.Accountant, queries int,
	slack float64) (StatementRow, error) {
	r := StatementRow{
		Queries: queries, Bounds: []StatementBound{},
		// The δ at which all bounds are compared: 1-(1-δ)^Q(1-δ').
		Delta: totalDelta(slack, accountant.Repeated{Cost: o.PerAnswer, Count: queries}),
	}
	if r.Delta >= 1 {
		return r, nil // nothing is promised
	}
	charged, err := none.Charge(o.Answer, queries)
	if err != nil {
		return r, err
	}
	report, err := charged.AtDelta(r.Delta)
	if err != nil {
		return r, err
	}
	for _, b := range report.Bounds {
		r.Bounds = append(r.Bounds, StatementBound{string(b.Method), b.Cost.Epsilon, b.Note})
	}
	if o.Joint != nil && queries > 1 && r.Delta > 0 {
		if e, err := o.Joint.epsilon(ctx, r.Delta, queries); err == nil {
			r.Bounds = append(r.Bounds, StatementBound{string(methodGame), e, ""})
		} else if ctx.Err() != nil {
			return r, err
		}
	}
	votes, err := o.votesBound(queries, r.Delta)
	if err != nil {
		return r, err
	}
	if votes != nil {
		r.Bounds = append(r.Bounds, StatementBound{ByVotes, votes.Cost.Epsilon, votes.Rule()})
	}
	for _, b := range r.Bounds {
		if r.Epsilon == nil || b.Epsilon < *r.Epsilon {
			r.Epsilon = &b.Epsilon
		}
	}
	return r, nil
}

// votesBound is the bound [ByVotes]; nil where there is none.
func (o StatementOptions) votesBound(queries int, delta float64) (best *Bound, err error) {
	if math.IsInf(o.Problem.Epsilon, 1) || delta == 0 {
		return nil, nil
	}
	r := o.answers(queries, FreshTeachers)
	r.Delta = delta
	report, err := r.Bounds()
	if err != nil {
		return nil, err
	}
	for _, b := range report.Bounds {
		if b.Of == OfTeacherAnswers && b.Holds && (best == nil || b.Cost.Epsilon < best.Cost.Epsilon) {
			best = &b
		}
	}
	return best, nil
}

func (o StatementOptions) answers(queries int, randomness TeacherRandomness) Answers {
	p := o.Problem
	return Answers{
		Queries: queries, PerAnswer: o.PerAnswer, K: p.K, Affected: p.Affected, Randomness: randomness,
		Teachers: accountant.Cost{Epsilon: p.Epsilon, Delta: p.TeacherDelta},
	}
}

// Methods returns the methods that bound a row, in a fixed order.
func (s *Statement) Methods() []string {
	s = handle.Made(s)
	return slices.DeleteFunc(slices.Clone(statementMethods), func(method string) bool {
		return !slices.ContainsFunc(s.Fresh, func(r StatementRow) bool {
			_, ok := r.Bound(method)
			return ok
		})
	})
}

// Bound returns the method's ε, and whether it applies.
func (r StatementRow) Bound(method string) (epsilon float64, ok bool) {
	for _, b := range r.Bounds {
		if b.Method == method {
			return b.Epsilon, true
		}
	}
	return 0, false
}

// Only returns the statement of some of its numbers of queries.
func (s *Statement) Only(queries []int) *Statement {
	s = handle.Made(s)
	some := *s
	some.Fresh = slices.DeleteFunc(slices.Clone(s.Fresh), func(r StatementRow) bool {
		return !slices.Contains(queries, r.Queries)
	})
	some.Warnings = some.warnings()
	return &some
}

// warnings names the totals that protect nobody: of fresh answers, the number from which on.
func (s *Statement) warnings() (out []string) {
	for _, r := range s.Fresh {
		if s.together && r.Epsilon == nil {
			break // so many answers are refused
		}
		epsilon := math.Inf(1)
		if r.Epsilon != nil {
			epsilon = *r.Epsilon
		}
		if reason, worthless := Worthless(accountant.Cost{Epsilon: epsilon, Delta: r.Delta},
			s.records); worthless {
			out = append(out, fmt.Sprintf("Q = %d: %s; %s", r.Queries, reason, LabelAdvice))
			break // and so is every larger Q
		}
	}
	if s.Frozen != nil {
		if reason, worthless := Worthless(s.Frozen.Cost, s.records); worthless {
			out = append(out, "frozen teachers: "+reason+"; "+LabelAdvice)
		}
	}
	return out
}

// QueriesBetween returns the given numbers of queries, sorted, with about n more spread
// between the first and the last, evenly on a logarithmic scale, for a curve.
func QueriesBetween(queries []int, n int) []int {
	if len(queries) == 0 {
		return nil
	}
	first, last := slices.Min(queries), slices.Max(queries)
	out := slices.Clone(queries)
	for i := range n {
		x := math.Pow(float64(last)/float64(first), float64(i)/float64(n-1)) * float64(first)
		out = append(out, min(last, max(first, int(math.Round(x)))))
	}
	slices.Sort(out)
	return slices.Compact(out)
}
