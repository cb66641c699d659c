package shuffled

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/experiment/datasets"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/learn/shuffled"
	"github.com/darrm/darrm/learn/shuffled/iteration"
	"github.com/darrm/darrm/learn/train"
)

// trainingParameters: shuffled gradient methods, with and without public data, on one data
// set. Each method is run at every step size and reported at its best one.
type trainingParameters struct {
	Data string `json:"data"` // one of datasets.Names()
	// of the stand-in, or of what the sources leave to chance: see datasets.Load
	DataSeed uint64            `json:"data_seed"`
	Methods  []shuffled.Scheme `json:"methods"`
	Variants []variant         `json:"variants"` // the first one is the main figure's
	Epsilons []float64         `json:"epsilons"`
	Delta    float64           `json:"delta"`
	Epochs   int               `json:"epochs"`
	Clip     float64           `json:"clip"`
	// The sources' own: twice the noise that the target needs, and public gradients that are not cut.
	DoubledNoise    bool `json:"doubled_noise,omitempty"`
	UnclippedPublic bool `json:"unclipped_public,omitempty"`

	StepSizes []float64 `json:"step_sizes,omitempty"` // none is the source's grid of 18
	// Widen goes on along the source's grid while a line's best step size is the largest or
	// the smallest of those tried.
	Widen   bool `json:"widen,omitempty"`
	Repeats int  `json:"repeats"`
	// Bounds are the schemes whose risk is bounded, in the main variant.
	Bounds []shuffled.Scheme `json:"bounds,omitempty"`
	Claims []ordering        `json:"claims,omitempty"`
}

// variant is an order of the private records, and the fractions p that are tried with it.
type variant struct {
	Order     string    `json:"order"` // IG, SO or RR
	Fractions []float64 `json:"fractions"`
}

// ordering is a claim about the main variant: each of Better has, in the mean, Factor times
// less excess risk than each of Worse. It is tested.
type ordering struct {
	Epsilon float64           `json:"epsilon"`
	Better  []shuffled.Scheme `json:"better"`
	Worse   []shuffled.Scheme `json:"worse"`
	Factor  float64           `json:"factor"` // ≥ 1
}

// orders are the orders by their names.
var orders = map[string]iteration.SampleOrder{
	iteration.FixedOrder.String():   iteration.FixedOrder,
	iteration.ShuffledOnce.String(): iteration.ShuffledOnce,
	iteration.Reshuffled.String():   iteration.Reshuffled,
}

// maxRepeats bounds the repeats of a training.
const maxRepeats = 1000

func (p *trainingParameters) Validate() error {
	if err := check.Some("methods, variants and epsilons", len(p.Methods), len(p.Variants),
		len(p.Epsilons)); err != nil {
		return err
	}
	var chosen []string
	for _, v := range p.Variants {
		fraction := check.OpenIn(0, 1)
		if err := cmp.Or(check.Some("fractions", len(v.Fractions)),
			check.Each("fractions", v.Fractions, fraction)); err != nil {
			return err
		}
		chosen = append(chosen, v.Order)
	}
	bounded := func(name string, m shuffled.Scheme) error {
		if !m.IsPrivate() || m == shuffled.DPSGD {
			return check.Want(name, string(m), "private shuffled gradient methods")
		}
		return check.Among(p.Methods)(name, m)
	}
	err := cmp.Or(
		check.Among(datasets.Names())("data", p.Data),
		check.Each("methods", p.Methods, check.Among(shuffled.Schemes())),
		check.Each("order of a variant", chosen, check.Among(slices.Sorted(maps.Keys(orders)))),
		check.Each("epsilons", p.Epsilons, check.OpenIn(0, math.Inf(1))),
		check.Open("delta", p.Delta, 0, 1),
		check.Whole("epochs", p.Epochs, 2, 100_000),
		check.UpTo("clip", p.Clip, 1e6),
		check.Each("step_sizes", p.StepSizes, check.AtMost(1e6)),
		check.Whole("repeats", p.Repeats, 2, maxRepeats),
		check.Each("bounds", p.Bounds, bounded),
	)
	if err == nil && p.Widen && len(p.StepSizes) == 0 {
		err = check.Want("widen", true,
			"left out without step_sizes: the source's grid has no further ones")
	}
	for _, c := range p.Claims {
		if err == nil && !(c.Factor >= 1 && c.Factor <= 1000) {
			err = check.Want("factor", c.Factor, "between 1 and 1000")
		}
		err = cmp.Or(err, check.Among(p.Epsilons)("epsilon of a claim", c.Epsilon),
			experiment.CheckOrdering(c.Better, c.Worse, p.Methods))
	}
	return err
}

func (p *trainingParameters) Inputs(ctx context.Context, root string) (map[string]string, error) {
	return datasets.Inputs(ctx, p.Data, root, p.DataSeed)
}

func (p *trainingParameters) Steps() int {
	n := len(p.trainings())
	if len(p.Bounds) > 0 {
		n++
	}
	return n
}

// config returns the line's configuration, without a step size.
func (p *trainingParameters) config(set datasets.Set, t training) shuffled.Config {
	return shuffled.Config{
		Task: set.Task, Regularizer: set.Regularizer, Start: set.Start,
		Method: t.Method, Fraction: t.Fraction, Epochs: p.Epochs, Order: orders[t.Order], Clip: p.Clip,
		DoubledNoise: p.DoubledNoise && t.Method.IsPrivate(), UnclippedPublic: p.UnclippedPublic,
		Target: accountant.Cost{Epsilon: t.Epsilon, Delta: p.Delta},
		// The source's accounting, whatever is the tightest that is known.
		Mode: iteration.Paper, Conversion: iteration.ConversionClassical,
		// Both parts are drawn from one published set, whose records can be equal by chance.
		SharedRecords: true,
	}
}

// trained holds the results of one line.
type trained struct {
	Noise         float64 `json:"noise"` // σ
	Amplification float64 `json:"amplification"`
	Epsilon       float64 `json:"epsilon"` // what the accountant says; 0 without private data
	StepSize      float64 `json:"step_size"`
	Mean          float64 `json:"mean"` // of the last excess, at this step size
	Std           float64 `json:"std"`
	// Cells are the ends of all runs, by step size, the largest first, then seed; where one
	// diverged, Last is zero. Best are those at StepSize, with their traces.
	Cells []train.Cell `json:"cells"`
	Best  []train.Cell `json:"best"`
}

// gridEdge returns the end of the grid that the best step size is at, as experiment.Edge.
func (x trained) gridEdge() string {
	tried := make([]float64, len(x.Cells))
	for i, c := range x.Cells {
		tried[i] = c.StepSize
	}
	return experiment.Edge(x.StepSize, tried)
}

// laboratory is a data set made ready for training.
type laboratory struct {
	set       datasets.Set
	optimum   train.Optimum
	summary   datasets.Summary
	stepSizes []float64 // those within the cap, tried for every line
	further   []float64 // the source's within the cap, which a line may go on to
	allSizes  int       // how many there were before the cap
	cap       float64   // 2/max(L*, L̃*)
	seeds     []uint64
}

func (p *trainingParameters) laboratory(r *experiment.Run) (laboratory, error) {
	set, err := datasets.Open(r, p.Data, r.Data, p.DataSeed)
	if err != nil {
		return laboratory{}, err
	}
	lab := laboratory{set: set}
	if lab.optimum, err = set.Problem().Optimum(); err != nil {
		return lab, err
	}
	lab.summary = set.DescribeAt(lab.optimum)
	// Above the cap steps can be expansive, so a clipped run may end anywhere, sometimes
	// by luck near the optimum; the amplified account does not hold there either.
	smoothness := max(set.Task.Smoothness(set.Private.MaxNorm()),
		set.Task.Smoothness(set.Public.MaxNorm()))
	lab.cap = 2 / smoothness
	all := p.StepSizes
	if len(all) == 0 {
		all = train.StepSizes()
	}
	lab.allSizes, lab.stepSizes = len(all), train.Below(all, smoothness)
	if p.Widen {
		lab.further = train.Below(train.StepSizes(), smoothness)
	}
	if len(lab.stepSizes) == 0 {
		return lab, fmt.Errorf("step_sizes = %v, but some must be at most 2/L = %.3g", all, lab.cap)
	}
	for i := range p.Repeats {
		seed, err := randsrc.NewSeededStream(r.Seed, streamRepeats+uint64(i)).Uint53()
		if err != nil {
			return lab, err
		}
		lab.seeds = append(lab.seeds, seed)
	}
	return lab, nil
}

// train runs one line at every step size. All lines share the seeds, so that methods are
// compared on the same noise and orders.
func (p *trainingParameters) train(r *experiment.Run, lab laboratory, t training) (trained, error) {
	seeds := lab.seeds
	if !t.dependsOnSeed() {
		seeds = seeds[:1]
	}
	c := p.config(lab.set, t)
	cells, best, err := lab.search(r, c, seeds)
	if err != nil {
		return trained{}, err
	}
	c.StepSize = best.StepSize
	plan, err := shuffled.NewPlan(r, c, lab.set.Private, lab.set.Public)
	if err != nil {
		return trained{}, err
	}
	out := trained{StepSize: best.StepSize, Mean: best.Mean, Std: best.Std, Best: best.Cells}
	if t.Method.IsPrivate() {
		report := plan.Report()
		out.Noise, out.Amplification, out.Epsilon = report.Noise, report.Amplification,
			report.Cost.Epsilon
	}
	for _, cell := range cells {
		if cell.Trace = nil; cell.Diverged {
			cell.Last = train.Point{} // JSON has no place for infinity
		}
		out.Cells = append(out.Cells, cell)
	}
	return out, nil
}

func (p *trainingParameters) Run(r *experiment.Run) error {
	lab, err := p.laboratory(r)
	if err != nil {
		return err
	}
	found := map[training]trained{}
	shared := []any{p.Data, datasets.Hash(lab.set), p.Epochs, p.Clip, p.Delta, lab.stepSizes,
		lab.further, lab.seeds}
	for _, t := range p.trainings() {
		if found[t], err = experiment.Step(r, t.String(), append([]any{t}, shared...),
			func() (trained, error) { return p.train(r, lab, t) }); err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
	}
	var bounds []bounded
	if len(p.Bounds) > 0 {
		if bounds, err = experiment.Step(r, "bounds",
			append([]any{p.Bounds, p.Epsilons, p.Variants[0]}, append(shared, p.bestSteps(found))...),
			func() ([]bounded, error) { return p.bound(r, lab, found) }); err != nil {
			return fmt.Errorf("bounds: %w", err)
		}
	}
	traces, err := p.traces(lab.set.Task.Name(), found)
	if err != nil {
		return err
	}
	r.File("traces.csv", traces)
	return p.report(r, lab, found, bounds)
}

// traces returns the objectives of the best runs as CSV, a row for each epoch.
func (p *trainingParameters) traces(task string, found map[training]trained) ([]byte, error) {
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	stated := func(v float64) string { // by methods that have it
		if v == 0 {
			return ""
		}
		return number(v)
	}
	rows := [][]string{{"dataset", "task", "algorithm", "variant", "eps", "delta", "p", "eta", "seed", "epoch",
		"objective", "excess", "distance_to_opt"}}
	for _, t := range p.trainings() {
		for _, cell := range found[t].Best {
			points := cell.Trace
			if points == nil { // of a run that diverged
				points = []train.Point{cell.Last}
			}
			for _, x := range points {
				rows = append(rows, []string{p.Data, task, string(t.Method), t.Order, stated(t.Epsilon), number(p.Delta),
					stated(t.Fraction), number(cell.StepSize), strconv.FormatUint(cell.Seed, 10), strconv.Itoa(x.Epoch),
					number(x.Objective), number(x.Excess), number(x.Distance)})
			}
		}
	}
	var b bytes.Buffer
	err := csv.NewWriter(&b).WriteAll(rows)
	return b.Bytes(), err
}
