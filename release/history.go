package release

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/ledger"
)

// BudgetSums are the sums of a ledger at one moment: spent is rounded up, remaining down.
type BudgetSums struct {
	Ledger string `json:"ledger"`
	BudgetBalance
	BudgetHead
	// Labels are the charges that pay for labels of several releases, the oldest first.
	Labels []LabelCharge `json:"labels,omitempty"`
}

// NewBudgetSums returns the sums of a state of the ledger.
func NewBudgetSums(l *ledger.Ledger, now ledger.State) BudgetSums {
	return BudgetSums{l.Path(), balance(l, now.Spent), budgetHead(now.Head), nil}
}

// Sums returns the report's own sums: somebody may have charged the ledger since.
func (r *BudgetReport) Sums(l *ledger.Ledger) BudgetSums {
	r = handle.Made(r)
	return BudgetSums{l.Path(), r.BudgetBalance, r.BudgetHead, nil}
}

// History is every entry of a ledger in order.
type History struct {
	Entries []HistoryEntry `json:"entries"`
}

// HistoryEntry is a charge with what it paid for, or the digest of what was released.
type HistoryEntry struct {
	Seq        uint64          `json:"seq"`
	Kind       ledger.Kind     `json:"kind"`
	ID         string          `json:"request"`
	Time       time.Time       `json:"time"`
	Neighbours ledger.Relation `json:"neighbours,omitempty"`
	Count      uint64          `json:"count,omitempty"`
	Unit       *Amount         `json:"unit,omitempty"`
	Total      *Amount         `json:"total,omitempty"` // nil unless the entry is a charge
	PaidBy     string          `json:"paid_by,omitempty"`
	Client     string          `json:"client,omitempty"`
	Ensemble   string          `json:"ensemble,omitempty"`
	Digest     string          `json:"ensemble_digest,omitempty"`
	Draw       *HistoryDraw    `json:"draw,omitempty"`
	// Quota is of a charge that pays for a number of answers of a table, Takes of one that takes
	// some of them.
	Quota    *AnswersUsed    `json:"quota,omitempty"`
	Takes    uint64          `json:"takes,omitempty"`
	Event    json.RawMessage `json:"event,omitempty"`
	Result   string          `json:"sha256,omitempty"`
	Previous string          `json:"previous"`
	Hash     string          `json:"hash"`
}

// HistoryDraw names the votes that a charge is for.
type HistoryDraw struct {
	Name string `json:"name"`
	// Votes is keyed with a secret and with the name: no two draws have one.
	Votes  string `json:"votes_digest"`
	Query  bool   `json:"query"` // one query on line
	Covers bool   `json:"covers"`
}

// AnswersUsed is the number of answers that were taken of those that a charge pays for, delivered
// or not.
type AnswersUsed struct {
	Table   string `json:"table"`
	Answers uint64 `json:"answers"`
	Taken   uint64 `json:"taken"`
	// Each is how many of these a question with several labels takes; 0 where a label takes one.
	Each int `json:"each_question,omitempty"`
}

func (u *AnswersUsed) String() string {
	u = handle.Made(u)
	return fmt.Sprintf("%d of %d %s taken, %d left", u.Taken, u.Answers, takes(u.Each), u.Answers-u.Taken)
}

// takenBy returns how many answers were taken of each charge that opened a quota, by its id.
func takenBy(entries []ledger.Entry) map[string]uint64 {
	taken := map[string]uint64{}
	for i := range entries {
		if n := entries[i].Takes(); n > 0 {
			taken[entries[i].PaidBy] += n
		}
	}
	return taken
}

// answersUsed is nil unless e opened a quota.
func answersUsed(e *ledger.Entry, taken map[string]uint64) *AnswersUsed {
	if e.Quota == nil || e.PaidBy != "" {
		return nil
	}
	return &AnswersUsed{e.Quota.Table.String(), e.Quota.Answers, taken[e.ID], eachQuestion(e)}
}

// NewHistory verifies the ledger and returns its entries. Errors and cost are those of
// [ledger.Ledger.History].
func NewHistory(ctx context.Context, l *ledger.Ledger) (History, error) {
	entries, err := l.History(ctx)
	if err != nil {
		return History{}, err
	}
	h := History{Entries: make([]HistoryEntry, len(entries))}
	taken := takenBy(entries)
	for i := range entries {
		h.Entries[i] = newHistoryEntry(&entries[i])
		h.Entries[i].Quota, h.Entries[i].Takes = answersUsed(&entries[i], taken), entries[i].Takes()
	}
	return h, nil
}

func newHistoryEntry(e *ledger.Entry) HistoryEntry {
	out := HistoryEntry{
		Seq: e.Seq, Kind: e.Kind, ID: e.ID, Time: e.Time,
		Previous: e.Previous.String(), Hash: e.Hash.String(),
	}
	if e.Kind != ledger.KindCharge {
		out.Result = e.Result.String()
		return out
	}
	unit, total := NewAmount(e.Unit), NewAmount(e.Total())
	out.Count, out.Unit, out.Total, out.Event = e.Count, &unit, &total, e.Event
	out.PaidBy, out.Neighbours, out.Client = e.PaidBy, e.Relation, e.Client
	out.Ensemble, out.Digest = e.Ensemble, e.EnsembleDigest
	if d := e.Draw; d != nil {
		out.Draw = &HistoryDraw{d.Name, d.Votes.String(), d.Query, d.Covers}
	}
	return out
}

// Row returns the entry as a row of a table for people: its number, when it was made, what it cost and
// what it is. All digests are eight characters; JSON has them whole.
func (e *HistoryEntry) Row() []string {
	e = handle.Made(e)
	row := []string{strconv.FormatUint(e.Seq, 10), e.Time.UTC().Format("2006-01-02 15:04"), "", ""}
	if e.Total == nil {
		return append(row, fmt.Sprintf("result of %s: sha256 %s…", tableID(e.ID), e.Result[:min(8, len(e.Result))]))
	}
	copy(row[2:], e.Total.Row("", true)[1:])
	return append(row, fmt.Sprintf("%s: %s", tableID(e.ID), e.What()))
}

// tableID is shortID without the middle of a long id, which would break a table of 80 columns in two.
func tableID(id string) string {
	const ends = 15
	name := []rune(shortID(id))
	if len(name) <= 2*ends+1 {
		return string(name)
	}
	return string(name[:ends]) + "…" + string(name[len(name)-ends:])
}

// What describes a charge in a few words: the release, the payer, the client and the draw. Another
// program may have written the event, so its words are quoted where they would steer a terminal;
// package ledger refuses such names.
func (e *HistoryEntry) What() string {
	e = handle.Made(e)
	what := Describe(e.Event)
	if what == "" {
		what = "a charge of another program"
	}
	parts := []string{strings.Trim(strconv.Quote(what), `"`)}
	add := func(prefix, name string) {
		if name != "" {
			parts = append(parts, prefix+name)
		}
	}
	add("paid by ", ShortID(e.PaidBy))
	if e.Quota != nil {
		parts = append(parts, e.Quota.String())
	}
	add("client ", e.Client)
	who := e.Ensemble
	if who != "" && e.Digest != "" {
		who += " (" + e.Digest + ")"
	}
	add("ensemble ", who)
	if d := e.Draw; d != nil && d.Covers {
		add("covers the draw ", d.Name)
	} else if d != nil {
		add("draw ", d.Name)
	}
	return strings.Join(parts, "; ")
}
