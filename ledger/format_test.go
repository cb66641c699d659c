package ledger

import (
	"bytes"
	"errors"
	"os"
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
	for _, bad := range []files{{f.db[:9000], f.anchor}, {f.db, nil}} {
		bad.write(t, path)
		if _, err := Open(t.Context(), path); !errors.Is(err, ErrDamaged) {
			t.Errorf("%v", err)
		}
	}
}

// format2Head is the head of testdata/format2.ledger, as the program that wrote it printed it.
const format2Head = "43:8865e74ad37e9c5645bfad6bb3b32f83332758b858b373adbe19edca3d3beca0"

// A ledger that the last program with a database wrote is read as it is, by reading alone. The
// first charge puts a file of lines in its place with the same chain: heads that were
// pinned hold, every charge, draw and result stays, and so do handles that are open.
func TestMigration(t *testing.T) {
	f := oldLedger(t)
	head, err := ParseHead(format2Head)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "ledger")
	f.write(t, path)
	key, err := os.ReadFile(filepath.Join("testdata", "format2.ledger"+SecretSuffix))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+SecretSuffix, key, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	spent := mustCost(t, 29.3, 1.0043e-5)
	before, err := l.History(t.Context())
	if err != nil || len(before) != 43 || before[0].ID != "plain 0" || before[42].ID != "many 7" || before[42].Commit != 35 {
		t.Fatalf("%d entries, %v", len(before), err)
	}
	look := func(when string, l *Ledger, spent Cost) {
		t.Helper()
		if err := l.Verify(t.Context(), head, before[16].head(), Head{0, before[0].Previous}); err != nil {
			t.Errorf("%s: %v", when, err)
		}
		mustSpend(t, l, spent)
	}
	look("before", l, spent)
	if after := readFiles(t, path); !reflect.DeepEqual(after, f) {
		t.Error("looking wrote to it")
	}
	other, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	// The rules know what was charged, by way of the database and of the lines.
	votes, err := l.VoteHash()
	if err != nil {
		t.Fatal(err)
	}
	votes.Add([]int{1, 0, 1})
	again := Request{Relation: ReplaceOne, ID: "new", Count: 1, Unit: unitOfOne, Ensemble: "wards é", EnsembleDigest: "v1", Draw: &Draw{Name: "march", Votes: votes.Sum()}}
	rules := func(when string) {
		t.Helper()
		if err := l.Check(t.Context(), again); !errors.Is(err, ErrDrawn) {
			t.Errorf("%s: a second answer: %v", when, err)
		}
		renamed := again
		renamed.Draw = &Draw{Name: "may", Votes: votes.Sum()}
		if err := l.Check(t.Context(), renamed); !errors.Is(err, ErrSameVotes) {
			t.Errorf("%s: the same votes: %v", when, err)
		}
		renamed.EnsembleDigest = "v2"
		if err := l.Check(t.Context(), renamed); !errors.Is(err, ErrEnsemble) {
			t.Errorf("%s: other teachers: %v", when, err)
		}
		var replayed *ReplayedError
		err := l.Check(t.Context(), Request{Relation: ReplaceOne, ID: "plain 4", Count: 2, Unit: mustCost(t, 0.5, 1e-9), Event: before[5].Event})
		if !errors.As(err, &replayed) || replayed.Replays[0].Result == nil || *replayed.Replays[0].Result != (Digest{5}) {
			t.Errorf("%s: a replay: %v", when, err)
		}
	}
	rules("before")
	mustCharge(t, l, plainRequest(1000))
	rules("after")
	spent = spent.Plus(unitOfOne)
	now := readFiles(t, path)
	if is, err := isDatabase(bytes.NewReader(now.db)); is || err != nil || !bytes.HasPrefix(now.db, []byte(genesisStart)) || len(now.anchor) == oldAnchorSize {
		t.Errorf("it was not migrated: %.40q, %v", now.db, err)
	}
	look("after", l, spent)
	look("a handle from before", other, spent)
	mustCharge(t, other, plainRequest(1001))
	if l, err = Open(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	look("opened again", l, spent.Plus(unitOfOne))
	after, err := l.History(t.Context())
	if err != nil || len(after) != 45 || !reflect.DeepEqual(after[:43], before) {
		t.Errorf("%d entries, %v", len(after), err)
	}
	// An anchor one commit behind is what a crash of the old program left.
	older := readFiles(t, filepath.Join("testdata", "format2.ledger"))
	if older.anchor, err = os.ReadFile(filepath.Join("testdata", "format2.ledger.older-anchor")); err != nil {
		t.Fatal(err)
	}
	older.write(t, path)
	if l, err = Open(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	mustSpend(t, l, mustCost(t, 29.3, 1.0043e-5))
	mustCharge(t, l, plainRequest(1000))
	// Rolled back: the lines of today, whose anchor is ahead.
	files{f.db, now.anchor}.write(t, path)
	if _, err := Open(t.Context(), path); !errors.Is(err, ErrRolledBack) {
		t.Errorf("the database with a later anchor: %v", err)
	}
	files{f.db, nil}.write(t, path)
	if _, err := Open(t.Context(), path); !errors.Is(err, ErrDamaged) {
		t.Errorf("the database without its anchor: %v", err)
	}
	if l, err = Adopt(t.Context(), path, head); err != nil {
		t.Fatal(err)
	}
	mustCharge(t, l, plainRequest(1000))
}

func (e *Entry) head() Head { return Head{e.Seq, e.Hash} }

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
