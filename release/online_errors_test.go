package release

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/darrm/darrm/ledger"
)

// The words of a refused query name what is wrong by its place, and no vote.
func TestQueryErrors(t *testing.T) {
	w := ways(t)["none"] // ten teachers, three classes
	o, _ := newOnline(t, w.plan, w.charge, 1e3)
	for _, c := range []struct {
		q    Query
		want string
	}{
		{Query{Votes: w.votes, Counts: []int{10, 0, 0}}, "votes and counts exclude each other"},
		{Query{}, "votes or counts must be given"},
		{Query{Counts: []int{10, 1, 0}},
			"counts must be 3 numbers of at least 0, one for each class, with the sum K = 10"},
		{Query{Votes: w.votes[1:]}, "number of votes = 9, but it must be K = 10"},
		{Query{Votes: []int{0, 1, 2, 3, 2, 0, 0, 0, 0, 1}},
			"the vote of teacher 4 is of no class: they are 0 to 2"},
		{Query{Votes: []int{0, 1, -2, 2, 2, 0, 0, 0, 0, 1}},
			"the vote of teacher 3 is of no class: they are 0 to 2"},
		{Query{Votes: []int{0, 1, 2, 2, -1, 0, 0, 0, 0, 1}},
			"the vote of teacher 5 is missing, which this service does not allow (missing coin)"},
	} {
		c.q.ID = "a"
		_, err := o.Answer(t.Context(), c.q)
		var input *InputError
		if !errors.As(err, &input) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// What a service cannot be opened with is named, with what settles it.
func TestOnlineSaysWhatIsMissing(t *testing.T) {
	w := ways(t)["fresh"]
	o, options := newOnline(t, w.plan, w.charge, 1e3)
	for want, change := range map[string]func(*OnlineOptions){
		"need a ledger: give ledger":     func(o *OnlineOptions) { o.Charge.Ledger = "" },
		"need a service key":             func(o *OnlineOptions) { o.Key = "" },
		"slack = 2":                      func(o *OnlineOptions) { o.Charge.Slack = new(2.0) },
		"ensemble digest needs the name": func(o *OnlineOptions) { o.Charge.EnsembleDigest = "v1" },
	} {
		bad := options
		change(&bad)
		if o, err := OpenOnline(t.Context(), bad); o != nil || err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	// A bill that cannot be made out opens nothing, and answers nothing.
	o.totals.Fresh.Cost.Epsilon = math.NaN()
	if _, err := o.usedKey(t.Context()); err == nil {
		t.Error("a key is looked for")
	}
	if err := o.probe(t.Context()); err == nil {
		t.Error("it is taken for chargeable")
	}
	if a, err := o.Answer(t.Context(), Query{ID: "a", Votes: w.votes}); a != nil || err == nil {
		t.Errorf("%+v, %v", a, err)
	}
}

// What an answer costs is what the ledger is charged.
func TestOnlineUnit(t *testing.T) {
	for name, w := range ways(t) {
		o, _ := newOnline(t, w.plan, w.charge, 1e3)
		mustAnswer(t, o, Query{ID: "a", Votes: w.votes})
		if spent, err := o.book.Spent(t.Context()); err != nil || spent != o.Unit() ||
			spent == (ledger.Cost{}) {
			t.Errorf("%s: %v is spent, %v is told, %v", name, spent, o.Unit(), err)
		}
	}
}

// A budget that is spent is not told as an id that was used.
func TestOnlineTellsWhichRefusal(t *testing.T) {
	w := ways(t)["none"]
	o, _ := newOnline(t, w.plan, w.charge, w.cost(1))
	mustAnswer(t, o, Query{ID: "a", Votes: w.votes, Client: "alice"})
	for _, q := range []Query{{ID: "b", Votes: w.votes},
		{ID: "b", Votes: w.votes, Client: "alice", Share: shareOf(t, w.cost(1))}} {
		if _, err := o.Answer(t.Context(), q); err == nil ||
			strings.Contains(err.Error(), "used before") || !strings.Contains(err.Error(), "is spent") {
			t.Error(err)
		}
	}
}

// A failure that leaves the handle unusable is noted when it is seen first, of the handle that is
// in use alone, and no other failure is.
func TestOnlineNotesFailures(t *testing.T) {
	w := ways(t)["none"]
	o, options := newOnline(t, w.plan, w.charge, 1e3)
	for _, err := range []error{ledger.ErrBroken, ledger.ErrWrite, ledger.ErrDamaged} {
		o.broken = nil
		o.noteFailure(o.book, err)
		if !errors.Is(o.broken, err) {
			t.Errorf("%v is not noted", err)
		}
		if o.noteFailure(o.book, ledger.ErrBroken); !errors.Is(o.broken, err) {
			t.Errorf("%v is forgotten", err)
		}
	}
	o.broken = nil
	for _, err := range []error{nil, context.Canceled, ledger.ErrExceeded, ledger.ErrUnavailable,
		fs.ErrNotExist} {
		if o.noteFailure(o.book, err); o.broken != nil {
			t.Errorf("%v is noted", err)
		}
	}
	// A call that began before the ledger was opened again tells nothing of the new handle.
	if o.noteFailure(openOnline(t, options).book, ledger.ErrBroken); o.broken != nil {
		t.Error("another handle is broken")
	}
	// While it is broken everybody hears that it is.
	o.broken, o.tried = ledger.ErrWrite, time.Now().Add(time.Hour)
	_, answer := o.Answer(t.Context(), Query{ID: "a", Votes: w.votes})
	_, spent := o.SpentBy(t.Context(), "alice")
	_, state := o.State(t.Context())
	for what, err := range map[string]error{"an answer": answer, "a share": spent, "a state": state} {
		if !errors.Is(err, ledger.ErrBroken) || !errors.Is(err, ledger.ErrWrite) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// A draw that fails charges nothing, and the query can be asked again. One that fails where the
// charge is of before says that it is charged, and that asking again helps.
func TestOnlineDrawFails(t *testing.T) {
	w := ways(t)["none"]
	o, _ := newOnline(t, w.plan, w.charge, 1e3)
	failed := errors.New("no answer")
	fails := func(q Query, want string) {
		t.Helper()
		tr, _, err := o.transaction(o.book, q)
		if err != nil {
			t.Fatal(err)
		}
		tr.Draw = func(context.Context, *ledger.Receipt) (func(io.Writer) error, error) {
			return nil, failed
		}
		out, err := tr.Run(t.Context())
		charged := strings.Contains(fmt.Sprint(err), "is charged")
		if out.Done() || !errors.Is(err, failed) || !strings.Contains(err.Error(), want) ||
			charged != (want != "") {
			t.Errorf("%+v, %v", out, err)
		}
	}
	for _, q := range []Query{{ID: "a", ReplayKey: myKey, Votes: w.votes}, {ID: "b", Votes: w.votes}} {
		fails(q, "")
		if h, err := o.book.Find(t.Context(), q.ID); h != nil || err != nil {
			t.Errorf("%+v, %v", h, err)
		}
		a := mustAnswer(t, o, q)
		if a.Replayed {
			t.Errorf("%+v", a)
		}
		if q.ReplayKey == "" {
			continue
		}
		fails(q, "the same request again is answered")
		if again := mustAnswer(t, o, q); !again.Replayed || again.Class != a.Class {
			t.Errorf("%+v, first %+v", again, a)
		}
	}
	checkSpent(t, o.book, w.cost(2))
}

// Where the ledger cannot be read for the key of its answers, no key is taken, and none is made.
func TestUsedKeyUnread(t *testing.T) {
	w := ways(t)["none"]
	o, options := newOnline(t, w.plan, w.charge, 1e3)
	mustAnswer(t, o, Query{ID: "a", Votes: w.votes})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if used, err := o.usedKey(ended); used != "" || !errors.Is(err, context.Canceled) {
		t.Errorf("%q, %v", used, err)
	}
	o.options.Key = options.Key + "2"
	if _, err := o.openKey(ended); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := os.Stat(o.options.Key); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a key was made: %v", err)
	}
}
