package game_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant/game"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
)

func TestRefusals(t *testing.T) {
	raced.Sequential(t)
	good := coins(toss(.4), toss(.6))
	with := func(change func(game.Pair)) game.Pairs {
		p := append(game.Pair{}, good...)
		change(p)
		return all([]game.Pair{good, p})
	}
	const third = 1 << 53 / 3
	for _, c := range []struct {
		name, want string
		pairs      game.Pairs
		options    game.Options
	}{
		{"nothing", "pairs of a game", all(nil), game.Options{}},
		{"no outcome", "outcomes of a pair", all([]game.Pair{{}}), game.Options{}},
		{"many outcomes", "outcomes of a pair", all([]game.Pair{make(game.Pair, game.MaxOutcomes+1)}),
			game.Options{}},
		{"count 0", "count of an outcome", with(func(p game.Pair) { p[0].Count = 0 }), game.Options{}},
		{"count 1001", "count of an outcome", with(func(p game.Pair) { p[0].Count = 1001 }),
			game.Options{}},
		{"classes 0", "classes of an outcome", with(func(p game.Pair) { p[1].PPrime.Classes = 0 }),
			game.Options{}},
		{"classes 1001", "classes of an outcome", with(func(p game.Pair) { p[1].P.Classes = 1001 }),
			game.Options{}},
		{"a mass above 1", "mass of an outcome", with(func(p game.Pair) { p[0].P.Mass = 2*game.One + 1 }),
			game.Options{}},
		{"one mass less", "a law's probabilities", with(func(p game.Pair) { p[0].P.Mass-- }),
			game.Options{}},
		{"one mass more, in the second law", "a law's probabilities",
			with(func(p game.Pair) { p[1].PPrime.Mass++ }), game.Options{}},
		{"a third of a mass less", "a law's probabilities", all([]game.Pair{{
			{Count: 3, P: game.Probability{Mass: game.One - 1, Classes: 3},
				PPrime: game.Probability{Mass: game.One, Classes: 3}},
			{Count: 2, P: game.Probability{Mass: 1, Classes: 3},
				PPrime: game.Probability{Mass: 0, Classes: 3}},
		}}), game.Options{}},
		{"sums that are 1 modulo 2^128", "a law's probabilities", with(func(p game.Pair) {
			p[0].Count = 1000
			p[0].P.Mass = game.One
		}), game.Options{}},
		{"step", "step of a game", all([]game.Pair{good}), game.Options{Step: 2}},
		{"step NaN", "step of a game", all([]game.Pair{good}), game.Options{Step: math.NaN()}},
		{"small step", "step of a game", all([]game.Pair{good}), game.Options{Step: 1e-4}},
		{"exact", "exact pairs of a game", all([]game.Pair{good}), game.Options{Exact: -1}},
		{"groups", "groups of a game", all([]game.Pair{good}), game.Options{Groups: game.MaxGroups + 1}},
		{"work", "work of a play", all([]game.Pair{good}), game.Options{Work: 2 * game.MaxWork}},
		{"work NaN", "work of a play", all([]game.Pair{good}), game.Options{Work: math.NaN()}},
	} {
		if _, err := game.New(t.Context(), c.pairs, c.options); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	// Shares that are no whole masses, and sum to 1.
	shared := game.Pair{
		{Count: 2, P: game.Probability{Mass: third, Classes: 1},
			PPrime: game.Probability{Mass: game.One, Classes: 3}},
		{Count: 1, P: game.Probability{Mass: game.One - 2*third, Classes: 1},
			PPrime: game.Probability{Mass: game.One, Classes: 3}},
	}
	g := newGame(t, all([]game.Pair{shared, good}), game.Options{})
	for _, c := range []struct {
		name, want string
		f          func() (any, error)
	}{
		{"epsilon below 0", "epsilon", func() (any, error) { return g.Delta(t.Context(), -1, 1) }},
		{"epsilon NaN", "epsilon", func() (any, error) { return g.Delta(t.Context(), math.NaN(), 1) }},
		{"epsilon 701", "epsilon", func() (any, error) { return g.Delta(t.Context(), 701, 1) }},
		{"no answers", "answers", func() (any, error) { return g.Delta(t.Context(), 1, 0) }},
		{"answers", "answers", func() (any, error) {
			return g.Epsilon(t.Context(), .1, game.MaxAnswers+1)
		}},
		{"delta 0", "delta", func() (any, error) { return g.Epsilon(t.Context(), 0, 1) }},
		{"delta 1", "delta", func() (any, error) { return g.Epsilon(t.Context(), 1, 1) }},
		{"least 0", "least delta", func() (any, error) { return g.Curve(t.Context(), 0, 1) }},
		{"no answers of a curve", "answers", func() (any, error) { return g.Curve(t.Context(), .1, 0) }},
	} {
		if _, err := c.f(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	// What would take more than the limits is refused before it begins.
	fine := newGame(t, all(normalCoins(25, .08)), game.Options{Step: 1. / 1000})
	begun := must.EndAfter(1000, errors.New("it began"))
	if _, err := fine.Delta(begun, 3, game.MaxAnswers); !errors.Is(err, game.ErrTooLarge) {
		t.Errorf("a game of a million answers: %v, want ErrTooLarge", err)
	}
	little := newGame(t, all(normalCoins(25, .08)), game.Options{Work: 1e6})
	if e, err := little.Epsilon(t.Context(), 1e-5, 10); err != nil || e != must.Get(newGame(t, all(normalCoins(25, .08)),
		game.Options{}).Epsilon(t.Context(), 1e-5, 10))(t) {
		t.Errorf("a limit that is not reached: ε = %g, %v", e, err)
	}
	if _, err := little.Epsilon(begun, 1e-5, 10_000); !errors.Is(err, game.ErrTooLarge) {
		t.Errorf("more than the stated work: %v, want ErrTooLarge", err)
	}
}

// A list has each pair once: a game of few pairs that come again and again is as small as that of each once, and
// has its price to the bit.
func TestPairsThatComeAgain(t *testing.T) {
	raced.Sequential(t)
	few := normalCoins(9, .02)
	options := game.Options{Exact: 4 * len(few)}
	once := newGame(t, all(few), options)
	again := newGame(t, all(slices.Repeat(few, 30_000)), options)
	want := delta(t, once, 3, 4000)
	if got, err := again.Delta(t.Context(), 3, 4000); err != nil || got != want {
		t.Errorf("%v, %v, and of each once %v", got, err, want)
	}
}

// The sequence's own error is returned, from each reading, and so are pairs that are others at the
// second one.
func TestReadings(t *testing.T) {
	own := errors.New("own")
	for reading := 1; reading <= 3; reading++ {
		n := 0
		failing := func(yield func(game.Pair, error) bool) {
			if n++; n == reading {
				yield(nil, own)
				return
			}
			for _, p := range normalCoins(9, .1) {
				if !yield(p, nil) {
					return
				}
			}
		}
		if _, err := game.New(t.Context(), failing, game.Options{Exact: 3}); !errors.Is(err, own) {
			t.Errorf("reading %d fails: %v", reading, err)
		}
	}
	n := 0
	growing := func(yield func(game.Pair, error) bool) {
		n++
		for range n {
			if !yield(coins(toss(.4), toss(.5)), nil) {
				return
			}
		}
	}
	if _, err := game.New(t.Context(), growing, game.Options{}); err == nil {
		t.Error("pairs that grow from reading to reading are taken")
	}
}

// A context that ends at any step ends the work, with its error.
func TestEnds(t *testing.T) {
	own := errors.New("ends")
	pairs := all(normalCoins(9, .1))
	for n := 0; ; n++ {
		ctx := must.EndAfter(n, own)
		g, err := game.New(ctx, pairs, game.Options{})
		if err == nil {
			_, err = g.Epsilon(ctx, 1e-4, 3)
		}
		if err == nil {
			if n < 20 {
				t.Errorf("the context was asked %d times", n)
			}
			break
		}
		if !errors.Is(err, own) {
			t.Fatalf("after %d times: %v", n, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := game.NewRenyi(ctx, pairs); !errors.Is(err, context.Canceled) {
		t.Errorf("NewRenyi: %v", err)
	}
}

// A price is these bits on every processor, with any number of them.
func TestBits(t *testing.T) {
	g := newGame(t, all(leads(11, []coin{game.One/2 + game.One/50, game.One/2 + game.One/20,
		game.One/2 + game.One/12, game.One/2 + game.One/8, game.One/2 + game.One/6,
		game.One/2 + game.One/5})), game.Options{})
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, workers := range []int{1, 3} {
		runtime.GOMAXPROCS(workers)
		d, e := delta(t, g, 3, 200), epsilon(t, g, 1e-6, 200)
		if math.Float64bits(d) != 0x3f8b9a897fdc5de3 || math.Float64bits(e) != 0x4019a8dad1d25643 {
			t.Errorf("%d workers: delta = %v (%#x), epsilon = %v (%#x)", workers, d, math.Float64bits(d), e,
				math.Float64bits(e))
		}
	}
}
