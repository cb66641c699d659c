// Package exitcode has the exit codes of the programs that release: one for each kind of failure,
// whichever program meets it.
package exitcode

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/darrm/darrm/accountant/noisymax"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/answers"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/votes"
)

// Code is a process exit code.
type Code int

// The codes.
const (
	OK          Code = 0
	Failure     Code = 1
	Usage       Code = 2
	Input       Code = 3
	Uncertified Code = 4
	Solver      Code = 5
	Output      Code = 6
	Budget      Code = 7
	Ledger      Code = 8
	Interrupted Code = 130
)

// Status is the text of all help about them.
const Status = `
EXIT STATUS
  0    success
  1    a failure that none of the following describes
  2    a flag or parameter is wrong
  3    an input file is missing, unreadable or malformed
  4    a guarantee could not be certified; nothing was released
  5    the linear program was not solved, or a check not finished: no solver,
       too large, or out of time
  6    an output file, stdout or the cache could not be written
  7    the ledger refused: the budget or a rule does not allow it, or it was
       charged before; or a shuffler's book does not allow the round
  8    the ledger is damaged, was rolled back, could not be written or cannot be
       reached, or its secret cannot be used
  130  interrupted`

// Kinds are the names of the codes of failures.
var Kinds = map[Code]string{
	Failure: "failure", Usage: "usage", Input: "input", Uncertified: "uncertified",
	Solver: "solver", Output: "output", Budget: "budget", Ledger: "ledger", Interrupted: "interrupted",
}

// A Rule gives a code to the errors that Is accepts.
type Rule struct {
	Code Code
	Is   func(error) bool
}

// As returns the rule for errors that hold a T.
func As[T error](c Code) Rule {
	return Rule{c, func(err error) bool { var t T; return errors.As(err, &t) }}
}

// Is returns the rule for errors that are target.
func Is(c Code, target error) Rule {
	return Rule{c, func(err error) bool { return errors.Is(err, target) }}
}

// Advice is a hint for the errors that Is accepts.
type Advice struct {
	Is   func(error) bool
	Text string
}

// Rules are what a part of a program adds to the rules of this package, for errors that a release
// of labels never meets.
type Rules struct {
	Codes []Rule
	Hints []Advice
}

// order is the order in which the codes are tried: an error that is of several kinds is of the
// first.
var order = []Code{Budget, Ledger, Output, Uncertified, Input, Usage, Solver}

var rules = []Rule{
	Is(Budget, ledger.ErrRefused),
	As[*release.LedgerError](Ledger), Is(Ledger, ledger.ErrDamaged), Is(Ledger, ledger.ErrBroken),
	Is(Ledger, ledger.ErrWrite), Is(Ledger, ledger.ErrSecret), Is(Ledger, ledger.ErrUnavailable),
	As[*release.OutputError](Output),
	As[*gamma.ViolationError](Uncertified), As[*gamma.MismatchError](Uncertified),
	As[*plurality.ViolationError](Uncertified), As[*answers.PriceError](Uncertified), As[*noisymax.PriceError](Uncertified),
	As[*release.InputError](Input), As[*gamma.FormatError](Input), // of tables of all kinds
	As[*votes.ParseError](Input), Is(Input, ledger.ErrNotLedger), Is(Input, fs.ErrNotExist),
	As[*release.UsageError](Usage), As[*check.Error](Usage),
	Is(Solver, context.DeadlineExceeded),
}

// Of returns the code of an error, by these rules and a program's own. Interruption comes first:
// whatever failed then failed because of it.
func Of(ctx context.Context, err error, own ...Rule) Code {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return Interrupted
	}
	for _, code := range order {
		for _, rule := range slices.Concat(rules, own) {
			if rule.Code == code && rule.Is(err) {
				return code
			}
		}
	}
	return Failure
}

// Hint returns advice on an error, "" where there is none. A program's own advice comes first.
func Hint(err error, own ...Advice) string {
	for _, advice := range slices.Concat(own, hints) {
		if advice.Is(err) {
			return advice.Text
		}
	}
	return ""
}

var hints = []Advice{
	On(ledger.ErrReplayed, "a second answer would be a second release: use the earlier result, if there is one; "+
		"a different release, such as of votes that the teachers cast anew, needs another --request-id"),
	On(ledger.ErrSameVotes, "if these are the votes of that draw, answer them again with --draw NAME; if the "+
		"teachers cast them anew and agree by chance, state --votes-cast-anew, which is not recorded. "+
		"Equal votes reveal something about the teachers' data: keep this message for yourself"),
	On(ledger.ErrExceeded, spent), On(ledger.ErrAnswers, spent),
	On(ledger.ErrRolledBack, "an older copy forgets what was spent since: put back the newest ledger, or continue "+
		"with a new one that grants no more than is certainly left (docs/ledger.md)"),
	On(ledger.ErrDraw, "give --draw another name for other votes"),
}

// spent is what can be done where a budget does not suffice.
const spent = "darrm budget show says what is left, and darrm plan --ledger what it pays for; what was released costs " +
	"nothing more: a student that learns from released labels answers further queries free of charge (docs/students.md)"

// On returns advice for errors that are target.
func On(target error, text string) Advice {
	return Advice{func(err error) bool { return errors.Is(err, target) }, text}
}
