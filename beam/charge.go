package darrmbeam

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/internal/check"
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

// teachersPrefix begins the ids under which frozen teachers are charged.
const teachersPrefix = "teachers:"

// check validates the charge by itself. promise says whether the teachers are private.
func (c *Charge) check(promise bool) error {
	frozen := c.Teachers == accountant.FrozenTeachers.String()
	switch {
	case c.Teachers != "" && c.Teachers != accountant.FreshTeachers.String() && !frozen:
		return &check.Error{Name: "teachers", Value: fmt.Sprintf("%q", c.Teachers), Rule: `"fresh" or "frozen"`}
	case !promise && c.Teachers != "":
		return &check.Error{Name: "teachers", Value: fmt.Sprintf("%q", c.Teachers), Rule: "left out for teachers that promise nothing: there is no privacy of theirs to add up"}
	case frozen && c.Slack != 0:
		return &check.Error{Name: "slack", Value: c.Slack, Rule: "0 for frozen teachers: what they cost does not grow with the answers"}
	case c.Ledger == "" && (c.RequestID != "" || c.Ensemble != ""):
		return errors.New("request id and ensemble go with a ledger")
	case c.Ledger == "":
		return nil
	case c.RequestID == "":
		return errors.New("a ledger needs a request id")
	case promise && c.Teachers == "":
		return errors.New(`a ledger needs to know whether the teachers are "fresh" or "frozen"`)
	case strings.HasPrefix(c.RequestID, teachersPrefix):
		return &check.Error{Name: "request id", Value: fmt.Sprintf("%q", c.RequestID), Rule: fmt.Sprintf("no name that begins with %q: those are for teachers", teachersPrefix)}
	case frozen && c.Ensemble == "":
		return errors.New("frozen teachers need the name of their ensemble")
	case !frozen && c.Ensemble != "":
		return errors.New("an ensemble goes with frozen teachers: fresh votes share nothing that could be charged once")
	}
	return nil
}

// releaseEvent is what the ledger remembers of a charge: the fields of darrm aggregate,
// of which none is computed from the votes.
type releaseEvent struct {
	Mechanism  string  `json:"mechanism"`
	Queries    int     `json:"queries,omitempty"`
	K          int     `json:"k"`
	Affected   int     `json:"affected"`
	Teachers   string  `json:"teachers"`
	Ensemble   string  `json:"ensemble,omitempty"`
	PerAnswer  *costJS `json:"per_answer,omitempty"`
	PerTeacher *costJS `json:"per_teacher,omitempty"`
	Slack      float64 `json:"slack,omitempty"`
	Rule       string  `json:"rule"`
}

type costJS struct {
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
}

// Totals is what the answers cost together, by who votes.
type Totals struct {
	Fresh  accountant.ReleaseTotal
	Frozen *accountant.ReleaseTotal // nil where the teachers promise nothing
}

// newTotals accounts for queries answers, each of which costs per.
func newTotals(p constraints.Problem, per accountant.Cost, queries int, slack float64) (t Totals, err error) {
	r := accountant.Release{
		Queries: queries, PerAnswer: per, K: p.K, Affected: p.Affected,
		Randomness: accountant.FreshTeachers, Slack: slack,
	}
	promise := !math.IsInf(p.Epsilon, 1)
	if promise {
		r.Teachers = accountant.Cost{Epsilon: p.Epsilon, Delta: p.TeacherDelta}
	} // otherwise all privacy is the mechanism's own noise, fresh in every answer
	if t.Fresh, err = r.Total(); err != nil || !promise {
		return t, err
	}
	r.Randomness, r.Slack = accountant.FrozenTeachers, 0
	frozen, err := r.Total()
	t.Frozen = &frozen
	return t, err
}

// bill is what the ledger is asked for.
type bill struct {
	train   *ledger.Request // of frozen teachers; charged once
	request ledger.Request
}

// newBill works out what the release is charged.
func newBill(c Charge, p constraints.Problem, per accountant.Cost, queries int, t Totals) (b bill, err error) {
	event := releaseEvent{
		Mechanism: "darrm", Queries: queries, K: p.K, Affected: p.Affected, Teachers: c.Teachers, Ensemble: c.Ensemble,
		PerAnswer: (*costJS)(&per), Slack: c.Slack, Rule: t.Fresh.Rule,
	}
	if c.Ensemble != "" {
		event.Rule = "post-processing of the teachers"
		// Of two answers, which is that of any number more: the training is paid for
		// once, and the cheaper total of a single answer would be too little for the next.
		any, err := accountant.Release{
			Queries: 2, PerAnswer: per, K: p.K, Affected: p.Affected, Randomness: accountant.FrozenTeachers,
			Teachers: accountant.Cost{Epsilon: p.Epsilon, Delta: p.TeacherDelta},
		}.Total()
		if err != nil {
			return b, err
		}
		train := releaseEvent{
			Mechanism: "training", K: p.K, Affected: p.Affected, Teachers: c.Teachers, Ensemble: c.Ensemble,
			PerTeacher: &costJS{p.Epsilon, p.TeacherDelta}, Rule: any.Rule,
		}
		if b.train, err = newRequest(teachersPrefix+c.Ensemble, any.Cost, train); err != nil {
			return b, err
		}
	}
	if c.Teachers == "" {
		event.Teachers = "promise nothing"
	}
	r, err := newRequest(c.RequestID, t.Fresh.Cost, event)
	if err != nil {
		return b, err
	}
	if b.train != nil {
		r.Unit, r.PaidBy = ledger.Cost{}, b.train.ID
	}
	b.request = *r
	return b, nil
}

func newRequest(id string, cost accountant.Cost, event releaseEvent) (*ledger.Request, error) {
	unit, err := ledger.NewCost(cost.Epsilon, cost.Delta)
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(event)
	return &ledger.Request{ID: id, Count: 1, Unit: unit, Event: b}, err
}

// pay charges the ledger and returns a used receipt: sampling may begin. The training of
// frozen teachers comes first: a crash in between leaves it paid and nothing released.
func (b bill) pay(ctx context.Context, l *ledger.Ledger) (*ledger.Receipt, error) {
	if b.train != nil {
		receipt, err := l.Charge(ctx, *b.train)
		switch {
		case errors.Is(err, ledger.ErrReplayed): // paid before
		case err != nil:
			return nil, err
		default:
			if err := receipt.Redeem(); err != nil {
				return nil, err
			}
		}
	}
	receipt, err := l.Charge(ctx, b.request)
	if err != nil {
		return nil, err
	}
	return receipt, receipt.Redeem()
}

// released reports whether the file at path holds what a replayed request released.
func released(ctx context.Context, err error, path string) bool {
	var replayed *ledger.ReplayedError
	if !errors.As(err, &replayed) {
		return false
	}
	f, err := open(ctx, path)
	if err != nil {
		return false
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return false
	}
	for _, r := range replayed.Replays {
		if r.Result != nil && *r.Result == ledger.Digest(h.Sum(nil)) {
			return true
		}
	}
	return false
}

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
