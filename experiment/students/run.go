package students

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/ensemble/labellaw"
	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/experiment/datasets"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/plan"
)

// parameters are the parameters of kind students.
type parameters struct {
	Teachers int      `json:"teachers"`
	Epsilon  float64  `json:"eps"`
	Delta    float64  `json:"delta"`
	Queries  []int    `json:"queries"` // numbers of labels, ascending; the last is the whole pool
	L2       float64  `json:"l2"`
	Repeats  int      `json:"repeats"`
	Training training `json:"training"`
	Images   *images  `json:"images"`
	MadeUp   *madeUp  `json:"made_up"`
	Claims   claims   `json:"claims"`
}

const affected = 1 // every part of the data is one teacher's

func (p *parameters) Validate() error {
	err := cmp.Or(
		check.Teachers(p.Teachers),
		check.UpTo("eps", p.Epsilon, check.MaxTotalEpsilon),
		check.Open("delta", p.Delta, 0, 1),
		check.Some("queries", len(p.Queries)),
		check.Each("queries", p.Queries, check.WholeIn(1, 100_000)),
		check.UpTo("l2", p.L2, 1e6),
		check.Whole("repeats", p.Repeats, 1, 1000),
		check.Whole("steps", p.Training.Steps, 1, 1_000_000),
		check.UpTo("step_size", p.Training.StepSize, 1e6),
		check.Open("momentum", p.Training.Momentum, 0, 1),
		check.Open("lambda", p.Training.Lambda, 0, 1e6),
		p.Claims.validate(),
	)
	if err == nil && !slices.IsSorted(p.Queries) {
		err = check.Want("queries", p.Queries, "ascending")
	}
	if err == nil && p.Images != nil {
		err = p.Images.validate()
	}
	if err == nil && p.MadeUp == nil {
		err = check.Want("made_up", "none", "a task")
	}
	if err == nil {
		err = p.MadeUp.validate()
	}
	if err == nil && p.MadeUp.Records < p.Teachers {
		err = check.Want("records", p.MadeUp.Records, "one for each teacher at least")
	}
	return err
}

// NeedsData returns the folder of IDX files that the experiment reads.
func (p *parameters) NeedsData() string {
	if p.Images == nil {
		return ""
	}
	return p.Images.Data
}

// Inputs returns the hashes of the files that the experiment reads.
func (p *parameters) Inputs(ctx context.Context, root string) (map[string]string, error) {
	if p.Images == nil {
		return nil, nil
	}
	files, err := datasets.ImageFiles(root, p.Images.Data)
	if err != nil {
		return nil, err
	}
	return experiment.HashFiles(ctx, files, data.MaxBytes)
}

// Steps: one for each repetition of each task.
func (p *parameters) Steps() int { return len(p.tasks()) * p.Repeats }

const (
	ofImages = "images"
	ofMadeUp = "made-up"
)

func (p *parameters) tasks() []string {
	if p.Images == nil {
		return []string{ofMadeUp}
	}
	return []string{ofImages, ofMadeUp}
}

func (p *parameters) title(name string) string {
	if name == ofImages {
		return p.Images.Title
	}
	return p.MadeUp.Title
}

// outcome is one repetition of one task. Lists go with parameters.Queries.
type outcome struct {
	Majority float64              `json:"majority"` // how often the teachers' majority is right, in percent
	Clear    float64              `json:"clear"`    // accuracy of the student of all labels without noise
	Accuracy map[string][]float64 `json:"accuracy"` // of the students, by the way, in percent
	Agrees   map[string][]float64 `json:"agrees"`   // how often a label is the majority, of table and GNMax
}

// released is a mechanism for so many labels, and scale = β·K of its law.
type released struct {
	mechanism *ensemble.Mechanism
	scale     float64
	worth     float64
}

// mechanisms returns the table and GNMax for so many labels, as a plan within the budget has them: by
// the prior that is presumed where none is stated, and by no votes.
func (p *parameters) mechanisms(ctx context.Context, queries int) (map[string]released, error) {
	unused := errors.New("it is not measured")
	r := plan.Request{
		Stated:  ensemble.Stated{K: p.Teachers, Classes: 2, Affected: new(affected), Neighbours: accountant.ReplaceOne},
		Queries: queries, Budget: accountant.Cost{Epsilon: p.Epsilon, Delta: p.Delta},
		Solve: func(context.Context, constraints.Problem) (*gamma.Table, error) { return nil, unused }}
	planned, err := plan.New(ctx, r)
	if err != nil {
		return nil, err
	}
	prior, err := plan.DefaultLaw(p.Teachers, 2)
	if err != nil {
		return nil, err
	}
	out := map[string]released{}
	for _, c := range planned.Choices {
		if c.Name != ensemble.TableOfAnswers && c.Name != gnmax {
			continue
		}
		l, err := c.Mechanism.LabelLaw(ctx, prior.Histograms(), labellaw.Options{
			Prior: labellaw.Stated{Mean: prior.Mean()}})
		if err != nil {
			return nil, err
		}
		out[c.Name] = released{c.Mechanism, l.Beta * float64(p.Teachers), c.Worth.Labels}
	}
	if len(out) != 2 {
		return nil, fmt.Errorf("%d labels within (%g, %g): there must be a table and gnmax", queries, p.Epsilon, p.Delta)
	}
	return out, nil
}

const gnmax = "gnmax"

func (p *parameters) Run(r *experiment.Run) error {
	made := map[int]map[string]released{} // when it is needed: steps that were done before need none
	found := map[string][]outcome{}
	for _, name := range p.tasks() {
		for repeat := range p.Repeats {
			key := []any{p.Teachers, p.Epsilon, p.Delta, p.Queries, p.L2, p.Training, p.Images, p.MadeUp, repeat, r.Seed}
			o, err := experiment.Step(r, fmt.Sprintf("%s-%d", name, repeat), key, func() (outcome, error) {
				for _, q := range p.Queries {
					if made[q] == nil {
						var err error
						if made[q], err = p.mechanisms(r, q); err != nil {
							return outcome{}, err
						}
					}
				}
				return p.repetition(r, name, repeat, made)
			})
			if err != nil {
				return err
			}
			found[name] = append(found[name], o)
		}
	}
	return p.report(r, found)
}

// repetition trains teachers, draws labels, and trains students.
func (p *parameters) repetition(r *experiment.Run, name string, repeat int, made map[int]map[string]released,
) (o outcome, err error) {
	seed := r.Seed<<16 + uint64(2*repeat)
	var t task
	if name == ofImages {
		t, err = p.Images.task(r, r.Data, rand.New(rand.NewPCG(seed, 1)))
	} else {
		t = p.MadeUp.task(rand.New(rand.NewPCG(seed, 2)))
		seed++
	}
	if err != nil {
		return o, err
	}
	if last := p.Queries[len(p.Queries)-1]; len(t.pool.y) < last {
		return o, fmt.Errorf("the pool of %s has %d queries, and %d labels are to be drawn", name, len(t.pool.y), last)
	}
	size := len(t.private.y) / p.Teachers
	if size == 0 {
		return o, fmt.Errorf("%s has %d private records for %d teachers", name, len(t.private.y), p.Teachers)
	}
	var teachers [][]float64
	for k := range p.Teachers {
		if err := r.Err(); err != nil {
			return o, err
		}
		teachers = append(teachers, p.Training.fit(t.private.part(k*size, (k+1)*size)))
	}
	votes := ones(teachers, t.pool)
	majority := make([]int, len(votes))
	right := 0
	for i, n := range votes {
		if 2*n > p.Teachers {
			majority[i] = 1
		}
		if majority[i] == t.pool.y[i] {
			right++
		}
	}
	o = outcome{Majority: 100 * float64(right) / float64(len(votes)), Accuracy: map[string][]float64{},
		Agrees: map[string][]float64{}}
	w, err := student(t.pool, majority, 0, p.L2)
	if err != nil {
		return o, err
	}
	o.Clear = accuracy(w, t.test)
	for _, q := range p.Queries {
		for mechanism, layered := range map[string][2]string{
			ensemble.TableOfAnswers: {tableLayer, tablePlain}, gnmax: {gnmaxLayer, gnmaxPlain}} {
			m := made[q][mechanism]
			labels := make([]int, q)
			agree := 0
			for i := range labels {
				if labels[i], err = m.mechanism.Simulate(seed, strconv.Itoa(i), []int{p.Teachers - votes[i], votes[i]}); err != nil {
					return o, err
				}
				if labels[i] == majority[i] || 2*votes[i] == p.Teachers {
					agree++
				}
			}
			o.Agrees[mechanism] = append(o.Agrees[mechanism], 100*float64(agree)/float64(q))
			for i, scale := range []float64{m.scale, 0} {
				w, err := student(t.pool, labels, scale, p.L2)
				if err != nil {
					return o, err
				}
				o.Accuracy[layered[i]] = append(o.Accuracy[layered[i]], accuracy(w, t.test))
			}
		}
	}
	return o, nil
}
