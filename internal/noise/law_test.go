package noise

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/testing/raced"
)

// directGaussian is a second way to Pr[k]: each exponential by itself, no recurrence.
func directGaussian(variance *big.Rat, k, reach int) num.Interval {
	weight := func(k int) num.Interval {
		x := new(big.Rat).Quo(big.NewRat(int64(k)*int64(k), 2), variance)
		if x.Cmp(big.NewRat(4096, 1)) > 0 {
			return num.FromInt(0)
		}
		return num.FromInt(1).Quo(num.Exp(x))
	}
	total := weight(0)
	for j := 1; j <= reach; j++ {
		total = total.Add(weight(j)).Add(weight(j))
	}
	return weight(k).Quo(total)
}

func TestLawsAgainstDirectSums(t *testing.T) {
	raced.Sequential(t)
	for _, v := range []*big.Rat{big.NewRat(1, 4), big.NewRat(9, 2), big.NewRat(90, 1)} {
		g, err := NewGaussian(v)
		if err != nil {
			t.Fatal(err)
		}
		law := g.Law(40)
		for _, k := range []int{0, 2, 30} {
			want := directGaussian(v, k, 120) // what is left out is below 1e-30
			if got := law.Mass(k).Quo(want); math.Abs(got.Nearest()-1) > 1e-15 ||
				law.Mass(-k).Nearest() != law.Mass(k).Nearest() {
				t.Errorf("σ² = %v: Pr[%d] is %v of what it should be", v, k, got.Nearest())
			}
		}
	}
	// Pr[y] = (1-a)/(1+a)·a^|y| in closed form.
	rapid.Check(t, func(t *rapid.T) {
		l := Laplace{rapid.Uint64Range(1, 4).Draw(t, "num"), rapid.Uint64Range(1, 20).Draw(t, "den")}
		k := rapid.IntRange(0, 30).Draw(t, "k")
		a := expMinus(new(big.Rat).Inv(l.Scale()))
		one := num.FromInt(1)
		want := one.Sub(a).Quo(one.Add(a))
		for range k {
			want = want.Mul(a)
		}
		law := l.Law(40)
		if got := law.Mass(k); got.Cmp(want) != 0 || math.Abs(got.Quo(want).Nearest()-1) > 1e-15 {
			t.Fatalf("scale %v: Pr[%d] = %v, want %v", l.Scale(), k, got.Nearest(), want.Nearest())
		}
	})
}

// Tails are sums of masses, everything sums to 1, and the table in float64 is within what
// it says.
func TestLawsAddUp(t *testing.T) {
	laws := map[string]struct {
		law   Law
		table Table
	}{}
	for _, v := range [][2]uint64{{1, 25}, {1, 1}, {9, 2}, {460, 1}} {
		g := mustGaussian(t, v[0], v[1])
		laws["gaussian "+g.Variance().String()] = struct {
			law   Law
			table Table
		}{g.Law(150), g.Table()}
		l := Laplace{v[0], v[1] * 20}
		laws["laplace "+l.Scale().String()] = struct {
			law   Law
			table Table
		}{l.Law(150), l.Table()}
	}
	for name, l := range laws {
		sum := l.law.Tail(150)
		for k := 149; k >= -149; k-- {
			sum = sum.Add(l.law.Mass(k))
			if tail := l.law.Tail(k); sum.Cmp(tail) != 0 || math.Abs(sum.Sub(tail).Nearest()) > 1e-60 {
				t.Fatalf("%s: Pr[Y ≥ %d] = %v, but the masses sum to %v", name, k, tail.Nearest(),
					sum.Nearest())
			}
			below, equal, upTo := l.table.at(k)
			for what, pair := range map[string][2]float64{
				"mass":     {equal, l.law.Mass(k).Nearest()},
				"at least": {l.table.AtLeast(k), l.law.Tail(k).Nearest()},
				"up to":    {upTo, l.law.Tail(-k).Nearest()},
				"below":    {below, l.law.Tail(1 - k).Nearest()},
			} {
				if math.Abs(pair[0]-pair[1]) > 1e-12*pair[1]+1e-38 {
					t.Errorf("%s: %s %d is %v in the table, exactly %v", name, what, k, pair[0], pair[1])
				}
			}
		}
		if total := sum.Add(l.law.Tail(150)); !(total.Lower() <= 1 && total.Upper() >= 1) ||
			total.Upper()-total.Lower() > 1e-15 {
			t.Errorf("%s: all probabilities sum to %v … %v", name, total.Lower(), total.Upper())
		}
	}
}

// The largest of noisy counts, by going through all noise.
func TestTableArgMax(t *testing.T) {
	g := mustGaussian(t, 9, 5)
	l := Laplace{2, 3}
	for name, c := range map[string]struct {
		law   Law
		table Table
		reach int
	}{"gaussian": {g.Law(20), g.Table(), 12}, "laplace": {l.Law(40), l.Table(), 20}} {
		for _, counts := range [][]int{{0}, {3, 4}, {2, 2}, {0, 9}, {1, 3, 1}, {2, 2, 2}, {4, 0, 4}} {
			want := make([]float64, len(counts))
			values := make([]int, len(counts))
			var place func(i int, p float64)
			place = func(i int, p float64) {
				if i < len(counts) {
					for y := -c.reach; y <= c.reach; y++ {
						values[i] = counts[i] + y
						place(i+1, p*c.law.Mass(y).Nearest())
					}
					return
				}
				best, ties := values[0], 0
				for _, v := range values {
					best = max(best, v)
				}
				for _, v := range values {
					if v == best {
						ties++
					}
				}
				for i, v := range values {
					if v == best {
						want[i] += p / float64(ties)
					}
				}
			}
			place(0, 1)
			for i, got := range c.table.ArgMax(counts) {
				if math.Abs(got-want[i]) > 1e-10 {
					t.Errorf("%s, %v: Pr[%d] = %.15g, want %.15g", name, counts, i, got, want[i])
				}
			}
		}
	}
}

func TestTableArgMaxProperties(t *testing.T) {
	table := mustGaussian(t, 30, 1).Table()
	rapid.Check(t, func(t *rapid.T) {
		counts := rapid.SliceOfN(rapid.IntRange(0, 200), 1, 12).Draw(t, "counts")
		p := table.ArgMax(counts)
		sum := 0.0
		for i := range p {
			sum += p[i]
			for j := range p {
				if counts[i] > counts[j] && p[i] < p[j] || counts[i] == counts[j] && p[i] != p[j] {
					t.Fatalf("%v: %v", counts, p)
				}
			}
		}
		if math.Abs(sum-1) > 1e-11 {
			t.Fatalf("%v: probabilities sum to %v", counts, sum)
		}
	})
}

// Gauss's rule with as few nodes as are enough is the mean over all places of a tie, which another
// recurrence works out, for any number of classes.
func TestTableArgMaxOfManyClasses(t *testing.T) {
	raced.Sequential(t)
	for _, variance := range []uint64{1, 4, 100, 900} {
		table := mustGaussian(t, variance, 4).Table()
		for _, classes := range []int{2, 3, 7, 12, 40, 150} {
			counts := make([]int, classes)
			for c := range counts {
				counts[c] = 20 / (c + 1)
			}
			want := make([]float64, classes)
			lose, tie := make([]float64, classes), make([]float64, classes)
			for v := 20 - table.reach; v <= 20+table.reach; v++ {
				for c, n := range counts {
					lose[c], _, tie[c] = table.at(v - n)
				}
				for c, n := range counts {
					_, p, _ := table.at(v - n)
					want[c] += p * meanProduct(lose, tie, c)
				}
			}
			for c, got := range table.ArgMax(counts) {
				if math.Abs(got-want[c]) > 1e-12 {
					t.Errorf("σ² = %v/4, %d classes: Pr[%d] = %.15g, want %.15g", variance, classes, c, got,
						want[c])
				}
			}
		}
	}
}
