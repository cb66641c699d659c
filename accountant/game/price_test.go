package game_test

import (
	"math"
	"testing"

	"github.com/darrm/darrm/accountant/game"
	"github.com/darrm/darrm/internal/testing/must"
)

func newGame(t must.TB, pairs game.Pairs, o game.Options) *game.Game {
	t.Helper()
	return must.Get(game.New(contextOf(t), pairs, o))(t)
}

func delta(t must.TB, g *game.Game, epsilon float64, answers int) float64 {
	t.Helper()
	return must.Get(g.Delta(contextOf(t), epsilon, answers))(t)
}

func epsilon(t must.TB, g *game.Game, delta float64, answers int) float64 {
	t.Helper()
	return must.Get(g.Epsilon(contextOf(t), delta, answers))(t)
}

// A recursion without a lattice has these nine digits, for normal noise on the counts. The tables'
// masses are rounded to 2⁻⁵³, which is below them.
func TestRecursionWithoutLattice(t *testing.T) {
	for _, c := range []struct {
		pairs   game.Pairs
		epsilon float64
		want    map[int]float64
	}{
		{all(normalCoins(5, .4)), .2, map[int]float64{1: .085766776, 2: .129541418, 3: .168189667}},
		{all(normalCoins(5, .4)), .6, map[int]float64{1: 0, 2: .039972141, 3: .069055904}},
		{all(normalCoins(4, .7)), .6, map[int]float64{1: .094815425, 2: .168013036, 3: .237212265}},
		{all(normalCoins(11, .3)), .2, map[int]float64{1: .049551947, 2: .082952677, 3: .109674032}},
		{newNormalTable(5, 3, 2).pairs, .5, map[int]float64{2: .193737413}},
	} {
		g := newGame(t, c.pairs, game.Options{Step: 1. / 500})
		for answers, want := range c.want {
			got := delta(t, g, c.epsilon, answers)
			if got < want-6e-10 || got > want*(1+1e-5)+1e-12 {
				t.Errorf("%d answers at epsilon = %g: %.10g, want %.9f", answers, c.epsilon, got, want)
			}
		}
	}
}

// The other implementation's figures, at the same lattice steps: its standard deviation is not ours
// to the last digit.
func TestOtherImplementation(t *testing.T) {
	game.Numerical(t)
	for _, c := range []struct {
		name       string
		pairs      game.Pairs
		answers    int
		at8, exact float64 // at h = s/8, and converged
	}{
		{"13x4", newNormalTable(13, 4, 16.13263).pairs, 100, 9.910e-7, 9.59e-7},
		{"25 coins", all(normalCoins(25, .080365)), 100, 1.0096e-6, 9.77e-7},
		{"chain", all(chain(101, .01161)), 1000, 1.014e-6, 0},
	} {
		got := delta(t, newGame(t, c.pairs, game.Options{Step: 1. / 8}), 3, c.answers)
		must.Near(t, c.name, got, c.at8, 2e-3)
		if c.exact > 0 {
			got = delta(t, newGame(t, c.pairs, game.Options{Step: 1. / 40}), 3, c.answers)
			if !(got >= c.exact*(1-1e-3) && got <= c.exact*(1+5e-3)) {
				t.Errorf("%s at s/40: %g, want %g", c.name, got, c.exact)
			}
		}
	}
}

// Settings that the other implementation found for (ε, δ) at h = s/10 have that δ here.
func TestSettings(t *testing.T) {
	game.Numerical(t)
	for _, c := range []struct {
		name    string
		pairs   game.Pairs
		answers int
		epsilon float64
		delta   float64
	}{
		{"11 coins", all(normalCoins(11, .033483)), 100, 1, 1e-5},
		{"25 coins", all(normalCoins(25, .080370)), 100, 3, 1e-6},
		{"40 coins", all(normalCoins(40, .036142)), 300, 2, 1e-5},
		{"101 coins", all(normalCoins(101, .080332)), 100, 3, 1e-6},
		{"chain of 11", all(chain(11, .020198)), 100, 1, 1e-5},
		{"chain of 40", all(chain(40, .023306)), 300, 2, 1e-5},
		{"chain of 101", all(chain(101, .11401)), 100, 3, 1e-6},
		{"9x3", newNormalTable(9, 3, 15.2028).pairs, 50, 2, 1e-5},
		{"11x3", newNormalTable(11, 3, 16.6564).pairs, 100, 3, 1e-6},
		{"25x4", newNormalTable(25, 4, 16.7226).pairs, 100, 3, 1e-6},
		{"25x4, 1000 answers", newNormalTable(25, 4, 49.5675).pairs, 1000, 3, 1e-6},
		{"15x10", newNormalTable(15, 10, 14.3327).pairs, 100, 3, 1e-6},
	} {
		g := newGame(t, c.pairs, game.Options{})
		must.Near(t, c.name, delta(t, g, c.epsilon, c.answers), c.delta, 4e-3)
	}
}

// One group is the hull of all pairs, and more are between it and all of them. The figures are
// those of the other implementation, for groups of equal width of a skewness like ours; one ordered
// pair is in no group here.
func TestGroups(t *testing.T) {
	game.Numerical(t)
	pairs := newNormalTable(13, 4, 16.13263).pairs
	all := delta(t, newGame(t, pairs, game.Options{Step: 1. / 8}), 3, 100)
	for _, c := range []struct {
		groups int
		most   float64
	}{{1, 5.459e-6}, {4, 2.05e-6}, {16, 1.19e-6}, {48, 1.09e-6}} {
		got := delta(t, newGame(t, pairs, game.Options{Step: 1. / 8, Exact: 1, Groups: c.groups}), 3, 100)
		if got < all*(1-2e-4) || got > c.most {
			t.Errorf("%d groups: %g, want between %g and %g", c.groups, got, all, c.most)
		}
	}
	// The pairs of largest divergence are those that matter.
	got := delta(t, newGame(t, pairs, game.Options{Step: 1. / 8, Exact: 60, Groups: 16}), 3, 100)
	must.Near(t, "60 pairs and 16 groups", got, all, 2e-3)
}

// Without a difference, nothing is spent.
func TestSameLaws(t *testing.T) {
	p := coins(toss(.3), toss(.3))
	g := newGame(t, all([]game.Pair{p}), game.Options{Step: .25})
	for _, e := range []float64{0, 1} {
		if d := delta(t, g, e, 1000); d > 1e-9 {
			t.Errorf("delta(%g) = %g of laws that are the same", e, d)
		}
	}
}

// An answer that only one law has settles the matter with its probability, at each answer anew,
// whatever epsilon is.
func TestInfiniteRatios(t *testing.T) {
	const p = 1. / 1024
	pair := coins(toss(p), 0)
	g := newGame(t, all([]game.Pair{pair}), game.Options{Step: 1. / 50})
	for _, answers := range []int{1, 2, 100} {
		seen := -math.Expm1(float64(answers) * math.Log1p(-p))
		for _, e := range []float64{2, 700} {
			if d := delta(t, g, e, answers); d < seen*(1-1e-12) || d > seen*(1+1e-3) {
				t.Errorf("%d answers at epsilon = %g: %g, want %g", answers, e, d, seen)
			}
		}
		if e, err := g.Epsilon(t.Context(), seen*.99, answers); err != game.ErrDelta {
			t.Errorf("%d answers: epsilon = %g, %v, want ErrDelta", answers, e, err)
		}
		if answers == 1 { // so near that ever larger ε are tried
			if e, err := g.Epsilon(t.Context(), seen*(1-1e-12), 1); err != game.ErrDelta {
				t.Errorf("epsilon = %g, %v just below the sure part, want ErrDelta", e, err)
			}
		}
		// The other order has a factor of 1/(1-p) at each answer and no more.
		if e := epsilon(t, g, seen*1.01, answers); !(e <= float64(answers)*.02+.1) {
			t.Errorf("%d answers: epsilon = %g at delta above the sure part", answers, e)
		}
	}
	// Laws that share nothing.
	g = newGame(t, all([]game.Pair{coins(0, game.One)}), game.Options{})
	if d := delta(t, g, 700, 1); d != 1 {
		t.Errorf("delta of laws that share nothing = %g", d)
	}
}

// Extreme ratios, down to one mass in 2⁵³, are within the lattice or dearer than that.
func TestExtremeRatios(t *testing.T) {
	g := newGame(t, all([]game.Pair{coins(1, game.One/2), coins(game.One-1, game.One/2), coins(1, 3)}),
		game.Options{Step: 1. / 200})
	for _, e := range []float64{0, .5, 10, 36} {
		// One answer: the exact figure is the largest of four differences.
		exact := 0.0
		for _, c := range [][2]float64{{1 / float64(game.One), .5}, {.5, 1 / float64(game.One)},
			{1 - 1/float64(game.One), .5}, {.5, 1 - 1/float64(game.One)}} {
			exact = max(exact, max(0, c[0]-math.Exp(e)*c[1])+max(0, (1-c[0])-math.Exp(e)*(1-c[1])))
		}
		if d := delta(t, g, e, 1); d < exact*(1-1e-12) || d > exact*1.02 {
			t.Errorf("delta(%g) = %g, want %g", e, d, exact)
		}
	}
}

// Epsilon and Delta are each other's inverse, to the last digits and the windows.
func TestInverse(t *testing.T) {
	g := newGame(t, all(normalCoins(25, .08)), game.Options{})
	for _, d := range []float64{1e-9, 1e-6, 1e-3, .1} {
		e := epsilon(t, g, d, 100)
		must.Near(t, "delta", delta(t, g, e, 100), d, 1e-5)
	}
	if e := epsilon(t, g, .9, 1); e != 0 {
		t.Errorf("epsilon at delta = .9 is %g", e)
	}
	if e := epsilon(t, g, 1e-200, 3); !(e > 0 && e <= 4) {
		t.Errorf("epsilon at delta = 1e-200 is %g", e)
	}
}
