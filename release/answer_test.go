package release

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/votes"
)

// batch reads all votes of a text with a header as one batch.
func batch(t testing.TB, text string, o votes.Options) *votes.Batch {
	t.Helper()
	o.Stdin = strings.NewReader(text)
	r, err := votes.Open(t.Context(), o, "-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return must.Get(r.Next())(t)
}

// loud is a mechanism that answers the majority of three teachers but once in e¹⁰⁰.
func loud(t testing.TB) *ensemble.Mechanism {
	t.Helper()
	return must.Get(ensemble.PermuteAndFlip(ensemble.Setting{K: 3, Classes: 2, Affected: 1,
		Neighbours: accountant.ReplaceOne}, 200))(t)
}

// Answers come in the order of the votes, whatever the coins; votes stay as they are.
func TestAnswersKeepTheOrder(t *testing.T) {
	key, err := randsrc.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	text, want := "t1,t2,t3\n", []int{}
	for i := range 3000 {
		text += fmt.Sprintf("%d,%[1]d,0\n", i*i%7%2)
		want = append(want, i*i%7%2)
	}
	for name, coins := range map[string]randsrc.Coins{"system": randsrc.SystemCoins(),
		"keyed": randsrc.KeyedCoins(key, "r"), "seeded": randsrc.SeededCoins(1)} {
		b := batch(t, text, votes.Options{})
		before := slices.Clone(b.Counts)
		got, err := newReading(nil, nil).answer(t.Context(), loud(t), coins, b)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %d answers, %v", name, len(got), err)
		}
		if !slices.Equal(b.Counts, before) {
			t.Errorf("%s: the votes were altered", name)
		}
	}
}

// Coins from a key are of the query's id: equal votes are answered independently, and a query as before in any order.
func TestCoinsFromAKeyAreOfOneID(t *testing.T) {
	quiet := must.Get(ensemble.PermuteAndFlip(ensemble.Setting{K: 3, Classes: 2, Affected: 1, Neighbours: accountant.ReplaceOne},
		0.01))(t)
	answers := func(coins randsrc.Coins, first, step int) []int {
		text := "query,t1,t2,t3\n"
		for i := range 64 {
			text += fmt.Sprintf("q%d,1,0,0\n", first+i*step)
		}
		return must.Get(newReading(nil, nil).answer(t.Context(), quiet, coins, batch(t, text, votes.Options{})))(t)
	}
	for name, coins := range map[string]randsrc.Coins{"keyed": randsrc.KeyedCoins(must.Get(randsrc.NewKey())(t), "r"), "seeded": randsrc.SeededCoins(1)} {
		got, back := answers(coins, 0, 1), answers(coins, 63, -1)
		ones := 0
		for _, x := range got {
			ones += x
		}
		if slices.Reverse(back); ones < 10 || ones > 54 || !slices.Equal(got, back) {
			t.Errorf("%s: %d ones of 64: %v, in the other order %v", name, ones, got, back)
		}
	}
}

// Missing votes are guessed in place, once: a batch that was answered has none.
func TestAnswerGuessesMissingVotes(t *testing.T) {
	b := batch(t, "t1,t2,t3\n1,1,1\nNA,NA,0\n0,0,NA\n", votes.Options{Missing: votes.MissingCoin})
	got, err := newReading(nil, nil).answer(t.Context(), loud(t), randsrc.SystemCoins(), b)
	if err != nil || got[0] != 1 || got[2] != 0 {
		t.Fatalf("%v, %v", got, err)
	}
	for i := range b.Len() {
		if row := b.Row(i); row[0]+row[1] != 3 || b.Missing[i] != 0 {
			t.Errorf("query %d: %v, %d missing", i, row, b.Missing[i])
		}
	}
	if b.Row(1)[0] < 1 || b.Row(2)[0] < 2 {
		t.Errorf("votes that were there changed: %v", b.Counts)
	}
}

// What was paid for is not answered from a seed; what was not may be, and is then marked by
// the caller.
func TestPaidVotesAreNotSimulated(t *testing.T) {
	const text = "t1,t2,t3\n1,1,1\n"
	first := newReading(nil, nil)
	for name, c := range map[string]struct {
		coins randsrc.Coins
		ok    bool
	}{
		"system": {randsrc.SystemCoins(), true}, "seeded": {randsrc.SeededCoins(1), false},
		"sequence": {randsrc.SeededSequence(1), false}, "zero": {randsrc.Coins{}, false},
	} {
		got, err := first.again().answer(t.Context(), loud(t), c.coins, batch(t, text, votes.Options{}))
		if c.ok != (err == nil) || !c.ok && (got != nil || !errors.Is(err, errSimulated)) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if got, err := first.answer(t.Context(), loud(t), randsrc.SeededCoins(1),
		batch(t, text, votes.Options{})); err != nil || got[0] != 1 {
		t.Errorf("a simulation that nobody pays for: %v, %v", got, err)
	}
}

// A batch is given up in the middle, and nothing comes of its first half; votes of other
// teachers or classes are refused, by the query's name.
func TestAnswerErrors(t *testing.T) {
	long := batch(t, "t1,t2,t3\n"+strings.Repeat("1,1,0\n", 5000), votes.Options{})
	if got, err := newReading(nil, nil).answer(must.EndAfter(2, context.Canceled), loud(t),
		randsrc.SystemCoins(), long); got != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%d answers, %v", len(got), err)
	}
	if got, err := newReading(nil, nil).answer(must.EndAfter(1000, context.Canceled), loud(t),
		randsrc.SystemCoins(), long); err != nil || len(got) != long.Len() {
		t.Errorf("%d answers, %v", len(got), err)
	}
	for text, o := range map[string]votes.Options{
		"query,t1,t2\nq7,1,0\n":      {},
		"query,t1,t2,t3\nq7,1,0,2\n": {Classes: votes.IntegerClasses(3)},
	} {
		if got, err := newReading(nil, nil).answer(t.Context(), loud(t), randsrc.SystemCoins(),
			batch(t, text, o)); got != nil || err == nil || !strings.Contains(err.Error(), `"q7"`) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}
