package mechanisms

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/cmd/darrm/internal/picture"
	"github.com/darrm/darrm/cmd/darrm/internal/problem"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/figure"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/solve"
	"github.com/darrm/darrm/release"
)

// pluralitySolve holds the flags of solve for many classes, beside those of two.
type pluralitySolve struct {
	*problem.Flags
	problem.PluralityFlags
	classes int
	plotGap string
}

func (f *pluralitySolve) register(c *cobra.Command) {
	fl := c.Flags()
	fl.IntVar(&f.classes, "num-classes", 0,
		"number of classes C of a vote: asks for the best mechanism for the plurality of many classes")
	f.RegisterPlurality(c)
	f.RegisterGap(c, solve.DefaultGap)
	fl.StringVar(&f.plotGap, "plot-gap", "",
		"many classes: draw the gap between value and bound against time into this file ("+figure.Formats+
			")")
	cli.TakesFile(c, "plot-gap", cli.PictureFiles...)
	cli.AlsoOneOf(c, "method", solve.Methods()...)
	fl.Lookup("method").Usage += "; many classes: \"first-order\" (plain Go), or HiGHS's " +
		"\"interior-point\", \"simplex\" or \"pdlp\" (default by size)"
	fl.Lookup("affected").Usage =
		"how many teachers one person's record can reach (default all; many classes: it must be said)"
	fl.Lookup("delta").Usage = strings.TrimSuffix(problem.UsageDelta, ")") + "; many classes: 0)"
	fl.Lookup("plot").Usage += "; many classes: how often the answer is right, against the lead"
	fl.Lookup("on-interrupt").Usage += " (many classes: \"best\" after Ctrl-C unless you say " +
		"otherwise)"
}

// check refuses flags of two classes beside --num-classes, and the other way round.
func (f *pluralitySolve) check(c *cobra.Command) error {
	return f.PluralityFlags.Check(c, f.Name, math.IsInf(f.Epsilon, 1), f.TeacherDelta == 0, "gap",
		"plot-gap")
}

// problem returns the problem for k teachers that the flags describe.
func (f *pluralitySolve) problem(c *cobra.Command, a *cli.App,
	k int) (p plurality.Problem, o plurality.Objective, err error) {
	p = plurality.Problem{K: k, Classes: f.classes, Epsilon: f.TotalEpsilon, Delta: f.Delta}
	if p.Affected, _, err = f.Reach(c, k); err != nil {
		return p, o, err
	}
	if err := p.Validate(); err != nil { // before a file is read
		return p, o, err
	}
	many := f.Many(c)
	p.Abstain = many.Abstain != nil
	o, err = many.WithCounts(c.Context(), f.PriorCounts, k, f.classes, problem.Histograms(a))
	if err != nil {
		return p, o, err
	}
	return p, o, o.Validate(p)
}

// options checks the flags of the solver.
func (f *pluralitySolve) options(c *cobra.Command) (o solve.Options, err error) {
	o = solve.Options{Gap: f.Gap, Version: cli.Version, BestOnCancel: f.OnInterrupt == "best" ||
		!c.Flags().Changed("on-interrupt")}
	if c.Flags().Changed("method") {
		if o.Method, err = solve.ParseMethod(f.Method); err != nil {
			return o, err
		}
	}
	// Checked here, since solve takes a gap of 0 for its default.
	return o, cmp.Or(check.Within("gap", f.Gap), f.CheckTimeout(c))
}

// run executes solve for many classes. Ctrl-C ends the search and delivers the best table so far,
// unless --on-interrupt is "nothing".
func (f *pluralitySolve) run(c *cobra.Command, a *cli.App, k int, out, plotFile string) error {
	p, objective, err := f.problem(c, a, k)
	if err != nil {
		return err
	}
	o, err := f.options(c)
	if err != nil {
		return err
	}
	if err := cmp.Or(picture.CheckPicture("plot-gap", f.plotGap),
		(release.FileOutput{Path: f.plotGap, Name: "--plot-gap"}).CheckPlace()); err != nil {
		return err
	}
	to := pluralityFiles{out: out, plot: plotFile, plotGap: f.plotGap}
	s, err := f.solve(c, a, p, objective, o, to)
	if err != nil {
		return err
	}
	a.Finishing("writing the table")
	interrupted := c.Context().Err() != nil
	if err := s.deliver(a, to, interrupted); err != nil {
		return err
	}
	if interrupted {
		where := "shown"
		if to.table() {
			where = "in " + out
		}
		return fmt.Errorf("the best certified table so far is %s, within %s of the optimum: %w", where,
			num.Outward(s.table.Gap, 2, true), context.Canceled)
	}
	return s.unsaved
}

// Waits for a search that was stopped and still certifies its best table. After a signal both are
// within the program's grace.
const (
	waitBesideCheckpoint = 200 * time.Millisecond
	waitForTable         = 500 * time.Millisecond
	waitAfterTimeout     = time.Second
)

// grace returns how long to wait for the best table; late tells a timeout from a signal.
func (f *pluralitySolve) grace(late, checkpoint bool) time.Duration {
	switch {
	case late && f.OnInterrupt != "best": // after a timeout, that must be asked for
		return 0
	case checkpoint:
		return waitBesideCheckpoint
	case late:
		return waitAfterTimeout
	}
	return waitForTable
}

func sayEarly(a *cli.App, t *plurality.Table) {
	a.Say("darrm: stopped early: this is the best certified table so far, within %.3g of the optimum",
		t.Gap)
}

// solve returns the output to deliver.
func (f *pluralitySolve) solve(c *cobra.Command, a *cli.App, p plurality.Problem,
	objective plurality.Objective, o solve.Options, to pluralityFiles) (*pluralityOutput, error) {
	store, err := f.Store()
	if err != nil {
		return nil, err
	}
	ctx, cancel := f.Limit(c.Context())
	defer cancel()
	progress := cli.NewProgress(a)
	defer progress.Stop()
	var search pluralitySearch
	show := progress.Gap(o.Gap)
	o.Progress = func(at solve.Progress) {
		search.told(at)
		show(at)
	}
	start := time.Now()
	o.Checkpoint = func(t *plurality.Table) {
		if made, err := to.prepare(a, t, "Not cached: the search was interrupted."); err == nil {
			search.checkpoint(made)
		}
	}
	late := func() bool { return c.Context().Err() == nil }
	grace := func(checkpoint bool) time.Duration { return f.grace(late(), checkpoint) }
	r, err := solve.Promptly(ctx, grace, store, p, objective, o)
	if errors.Is(err, solve.ErrLeft) {
		made := search.last() // of r.Table, or of one that came since
		switch {
		case late() && (r.Table == nil || f.OnInterrupt != "best"):
			return nil, f.Late("solve", ctx.Err())
		case r.Table == nil || made == nil:
			return nil, fmt.Errorf("no table was certified yet: %w", context.Canceled)
		case late():
			sayEarly(a, made.table)
		}
		made.gaps = search.all()
		return made, nil
	}
	took := time.Since(start)
	progress.Stop()
	if r.Rejected != nil {
		a.Say("darrm: not used, and solved again: %v", r.Rejected)
	}
	t, unsaved := r.Table, err
	switch {
	case t == nil:
		return nil, f.Late("solve", err)
	case errors.Is(ctx.Err(), context.DeadlineExceeded) && t.Gap > o.Gap:
		if f.OnInterrupt != "best" {
			return nil, f.Late("solve", ctx.Err())
		}
		sayEarly(a, t)
	case t.Gap > o.Gap && c.Context().Err() == nil:
		a.Say("darrm: rounding errors ended the search: the table is proved to be within %.3g of the "+
			"optimum, not within %v", t.Gap, o.Gap)
	}
	made, err := to.prepare(a, t, originOf(r, unsaved, took))
	if err != nil {
		return nil, err
	}
	made.gaps = search.all()
	if unsaved != nil {
		made.unsaved = &release.OutputError{Err: unsaved}
	}
	return made, nil
}

// originOf describes in a sentence how a table was obtained and where it is kept.
func originOf(r solve.Result, unsaved error, took time.Duration) string {
	if r.Cached {
		return fmt.Sprintf("Read from the cache and certified again: %s", r.Path)
	}
	kept := "not cached."
	if r.Path != "" && unsaved == nil {
		kept = "cached in " + r.Path
	}
	return fmt.Sprintf("Solved by %s in %v, %s", r.Table.Solver, took.Round(time.Millisecond), kept)
}

// pluralitySearch records the progress of a running search, for use after an interruption.
type pluralitySearch struct {
	mu   sync.Mutex
	gaps []solve.Progress
	made *pluralityOutput
}

func (s *pluralitySearch) told(at solve.Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gaps = append(s.gaps, at)
}

func (s *pluralitySearch) checkpoint(made *pluralityOutput) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made = made
}

func (s *pluralitySearch) last() *pluralityOutput {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.made
}

func (s *pluralitySearch) all() []solve.Progress {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gaps
}
