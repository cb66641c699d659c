package game

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/darrm/darrm/internal/num"
	"pgregory.net/rapid"
)

// drawn returns pairs of laws of few outcomes, zeros and single masses among them.
func drawn(t *rapid.T, most int) []Pair {
	law := func(n int) []uint64 {
		list, rest := make([]uint64, n), uint64(One)
		for i := range n - 1 {
			list[i] = rapid.OneOf(rapid.Just(uint64(0)), rapid.Just(uint64(1)), rapid.Uint64Range(0, One/4),
				rapid.Uint64Range(One/4-1000, One/4)).Draw(t, "mass")
			rest -= list[i]
		}
		list[n-1] = rest
		return list
	}
	pairs := make([]Pair, rapid.IntRange(1, most).Draw(t, "pairs"))
	for i := range pairs {
		n := rapid.IntRange(2, 4).Draw(t, "outcomes")
		p, q := law(n), law(n)
		for o := range n {
			pairs[i] = append(pairs[i], Outcome{1, Probability{p[o], 1}, Probability{q[o], 1}})
		}
	}
	return pairs
}

func drawnLattice(t *rapid.T) *lattice {
	step := rapid.SampledFrom([]float64{.003, .1, .9}).Draw(t, "step")
	return newLattice(step, rapid.SampledFrom([]int{1, 3, 40}).Draw(t, "reach"))
}

// curveAt returns c(x) of a measure, at 320 bits.
func (l *lattice) curveAt(m measure, x num.Interval) num.Interval {
	sum := rational(m.zero)
	for _, a := range m.atoms {
		h := rational(l.step).Mul(num.FromInt(int64(a.shift)))
		if part := num.FromInt(1).Sub(x.Mul(num.ExpReal(h))); part.Upper() > 0 {
			sum = sum.Add(rational(a.mass).Mul(part))
		}
	}
	return sum
}

// points are x = 0, some of the lattice and some between and beyond.
func (l *lattice) points(t *rapid.T) []num.Interval {
	list := []num.Interval{num.FromInt(0)}
	for _, k := range []float64{-1.5 * float64(l.reach), -2, -1, -.3, 0, .7, 1, 1.5 * float64(l.reach),
		rapid.Float64Range(-1, 1).Draw(t, "x") * float64(l.reach)} {
		list = append(list, num.ExpReal(rational(l.step).Mul(rational(k))))
	}
	return list
}

// certainlyBelow leaves room for the last of the 320 bits.
func certainlyBelow(x, y num.Interval) bool {
	return x.Add(num.FromRat(big.NewRat(1, 1).SetFrac(big.NewInt(1),
		new(big.Int).Lsh(big.NewInt(1), 200)))).Cmp(y) < 0
}

// The curve of a pair on the lattice is nowhere below that of the pair, at 320 bits.
func TestSpreadIsDearer(t *testing.T) {
	Numerical(t)
	rapid.Check(t, func(t *rapid.T) {
		l := drawnLattice(t)
		p := drawn(t, 1)[0]
		for _, second := range [2]bool{false, true} {
			m := l.spread(p, second, measure{})
			for i, x := range l.points(t) {
				exact := num.FromInt(0)
				for _, o := range p {
					a := num.FromRat(new(big.Rat).SetFrac(new(big.Int).SetUint64(o.law(second).Mass),
						big.NewInt(One)))
					b := num.FromRat(new(big.Rat).SetFrac(new(big.Int).SetUint64(o.law(!second).Mass),
						big.NewInt(One)))
					if part := a.Sub(x.Mul(b)); part.Lower() > 0 {
						exact = exact.Add(part)
					}
				}
				if got := l.curveAt(m, x); certainlyBelow(got, exact) {
					t.Fatalf("point %d, x = %g: the curve of %v is %.17g, on the lattice %.17g", i, x.Nearest(), p,
						exact.Nearest(), got.Nearest())
				}
			}
		}
	})
}

// The measure of an envelope has a curve that is nowhere below any in it, and at points of the
// lattice not above the largest, but for rounding.
func TestEnvelopeIsDearer(t *testing.T) {
	Numerical(t)
	rapid.Check(t, func(t *rapid.T) {
		l := drawnLattice(t)
		var list []measure
		for _, p := range drawn(t, 4) {
			list = append(list, l.spread(p, rapid.Bool().Draw(t, "second"), measure{}))
		}
		e := envelope{curve: make([]float64, 2*l.reach+1)}
		for _, m := range list {
			l.raise(&e, m)
		}
		all := l.measure(&e)
		for i, x := range l.points(t) {
			got, most := l.curveAt(all, x), num.FromInt(0)
			for _, m := range list {
				c := l.curveAt(m, x)
				if certainlyBelow(got, c) {
					t.Fatalf("point %d, x = %g: an envelope of %.17g above %.17g", i, x.Nearest(), got.Nearest(),
						c.Nearest())
				}
				if c.Nearest() > most.Nearest() {
					most = c
				}
			}
			if at := map[int]bool{0: true, 2: l.reach > 1, 3: true, 5: true, 7: true}; at[i] &&
				got.Nearest() > most.Nearest()*(1+1e-9)+1e-12 {
				t.Fatalf("point %d, x = %g: an envelope of %.17g, the largest is %.17g", i, x.Nearest(),
					got.Nearest(), most.Nearest())
			}
		}
	})
}

// hats draws a convex falling function from 1, at the points of the lattice.
func hats(t *rapid.T, l *lattice) []float64 {
	w := make([]float64, 2*l.reach+block)
	constant := rapid.Float64Range(0, .5).Draw(t, "constant")
	a := rapid.Float64Range(-3, 3).Draw(t, "a")
	b := rapid.Float64Range(-3, 3).Draw(t, "b")
	for i := range w {
		w[i] = max(smallest, constant)
		for _, end := range []float64{a, b} {
			z := num.ExpReal(rational((float64(i-l.reach) - end*3) * l.step)).Nearest()
			w[i] += (1 - constant) / 2 * max(0, 1-z)
		}
	}
	return w
}

// The largest sum is that of all measures, one by one, whatever it begins with; where pruning may
// raise it, no more than that.
func TestTreeHasTheLargestSum(t *testing.T) {
	Numerical(t)
	rapid.Check(t, func(t *rapid.T) {
		l := newLattice(.1, 30)
		var list []measure
		for _, p := range drawn(t, 60) {
			list = append(list, l.spread(p, false, measure{}), l.spread(p, true, measure{}))
		}
		tree, err := newTree(t.Context(), l, .1, list)
		if err != nil {
			t.Fatal(err)
		}
		listed := 0
		for i := range list {
			listed += len(list[i].atoms)
		}
		if tree.listed != listed || len(tree.leaves) > len(list) {
			t.Fatalf("%d leaves of %d measures, %d atoms of %d", len(tree.leaves), len(list), tree.listed, listed)
		}
		w := hats(t, l)
		var most, sums, got [block]float64
		for i := range list {
			sums = [block]float64{}
			raiseEach(&sums, w, l.reach, []leaf{{list[i].zero, len(list[i].atoms)}}, list[i].atoms)
			for j := range most {
				most[j] = max(most[j], sums[j])
			}
		}
		seed := rapid.Int32Range(0, int32(len(tree.nodes)-1)).Draw(t, "seed")
		stack := new(openNodes) // one for all blocks
		for i := range stack {
			stack[i].node = int32(len(tree.nodes) - 1)
		}
		for _, slack := range []float64{1, 1.01} {
			winner := tree.best(w, &got, seed, slack, stack)
			for j := range most {
				if exact := min(1, most[j]); got[j] < exact || got[j] > min(1, exact*slack*(1+1e-12)) {
					t.Fatalf("slack %g, point %d: %v, the largest sum is %v", slack, j, got[j], exact)
				}
			}
			n := tree.nodes[winner]
			sums = [block]float64{}
			raiseEach(&sums, w, l.reach, tree.leaves[n.first:n.end], tree.atoms[n.atom:])
			if n.second != 0 || slack == 1 && sums[block/2] != most[block/2] {
				t.Fatalf("the node said to have the best leaf has %v, the largest sum is %v", sums[block/2],
					most[block/2])
			}
		}
	})
}

// A node keeps a measure once, however often it comes, and each that differs in its atoms or at ratio 0
// alone, where the features are the same too: atoms at x_20 and beyond are in none. The work of a play counts all.
func TestTreeKeepsSameMeasuresOnce(t *testing.T) {
	l := newLattice(.1, 30)
	list := []measure{{0, []atom{{.5, -1}, {.5, 1}}}, {.25, []atom{{.5, -1}, {.5, 1}}}, {0, []atom{{.5, -1}, {.75, 1}}},
		{0, []atom{{.5, -1}, {.5, 20}}}, {0, []atom{{.5, -1}, {.5, 25}}}}
	if l.features(.1, list[3]) != l.features(.1, list[4]) {
		t.Fatal("the last two have other features")
	}
	tree, err := newTree(t.Context(), l, .1, append(list, list...))
	if err != nil {
		t.Fatal(err)
	}
	if len(tree.nodes) != 1 || len(tree.leaves) != len(list) || len(tree.atoms) != 10 || tree.listed != 20 {
		t.Errorf("%d nodes, %d leaves of %d atoms, %d listed", len(tree.nodes), len(tree.leaves), len(tree.atoms), tree.listed)
	}
}

// Processors that work out four points at a time come to the same bytes.
func TestRaiseHasTheSameBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newLattice(.1, rapid.IntRange(1, 30).Draw(t, "reach"))
		w := hats(t, l)
		var leaves []leaf
		var atoms []atom
		for range rapid.IntRange(0, 5).Draw(t, "leaves") {
			one := leaf{rapid.Float64Range(0, .5).Draw(t, "zero"), rapid.IntRange(0, 9).Draw(t, "atoms")}
			for range one.atoms {
				atoms = append(atoms, atom{rapid.Float64Range(0, 1).Draw(t, "mass"),
					rapid.IntRange(-l.reach, l.reach).Draw(t, "shift")})
			}
			leaves = append(leaves, one)
		}
		more := append(atoms, atom{1, 0}) // of leaves that come later
		at := float64(rapid.IntRange(0, 1).Draw(t, "found")) / 3
		want := [block]float64{block / 2: at}
		got := want
		raiseEach(&want, w, l.reach, leaves, atoms)
		raise(&got, w, l.reach, leaves, more)
		if got != want {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

// What windows leave out makes a price dearer only, and by little where they are as wide as said.
func TestWindowsAreDearer(t *testing.T) {
	Numerical(t)
	rapid.Check(t, func(t *rapid.T) {
		pairs := drawn(t, 3)
		g, err := New(t.Context(), func(yield func(Pair, error) bool) {
			for _, p := range pairs {
				if !yield(p, nil) {
					return
				}
			}
		}, Options{Step: 1})
		if err != nil {
			t.Fatal(err)
		}
		from := rapid.IntRange(0, 30).Draw(t, "from")
		answers := rapid.IntRange(1, 12).Draw(t, "answers")
		play := func(tiny float64) float64 {
			v, err := g.play(t.Context(), from, from+2, answers, tiny)
			if err != nil {
				t.Fatal(err)
			}
			return v[0]
		}
		whole := play(1e-12)
		for _, tiny := range []float64{.3, 1e-3, 1e-6} {
			if got := play(tiny); got < whole*(1-2e-4) || got > whole*(1+2e-4)+100*tiny {
				t.Fatalf("windows that leave out %g: %g, without %g", tiny, got, whole)
			}
		}
	})
}

// Ordered pairs have one key if they are the same but for the order of the outcomes.
func TestKey(t *testing.T) {
	p := Pair{{2, Probability{3, 4}, Probability{5, 6}}, {1, Probability{7, 8}, Probability{9, 10}}}
	same := Pair{p[1], p[0]}
	swapped := Pair{{2, p[0].PPrime, p[0].P}, {1, p[1].PPrime, p[1].P}}
	if p.key(false) != same.key(false) || p.key(true) != swapped.key(false) {
		t.Error("the same pair has two keys")
	}
	seen := map[string]bool{p.key(false): true}
	for i := range 5 {
		q := Pair{p[0], p[1]}
		for j, field := range []any{&q[0].Count, &q[0].P.Mass, &q[0].P.Classes, &q[0].PPrime.Mass,
			&q[0].PPrime.Classes} {
			if i == j {
				switch f := field.(type) {
				case *int:
					*f++
				case *uint64:
					*f++
				}
			}
		}
		if k := q.key(false); seen[k] {
			t.Errorf("two pairs have one key: %s", fmt.Sprint(q))
		} else {
			seen[k] = true
		}
	}
}

// What is known of W outside a window is not below W, for functions that have the symmetry of one:
// of the laws (a, 1-a) and (1-a, a), W(x) = a·(1 - x(1-a)/a)₊ + (1-a)·(1 - x·a/(1-a))₊.
func TestExtendIsDearer(t *testing.T) {
	l := newLattice(.05, 40)
	for _, a := range []float64{.5, .6, .9} {
		exact := func(k int) float64 {
			x := num.ExpReal(rational(l.step).Mul(num.FromInt(int64(k)))).Nearest()
			return max(0, a-x*(1-a)) + max(0, 1-a-x*a)
		}
		for _, w := range []window{{0, 5}, {0, 60}, {3, 9}, {30, 40}} {
			values := make([]float64, w.high-w.low+1)
			for i := range values {
				values[i] = max(smallest, exact(w.low+i)*dearer)
			}
			next := window{w.low, w.high + 3}
			wide := make([]float64, next.high-next.low+block+2*l.reach)
			l.extend(values, w.low, next, wide)
			for i, got := range wide {
				k := next.low - l.reach + i
				want := exact(k)
				if got < want {
					t.Errorf("a = %g, window %v: W is %.17g at %d, at least %.17g", a, w, got, k, want)
				}
				if w == (window{0, 60}) && k <= 60 && got > want+1e-12 {
					t.Errorf("a = %g, window %v: W is %.17g at %d, want %.17g", a, w, got, k, want)
				}
			}
			// 1 - x is rounded up by itself, where W adds nothing.
			for k := 1; k <= l.reach; k++ {
				x := num.ExpReal(rational(-l.step).Mul(num.FromInt(int64(k))))
				if l.rest[k] < num.FromInt(1).Sub(x).Upper() || l.up[l.reach-k] < x.Upper() {
					t.Fatalf("1 - x is %.17g at %d", l.rest[k], k)
				}
			}
		}
	}
}

// Shares are summed as fractions, beyond 64 bits.
func TestShares(t *testing.T) {
	law := func(list ...uint64) Pair { // count, mass, classes
		var p Pair
		for i := 0; i < len(list); i += 3 {
			q := Probability{list[i+1], int(list[i+2])}
			p = append(p, Outcome{int(list[i]), q, q})
		}
		return p
	}
	wrap := law(1, One, 1)
	for range 1 << 11 { // 2⁵³ + 2⁶⁴
		wrap = append(wrap, wrap[0])
	}
	// 2⁵³ + 2¹²⁸/L, for the common denominator L of six primes: what is above 2⁵³ is 0 in 128 bits.
	big128 := new(big.Int).Lsh(big.NewInt(1), 128)
	product, left := big.NewInt(1), new(big.Int)
	primes := []int64{997, 991, 983, 977, 971, 967}
	for _, m := range primes {
		product.Mul(product, big.NewInt(m))
	}
	left.Add(big128, new(big.Int).Mul(product, big.NewInt(One)))
	var beyond Pair
	for _, m := range primes {
		rest := new(big.Int).Quo(product, big.NewInt(m))
		a := new(big.Int).ModInverse(rest, big.NewInt(m))
		a.Mod(a.Mul(a, big128), big.NewInt(m))
		left.Sub(left, new(big.Int).Mul(a, rest))
		beyond = append(beyond, law(1, a.Uint64(), uint64(m))...)
	}
	left, fraction := left.QuoRem(left, product, new(big.Int))
	if fraction.Sign() != 0 {
		t.Fatal("the rest is no whole number of masses")
	}
	for left.Sign() > 0 {
		count, mass := uint64(1), uint64(One)
		if left.Cmp(new(big.Int).Lsh(big.NewInt(1), 63)) >= 0 {
			count = 1000
		} else if left.Cmp(big.NewInt(One)) < 0 {
			mass = left.Uint64()
		}
		beyond = append(beyond, law(count, mass, 1)...)
		left.Sub(left, new(big.Int).SetUint64(count*mass))
	}
	for _, c := range []struct {
		name string
		p    Pair
		ok   bool
	}{
		{"beyond 128 bits", beyond, false},
		{"one", law(1, One, 1), true},
		{"thirds", law(1, One, 3, 1, One, 3, 1, One, 3), true},
		{"thirds and halves", law(1, One, 3, 1, One, 6, 1, One, 2), true},
		{"a third of a mass less", law(1, One-1, 3, 1, One, 3, 1, One, 3), false},
		{"thousandths", law(999, One, 1000, 1, One, 1000), true},
		{"2¹¹ times", law(2, One, 1), false},
		{"many ones", wrap, false},
		{"primes beyond 2⁶³", law(1, One, 997, 1, One, 991, 1, One, 983, 1, One, 977, 1, One, 971, 1, One,
			967, 1, One, 953), false},
	} {
		if got := c.p.sumsToOne(false); got != c.ok {
			t.Errorf("%s: sums to 1: %v", c.name, got)
		}
	}
}

// Points and gaps have the tightest float64s on both sides of the exact numbers, from 300 bits. Where a factor is beyond
// what float64 can hold, the bounds are loose and still on both sides.
func TestLatticeIsTight(t *testing.T) {
	for _, tt := range []struct {
		step  float64
		reach int
	}{{1e-6, 500}, {.0003, 2000}, {.05, 800}, {.73, 900}, {3, 232}, {.034, maxReach}, {.2772609, 2570}, {400, 4}} {
		l := newLattice(tt.step, tt.reach)
		h, one := num.FromRat(new(big.Rat).SetFloat64(tt.step)), num.FromInt(1)
		factor, x := num.ExpReal(h), num.FromInt(1)
		width := factor.Sub(one)
		same := func(what string, k int, exact num.Interval, low, up float64) {
			t.Helper()
			held := tt.step*float64(tt.reach) < 705 && exact.Upper() > 0x1p-1019
			if held && (low != exact.Lower() || up != exact.Upper()) || low > exact.Lower() || up < exact.Upper() {
				t.Fatalf("step %v, %s %d: [%v, %v], want [%v, %v]", tt.step, what, k, low, up, exact.Lower(), exact.Upper())
			}
		}
		for k := range tt.reach + 1 {
			inverse := one.Quo(x)
			for _, at := range []struct {
				k int
				x num.Interval
			}{{k, x}, {-k, inverse}} {
				i := tt.reach + at.k
				same("point", at.k, at.x, l.low[i], l.up[i])
				same("gap", at.k, at.x.Mul(width), l.gap[i], l.gapUp[i])
			}
			if rest := one.Sub(inverse).Upper(); l.rest[k] < rest || l.rest[k] > math.Nextafter(rest, 1) {
				t.Fatalf("step %v: 1 - x of %d is %v, want %v", tt.step, -k, l.rest[k], rest)
			}
			x = x.Mul(factor)
		}
	}
}

// Where a product may lie on either side of a float64, the bounds are its neighbours.
func TestBoundsOfProducts(t *testing.T) {
	near := num.Twofold{Hi: 1.5, Lo: 0x1p-99}
	for _, tt := range []struct {
		x       num.Twofold
		factors int
		low, up float64
	}{
		{num.Twofold{Hi: 1.5}, 0, 1.5, 1.5},
		{near, 0, 1.5, math.Nextafter(1.5, 2)},
		{near, 1, math.Nextafter(1.5, 1), math.Nextafter(1.5, 2)},
		{num.Twofold{Hi: 1.5, Lo: -0x1p-99}, 1, math.Nextafter(1.5, 1), math.Nextafter(1.5, 2)},
		{num.Twofold{Hi: 0x1p-600}, 1, 0, 0x1p-1020},
		{num.Twofold{Hi: math.NaN()}, 1, 0, math.Inf(1)},
	} {
		unit := 1.0
		if tt.x.Hi < 1 {
			unit = 0x1p-500
		}
		if low, up := bounds(tt.x, tt.factors, unit); low != tt.low || up != tt.up {
			t.Errorf("%v of %d factors: [%v, %v], want [%v, %v]", tt.x, tt.factors, low, up, tt.low, tt.up)
		}
	}
}
