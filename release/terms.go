package release

import (
	"errors"
	"fmt"
	"strings"

	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/ledger"
)

// These begin the ids of what is charged once for many releases. No release may have such
// an id: it would pass for what was paid for.
const (
	TeachersPrefix = "teachers:" // the training of frozen teachers
	DrawPrefix     = "draw:"     // one series of fresh teachers' votes, answered any number of times
)

// Terms say how the answers of a release add up, and what the ledger calls it.
type Terms struct {
	// RequestID names the release in the ledger.
	RequestID string
	// Teachers is "fresh" or "frozen", or "" where it was not said or the teachers promise
	// nothing.
	Teachers string
	// Ensemble names the teachers in the ledger. Frozen ones need it: they are charged once,
	// under it. Of fresh ones it may be "". It is only a name: that the teachers behind it
	// are the same every time is the caller's word.
	Ensemble string
	// EnsembleDigest is any text that identifies the teachers behind the name. Once stated
	// it is required of every later release of the ensemble. It verifies nothing.
	EnsembleDigest string
	// Draw names the votes of fresh teachers: the same draw is the same rows, answered again.
	// Defaults to RequestID, and then votes that the ledger has seen under another name are
	// refused. A name that is stated is believed.
	Draw string
	// Votes is the keyed digest of fresh teachers' votes ([Reading.Votes]).
	Votes ledger.Digest
	// Relation says which datasets are neighbours in the teachers' promise. Required with a
	// ledger.
	Relation ledger.Relation
	// Slack is the δ' in [0,1) that the composition of fresh answers may spend.
	Slack float64
	// Key is the fingerprint of the key that the coins come from, where the release can be
	// resumed: the same request with another key is another release.
	Key string
}

func (t Terms) fresh() bool { return t.Teachers == ensemble.FreshTeachers.String() }

// NeedsVotes says whether a ledger must be able to recognise the votes: those of fresh
// teachers, whose second answer is not theirs anew.
func (t Terms) NeedsVotes() bool { return t.fresh() }

// draw is the draw as the ledger's; nil where there is none.
func (t Terms) draw() *ledger.Draw {
	if !t.fresh() {
		return nil
	}
	d := &ledger.Draw{Name: t.Draw, Votes: t.Votes, Stated: t.Draw != ""}
	if d.Name == "" {
		d.Name = t.RequestID
	}
	return d
}

// Check says whether the terms go together. promise says whether the teachers are private
// themselves, charged whether a ledger is charged. Slack's range is checked by
// [Release.Totals].
func (t Terms) Check(promise, charged bool) error {
	frozen := t.Teachers == ensemble.FrozenTeachers.String()
	switch {
	case t.Teachers != "" && t.Teachers != ensemble.FreshTeachers.String() && !frozen:
		return &check.Error{Name: "teachers", Value: fmt.Sprintf("%q", t.Teachers), Rule: `"fresh" or "frozen"`}
	case !promise && t.Teachers != "":
		return fmt.Errorf("teachers = %q, but teachers that promise nothing have no privacy to add up: leave it out", t.Teachers)
	case frozen && t.Slack != 0:
		return &check.Error{Name: "slack", Value: t.Slack, Rule: "0 for frozen teachers: what they cost does not grow with the answers"}
	case !charged && (t.RequestID != "" || t.Ensemble != "" || t.EnsembleDigest != "" || t.Draw != ""):
		return errors.New("request id, ensemble, ensemble digest and draw go with a ledger")
	case !charged:
		return nil
	case t.RequestID == "":
		return errors.New("a ledger needs a request id")
	case promise && t.Teachers == "":
		return errors.New(`a ledger needs to know whether the teachers are "fresh" or "frozen"`)
	case strings.HasPrefix(t.RequestID, TeachersPrefix), strings.HasPrefix(t.RequestID, DrawPrefix):
		return fmt.Errorf("request id = %q, but names that begin with %q or %q are for what many releases share", t.RequestID, TeachersPrefix, DrawPrefix)
	case frozen && t.Ensemble == "":
		return errors.New("frozen teachers need the name of their ensemble")
	case t.Teachers == "" && t.Ensemble != "":
		return fmt.Errorf("ensemble = %q, but teachers that promise nothing share nothing that could be charged once: leave it out", t.Ensemble)
	case t.EnsembleDigest != "" && t.Ensemble == "":
		return errors.New("an ensemble digest needs the name of the ensemble")
	case t.Draw != "" && !t.fresh():
		return fmt.Errorf("draw = %q, but a draw is of fresh teachers' votes: of frozen teachers, and of teachers that promise nothing, every answer is paid for in another way", t.Draw)
	}
	return nil
}
