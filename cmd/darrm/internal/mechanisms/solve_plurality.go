package mechanisms

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cache"
	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/cmd/darrm/internal/picture"
	"github.com/darrm/darrm/cmd/darrm/internal/problem"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/plan/choose"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/solve"
	"github.com/darrm/darrm/release"
)

// problem returns the problem that the flags describe.
func (f *solveFlags) problem(c *cobra.Command, a *cli.App) (p plurality.Problem, o plurality.Objective, err error) {
	per := f.PerAnswer()
	p = plurality.Problem{K: f.K, Classes: f.Classes, Epsilon: per.Epsilon, Delta: per.Delta}
	if p.Affected, _, err = f.Reach(c, f.K); err != nil {
		return p, o, err
	}
	if err := p.Validate(); err != nil { // before a file is read
		return p, o, err
	}
	p.Abstain = f.Many.Abstain != nil
	o, err = f.Many.WithCounts(c.Context(), f.Noise.PriorCounts, f.K, f.Classes, problem.Histograms(a))
	if err != nil {
		return p, o, err
	}
	return p, o, o.Validate(p)
}

// options checks the flags of the solver.
func (f *solveFlags) options(c *cobra.Command) (o solve.Options, err error) {
	o = solve.Options{Gap: cli.Or(f.Many.Gap, solve.DefaultGap), Version: cli.Version,
		BestOnCancel: f.Noise.OnInterrupt != choose.Nothing}
	if c.Flags().Changed("method") {
		o.Method = solve.Method(f.Noise.Method)
		if err := check.Known("method", o.Method, solve.Methods()); err != nil {
			return o, err
		}
	}
	// Checked here, since solve takes a gap of 0 for its default.
	return o, cmp.Or(check.Within("gap", o.Gap), f.CheckTimeout(c))
}

// plurality finds the table of many classes. Ctrl-C ends the search and delivers the best table so far,
// unless --on-interrupt is "nothing".
func (f *solveFlags) plurality(c *cobra.Command, a *cli.App) error {
	p, objective, err := f.problem(c, a)
	if err != nil {
		return err
	}
	o, err := f.options(c)
	if err != nil {
		return err
	}
	if err := cmp.Or(picture.CheckPicture("plot-gap", f.files.plotGap),
		(release.FileOutput{Path: f.files.plotGap, Name: "--plot-gap"}).CheckPlace()); err != nil {
		return err
	}
	made, err := f.search(c, a, p, objective, o)
	if err != nil {
		return err
	}
	a.Finishing("writing the table")
	interrupted := c.Context().Err() != nil
	if err := made.deliver(a, f.files, interrupted); err != nil {
		return err
	}
	if interrupted {
		where := "shown"
		if f.files.table() {
			where = "in " + f.files.out
		}
		return fmt.Errorf("the best certified table so far is %s, within %s of the optimum: %w", where,
			num.Outward(made.table.Plurality.Gap, 2, true), context.Canceled)
	}
	return made.unsaved
}

// Waits for a search that was stopped and still certifies its best table. After a signal both are
// within the program's grace.
const (
	waitBesideCheckpoint = 200 * time.Millisecond
	waitForTable         = 500 * time.Millisecond
	waitAfterTimeout     = time.Second
)

// grace returns how long to wait for the best table; late tells a timeout from a signal.
func (f *solveFlags) grace(late, checkpoint bool) time.Duration {
	switch {
	case late && f.Noise.OnInterrupt != choose.Best: // after a timeout, that must be asked for
		return 0
	case checkpoint:
		return waitBesideCheckpoint
	case late:
		return waitAfterTimeout
	}
	return waitForTable
}

// search returns the output to deliver.
func (f *solveFlags) search(c *cobra.Command, a *cli.App, p plurality.Problem, objective plurality.Objective,
	o solve.Options) (*solveOutput, error) {
	late, best := func() bool { return c.Context().Err() == nil }, f.Noise.OnInterrupt == choose.Best
	var sofar pluralitySearch
	var newest *plurality.Table // of a search that was left
	var ended error             // why the search had to end
	s, err := problem.Find(c.Context(), &f.Flags, a, "solved", func(ctx context.Context, store *cache.Store,
		bar *cli.Progress) (solve.Result, error) {
		show := bar.Gap(o.Gap)
		o.Progress = func(at solve.Progress) {
			sofar.update(func() { sofar.gaps = append(sofar.gaps, at) })
			show(at)
		}
		o.Checkpoint = func(t *plurality.Table) {
			made, err := f.files.prepare(ctx, a, release.Table{Plurality: t},
				"Not cached: the search was interrupted.")
			if err == nil {
				sofar.update(func() { sofar.made = made })
			}
		}
		grace := func(checkpoint bool) time.Duration { return f.grace(late(), checkpoint) }
		r, err := solve.Promptly(ctx, grace, store, p, objective, o)
		ended = ctx.Err()
		if errors.Is(err, solve.ErrLeft) {
			newest, r.Table = r.Table, nil
		}
		return r, err
	})
	var made *solveOutput
	if errors.Is(err, solve.ErrLeft) {
		sofar.update(func() { made = sofar.made }) // newest, or one that came since
		switch {
		case late() && (newest == nil || !best):
			return nil, f.Late("solve", ended)
		case newest == nil || made == nil:
			return nil, fmt.Errorf("no table was certified yet: %w", context.Canceled)
		case late():
			problem.SayEarly(a, made.table.Plurality.Gap)
		}
	} else {
		t := s.Table
		switch {
		case err != nil:
			return nil, err
		case errors.Is(ended, context.DeadlineExceeded) && t.Gap > o.Gap:
			if !best {
				return nil, f.Late("solve", ended)
			}
			problem.SayEarly(a, t.Gap)
		case t.Gap > o.Gap && late():
			a.Say("darrm: rounding errors ended the search: the table is proved to be within %.3g of the "+
				"optimum, not within %v", t.Gap, o.Gap)
		}
		if made, err = f.files.prepare(c.Context(), a, release.Table{Plurality: t},
			s.Origin(t.Solver)); err != nil {
			return nil, err
		}
		made.unsaved = s.Unsaved
	}
	sofar.update(func() { made.gaps = sofar.gaps })
	return made, nil
}

// pluralitySearch has the gaps and the table of a running search, for use after an interruption.
type pluralitySearch struct {
	mu   sync.Mutex
	gaps []solve.Progress
	made *solveOutput
}

func (s *pluralitySearch) update(by func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	by()
}
