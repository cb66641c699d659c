package noise

import (
	"math"
	"math/big"
	"slices"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/randsrc"
)

// Table holds a symmetric law in float64, each probability within 1e-12 of itself. It
// serves figures such as an expected accuracy; what is promised about privacy rests on
// intervals. It is immutable.
type Table struct {
	reach int       // what is beyond is left out
	upTo  []float64 // Pr[Y ≤ k], k = -reach … reach
	mass  []float64
}

// A table ends where probabilities are below e^-92 < 1e-39.9, but for Laplace's law of a
// wide scale where they are below e^-40 of those that counts can move to.
const (
	cutoff      = 92
	wideCutoff  = 40
	countsReach = 2 * check.MaxTeachers
)

// Table returns the law in float64. Cost: a few nanoseconds for each of 28σ numbers.
func (g Gaussian) Table() Table {
	double, _ := new(big.Rat).Add(g.variance, g.variance).Float64()
	return newTable(math.Sqrt(cutoff*double), func(k float64) float64 {
		return math.Exp(-k * k / double)
	})
}

// Table returns the law in float64. Cost: a few nanoseconds for each of about 80b numbers.
func (l Laplace) Table() Table {
	b := float64(l.num) / float64(l.den)
	return newTable(min(cutoff*b, wideCutoff*b+countsReach), func(k float64) float64 {
		return math.Exp(-math.Abs(k) / b)
	})
}

func newTable(reach float64, weight func(k float64) float64) Table {
	r := int(math.Ceil(reach))
	t := Table{r, make([]float64, 2*r+1), make([]float64, 2*r+1)}
	total := 0.0
	for k := r; k > 0; k-- { // small ones first
		total += weight(float64(k))
	}
	total += total + 1
	sum := 0.0
	for i := range t.mass {
		t.mass[i] = weight(float64(i-r)) / total
		sum += t.mass[i]
		t.upTo[i] = sum
	}
	return t
}

// at returns Pr[Y < k], Pr[Y = k] and Pr[Y ≤ k].
func (t Table) at(k int) (below, equal, upTo float64) {
	switch {
	case k < -t.reach:
		return 0, 0, 0
	case k > t.reach:
		return 1, 0, 1
	case k > -t.reach:
		below = t.upTo[k+t.reach-1]
	}
	return below, t.mass[k+t.reach], t.upTo[k+t.reach]
}

// AtLeast returns Pr[Y ≥ k].
func (t Table) AtLeast(k int) float64 {
	_, _, upTo := t.at(-k) // Y is symmetric
	return upTo
}

// ArgMax returns, for each count, the probability that it is largest after noise of the
// law was added to each, ties broken evenly, within 1e-11:
//
//	Σ_v Pr[Y = v-n_c]·∫_0^1 Π_{j≠c} (Pr[Y < v-n_j] + s·Pr[Y = v-n_j]) ds
//
// where s is the place of c among those tied: each of the others that ties loses with
// probability s. The integrand is a polynomial, which Gauss's rule integrates with the nodes
// of enough. Cost: twice the reach times (number of nodes)·(number of different counts).
func (t Table) ArgMax(counts []int) []float64 {
	runs := RunsOf(counts)
	nodes := make([]float64, t.enough(len(counts)))
	weights := make([]float64, len(nodes))
	quad.Legendre{}.FixedLocations(nodes, weights, 0, 1)
	below, equal, factor := make([]float64, len(runs)), make([]float64, len(runs)),
		make([]float64, len(runs))
	won := make([]float64, len(runs))
	// No count wins with a value that the largest certainly exceeds.
	largest := runs[0].Count
	for v := largest - t.reach; v <= largest+t.reach; v++ {
		for r, x := range runs {
			below[r], equal[r], _ = t.at(v - x.Count)
		}
		for i, s := range nodes {
			all := weights[i]
			for r, x := range runs {
				factor[r] = below[r] + s*equal[r] // above 0: the largest count's is
				all *= num.Power(factor[r], x.Size)
			}
			for r := range runs {
				won[r] += equal[r] / factor[r] * all
			}
		}
	}
	return Spread(counts, runs, won)
}

// enough returns how many nodes of Gauss's rule integrate a product of classes-1 factors a + s·b
// over s from 0 to 1 to within 1e-13, where a + b ≤ 1 and b is at most the law's largest mass:
// ⌈classes/2⌉ do so exactly, and n of them leave at most
//
//	(n!)⁴/((2n+1)·(2n)!³)·max |f^(2n)|,   |f^(2n)| ≤ (2n)!·C(classes-1, 2n)·b^2n
func (t Table) enough(classes int) int {
	degree, b := float64(classes-1), t.mass[t.reach]
	rest := 1.0 // (n!)⁴/(2n)!²·C(degree, 2n)·b^2n
	for n := 1; n < (classes+1)/2; n++ {
		k := float64(n)
		q := k / (4*k - 2) * b
		rest *= q * q * (degree - 2*k + 2) * (degree - 2*k + 1) / (2 * k * (2*k - 1))
		if rest/(2*k+1) < 1e-13 {
			return n
		}
	}
	return (classes + 1) / 2
}

// meanProduct returns ∫_0^1 Π_{j≠skip} ((1-s)·a_j + s·b_j) ds for a_j, b_j ≥ 0. With ē_m the
// average of the products in which m of the n factors are b's and the others a's, that is
//
//	(ē_0 + … + ē_n)/(n+1),   ē_m of n factors = ((n-m)·a_n·ē_m + m·b_n·ē_{m-1})/n
//
// all of it positive, so that nothing cancels.
func meanProduct(a, b []float64, skip int) float64 {
	var space [64]float64
	e := space[:0]
	e = append(e, 1)
	n := 0
	for j := range a {
		if j == skip || a[j] == 1 && b[j] == 1 {
			continue
		}
		n++
		e = append(e, 0)
		for m := n; m >= 0; m-- {
			x := float64(n-m) * a[j] * e[m]
			if m > 0 {
				x += float64(m) * b[j] * e[m-1]
			}
			e[m] = x / float64(n)
		}
	}
	sum := 0.0
	for _, x := range e {
		sum += x
	}
	return sum / float64(n+1)
}

// PermuteAndFlipLaw returns the probability of each score under PermuteAndFlip, within
// 1e-13 of itself:
//
//	p_r·∫_0^1 Π_{j≠r} (1 - s·p_j) ds,   p_j = e^{-(q_max-q_j)·num/den}
//
// A random order gives each score a place s, uniform on [0,1]; r is returned when its
// coin shows heads and no score before it had heads.
func PermuteAndFlipLaw(scores []int, num, den uint64) []float64 {
	largest := math.MinInt
	for _, q := range scores {
		largest = max(largest, q)
	}
	rate := float64(num) / float64(den)
	heads, sure, tails := make([]float64, len(scores)), make([]float64, len(scores)),
		make([]float64, len(scores))
	for j, q := range scores {
		x := -float64(largest-q) * rate
		heads[j], sure[j], tails[j] = math.Exp(x), 1, -math.Expm1(x)
	}
	out := make([]float64, len(scores))
	for r := range scores {
		out[r] = heads[r] * meanProduct(sure, tails, r)
	}
	return out
}

// Run is a count that so many classes have.
type Run struct{ Count, Size int }

// RunsOf returns the different counts, descending. Classes of one run are alike to any noise.
func RunsOf(counts []int) (runs []Run) {
	sorted := slices.Clone(counts)
	slices.Sort(sorted)
	for _, n := range slices.Backward(sorted) {
		if len(runs) == 0 || runs[len(runs)-1].Count != n {
			runs = append(runs, Run{n, 0})
		}
		runs[len(runs)-1].Size++
	}
	return runs
}

// Spread returns for each of the counts the value of its run.
func Spread(counts []int, runs []Run, values []float64) []float64 {
	out := make([]float64, len(counts))
	for c, n := range counts {
		out[c] = values[slices.IndexFunc(runs, func(r Run) bool { return r.Count == n })]
	}
	return out
}

// invertWords bounds the words of 53 bits that Invert draws: what is still undecided then, with
// probability below 2⁻²⁰⁰, ends it with an error.
const invertWords = 5

// Invert draws an integer k ≥ 0 of the law whose masses the calls of next return in order, as
// intervals that certainly hold them: the least k with U < Pr[0] + … + Pr[k]. U is uniform on [0,1)
// and drawn a word at a time, until it is certain on which side of a sum it lies. Cost: some
// microseconds for each number up to k.
//
// The intervals' widths add up, so that k must stay below 2⁶⁰ times what their 320 bits leave:
// beyond all use.
func Invert(src randsrc.Source, next func() num.Interval) (int, error) {
	u, width, words := new(big.Rat), big.NewRat(1, 1), 0
	at := num.FromRat(u).Hull(num.FromInt(1)) // U is in it
	sum := num.FromInt(0)
	for k := 0; ; k++ {
		sum = sum.Add(next())
		for at.Cmp(sum) == 0 {
			if words++; words > invertWords {
				return 0, errSource
			}
			w, err := src.Uint53()
			if err != nil {
				return 0, err
			}
			width.Quo(width, big.NewRat(1<<53, 1))
			u.Add(u, new(big.Rat).Mul(width, new(big.Rat).SetInt64(int64(w))))
			at = num.FromRat(u).Hull(num.FromRat(new(big.Rat).Add(u, width)))
		}
		if at.Cmp(sum) < 0 {
			return k, nil
		}
	}
}
