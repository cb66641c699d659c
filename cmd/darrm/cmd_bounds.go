package main

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/shuffleg"
)

func newBounds(a *app) *cobra.Command {
	var f trainFlags
	var beta float64
	var seed uint64
	c := &cobra.Command{
		Use:   "bounds",
		Short: "Put excess-risk bounds of shuffled methods side by side (not private)",
		Long: `Put the bounds on the excess risk of the shuffled methods side by side, on your data
and at one (ε,δ): as the source prints them, and corrected where its noise term is
wrong. Which hypotheses of the theorem fail is said for each; where one fails, the
theorem says nothing of the run.

How far the public data lead away, smoothness, variance and optimum are worked out
from the private data: NOT PRIVATE, do not release these figures.
` + exitStatus,
		Example: "  darrm bounds --data-set crime --epochs 20 --step-size 1e-4 --clip 10 --eps 5 --delta 1e-6",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return runBounds(c, a, &f, beta, seed) },
	}
	f.register(c)
	c.Flags().Lookup("method").Usage = "one method only (default: all that the bound is for)"
	c.Flags().Float64Var(&beta, "beta", 0, "β of the theorem (default: the largest that it allows, else 0.1)")
	c.Flags().Uint64Var(&seed, "seed", 0, "seed of the search for the public data's dissimilarity")
	return c
}

// boundRow is one method's bound.
type boundRow struct {
	Method    string    `json:"method"`
	Noise     float64   `json:"noise"`
	Cost      *costJS   `json:"cost"`
	StepCap   float64   `json:"step_cap"`
	Printed   termsJSON `json:"printed"`
	Corrected termsJSON `json:"corrected"`
	Fails     []string  `json:"fails"`
	Refused   string    `json:"refused,omitempty"`
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

func newTerms(t shuffleg.Terms) termsJSON {
	return termsJSON{
		finite(t.Initial), finite(t.Optimisation), finite(t.NonVanishing), finite(t.Vanishing), finite(t.Noise), finite(t.Other), finite(t.Total()),
	}
}

func runBounds(c *cobra.Command, a *app, f *trainFlags, beta float64, seed uint64) error {
	methods := []shuffleg.Method{shuffleg.DPShuffleG, shuffleg.PrivPub, shuffleg.PubPriv, shuffleg.Interleaved}
	if c.Flags().Changed("method") {
		m, err := f.methodOf()
		if err != nil {
			return err
		}
		methods = []shuffleg.Method{m}
	}
	fraction := f.fraction
	set, config, err := f.load(c, a)
	if err != nil {
		return err
	}
	optimum, err := shuffleg.FindOptimum(config.Task, regularizer(config), set.Private)
	if err != nil {
		return err
	}
	bar := newProgress(a)
	defer bar.stop()
	show := bar.count("methods")
	var rows []boundRow
	for i, m := range methods {
		if m.UsesPublic() && set.Public == nil {
			continue
		}
		config.Method, config.Fraction = m, 0
		if m.UsesFraction() {
			config.Fraction = fraction
		}
		row := boundRow{Method: string(m), Fails: []string{}}
		if err := row.fill(c.Context(), set.Private, set.Public, config, optimum, beta, seed); err != nil {
			return planFailure(err)
		}
		rows = append(rows, row)
		show(i+1, len(methods))
	}
	bar.stop()
	if a.json {
		return a.deliverJSON("", struct {
			Private bool       `json:"private"` // false, always
			Methods []boundRow `json:"methods"`
		}{false, rows})
	}
	return a.deliver("", func(w io.Writer) error { return renderBounds(w, rows) })
}

func regularizer(c shuffleg.Config) shuffleg.Regularizer {
	if c.Regularizer == nil {
		return shuffleg.NoRegularizer{}
	}
	return c.Regularizer
}

func (r *boundRow) fill(ctx context.Context, private, public *shuffleg.Records, config shuffleg.Config, optimum shuffleg.Optimum, beta float64, seed uint64) error {
	plan, err := shuffleg.NewPlan(config, private, public)
	if err != nil {
		return err
	}
	in, err := plan.Bounds(func(privateSteps int) (shuffleg.Dissimilarity, error) {
		return shuffleg.EstimateDissimilarity(ctx, config.Task, private, public, privateSteps, shuffleg.DissimilarityOptions{Seed: seed})
	}, optimum, beta)
	if err != nil {
		return err
	}
	bound, err := shuffleg.ExcessRisk(in)
	if err != nil {
		return err
	}
	report := plan.Report()
	r.Noise, r.Cost, r.StepCap = report.Noise, finiteCost(accountant.Cost(report.Cost)), bound.StepCap
	r.Printed, r.Corrected = newTerms(bound.Printed), newTerms(bound.Corrected)
	r.Fails = append(r.Fails, bound.Fails...)
	return nil
}

func renderBounds(w io.Writer, rows []boundRow) error {
	fmt.Fprintln(w, "NOT PRIVATE, for your eyes only: computed from the private records")
	fmt.Fprintln(w)
	number := func(x *float64) string {
		if x == nil {
			return "inf"
		}
		return fmt.Sprintf("%.4g", *x)
	}
	var table [][]string
	for _, r := range rows {
		epsilon := math.Inf(1)
		if r.Cost != nil {
			epsilon = r.Cost.Epsilon
		}
		table = append(table, []string{
			r.Method, fmt.Sprintf("%.4g", epsilon), fmt.Sprintf("%.4g", r.Noise), number(r.Printed.Total), number(r.Corrected.Total),
			number(r.Printed.Noise), number(r.Corrected.Noise), number(r.Corrected.NonVanishing), fmt.Sprintf("%.3g", r.StepCap),
		})
	}
	header := []string{"method", "ε", "σ", "bound, printed", "bound, corrected", "noise term, printed", "noise term, corrected", "public data's term", "step size at most"}
	if err := renderRows(w, header, table, nil); err != nil {
		return err
	}
	for _, r := range rows {
		for _, s := range r.Fails {
			fmt.Fprintf(w, "%s: the theorem says nothing: %s\n", r.Method, s)
		}
	}
	return nil
}
