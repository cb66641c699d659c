package darrmbeam

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/darrm/darrm/internal/charge"
	"github.com/darrm/darrm/ledger"
)

// Charge says who pays for a release, and how its answers add up. The rules, and what
// is written to the ledger, are those of darrm aggregate: the same input costs the same
// there and here, and one ledger serves both.
type Charge struct {
	// Ledger is the path of a ledger, on a disk of this machine. "" charges none.
	Ledger string
	// RequestID names the release in the ledger. Required with Ledger.
	RequestID string
	// Teachers is "fresh" or "frozen". Required with Ledger, if the teachers promise
	// anything.
	Teachers string
	// Ensemble names frozen teachers in the ledger: they are charged once, under it.
	Ensemble string
	// Slack is the δ' that the composition of fresh answers may spend.
	Slack float64
}

// terms are the charge as the core's.
func (c *Charge) terms() charge.Terms {
	return charge.Terms{RequestID: c.RequestID, Teachers: c.Teachers, Ensemble: c.Ensemble, Slack: c.Slack}
}

// check validates the charge by itself. promise says whether the teachers are private.
func (c *Charge) check(promise bool) error { return c.terms().Check(promise, c.Ledger != "") }

// Totals is what the answers cost together, by who votes: Fresh, and Frozen, which is nil
// where the teachers promise nothing.
type Totals = charge.Totals

// openLedger opens the ledger of a charge; nil where none is wanted.
func (c *Charge) openLedger(ctx context.Context) (*ledger.Ledger, error) {
	if c.Ledger == "" {
		return nil, nil
	}
	if _, err := os.Stat(c.Ledger); errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("there is no ledger at %s: make one with darrm budget init", c.Ledger)
	}
	return ledger.Open(ctx, c.Ledger)
}
