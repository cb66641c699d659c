package release

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/ledger"
)

// BudgetReport is a report on a ledger for the person who answers for it: the budget, the releases
// with their times and promises, the budget left, and the assumptions of all that. It has nothing
// that was computed from private data but the digests of what was released, and the head, which is
// a hash of all entries and so of keyed digests of votes: no votes, no labels, nothing by which two
// draws of equal votes differ from others.
type BudgetReport struct {
	Ledger string        `json:"ledger"`          // the file's name, without its folder
	About  *ledger.About `json:"about,omitempty"` // as it was made, nil for nothing
	BudgetBalance
	// of ε and of δ that is spent, in percent, rounded up
	Share    [2]float64    `json:"share"`
	Verdict  string        `json:"verdict"` // what is spent of the budget, in words
	Meaning  string        `json:"meaning"` // what was spent promises a person, in words
	Limit    string        `json:"limit"`   // what the whole budget would promise, in words
	Short    ShortBudget   `json:"-"`
	Warnings []string      `json:"warnings,omitempty"`
	Releases []ReportEntry `json:"charges"`
	Assumed  []Assumption  `json:"assumed"`
	BudgetHead
}

// BudgetBalance is what a budget is, and what of it is spent and left.
type BudgetBalance struct {
	Neighbours ledger.Relation `json:"neighbours"`
	Granted    Amount          `json:"granted"`
	Spent      Amount          `json:"spent"`     // rounded up, as every cost
	Remaining  Amount          `json:"remaining"` // granted less spent, exactly
}

// BudgetHead names a state of a ledger.
type BudgetHead struct {
	Entries uint64 `json:"entries"`
	Head    string `json:"head"`
}

func balance(l *ledger.Ledger, spent ledger.Cost) BudgetBalance {
	granted := l.Budget().Cost()
	return BudgetBalance{l.Relation(), NewAmount(granted), NewAmount(spent), NewAmount(granted.Minus(spent))}
}

func budgetHead(h ledger.Head) BudgetHead { return BudgetHead{h.Seq, h.String()} }

// BudgetState is the part of a [BudgetReport] that needs no reading of the charges themselves.
type BudgetState struct {
	Ledger string `json:"ledger"`
	BudgetBalance
	Share   [2]float64 `json:"share"`
	Meaning string     `json:"meaning"`
	Limit   string     `json:"limit"`
	BudgetHead
	Simulated bool `json:"simulated,omitempty"` // the ledger is one to try
}

// NewBudgetState reports a state of the ledger.
func NewBudgetState(l *ledger.Ledger, now ledger.State) BudgetState {
	granted := l.Budget().Cost()
	return BudgetState{
		shortName(l.Path()), balance(l, now.Spent), share(now.Spent, granted), meaning(now.Spent, l.Relation()),
		limit(granted), budgetHead(now.Head), l.Simulated(),
	}
}

// ShortBudget is ε and δ in six digits for people: what was spent rounded up, what remains down.
type ShortBudget struct{ Spent, Remaining [2]string }

func newShortBudget(spent, granted ledger.Cost) (s ShortBudget) {
	spentE, spentD := spent.Ceil()
	leftE, leftD := granted.Minus(spent).Floor()
	s.Spent = [2]string{short(spentE, true), short(spentD, true)}
	s.Remaining = [2]string{short(leftE, false), short(leftD, false)}
	return s
}

// warnings returns the warnings of a ledger to try, and of a sum that promises hardly anything.
func warnings(l *ledger.Ledger, spent ledger.Cost) (out []string) {
	if l.Simulated() {
		out = append(out, "no release: the ledger is in memory, and forgotten when its program ends")
	}
	return append(out, worthless(spent)...)
}

// worthless warns of a sum that promises hardly anything.
func worthless(spent ledger.Cost) (warnings []string) {
	epsilon, delta := spent.Ceil()
	if reason, is := ensemble.Worthless(accountant.Cost{Epsilon: epsilon, Delta: delta}, 0); is {
		warnings = append(warnings, "what was spent: "+reason)
	}
	return warnings
}

// Amount is a cost of a ledger in JSON: exact decimals, since float64s would round.
type Amount struct {
	Epsilon json.Number `json:"epsilon"`
	Delta   json.Number `json:"delta"`
}

// NewAmount returns the cost as decimals.
func NewAmount(c ledger.Cost) Amount {
	e, d := c.Decimals()
	return Amount{json.Number(e), json.Number(d)}
}

// ReportEntry is one charge of a ledger.
type ReportEntry struct {
	Seq    uint64    `json:"seq"`
	ID     string    `json:"request"`
	Time   time.Time `json:"time"` // by the clock of the machine that charged
	What   string    `json:"what"`
	Cost   Amount    `json:"cost"`              // of the whole charge
	Rule   string    `json:"rule,omitempty"`    // what the cost follows from
	PaidBy string    `json:"paid_by,omitempty"` // the earlier charge that covers this one, at no cost
	Who    string    `json:"ensemble,omitempty"`
	Reach  string    `json:"reach,omitempty"`  // how many teachers one record reaches, in words
	Result string    `json:"sha256,omitempty"` // of what is released; "" where the ledger has none
	// Quota is of a charge that pays for a number of answers of a table; nil of others.
	Quota *AnswersUsed `json:"quota,omitempty"`
	// Shared marks a charge that is no release itself: it pays for others.
	Shared bool `json:"shared,omitempty"`
}

// shortName is the name of a file; a ledger in a database is named in full.
func shortName(location string) string {
	if ledger.IsFile(location) {
		return filepath.Base(location)
	}
	return location
}

// NewBudgetReport verifies the ledger and reports its state. Errors are those of
// [ledger.Ledger.History]. Cost: that of History.
func NewBudgetReport(ctx context.Context, l *ledger.Ledger) (*BudgetReport, error) {
	// Before the entries: if there are none then, there were none now.
	empty, err := l.Head(ctx)
	if err != nil {
		return nil, err
	}
	entries, err := l.History(ctx)
	if err != nil {
		return nil, err
	}
	granted := l.Budget().Cost()
	// The sum of these entries, not what the ledger says now: somebody may charge meanwhile.
	var spent ledger.Cost
	for i := range entries {
		spent = spent.Plus(entries[i].Total())
	}
	head := empty
	if n := len(entries); n > 0 {
		head = ledger.Head{Seq: entries[n-1].Seq, Hash: entries[n-1].Hash}
	}
	now := NewBudgetState(l, ledger.State{Spent: spent, Head: head})
	r := &BudgetReport{Ledger: now.Ledger, BudgetBalance: now.BudgetBalance, Share: now.Share, Meaning: now.Meaning,
		Limit: now.Limit, Releases: []ReportEntry{}, BudgetHead: now.BudgetHead}
	r.Short, r.Warnings = newShortBudget(spent, granted), warnings(l, spent)
	if about := l.About(); about != (ledger.About{}) {
		r.About = &about
	}
	r.Verdict = verdict(spent, granted, now.Share)
	results := map[string]string{}
	for i := range entries {
		if entries[i].Kind == ledger.KindResult {
			results[entries[i].ID] = entries[i].Result.String()
		}
	}
	var assumed assumptions
	taken := takenBy(entries)
	for i := range entries {
		if e := &entries[i]; e.Kind == ledger.KindCharge {
			r.Releases = append(r.Releases, newReportEntry(e, results[e.ID], taken))
			assumed.of(e)
		}
	}
	r.Assumed = append(general(l.Relation()), assumed.list...)
	var open []string
	for _, e := range r.Releases {
		if e.Result == "" && !e.Shared {
			open = append(open, e.ID)
		}
	}
	if n := len(open); n > 0 {
		if n > 5 {
			open = append(open[:5], "…")
		}
		r.Warnings = append(r.Warnings,
			fmt.Sprintf("charges without a recorded result: %d (%s); they were not released, or not by "+
				"this program", n, strings.Join(open, ", ")))
	}
	return r, nil
}

// newReportEntry reports a charge, of which so many answers were taken.
func newReportEntry(e *ledger.Entry, result string, taken map[string]uint64) ReportEntry {
	out := ReportEntry{
		Seq: e.Seq, ID: e.ID, Time: e.Time,
		What: "not a release of this program; its maker vouches for the cost", Cost: NewAmount(e.Total()),
		PaidBy: e.PaidBy, Who: e.Ensemble, Result: result, Shared: covers(e),
	}
	if s := Describe(e.Event); s != "" {
		out.What = visible(s)
	}
	event, label := labelEvent(e)
	if label {
		out.Rule = visible(event.Rule)
		if event.K > 0 && event.Affected > 0 && e.PaidBy == "" {
			out.Reach = reach(constraints.Problem{K: event.K, Affected: event.Affected})
		}
	}
	if m, ok := modelEvent(e.Event); label && event.AcceptWeak || ok && m.AcceptWeak {
		out.What += "; stated that a total which protects nobody is accepted"
	}
	if out.Quota = answersUsed(e, taken); out.Quota != nil {
		out.What += "; " + out.Quota.String()
	}
	return out
}

// covers reports whether a charge pays for releases instead of being one.
func covers(e *ledger.Entry) bool {
	return isShared(e.ID) || e.Draw != nil && e.Draw.Covers
}

// visible writes what another program may have made so that nothing of it acts on a reader's
// screen or turns the direction of text.
func visible(s string) string {
	quoted := strconv.Quote(s)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}

func labelEvent(e *ledger.Entry) (event Event, ok bool) {
	_, model := modelEvent(e.Event)
	err := json.Unmarshal(e.Event, &event)
	return event, err == nil && event.Mechanism != "" && !model
}
