// Package learning has the exit codes and hints of what fails in private learning alone. Programs that
// train pass them to package exitcode, so that a failure ends each of them alike; programs that
// release labels link none of it.
package learning

import (
	"errors"

	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/federated"
	"github.com/darrm/darrm/learn/federated/rounds"
	"github.com/darrm/darrm/learn/shuffled/iteration"
	"github.com/darrm/darrm/release/exitcode"
	"github.com/darrm/darrm/release/silo"
)

// Rules are the codes and hints of private learning.
var Rules = exitcode.Rules{
	Codes: []exitcode.Rule{
		exitcode.Is(exitcode.Budget, rounds.ErrReleased), exitcode.Is(exitcode.Budget, rounds.ErrOtherBook),
		exitcode.As[*rounds.BookError](exitcode.Output),
		exitcode.Is(exitcode.Uncertified, iteration.ErrNotCertified),
		exitcode.As[*data.SampleError](exitcode.Input), exitcode.As[*data.SharedError](exitcode.Input),
		exitcode.Is(exitcode.Input, rounds.ErrFormat), exitcode.Is(exitcode.Input, rounds.ErrPartialRound),
	},
	Hints: []exitcode.Advice{
		{Is: is[*silo.AnsweredError], Text: "send the answer that was made then; without it the silo sits this round out"},
		exitcode.On(rounds.ErrReleased,
			"use what was released then; the silos that came too late sit this round out"),
		exitcode.On(rounds.ErrOtherBook, "name the book that knows it with --book; if no other book has released this round, "+
			"state --new-book"),
		{Is: is[*federated.TooFewError],
			Text: "the price does without reports only as far as --missing of darrm federated init says"},
	},
}

// is reports whether an error holds a T.
func is[T error](err error) bool { var t T; return errors.As(err, &t) }
