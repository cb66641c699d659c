package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
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

// teachersPrefix begins the ids under which frozen teachers are charged.
const teachersPrefix = "teachers:"

// prepare checks the flags. promise says whether the teachers are private themselves.
func (f *chargeFlags) prepare(c *cobra.Command, promise bool) error {
	switch f.teachers {
	case "", accountant.FreshTeachers.String(), accountant.FrozenTeachers.String():
	default:
		return usagef("teachers = %q, but it must be \"fresh\" or \"frozen\"", f.teachers)
	}
	if !promise && f.teachers != "" {
		return usagef("teachers = %q, but teachers that promise nothing have no privacy to add up: leave it out", f.teachers)
	}
	frozen := f.teachers == accountant.FrozenTeachers.String()
	if frozen && f.slack != 0 {
		return usagef("slack = %v goes with --teachers fresh: what frozen teachers cost does not grow with the answers", f.slack)
	}
	if f.ledger == "" {
		for _, name := range []string{"request-id", "ensemble", "checkpoint"} {
			if c.Flags().Changed(name) {
				return usagef("--%s goes with --ledger", name)
			}
		}
		return nil
	}
	if err := require(c, "request-id"); err != nil {
		return err
	}
	if promise {
		if err := require(c, "teachers"); err != nil {
			return err
		}
	}
	if strings.HasPrefix(f.requestID, teachersPrefix) {
		return usagef("request-id = %q, but names that begin with %q are for teachers", f.requestID, teachersPrefix)
	}
	if frozen {
		return require(c, "ensemble")
	}
	if f.ensemble != "" {
		return usagef("--ensemble goes with --teachers frozen: fresh votes share nothing that could be charged once")
	}
	return nil
}

// releaseEvent is what the ledger remembers of a charge. It holds nothing that was
// computed from the votes: a ledger is read by people who may not see them.
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
	Key        string  `json:"key,omitempty"` // fingerprint of a resumable release's key
	Rule       string  `json:"rule"`
}

type costJS struct {
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
}

func (e releaseEvent) String() string {
	if e.PerAnswer == nil {
		return fmt.Sprintf("training of %d teachers, one record reaches %d", e.K, e.Affected)
	}
	s := fmt.Sprintf("%d answers of %s at (%v, %v)", e.Queries, e.Mechanism, e.PerAnswer.Epsilon, e.PerAnswer.Delta)
	if e.Ensemble != "" {
		s += ", paid by " + teachersPrefix + e.Ensemble
	}
	return s
}

// totals is what a series of answers costs, by who votes.
type totals struct {
	fresh  accountant.ReleaseTotal
	frozen *accountant.ReleaseTotal // nil where the teachers promise nothing
}

// newTotals accounts for answers of a mechanism that each cost per. Where p's teachers
// promise nothing, all privacy is the mechanism's own noise, fresh in every answer.
func newTotals(p constraints.Problem, g *ensemble.Aggregator, queries int, slack float64) (totals, error) {
	var t totals
	if queries > accountant.MaxOptimalCount {
		return manyTotals(p, g.PerAnswer(), queries)
	}
	r := accountant.Release{
		Queries: queries, PerAnswer: g.PerAnswer(), K: p.K, Affected: p.Affected,
		Teachers:   accountant.Cost{Epsilon: p.Epsilon, Delta: p.TeacherDelta},
		Randomness: accountant.FreshTeachers, Slack: slack,
	}
	var err error
	if t.fresh, err = r.Total(); err != nil {
		return t, err
	}
	if noise, ok := g.Noise(); ok {
		t.fresh = withNoise(r, noise, t.fresh)
	}
	if math.IsInf(p.Epsilon, 1) {
		return t, nil
	}
	r.Randomness, r.Slack = accountant.FrozenTeachers, 0
	frozen, err := r.Total()
	t.frozen = &frozen
	return t, err
}

// frozenTotal is what any number of answers of teachers costs that were trained once. It is
// that of two answers: a single one has a total of its own, which may be smaller.
func frozenTotal(p constraints.Problem, per accountant.Cost) (accountant.ReleaseTotal, error) {
	return accountant.Release{
		Queries: 2, PerAnswer: per, K: p.K, Affected: p.Affected, Randomness: accountant.FrozenTeachers,
		Teachers: accountant.Cost{Epsilon: p.Epsilon, Delta: p.TeacherDelta},
	}.Total()
}

// manyTotals is newTotals beyond what the optimal composition takes: answers add up by the
// basic one, which is never less, and what frozen teachers cost does not depend on them.
func manyTotals(p constraints.Problem, per accountant.Cost, queries int) (t totals, err error) {
	t.fresh.Rule = fmt.Sprintf("basic composition of %d answers", queries)
	if t.fresh.Cost, err = accountant.Basic(queries, per); err != nil || math.IsInf(p.Epsilon, 1) {
		return t, err
	}
	frozen, err := frozenTotal(p, per)
	t.frozen = &frozen
	return t, err
}

// withNoise returns the total at the same δ by the noise itself, which adds up better than
// the (ε, δ) of one answer, or the total at hand where that is smaller.
func withNoise(r accountant.Release, noise accountant.NoisyAnswer, total accountant.ReleaseTotal) accountant.ReleaseTotal {
	if r.Queries == 0 || !(total.Cost.Delta > 0 && total.Cost.Delta < 1) {
		return total
	}
	r.PerAnswer, r.Noise, r.Slack, r.Delta = accountant.Cost{}, noise, 0, total.Cost.Delta
	if t, err := r.Total(); err == nil && t.Cost.Epsilon < total.Cost.Epsilon && t.Cost.Delta <= total.Cost.Delta {
		return t
	}
	return total
}

// account is an open ledger with the charges of one release.
type account struct {
	ledger  *ledger.Ledger
	flags   *chargeFlags
	train   *ledger.Request // of frozen teachers; charged once
	request ledger.Request
	receipt *ledger.Receipt
	resume  *resumption // nil where the release cannot be resumed
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
func (acc *account) plan(report *releaseReport) error {
	f, p, per, t := acc.flags, report.problem, report.aggregator.PerAnswer(), report.totals
	event := releaseEvent{
		Mechanism: report.aggregator.Name(), Queries: report.queries, K: p.K, Affected: p.Affected, Teachers: f.teachers, Ensemble: f.ensemble,
		PerAnswer: (*costJS)(&per), Slack: f.slack, Rule: t.fresh.Rule,
	}
	if f.ensemble != "" {
		event.Rule = "post-processing of the teachers"
		// The training is paid for once, so for any number of answers.
		any, err := frozenTotal(p, per)
		if err != nil {
			return err
		}
		train := releaseEvent{
			Mechanism: "training", K: p.K, Affected: p.Affected, Teachers: f.teachers, Ensemble: f.ensemble,
			PerTeacher: &costJS{p.Epsilon, p.TeacherDelta}, Rule: any.Rule,
		}
		if acc.train, err = newRequest(teachersPrefix+f.ensemble, any.Cost, train); err != nil {
			return err
		}
	}
	if acc.resume != nil {
		fingerprint := acc.resume.key.Fingerprint()
		event.Key = hex.EncodeToString(fingerprint[:])
	}
	if f.teachers == "" {
		event.Teachers = "promise nothing"
	}
	r, err := newRequest(f.requestID, t.fresh.Cost, event)
	if err != nil {
		return err
	}
	if acc.train != nil {
		r.Unit, r.PaidBy = ledger.Cost{}, acc.train.ID
	}
	acc.request = *r
	return nil
}

func newRequest(id string, cost accountant.Cost, event releaseEvent) (*ledger.Request, error) {
	unit, err := ledger.NewCost(cost.Epsilon, cost.Delta)
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(event)
	return &ledger.Request{ID: id, Count: 1, Unit: unit, Event: b}, err
}

// check says whether the charge would go through, without making it.
func (acc *account) check(c *cobra.Command) (pay ledger.Cost, err error) {
	if acc.train != nil {
		err := acc.ledger.Check(c.Context(), *acc.train)
		if err == nil {
			pay = acc.train.Unit // and then the answers have somebody who paid
			free := acc.request
			free.Unit, free.PaidBy = acc.train.Unit, ""
			return pay, acc.ledger.Check(c.Context(), free)
		}
		if !errors.Is(err, ledger.ErrReplayed) {
			return pay, err
		}
	}
	return acc.request.Unit, acc.ledger.Check(c.Context(), acc.request)
}

// charge pays for the release and returns nil when sampling may begin. The training
// of frozen teachers comes first: a crash in between leaves it paid and nothing released.
func (acc *account) charge(c *cobra.Command) error {
	if acc.train != nil {
		receipt, err := acc.ledger.Charge(c.Context(), *acc.train)
		switch {
		case errors.Is(err, ledger.ErrReplayed): // paid before
		case err != nil:
			return err
		default:
			if err := receipt.Redeem(); err != nil {
				return err
			}
		}
	}
	receipt, err := acc.ledger.Charge(c.Context(), acc.request)
	if acc.resume != nil && acc.resume.resumed && errors.Is(err, ledger.ErrReplayed) {
		// The very same request, its key included: the same answers, paid for before.
		return nil
	}
	if err != nil {
		return err
	}
	acc.receipt = receipt
	return receipt.Redeem()
}

// released reports whether the file at path holds what a replayed request released.
func released(err error, path string) bool {
	var replayed *ledger.ReplayedError
	if !errors.As(err, &replayed) || path == "" || path == "-" {
		return false
	}
	f, err := os.Open(path)
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
