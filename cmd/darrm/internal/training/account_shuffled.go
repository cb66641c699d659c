package training

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/learn/model"
	"github.com/darrm/darrm/learn/shuffled"
	"github.com/darrm/darrm/learn/shuffled/iteration"
	"github.com/darrm/darrm/learn/train"
)

// accountShuffled has the flags of account train shuffled. Flags state what training would take
// from the records.
type accountShuffled struct {
	ShuffledFlags
	selectFlags
	numbers  []int // of records, each of which is priced
	forecast shuffled.Forecast
	released string
}

func newAccountShuffled(a *cli.App, k family) *cobra.Command {
	var f accountShuffled
	c := k.accounts.command(k.name)
	c.RunE = func(c *cobra.Command, _ []string) error { return f.run(c, a) }
	f.registerGrid(c)
	f.registerMode(c, iteration.Best)
	f.selectFlags.register(c)
	cli.Register(c, &f.forecast, "smoothness", "non-convex", "order-visible")
	cli.Enum(c, &f.Task, "task",
		"with --grid: the loss, \"mean\", \"ridge\" or \"logistic\", which decides the default of --score",
		slices.Sorted(maps.Keys(lossNames))...)
	c.Flags().IntSliceVar(&f.numbers, "n", nil,
		"private records, which is also the number of steps in an epoch; or several to price each")
	f.released = "last"
	cli.Enum(c, &f.released, "released",
		"what others may see: the \"last\" model, the model after each of the \"epochs\", or after "+
			"\"every\" step", slices.Sorted(maps.Keys(releasedNames))...)
	return c
}

func (f *accountShuffled) registerGrid(c *cobra.Command) {
	f.registerSteps(c, ": changes no price, and is here for --grid")
}

// releasedNames are the values of --released.
var releasedNames = map[string]iteration.Released{"last": iteration.LastIterate,
	"epochs": iteration.EpochEnds, "every": iteration.EveryIterate}

// modeRow is the result of one mode of accounting, in JSON.
type modeRow struct {
	Mode       string     `json:"mode"`
	Conversion string     `json:"conversion"`
	Epsilon    *float64   `json:"epsilon,omitempty"`
	Delta      float64    `json:"delta"`
	Basis      *costBasis `json:"account,omitempty"`
	Refused    string     `json:"refused,omitempty"`

	report iteration.Report
}

func (f *accountShuffled) run(c *cobra.Command, a *cli.App) error {
	if err := f.prepare(c, new(accountShuffled).registerGrid); err != nil {
		return err
	}
	if err := cli.Require(c, "n", "clip", "step-size", "delta", "eps|noise"); err != nil {
		return err
	}
	if c.Flags().Changed("noise") && !(f.Options.Noise >= 0) {
		return cli.Usagef("noise = %v, but it must be ≥ 0", f.Options.Noise)
	}
	if len(f.points) > 0 && len(f.numbers) > 1 {
		return cli.Usagef("--grid goes with one --n")
	}
	f.forecast.Records = f.numbers[0]
	if len(f.points) > 0 {
		return f.choose(c, a)
	}
	if len(f.numbers) > 1 {
		return f.runEach(c, a)
	}
	steps, rows, best, err := f.ways(c, a)
	if err != nil {
		return err
	}
	sayWeakness(a, best, f.forecast.Records)
	return a.Show(rows, func(w *terminal.Page) error { return f.render(w, steps, rows) })
}

// pricedNumber is a number of records with all modes of accounting, in JSON.
type pricedNumber struct {
	Records int       `json:"records"`
	Modes   []modeRow `json:"accounts"`
}

// runEach prices each number of records, and prints the account that training would use of each.
func (f *accountShuffled) runEach(c *cobra.Command, a *cli.App) error {
	header := []string{"accounting", "ε", "δ", "σ, private", "σ, public"}
	return deliverEach(a, f.numbers, header, func(n int) (pricedNumber, accountant.Cost, []string, error) {
		f.forecast.Records = n
		_, rows, best, err := f.ways(c, a)
		if err != nil {
			return pricedNumber{}, best, nil, err
		}
		// The account that training uses: the best of all, or the one that is stated.
		i := slices.IndexFunc(rows, func(r modeRow) bool { return r.Refused == "" })
		r := rows[max(i, slices.IndexFunc(rows, func(r modeRow) bool {
			return r.Refused == "" && r.Mode == string(iteration.Best)
		}))]
		return pricedNumber{n, rows}, best, []string{string(r.report.Mode), orInf(r.report.Cost.Epsilon),
			num.Outward(r.Delta, 6, true), fmt.Sprintf("%.6g", r.report.Noise),
			fmt.Sprintf("%.6g", r.report.PublicNoise)}, nil
	})
}

// ways accounts for the training by every mode, and returns the least cost of them.
func (f *accountShuffled) ways(c *cobra.Command, a *cli.App) (steps iteration.Steps, rows []modeRow,
	best accountant.Cost, err error) {
	forecast, err := f.stated(c)
	if err != nil {
		return steps, nil, best, err
	}
	if steps, err = forecast.Steps(); err != nil {
		return steps, nil, best, err
	}
	var first error
	for _, way := range iteration.Ways(steps.Mode, steps.Conversion) {
		row := modeRow{Mode: string(way.Mode), Conversion: string(way.Conversion), Delta: f.Delta}
		e := steps
		e.Mode, e.Conversion = way.Mode, way.Conversion
		r, err := pricing(c, a, func() (iteration.Report, error) { return f.report(c, e) })
		if interrupted := c.Context().Err(); interrupted != nil {
			return steps, nil, best, interrupted // no mode was refused
		}
		if err == nil {
			basis := newCostBasis(r)
			row.Epsilon, row.Basis, row.report = cli.Finite(r.Cost.Epsilon), &basis, r
			row.Conversion = string(r.Conversion)
		} else {
			row.Refused = err.Error()
			first = cmp.Or(first, err)
		}
		rows = append(rows, row)
	}
	// Every mode refuses parameters that are out of range.
	if !slices.ContainsFunc(rows, func(r modeRow) bool { return r.Refused == "" }) {
		return steps, nil, best, first
	}
	best = accountant.Cost{Epsilon: math.Inf(1), Delta: f.Delta}
	for _, r := range rows {
		if r.Epsilon != nil {
			best.Epsilon = min(best.Epsilon, *r.Epsilon)
		}
	}
	return steps, rows, best, nil
}

// stated returns the forecast of the flags as they are, which a candidate of --grid may have
// changed.
func (f *accountShuffled) stated(c *cobra.Command) (o shuffled.Forecast, err error) {
	switch method := shuffled.Scheme(f.Method); method {
	case shuffled.DPSGD:
		return o, cli.Usagef("method = %q is no shuffled method: darrm train --dry-run has its figure",
			method)
	case shuffled.ShuffleG:
		return o, cli.Usagef("method = %q has no noise: no ε holds", method)
	case shuffled.PublicOnly:
		return o, cli.Usagef("method = %q uses no private data: it costs nothing", method)
	}
	o = f.forecast
	o.Released = releasedNames[f.released]
	o.Config, err = f.settings(c)
	return o, err
}

// choose prices a choice among the candidates of --grid.
func (f *accountShuffled) choose(c *cobra.Command, a *cli.App) error {
	if err := cli.Require(c, "eps", "task"); err != nil {
		return err
	}
	task := lossNames[f.Task]
	return deliverPlan(c, a, f.forecast.Records, func() (train.Plan, error) {
		return f.selectFlags.plan(f.forecast.Records, 0, &f.privacyFlags, task.Name(), model.LinkOf(task),
			func() (train.Plan, error) {
				o, err := f.stated(c)
				if err != nil {
					return train.Plan{}, err
				}
				return o.Quote(c.Context())
			})
	})
}

// report accounts for the noise that is given, or for what --eps needs.
func (f *accountShuffled) report(c *cobra.Command,
	e iteration.Steps) (r iteration.Report, err error) {
	if c.Flags().Changed("eps") {
		_, r, err = e.Calibrate(c.Context(), f.target())
		return r, err
	}
	e.Noise, e.PublicNoise = e.Noise*f.Options.Noise, e.PublicNoise*f.Options.Noise
	return e.Report(f.Delta)
}

func (f *accountShuffled) render(w *terminal.Page, e iteration.Steps, rows []modeRow) error {
	w.Text("  ", fmt.Sprintf("%s: K = %d epochs of n = %d steps, order %s, clip G = %g, step size η "+
		"= %g; δ = %g", f.Method, f.Options.Epochs, f.forecast.Records, strings.ToUpper(f.order), f.Options.Clip,
		f.Options.StepSize, f.Delta))
	w.Text("  ", fmt.Sprintf("K_p = %d epochs with n_d = %d private steps; neighbours %s", e.Epochs,
		e.Private, e.Neighbours))
	l := "smoothness unknown"
	if f.forecast.Smoothness > 0 {
		l = fmt.Sprintf("smoothness L = %g", f.forecast.Smoothness)
	}
	if fails := e.Contraction(); len(fails) > 0 {
		w.Text("  ", fmt.Sprintf("%s: steps are not known to be non-expansive: %s", l,
			strings.Join(fails, "; ")))
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
			table = append(table, []string{name, cmp.Or(r.Conversion, "-"), "refused", "-", "-", "-", "-", "-",
				"-"})
			note(fmt.Sprintf("%s is refused: %s", name, r.Refused))
			continue
		}
		released := r.report.Released.String()
		if r.Epsilon == nil {
			released = "nothing"
		}
		rho, alpha := orInf(r.report.Rho), "-"
		if byLosses(r.report) {
			rho = "-"
		}
		if r.report.Alpha > 0 {
			alpha = fmt.Sprintf("%.5g", r.report.Alpha)
		}
		table = append(table, []string{
			name, cmp.Or(r.Conversion, "-"), orInf(r.report.Cost.Epsilon), fmt.Sprintf("%.6g", r.report.Noise),
			fmt.Sprintf("%.6g", r.report.PublicNoise),
			fmt.Sprintf("%.4g", r.report.Amplification), rho, alpha, released,
		})
		for _, s := range r.report.Fallback {
			note(fmt.Sprintf("%s: noise on public steps does not count: %s", name, s))
		}
		for _, s := range r.report.Warnings {
			note(fmt.Sprintf("%s: %s", name, s))
		}
	}
	if err := w.Table(terminal.TextTable{Header: []string{"accounting", "conversion", "ε",
		"σ, private",
		"σ, public", "m", "ρ", "α", "may be released"}, Rows: table}); err != nil {
		return err
	}
	for _, n := range notes {
		w.Text("  ", n)
	}
	return nil
}

// orInf writes a figure rounded up, and "inf" for none.
func orInf(x float64) string {
	if math.IsInf(x, 1) {
		return "inf"
	}
	return num.Outward(x, 6, true)
}
