package problem

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/plurality/answers"
	"github.com/darrm/darrm/plurality/answers/solve"
	"github.com/darrm/darrm/release"
)

// SolvedAnswers is a table for many answers.
type SolvedAnswers struct {
	solve.Result
	Unsaved error // the cache's, to be returned after the table was delivered
}

// SolveAnswers makes a table for many answers within --timeout, or reads it from the cache. best
// asks for the best table so far where the time ends.
func (f *Flags) SolveAnswers(c *cobra.Command, a *cli.App, p answers.Problem, prior answers.Prior,
	best bool) (SolvedAnswers, error) {
	ctx, cancel := f.Limit(c.Context())
	defer cancel()
	return f.solveAnswers(ctx, a, p, prior, 0, best)
}

func (f *Flags) solveAnswers(ctx context.Context, a *cli.App, p answers.Problem,
	prior answers.Prior, within time.Duration, best bool) (s SolvedAnswers, err error) {
	store, err := f.Store()
	if err != nil {
		return s, err
	}
	bar := cli.NewProgress(a)
	defer bar.Stop()
	bar.Wait("pricing tables for many labels")
	o := solve.Options{Version: cli.Version, BestOnCancel: best, Progress: func(at solve.Progress) {
		bar.Note(int64(at.Prices), fmt.Sprintf("%s, price %d: δ = %.3g", at.Law, at.Prices, at.Delta))
	}}
	if within > 0 {
		s.Result, err = solve.Within(ctx, within, store, p, prior, o)
	} else {
		s.Result, err = solve.Cached(ctx, store, p, prior, o)
	}
	bar.Stop()
	if s.Rejected != nil {
		a.Say("darrm: not used, and made again: %v", s.Rejected)
	}
	if s.Table != nil && err != nil {
		s.Unsaved, err = &release.OutputError{Err: err}, nil
	}
	if err != nil {
		return s, f.Late("solve", err)
	}
	return s, nil
}

// AnswersSolver returns the function that makes tables for many answers for a library; unsaved gets
// the error of a cache that could not keep one.
func (f *Flags) AnswersSolver(a *cli.App, within time.Duration, unsaved *error) func(context.Context,
	answers.Problem, answers.Prior) (*answers.Table, error) {
	return func(ctx context.Context, p answers.Problem, prior answers.Prior) (*answers.Table, error) {
		s, err := f.solveAnswers(ctx, a, p, prior, within, false)
		*unsaved = cmp.Or(*unsaved, s.Unsaved)
		return s.Table, err
	}
}
