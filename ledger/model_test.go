package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// model is the reference for a ledger: a list of totals and a map.
type model struct {
	handles []*Ledger
	budget  Cost
	spent   Cost
	byID    map[string]Request
	order   []Request // all charges, from the first
	results map[string]Digest
	open    []*Receipt // all receipts
	saved   files      // before the latest commit
}

func (m *model) handle(t *rapid.T) *Ledger {
	return m.handles[rapid.IntRange(0, len(m.handles)-1).Draw(t, "handle")]
}

func (m *model) path() string { return m.handles[0].Path() }

func (m *model) request(t *rapid.T) Request {
	r := m.payingRequest(t)
	if rapid.IntRange(0, 2).Draw(t, "client") == 0 {
		r.Client = rapid.SampledFrom([]string{"alice", "bob"}).Draw(t, "name")
		if rapid.IntRange(0, 3).Draw(t, "share") > 0 {
			r.Share = &Budget{Cost{amount{0, uint64(rapid.IntRange(0, 200).Draw(t, "share of ε"))},
				amount{0, 300}}}
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "teachers") > 0 {
		r.Ensemble = rapid.SampledFrom([]string{"", "e", "f"}).Draw(t, "ensemble")
		r.EnsembleDigest = rapid.SampledFrom([]string{"", "", "", "", "v1", "v2"}).Draw(t, "digest")
		name, votes := rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "draw"),
			rapid.IntRange(1, 4).Draw(t, "votes")
		// chance hardly ever asks for what goes together
		consistent := rapid.IntRange(0, 5).Draw(t, "consistent")
		if 1 <= consistent && consistent <= 3 {
			votes = int(name[0]-'x') + 1
		}
		if r.Draw = newDraw(r.Ensemble, name, votes); consistent == 0 {
			r.Draw = nil
		} else if rapid.IntRange(0, 7).Draw(t, "query") == 0 {
			r = query(r)
		} else {
			r.Draw.CastAnew, r.Draw.Covers = rapid.Bool().Draw(t, "cast anew"),
				rapid.IntRange(0, 2).Draw(t, "covers") == 0
		}
	}
	if r.Draw == nil && rapid.Bool().Draw(t, "quota") {
		r.Quota = &Quota{Table: Digest{byte(rapid.IntRange(1, 2).Draw(t, "table"))},
			Answers: uint64(rapid.IntRange(1, 6).Draw(t, "answers"))}
		if rapid.IntRange(0, 9).Draw(t, "several") > 0 {
			r.Count = 1
		}
	}
	if rapid.IntRange(0, 2).Draw(t, "paid by another") == 0 {
		r.Unit, r.PaidBy = Cost{}, fmt.Sprint("r", rapid.IntRange(0, 30).Draw(t, "payer"))
		if len(m.order) > 0 && rapid.Bool().Draw(t, "known payer") {
			payer := rapid.SampledFrom(m.order).Draw(t, "payer")
			r.PaidBy, r.Ensemble, r.EnsembleDigest = payer.ID, payer.Ensemble, payer.EnsembleDigest
			if r.Draw = payer.Draw; r.Draw != nil {
				d := *r.Draw
				d.Covers = false
				r.Draw = &d
			}
			// of another table, or of none, now and then
			if r.Quota = payer.Quota; rapid.IntRange(0, 7).Draw(t, "another table") == 0 && r.Draw == nil {
				r.Quota = &Quota{Table: Digest{byte(rapid.IntRange(1, 2).Draw(t, "table"))}}
			}
		}
		if r.Quota != nil {
			r.Quota = &Quota{Table: r.Quota.Table}
			if r.Client != "" && rapid.Bool().Draw(t, "share of the quota") {
				share := uint64(rapid.IntRange(0, 4).Draw(t, "answers of the share"))
				r.Quota.Share = &share
			}
		}
	}
	return r
}

func (m *model) payingRequest(t *rapid.T) Request {
	return Request{
		Relation: ReplaceOne,
		ID:       fmt.Sprint("r", rapid.IntRange(0, 30).Draw(t, "id")), // few, so that some come again
		Count:    uint64(rapid.IntRange(1, 3).Draw(t, "count")),
		Unit: Cost{amount{0, uint64(rapid.IntRange(0, 40).Draw(t, "ε"))},
			amount{0, uint64(rapid.IntRange(0, 40).Draw(t, "δ"))}},
		Event: []byte(rapid.SampledFrom([]string{"null", `{"K":11}`}).Draw(t, "event")),
	}
}

// expect returns the error that charging requests should give. It states the rules over the list of
// all charges so far, without an index.
func (m *model) expect(requests []Request) error {
	total, replayed := Cost{}, false
	seen := map[string]bool{}
	for _, r := range requests {
		switch {
		case r.Unit == (Cost{}) && r.PaidBy == "", r.EnsembleDigest != "" && r.Ensemble == "",
			r.Draw != nil && r.Draw.Covers && r.PaidBy != "",
			r.Quota != nil && r.PaidBy == "" && r.Count > 1:
			return errInvalid
		case seen[r.ID]:
			return ErrConflict
		}
		seen[r.ID] = true
	}
	past := slices.Clone(m.order)
	for _, r := range requests {
		if err := digestOf(past, r.Ensemble, r.EnsembleDigest); err != nil {
			return err
		}
		if old, ok := m.byID[r.ID]; ok {
			if old.Count != r.Count || old.Unit != r.Unit || old.PaidBy != r.PaidBy ||
				string(old.Event) != string(r.Event) || old.Ensemble != r.Ensemble || old.Client != r.Client {
				return ErrConflict
			}
			if a, b := old.Draw, r.Draw; (a == nil) != (b == nil) || a != nil &&
				(a.Name != b.Name || a.Votes != b.Votes || a.Covers != b.Covers) {
				return ErrConflict
			}
			if a, b := old.Quota, r.Quota; (a == nil) != (b == nil) || a != nil &&
				(a.Table != b.Table || a.Answers != b.Answers) {
				return ErrConflict
			}
			replayed = true
		} else {
			if err := rulesOf(past, r); err != nil {
				return err
			}
			past = append(past, r)
		}
		for range r.Count {
			total = Cost{total.epsilon.add(r.Unit.epsilon), total.delta.add(r.Unit.delta)}
		}
	}
	if replayed {
		return ErrReplayed
	}
	for i, r := range requests {
		sum := Cost{}
		for _, old := range slices.Concat(m.order, requests[:i+1]) {
			for range old.Count {
				if old.Client == r.Client {
					sum = Cost{sum.epsilon.add(old.Unit.epsilon), sum.delta.add(old.Unit.delta)}
				}
			}
		}
		if r.Share != nil && (sum.epsilon.lo > r.Share.limit.epsilon.lo ||
			sum.delta.lo > r.Share.limit.delta.lo) {
			return ErrShare
		}
	}
	sum := m.spent.Plus(total)
	if sum.epsilon.lo > m.budget.epsilon.lo || sum.delta.lo > m.budget.delta.lo {
		return ErrExceeded
	}
	return nil
}

func digestOf(past []Request, ensemble, digest string) error {
	for _, old := range past {
		if ensemble != "" && old.Ensemble == ensemble && old.EnsembleDigest != "" &&
			old.EnsembleDigest != digest {
			return ErrEnsemble
		}
	}
	return nil
}

func rulesOf(past []Request, r Request) error {
	sameDraw := func(a, b Request) bool {
		return a.Draw != nil && b.Draw != nil && a.Ensemble == b.Ensemble && a.Draw.Name == b.Draw.Name
	}
	for _, old := range past {
		if sameDraw(old, r) && old.Draw.Votes != r.Draw.Votes {
			return ErrDraw
		}
	}
	for _, old := range past {
		if sameDraw(old, r) && r.PaidBy == "" && !r.Draw.Covers {
			return ErrDrawn
		}
	}
	if r.PaidBy != "" {
		i := slices.IndexFunc(past, func(old Request) bool { return old.ID == r.PaidBy })
		if i < 0 || past[i].PaidBy != "" || past[i].Ensemble != r.Ensemble ||
			(past[i].Draw == nil) != (r.Draw == nil) {
			return ErrUnpaid
		}
		if payer := past[i]; r.Draw != nil && (!payer.Draw.Covers || payer.Draw.Name != r.Draw.Name ||
			payer.Draw.Votes != r.Draw.Votes) {
			return ErrUnpaid
		}
		if err := quotaOf(past, past[i], r); err != nil {
			return err
		}
	}
	if r.Draw == nil || r.Draw.CastAnew || slices.ContainsFunc(past,
		func(old Request) bool { return sameDraw(old, r) }) {
		return nil
	}
	for _, old := range past {
		if old.Draw != nil && old.Draw.cast != nil && r.Draw.cast != nil &&
			old.Draw.cast.sum == r.Draw.cast.sum {
			return ErrSameVotes
		}
	}
	return nil
}

// quotaOf counts the answers that the payer's other charges took.
func quotaOf(past []Request, payer, r Request) error {
	if (payer.Quota == nil) != (r.Quota == nil) || r.Quota != nil &&
		r.Quota.Table != payer.Quota.Table {
		return ErrUnpaid
	}
	if r.Quota == nil {
		return nil
	}
	taken, client := r.Count, r.Count
	for _, old := range past {
		if old.PaidBy == payer.ID {
			if taken += old.Count; old.Client == r.Client {
				client += old.Count
			}
		}
	}
	switch {
	case taken > payer.Quota.Answers:
		return ErrAnswers
	case r.Quota.Share != nil && client > *r.Quota.Share:
		return ErrShare
	}
	return nil
}

var errInvalid = errors.New("invalid")

// The database is forced to disk several times per step, so that fewer than
// rapid's 100 runs are made every day.
const modelRuns = 25

// Charges, batches, results, replays, refusals, reopening, and crashes between
// database and anchor, through several handles, against the model.
func TestAgainstModel(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	runs := 0
	rapid.Check(t, func(rt *rapid.T) {
		if runs++; runs > modelRuns && !long {
			return
		}
		m := &model{budget: Cost{amount{0, 400}, amount{0, 500}}, byID: map[string]Request{},
			results: map[string]Digest{}}
		l, err := Create(context.Background(), filepath.Join(dir, fmt.Sprint(runs)), Budget{m.budget},
			ReplaceOne)
		if err != nil {
			rt.Fatal(err)
		}
		m.handles = []*Ledger{l}
		m.saved = readFiles(t, l.Path())
		rt.Repeat(map[string]func(*rapid.T){
			"charge": func(rt *rapid.T) { m.charge(t, rt, []Request{m.request(rt)}) },
			"batch": func(rt *rapid.T) {
				m.charge(t, rt, rapid.SliceOfN(rapid.Custom(m.request), 2, 5).Draw(rt, "requests"))
			},
			"again": func(rt *rapid.T) { // chance hardly ever asks for the same
				if len(m.byID) == 0 {
					rt.Skip("nothing charged")
				}
				m.charge(t, rt, []Request{m.byID[rapid.SampledFrom(slices.Sorted(maps.Keys(m.byID))).Draw(rt,
					"request")]})
			},
			"result": func(rt *rapid.T) {
				if len(m.open) == 0 {
					rt.Skip("no receipt")
				}
				r := m.open[rapid.IntRange(0, len(m.open)-1).Draw(rt, "receipt")]
				d := Digest{byte(rapid.IntRange(0, 1).Draw(rt, "digest"))}
				before := levelled(t, m.path())
				after, err := m.handle(rt).RecordResult(context.Background(), r, d)
				id := r.Entry().ID
				if old, ok := m.results[id]; ok && old != d {
					if !errors.Is(err, ErrConflict) {
						rt.Fatal(err)
					}
					return
				} else if !ok {
					m.saved = before
				}
				if err != nil || after.Spent != m.spent || after.Remaining.Plus(m.spent) != m.budget {
					rt.Fatalf("%+v, %v, want %v spent", after, err, m.spent)
				}
				m.results[id] = d
			},
			"open": func(rt *rapid.T) {
				l, err := Open(context.Background(), m.path())
				if err != nil {
					rt.Fatal(err)
				}
				m.handles = append(m.handles, l)
			},
			"crash before the anchor": func(rt *rapid.T) {
				files{readFiles(t, m.path()).db, m.saved.anchor}.write(t, m.path())
			},
			"": func(rt *rapid.T) {
				l := m.handle(rt)
				if got, err := l.Spent(context.Background()); err != nil || got != m.spent {
					rt.Fatalf("spent %v, %v, want %v", got, err, m.spent)
				}
				left, err := l.Remaining(context.Background())
				if err != nil || left.Plus(m.spent) != m.budget {
					rt.Fatalf("%v remains, %v", left, err)
				}
			},
		})
		entries, err := m.handle(rt).History(context.Background())
		if err != nil || len(entries) != len(m.byID)+len(m.results) {
			rt.Fatalf("%d entries, %v", len(entries), err)
		}
	})
}

func (m *model) charge(t *testing.T, rt *rapid.T, requests []Request) {
	want := m.expect(requests)
	before := levelled(t, m.path())
	dry := m.handle(rt).Check(context.Background(), requests...)
	var receipts []*Receipt
	var err error
	result, drawn := Digest{9}, rapid.Bool().Draw(rt, "drawn")
	if drawn {
		receipts, err = m.drawn(rt, requests, result, want == nil)
	} else {
		receipts, err = m.handle(rt).ChargeAll(context.Background(), requests)
	}
	if fmt.Sprint(dry) != fmt.Sprint(err) {
		rt.Fatalf("Check: %v; ChargeAll: %v", dry, err)
	}
	switch {
	case want == errInvalid:
		if err == nil {
			rt.Fatal("a charge for nothing was accepted")
		}
	case want == nil:
		if err != nil {
			rt.Fatal(err)
		}
		m.saved = before
		for _, r := range requests {
			m.byID[r.ID] = r
			m.order = append(m.order, r)
			for range r.Count {
				m.spent = m.spent.Plus(r.Unit)
			}
		}
		if m.open = append(m.open, receipts...); drawn {
			m.results[requests[len(requests)-1].ID] = result
		}
	default:
		if !errors.Is(err, want) || receipts != nil {
			rt.Fatalf("%v, want %v", err, want)
		}
	}
	if want == ErrReplayed {
		var replayed *ReplayedError
		if !errors.As(err, &replayed) {
			rt.Fatal(err)
		}
		for _, p := range replayed.Replays {
			if d, ok := m.results[p.Charge.ID]; ok != (p.Result != nil) || ok && *p.Result != d {
				rt.Fatalf("result of %q: %v, want %v", p.Charge.ID, p.Result, d)
			}
			if err := p.Receipt.Redeem(); !errors.Is(err, ErrReceipt) {
				rt.Fatalf("the receipt of a replay of %q: %v", p.Charge.ID, err)
			}
			m.open = append(m.open, p.Receipt) // as good as the first for a result
		}
	}
}

// drawn charges with a result, which is drawn if and only if the requests are admitted.
func (m *model) drawn(rt *rapid.T, requests []Request, result Digest,
	admitted bool) (receipts []*Receipt, err error) {
	draws := 0
	receipt, after, err := m.handle(rt).ChargeDrawn(context.Background(), requests,
		func() (Digest, error) { draws++; return result, nil })
	if (draws == 1) != admitted || draws > 1 {
		rt.Fatalf("%d draws, %v", draws, err)
	}
	if err != nil {
		return nil, err
	}
	if receipt.Redeem() == nil || after.Remaining.Plus(after.Spent) != m.budget {
		rt.Fatalf("%+v", after)
	}
	return []*Receipt{receipt}, nil
}

// levelled returns the files as the next commit leaves them before it changes
// the ledger: an anchor that a crash left behind is brought up first.
func levelled(t testing.TB, path string) files {
	f := readFiles(t, path)
	c, err := readChain(t.Context(), linesOf{bytes.NewReader(f.db)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	f.anchor = (&anchor{c.genesis.id, c.now}).encode()
	return f
}
