package noise

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/darrm/darrm/internal/num"
)

// explorer walks through every way that a sampler's coins can fall. A run follows the
// prescribed choices, takes the first alternative wherever it goes beyond them, and
// multiplies the exact probabilities of what it took.
type explorer struct {
	choices []int // prescribed
	ways    []int // how many alternatives each draw of this run had
	weight  float64
	least   float64 // a run of smaller probability is given up
}

var errTooUnlikely = fmt.Errorf("run given up")

// pick returns which alternative to take; weights sum to 1.
func (e *explorer) pick(n int, weight func(i int) float64) (int, error) {
	i := 0
	if at := len(e.ways); at < len(e.choices) {
		i = e.choices[at]
	}
	e.ways = append(e.ways, n)
	e.weight *= weight(i)
	if e.weight < e.least || e.weight == 0 {
		return 0, errTooUnlikely
	}
	return i, nil
}

// coin has two alternatives. rest is 1-p, given apart for its accuracy.
func (e *explorer) coin(p, rest float64) (bool, error) {
	i, err := e.pick(2, func(i int) float64 { return [2]float64{p, rest}[i] })
	return err == nil && i == 0, err
}

func (e *explorer) uniform(n uint64) (uint64, error) {
	i, err := e.pick(int(n), func(int) float64 { return 1 / float64(n) })
	return uint64(i), err
}

func (e *explorer) bernoulli(n, d uint64) (bool, error) {
	return e.coin(float64(n)/float64(d), float64(d-n)/float64(d))
}

func (e *explorer) bernoulliBig(n, d *big.Int) (bool, error) {
	return e.coin(quotient(n, d), quotient(new(big.Int).Sub(d, n), d))
}

func (e *explorer) bernoulliWide(n, d wide) (bool, error) { return e.bernoulliBig(n.big(), d.big()) }

func (x wide) big() *big.Int {
	n := new(big.Int).Lsh(bigInt(x.hi), 64)
	return n.Add(n, bigInt(x.lo))
}

func (e *explorer) exp(n, d uint64) (bool, error) {
	x := float64(n) / float64(d)
	return e.coin(math.Exp(-x), -math.Expm1(-x))
}

func (e *explorer) expWide(n, d wide) (bool, error) { return e.expBig(n.big(), d.big()) }

func (e *explorer) expBig(n, d *big.Int) (bool, error) {
	x := quotient(n, d)
	return e.coin(math.Exp(-x), -math.Expm1(-x))
}

func quotient(n, d *big.Int) float64 {
	x, _ := new(big.Rat).SetFrac(n, d).Float64()
	return x
}

// explore returns the probability of each outcome of draw, and the total of the runs
// that were given up for having a probability below least.
func explore(t testing.TB, least float64, draw func(c coins) (outcome int64, err error)) (
	law map[int64]float64, missing float64) {
	t.Helper()
	law = map[int64]float64{}
	for choices := []int{}; ; {
		e := &explorer{choices: choices, weight: 1, least: least}
		outcome, err := draw(e)
		switch {
		case err == errTooUnlikely:
			missing += e.weight
		case err != nil:
			t.Fatal(err)
		default:
			law[outcome] += e.weight
		}
		// The next run in lexicographic order.
		taken := make([]int, len(e.ways))
		copy(taken, choices)
		i := len(taken) - 1
		for ; i >= 0 && taken[i]+1 == e.ways[i]; i-- {
		}
		if i < 0 {
			return law, missing
		}
		taken[i]++
		choices = taken[:i+1]
	}
}

// failed is the outcome of an attempt that yields nothing.
const failed = int64(1) << 40

// accepted returns the law of an attempt given that it does not fail.
func accepted(t testing.TB, least float64, l law) (law map[int64]float64, missing float64) {
	t.Helper()
	all, missing := explore(t, least, func(c coins) (int64, error) {
		y, ok, err := l.attempt(c)
		if err == nil && !ok {
			y = failed
		}
		return y, err
	})
	delete(all, failed)
	total := 0.0
	for _, p := range all {
		total += p
	}
	for y, p := range all {
		all[y] = p / total
	}
	return all, missing / total
}

// near reports whether x is within tolerance of y.
func near(x float64, y num.Interval, tolerance float64) bool {
	return math.Abs(x-y.Nearest()) <= tolerance
}

// The coin of probability e^{-num/den}, through all its coins of rational probability.
func TestExpIsExact(t *testing.T) {
	for _, c := range []struct{ num, den uint64 }{{0, 1}, {1, 1}, {1, 3}, {2, 3}, {999, 1000},
		{1, 1 << 50}, {4, 3}, {7, 2}, {3, 1}} {
		for name, draw := range map[string]func(c coins) (bool, error){
			"64 bits":  func(e coins) (bool, error) { return expOf(e, c.num, c.den) },
			"128 bits": func(e coins) (bool, error) { return expOfWide(e, wide{0, c.num}, wide{0, c.den}) },
			"big": func(e coins) (bool, error) {
				return expOfBig(e, new(big.Int).SetUint64(c.num), new(big.Int).SetUint64(c.den))
			},
		} {
			law, missing := explore(t, 1e-13, func(e coins) (int64, error) {
				heads, err := draw(e)
				if heads {
					return 1, err
				}
				return 0, err
			})
			want := expMinus(ratio(c.num, c.den))
			if !near(law[1], want, missing+1e-14) || missing > 1e-9 {
				t.Errorf("e^(-%d/%d), %s: %v, want %v; unexplored %v", c.num, c.den, name, law[1],
					want.Nearest(), missing)
			}
		}
	}
}

// attemptFunc makes a law of a function.
type attemptFunc func(c coins) (int64, bool, error)

func (f attemptFunc) attempt(c coins) (int64, bool, error) { return f(c) }

// checkLaplace compares the law of an attempt with a^|y|·(1-a)/(1+a).
func checkLaplace(t testing.TB, l law, num64, den uint64) error {
	got, missing := accepted(t, 1e-18, l)
	lap, err := NewLaplace(num64, den)
	if err != nil {
		return err
	}
	return compareLaw(got, lap.Law(600), missing)
}

func checkGaussian(t testing.TB, l law, num64, den uint64) error {
	got, missing := accepted(t, 1e-15, l)
	return compareLaw(got, mustGaussian(t, num64, den).Law(600), missing)
}

func compareLaw(got map[int64]float64, want Law, missing float64) error {
	if missing > 1e-9 {
		return fmt.Errorf("unexplored: %v", missing)
	}
	seen := 0.0
	for y, p := range got {
		if y < -600 || y > 600 {
			continue
		}
		seen += p
		if w := want.Mass(int(y)); !near(p, w, 2*missing+1e-14) {
			return fmt.Errorf("Pr[%d] = %v, want %v", y, p, w.Nearest())
		}
	}
	if seen < 1-1e-8 {
		return fmt.Errorf("only %v of the law was seen", seen)
	}
	return nil
}

var laplaceCases = [][2]uint64{{1, 1}, {1, 2}, {2, 1}, {3, 2}, {5, 3}, {7, 1}, {10, 3}}

// The discrete Laplace law, through every outcome of its coins.
func TestLaplaceIsExact(t *testing.T) {
	for _, c := range laplaceCases {
		l, err := NewLaplace(c[0], c[1])
		if err != nil {
			t.Fatal(err)
		}
		if err := checkLaplace(t, l, c[0], c[1]); err != nil {
			t.Errorf("scale %d/%d: %v", c[0], c[1], err)
		}
	}
}

// σ² that take 64 bits, ones that need 128 or more, and at the end one that needs them for |y| ≥ 5
// only.
var gaussianCases = [][2]uint64{{1, 1}, {1, 4}, {1, 3}, {2, 1}, {4, 1}, {9, 2}, {25, 3},
	{1<<35 + 1, 1 << 35}, {5<<33 + 7, 1 << 34}, {1<<62 + 1, 1 << 62}, {3<<60 + 1, 1 << 60},
	{1<<29 + 1, 1 << 29}}

func TestGaussianIsExact(t *testing.T) {
	short, wide, long := 0, 0, 0
	for _, c := range gaussianCases {
		g := mustGaussian(t, c[0], c[1])
		switch {
		case g.short == nil:
			long++
		case g.short.divisor.fits64():
			short++
		default:
			wide++
		}
		if err := checkGaussian(t, g, c[0], c[1]); err != nil {
			t.Errorf("variance %d/%d: %v", c[0], c[1], err)
		}
	}
	if short < 3 || wide < 2 || long < 2 {
		t.Errorf("%d cases with 64 bits, %d with 128, %d with more: is this test out of date?", short,
			wide, long)
	}
}

// Mistakes in the samplers that a walk through all outcomes sees, however small.
func TestExactnessKillsMutants(t *testing.T) {
	// laplace is Laplace.attempt with its decisions as parameters.
	laplace := func(scale, den uint64, keepZero bool, stop uint64, sign uint64) law {
		return attemptFunc(func(c coins) (int64, bool, error) {
			u, err := c.uniform(scale)
			if err != nil {
				return 0, false, err
			}
			if ok, err := c.exp(u, scale); err != nil || !ok {
				return 0, false, err
			}
			v := uint64(0)
			for {
				more, err := c.exp(1, stop)
				if err != nil {
					return 0, false, err
				}
				if !more {
					break
				}
				v++
			}
			y := int64((u + scale*v) / den)
			negative, err := c.bernoulli(sign, 1000)
			if err != nil || negative && y == 0 && !keepZero {
				return 0, false, err
			}
			if negative {
				y = -y
			}
			return y, true, nil
		})
	}
	if err := checkLaplace(t, laplace(3, 2, false, 1, 500), 3, 2); err != nil {
		t.Fatalf("the sampler that the mutants are made of: %v", err)
	}
	for name, l := range map[string]law{
		"zero with both signs":  laplace(3, 2, true, 1, 500),
		"sign off by 0.1 %":     laplace(3, 2, false, 1, 501),
		"scale of the quotient": laplace(3, 1, false, 1, 500),
		"geometric part":        laplace(3, 2, false, 2, 500),
		"no fraction":           laplace(1, 1, false, 1, 500),
	} {
		if checkLaplace(t, l, 3, 2) == nil {
			t.Errorf("laplace, %s: passes", name)
		}
	}

	gaussian := func(variance uint64, den uint64, t uint64, centre uint64) law {
		return attemptFunc(func(c coins) (int64, bool, error) {
			y, ok, err := Laplace{t, 1}.attempt(c)
			if err != nil || !ok {
				return 0, false, err
			}
			square, _ := (&shortGaussian{num: centre, step: den * t}).square(uint64(max(y, -y)))
			ok, err = c.exp(square.lo, 2*variance*den*t*t)
			return y, ok, err
		})
	}
	if err := checkGaussian(t, gaussian(450, 100, 3, 450), 450, 100); err != nil {
		t.Fatalf("the sampler that the mutants are made of: %v", err)
	}
	for name, g := range map[string]law{
		"σ too small by 1 %":     gaussian(441, 100, 3, 450),
		"σ² too small by 0.2 %":  gaussian(449, 100, 3, 450),
		"centre of the proposal": gaussian(450, 100, 3, 451),
	} {
		if checkGaussian(t, g, 450, 100) == nil {
			t.Errorf("gaussian, %s: passes", name)
		}
	}
}

// The choice of the largest value and permute-and-flip, through every outcome, against
// tables worked out by hand and against the sum over all orders.
func TestSelectionIsExact(t *testing.T) {
	for _, c := range []struct {
		values []int64
		want   map[int64]*big.Rat
	}{
		{[]int64{5}, map[int64]*big.Rat{0: big.NewRat(1, 1)}},
		{[]int64{1, 2}, map[int64]*big.Rat{1: big.NewRat(1, 1)}},
		{[]int64{3, -1, 3}, map[int64]*big.Rat{0: big.NewRat(1, 2), 2: big.NewRat(1, 2)}},
		{[]int64{0, 7, 7, 2, 7}, map[int64]*big.Rat{1: big.NewRat(1, 3), 2: big.NewRat(1, 3),
			4: big.NewRat(1, 3)}},
	} {
		law, _ := explore(t, 0, func(e coins) (int64, error) {
			i, err := argMax(e, c.values)
			return int64(i), err
		})
		if len(law) != len(c.want) {
			t.Errorf("%v: %d possible results, want %d", c.values, len(law), len(c.want))
		}
		for i, p := range c.want {
			if got, ok := law[i]; !ok || !near(got, num.FromRat(p), 1e-15) {
				t.Errorf("%v: Pr[%d] = %v, want %v", c.values, i, got, p)
			}
		}
	}
	for _, c := range []struct {
		scores   []int
		num, den uint64
	}{{[]int{4}, 1, 2}, {[]int{3, 5}, 1, 2}, {[]int{5, 5}, 1, 7}, {[]int{1, 9, 4}, 1, 3},
		{[]int{2, 2, 0, 1, 2}, 3, 4}} {
		if err := checkPermuteAndFlip(t, c.scores, c.num, c.den, permuteAndFlip); err != nil {
			t.Error(err)
		}
	}
	for name, pf := range map[string]func(c coins, scores []int, num, den uint64) (int, error){
		"twice the rate": func(c coins, s []int, n, d uint64) (int, error) {
			return permuteAndFlip(c, s, 2*n, d)
		},
		"rate off by 1e-6": func(c coins, s []int, n, d uint64) (int, error) {
			return permuteAndFlip(c, s, n*1000001, d*1000000)
		},
		"no permutation":        unpermuted,
		"exponential mechanism": exponential,
	} {
		if checkPermuteAndFlip(t, []int{1, 9, 4}, 1, 3, pf) == nil {
			t.Errorf("permute-and-flip, %s: passes", name)
		}
	}
}

func unpermuted(c coins, scores []int, n, d uint64) (int, error) {
	for i, q := range scores {
		if heads, err := c.exp(uint64(9-q)*n, d); err != nil || heads {
			return i, err
		}
	}
	panic("unreachable")
}

// exponential draws with replacement until a coin shows heads.
func exponential(c coins, scores []int, n, d uint64) (int, error) {
	for {
		i, err := c.uniform(uint64(len(scores)))
		if err != nil {
			return 0, err
		}
		if heads, err := c.exp(uint64(9-scores[i])*n, d); err != nil || heads {
			return int(i), err
		}
	}
}

func checkPermuteAndFlip(t testing.TB, scores []int, rateNum, rateDen uint64,
	pf func(c coins, scores []int, num, den uint64) (int, error)) error {
	law, missing := explore(t, 1e-7, func(e coins) (int64, error) {
		i, err := pf(e, scores, rateNum, rateDen)
		return int64(i), err
	})
	// All orders, the coin of each.
	want := make([]num.Interval, len(scores))
	for i := range want {
		want[i] = num.FromInt(0)
	}
	largest := scores[0]
	for _, q := range scores {
		largest = max(largest, q)
	}
	orders := int64(0)
	var permute func(order []int, left []int)
	permute = func(order, left []int) {
		if len(left) == 0 {
			orders++
			reached := num.FromInt(1)
			for _, i := range order {
				p := expMinus(new(big.Rat).Mul(ratio(rateNum, rateDen),
					big.NewRat(int64(largest-scores[i]), 1)))
				want[i] = want[i].Add(reached.Mul(p))
				reached = reached.Mul(num.FromInt(1).Sub(p))
			}
			return
		}
		for k := range left {
			rest := append(append([]int{}, left[:k]...), left[k+1:]...)
			permute(append(order[:len(order):len(order)], left[k]), rest)
		}
	}
	all := make([]int, len(scores))
	for i := range all {
		all[i] = i
	}
	permute(nil, all)
	float := PermuteAndFlipLaw(scores, rateNum, rateDen)
	for i, w := range want {
		w = w.Quo(num.FromInt(orders))
		if got, ok := law[int64(i)]; !ok || !near(got, w, missing+1e-12) {
			return fmt.Errorf("%v: Pr[%d] = %v, want %v", scores, i, law[int64(i)], w.Nearest())
		}
		if d := float[i] - w.Nearest(); d > 1e-13*float[i] || d < -1e-13*float[i] {
			return fmt.Errorf("%v: PermuteAndFlipLaw says %v for %d, want %v", scores, float[i], i,
				w.Nearest())
		}
	}
	return nil
}
