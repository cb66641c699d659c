package darrmbeam

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
)

// Charge says who pays for a release, and how its answers add up. The rules, and what
// is written to the ledger, are those of darrm aggregate (package release): the same input
// costs the same there and here, and one ledger serves both.
type Charge struct {
	// Ledger is the path of a ledger, on a disk of this machine. "" charges none.
	Ledger string
	// RequestID names the release in the ledger. Required with Ledger.
	RequestID string
	// Teachers is "fresh" or "frozen". Required with Ledger, if the teachers promise
	// anything.
	Teachers string
	// Ensemble names the teachers in the ledger. Frozen ones need it: they are charged once,
	// under it.
	Ensemble string
	// EnsembleDigest is any text that identifies the teachers; once stated it is required.
	EnsembleDigest string
	// Draw names the votes of fresh teachers. Defaults to RequestID.
	Draw string
	// Relation says which datasets are neighbours in the teachers' promise. Defaults to
	// accountant.ReplaceOne.
	Relation accountant.Relation
	// Slack is the δ' that the composition of fresh answers may spend. Defaults to
	// release.Release.Slack.
	Slack *float64
}

// terms are the charge as the core's.
func (c *Charge) terms() release.Terms {
	t := release.Terms{
		RequestID: c.RequestID, Teachers: c.Teachers, Ensemble: c.Ensemble, EnsembleDigest: c.EnsembleDigest, Draw: c.Draw,
		Relation: release.RelationOf(c.relation()),
	}
	if c.Slack != nil {
		t.Slack = *c.Slack
	}
	return t
}

// check validates the charge by itself. promise says whether the teachers are private.
func (c *Charge) check(promise bool) error { return c.terms().Check(promise, c.Ledger != "") }

func (c *Charge) relation() accountant.Relation {
	if c.Relation == 0 {
		return accountant.ReplaceOne
	}
	return c.Relation
}

// slack is what the totals of a release may spend.
func (c *Charge) slack(r release.Release) float64 {
	if c.Slack != nil {
		return *c.Slack
	}
	return r.Slack()
}

// Totals is what the answers cost together, by who votes: Fresh, and Frozen and Again, which
// are nil where the teachers promise nothing.
type Totals = release.Totals

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
