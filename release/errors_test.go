package release

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/darrm/darrm/ledger"
)

// Whatever is wrong with a query is an InputError, found by its pointer type, and there is no
// answer beside it.
func TestBadQueriesAreInputErrors(t *testing.T) {
	w := ways(t)["none"]
	o, _ := newOnline(t, w.plan, w.charge, 1e3)
	share := func(e float64) *ledger.Budget {
		b, err := ledger.NewBudget(e, 0)
		if err != nil {
			t.Fatal(err)
		}
		return &b
	}
	for name, q := range map[string]Query{
		"no id": {Votes: w.votes}, "long id": {ID: strings.Repeat("a", ledger.MaxID+1), Votes: w.votes},
		"id of lines":      {ID: "a\nb", Votes: w.votes},
		"id of a training": {ID: "teachers:e", Votes: w.votes},
		"client of lines":  {ID: "a", Votes: w.votes, Client: "a\nb"},
		"share of nobody":  {ID: "a", Votes: w.votes, Share: share(1)},
		"no votes":         {ID: "a"}, "one vote": {ID: "a", Votes: w.votes[:1]},
		"counts": {ID: "a", Counts: []int{math.MaxInt, math.MaxInt, 12}},
		"key":    {ID: "a", Votes: w.votes, ReplayKey: "guess"},
	} {
		a, err := o.Answer(t.Context(), q)
		var input *InputError
		if a != nil || !errors.As(err, &input) {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
}

// Each kind is found through others that wrap it, by its pointer type alone.
func TestKindsOfErrorsArePointers(t *testing.T) {
	cause := errors.New("cause")
	for _, err := range []error{&UsageError{cause}, &InputError{cause}, &OutputError{cause},
		&LedgerError{cause}} {
		wrapped := fmt.Errorf("wrapped: %w", err)
		var usage *UsageError
		var input *InputError
		var output *OutputError
		var unwritten *LedgerError
		n := 0
		for _, found := range []bool{errors.As(wrapped, &usage), errors.As(wrapped, &input),
			errors.As(wrapped, &output), errors.As(wrapped, &unwritten)} {
			if found {
				n++
			}
		}
		if n != 1 || !errors.Is(wrapped, cause) || err.Error() != "cause" {
			t.Errorf("%T is %d kinds", err, n)
		}
	}
}
