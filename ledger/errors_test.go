package ledger

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
)

// An error of the system is told where a handle looks for what is new, too: a handle that took its
// old state for the latest would charge beside what others have charged.
func TestSystemErrorWhereTheEndStood(t *testing.T) {
	u := newUnderAttack(t, 6)
	whole := u.last()
	c, err := readChain(t.Context(), linesOf{bytes.NewReader(whole.db)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	eio := errors.New("input/output error")
	broken := linesOf{failingReader{bytes.NewReader(whole.db), c.size - 3, eio}}
	if err := c.extend(t.Context(), broken); !errors.Is(err, eio) || errors.Is(err, ErrDamaged) {
		t.Errorf("the end cannot be read: %v", err)
	}
}

// What stands behind the last field of an entry is refused, though the hash covers it.
func TestEntryWithOneFieldMore(t *testing.T) {
	l := create(t, 1, 0)
	mustCharge(t, l, Request{ID: "a", Count: 1, Unit: mustCost(t, .1, 0), Relation: ReplaceOne})
	lines := bytes.Split(readFiles(t, l.Path()).db, []byte("\n"))
	line := lines[1]
	if _, err := decodeEntry(line); err != nil {
		t.Fatal(err)
	}
	for _, more := range []string{`,"note":1`, " ", "}"} {
		longer := bytes.Replace(line, []byte(`,"previous":`), []byte(more+`,"previous":`), 1)
		if _, err := decodeEntry(longer); err == nil {
			t.Errorf("with %s", more)
		}
	}
}

// The id of a result is checked as that of a charge: what a reader prints has no control
// characters.
func TestResultWithABadID(t *testing.T) {
	l := create(t, 1, 0)
	r := mustCharge(t, l, Request{ID: "the-id", Count: 1, Unit: mustCost(t, .1, 0),
		Relation: ReplaceOne})
	if err := r.Redeem(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.RecordResult(t.Context(), r, Digest{1}); err != nil {
		t.Fatal(err)
	}
	var result []byte
	for _, line := range bytes.Split(readFiles(t, l.Path()).db, []byte("\n")) {
		if bytes.Contains(line, []byte(`"kind":"result"`)) {
			result = line
		}
	}
	if _, err := decodeEntry(result); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"", `the\nid`, `the\u200bid`, strings.Repeat("x", MaxID+1)} {
		line := bytes.Replace(result, []byte(`"the-id"`), []byte(`"`+id+`"`), 1)
		if _, err := decodeEntry(line); err == nil {
			t.Errorf("id %.20q", id)
		}
	}
}

// A request's own judge is asked with what all would have spent, refuses, and costs nothing; it is
// not asked of a charge that spends nothing.
func TestJudge(t *testing.T) {
	l := create(t, 1, 0)
	unit := mustCost(t, .25, 0)
	mustCharge(t, l, Request{ID: "a", Count: 1, Unit: unit, Relation: ReplaceOne, Ensemble: "e"})
	refusal := errors.New("too much for this release")
	var asked []Cost
	r := Request{ID: "b", Count: 2, Unit: unit, Relation: ReplaceOne,
		Judge: func(spent Cost) error { asked = append(asked, spent); return refusal }}
	if _, err := l.Charge(t.Context(), r); !errors.Is(err, refusal) {
		t.Errorf("the judge refuses: %v", err)
	}
	if len(asked) != 1 || asked[0] != mustCost(t, .75, 0) {
		t.Errorf("asked with %v", asked)
	}
	mustSpend(t, l, unit)
	free := Request{ID: "c", Count: 1, PaidBy: "a", Ensemble: "e", Relation: ReplaceOne, Judge: r.Judge}
	mustCharge(t, l, free)
	if len(asked) != 1 {
		t.Error("asked of a charge that spends nothing")
	}
}

// unsynced is a store whose lines do not reach the disk.
type unsynced struct {
	Store
	err error
}

type unsyncedTx struct {
	Tx
	err error
}

func (s unsynced) Begin(ctx context.Context, exclusive bool) (Tx, error) {
	tx, err := s.Store.Begin(ctx, exclusive)
	return unsyncedTx{tx, s.err}, err
}

func (tx unsyncedTx) Sync() error { return tx.err }

// No anchor is made of lines that may not be on disk: after a power failure it would be ahead of
// them, and the ledger called damaged.
func TestAdoptForcesLinesFirst(t *testing.T) {
	l := create(t, 1, 0)
	mustCharge(t, l, Request{ID: "a", Count: 1, Unit: mustCost(t, .1, 0), Relation: ReplaceOne})
	head, err := l.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	damaged := readFiles(t, l.Path())
	damaged.anchor = nil
	damaged.write(t, l.Path())
	store, err := openStore(l.Path())
	if err != nil {
		t.Fatal(err)
	}
	eio := errors.New("input/output error")
	if err := adopt(t.Context(), unsynced{store, eio}, head); !errors.Is(err, eio) {
		t.Errorf("adopted lines that are not on disk: %v", err)
	}
	if got := readFiles(t, l.Path()); got.anchor != nil {
		t.Error("there is an anchor")
	}
	if err := adopt(t.Context(), unsynced{store, nil}, head); err != nil {
		t.Error(err)
	}
}

func TestFind(t *testing.T) {
	l := create(t, 1, 0)
	mustCharge(t, l, Request{ID: "a", Count: 3, Unit: mustCost(t, .1, 0), Relation: ReplaceOne})
	if e, err := l.Find(t.Context(), "a"); err != nil || e == nil || e.ID != "a" || e.Count != 3 {
		t.Errorf("%+v, %v", e, err)
	}
	if e, err := l.Find(t.Context(), "b"); err != nil || e != nil {
		t.Errorf("of no charge: %+v, %v", e, err)
	}
}

func TestDisplay(t *testing.T) {
	for location, want := range map[string]string{
		"a/b.ledger": "a/b.ledger",
		"postgres://me:secret@host/db?ledger=l&sslkey=k&password=p": "postgres://me@host/db?ledger=l",
		"postgres://%zz:secret@host":                                "postgres://…",
	} {
		if got := Display(location); got != want {
			t.Errorf("%s is shown as %s, want %s", location, got, want)
		}
	}
}

func TestNilLedger(t *testing.T) {
	var l *Ledger
	if _, err := l.Spent(t.Context()); err == nil {
		t.Error("no error")
	}
}
