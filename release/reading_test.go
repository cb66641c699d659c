package release

import (
	"errors"
	"strings"
	"testing"

	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/votes"
)

// read passes text with a header through a reading, and returns the error of the batch or of
// the end.
func read(t *testing.T, r *reading, text string) error {
	t.Helper()
	return readAs(t, r, "t1,t2,t3\n"+text, votes.Options{KeepVotes: true})
}

// readAs is read of a whole text, with the options.
func readAs(t *testing.T, r *reading, text string, o votes.Options) error {
	t.Helper()
	o.Stdin = strings.NewReader(text)
	v, err := votes.Open(t.Context(), o, "-")
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	for b, err := range v.Batches() {
		if err != nil {
			t.Fatal(err)
		}
		if err := r.add(b, r.digest(b)); err != nil {
			return err
		}
	}
	return r.end()
}

// Votes are the same in whatever order their classes are listed: an answer is a function of
// which teacher voted for what.
func TestSwappedClassesAreTheSameVotes(t *testing.T) {
	hash, err := newLedger(t, 1).VoteHash()
	if err != nil {
		t.Fatal(err)
	}
	digest := func(layout votes.Layout, text string, classes ...string) ledger.Digest {
		r := newReading(hash.New(), nil)
		if err := readAs(t, r, text, votes.Options{Classes: classes, Layout: layout,
			KeepVotes: layout != votes.LayoutCounts}); err != nil {
			t.Fatal(err)
		}
		return r.hash.Draw("", "d").Votes
	}
	missing := func(text string) ledger.Digest {
		r := newReading(hash.New(), nil)
		v, err := votes.Open(t.Context(),
			Hashed(votes.Options{Stdin: strings.NewReader(text), Missing: votes.MissingCoin}, hash), "-")
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		b, err := v.Next()
		if err == nil {
			err = r.add(b, r.digest(b))
		}
		if err != nil {
			t.Fatal(err)
		}
		return r.hash.Draw("", "d").Votes
	}
	if a, b, c := missing("t1,t2\n0,\n"), missing("t1,t2\n0,0\n"), missing("t1,t2\n0,1\n"); a == b ||
		a == c || b == c {
		t.Error("a vote that is missing is one of the classes")
	}
	const wide, others, counts = "t1,t2,t3\n0,1,1\n0,0,1\n", "t1,t2,t3\n1,0,0\n1,1,0\n",
		"n0,n1\n1,2\n2,1\n2,1\n"
	want := digest(votes.LayoutWide, wide)
	if got := digest(votes.LayoutWide, wide, "1", "0"); got != want {
		t.Error("with the classes in another order the votes are others")
	}
	if digest(votes.LayoutWide, others) == want || digest(votes.LayoutWide, others, "1", "0") == want {
		t.Error("the opposite votes are the same")
	}
	if digest(votes.LayoutCounts, counts) != digest(votes.LayoutCounts, counts, "1", "0") {
		t.Error("with the classes in another order the counts are others")
	}
}

// The second reading must be of what was paid for: neither more queries, nor fewer, nor,
// where the ledger recognises the votes, others. Their order is not part of it, since it
// does not change what the votes tell.
func TestReadingIsOfWhatWasPaidFor(t *testing.T) {
	hash, err := newLedger(t, 1).VoteHash()
	if err != nil {
		t.Fatal(err)
	}
	const paid = "0,1,1\n0,0,1\n"
	for _, tt := range []struct {
		name, again string
		hashed      bool
		want        string // in the error; "" for none
	}{
		{"the same", paid, true, ""},
		{"the same, not hashed", paid, false, ""},
		{"another order", "0,0,1\n0,1,1\n", true, ""},
		{"one more", paid + "1,1,1\n", true, "there are more"},
		{"one more, not hashed", paid + "1,1,1\n", false, "there are more"},
		{"one fewer", "0,1,1\n", true, "there are 1"},
		{"one fewer, not hashed", "0,1,1\n", false, "there are 1"},
		{"one twice instead of another", "0,1,1\n0,1,1\n", true, "they are not those that were paid for"},
		{"one teacher for another", "0,1,1\n0,1,0\n", true, "they are not those that were paid for"},
		{"others, not hashed", "0,1,1\n0,1,0\n", false, ""}, // of no consequence there: the noise is new
	} {
		first := newReading(nil, nil)
		if tt.hashed {
			first = newReading(hash.New(), nil)
		}
		if err := read(t, first, paid); err != nil || first.queries != 2 {
			t.Fatalf("%s: %d queries, %v", tt.name, first.queries, err)
		}
		err := read(t, first.again(), tt.again)
		var input *InputError
		if (err == nil) != (tt.want == "") || err != nil &&
			(!strings.Contains(err.Error(), tt.want) || !errors.As(err, &input)) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}
