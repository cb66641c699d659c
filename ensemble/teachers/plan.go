package teachers

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/shuffled"
	"github.com/darrm/darrm/learn/shuffled/iteration"
)

// Config describes K teachers. Nothing in it may depend on the private data.
type Config struct {
	// Teacher is the method of each training: any of package shuffled. Its Target is the (ε, Δ) of
	// one teacher, at the size of its part.
	Teacher shuffled.Config
	// Parts are the teachers' records, of all the private ones.
	Parts Parts
	// Vote returns the answer of a teacher with this model for these features. It must look at
	// nothing else. Defaults to ⟨features, model⟩ > 0 for loss.Logistic and is required for other
	// tasks.
	Vote func(model, features []float64) bool
	// Workers is the number of teachers that are trained at a time; 0 is the number of processors.
	Workers int
}

// Plan is a checked and accounted training of K teachers. Nothing has been trained
// yet: what it will cost can be charged first. It is immutable and safe for concurrent use.
type Plan struct {
	c     Config
	plans []*shuffled.Plan
	each  accountant.Cost
	dim   int
}

// NewPlan checks the configuration against the data and accounts for each teacher.
// private holds all records that Parts is of; public, which may be nil for methods that use
// none, is every teacher's. The error names the parameter, and the teacher; it is that of ctx where
// ctx ends the calibration.
func NewPlan(ctx context.Context, c Config, private, public *data.Records) (*Plan, error) {
	if c.Parts.K() == 0 {
		return nil, errors.New("no parts: use DisjointParts or OverlappingParts")
	}
	if private == nil {
		return nil, errors.New("no private records")
	}
	if private.Len() != c.Parts.records {
		return nil, check.Wantf("number of private records", private.Len(), "that of the parts, %d",
			c.Parts.records)
	}
	if c.Workers < 0 {
		return nil, check.Want("workers", c.Workers, "≥ 0")
	}
	if c.Vote == nil {
		if _, ok := c.Teacher.Task.(loss.Logistic); !ok {
			return nil, check.Want("vote", "nil", "given, but for logistic regression")
		}
		c.Vote = halfSpace
	}
	p := &Plan{c: c, dim: private.Dim()}
	for j, part := range c.Parts.of {
		records, err := private.Select(part)
		if err != nil {
			return nil, fmt.Errorf("teacher %d: %w", j+1, err)
		}
		plan, err := shuffled.NewPlan(ctx, c.Teacher, records, public)
		if err != nil {
			return nil, fmt.Errorf("teacher %d: %w", j+1, err)
		}
		p.plans = append(p.plans, plan)
		// What all teachers keep is the weakest promise of any.
		p.each.Epsilon = max(p.each.Epsilon, plan.Cost().Epsilon)
		p.each.Delta = max(p.each.Delta, plan.Cost().Delta)
	}
	switch calibrated := c.Teacher.Noise == 0 && c.Teacher.Method.IsPrivate(); {
	case math.IsInf(p.each.Epsilon, 1):
		p.each.Delta = 0 // no promise has no exception
	case calibrated:
		// Calibration ends a little below its target. The target is the number that people
		// wrote, and the weaker promise.
		p.each.Epsilon = max(p.each.Epsilon, c.Teacher.Target.Epsilon)
	}
	return p, nil
}

// made returns the plan, and for the zero Plan one without teachers, which promises nothing.
func (p *Plan) made() *Plan {
	if p == nil || p.plans == nil {
		return &Plan{each: accountant.Cost{Epsilon: math.Inf(1), Delta: 1}}
	}
	return p
}

// halfSpace is a linear model's answer. On the border it is 0.
func halfSpace(model, features []float64) bool {
	s := 0.0
	for i, v := range model {
		s += v * features[i]
	}
	return s > 0
}

// K returns the number of teachers.
func (p *Plan) K() int { return len(p.made().plans) }

// Affected returns t, the most teachers that one record reaches.
func (p *Plan) Affected() int { return p.made().c.Parts.Affected() }

// Teacher returns the (ε, Δ) that every teacher keeps, for the replacement of one record;
// ε is +Inf for methods without privacy, whose votes need a mechanism's own noise.
func (p *Plan) Teacher() accountant.Cost { return p.made().each }

// Report returns what teacher j costs, from 0, and on which grounds.
func (p *Plan) Report(j int) iteration.Report {
	p = p.made()
	if p.plans == nil {
		return new(shuffled.Plan).Report()
	}
	return p.plans[j].Report()
}

// Problem returns the constraints of a DaRRM release that may cost mε, for these teachers.
// Those without privacy need constraints.NewTotalProblem.
func (p *Plan) Problem(m float64) (constraints.Problem, error) {
	p = p.made()
	q := constraints.Problem{K: p.K(), M: m, Epsilon: p.each.Epsilon, TeacherDelta: p.each.Delta,
		Delta: p.each.Delta, Affected: p.Affected()}
	if q.Validate() == nil {
		q.Delta = q.DefaultDelta()
	}
	return q, q.Validate()
}

// Setting returns what a mechanism over two classes' counts must know of these teachers.
func (p *Plan) Setting() ensemble.Setting {
	p = p.made()
	return ensemble.Setting{K: p.K(), Classes: 2, Affected: p.Affected(),
		Neighbours: accountant.ReplaceOne}
}

// Answers returns a number of answers of these teachers, each of the cost perAnswer; its Total is what they
// cost together. The teachers are trained once and vote ever after: they are frozen, so answers
// that rest on their randomness do not add up as fresh ones would. The caller may add a Slack or a
// total Delta, or put a Mechanism's Noise in place of PerAnswer.
func (p *Plan) Answers(queries int, perAnswer accountant.Cost) ensemble.Answers {
	p = p.made()
	return ensemble.Answers{
		Queries: queries, PerAnswer: perAnswer,
		Teachers: p.each, K: p.K(), Affected: p.Affected(), Randomness: ensemble.FrozenTeachers,
	}
}

// Total returns what everything costs that can be made of these teachers: their models,
// their votes, any number of answers by any mechanism. It is the t-fold composition of
// Teacher, one teacher's cost for disjoint parts. slack in [0,1) is what the composition
// may spend besides the δ. Teachers without privacy have no such total.
func (p *Plan) Total(slack float64) (accountant.Cost, error) {
	p = p.made()
	if math.IsInf(p.each.Epsilon, 1) {
		return accountant.Cost{}, check.Want("teacher epsilon", p.each.Epsilon,
			"finite: without privacy of their own only noisy answers can be released")
	}
	// Of two frozen answers neither's own cost is a bound, so what is left is that of all
	// teachers, whatever the answers are.
	r := p.Answers(2, p.each)
	r.Slack = slack
	t, err := r.Total()
	return t.Cost, err
}
