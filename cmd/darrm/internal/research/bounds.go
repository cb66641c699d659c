package research

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/cmd/darrm/internal/training"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/learn/shuffled"
	"github.com/darrm/darrm/learn/shuffled/iteration"
	"github.com/darrm/darrm/learn/train"
)

// boundsCommand has the flags of bounds beyond those of a training.
type boundsCommand struct {
	training.DataFlags
	training.ShuffledFlags
	beta, psiBound float64
	psi            string
	seed           uint64
}

// NewBounds makes the command that compares excess-risk bounds of shuffled methods.
func NewBounds(a *cli.App) *cobra.Command {
	var f boundsCommand
	c := &cobra.Command{
		Use:   "bounds",
		Short: "Compare excess-risk bounds of shuffled methods (not private)",
		Long: `Compare the bounds on the excess risk of the shuffled methods, on your data and at one
(ε,δ): as the source prints them, and corrected where its noise term is wrong. Each row
names the hypotheses of the theorem that fail; where one fails, the theorem says nothing
about the run. Below are the rates at the best number of epochs, and the step size that
the source takes without noise, both without their constants. The noise follows the
source's accounting unless --mode says otherwise. Public Only and ShuffleG need --method.

The public data's bias, smoothness, variance and optimum are computed from the private
data: NOT PRIVATE, do not release these figures.`,
		Example: "  darrm bounds --data-set crime --epochs 20 --step-size 1e-4 --clip 10 --eps 5 " +
			"--delta 1e-6",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c, a) },
	}
	f.DataFlags.Register(c)
	f.RegisterBy(c, iteration.Paper) // the bounds are the source's
	fl := c.Flags()
	method := fl.Lookup("method")
	method.Usage, method.DefValue = "one method only (default: all with private data and noise)", ""
	fl.Float64Var(&f.beta, "beta", 0,
		"β of the theorem (default: the largest that it allows, else 0.1)")
	cli.Enum(c, &f.psi, "psi",
		"add the terms that the source prints for \"l1\" or for a projection (\"proj\"); the corrected "+
			"bound needs none", "l1", "proj")
	fl.Float64Var(&f.psiBound, "psi-bound", 0,
		"B ≥ E‖x-ηλn·1‖_∞ before each proximal map, for --psi l1")
	fl.Uint64Var(&f.seed, "seed", 0, "seed of the search for the public data's dissimilarity")
	cli.First(c, training.FlagGroups, "private", "public", "response", "task", "epochs", "step-size",
		"eps", "delta")
	return c
}

// boundRow is one method's bound.
type boundRow struct {
	Method    string           `json:"method"`
	Noise     float64          `json:"noise"`
	Cost      *accountant.Cost `json:"cost"`
	StepCap   float64          `json:"step_cap"`
	Printed   termsJSON        `json:"printed"`
	Corrected termsJSON        `json:"corrected"`
	Rate      *shuffled.Rates  `json:"rate,omitempty"` // none without noise
	TunedStep *float64         `json:"tuned_step"`     // the source's step size without noise
	Fails     []string         `json:"fails"`
	Refused   string           `json:"refused,omitempty"`
}

// termsJSON is a bound in its parts.
type termsJSON struct {
	Initial      *float64 `json:"initial"`
	Optimisation *float64 `json:"optimisation"`
	NonVanishing *float64 `json:"non_vanishing"`
	Vanishing    *float64 `json:"vanishing"`
	Noise        *float64 `json:"noise"`
	Other        *float64 `json:"other"`
	Total        *float64 `json:"total"`
}

func newTerms(t shuffled.Terms) termsJSON {
	return termsJSON{
		cli.Finite(t.Initial), cli.Finite(t.Optimisation), cli.Finite(t.NonVanishing),
		cli.Finite(t.Vanishing),
		cli.Finite(t.Noise), cli.Finite(t.Other), cli.Finite(t.Total()),
	}
}

func (f *boundsCommand) run(c *cobra.Command, a *cli.App) error {
	methods := []shuffled.Scheme{shuffled.DPShuffleG, shuffled.PrivPub, shuffled.PubPriv,
		shuffled.Interleaved}
	one := c.Flags().Changed("method")
	if one {
		m := shuffled.Scheme(f.Method)
		if m == shuffled.DPSGD {
			return cli.Usagef("method = %q, but the bound is for shuffled methods", m)
		}
		methods = []shuffled.Scheme{m}
	} else {
		f.Method = string(shuffled.Interleaved) // it has use for every flag
	}
	if err := f.checkPsi(c); err != nil {
		return err
	}
	if err := f.Check(c); err != nil {
		return err
	}
	set, err := f.Open(c, a, f.Task)
	if err != nil {
		return err
	}
	f.SayShared(a, set)
	if _, err := f.Take(set, f.SharedRecords); err != nil {
		return err
	}
	set = f.Set
	config := f.Complete()
	if one && methods[0].UsesPublic() && set.Public == nil {
		return cli.Usagef("--public must be given: %s uses public data", methods[0])
	}
	optimum, err := cli.Interruptibly(c.Context(), train.Problem{Loss: config.Task,
		Regularizer: config.Regularizer, Records: set.Private}.Optimum)
	if err != nil {
		return err
	}
	bar := cli.NewProgress(a)
	defer bar.Stop()
	show := bar.Count("bounding", "methods")
	var rows []boundRow
	var first error
	for i, m := range methods {
		if m.UsesPublic() && set.Public == nil {
			continue
		}
		config.Method, config.Fraction = m, 0
		if m.UsesFraction() {
			config.Fraction = f.Options.Fraction
		}
		row := boundRow{Method: string(m), Fails: []string{}}
		// Pricing the plan heeds no context.
		b, err := cli.Interruptibly(c.Context(), func() (shuffled.BoundReport, error) {
			return shuffled.BoundOf(c.Context(), config, set.Private, set.Public, optimum,
				shuffled.BoundOptions{
					Beta: f.beta, L1Bound: f.psiBound, Projection: f.psi == "proj", Seed: f.seed,
				})
		})
		if interrupted := c.Context().Err(); interrupted != nil {
			return interrupted // also where this row was finished before
		}
		if err == nil {
			row.set(b)
		} else {
			row.Refused = err.Error()
			first = cmp.Or(first, err)
		}
		rows = append(rows, row)
		show(i+1, len(methods))
	}
	if !slices.ContainsFunc(rows, func(r boundRow) bool { return r.Refused == "" }) {
		return training.TrainingError(first)
	}
	bar.Stop()
	return a.Show(struct {
		Private bool       `json:"private"` // false, always
		Methods []boundRow `json:"methods"`
	}{false, rows}, func(w *terminal.Page) error { return renderBounds(w, rows) })
}

// checkPsi checks --psi and --psi-bound.
func (f *boundsCommand) checkPsi(c *cobra.Command) error {
	switch {
	case f.psi == "l1" && !(f.psiBound > 0):
		return cli.Usagef("psi-bound = %v, but it must be above 0 for --psi l1", f.psiBound)
	case f.psi != "l1" && c.Flags().Changed("psi-bound"):
		return cli.Usagef("--psi-bound goes with --psi l1")
	}
	return nil
}

// set copies the method's figures.
func (r *boundRow) set(b shuffled.BoundReport) {
	r.Noise, r.Cost, r.StepCap = b.Account.Noise, cli.FiniteCost(b.Account.Cost), b.Bound.StepCap
	r.Printed, r.Corrected = newTerms(b.Bound.Printed), newTerms(b.Bound.Corrected)
	r.Fails = append(r.Fails, b.Bound.Fails...)
	r.TunedStep, r.Rate = cli.Finite(b.TunedStep), b.Rates
}

func renderBounds(w *terminal.Page, rows []boundRow) error {
	w.Text("  ", "NOT PRIVATE, for your eyes only: computed from the private records")
	w.Printf("\n")
	number := func(x *float64) string {
		if x == nil {
			return "inf"
		}
		return fmt.Sprintf("%.4g", *x)
	}
	var table [][]string
	for _, r := range rows {
		if r.Refused != "" {
			table = append(table, []string{r.Method, "refused", "-", "-", "-", "-", "-", "-", "-"})
			continue
		}
		epsilon := math.Inf(1)
		if r.Cost != nil {
			epsilon = r.Cost.Epsilon
		}
		table = append(table, []string{
			r.Method, fmt.Sprintf("%.4g", epsilon), fmt.Sprintf("%.4g", r.Noise), number(r.Printed.Total),
			number(r.Corrected.Total),
			number(r.Printed.Noise), number(r.Corrected.Noise), number(r.Corrected.NonVanishing),
			fmt.Sprintf("%.3g", r.StepCap),
		})
	}
	header := []string{"method", "ε", "σ", "bound, printed", "bound, corrected", "noise term, printed",
		"noise term, corrected", "public data's term", "step size at most"}
	if err := w.Table(terminal.TextTable{Header: header, Rows: table}); err != nil {
		return err
	}
	for _, r := range rows {
		if r.Refused != "" {
			w.Text("  ", fmt.Sprintf("%s is refused: %s", r.Method, r.Refused))
		}
		for _, s := range r.Fails {
			w.Text("  ", fmt.Sprintf("%s: the theorem says nothing: %s", r.Method, s))
		}
	}
	for _, r := range rows {
		if r.Rate != nil {
			w.Text("  ", fmt.Sprintf("%s: rate at the best K = %.3g, constants dropped: %.3g printed, "+
				"%.3g corrected", r.Method, r.Rate.BestEpochs, r.Rate.Printed, r.Rate.Corrected))
		}
	}
	for _, r := range rows {
		if r.TunedStep != nil {
			// the same for all: it is about the private data
			w.Text("  ", fmt.Sprintf("step size that the source takes without noise: %.3g", *r.TunedStep))
			break
		}
	}
	return nil
}
