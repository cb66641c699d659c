package ledger

import (
	"errors"
	"path/filepath"
	"reflect"
	"testing"
)

// A ledger that the last program of format 1 wrote: shown and verified, and never charged.
func TestFormat1(t *testing.T) {
	if native.Uint16([]byte{1, 0}) != 1 {
		t.Skip("databases have the byte order of the machine that wrote them")
	}
	f := readFiles(t, filepath.Join("testdata", "format1.ledger"))
	path := filepath.Join(t.TempDir(), "ledger")
	f.write(t, path)
	l, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	head, err := ParseHead("5:50cf06f34a90ae9b0b1228b4db74a4e63cdf9c5c1f7d6260572e1efcc5e325bc") // as that program printed it
	if err != nil {
		t.Fatal(err)
	}
	if got, err := l.Head(t.Context()); err != nil || got != head {
		t.Errorf("head %v, %v", got, err)
	}
	if err := l.Verify(t.Context(), head); err != nil {
		t.Error(err)
	}
	mustSpend(t, l, mustCost(t, 1.2, 4e-5))
	if left, err := l.Remaining(t.Context()); err != nil || left != mustCost(t, 0.8, 9.6e-4) {
		t.Errorf("%v remains, %v", left, err)
	}
	entries, err := l.History(t.Context())
	if err != nil || len(entries) != 5 || entries[0].ID != "march" || entries[1].Result != (Digest{1, 2, 3}) || entries[4].PaidBy != "teachers:wards" {
		t.Errorf("%+v, %v", entries, err)
	}
	if l.Relation() != "" || entries[0].Relation != "" {
		t.Errorf("relations %q, %q", l.Relation(), entries[0].Relation)
	}
	request := Request{Relation: ReplaceOne, ID: "new", Count: 1, Unit: unitOfOne}
	_, charged := l.Charge(t.Context(), request)
	_, _, drawnErr := l.Drawn(t.Context(), "e", "march")
	_, hashErr := l.VoteHash()
	for name, err := range map[string]error{
		"charge": charged, "check": l.Check(t.Context(), request), "drawn": drawnErr, "votes": hashErr,
		"result": l.RecordResult(t.Context(), newReceipt(entries[2]), Digest{1}),
	} {
		if !errors.Is(err, ErrFormat) || !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if after := readFiles(t, path); !reflect.DeepEqual(after, f) {
		t.Error("it was written to")
	}
	// It is as sensitive to damage as ever.
	f.db[len(f.db)/2] ^= 1
	for _, bad := range []files{{f.db[:9000], f.anchor}, {append([]byte{}, f.db...), nil}} {
		if _, err := bad.verify(nil); !errors.Is(err, ErrDamaged) {
			t.Errorf("%v", err)
		}
	}
}

// The same ledger with what format 2 has in its entries is no ledger of either.
func TestFormat1HasNoDraws(t *testing.T) {
	e := Entry{Seq: 1, Commit: 1, Kind: KindCharge, ID: "a", Count: 1, Unit: unitOfOne, Event: []byte("null"), Ensemble: "e"}
	b, err := e.encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := decodeEntry(b); err == nil {
		t.Error("an ensemble in format 1")
	}
	e.Ensemble, e.Draw = "", &Draw{Name: "n", Votes: Digest{1}}
	if b, err = e.encode(); err != nil {
		t.Fatal(err)
	}
	if _, err := decodeEntry(b); err == nil {
		t.Error("a draw in format 1")
	}
}
