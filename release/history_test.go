package release

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/darrm/darrm/ledger"
)

// The history says whose votes a charge was for, in both forms.
func TestHistoryShowsDraws(t *testing.T) {
	entries := []ledger.Entry{
		{Seq: 1, Kind: ledger.KindCharge, ID: "a", Count: 1, Relation: ledger.ReplaceOne,
			Ensemble: "wards", EnsembleDigest: "v7", Draw: &ledger.Draw{Name: "march",
				Votes: ledger.Digest{0xab}, Covers: true}},
		{
			Seq: 2, Kind: ledger.KindCharge, ID: "b", Count: 1, PaidBy: "x", Client: "y",
			Relation: ledger.ReplaceOne, Ensemble: "wards", EnsembleDigest: "v7",
			Draw: &ledger.Draw{Name: "april", Votes: ledger.Digest{0xac}, Query: true},
		},
		{Seq: 3, Kind: ledger.KindCharge, ID: "c", Count: 1, Relation: ledger.ReplaceOne},
		{Seq: 4, Kind: ledger.KindCharge, ID: "d", Count: 1, Relation: ledger.ReplaceOne,
			PaidBy: "answers:0123456789abcdef0123456789abcdef"},
	}
	var h History
	for i := range entries {
		h.Entries = append(h.Entries, newHistoryEntry(&entries[i]))
	}
	for i, want := range []string{
		`a charge of another program; ensemble wards (v7); covers the draw march`,
		`a charge of another program; paid by x; client y; ensemble wards (v7); draw april`,
		`a charge of another program`,
		`a charge of another program; paid by answers:01234567…`,
	} {
		if got := h.Entries[i].What(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	b, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"neighbours":"replace","count":1`,
		`"ensemble":"wards","ensemble_digest":"v7","draw":{"name":"march","votes_digest":"ab00`,
		`00","query":false,"covers":true}`,
		`00","query":true,"covers":false}`,
	} {
		if !strings.Contains(string(b), want) {
			t.Errorf("%s is not in %s", want, b)
		}
	}
	if strings.Count(string(b), `"draw":`) != 2 {
		t.Errorf("a charge without a draw has one: %s", b)
	}
}

// A long id is cut in its middle in the table alone, so that 80 columns hold it; what differs at an
// end stays apart, and a short one is whole.
func TestHistoryCutsLongIDs(t *testing.T) {
	row := func(id string) string {
		e := HistoryEntry{ID: id, Result: "0123456789abcdef"}
		cells := e.Row()
		return cells[len(cells)-1]
	}
	for id, want := range map[string]string{
		"march":                         `result of "march": sha256 01234567…`,
		"radiology-north-october-first": `result of "radiology-north-october-first": sha256 01234567…`,
		"radiology-department-north-october-2026-first-batch":  `result of "radiology-depa…26-first-batch": sha256 01234567…`,
		"radiology-department-north-october-2026-second-batch": `result of "radiology-depa…6-second-batch": sha256 01234567…`,
	} {
		if got := row(id); got != want {
			t.Errorf("%s: %s, not %s", id, got, want)
		}
	}
}
