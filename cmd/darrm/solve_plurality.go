package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/figure"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/solve"
	"github.com/darrm/darrm/release"
)

// pluralitySolve are the flags of solve for many classes. The others are those of two.
type pluralitySolve struct {
	*problemFlags
	pluralityFlags
	classes int
	gap     float64
	plotGap string
}

func (f *pluralitySolve) register(c *cobra.Command) {
	fl := c.Flags()
	fl.IntVar(&f.classes, "classes", 0, "number of classes C of a vote: asks for the best mechanism for the plurality of many classes")
	f.registerPlurality(c)
	fl.Float64Var(&f.gap, "gap", solve.DefaultGap, "many classes: stop once the value is proved to be within this of the optimum's")
	fl.StringVar(&f.plotGap, "plot-gap", "", "many classes: draw the proved gap against time into this file ("+figure.Formats+")")
	takesFile(c, "plot-gap", pictureFiles...)
	alsoOneOf(c, "method", solve.Methods()...)
	fl.Lookup("method").Usage += "; many classes: \"first-order\" (plain Go), or HiGHS's \"interior-point\", \"simplex\" or \"pdlp\" (default by size)"
	fl.Lookup("on-interrupt").Usage += " (many classes: \"best\" after Ctrl-C unless you say otherwise)"
}

// check refuses flags of the other kind of problem.
func (f *pluralitySolve) check(c *cobra.Command) error {
	if !c.Flags().Changed("classes") {
		for _, name := range append([]string{"gap", "plot-gap"}, pluralityFlagNames...) {
			if c.Flags().Changed(name) {
				return usagef("--%s goes with --classes", name)
			}
		}
		return nil
	}
	for _, name := range []string{"m", "prior", "prior-mean", "shape"} {
		if c.Flags().Changed(name) {
			return usagef("--%s does not go with --classes", name)
		}
	}
	switch {
	case f.name == objectiveSource:
		return usagef("objective = %q, but with --classes it is always %q", f.name, objectiveAgreement)
	case c.Flags().Changed("eps") && !math.IsInf(f.epsilon, 1), c.Flags().Changed("teacher-delta") && f.teacherDelta != 0:
		return usagef("--eps and --teacher-delta do not go with --classes: nothing is presumed of the teachers")
	}
	return require(c, "K", "total-eps", "affected|data")
}

// problem returns the problem for k teachers that the flags describe.
func (f *pluralitySolve) problem(c *cobra.Command, a *app, k int) (p plurality.Problem, o plurality.Objective, err error) {
	p = plurality.Problem{K: k, Classes: f.classes, Epsilon: f.totalEpsilon, Delta: f.delta}
	if p.Affected, _, err = f.reach(c, k); err != nil {
		return p, o, err
	}
	if err := p.Validate(); err != nil { // before a file is read
		return p, o, err
	}
	o, p.Abstain, err = f.pluralityObjective(c, a, f.priorCounts, k, f.classes)
	if err != nil {
		return p, o, err
	}
	return p, o, o.Validate(p)
}

// options checks the flags that say how to solve.
func (f *pluralitySolve) options(c *cobra.Command) (o solve.Options, err error) {
	o = solve.Options{Gap: f.gap, Version: version, BestOnCancel: f.onInterrupt == "best" || !c.Flags().Changed("on-interrupt")}
	if c.Flags().Changed("method") {
		if o.Method, err = solve.ParseMethod(f.method); err != nil {
			return o, err
		}
	}
	// Here, since a gap of 0 that was typed would be the default to solve.
	return o, cmp.Or(check.Within("gap", f.gap), f.checkTimeout(c))
}

// pluralitySolved is a table with how it was come by.
type pluralitySolved struct {
	solve.Result
	took    time.Duration
	gaps    []solve.Progress
	unsaved error // the cache could not store the table
}

// run is the command solve for many classes. Ctrl-C ends the search, and the best table so far
// is what is delivered, unless --on-interrupt says nothing.
func (f *pluralitySolve) run(c *cobra.Command, a *app, k int, out, plotFile string) error {
	p, objective, err := f.problem(c, a, k)
	if err != nil {
		return err
	}
	o, err := f.options(c)
	if err != nil {
		return err
	}
	if err := cmp.Or(checkPicture("plot-gap", f.plotGap), (release.FileOutput{Path: f.plotGap, Flag: "plot-gap"}).CheckPlace()); err != nil {
		return err
	}
	s, err := f.solve(c, a, p, objective, o)
	if err != nil {
		return err
	}
	if err := s.deliver(a, out, plotFile, f.plotGap); err != nil {
		return err
	}
	if c.Context().Err() != nil {
		where := "shown"
		if out != "" && out != "-" {
			where = "in " + out
		}
		return fmt.Errorf("the best certified table so far is %s, within %s of the optimum: %w", where, num.Outward(s.Table.Gap, 2, true), context.Canceled)
	}
	return s.unsaved
}

func (f *pluralitySolve) solve(c *cobra.Command, a *app, p plurality.Problem, objective plurality.Objective, o solve.Options) (pluralitySolved, error) {
	store, err := f.store()
	if err != nil {
		return pluralitySolved{}, err
	}
	ctx, cancel := f.limit(c.Context())
	defer cancel()
	var s pluralitySolved
	progress := newProgress(a)
	defer progress.stop()
	show := progress.gap(o.Gap)
	o.Progress = func(at solve.Progress) {
		s.gaps = append(s.gaps, at)
		show(at)
	}
	start := time.Now()
	s.Result, err = solve.Cached(ctx, store, p, objective, o)
	s.took = time.Since(start)
	progress.stop()
	if s.Rejected != nil {
		a.say("darrm: not used, and solved again: %v", s.Rejected)
	}
	switch {
	case s.Table == nil:
		return s, f.late("solve", err)
	case err != nil:
		s.unsaved = outputError{Err: err}
	case errors.Is(ctx.Err(), context.DeadlineExceeded) && s.Table.Gap > o.Gap:
		if f.onInterrupt != "best" { // after a timeout, that must be asked for
			return s, f.late("solve", ctx.Err())
		}
		a.say("darrm: stopped early: this is the best certified table so far, within %.3g of the optimum", s.Table.Gap)
	case s.Table.Gap > o.Gap && c.Context().Err() == nil:
		a.say("darrm: rounding errors ended the search: the table is proved to be within %.3g of the optimum, not within %v", s.Table.Gap, o.Gap)
	}
	return s, nil
}

// deliver writes the files and the result.
func (s pluralitySolved) deliver(a *app, out, plotFile, plotGap string) error {
	a.finishing("writing the table")
	if out != "" && out != "-" {
		if err := a.deliver(out, s.Table.Encode); err != nil {
			return err
		}
	}
	if plotFile != "" {
		picture, err := marginPicture(s.Table)
		if err != nil {
			return err
		}
		if err := a.deliverPlot(plotFile, picture); err != nil {
			return err
		}
	}
	switch {
	case plotGap != "" && len(s.gaps) == 0:
		a.say("darrm: --plot-gap: nothing was drawn, since no step was taken (--no-cache solves again)")
	case plotGap != "":
		picture, err := gapPicture(s.Table, s.gaps)
		if err != nil {
			return err
		}
		if err := a.deliverPlotTo("plot-gap", plotGap, picture); err != nil {
			return err
		}
	}
	if a.json || out == "-" {
		return a.deliver("", s.Table.Encode)
	}
	return a.print(func(w *terminal.Page) error {
		if err := renderPlurality(w, s.Table); err != nil {
			return err
		}
		w.Text("  ", s.origin())
		return nil
	})
}

// origin says where the table came from and where it is kept.
func (s pluralitySolved) origin() string {
	if s.Cached {
		return fmt.Sprintf("Read from the cache and certified again: %s", s.Path)
	}
	kept := "not cached."
	if s.Path != "" && s.unsaved == nil {
		kept = "cached in " + s.Path
	}
	return fmt.Sprintf("Solved by %s in %v, %s", s.Table.Solver, s.took.Round(time.Millisecond), kept)
}
