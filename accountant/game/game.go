package game

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/big"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/num"
)

// One is the sum of the masses of a law: probabilities are whole numbers of 2⁻⁵³.
const One = 1 << 53

// Limits of a game. Those of memory hold before anything is allocated, that of work before the
// first answer is worked out.
const (
	MaxAnswers  = 1_000_000 // answers under one price
	MaxEpsilon  = check.MaxTotalEpsilon
	MaxExact    = 1_000_000         // Options.Exact
	MaxGroups   = 4096              // Options.Groups
	MaxOutcomes = 2000              // outcomes of one pair
	MaxPairs    = 1 << 23           // unordered pairs
	MaxWork     = 4_000_000_000_000 // atoms × points × answers: some minutes of two processors

	maxAtoms  = 2 << 20 // of all exact measures: 32 MiB, and as much again for their envelopes
	maxCurves = 8 << 20 // points of all groups' curves: 64 MiB
	maxPoints = 1 << 20 // of the lattice
)

// Probability is the probability Mass/(Classes·2⁵³) of one class: a group's mass shared by the
// classes of the group.
type Probability struct {
	Mass    uint64 // at most 2⁵⁴: a whole number of 2⁻⁵⁴ is one of half the group
	Classes int    // between 1 and 1000
}

// Outcome is Count answers that look the same: each has probability P under one histogram and
// PPrime under its neighbour.
type Outcome struct {
	Count     int // between 1 and 1000
	P, PPrime Probability
}

// Pair is the laws of one answer under two neighbouring histograms. Over its outcomes, Count·P and
// Count·PPrime sum to 1 each, exactly. The order of the two does not matter.
type Pair []Outcome

// Pairs yields every unordered pair of laws of a table, in any order. It can be ranged over more
// than once and yields the same pairs each time. A pair is read before the next one is asked for
// and not kept. An error ends the sequence and is returned. A pair that comes twice, or in both
// orders, costs time alone.
type Pairs = iter.Seq2[Pair, error]

// Options sets how finely a game is worked out. No choice makes a price too low. The zero Options
// are the defaults.
type Options struct {
	Step   float64 // lattice step in units of Game.Scale, in [1/1000, 1]; 0 means 1/10
	Exact  int     // most ordered pairs that are in no group, up to MaxExact; 0 means 200,000
	Groups int     // most groups of the others, up to MaxGroups; 0 means 64
	Work   float64 // most atoms × points × answers of one play, up to MaxWork; 0 means MaxWork
}

func (o *Options) fill() error {
	if o.Step == 0 {
		o.Step = 0.1
	}
	if o.Exact == 0 {
		o.Exact = 200_000
	}
	if o.Groups == 0 {
		o.Groups = 64
	}
	if o.Work == 0 {
		o.Work = MaxWork
	}
	if !(o.Step >= 1e-3 && o.Step <= 1) {
		return check.Want("step of a game", o.Step, "in [0.001, 1]")
	}
	if !(o.Work > 0 && o.Work <= MaxWork) {
		return check.Want("work of a play", o.Work, "above 0 and at most 4e12")
	}
	return cmp.Or(check.Whole("exact pairs of a game", o.Exact, 1, MaxExact),
		check.Whole("groups of a game", o.Groups, 1, MaxGroups))
}

// Game is the game of one table. It is immutable and safe for concurrent use.
type Game struct {
	options Options
	scale   float64
	lattice *lattice
	tree    tree
	renyi   *Renyi
	pruned  float64 // the part by which pruning may raise a price
}

// ErrDelta is the error for a δ that no ε is large enough for.
var ErrDelta = errors.New(
	"no epsilon has so small a delta: some answers tell two neighbours apart for certain")

// ErrTooLarge is the error for a game beyond the limits of memory and time.
var ErrTooLarge = errors.New("game too large")

func tooLarge(what string, value, limit any) error {
	return fmt.Errorf("%s: %v, at most %v: %w", what, value, limit, ErrTooLarge)
}

// New reads the pairs twice, or three times where there are more than o.Exact, and returns their
// game. Pairs in groups are folded into curves as they come: memory is below 200 MiB, whatever
// their number. The error names what breaks a rule, is the sequence's own, or ctx.Err(). Cost: some
// 10 µs an ordered pair.
func New(ctx context.Context, pairs Pairs, o Options) (*Game, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	s := &survey{ratio: 1}
	if err := s.read(ctx, pairs); err != nil {
		return nil, err
	}
	g := &Game{options: o, scale: max(s.scale, minScale), renyi: newRenyi(s.moments, s.infinite),
		pruned: pruned}
	step := float64(o.Step * g.scale)
	g.lattice = newLattice(step, reachOf(s.ratio, step))
	if err := s.choose(ctx, pairs, o.Exact); err != nil {
		return nil, err
	}
	f := newFolder(g.lattice, s, o.Groups)
	if err := f.read(ctx, pairs); err != nil {
		return nil, err
	}
	var err error
	g.tree, err = newTree(ctx, g.lattice, o.Step, f.measures())
	if err != nil {
		return nil, err
	}
	return g, nil
}

// Options returns the options of the game, with defaults filled in.
func (g *Game) Options() Options { return handle.Made(g).options }

// Scale returns s, the largest 2·√Σ(√P - √P')² over the pairs, at least 1e-3.
func (g *Game) Scale() float64 { return handle.Made(g).scale }

// Step returns h, the lattice step of ln r.
func (g *Game) Step() float64 {
	if handle.Made(g).lattice == nil {
		return 0
	}
	return g.lattice.step
}

// Renyi returns the divergences of the game's pairs.
func (g *Game) Renyi() *Renyi { return handle.Copy(handle.Made(g).renyi) }

// minScale is the least scale that a lattice is made for, that of MaxAnswers answers which cost
// about 1: finer ones would have too many points.
const minScale = 1e-3

// lattice is the points x_k = e^{kh}, |k| ≤ reach, and 0. Each is known as an interval.
type lattice struct {
	step    float64 // h, of which the float64 is exact
	reach   int
	low, up []float64 // bounds of x_k, at k + reach
	gap     []float64 // lower bounds of x_{k+1} - x_k
	gapUp   []float64 // upper bounds
	rest    []float64 // upper bounds of 1 - x_{-k}, k ≥ 0
}

// reachOf returns the number of points on either side that cover ratios from 1/ratio to ratio,
// where memory allows it.
func reachOf(ratio, step float64) int {
	log := num.Log(num.FromRat(new(big.Rat).SetFloat64(ratio))).Upper() // the same on every processor
	return int(min(math.Ceil(log/step)+1, maxReach))
}

// maxReach bounds the points of a lattice on either side of 1. Smaller ratios are shared by 0 and
// the last point, larger ones are put at the last point: both are dearer.
const maxReach = 20_000

// newLattice multiplies e^h, which is known to 300 bits, in twofold arithmetic: intervals of 300 bits would take most
// of the time of a price.
func newLattice(step float64, reach int) *lattice {
	l := &lattice{step: step, reach: reach}
	n := 2*reach + 1
	l.low, l.up = make([]float64, n), make([]float64, n)
	l.gap, l.gapUp = make([]float64, n), make([]float64, n)
	l.rest = make([]float64, reach+1)
	one, factor := num.FromInt(1), num.ExpReal(num.FromRat(new(big.Rat).SetFloat64(step)))
	grow, shrink, width := factor.Twofold(), one.Quo(factor).Twofold(), factor.Sub(one).Twofold()
	set := func(i, factors int, x num.Twofold, unit float64) {
		l.low[i], l.up[i] = bounds(x, factors, unit)
		l.gap[i], l.gapUp[i] = bounds(x.Mul(width), factors+1, unit)
	}
	const unit = 0x1p-500 // of the points below 1, whose low parts would underflow
	x, inverse := num.Twofold{Hi: 1}, num.Twofold{Hi: 1 / unit}
	for k := range reach + 1 {
		set(reach+k, k, x, 1)
		set(reach-k, k, inverse, unit)
		rest := num.TwoSum(1, float64(-inverse.Hi*unit))
		rest = num.QuickTwoSum(rest.Hi, rest.Lo-float64(inverse.Lo*unit))
		_, above := rest.Around(float64(float64(k) * rough))
		l.rest[k] = min(1, above)
		x, inverse = x.Mul(grow), inverse.Mul(shrink)
	}
	return l
}

// rough is above the relative error of a twofold factor and that of its product with others.
const rough = 0x1p-98

// bounds returns float64s on both sides of x·unit, where x > 0 is the product of so many factors.
func bounds(x num.Twofold, factors int, unit float64) (low, up float64) {
	const least = 0x1p-1020 // below, float64s are rounded once more
	switch {
	case !(x.Hi <= math.MaxFloat64): // or no number: a factor was beyond what float64 can hold
		return 0, math.Inf(1)
	case float64(x.Hi*unit) < least:
		return 0, least
	}
	low, up = x.Around(float64(float64(factors) * rough * x.Hi))
	return float64(low * unit), float64(up * unit)
}

// split returns the largest k with x_k ≤ z, and weights of x_k and x_{k+1} that are not below those
// that have sum 1 and mean z: (x_{k+1} - z)/(x_{k+1} - x_k) and the rest. z > 0. A z that lies
// between x_k and the float64s around it is moved down, which is dearer. Below the lattice, k is
// -reach-1 and stands for 0; above it, all is at the last point.
func (l *lattice) split(z float64) (k int, lower, upper float64) {
	last := len(l.up) - 1
	if z >= l.up[last] {
		return l.reach, 1, 0
	}
	if z < l.up[0] {
		z = min(z, l.low[0])
		return -l.reach - 1, min(1, (l.up[0]-z)/l.up[0]*dearer), min(1, z/l.low[0]*dearer)
	}
	i := int(math.Log(z)/l.step) + l.reach // a guess
	i = max(0, min(i, last-1))
	for l.up[i] > z {
		i--
	}
	for l.up[i+1] <= z {
		i++
	}
	z = min(z, l.low[i+1])
	// Both weights fall with x_k and x_{k+1}, or rise, together.
	lower = (l.up[i+1] - z) / (l.up[i+1] - l.up[i]) * dearer
	upper = (z - l.low[i]) / (l.low[i+1] - l.low[i]) * dearer
	return i - l.reach, min(1, lower), min(1, upper)
}
