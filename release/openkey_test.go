package release

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/ledger"
)

// Beside a ledger that has answers of the mechanism, a server starts with their key alone: not with
// another one, and not without one, of which none is made. NewKey states that another is meant:
// then new ids are answered, those of before are refused, and from the first new answer on it is
// the key of before that is another one. A mechanism that has no answers there takes any key.
func TestKeyOfTheLedger(t *testing.T) {
	for name, w := range ways(t) {
		o, options := newOnline(t, w.plan, w.charge, 1e3)
		q := func(id string) Query { return Query{ID: id, ReplayKey: myKey, Votes: w.votes} }
		second := openOnline(t, options) // nothing was answered yet
		mustAnswer(t, o, q("a"))
		mustAnswer(t, second, q("b"))
		another := options
		another.Key += "2"
		refused := func(options OnlineOptions, said string) {
			t.Helper()
			o, err := OpenOnline(t.Context(), options)
			var input *InputError
			if o != nil || !errors.As(err, &input) || !strings.Contains(err.Error(), said) ||
				!strings.Contains(err.Error(), "new key states") {
				t.Errorf("%s: %v", name, err)
			}
		}
		refused(another, "there is no service key")
		if _, err := os.Stat(another.Key); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: a key was made that was refused: %v", name, err)
		}
		if err := os.Rename(options.Key, options.Key+".away"); err != nil {
			t.Fatal(err)
		}
		refused(options, "there is no service key")
		if err := os.Rename(options.Key+".away", options.Key); err != nil {
			t.Fatal(err)
		}

		// What composes many answers is nothing to one: another slack is no other mechanism.
		if slack := another; name != "frozen" && name != "together" { // which refuse any
			slack.Charge.Slack = new(float64)
			*slack.Charge.Slack = 1e-9
			refused(slack, "there is no service key")
			slack.Key = options.Key
			mustAnswer(t, openOnline(t, slack), q("a"))
		}

		meant := another
		meant.NewKey = true
		renewed := openOnline(t, meant)
		refused(another, "the latest answers of this mechanism") // it is there now, and not used yet
		if a, err := renewed.Answer(t.Context(), q("a")); a != nil || !errors.Is(err, ledger.ErrRefused) {
			t.Errorf("%s: another key repeats an answer: %+v, %v", name, a, err)
		}
		mustAnswer(t, renewed, q("c"))
		mustAnswer(t, openOnline(t, another), q("c"))
		refused(options, "the latest answers of this mechanism")

		// Another mechanism on the same ledger has a key of its own.
		m, err := ensemble.LNMax(ensemble.Setting{K: 10, Classes: 3, Affected: 1,
			Neighbours: accountant.ReplaceOne}, 0.49)
		if err != nil {
			t.Fatal(err)
		}
		plan := must.Get(NewPlan(m))(t)
		apart := OnlineOptions{Plan: plan, Stated: saidOf(plan),
			Charge: Charge{Ledger: options.Charge.Ledger}, Key: options.Key + "3"}
		votes := []int{0, 1, 2, 2, 2, 0, 0, 0, 0, 1}
		mustAnswer(t, openOnline(t, apart), Query{ID: "apart", Votes: votes})
		openOnline(t, another)
		refused(options, "the latest answers of this mechanism")
	}
}

// The key is found among the answers of many entries, behind those of other releases.
func TestUsedKeyIsFoundFarBack(t *testing.T) {
	w := ways(t)["none"]
	o, options := newOnline(t, w.plan, w.charge, 1e6)
	if used, err := o.usedKey(t.Context()); used != "" || err != nil {
		t.Errorf("%q, %v", used, err)
	}
	mustAnswer(t, o, Query{ID: "a", Votes: w.votes})
	unit := o.Unit()
	for page := range 3 {
		var requests []ledger.Request
		for i := range 3000 {
			requests = append(requests, ledger.Request{ID: fmt.Sprint(page, " ", i), Count: 1, Unit: unit,
				Relation: ledger.ReplaceOne, Event: []byte(`{"key":"0","online":false}`)})
		}
		if _, err := o.book.ChargeAll(t.Context(), requests); err != nil {
			t.Fatal(err)
		}
		if used, err := o.usedKey(t.Context()); used != o.keyName || err != nil {
			t.Errorf("%q, %v", used, err)
		}
	}
	options.Key += "2"
	if _, err := OpenOnline(t.Context(), options); err == nil {
		t.Error("another key")
	}
}
