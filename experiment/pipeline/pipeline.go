package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble/teachers"
	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/experiment/datasets"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/shuffled"
	"github.com/darrm/darrm/learn/shuffled/iteration"
	"github.com/darrm/darrm/learn/train"
)

// pipelineParameters: teachers are trained on parts of a data set by a shuffled gradient
// method, vote on held-out records, and are aggregated; beside them stands one model of the
// same total cost, trained on everything.
type pipelineParameters struct {
	solve solver

	Data      string            `json:"data"` // a data set of logistic regression
	DataSeed  uint64            `json:"data_seed"`
	Queries   int               `json:"queries"` // held-out private records
	Teachers  int               `json:"teachers"`
	Trainers  []shuffled.Scheme `json:"trainers"` // methods that train the teachers
	Fraction  float64           `json:"fraction"` // p, for those that have one
	Epsilons  []float64         `json:"epsilons"` // totals
	Delta     float64           `json:"delta"`    // in total
	Allowance int               `json:"m"`        // of γ_opt where one record reaches all teachers
	Epochs    int               `json:"epochs"`
	Clip      float64           `json:"clip"`
	Radius    float64           `json:"radius"` // longer records are shortened to it
	Lambda    float64           `json:"lambda"` // of ‖x‖²
	StepSizes []float64         `json:"step_sizes"`
	Repeats   int               `json:"repeats"`
}

func (p *pipelineParameters) Validate() error {
	private := slices.DeleteFunc(shuffled.Schemes(),
		func(m shuffled.Scheme) bool { return !m.IsPrivate() })
	return cmp.Or(
		check.Among([]string{datasets.COMPAS, datasets.CreditCard})("data", p.Data),
		check.OddTeachers(p.Teachers),
		check.Whole("queries", p.Queries, 1, 0),
		check.Some("trainers, epsilons and step_sizes", len(p.Trainers), len(p.Epsilons),
			len(p.StepSizes)),
		check.Each("trainers", p.Trainers, check.Among(private)),
		check.Each("epsilons", p.Epsilons, check.AtMost(check.MaxTotalEpsilon)),
		check.Each("step_sizes", p.StepSizes, check.AtMost(1e6)),
		check.Whole("m", p.Allowance, 1, p.Teachers),
		check.Whole("epochs", p.Epochs, 2, 100_000),
		check.Whole("repeats", p.Repeats, 2, 1000),
		check.Open("fraction", p.Fraction, 0, 1),
		check.Open("delta", p.Delta, 0, 1),
		check.Open("clip", p.Clip, 0, 1e6),
		check.Open("radius", p.Radius, 0, 1e6),
		check.Open("lambda", p.Lambda, 0, 1e6),
	)
}

func (p *pipelineParameters) Inputs(ctx context.Context, root string) (map[string]string, error) {
	return datasets.Inputs(ctx, p.Data, root, p.DataSeed)
}

// steps: one for each total and trainer, and one for what has no privacy or needs none.
func (p *pipelineParameters) Steps() int { return 1 + len(p.Trainers)*len(p.Epsilons) }

// pipelined holds the results of one way of answering at its best step size.
type pipelined struct {
	Method   experiment.Method `json:"method"`
	Private  bool              `json:"private"` // if not, costs are left 0
	Teacher  accountant.Cost   `json:"teacher"`
	Affected int               `json:"affected"`
	Answers  int               `json:"answers"` // that the total is for; 0 is any number
	Total    accountant.Cost   `json:"total"`
	Rule     string            `json:"rule"`
	StepSize float64           `json:"step_size"`
	Accuracy []float64         `json:"accuracy"` // by repeat, expected over the mechanism's randomness
	Gamma    []float64         `json:"gamma"`    // nil for a model
}

// workshop holds the data of a pipeline: for training, and for queries.
type workshop struct {
	set     datasets.Set
	train   *data.Records
	queries *data.Records

	disjoint teachers.Parts // each teacher's own
	whole    teachers.Parts // everything, of a model that stands alone
	shared   teachers.Parts // everything, of every teacher: one record reaches all of them
}

func (p *pipelineParameters) workshop(r *experiment.Run) (workshop, error) {
	set, err := datasets.Open(r, p.Data, r.Data, p.DataSeed)
	if err != nil {
		return workshop{}, err
	}
	n := set.Private.Len()
	if p.Queries > n-2*p.Teachers { // each teacher needs two records for a part of both kinds
		return workshop{}, check.Wantf("queries", p.Queries,
			"at most %d, so that each teacher has 2 of the %d private records", n-2*p.Teachers, n)
	}
	// Files may be sorted: held-out records are spread over them.
	var train, queries []int
	for i := range n {
		if (i+1)*p.Queries/n > i*p.Queries/n {
			queries = append(queries, i)
		} else {
			train = append(train, i)
		}
	}
	w := workshop{set: set}
	if w.train, err = set.Private.Select(train); err != nil {
		return w, err
	}
	if w.queries, err = set.Private.Select(queries); err != nil {
		return w, err
	}
	if w.disjoint, err = teachers.DisjointParts(len(train), p.Teachers); err != nil {
		return w, err
	}
	if w.whole, err = teachers.DisjointParts(len(train), 1); err != nil {
		return w, err
	}
	w.shared, err = teachers.OverlappingParts(len(train), p.Teachers, len(train), r.Seed)
	return w, err
}

// config returns the training parameters of one model, without a step size.
func (p *pipelineParameters) config(w workshop, m shuffled.Scheme,
	target accountant.Cost) shuffled.Config {
	return shuffled.Config{
		// The source's accounting, whatever is the tightest that is known.
		Mode: iteration.Paper, Conversion: iteration.ConversionClassical,
		Task: w.set.Task, Regularizer: geometry.L2{Lambda: p.Lambda}, Method: m, Fraction: p.Fraction,
		Epochs: p.Epochs,
		Order:  iteration.Reshuffled, Clip: p.Clip, Radius: p.Radius, Target: target,
		// Both parts are drawn from one published set, whose records can be equal by chance.
		SharedRecords: true,
	}
}

// aggregate makes answers of a plan's votes: certify gives the noise function, nil for the plain
// majority, and the cost of one answer.
type aggregate struct {
	method  experiment.Method
	answers int // 0 is any number
	certify func(*teachers.Plan) (*gamma.Certified, error)
}

// trainEveryStepSize trains the teachers of the parts at every step size and repeat, and returns
// each way of aggregating them at its best step size, by mean accuracy.
func (p *pipelineParameters) trainEveryStepSize(r *experiment.Run, w workshop, c shuffled.Config,
	parts teachers.Parts, use uint64, ways []aggregate) ([]pipelined, error) {
	best := make([]pipelined, len(ways))
	var teacher accountant.Cost
	certified := make([]*gamma.Certified, len(ways))
	for i, eta := range p.StepSizes {
		c.StepSize = eta
		plan, err := teachers.NewPlan(r, teachers.Config{Teacher: c, Parts: parts}, w.train, w.set.Public)
		if err != nil {
			return nil, err
		}
		if i == 0 { // the cost is the same at every step size, so the functions are too
			teacher = plan.Teacher()
			for k, way := range ways {
				if best[k], certified[k], err = price(plan, way); err != nil {
					return nil, fmt.Errorf("%s: %w", way.method, err)
				}
			}
		} else if plan.Teacher() != teacher {
			return nil, fmt.Errorf("step size %g: a teacher costs %v, at others %v", eta, plan.Teacher(),
				teacher)
		}
		accuracy := make([][]float64, len(ways))
		for repeat := range p.Repeats {
			seed, err := randsrc.NewSeededStream(r.Seed, streamPipeline+use<<10+uint64(repeat)).Uint53()
			if err != nil {
				return nil, err
			}
			teachers, err := plan.Simulate(r, seed)
			if errors.Is(err, train.ErrDiverged) {
				break // of no use at this step size
			}
			if err != nil {
				return nil, err
			}
			ones, err := teachers.Ones(w.queries)
			if err != nil {
				return nil, err
			}
			for k := range ways {
				accuracy[k] = append(accuracy[k], rightShare(certified[k], plan.K(), ones, w.queries))
			}
		}
		for k := range ways {
			if len(accuracy[k]) == p.Repeats && (best[k].Accuracy == nil ||
				floats.Sum(accuracy[k]) > floats.Sum(best[k].Accuracy)) {
				best[k].StepSize, best[k].Accuracy = eta, accuracy[k]
			}
		}
	}
	if best[0].Accuracy == nil {
		return nil, fmt.Errorf("every step size: %w", train.ErrDiverged)
	}
	return best, nil
}

func (p *pipelineParameters) Run(r *experiment.Run) error {
	w, err := p.workshop(r)
	if err != nil {
		return err
	}
	shared := []any{datasets.Hash(w.set), p.Queries, p.Teachers, p.Fraction, p.Delta, p.Allowance,
		p.Epochs, p.Clip, p.Radius, p.Lambda, p.StepSizes, p.Repeats, r.Seed}
	references, err := experiment.Step(r, "references", shared,
		func() ([]pipelined, error) { return p.references(r, w) })
	if err != nil {
		return err
	}
	found := map[shuffled.Scheme][][]pipelined{}
	for i, m := range p.Trainers {
		for j, eps := range p.Epsilons {
			name := fmt.Sprintf("%s-eps%g", m, eps)
			at, err := experiment.Step(r, name, append([]any{m, eps}, shared...),
				func() ([]pipelined, error) {
					return p.runFor(r, w, m, eps, uint64(1+i*len(p.Epsilons)+j))
				})
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			found[m] = append(found[m], at)
		}
	}
	return p.report(r, w, references, found)
}
