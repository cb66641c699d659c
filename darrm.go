package darrm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/plan"
	"github.com/darrm/darrm/plan/choose"
	"github.com/darrm/darrm/release"
)

// Relation is the neighbouring relation of all promises and of a ledger.
type Relation = accountant.Relation

// One record is replaced, or added or removed.
const (
	ReplaceOne     = accountant.ReplaceOne
	AddOrRemoveOne = accountant.AddOrRemoveOne
)

// Private teachers vote by a new run for every query, or were trained once and vote ever after.
const (
	Fresh  = ensemble.FreshTeachers
	Frozen = ensemble.FrozenTeachers
)

// Teachers states what is known of the teachers. Every promise rests on it.
type Teachers struct {
	K          int      // how many there are; required
	Neighbours Relation // required
	Classes    int      // that each may vote for; 2 where left out
	// Several has L, τ and YesFrom where each query is a question with several yes/no labels, on which the
	// teachers vote by sets. Teachers that promise something have none, nor have those of more than two Classes.
	Several ensemble.Several
	// Affected is t, the most teachers that one record reaches: 1 for data in disjoint parts, K where
	// left out.
	Affected int
	// Epsilon and Delta are what each teacher's own training promises; ε = 0 is for teachers that
	// promise nothing.
	Epsilon, Delta float64
	// Randomness is Fresh or Frozen. Required where the teachers promise something.
	Randomness ensemble.TeacherRandomness
	// Ensemble names the teachers in the ledger, which charges frozen ones once, under it. Required of
	// frozen teachers.
	Ensemble string
}

// promise returns the (ε, δ) that each teacher keeps; ε is +Inf for none.
func (t Teachers) promise() accountant.Cost {
	if t.Epsilon == 0 {
		return accountant.Cost{Epsilon: math.Inf(1), Delta: t.Delta}
	}
	return accountant.Cost{Epsilon: t.Epsilon, Delta: t.Delta}
}

// stated is the statement that mechanisms and tables are compared with.
func (t Teachers) stated() ensemble.Stated {
	each, affected := t.promise(), t.Affected
	s := ensemble.Stated{K: t.K, Classes: cmp.Or(t.Classes, 2), Several: t.several(), Neighbours: t.Neighbours,
		Teachers: t.Randomness, Epsilon: &each.Epsilon, Affected: &affected}
	if each.Delta != 0 || !math.IsInf(each.Epsilon, 1) {
		s.TeacherDelta = &each.Delta
	}
	return s
}

// several is Several of all teachers; check has refused what is none.
func (t Teachers) several() ensemble.Several {
	of, _ := t.Several.Of(t.K)
	return of
}

// votes is how many votes a mechanism answers: those of the teachers and public ones.
func (t Teachers) votes() int { return t.several().Votes(t.K) }

// check refuses what does not go together, such as frozen teachers whose ε was left out. A release
// asks how private teachers spend, a price does not.
func (t Teachers) check() error {
	several, err := t.Several.Of(t.K)
	if err = cmp.Or(several.Validate(), err); err != nil {
		return &release.UsageError{Err: err}
	}
	if t.Randomness == "" && t.Ensemble == "" {
		return nil
	}
	c := release.Charge{Ledger: "any", RequestID: "any", Teachers: t.Randomness, Ensemble: t.Ensemble}
	return c.Check(!math.IsInf(t.promise().Epsilon, 1))
}

func (t Teachers) request() choose.Request {
	return choose.Request{Stated: t.stated(), Service: true}
}

// Mechanism is the noise for the votes of certain teachers, with its certified promise.
type Mechanism struct {
	teachers Teachers
	stated   ensemble.Stated // what the mechanism presumes of them
	plan     release.Plan
	slack    *float64 // δ′ that a plan spends on the composition; nil where none was planned
	// statement is what decided on the mechanism; nil where that is a table, or another's mechanism.
	statement *release.Statement
}

// PerLabel returns the (ε, δ) that one label costs: (+Inf, 1), which promises nothing, of the zero
// Mechanism.
func (m *Mechanism) PerLabel() accountant.Cost {
	if m == nil {
		return (*ensemble.Mechanism)(nil).PerAnswer()
	}
	return m.plan.Mechanism().PerAnswer()
}

// Labels returns a release of one label for each query in files of votes. name is its request id in
// the book. The release has all that the mechanism states of the teachers and their number. The
// caller sets Votes, the files, and Output, of questions with several labels their names Read.Labels, and
// calls Run. Votes of other teachers or classes are
// an error of Run, and so is a missing field.
//
// A release that was made before is repeated. Where a charge of the same teachers and aim has
// labels left, these are taken, by the mechanism that the charge names and not by m: another build
// of the program may have found another one.
func (m *Mechanism) Labels(book *ledger.Ledger, name string) release.Labels {
	if m == nil || m.plan.Mechanism() == nil || book == nil { // a release without a ledger is another
		return release.Labels{}
	}
	l := release.Labels{Plan: m.plan}
	several := m.teachers.Several
	l.Read.K, l.Read.MostYes, l.Read.YesFrom = m.teachers.K, several.MostYes, several.YesFrom
	l.Stated = handle.Deep(m.statement)
	if l.Stated != nil {
		l.Queries = l.Stated.Labels
	}
	l.Charge = m.charge()
	l.Charge.Ledger, l.Charge.RequestID = book.Path(), name
	return l
}

// charge is the payment of a release by m.
func (m *Mechanism) charge() release.Charge {
	c := release.Charge{}
	if m.slack != nil {
		c.Slack = new(*m.slack)
	}
	if !math.IsInf(*m.stated.Epsilon, 1) { // teachers that promise nothing have nothing to spend
		c.Teachers, c.Ensemble = m.teachers.Randomness, m.teachers.Ensemble
	}
	return c
}

func errNothingGiven() error {
	return &release.UsageError{Err: errors.New("mechanism and book must be given")}
}

// An Aim is the limit of privacy that [Optimal] keeps: [PerLabel] or [Within].
type Aim struct {
	perLabel float64
	budget   ledger.Budget
	queries  int
	book     *ledger.Ledger
}

// PerLabel aims at labels of this ε each, in (0, 700].
func PerLabel(epsilon float64) Aim { return Aim{perLabel: epsilon} }

// Within aims at a number of labels, or of questions with several, that together keep the budget. Package plan finds what fits,
// by its prior of votes and never by votes at hand. One charge pays for all of them, in any
// number of releases, unless the noise spends private teachers' own privacy.
func Within(budget ledger.Budget, queries int) Aim { return Aim{budget: budget, queries: queries} }

// From returns the aim with a ledger that [Optimal] asks first. Where the book has paid for labels
// of the same teachers and aim, or answered by a table for them, Optimal certifies and returns that
// mechanism, and plans nothing. So a program that is started again finds it at once.
func (a Aim) From(book *ledger.Ledger) Aim {
	a.book = handle.Copy(book)
	return a
}

// Optimal returns the mechanism that agrees most often with the majority. The noise of two classes
// and that of many is the proved optimum; within a budget it is the best mechanism of package plan.
// For teachers that need no noise it returns an error that says so. The same program finds the same
// noise after every start. If another build found another table before, a [Releaser] answers by the
// one that the ledger keeps of the same teachers and aim.
//
// Errors are those of choose.Prepare and Choose or of plan.New, which name the parameter, and of
// release.FindPaid where the aim has a ledger. Cost: a second or two for two classes, for more that of
// package plurality/solve; without a plan, that of certifying a table.
func Optimal(ctx context.Context, t Teachers, aim Aim) (*Mechanism, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	if aim.queries != 0 || aim.budget != (ledger.Budget{}) {
		return within(ctx, t, aim)
	}
	r := t.request()
	r.Stated.LabelEpsilon = &aim.perLabel
	s := t.statement()
	s.Mechanism = fmt.Sprintf("label-eps=%v", aim.perLabel)
	if paid, err := t.paid(ctx, aim.book, s); paid != nil || err != nil {
		return paid, err
	}
	m, err := t.choose(ctx, r)
	if err != nil {
		return nil, err
	}
	m.statement = s
	return m, nil
}

// paid returns the mechanism that a ledger already has of a statement; nil for none.
func (t Teachers) paid(ctx context.Context, book *ledger.Ledger, s *release.Statement) (*Mechanism, error) {
	if book == nil {
		return nil, nil
	}
	if err := book.CheckRelation(t.Neighbours); err != nil {
		return nil, err
	}
	plan, slack, found, err := release.FindPaid(ctx, book, *s)
	if err != nil || !found {
		return nil, err
	}
	m := &Mechanism{teachers: t, stated: t.stated(), plan: plan, statement: s}
	if s.Labels > 0 { // all that is presumed is what the plan presumes
		m.stated, m.slack = choose.Presumes(plan.Mechanism(), s.Affected), &slack
	}
	err = cmp.Or(plan.Fits(t.votes(), s.Classes),
		release.Match(m.stated, plan.Mechanism().Problem(), "the mechanism of the ledger's charge"))
	if err != nil {
		return nil, err
	}
	return m, nil
}

// statement returns what decides on a mechanism, but for what it is to cost.
func (t Teachers) statement() *release.Statement {
	s := &release.Statement{K: t.K, Classes: cmp.Or(t.Classes, 2), Affected: cmp.Or(t.Affected, t.K),
		Neighbours: t.Neighbours.Name(), Prior: "default"}
	if several := t.several(); several != (ensemble.Several{}) {
		s.Several = &several
	}
	if each := t.promise(); !math.IsInf(each.Epsilon, 1) {
		s.PerTeacher, s.Teachers, s.Ensemble = &each, string(t.Randomness), t.Ensemble
	}
	return s
}

// ReadTable reads a table of "darrm solve" and proves it again. A table for other teachers than t
// is refused.
func ReadTable(ctx context.Context, t Teachers, table io.Reader) (*Mechanism, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	r := t.request()
	r.TableName = "the table"
	r.ReadTable = func(ctx context.Context) (release.Table, error) {
		return release.ReadTable(ctx, table)
	}
	return t.choose(ctx, r)
}

// Use returns a mechanism of the packages below: one of package ensemble, or a noise function of
// one's own that gamma.Certify proved. t states the teachers, and must match what the mechanism
// presumes of them.
func Use(t Teachers, plan release.Plan) (*Mechanism, error) {
	if err := cmp.Or(t.check(), plan.Fits(t.votes(), cmp.Or(t.Classes, 2))); err != nil {
		return nil, err
	}
	s, own := t.stated(), plan.Mechanism()
	if err := release.Match(s, own.Problem(), "the mechanism"); err != nil {
		return nil, err
	}
	if of := own.Setting().Neighbours; of != t.Neighbours {
		return nil, &release.UsageError{Err: fmt.Errorf("neighbours = %v, but the mechanism is for %v",
			t.Neighbours, of)}
	}
	return &Mechanism{teachers: t, stated: s, plan: plan}, nil
}

func (t Teachers) choose(ctx context.Context, r choose.Request) (*Mechanism, error) {
	c, err := choose.Prepare(ctx, r)
	if err != nil {
		return nil, err
	}
	choice, err := c.Choose(ctx, r.K, r.Classes)
	if err != nil {
		return nil, err
	}
	return &Mechanism{teachers: t, stated: c.Stated(), plan: choice.Plan}, nil
}

func within(ctx context.Context, t Teachers, aim Aim) (*Mechanism, error) {
	epsilon, delta := aim.budget.Cost().Floor()
	r := plan.Request{Stated: t.stated(), Budget: accountant.Cost{Epsilon: epsilon, Delta: delta}}
	r.Queries = aim.queries * r.Several.PerQuestion(r.Reach(t.K))
	s := t.statement()
	s.Labels, s.Budget = aim.queries, &r.Budget
	if aim.queries > 0 { // else the plan refuses it
		if paid, err := t.paid(ctx, aim.book, s); paid != nil || err != nil {
			return paid, err
		}
	}
	p, err := plan.New(ctx, r)
	if err != nil {
		return nil, err
	}
	best := p.Choices[0]
	planned, stated, err := choose.Planned(best, r)
	if err != nil {
		return nil, err
	}
	if math.IsInf(best.Mechanism.Teachers().Epsilon, 1) { // one charge pays for all, in any releases
		if planned, err = planned.ForLabels(r.Queries, &best.Slack); err != nil {
			return nil, err
		}
	}
	m := &Mechanism{teachers: t, stated: stated, plan: planned, slack: &best.Slack}
	if planned.Together().Most > 0 {
		m.statement = s
	}
	return m, nil
}

// An Option is a setting of a [Releaser].
type Option func(*release.OnlineOptions)

// KeyFile names the file of the secret key from which all coins come. It is made where there is
// none. The option is required: without the key no label could be repeated. Whoever has the key can
// undo the noise.
func KeyFile(path string) Option {
	return func(o *release.OnlineOptions) { o.Key = path }
}

// Slack states the δ′ in [0, 1) that the composition of a batch may spend. The default is 0, by
// which labels cost their sum; with [Within] it is what the plan spends.
func Slack(delta float64) Option {
	return func(o *release.OnlineOptions) { o.Charge.Slack = &delta }
}

// Releaser releases labels, each charged to a ledger. Several processes may release from one ledger
// with one key.
type Releaser struct{ online *release.Online }

// NewReleaser returns a releaser of labels by m. The mechanism and the book are for one relation. A
// book that has answers of another key is refused. The other errors are those of
// release.OpenOnline.
func NewReleaser(ctx context.Context, m *Mechanism, book *ledger.Ledger,
	options ...Option) (*Releaser, error) {
	if m == nil || m.plan.Mechanism() == nil || book == nil {
		return nil, errNothingGiven()
	}
	o := release.OnlineOptions{Plan: m.plan, Several: m.teachers.several(), Stated: m.stated,
		Statement: m.statement, Book: book, Charge: m.charge()}
	for _, set := range options {
		if set != nil {
			set(&o)
		}
	}
	online, err := release.OpenOnline(ctx, o)
	if err != nil {
		return nil, err
	}
	return &Releaser{online}, nil
}

// Online returns the release behind r, which has replay keys, clients, shares and the ledger's
// state.
func (r *Releaser) Online() *release.Online {
	if r == nil || r.online == nil {
		return new(release.Online) // whose answers are errors
	}
	online := *r.online // no other pointer to what r asks
	return &online
}

// Rows are the votes of a batch: [Votes], [Counts] or [Sets].
type Rows interface {
	batch(name string) release.Batch
}

// Votes are the classes that the teachers voted for, from 0, in their order: a row for each query.
type Votes [][]int

// Counts are the numbers of teachers who voted for each class: a row for each query.
type Counts [][]int

// Sets are the votes on questions with several labels ([Teachers.Several]): for each question, of each teacher the labels
// that it says yes to, from 0, in any order. Of every set the first τ labels are counted, by their number. An empty set says no to
// all; nil is a missing vote, and is refused.
type Sets [][][]int

func (s Sets) batch(name string) release.Batch { return release.Batch{Name: name, Sets: s} }

func (v Votes) batch(name string) release.Batch  { return release.Batch{Name: name, Votes: v} }
func (c Counts) batch(name string) release.Batch { return release.Batch{Name: name, Counts: c} }

// Batch releases a label for each row, or of [Sets] all labels of each question, charged together and once. The same name with the same rows
// has the same labels, also after a restart, at no cost; with other rows, another order, mechanism
// or key it is refused before anything is drawn. Errors are those of release.Online.Batch: a
// release.InputError for rows out of their ranges, a ledger.ErrExceeded where the budget is too
// small.
func (r *Releaser) Batch(ctx context.Context, name string,
	rows Rows) (*release.AnsweredBatch, error) {
	if rows == nil {
		return nil, &release.InputError{Err: errors.New("rows must be given")}
	}
	return r.Online().Batch(ctx, rows.batch(name))
}

// Answer releases one label, for the classes that the teachers voted for, in their order. Each id
// is answered once, and an error after that: a repeated answer would confirm a guess of the votes.
// release.Query has a replay key for clients that may ask again. Errors are those of
// release.Online.Answer.
func (r *Releaser) Answer(ctx context.Context, id string, votes []int) (*release.Answered, error) {
	return r.Online().Answer(ctx, release.Query{ID: id, Votes: votes})
}
