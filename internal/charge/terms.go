package charge

import (
	"errors"
	"fmt"
	"strings"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
)

// TeachersPrefix begins the ids under which frozen teachers are charged. No release may
// have such an id: it would pass for a training that was paid for.
const TeachersPrefix = "teachers:"

// Terms say how the answers of a release add up, and what the ledger calls it.
type Terms struct {
	// RequestID names the release in the ledger.
	RequestID string
	// Teachers is "fresh" or "frozen", or "" where it was not said or the teachers promise
	// nothing.
	Teachers string
	// Ensemble names frozen teachers in the ledger: they are charged once, under it.
	Ensemble string
	// Slack is the δ' in [0,1) that the composition of fresh answers may spend.
	Slack float64
	// Key is the fingerprint of the key that the coins come from, where the release can be
	// resumed: the same request with another key is another release.
	Key string
}

// Check says whether the terms go together. promise says whether the teachers are private
// themselves, charged whether a ledger is charged. Slack's range is checked by
// [Release.Totals].
func (t Terms) Check(promise, charged bool) error {
	frozen := t.Teachers == accountant.FrozenTeachers.String()
	switch {
	case t.Teachers != "" && t.Teachers != accountant.FreshTeachers.String() && !frozen:
		return &check.Error{Name: "teachers", Value: fmt.Sprintf("%q", t.Teachers), Rule: `"fresh" or "frozen"`}
	case !promise && t.Teachers != "":
		return fmt.Errorf("teachers = %q, but teachers that promise nothing have no privacy to add up: leave it out", t.Teachers)
	case frozen && t.Slack != 0:
		return &check.Error{Name: "slack", Value: t.Slack, Rule: "0 for frozen teachers: what they cost does not grow with the answers"}
	case !charged && (t.RequestID != "" || t.Ensemble != ""):
		return errors.New("request id and ensemble go with a ledger")
	case !charged:
		return nil
	case t.RequestID == "":
		return errors.New("a ledger needs a request id")
	case promise && t.Teachers == "":
		return errors.New(`a ledger needs to know whether the teachers are "fresh" or "frozen"`)
	case strings.HasPrefix(t.RequestID, TeachersPrefix):
		return fmt.Errorf("request id = %q, but names that begin with %q are for teachers", t.RequestID, TeachersPrefix)
	case frozen && t.Ensemble == "":
		return errors.New("frozen teachers need the name of their ensemble")
	case !frozen && t.Ensemble != "":
		return fmt.Errorf("ensemble = %q, but an ensemble goes with frozen teachers: fresh votes share nothing that could be charged once", t.Ensemble)
	}
	return nil
}
