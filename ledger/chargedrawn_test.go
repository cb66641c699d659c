package ledger

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// drawing returns a draw of a result that counts itself.
func drawing(n *int, result Digest) func() (Digest, error) {
	return func() (Digest, error) { *n++; return result, nil }
}

// Charges and the last one's result are one commit, in this order. The receipt is used up and good
// for that result; a replay has it. What is refused is not drawn.
func TestChargeDrawn(t *testing.T) {
	l := create(t, 3, 0)
	draws := 0
	receipt, after, err := l.ChargeDrawn(t.Context(), []Request{plainRequest(0), plainRequest(1)},
		drawing(&draws, Digest{7}))
	if err != nil || draws != 1 || receipt.Redeem() == nil || receipt.Entry().ID != plainRequest(1).ID {
		t.Fatalf("%v, %v, %d draws", receipt, err, draws)
	}
	if now, err := l.State(t.Context()); err != nil || now != after || after.Head.Seq != 3 {
		t.Errorf("%+v, then %+v, %v", after, now, err)
	}
	for range 2 { // as it is in memory, and as it is read
		h, err := l.History(t.Context())
		if err != nil || len(h) != 3 {
			t.Fatalf("%d entries, %v", len(h), err)
		}
		for i, e := range h {
			if e.Commit != 1 || (e.Kind == KindResult) != (i == 2) || i == 2 && (e.ID != h[1].ID ||
				e.Result != Digest{7}) {
				t.Errorf("entry %d: %+v", i, e)
			}
		}
		if l, err = Open(t.Context(), l.Path()); err != nil {
			t.Fatal(err)
		}
	}
	var replayed *ReplayedError
	_, _, err = l.ChargeDrawn(t.Context(), []Request{plainRequest(1)}, drawing(&draws, Digest{8}))
	if !errors.As(err, &replayed) || replayed.Replays[0].Result == nil ||
		*replayed.Replays[0].Result != (Digest{7}) {
		t.Errorf("%v", err)
	}
	if _, err := l.RecordResult(t.Context(), receipt, Digest{7}); err != nil {
		t.Error(err)
	}
	if _, err := l.RecordResult(t.Context(), receipt, Digest{8}); !errors.Is(err, ErrConflict) {
		t.Error(err)
	}
	other := plainRequest(0)
	other.Client = "x"
	three := plainRequest(3)
	three.Count = 2
	for want, requests := range map[error][]Request{ErrConflict: {other}, ErrExceeded: {three},
		ErrReplayed: {plainRequest(4), plainRequest(0)}} {
		_, _, err := l.ChargeDrawn(t.Context(), requests, drawing(&draws, Digest{8}))
		if !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
	if _, _, err := l.ChargeDrawn(t.Context(), nil, drawing(&draws, Digest{8})); err == nil {
		t.Error("nothing was charged")
	}
	if draws != 1 {
		t.Errorf("%d draws of one charge", draws)
	}
	mustSpend(t, l, unitOfOne.Times(2))
}

// A draw that fails, or panics, charges nothing and concerns nobody else of its group, whoever
// writes for it. Its caller gets the error, or the panic.
func TestFailedDraw(t *testing.T) {
	l := create(t, 10, 0)
	failed := errors.New("no coins")
	draw := func(i int, fn func() (Digest, error)) (panicked any, err error) {
		defer func() { panicked = recover() }()
		_, _, err = l.ChargeDrawn(t.Context(), []Request{plainRequest(i)}, fn)
		return nil, err
	}
	var errs [5]error
	var panics [5]any
	together(l,
		func() { panics[0], errs[0] = draw(0, func() (Digest, error) { panic("first") }) },
		func() { panics[1], errs[1] = draw(1, func() (Digest, error) { return Digest{1}, nil }) },
		func() { panics[2], errs[2] = draw(2, func() (Digest, error) { return Digest{}, failed }) },
		func() { panics[3], errs[3] = draw(3, func() (Digest, error) { panic("later") }) },
		func() { panics[4], errs[4] = draw(4, func() (Digest, error) { return Digest{4}, nil }) })
	if errs[1] != nil || !errors.Is(errs[2], failed) || errs[4] != nil || panics != [5]any{0: "first",
		3: "later"} {
		t.Errorf("%v, %v", errs, panics)
	}
	mustSpend(t, l, unitOfOne.Times(2))
	for _, i := range []int{0, 2, 3} { // nothing of them is there
		if err, p := draw(i, func() (Digest, error) { return Digest{9}, nil }); err != nil || p != nil {
			t.Errorf("%d again: %v, %v", i, err, p)
		}
	}
	mustSpend(t, l, unitOfOne.Times(5))
}

// A draw comes before the write of its commit, and ChargeDrawn returns after it.
func TestDrawnBeforeItIsWritten(t *testing.T) {
	l := create(t, 10, 0)
	before := readFiles(t, l.Path())
	var during files
	if _, _, err := l.ChargeDrawn(t.Context(), []Request{plainRequest(0)}, func() (Digest, error) {
		during = readFiles(t, l.Path())
		return Digest{1}, nil
	}); err != nil {
		t.Fatal(err)
	}
	after := readFiles(t, l.Path())
	if string(during.db) != string(before.db) || string(during.anchor) != string(before.anchor) {
		t.Error("something was written before the draw")
	}
	if now, err := after.verify(nil); err != nil || now.head.Seq != 2 ||
		string(after.anchor) == string(before.anchor) {
		t.Errorf("%v, %v: it is not on disk", now.head, err)
	}
}

// A commit that cannot be written gives nobody what was drawn for it.
func TestDrawnForNothing(t *testing.T) {
	l := create(t, 10, 0)
	if err := os.Rename(l.Path(), l.Path()+".away"); err != nil {
		t.Fatal(err)
	}
	draws := 0
	if r, after, err := l.ChargeDrawn(t.Context(), []Request{plainRequest(0)},
		drawing(&draws, Digest{1})); err == nil || r != nil || after != (State{}) || draws != 0 {
		t.Errorf("%v, %v, %d draws without a ledger", r, err, draws)
	}
	if err := os.Rename(l.Path()+".away", l.Path()); err != nil {
		t.Fatal(err)
	}
	r, _, err := l.ChargeDrawn(t.Context(), []Request{plainRequest(0)}, func() (Digest, error) {
		draws++
		return Digest{1}, os.Mkdir(l.Path()+AnchorSuffix+".d", 0o700)
	})
	if err != nil || r == nil {
		t.Fatal(err)
	}
	// The anchor's place is taken by what no file can replace.
	anchor := l.Path() + AnchorSuffix
	r, after, err := l.ChargeDrawn(t.Context(), []Request{plainRequest(1)}, func() (Digest, error) {
		draws++
		return Digest{2}, errors.Join(os.Rename(anchor, anchor+".kept"),
			os.Rename(anchor+".d", anchor), os.WriteFile(filepath.Join(anchor, "x"), nil, 0o600))
	})
	if !errors.Is(err, ErrWrite) || r != nil || after != (State{}) || draws != 2 {
		t.Errorf("%v, %v, %+v, %d draws", r, err, after, draws)
	}
}

// The first process dies with a result drawn and not written: its id is free, what it released
// before is charged, and the next process works.
func TestKilledInTheDraw(t *testing.T) {
	t.Parallel()
	path := existing(t)()
	var first, second said
	out, err := child("drawn and killed", path, "first", 3).Output()
	if err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("%v: %s", err, out)
	}
	first.read(t, string(out))
	l, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if e, err := l.Find(t.Context(), "first-1"); e != nil || err != nil {
		t.Errorf("charged, and not drawn: %+v, %v", e, err)
	}
	if len(first.released) != 1 || !first.released["first-0"] {
		t.Errorf("%+v", first)
	}
	out, err = child("drawn and killed", path, "second", 2).Output()
	if err != nil {
		t.Fatal(err)
	}
	second.read(t, string(out))
	honest(t)("in the draw", path, first, second)
}

// A store that asks for another try has the result drawn again.
func TestDrawnAgain(t *testing.T) {
	l := create(t, 10, 0)
	l.store = &retrying{l.store, 3}
	draws := 0
	if _, _, err := l.ChargeDrawn(t.Context(), []Request{plainRequest(0)},
		drawing(&draws, Digest{1})); err != nil || draws != 4 {
		t.Errorf("%d draws, %v", draws, err)
	}
	mustSpend(t, l, unitOfOne)
}

// The clock of a handle stands still during a draw, for everybody, and goes on after it.
func TestClock(t *testing.T) {
	l := create(t, 10, 0)
	first := l.Clock()
	var at [3]time.Duration
	var real time.Duration
	if _, _, err := l.ChargeDrawn(t.Context(), []Request{plainRequest(0)}, func() (Digest, error) {
		start := time.Now()
		at[0] = l.Clock()
		time.Sleep(time.Millisecond)
		var other sync.WaitGroup
		other.Go(func() { at[1] = l.Clock() })
		other.Wait()
		real = time.Since(start)
		return Digest{1}, nil
	}); err != nil {
		t.Fatal(err)
	}
	end := l.Clock()
	time.Sleep(time.Millisecond)
	if at[0] != at[1] || at[0] < first || end < at[0] || l.Clock()-end < time.Millisecond ||
		real < time.Millisecond || l.clock.drawn < real {
		t.Errorf("%v, %v in a draw of %v, %v after %v", first, at, l.clock.drawn, end, real)
	}
	// A draw that panics starts it again too.
	func() {
		defer func() { _ = recover() }()
		_, _, _ = l.ChargeDrawn(t.Context(), []Request{plainRequest(1)},
			func() (Digest, error) { panic("no") })
	}()
	if end = l.Clock(); l.Clock() < end || l.clock.drawing != (time.Time{}) {
		t.Error("it stands still")
	}
}
