package main

import (
	"context"
	"io"
	"math"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/readfile"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
)

// chargeFlags say who pays for a release, and how its answers add up.
type chargeFlags struct {
	ledger, requestID string
	teachers          string
	ensemble, digest  string
	draw              string
	slack             float64
	dryRun            bool
	checkpoint        string
	records           int
	force             bool
}

func (f *chargeFlags) register(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.ledger, "ledger", "", "charge this ledger (darrm budget init) before a label is drawn")
	fl.StringVar(&f.requestID, "request-id", "", "name of this release in the ledger; a name is charged and answered once")
	fl.StringVar(&f.teachers, "teachers", "", "\"fresh\": each vote is a new run of a private mechanism, or \"frozen\": each\nteacher's training was private, and it votes ever after; needed to charge a\nledger")
	fl.StringVar(&f.ensemble, "ensemble", "", "name of the teachers in the ledger. Frozen ones are charged once, under it:\nthat the name stands for the same teachers every time is your word")
	fl.StringVar(&f.digest, "ensemble-digest", "", "any text that identifies the teachers, such as a hash of their files. Once\nstated it is required of every release of the ensemble; it verifies nothing")
	fl.StringVar(&f.draw, "draw", "", "name of these votes of fresh teachers (default: the request id). State the\nname of an earlier draw to answer the same votes again, a new one if the\nteachers cast these votes anew")
	registerSlack(c, &f.slack)
	registerRecords(c, &f.records)
	fl.StringVar(&f.checkpoint, "checkpoint", "", "keep the SECRET key of the coins here until the labels are out, so that\nthe same command finishes a release that was paid for and interrupted\n(darrm and its baselines only)")
	fl.BoolVar(&f.dryRun, "dry-run", false, "say what the release would cost, and release and charge nothing")
	fl.BoolVar(&f.force, "force", false, "without --ledger: replace --out by a new draw. Nobody accounts for the two")
}

// registerSlack registers --slack, whose default the answers decide (release.Slack).
func registerSlack(c *cobra.Command, slack *float64) {
	c.Flags().Float64Var(slack, "slack", 0, "δ' that the composition of fresh answers may spend besides their own δ\n(default 1e-6, or 0 where the answers have δ = 0)")
}

func registerRecords(c *cobra.Command, records *int) {
	c.Flags().IntVar(records, "records", 0, "how many records the teachers were trained on, if it is public: a total δ of\n1/records or more is then called worthless")
}

// terms are the flags as the ledger's.
func (f *chargeFlags) terms(relation accountant.Relation) release.Terms {
	return release.Terms{
		RequestID: f.requestID, Teachers: f.teachers, Ensemble: f.ensemble, EnsembleDigest: f.digest, Draw: f.draw,
		Relation: release.RelationOf(relation), Slack: f.slack,
	}
}

// prepare checks the flags. promise says whether the teachers are private themselves.
func (f *chargeFlags) prepare(c *cobra.Command, relation accountant.Relation, promise bool) error {
	if err := f.complete(c, promise); err != nil {
		return err
	}
	if err := f.terms(relation).Check(promise, f.ledger != ""); err != nil {
		return usageError{err}
	}
	return nil
}

// complete says which flags are missing, or there for nothing, by their names.
func (f *chargeFlags) complete(c *cobra.Command, promise bool) error {
	if err := release.CheckRecords(f.records); err != nil {
		return err
	}
	if f.ledger == "" {
		for _, name := range []string{"request-id", "ensemble", "ensemble-digest", "draw", "checkpoint"} {
			if c.Flags().Changed(name) {
				return usagef("--%s goes with --ledger", name)
			}
		}
		return nil
	}
	if f.force {
		return usagef("--force goes without --ledger: a ledger knows what was released")
	}
	needed := []string{"request-id"}
	if promise {
		needed = append(needed, "teachers")
	}
	if f.teachers == ensemble.FrozenTeachers.String() {
		needed = append(needed, "ensemble")
	}
	return require(c, needed...)
}

// payment is an open ledger with the charges of one release.
type payment struct {
	ledger     *ledger.Ledger
	terms      release.Terms
	bill       *release.Bill
	receipt    *ledger.Receipt     // of this try or, where that paid, an earlier one
	checkpoint *release.Checkpoint // nil where the release cannot be resumed
}

// open opens the ledger and verifies it; nil where none is wanted.
func (f *chargeFlags) open(c *cobra.Command, relation accountant.Relation) (*payment, error) {
	if f.ledger == "" {
		return nil, nil
	}
	l, err := openLedger(c, f.ledger)
	if err != nil {
		return nil, err
	}
	pay := &payment{ledger: l, terms: f.terms(relation)}
	if f.checkpoint != "" && !f.dryRun {
		if pay.checkpoint, err = release.OpenCheckpoint(c.Context(), f.checkpoint); err != nil {
			return nil, err
		}
	}
	return pay, nil
}

// voteHash returns what recognises the votes when they are answered again; nil where no
// ledger needs it.
func (pay *payment) voteHash() (*ledger.VoteHash, error) {
	if pay == nil || !pay.terms.NeedsVotes() {
		return nil, nil
	}
	return pay.ledger.VoteHash()
}

// plan works out what the release is charged.
func (pay *payment) plan(report *releaseReport, votes ledger.Digest) (err error) {
	pay.terms.Slack, pay.terms.Votes, pay.terms.Key = report.slack, votes, pay.checkpoint.Key()
	pay.bill, err = report.release().Bill(pay.terms, report.totals)
	return err
}

// charge pays for the release and returns nil when sampling may begin.
func (pay *payment) charge(ctx context.Context) (err error) {
	pay.receipt, err = pay.bill.Pay(ctx, pay.ledger, pay.checkpoint.Resumed())
	return err
}

// note keeps the digest of what will be seen; it does nothing where nothing was paid.
func (pay *payment) note(ctx context.Context) func(ledger.Digest) error {
	if pay == nil {
		return release.Note(ctx, nil, nil)
	}
	return release.Note(ctx, pay.ledger, pay.receipt)
}

// publish lets a document be seen at path, all of it or nothing, noted before.
func publish(a *app, path string, note func(ledger.Digest) error, encode func(io.Writer) error) error {
	if err := release.NoteDocument(note, encode); err != nil {
		return err
	}
	return a.deliver(path, encode)
}

// released reports whether the file at path holds what a replayed request released.
func released(ctx context.Context, err error, path string) bool {
	open := func() (io.ReadCloser, error) { return readfile.Open(ctx, path, math.MaxInt64) } // hashed as a stream
	return path != "" && path != "-" && release.Released(err, open)
}
