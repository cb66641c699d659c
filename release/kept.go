package release

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/accountant/noisymax"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/answers"
)

// tableDigest is that of the plan's mechanism. It is worked out once for all copies of a plan, since
// every answer on line has it.
func (plan Plan) tableDigest() ledger.Digest {
	if plan.numbers == nil {
		return digestOfTable(plan.mechanism)
	}
	return plan.numbers()
}

// digestOfTable names the numbers of a mechanism that has a table, with what they promise; zero of
// others. Two mechanisms that could answer the same votes differently differ in it: charges, kept
// tables and coins go by it. Neither what the table is best for nor its solver is in it.
func digestOfTable(m *ensemble.Mechanism) (d ledger.Digest) {
	var kind, promise string
	var numbers []uint64
	switch {
	case m.HashOfAll() != "":
		_, _ = hex.Decode(d[:], []byte(m.HashOfAll())) // a SHA-256
		return d
	case m.Table() != nil:
		c := m.Table()
		p := c.Problem()
		kind, promise = "plurality", fmt.Sprintf("k=%d classes=%d affected=%d epsilon=%v delta=%v "+
			"abstain=%t", p.K, p.Classes, p.Affected, p.Epsilon, p.Delta, p.Abstain)
		for i := range c.System().Variables() {
			numbers = append(numbers, c.Mass(i))
		}
	case m.NoiseFunction() != nil:
		p := m.NoiseFunction().Problem()
		kind, promise = "gamma", fmt.Sprintf("k=%d m=%v total=%v epsilon=%v teacher-delta=%v delta=%v "+
			"affected=%d", p.K, p.M, p.TotalEpsilon, p.Epsilon, p.TeacherDelta, p.Delta, p.Affected)
		for _, v := range m.NoiseFunction().Func().Values() {
			numbers = append(numbers, math.Float64bits(v))
		}
	default:
		return d
	}
	_, _ = hex.Decode(d[:], []byte(named(kind, promise, fmt.Sprint(numbers)))) // a SHA-256
	return d
}

// digest names the mechanism of a plan for a number of labels, and that number: what one charge
// pays for.
func (plan Plan) digest() ledger.Digest {
	if plan.mechanism.HashOfAll() != "" {
		return plan.tableDigest()
	}
	s, per := plan.mechanism.Setting(), plan.mechanism.PerAnswer()
	var d ledger.Digest
	_, _ = hex.Decode(d[:], []byte(named("mechanism", plan.mechanism.Name(),
		plan.mechanism.Parameters(), plan.tableDigest().String(), fmt.Sprintf("%+v", s),
		fmt.Sprintf("%x %x", per.Epsilon, per.Delta), fmt.Sprint(plan.labels), fmt.Sprintf("%x",
			plan.whole.Slack))))
	return d
}

// keptTable is the table of a mechanism that is kept beside the ledger before it is paid for.
type keptTable struct {
	plan Plan
	name ledger.Digest
}

// keptTable returns nil of a mechanism without a table: its entry has all that it follows from.
func (plan Plan) keptTable() *keptTable {
	if !plan.tabled() {
		return nil
	}
	return &keptTable{plan, plan.tableDigest()}
}

// keep keeps the table, unless it is there.
func (t *keptTable) keep(ctx context.Context, l *ledger.Ledger) error {
	if t == nil {
		return nil
	}
	b, err := t.plan.encodeTable(ctx)
	if err == nil {
		err = l.Keep(ctx, t.name, b)
	}
	if err != nil {
		return &LedgerError{fmt.Errorf("nothing was charged: the table of the release could not be kept "+
			"beside the ledger: %w", err)}
	}
	return nil
}

// encodeTable returns the file of the plan's table: the one that was read or solved for or, where
// only its numbers are known, one that claims nothing of how good they are.
func (plan Plan) encodeTable(ctx context.Context) ([]byte, error) {
	t := plan.table
	var err error
	switch m := plan.mechanism; {
	case t != (Table{}):
	case m.AnswersTable() != nil:
		t.Answers, err = answers.NewTable(ctx, m.AnswersTable(),
			answers.DefaultPrior(m.AnswersTable().Problem()), anyLaw, nil)
	case m.PricedNoise() != nil:
		t.Noise = &noisymax.Table{Certified: m.PricedNoise()}
	case m.Table() != nil:
		t.Plurality, err = plurality.NewTable(ctx, m.Table(),
			plurality.DefaultObjective(m.Table().Problem().Classes), plurality.Proof{})
	default:
		c := m.NoiseFunction()
		o := gamma.Objective{PriorMean: gamma.DefaultPriorMean, Shape: gamma.Any}
		if !c.Func().Symmetric() {
			o = gamma.Objective{Shape: gamma.ByName}
			o.Counts, err = gamma.UniformCounts(c.Problem().K)
		}
		if err == nil {
			t.Gamma, err = gamma.NewTable(ctx, c, o, gamma.Proof{})
		}
	}
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Encode(&b)
	return b.Bytes(), err
}

// anyLaw is true of every table: no ratio of two masses is larger than 2⁵³.
var anyLaw = answers.Law{Name: answers.ProgramLaw, Order: 2, Moment: 1 << 60}

// paidPlan returns the mechanism that a charge names, judged again: from the table that is kept
// beside the ledger, or from its parameters in the entry.
func paidPlan(ctx context.Context, l *ledger.Ledger, e *ledger.Entry, event Event,
	relation accountant.Relation) (plan Plan, err error) {
	if event.Table != "" {
		plan, err = readKept(ctx, l, e.ID, event, relation)
	} else {
		plan, err = fromParameters(event, relation)
	}
	if err != nil {
		return Plan{}, err
	}
	if got := plan.mechanism.Name(); got != event.Mechanism {
		return Plan{}, fmt.Errorf("the charge %q is of %s, and its table of %s", e.ID, event.Mechanism, got)
	}
	if event.Several != nil {
		if plan, err = plan.WithSeveral(*event.Several); err != nil {
			return Plan{}, err
		}
	}
	if event.Answers == 0 || plan.mechanism.Together().Most > 0 {
		return plan, nil
	}
	if plan, err = plan.ForLabels(event.Answers, &event.Slack); err != nil {
		return Plan{}, err
	}
	cost, err := ledger.NewCost(plan.whole.Fresh.Cost.Epsilon, plan.whole.Fresh.Cost.Delta)
	if err != nil {
		return Plan{}, err
	}
	if Least(cost, e.Unit) != cost {
		return Plan{}, &LedgerError{fmt.Errorf("the charge %q paid %v for %d labels by %s, which this "+
			"version prices at %v: no label is drawn", e.ID, e.Unit, event.Answers, event.Mechanism, cost)}
	}
	plan.whole.Fresh.Rule = event.Rule // as it was charged
	return plan, nil
}

func readKept(ctx context.Context, l *ledger.Ledger, id string, event Event,
	relation accountant.Relation) (Plan, error) {
	var name ledger.Digest
	if n, err := hex.Decode(name[:], []byte(event.Table)); err != nil || n != len(name) {
		return Plan{}, &LedgerError{fmt.Errorf("the charge %q names no table: %q", id, event.Table)}
	}
	failed := func(err error) error {
		return &LedgerError{check.Namedf("the table %.8s… of the charge %s, which is kept beside the "+
			"ledger, cannot be used: %w; a table of these numbers takes its place (%s)", event.Table,
			shortID(id), err, pTable)}
	}
	content, err := l.Kept(ctx, name)
	if err != nil {
		return Plan{}, failed(err)
	}
	table, err := ReadTable(ctx, bytes.NewReader(content))
	if err != nil {
		if ctx.Err() != nil {
			return Plan{}, ctx.Err()
		}
		return Plan{}, failed(fmt.Errorf("this version does not certify it for what was charged: %w", err))
	}
	plan, err := table.Plan(relation)
	if err == nil && table.Gamma != nil && event.Mechanism != plan.mechanism.Name() {
		plan, err = Baseline(ctx, event.Mechanism, table.Gamma.Certified.Problem(), relation)
	}
	if err != nil {
		return Plan{}, failed(err)
	}
	if plan.tableDigest() != name {
		return Plan{}, failed(fmt.Errorf("its digest is that of another table, %.8v…", plan.tableDigest()))
	}
	return plan, nil
}

// fromParameters makes a calibrated mechanism again, and compares its exact parameters.
func fromParameters(event Event, relation accountant.Relation) (Plan, error) {
	if event.PerAnswer == nil || event.Parameters == "" {
		return Plan{}, fmt.Errorf("the charge has no parameters of %s", event.Mechanism)
	}
	s := ensemble.Setting{K: event.several().Votes(event.K), Classes: event.Classes, Affected: event.Affected,
		Neighbours: relation, Missing: event.Missing}
	m, err := ensemble.Calibrated(event.Mechanism, s, *event.PerAnswer,
		ensemble.Check{Ratio: ensemble.CheckRatio}) // as every plan has it
	if err != nil {
		return Plan{}, err
	}
	if m.Parameters() != event.Parameters {
		return Plan{}, &LedgerError{fmt.Errorf("the charge is of %s with %s, and this version makes it "+
			"with %s: no label is drawn", event.Mechanism, event.Parameters, m.Parameters())}
	}
	return NewPlan(m)
}

// paidEvent reads the event of a charge that pays for labels; ok is false of others.
func paidEvent(e *ledger.Entry) (event Event, ok bool) {
	err := json.Unmarshal(e.Event, &event)
	return event, err == nil && event.Mechanism != "" && (event.Table != "" || event.Parameters != "")
}
