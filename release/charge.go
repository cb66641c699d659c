package release

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/votes"
)

// These begin the ids of what is charged once for many releases. No release may have such
// an id: what is shared could then be charged no more.
const (
	teachersPrefix = "teachers:" // the training of frozen teachers
	drawPrefix     = "draw:"     // one series of fresh teachers' votes, answered any number of times
	runPrefix      = "run:"      // a run whose answers are released one by one
	answersPrefix  = "answers:"  // all answers of a table that have one price
)

// sharedPrefixes are all of them.
var sharedPrefixes = []string{teachersPrefix, drawPrefix, runPrefix, answersPrefix}

// shared refuses the id of a release that begins as what many releases share.
func shared(id string) error {
	if isShared(id) {
		return fmt.Errorf("request id = %q, but names that begin with %q, %q, %q or %q are reserved for "+
			"what several releases share", id, teachersPrefix, drawPrefix, runPrefix, answersPrefix)
	}
	return nil
}

func isShared(id string) bool {
	return slices.ContainsFunc(sharedPrefixes, func(prefix string) bool {
		return strings.HasPrefix(id, prefix)
	})
}

// Charge states the payment for a release of labels: the ledger, the names in its entry, and the
// composition of the answers. The tags name the flags of commands that charge (internal/param).
type Charge struct {
	// Ledger is the location of a ledger, as [ledger.Open] takes it: a path, or a URL of a
	// store that the program links. "" charges none.
	Ledger string `flag:"ledger" help:"charge this ledger (darrm budget init) before a label is drawn"`
	// RequestID names the release in the ledger. Required with Ledger.
	RequestID string `flag:"request-id" name:"request id" help:"name of this release in the ledger; a name is charged and answered once"`
	// Teachers states how the teachers spend their privacy. Required with Ledger where they promise
	// anything; else it is left out.
	Teachers ensemble.TeacherRandomness `flag:"teachers" help:"\"fresh\": each vote is a new run of a private mechanism, or \"frozen\": each teacher's training was private, and it votes ever after; needed to charge a ledger"`
	// Ensemble names the teachers in the ledger. Frozen ones need it: they are charged once,
	// under it. Of fresh ones it may be "". It is only a name: that the teachers behind it
	// are the same every time is the caller's word.
	Ensemble string `flag:"ensemble" help:"name of the teachers in the ledger. Frozen teachers are charged once, under it: you promise that the name stands for the same teachers every time"`
	// EnsembleDigest is any text that identifies the teachers behind the name. Once stated
	// it is required of every later release of the ensemble. It verifies nothing.
	EnsembleDigest string `flag:"ensemble-digest" help:"any text that identifies the teachers, such as a hash of their files. Once stated, every release of the ensemble must state it; nothing is verified by it"`
	// Draw names the votes of fresh teachers: the same draw is the same rows, answered again.
	// Defaults to RequestID. Votes of a new draw that the ledger has seen under another name are
	// refused.
	Draw string `flag:"draw" help:"name of these votes of fresh teachers (default: the request id). State the name of an earlier draw to answer the same votes again"`
	// VotesCastAnew states that fresh teachers cast these votes for this draw, whatever votes
	// other draws have. It stands in no ledger.
	VotesCastAnew bool `flag:"votes-cast-anew" help:"state that fresh teachers cast these votes for this draw. A ledger then accepts them even if they equal those of an earlier draw. It records neither the statement nor the equality"`
	// Slack is the δ' in [0,1) that the composition of fresh answers may spend. Defaults to
	// ensemble.SlackFor one answer.
	Slack *float64 `flag:"slack" help:"δ' that the composition of fresh answers may spend besides their own δ (default 1e-6, but no more than the δ of one answer)"`
	// NewCharge pays for labels again, where one charge pays for many and one of the same statement, or
	// table, is there. It stands in no ledger.
	NewCharge bool `flag:"new-charge" help:"pay for $queries labels again, although $ledger has a charge of the same statement. The report prints the cost, and $dry-run prints it beforehand"`
	// Records is the number of records that the promise is about, if that is public; 0 if unknown.
	// What is spent in all must have a δ below one over it.
	Records int `flag:"records" help:"number of records that the teachers were trained on, if it is public: the total spent must have a δ below 1/records"`
	// AcceptWeak lets what is spent in all be worth nothing (ensemble.Worthless), which is refused
	// else. It stands in the ledger's entry.
	AcceptWeak bool `flag:"accept-weak" help:"release although the total spent protects nobody: ε above 10, or δ of 1/records or more (0.01 where the records are unknown). The ledger records the statement"`
	// Votes has fresh teachers' votes ([HashVotes]), which the ledger must be able to recognise.
	// [Labels] sets it.
	Votes *ledger.VoteHash
	// Query is the keyed digest of an on-line query and its votes. [Online] sets it.
	Query ledger.Digest
	// Client names who asked for an on-line answer, and Share is what the client may spend in
	// all, nil for no bound. [Online] sets them.
	Client string
	Share  *ledger.Budget
	// AnswersShare is the most answers that Client may take of a table whose answers have one price,
	// nil for no bound. [Online] sets it.
	AnswersShare *uint64
	online       bool // the release is an answer of [Online]
	// budget is the budget of all labels, resolved; nil where none is stated. [Labels] sets it.
	budget *accountant.Cost
	// Same has the spellings that are stated for votes. [Labels] sets it.
	Same []votes.Spelling
	// labels are the names of several labels of a question, in their order. [Labels] sets it.
	labels []string
	// stated is what decided on the mechanism; nil where that is not known. [Labels] and [Online] set
	// it.
	stated *Statement
	// bare leaves the mechanism's table and parameters out of the entry, as entries of before have it.
	bare bool
	// relation is the mechanism's. [Plan.Bill] sets it.
	relation accountant.Relation
	// Key is the fingerprint of the key that the coins come from, where the release can be
	// resumed: the same request with another key is another release. [Labels] and [Online] set it.
	Key string
}

// Open opens the ledger that is charged; nil for none.
func (c Charge) Open(ctx context.Context) (*ledger.Ledger, error) {
	return openLedger(ctx, c.Ledger)
}

func openLedger(ctx context.Context, location string) (*ledger.Ledger, error) {
	if location == "" {
		return nil, nil
	}
	l, err := ledger.Open(ctx, location)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("there is no ledger at %s: make one with darrm budget init: %w",
			ledger.Display(location), err)
	}
	return l, err
}

func (c Charge) fresh() bool { return c.Teachers == ensemble.FreshTeachers }

// NeedsVotes reports whether the ledger must be able to recognise the votes. It must for fresh
// teachers: a second answer to the same votes is no fresh vote.
func (c Charge) NeedsVotes() bool { return c.Ledger != "" && c.fresh() }

// draw is the draw as the ledger's; nil where there is none.
func (c Charge) draw() *ledger.Draw {
	switch {
	case !c.fresh():
		return nil
	case c.Votes == nil: // each query on line has votes of its own
		return &ledger.Draw{Name: c.RequestID, Votes: c.Query, Query: true}
	}
	d := c.Votes.Draw(c.Ensemble, cmp.Or(c.Draw, c.RequestID))
	d.CastAnew = c.VotesCastAnew
	return d
}

// Check returns an error unless the fields go together. promise states whether the teachers are
// private themselves. Slack's range is checked by [Plan.Totals]. The error is a [UsageError].
func (c Charge) Check(promise bool) error {
	err := CheckRecords(c.Records)
	if err == nil {
		if err = c.check(promise); err != nil {
			err = &UsageError{err}
		}
	}
	return err
}

// needsNone refuses parameters that have no use without a ledger.
func (c Charge) needsNone() error {
	for _, of := range []struct {
		p     check.Parameter
		given bool
	}{{pRequestID, c.RequestID != ""}, {pEnsemble, c.Ensemble != ""}, {pEnsembleDigest, c.EnsembleDigest != ""},
		{pDraw, c.Draw != ""}, {pVotesCastAnew, c.VotesCastAnew}} {
		if of.given {
			return check.Namedf("%s is for a ledger, and none is given: give %s, or leave %[1]s out", of.p, pLedger)
		}
	}
	return nil
}

func (c Charge) check(promise bool) error {
	frozen := c.Teachers == ensemble.FrozenTeachers
	switch {
	case c.Teachers != "" && !c.fresh() && !frozen:
		return check.Want("teachers", fmt.Sprintf("%q", c.Teachers), `"fresh" or "frozen"`)
	case !promise && c.Teachers != "":
		return fmt.Errorf("teachers = %q, but teachers that promise nothing have no privacy to add up: "+
			"leave it out", c.Teachers)
	case frozen && c.Slack != nil && *c.Slack != 0:
		return check.Want("slack", *c.Slack, "0 for frozen teachers: what they cost does not grow with the answers")
	case c.Ledger == "":
		return c.needsNone()
	case c.RequestID == "":
		return check.Namedf("a ledger needs a request id: give %s", pRequestID)
	case promise && c.Teachers == "":
		return check.Namedf("a ledger needs to know whether the teachers are \"fresh\" or \"frozen\": "+
			"give %s", pTeachers)
	case shared(c.RequestID) != nil:
		return shared(c.RequestID)
	case frozen && c.Ensemble == "":
		return check.Namedf("frozen teachers need the name of their ensemble: give %s", pEnsemble)
	case c.Teachers == "" && c.Ensemble != "":
		return fmt.Errorf("ensemble = %q, but teachers that promise nothing share nothing that could "+
			"be charged once: leave it out", c.Ensemble)
	case c.EnsembleDigest != "" && c.Ensemble == "":
		return check.Namedf("an ensemble digest needs the name of the ensemble: give %s", pEnsemble)
	case c.Draw != "" && !c.fresh():
		return fmt.Errorf("draw = %q, but a draw is of fresh teachers' votes: of frozen teachers, and "+
			"of teachers that promise nothing, every answer is paid for in another way", c.Draw)
	case c.VotesCastAnew && !c.fresh():
		return check.Namedf("votes cast anew are fresh teachers': leave %s out", pVotesCastAnew)
	}
	return nil
}
