package experiment

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/experiment/datasets"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/learn/shuffled"
	"github.com/darrm/darrm/learn/shuffled/iteration"
	"github.com/darrm/darrm/learn/train"
)

// TrainingParameters: shuffled gradient methods, with and without public data, on one data
// set. Each method is run at every step size and reported at its best one.
type TrainingParameters struct {
	Data      string            `json:"data"`      // one of datasets.Names()
	DataSeed  uint64            `json:"data_seed"` // of the stand-in, or of what the sources leave to chance: see datasets.Load
	Methods   []shuffled.Method `json:"methods"`
	Variants  []Variant         `json:"variants"` // the first one is the main figure's
	Epsilons  []float64         `json:"epsilons"`
	Delta     float64           `json:"delta"`
	Epochs    int               `json:"epochs"`
	Clip      float64           `json:"clip"`
	StepSizes []float64         `json:"step_sizes,omitempty"` // none is the source's grid of 18
	// Widen goes on along the source's grid while a line's best step size is the largest or
	// the smallest of those tried.
	Widen   bool              `json:"widen,omitempty"`
	Repeats int               `json:"repeats"`
	Bounds  []shuffled.Method `json:"bounds,omitempty"` // bound the risk of these, in the main variant
	Claims  []Ordering        `json:"claims,omitempty"`
}

// Variant is an order of the private records, and the fractions p that are tried with it.
type Variant struct {
	Order     string    `json:"order"` // IG, SO or RR
	Fractions []float64 `json:"fractions"`
}

// Ordering is a claim about the main variant: each of Better has, in the mean, Factor times
// less excess risk than each of Worse. It is tested.
type Ordering struct {
	Epsilon float64           `json:"epsilon"`
	Better  []shuffled.Method `json:"better"`
	Worse   []shuffled.Method `json:"worse"`
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

func (p *TrainingParameters) validate() error {
	if !slices.Contains(datasets.Names(), p.Data) {
		return &check.Error{Name: "data", Value: fmt.Sprintf("%q", p.Data), Rule: fmt.Sprintf("one of %q", datasets.Names())}
	}
	if len(p.Methods) == 0 || len(p.Variants) == 0 || len(p.Epsilons) == 0 {
		return &check.Error{Name: "methods, variants and epsilons", Value: "none", Rule: "at least one of each"}
	}
	for i, m := range p.Methods {
		if err := oneOf("methods", m, shuffled.Methods(), p.Methods[:i]); err != nil {
			return err
		}
	}
	for i, v := range p.Variants {
		if _, ok := orders[v.Order]; !ok {
			return &check.Error{Name: "order", Value: fmt.Sprintf("%q", v.Order), Rule: "IG, SO or RR"}
		}
		if slices.ContainsFunc(p.Variants[:i], func(w Variant) bool { return w.Order == v.Order }) {
			return &check.Error{Name: "variants", Value: v.Order + " twice", Rule: "different"}
		}
		if len(v.Fractions) == 0 {
			return &check.Error{Name: "fractions", Value: "none", Rule: "at least one"}
		}
		for j, f := range v.Fractions {
			if !(f > 0 && f < 1) || slices.Contains(v.Fractions[:j], f) {
				return &check.Error{Name: "fractions", Value: f, Rule: "different numbers in (0,1)"}
			}
		}
	}
	for i, eps := range p.Epsilons {
		if err := check.Epsilon("epsilons", eps); err != nil {
			return err
		}
		if eps == 0 || slices.Contains(p.Epsilons[:i], eps) {
			return &check.Error{Name: "epsilons", Value: eps, Rule: "different numbers above 0"}
		}
	}
	if !(p.Delta > 0 && p.Delta < 1) {
		return &check.Error{Name: "delta", Value: p.Delta, Rule: "in (0,1)"}
	}
	if p.Epochs < 2 || p.Epochs > 100_000 {
		return &check.Error{Name: "epochs", Value: p.Epochs, Rule: "between 2 and 100000"}
	}
	if !(p.Clip > 0 && p.Clip <= 1e6) {
		return &check.Error{Name: "clip", Value: p.Clip, Rule: "in (0, 1e6]"}
	}
	for i, eta := range p.StepSizes {
		if !(eta > 0 && eta <= 1e6) || slices.Contains(p.StepSizes[:i], eta) {
			return &check.Error{Name: "step_sizes", Value: eta, Rule: "different numbers in (0, 1e6]"}
		}
	}
	if p.Repeats < 2 || p.Repeats > maxRepeats {
		return &check.Error{Name: "repeats", Value: p.Repeats, Rule: fmt.Sprintf("between 2 and %d", maxRepeats)}
	}
	for i, m := range p.Bounds {
		if err := oneOf("bounds", m, p.Methods, p.Bounds[:i]); err != nil {
			return err
		}
		if !m.IsPrivate() || m == shuffled.DPSGD {
			return &check.Error{Name: "bounds", Value: string(m), Rule: "private shuffled gradient methods"}
		}
	}
	if p.Widen && len(p.StepSizes) == 0 {
		return &check.Error{Name: "widen", Value: true, Rule: "left out without step_sizes: the source's grid has no further ones"}
	}
	return p.validateClaims()
}

func (p *TrainingParameters) validateClaims() error {
	for _, c := range p.Claims {
		if !slices.Contains(p.Epsilons, c.Epsilon) {
			return &check.Error{Name: "epsilon of a claim", Value: c.Epsilon, Rule: fmt.Sprintf("among %v", p.Epsilons)}
		}
		if !(c.Factor >= 1 && c.Factor <= 1000) {
			return &check.Error{Name: "factor", Value: c.Factor, Rule: "between 1 and 1000"}
		}
		if len(c.Better) == 0 || len(c.Worse) == 0 {
			return &check.Error{Name: "better and worse", Value: "none", Rule: "at least one method of each"}
		}
		for i, m := range slices.Concat(c.Better, c.Worse) {
			if err := oneOf("methods of a claim", m, p.Methods, slices.Concat(c.Better, c.Worse)[:i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// oneOf wants m among the allowed ones and not among those before it.
func oneOf(name string, m shuffled.Method, allowed, before []shuffled.Method) error {
	if !slices.Contains(allowed, m) {
		return &check.Error{Name: name, Value: fmt.Sprintf("%q", m), Rule: fmt.Sprintf("among %q", allowed)}
	}
	if slices.Contains(before, m) {
		return &check.Error{Name: name, Value: fmt.Sprintf("%q twice", m), Rule: "different"}
	}
	return nil
}

func (p *TrainingParameters) inputs(ctx context.Context, root string) (map[string]string, error) {
	return datasetInputs(ctx, p.Data, root, p.DataSeed)
}

func (p *TrainingParameters) steps() int {
	n := len(p.trainings())
	if len(p.Bounds) > 0 {
		n++
	}
	return n
}

// training is one line of a figure: a method, and what it is run with.
type training struct {
	Method   shuffled.Method
	Order    string  // "" where no order is chosen
	Fraction float64 // 0 where the method has none
	Epsilon  float64 // 0 where the method has none
}

// trainings returns all lines, each once: methods without privacy do not depend on ε, and
// Public Only and DP-SGD visit private records in no order that could be chosen.
func (p *TrainingParameters) trainings() []training {
	var out []training
	add := func(t training) {
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	for _, m := range p.Methods {
		for _, v := range p.Variants {
			for _, f := range v.Fractions {
				for _, eps := range p.Epsilons {
					add(lineOf(m, v.Order, f, eps))
				}
			}
		}
	}
	return out
}

// lineOf returns the line on which the method appears with such parameters.
func lineOf(m shuffled.Method, order string, fraction, epsilon float64) training {
	t := training{m, order, fraction, epsilon}
	if m == shuffled.PublicOnly || m == shuffled.DPSGD {
		t.Order = ""
	}
	if !m.UsesFraction() {
		t.Fraction = 0
	}
	if !m.IsPrivate() {
		t.Epsilon = 0
	}
	return t
}

func (t training) String() string {
	parts := []string{string(t.Method)}
	if t.Order != "" {
		parts = append(parts, t.Order)
	}
	if t.Fraction > 0 {
		parts = append(parts, "p"+strconv.FormatFloat(t.Fraction, 'g', -1, 64))
	}
	if t.Epsilon > 0 {
		parts = append(parts, "eps"+strconv.FormatFloat(t.Epsilon, 'g', -1, 64))
	}
	return strings.Join(parts, "-")
}

// random says whether runs from different seeds can differ.
func (t training) random() bool {
	return t.Method.IsPrivate() || t.Method == shuffled.ShuffleG && t.Order != iteration.FixedOrder.String()
}

// config returns the line's configuration, without a step size.
func (p *TrainingParameters) config(set datasets.Set, t training) shuffled.Config {
	return shuffled.Config{
		Task: set.Task, Regularizer: set.Regularizer, Start: set.Start,
		Method: t.Method, Fraction: t.Fraction, Epochs: p.Epochs, Order: orders[t.Order], Clip: p.Clip,
		Target: accountant.Cost{Epsilon: t.Epsilon, Delta: p.Delta},
		// The source's accounting, whatever is the tightest that is known.
		Mode: iteration.Paper, Conversion: iteration.ConversionClassical,
	}
}

// trained is what was found for one line.
type trained struct {
	Noise         float64       `json:"noise"` // σ
	Amplification float64       `json:"amplification"`
	Epsilon       float64       `json:"epsilon"` // what the accountant says; 0 without private data
	StepSize      float64       `json:"step_size"`
	Mean          float64       `json:"mean"` // of the last excess, at this step size
	Std           float64       `json:"std"`
	Cells         []trainedCell `json:"cells"` // by step size, then seed
	Traces        [][]float64   `json:"traces"`
	Objectives    [][]float64   `json:"objectives"` // as Traces, which are excesses, by seed and epoch
	Distances     [][]float64   `json:"distances"`
}

// edge says where the best step size ends the grid of those tried: a better one may lie
// beyond. It is "" inside the grid, and for a grid of one.
func (x trained) edge() string {
	first, last := x.Cells[0].StepSize, x.Cells[len(x.Cells)-1].StepSize
	switch {
	case first == last:
		return ""
	case x.StepSize == max(first, last):
		return "largest"
	case x.StepSize == min(first, last):
		return "smallest"
	}
	return ""
}

// trainedCell is the end of one run.
type trainedCell struct {
	StepSize float64 `json:"step_size"`
	Seed     uint64  `json:"seed"`
	Excess   float64 `json:"excess"` // 0 where it diverged
	Diverged bool    `json:"diverged"`
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

func (p *TrainingParameters) laboratory(r *run) (laboratory, error) {
	set, err := dataset(r, p.Data, r.Data, p.DataSeed)
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
	smoothness := max(set.Task.Smoothness(set.Private.MaxNorm()), set.Task.Smoothness(set.Public.MaxNorm()))
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
func (p *TrainingParameters) train(r *run, lab laboratory, t training) (trained, error) {
	seeds := lab.seeds
	if !t.random() {
		seeds = seeds[:1]
	}
	c := p.config(lab.set, t)
	cells, best, err := lab.search(r, c, seeds)
	if err != nil {
		return trained{}, err
	}
	c.StepSize = best.StepSize
	plan, err := shuffled.NewPlan(c, lab.set.Private, lab.set.Public)
	if err != nil {
		return trained{}, err
	}
	out := trained{StepSize: best.StepSize, Mean: best.Mean, Std: best.Std}
	if t.Method.IsPrivate() {
		report := plan.Report()
		out.Noise, out.Amplification, out.Epsilon = report.Noise, report.Amplification, report.Cost.Epsilon
	}
	for _, cell := range cells {
		x := trainedCell{StepSize: cell.StepSize, Seed: cell.Seed, Diverged: cell.Diverged}
		if !cell.Diverged {
			x.Excess = cell.Last.Excess
		}
		out.Cells = append(out.Cells, x)
	}
	for _, cell := range best.Cells {
		excess, objective, distance := make([]float64, len(cell.Trace)), make([]float64, len(cell.Trace)), make([]float64, len(cell.Trace))
		for i, x := range cell.Trace {
			excess[i], objective[i], distance[i] = x.Excess, x.Objective, x.Distance
		}
		out.Traces, out.Objectives, out.Distances = append(out.Traces, excess), append(out.Objectives, objective), append(out.Distances, distance)
	}
	return out, nil
}

// search runs the configuration at every step size, and at further ones while the best is
// the largest or the smallest tried. The cells are by step size, the largest first, then
// seed.
func (lab laboratory) search(ctx context.Context, c shuffled.Config, seeds []uint64) ([]train.Cell, train.Tuned, error) {
	grid := c.Grid(lab.set.Private, lab.set.Public)
	grid.StepSizes, grid.Seeds, grid.KeepTraces = lab.stepSizes, seeds, true
	var cells []train.Cell
	for {
		more, err := grid.Run(ctx, lab.set.Problem().Objective, lab.optimum)
		if err != nil {
			return nil, train.Tuned{}, err
		}
		for i := range more {
			// A loss beyond the range of numbers at any time counts as divergence: JSON and
			// pictures have no place for it.
			if slices.ContainsFunc(more[i].Trace, func(x train.Point) bool {
				return math.IsNaN(x.Excess+x.Distance) || math.IsInf(x.Excess+x.Distance, 0)
			}) {
				more[i].Diverged = true
			}
			if more[i].Diverged {
				more[i].Last.Excess = math.Inf(1)
			}
		}
		cells = append(cells, more...)
		slices.SortStableFunc(cells, func(a, b train.Cell) int { return cmp.Compare(b.StepSize, a.StepSize) })
		best, err := train.Best(cells)
		if err != nil {
			return nil, best, err
		}
		next, ok := lab.beyond(best.StepSize, cells[0].StepSize, cells[len(cells)-1].StepSize)
		if !ok {
			return cells, best, nil
		}
		grid.StepSizes = []float64{next}
	}
}

// beyond returns the step size that is next to the best one, where that is the largest or
// the smallest of those tried and there is a further one.
func (lab laboratory) beyond(best, largest, smallest float64) (float64, bool) {
	larger, smaller := math.Inf(1), 0.0
	for _, eta := range lab.further {
		if eta > largest {
			larger = min(larger, eta)
		}
		if eta < smallest {
			smaller = max(smaller, eta)
		}
	}
	if best == largest && !math.IsInf(larger, 1) {
		return larger, true
	}
	return smaller, best == smallest && smaller > 0
}

// cells returns the runs at the best step size as package train writes them.
func (x trained) cells() []train.Cell {
	var out []train.Cell
	for _, c := range x.Cells {
		if c.StepSize != x.StepSize {
			continue
		}
		i := len(out)
		cell := train.Cell{StepSize: c.StepSize, Seed: c.Seed}
		for epoch, excess := range x.Traces[i] {
			cell.Trace = append(cell.Trace, train.Point{Epoch: epoch, Objective: x.Objectives[i][epoch], Excess: excess, Distance: x.Distances[i][epoch]})
		}
		cell.Last = cell.Trace[len(cell.Trace)-1]
		out = append(out, cell)
	}
	return out
}

func (p *TrainingParameters) run(r *run) error {
	lab, err := p.laboratory(r)
	if err != nil {
		return err
	}
	found := map[training]trained{}
	shared := []any{p.Data, hashSet(lab.set), p.Epochs, p.Clip, p.Delta, lab.stepSizes, lab.further, lab.seeds}
	for _, t := range p.trainings() {
		if found[t], err = step(r, t.String(), append([]any{t}, shared...), func() (trained, error) { return p.train(r, lab, t) }); err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
	}
	var bounds []bounded
	if len(p.Bounds) > 0 {
		if bounds, err = step(r, "bounds", append([]any{p.Bounds, p.Epsilons, p.Variants[0]}, append(shared, p.bestSteps(found))...), func() ([]bounded, error) { return p.bound(r, lab, found) }); err != nil {
			return fmt.Errorf("bounds: %w", err)
		}
	}
	var b bytes.Buffer
	w, err := train.NewTraceWriter(&b)
	if err != nil {
		return err
	}
	for _, t := range p.trainings() {
		if err := w.Write(p.config(lab.set, t).TraceLabels(p.Data), found[t].cells()); err != nil {
			return err
		}
	}
	r.files["traces.csv"] = b.Bytes()
	return p.tell(r, lab, found, bounds)
}
