package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/charge"
	"github.com/darrm/darrm/ledger"
)

// chargeFlags say who pays for a release, and how its answers add up.
type chargeFlags struct {
	ledger, requestID string
	teachers          string
	ensemble          string
	slack             float64
	dryRun            bool
	checkpoint        string
}

func (f *chargeFlags) register(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.ledger, "ledger", "", "charge this ledger (darrm budget init) before a label is drawn")
	fl.StringVar(&f.requestID, "request-id", "", "name of this release in the ledger; a name is charged and answered once")
	fl.StringVar(&f.teachers, "teachers", "", "\"fresh\": each vote is a new run of a private mechanism, or \"frozen\": the\nteachers were trained once and vote ever after; needed to charge a ledger")
	fl.StringVar(&f.ensemble, "ensemble", "", "name of the frozen teachers in the ledger: they are charged once, under it")
	fl.Float64Var(&f.slack, "slack", 0, "δ' that the composition of fresh answers may spend besides their own δ")
	fl.StringVar(&f.checkpoint, "checkpoint", "", "keep the SECRET key of the coins here until the labels are out, so that\nthe same command finishes a release that was paid for and interrupted\n(darrm only)")
	fl.BoolVar(&f.dryRun, "dry-run", false, "say what the release would cost, and release and charge nothing")
}

// terms are the flags as the ledger's.
func (f *chargeFlags) terms() charge.Terms {
	return charge.Terms{RequestID: f.requestID, Teachers: f.teachers, Ensemble: f.ensemble, Slack: f.slack}
}

// prepare checks the flags. promise says whether the teachers are private themselves.
func (f *chargeFlags) prepare(c *cobra.Command, promise bool) error {
	if err := f.complete(c, promise); err != nil {
		return err
	}
	if err := f.terms().Check(promise, f.ledger != ""); err != nil {
		return usageError{err}
	}
	return nil
}

// complete says which flags are missing, or there for nothing, by their names.
func (f *chargeFlags) complete(c *cobra.Command, promise bool) error {
	if f.ledger == "" {
		for _, name := range []string{"request-id", "ensemble", "checkpoint"} {
			if c.Flags().Changed(name) {
				return usagef("--%s goes with --ledger", name)
			}
		}
		return nil
	}
	needed := []string{"request-id"}
	if promise {
		needed = append(needed, "teachers")
	}
	if f.teachers == accountant.FrozenTeachers.String() {
		needed = append(needed, "ensemble")
	}
	return require(c, needed...)
}

// account is an open ledger with the charges of one release.
type account struct {
	ledger  *ledger.Ledger
	flags   *chargeFlags
	bill    *charge.Bill
	receipt *ledger.Receipt // of this try or, where that paid, an earlier one
	resume  *resumption     // nil where the release cannot be resumed
}

// open opens the ledger and verifies it; nil where none is wanted.
func (f *chargeFlags) open(c *cobra.Command) (*account, error) {
	if f.ledger == "" {
		return nil, nil
	}
	l, err := openLedger(c, f.ledger)
	if err != nil {
		return nil, err
	}
	return &account{ledger: l, flags: f}, nil
}

// plan works out what the release is charged.
func (acc *account) plan(report *releaseReport) (err error) {
	terms := acc.flags.terms()
	if acc.resume != nil {
		fingerprint := acc.resume.key.Fingerprint()
		terms.Key = hex.EncodeToString(fingerprint[:])
	}
	acc.bill, err = report.release().Bill(terms, report.totals)
	return err
}

// charge pays for the release and returns nil when sampling may begin.
func (acc *account) charge(c *cobra.Command) (err error) {
	acc.receipt, err = acc.bill.Pay(c.Context(), acc.ledger, acc.resume != nil && acc.resume.resumed)
	return err
}

// forget removes the key of a release that needs none any more.
func (acc *account) forget() error {
	if acc.resume == nil {
		return nil
	}
	return acc.resume.forget()
}

// note is noting for what acc paid; nil where nothing was paid.
func (acc *account) note(ctx context.Context) func(ledger.Digest) error {
	if acc == nil {
		return nil
	}
	return noting(ctx, acc.ledger, acc.receipt)
}

// noting returns what keeps the digest of a result in the ledger, to be called before the
// result is published (package charge says why); nil where nothing was paid.
func noting(ctx context.Context, l *ledger.Ledger, receipt *ledger.Receipt) func(ledger.Digest) error {
	if receipt == nil {
		return nil
	}
	id := receipt.Entry().ID
	return func(d ledger.Digest) error {
		err := l.RecordResult(ctx, receipt, d)
		switch {
		case errors.Is(err, ledger.ErrConflict):
			return fmt.Errorf("nothing was released: request %q has one result, and this is another: finish it with the flags that it was begun with: %w", id, err)
		case err != nil:
			return ledgerError{fmt.Errorf("nothing was released, but request %q is charged: note its result in the ledger: %w", id, err)}
		}
		return nil
	}
}

// publish lets a document be seen at path, all of it or nothing. It is encoded twice where
// it is noted: for the digest first, before a byte can be seen.
func publish(a *app, path string, note func(ledger.Digest) error, encode func(io.Writer) error) error {
	if note != nil {
		digest := sha256.New()
		if err := encode(digest); err != nil {
			return err
		}
		if err := note(ledger.Digest(digest.Sum(nil))); err != nil {
			return err
		}
	}
	return a.deliver(path, encode)
}

// refused says whether a charge was certainly not made.
func refused(err error) bool {
	return errors.Is(err, ledger.ErrRefused)
}

// released reports whether the file at path holds what a replayed request released.
func released(err error, path string) bool {
	return path != "" && path != "-" && charge.Released(err, func() (io.ReadCloser, error) { return os.Open(path) })
}
