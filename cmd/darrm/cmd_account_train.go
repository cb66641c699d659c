package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/learn/model"
	"github.com/darrm/darrm/learn/shuffled"
	"github.com/darrm/darrm/learn/shuffled/iteration"
	"github.com/darrm/darrm/learn/train"
)

// accountTrainFlags are the flags of account train.
type accountTrainFlags struct {
	iterationFlags
	selectFlags
	task       string // of --grid
	n          int
	smoothness float64
	nonConvex  bool
	released   string
	visible    bool
	calibrates bool // --eps was given, and --noise is to be found
}

func newAccountShuffled(a *app) *cobra.Command {
	var f accountTrainFlags
	c := &cobra.Command{
		Use:   "shuffled --n records --epochs K --clip G --step-size η --delta δ",
		Short: "Tell what training with shuffled gradients costs, or the noise for a target",
		Long: `Tell what training with shuffled gradients costs by every way of accounting: the ε of
a given --noise, or the noise that --eps needs.

"best", which train takes by default, is the smallest figure of those whose conditions
hold; "paper" is the source's; docs/training-accounting.md has the proofs of the others.
--mode tells of one only. Noise on public steps counts only where the losses are convex,
clipping keeps steps non-expansive, and η ≤ 2/L for every sample (--smoothness);
otherwise "paper" and "gaussian-exact" say why it does not, and the others refuse. The
figures hold for shuffled data under replacement of one record; there is no Poisson
sampling here.

m counts the noise of how many steps covers the worst record, ρ is the Rényi divergence
of order α over α (none where privacy losses are used instead), and more may not be
released than the last column says.

With --grid it prices a choice among candidates, as train shuffled --grid takes it, with the
flags --task and --score that say how candidates are compared.`,
		Example: `  darrm account train shuffled --n 1000 --epochs 50 --clip 10 --step-size 1e-3 --smoothness 1 --delta 1e-6 --eps 1
  darrm account train shuffled --method interleaved --n 1000 --clip 1 --step-size 0.1 --smoothness 1 \
    --delta 1e-6 --noise 20
  darrm account train shuffled --n 1000 --epochs 50 --clip 10 --smoothness 1 --delta 1e-6 --eps 1 \
    --task logistic --grid step-size=1e-4,1e-3,1e-2`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c, a) },
	}
	f.registerGrid(c)
	f.registerMode(c, iteration.Best)
	f.selectFlags.register(c)
	fl := c.Flags()
	fl.StringVar(&f.task, "task", "", "with --grid: the loss, \"mean\", \"ridge\" or \"logistic\", by which --score has its default")
	oneOf(c, "task", slices.Sorted(maps.Keys(lossNames))...)
	fl.IntVar(&f.n, "n", 0, "private records, which is also the number of steps in an epoch")
	fl.Float64Var(&f.smoothness, "smoothness", 0, "L, the largest smoothness of any sample's loss, private or public (default unknown)")
	fl.BoolVar(&f.nonConvex, "non-convex", false, "the losses are not convex, or clipping may break contraction")
	fl.StringVar(&f.released, "released", "last", "what others may see: the \"last\" model, the model after each of the \"epochs\", or after \"every\" step")
	oneOf(c, "released", slices.Sorted(maps.Keys(releasedNames))...)
	fl.BoolVar(&f.visible, "order-visible", false, "others may learn in which order records were visited")
	return c
}

// registerGrid adds the flags that a candidate may have of its own: those of train shuffled.
func (f *accountTrainFlags) registerGrid(c *cobra.Command) {
	f.iterationFlags.register(c)
	registerSizes(c, new(lossFlags), ": changes no price, and is here for --grid")
}

// releasedNames are the values of --released.
var releasedNames = map[string]iteration.Released{"last": iteration.LastIterate, "epochs": iteration.EpochEnds, "every": iteration.EveryIterate}

// modeRow is what one way of accounting says.
type modeRow struct {
	Mode       string     `json:"mode"`
	Conversion string     `json:"conversion"`
	Epsilon    *float64   `json:"epsilon,omitempty"`
	Delta      float64    `json:"delta"`
	Basis      *costBasis `json:"account,omitempty"`
	Refused    string     `json:"refused,omitempty"`

	report iteration.Report
}

func (f *accountTrainFlags) run(c *cobra.Command, a *app) error {
	if err := f.prepare(c, new(accountTrainFlags).registerGrid); err != nil {
		return err
	}
	if err := require(c, "n", "clip", "step-size", "delta", "eps|noise"); err != nil {
		return err
	}
	if c.Flags().Changed("noise") && !(f.noise >= 0) {
		return usagef("noise = %v, but it must be ≥ 0", f.noise)
	}
	f.calibrates = c.Flags().Changed("eps")
	if len(f.points) > 0 {
		return f.choose(c, a)
	}
	steps, err := f.steps(c)
	if err != nil {
		return err
	}
	var rows []modeRow
	var first error
	for _, way := range iteration.Ways(iteration.Mode(f.mode), iteration.Conversion(f.conversion)) {
		row := modeRow{Mode: string(way.Mode), Conversion: string(way.Conversion), Delta: f.delta}
		r, err := pricing(c, a, func() (iteration.Report, error) { return f.report(c, steps, way.Mode, way.Conversion) })
		if interrupted := c.Context().Err(); interrupted != nil {
			return interrupted // no mode was refused
		}
		if err == nil {
			basis := newCostBasis(r)
			row.Epsilon, row.Basis, row.report = finite(r.Cost.Epsilon), &basis, r
			row.Conversion = string(r.Conversion)
		} else {
			row.Refused = err.Error()
			first = cmp.Or(first, err)
		}
		rows = append(rows, row)
	}
	// Parameters that are out of range are refused by every way.
	if !slices.ContainsFunc(rows, func(r modeRow) bool { return r.Refused == "" }) {
		return trainingError(first)
	}
	if a.json {
		return a.deliverJSON("", rows)
	}
	return a.print(func(w *terminal.Page) error { return f.render(w, steps, rows) })
}

// choose prices a choice among the candidates of --grid.
func (f *accountTrainFlags) choose(c *cobra.Command, a *app) error {
	if err := require(c, "eps", "task"); err != nil {
		return err
	}
	task := lossNames[f.task]
	plan, err := pricing(c, a, func() (train.Plan, error) {
		return f.plan(f.n, 0, &f.privacyFlags, task.Name(), model.LinkOf(task), func() (train.Plan, error) { return f.quote(c) })
	})
	if err != nil {
		return err
	}
	rows, err := pricing(c, a, plan.Compare)
	if err != nil {
		return err
	}
	return deliverPrice(a, plan.Price(), rows)
}

// quote prices the flags as they are, which a candidate of --grid may have changed.
func (f *accountTrainFlags) quote(c *cobra.Command) (train.Plan, error) {
	steps, err := f.steps(c)
	if err != nil {
		return nil, err
	}
	steps.Mode, steps.Conversion = iteration.Mode(f.mode), iteration.Conversion(f.conversion)
	steps, report, err := steps.Calibrate(c.Context(), f.target())
	if err != nil {
		return nil, err
	}
	return shuffled.Quote(shuffled.Method(f.method), f.n, steps, report)
}

// steps returns the epochs of the method with private data, which are alike.
func (f *accountTrainFlags) steps(c *cobra.Command) (steps iteration.Steps, err error) {
	method := shuffled.Method(f.method)
	switch method {
	case shuffled.DPSGD:
		return steps, usagef("method = %q is no shuffled method: darrm train --dry-run has its figure", method)
	case shuffled.ShuffleG:
		return steps, usagef("method = %q has no noise: no ε holds", method)
	case shuffled.PublicOnly:
		return steps, usagef("method = %q uses no private data: it costs nothing", method)
	}
	fraction := 0.0
	if method.UsesFraction() {
		fraction = f.fraction
	} else if c.Flags().Changed("fraction") {
		return steps, usagef("--fraction: %s has no public part to leave", method)
	}
	schedule, err := method.Schedule(f.n, f.epochs, fraction)
	if err != nil {
		return steps, err
	}
	r := schedule[slices.IndexFunc(schedule, func(r shuffled.Block) bool { return r.Private > 0 })]
	noise, public := r.Noise, r.PublicNoise
	if !f.calibrates {
		noise, public = noise*f.noise, public*f.noise
	}
	return iteration.Steps{
		Epochs: r.Epochs, Records: f.n, Private: r.Private, Clip: f.clip, Noise: noise, PublicNoise: public,
		Order: orderNames[f.order], OrderSecret: !f.visible, Released: releasedNames[f.released],
		StepSize: f.stepSize, Smoothness: f.smoothness, Convex: !f.nonConvex, ClipKeepsContraction: !f.nonConvex,
		ConvexRegulariser: true, Neighbours: accountant.ReplaceOne,
	}, nil
}

func (f *accountTrainFlags) report(c *cobra.Command, e iteration.Steps, mode iteration.Mode, conversion iteration.Conversion) (iteration.Report, error) {
	e.Mode, e.Conversion = mode, conversion
	if !f.calibrates {
		return e.Report(f.delta)
	}
	_, r, err := e.Calibrate(c.Context(), accountant.Cost{Epsilon: f.epsilon, Delta: f.delta})
	return r, err
}

func (f *accountTrainFlags) render(w *terminal.Page, e iteration.Steps, rows []modeRow) error {
	w.Text("  ", fmt.Sprintf("%s: K = %d epochs of n = %d steps, order %s, clip G = %g, step size η = %g; δ = %g", f.method, f.epochs, f.n, strings.ToUpper(f.order), f.clip, f.stepSize, f.delta))
	w.Text("  ", fmt.Sprintf("K_p = %d epochs with n_d = %d private steps; neighbours %s", e.Epochs, e.Private, e.Neighbours))
	l := "smoothness unknown"
	if f.smoothness > 0 {
		l = fmt.Sprintf("smoothness L = %g", f.smoothness)
	}
	if fails := e.Contraction(); len(fails) > 0 {
		w.Text("  ", fmt.Sprintf("%s: steps are not known to be non-expansive: %s", l, strings.Join(fails, "; ")))
	} else {
		w.Text("  ", l+": steps are non-expansive")
	}
	w.Printf("\n")
	var table [][]string
	var notes []string
	note := func(s string) {
		if !slices.Contains(notes, s) {
			notes = append(notes, s)
		}
	}
	for _, r := range rows {
		name := r.Mode
		if r.Mode == string(iteration.Best) && r.Refused == "" {
			name = fmt.Sprintf("best: %s", r.report.Mode)
		}
		if r.Refused != "" {
			table = append(table, []string{name, orDash(r.Conversion), "refused", "-", "-", "-", "-", "-", "-"})
			note(fmt.Sprintf("%s is refused: %s", name, r.Refused))
			continue
		}
		epsilon := "inf"
		if r.Epsilon != nil {
			epsilon = num.Outward(*r.Epsilon, 6, true)
		}
		released := r.report.Released.String()
		if r.Epsilon == nil {
			released = "nothing"
		}
		rho, alpha := "inf", "-"
		if byLosses(r.report) {
			rho = "-"
		} else if !math.IsInf(r.report.Rho, 1) {
			rho = num.Outward(r.report.Rho, 6, true)
		}
		if r.report.Alpha > 0 {
			alpha = fmt.Sprintf("%.5g", r.report.Alpha)
		}
		table = append(table, []string{
			name, orDash(r.Conversion), epsilon, fmt.Sprintf("%.6g", r.report.Noise), fmt.Sprintf("%.6g", r.report.PublicNoise),
			fmt.Sprintf("%.4g", r.report.Amplification), rho, alpha, released,
		})
		for _, s := range r.report.Fallback {
			note(fmt.Sprintf("%s: noise on public steps does not count: %s", name, s))
		}
		for _, s := range r.report.Warnings {
			note(fmt.Sprintf("%s: %s", name, s))
		}
	}
	if err := w.Table(terminal.Table{Header: []string{"accounting", "conversion", "ε", "σ, private", "σ, public", "m", "ρ", "α", "may be released"}, Rows: table}); err != nil {
		return err
	}
	for _, n := range notes {
		w.Text("  ", n)
	}
	return nil
}

// orDash shows that there is nothing to show.
func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// finite returns a number for JSON, which has no infinities.
func finite(x float64) *float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil
	}
	return &x
}
