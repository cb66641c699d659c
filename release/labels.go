package release

import (
	"context"
	"io"
	"path/filepath"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/votes"
)

// Labels is a release of one private label for every query in files of votes.
type Labels struct {
	// Votes are the files, or patterns of them; "-" is Stdin. Required.
	Votes []string
	// Stdin is read for "-". A release that a ledger pays for reads its votes twice, so it reads
	// Stdin to the end first, which the context does not interrupt.
	Stdin io.Reader
	Read  votes.Options
	// Plan is what answers. Required by Run and Quote; a plan that depends on what the votes say is made
	// after [Labels.Open].
	Plan Plan
	// Budget, unless nil, is that of all labels together, which the plan is made for after Open.
	Budget *LabelBudget
	// Queries is how many labels, or questions with several, one charge pays for, in all releases that take
	// of it. 0 means those
	// of the files, which then have a charge of their own.
	Queries int
	// Stated is what decides on the mechanism, but for what the votes say, the number of labels and
	// their budget. With it a release takes labels of an open charge of the same statement, whatever
	// plan would be made now, and one that is asked again is not planned again. nil for neither.
	Stated *Statement
	Charge Charge
	Output FileOutput
	// Format and Compression are those of the labels. They default to what Output's name says.
	Format      votes.Format
	Compression votes.Compression
	// Sets writes several labels of a question as the set of those that it has (votes.LabelOptions.Sets).
	Sets bool
	// Encode, unless nil, gives the result instead of a file of labels, from the summary and
	// the batches that Each was given. It gives the same bytes whenever it is called.
	Encode func(io.Writer, *Summary) error
	// Each, unless nil, is called with every batch and its answers, a class each or
	// ensemble.Abstained, in the order of the votes.
	Each func(b *votes.Batch, answers []int) error
	// Truth has the true labels of the files read too, for Each. No answer needs them: without it they
	// are not looked at.
	Truth bool
	// Checkpoint is the file of the secret key of the coins, with which an interrupted release
	// that was paid for is finished. It is removed when the labels are out. "" keeps none. It
	// needs a ledger, and a mechanism with a noise function or a table.
	Checkpoint string
	// Force replaces a file at Output, by a simulation too, and never one that the ledger knows as a
	// request's result.
	Force bool
	// Seed, unless nil, simulates: the labels are marked, they are not private.
	Seed *uint64
	// Table is the file that the noise function, or the table, was read from, so that nothing is
	// written there.
	Table string
	// Beside is a further file that the caller writes, so that it is none of the release's.
	Beside File
	// Source is for the summary.
	Source Source
	// Progress, unless nil, is called at the start of each passage through the votes, [Counting]
	// and [Answering]. It returns at, which is called with the progress of the passage, and end,
	// which is called at its end.
	Progress func(passage string) (at func(votes.Progress), end func())
}

// The passages through the votes.
const (
	Counting  = "counting"  // how many there are, for what they cost
	Answering = "answering" // after they are paid for
)

// Run is Open, Use of Plan, and the run. The summary is nil unless the labels are in the output; an error
// beside it means that the secret could not be removed. The package comment has the order of the steps.
func (l Labels) Run(ctx context.Context) (*Summary, error) {
	r, err := l.given(ctx, false)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.Run(ctx)
}

// Quote is Open, Use of Plan, and the quotation.
func (l Labels) Quote(ctx context.Context) (*Quote, error) {
	r, err := l.given(ctx, true)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.Quote(ctx)
}

// given opens the release of the plan that is given.
func (l Labels) given(ctx context.Context, quote bool) (*LabelRun, error) {
	if l.Plan.check() != nil || l.Budget != nil {
		return nil, usagef("votes must be given, and a plan, which within a budget is made after Open")
	}
	r, err := l.Open(ctx, quote)
	if err == nil && r.needs != nil {
		if err = r.Use(l.Plan, 0); err != nil {
			r.Close()
		}
	}
	return r, err
}

// check refuses settings that contradict each other, and files that would replace another.
func (l *Labels) check() error {
	switch {
	case len(l.Votes) == 0:
		return usagef("votes must be given")
	case l.Queries < 0 || l.Queries > accountant.MaxOptimalCount:
		return &UsageError{check.Whole("queries", l.Queries, 1, accountant.MaxOptimalCount)}
	case l.Sets && len(l.Read.Labels) == 0:
		return usagef("labels as sets go with several labels of a question")
	case l.Charge.NewCharge && (l.Charge.Ledger == "" || l.Queries == 0 && l.Table == ""):
		return usagef("%s goes with %s and %s: it pays for so many labels again", pNewCharge, pLedger,
			pQueries)
	case l.Budget != nil && l.Budget.rest() && l.Charge.Ledger == "":
		return errNoLedger()
	case l.Budget != nil && l.Charge.Slack != nil:
		return usagef("slack goes without a budget of all labels: the plan states it")
	case l.Read.Layout == votes.LayoutLong && (l.Read.QueryIDs == nil || l.Read.K == 0):
		// Which queries have a vote, and how many teachers cast any, is as private as the votes.
		return usagef("votes in the layout long need %s, all queries that are answered, and %s: neither "+
			"follows from the votes", pQueryIDs, pK)
	case l.Seed != nil && l.Charge.Ledger != "":
		return usagef("%s and %s exclude each other: a simulation releases nothing "+
			"and pays for nothing", pSeed, pLedger)
	case l.Checkpoint != "" && l.Charge.Ledger == "":
		return usagef("%s goes with %s", pCheckpoint, pLedger)
	case l.Checkpoint != "" && l.Read.Missing == votes.MissingCoin:
		return usagef("%s goes without %s coin, whose coins come from no key", pCheckpoint, pMissing)
	}
	if l.Encode != nil {
		if l.Format != votes.FormatAuto || l.Compression > votes.CompressionNone {
			return usagef("%s goes without %s and %s: it is a form of its own", pEncode, pOutFormat,
				pOutCompression)
		}
		if f, c := votes.FormatOfName(l.Output.Path); f != votes.FormatAuto ||
			c != votes.CompressionNone {
			return usagef("%s = %q, but %s writes one JSON document: give a name that does not end "+
				"as another form's, such as labels.json, or leave %s out",
				pOutput, l.Output.Path, pEncode, pEncode)
		}
	}
	reads := []File{{Name: "table", Path: l.Table}, l.Beside}
	for _, p := range l.Votes {
		names, err := filepath.Glob(p) // a bad pattern is an error when it is read
		if err != nil || len(names) == 0 {
			names = []string{p}
		}
		for _, name := range names {
			reads = append(reads, File{Path: name})
		}
	}
	if err := CheckPaths(l.Output.Path, l.Checkpoint, l.Charge.Ledger, reads...); err != nil {
		return err
	}
	if l.Encode == nil && l.Format == votes.FormatAuto {
		if err := votes.CheckName(l.Output.Path); err != nil { // before anything is charged
			return usagef("%s: %w", pOutput, err)
		}
	}
	return nil
}

// spellings returns spellings as they are stated.
func spellings(of []votes.Spelling) []string {
	var stated []string
	for _, s := range of {
		stated = append(stated, s.String())
	}
	return stated
}

// SeveralOf returns what is stated of several labels of a question, for teachers whose number may not be known yet
// ([ensemble.Several.Of]).
func SeveralOf(o votes.Options) ensemble.Several {
	return ensemble.Several{Labels: len(o.Labels), MostYes: o.MostYes, YesFrom: o.YesFrom}
}
