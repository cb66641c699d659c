package ensemble

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
)

// newTelling makes a Telling of GNMax's answers.
func newTelling(t testing.TB, k, classes int, sigma float64, o TellingOptions) *Telling {
	t.Helper()
	s := Setting{K: k, Classes: classes, Affected: 1, Neighbours: accountant.ReplaceOne}
	m, err := GNMax(s, accountant.Cost{Epsilon: 700, Delta: 0.5}, sigma)
	if err != nil {
		t.Fatal(err)
	}
	return must.Get(m.NewTelling(o))(t)
}

// normalDivergence is the Rényi divergence of N(mean, first²) from N(0, second²), by Simpson's rule
// on the densities.
func normalDivergence(alpha, mean, first, second float64) float64 {
	const n = 100_000
	low, high := mean-60*(first+second), mean+60*(first+second)
	// In logarithms, relative to the largest integrand.
	at := func(x float64) float64 {
		z, y := (x-mean)/first, x/second
		return alpha*(-z*z/2-math.Log(first)) + (1-alpha)*(-y*y/2-math.Log(second))
	}
	step, most := (high-low)/n, math.Inf(-1)
	for i := range n + 1 {
		most = math.Max(most, at(low+float64(i)*step))
	}
	sum := 0.0
	for i := range n + 1 {
		weight := 2.0
		switch {
		case i == 0 || i == n:
			weight = 1
		case i%2 == 1:
			weight = 4
		}
		sum += weight * math.Exp(at(low+float64(i)*step)-most)
	}
	return (most + math.Log(sum*step/3) - math.Log(2*math.Pi)/2) / (alpha - 1)
}

// The divergence of normal laws whose scales differ by e^β, and whose means differ by the smaller
// of their sensitivities, is what the curve charges: by quadrature.
func TestTellingDivergence(t *testing.T) {
	raced.Sequential(t)
	for _, c := range []struct{ alpha, m, sigma float64 }{
		{1.1, 1, 4}, {1.9, 1, 4}, {2, 50, 10}, {20, 24.4967, 10}, {20, 50, 30}, {45, 50, 30}, {200, 1000, 100},
		{600, 1000, 1000},
	} {
		beta := math.Log1p(1/c.m) / 2
		truth := math.Max(normalDivergence(c.alpha, 1, c.sigma, c.sigma),
			math.Max(normalDivergence(c.alpha, math.Exp(-beta), c.sigma, c.sigma*math.Exp(-beta)),
				normalDivergence(c.alpha, 1, c.sigma, c.sigma*math.Exp(beta))))
		got := tellingRDP(c.alpha, c.m, c.sigma)
		if !(got >= truth*(1-1e-8)-1e-12) || got > truth*(1+1e-6)+1e-9 {
			t.Errorf("order %g, m = %g, σ = %g: %.12g, by quadrature %.12g", c.alpha, c.m, c.sigma, got, truth)
		}
	}
}

// The bound of Papernot et al. (2018), Theorem 23, in their public code is below the divergence of
// the two laws that it is about: .27157 at order 20, β = .4/20, σ = 10, where the divergence is
// .46455.
func TestErratumCostOfSmoothSensitivity(t *testing.T) {
	const alpha, beta, sigma = 20, 0.4 / 20, 10.0
	public := alpha*math.Exp(2*beta)/(sigma*sigma) +
		(beta*alpha-0.5*math.Log(1-2*alpha*beta))/(alpha-1)
	truth := normalDivergence(alpha, math.Exp(-beta), sigma, sigma*math.Exp(-beta))
	if math.Abs(public-0.27157) > 1e-4 || math.Abs(truth-0.46455) > 1e-5 {
		t.Errorf("the public bound %.5f, the divergence %.5f", public, truth)
	}
	if got := tellingRDP(alpha, 1/math.Expm1(2*beta), sigma); got < truth {
		t.Errorf("%.5f is charged, which is below it too", got)
	}
}

// worst is the second implementation: by every set of votes of few teachers on two queries, and
// all neighbours of each.
type worst struct {
	t     *Telling
	near  [][]int // of each set, those that differ by one teacher
	total []int64
	size  []int
}

func newWorst(t *testing.T, k, classes int, sigma float64, o TellingOptions, coarser uint) *worst {
	t.Helper()
	w := &worst{t: newTelling(t, k, classes, sigma, o)}
	w.t.shift += coarser
	rows := classes * classes // what one teacher votes on both queries
	n := 1
	for range k {
		n *= rows
	}
	m := must.Get(GNMax(Setting{K: k, Classes: classes, Affected: 1, Neighbours: accountant.ReplaceOne},
		accountant.Cost{Epsilon: 700, Delta: 0.5}, sigma))(t)
	overtaking := must.Get(m.gnmax.Overtaking(k))(t)
	type figure struct {
		total int64
		size  int
	}
	known := map[string]figure{} // by the gaps
	truths := map[string]float64{}
	for set := range n {
		b := must.Get(NewBallots(k, classes))(t)
		counts := [2][]int{make([]int, classes), make([]int, classes)}
		var near []int
		for rest, at, i := set, 1, 0; i < k; rest, at, i = rest/rows, at*rows, i+1 {
			row := rest % rows
			counts[0][row/classes]++
			counts[1][row%classes]++
			for other := range rows {
				if other != row {
					near = append(near, set+(other-row)*at)
				}
			}
		}
		truth := 0.0
		for _, c := range counts {
			if err := b.Add(c, NoTruth); err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprint(c)
			if _, ok := truths[name]; !ok {
				truths[name] = likelyRDP(o.Order, w.t.rho, -logMiss(overtaking, c))
			}
			truth += truths[name]
		}
		gaps := must.Get(w.t.gaps(b))(t)
		f, ok := known[fmt.Sprint(gaps)]
		if !ok {
			f.total, f.size = w.t.figure(gaps)
			known[fmt.Sprint(gaps)] = f
		}
		total, size := f.total, f.size
		if got := math.Ldexp(float64(total)*w.t.unit, int(w.t.shift)); got < truth*(1-1e-12) {
			t.Fatalf("%v: the figure %g is below the cost %g", counts, got, truth)
		}
		w.near, w.total, w.size = append(w.near, near), append(w.total, total), append(w.size, size)
	}
	return w
}

// J is the smallest smooth bound there is or above it, found by the sets themselves: the local
// sensitivity of each, and the largest of those within each distance.
func TestTellingBoundsEveryNeighbour(t *testing.T) {
	raced.Sequential(t)
	varied := 0
	for _, c := range []struct {
		k, classes int
		sigma      float64
		o          TellingOptions
	}{
		{4, 2, 0.5, TellingOptions{Queries: 2, Order: 1.5, Steps: 3, Noise: 4, SizeNoise: 2}},
		{4, 3, 0.5, TellingOptions{Queries: 2, Order: 1.5, Steps: 10, Noise: 4, SizeNoise: 2}},
		{6, 2, 0.6, TellingOptions{Queries: 2, Order: 1.3, Steps: 2, Noise: 8, SizeNoise: 1}},
		{3, 3, 0.4, TellingOptions{Queries: 2, Order: 1.2, Steps: 40, Noise: 16, SizeNoise: 5}},
	} {
		w := newWorst(t, c.k, c.classes, c.sigma, c.o, 0)
		local := make([]int64, len(w.total))
		moved := false
		for i, near := range w.near {
			for _, j := range near {
				local[i] = max(local[i], max(w.total[i]-w.total[j], w.total[j]-w.total[i]))
				if d := w.size[i] - w.size[j]; d > 1 || d < -1 {
					t.Fatalf("%+v: J of neighbours is %d and %d", c, w.size[i], w.size[j])
				} else if d != 0 {
					varied++
				}
			}
			moved = moved || local[i] > 0
		}
		if !moved {
			t.Errorf("%+v shows nothing: F does not move", c)
		}
		within, powers := local, []*big.Rat{big.NewRat(1, 1)}
		for d := 0; d <= c.k; d++ {
			next := append([]int64(nil), within...)
			for i := range within {
				// e^{βJ} ≥ e^{-βd}·LS_d: (1+1/m)^(J+d) ≥ LS_d²
				for len(powers) <= w.size[i]+d {
					powers = append(powers, new(big.Rat).Mul(powers[len(powers)-1], w.t.ratio))
				}
				square := new(big.Int).Mul(big.NewInt(within[i]), big.NewInt(within[i]))
				if new(big.Rat).SetInt(square).Cmp(powers[w.size[i]+d]) > 0 {
					t.Fatalf("%+v: LS_%d = %d of set %d, but J = %d", c, d, within[i], i, w.size[i])
				}
				for _, j := range w.near[i] {
					next[i] = max(next[i], within[j])
				}
			}
			within = next
		}
	}
	if varied < 100 {
		t.Errorf("J moves between %d neighbours: it shows nothing", varied)
	}
}

// The laws of what is told, on all neighbours, diverge by no more than the curve says: summed over
// the integers.
func TestTellingCurveHoldsForWorstNeighbours(t *testing.T) {
	c := TellingOptions{Queries: 2, Order: 1.5, Steps: 6, Noise: 4, SizeNoise: 1.5}
	w := newWorst(t, 4, 2, 0.5, c, 8) // laws of fewer integers
	type pair struct {
		mean         int64
		first, other int
	}
	seen := map[pair]bool{}
	largest := 0.0
	for i, near := range w.near {
		for _, j := range near {
			p := pair{w.total[i] - w.total[j], w.size[i], w.size[j]}
			if seen[p] {
				continue
			}
			seen[p] = true
			for _, alpha := range []float64{1.2, 2, 4, 6} {
				a, _ := w.t.scale(p.first).Float64()
				b, _ := w.t.scale(p.other).Float64()
				got := discreteDivergence(alpha, p.mean, a, b)
				tau := c.SizeNoise * c.SizeNoise
				got += discreteDivergence(alpha, int64(p.first-p.other), tau, tau)
				bound := tellingRDP(alpha, float64(c.Steps), c.Noise) + alpha/(2*tau)
				if got > bound*(1+1e-9) {
					t.Errorf("order %g, %+v: %g, charged %g", alpha, p, got, bound)
				}
				largest = math.Max(largest, got/bound)
			}
		}
	}
	t.Logf("%d pairs, at most %.3f of the bound", len(seen), largest)
}

// The discrete laws of the worst pair that the proof allows diverge by what the curve says, up to
// the rounding of their means to integers.
func TestTellingCurveIsThatOfTheWorstPair(t *testing.T) {
	w := newTelling(t, 4, 2, 0.5, TellingOptions{Queries: 2, Order: 1.5, Steps: 6, Noise: 4,
		SizeNoise: 1.5})
	for _, size := range []int{0, 1, 30, 60} {
		for _, alpha := range []float64{1.2, 2, 4, 6} {
			bound, most := tellingRDP(alpha, 6, 4), 0.0
			for _, other := range []int{size - 1, size, size + 1} {
				if other < 0 {
					continue
				}
				a, _ := w.scale(size).Float64()
				b, _ := w.scale(other).Float64()
				mean := int64(math.Sqrt(math.Min(a, b)) / 4 * (1 + 1e-12))
				most = math.Max(most, discreteDivergence(alpha, mean, a, b))
			}
			if most > bound || size >= 60 && most < bound*0.97 {
				t.Errorf("J = %d, order %g: %g, charged %g", size, alpha, most, bound)
			}
		}
	}
}

// discreteDivergence returns the divergence of discrete normal laws of variance a, moved by mean,
// and b.
func discreteDivergence(alpha float64, mean int64, a, b float64) float64 {
	reach := int64(40*math.Sqrt(math.Max(a, b))) + max(mean, -mean)
	var first, second, both float64
	for x := -reach; x <= reach; x++ {
		p, q := -float64((x-mean)*(x-mean))/(2*a), -float64(x*x)/(2*b)
		first, second = first+math.Exp(p), second+math.Exp(q)
		both += math.Exp(alpha*p + (1-alpha)*q)
	}
	return (math.Log(both) - alpha*math.Log(first) - (1-alpha)*math.Log(second)) / (alpha - 1)
}

// telling is one of 250 teachers, as the source has it.
func telling250(t testing.TB) (*Telling, *Ballots) {
	w := newTelling(t, 250, 10, 20, TellingOptions{Queries: 500, Order: 12, Steps: 40, Noise: 16,
		SizeNoise: 16})
	b := must.Get(NewBallots(250, 10))(t)
	for i := range 500 {
		counts := make([]int, 10)
		counts[i%10] = 130 + i%60
		counts[(i+1)%10] = 250 - counts[i%10]
		if err := b.Add(counts, NoTruth); err != nil {
			t.Fatal(err)
		}
	}
	return w, b
}

// What is told lies around the truth, in the interval 95 times of 100 at least, and is cut to what
// is possible. 400 draws by seeds: 95 % with n = 400 fall below .92 with a chance of .3 %.
func TestTellingInterval(t *testing.T) {
	raced.Sequential(t)
	w, b := telling250(t)
	total, _ := w.figure(must.Get(w.gaps(b))(t))
	truth := math.Ldexp(float64(total)*w.unit, int(w.shift))
	in, different := 0, map[float64]bool{}
	const draws = 400
	for i := range draws {
		got, err := w.Draw(randsrc.SeededCoins(uint64(i)), b, 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		if got.Interval[0] <= truth && truth <= got.Interval[1] {
			in++
		}
		different[got.Divergence] = true
		if !(0 <= got.Interval[0] && got.Interval[0] <= got.Divergence &&
			got.Divergence <= got.Interval[1] && got.Interval[1] <= w.most) ||
			!(got.Between[0] <= got.Epsilon && got.Epsilon <= got.Between[1] && got.Between[1] <= got.AnyVotes) {
			t.Fatalf("%+v", got)
		}
	}
	if in < draws*92/100 || len(different) < draws/4 {
		t.Errorf("%d of %d intervals have the truth %g, %d figures differ", in, draws, truth, len(different))
	}
	t.Logf("%d of %d intervals have the truth %g of at most %g", in, draws, truth, w.most)
}

// A keyed draw is the same again.
func TestTellingIsRepeated(t *testing.T) {
	w, b := telling250(t)
	key := must.Get(randsrc.NewKey())(t)
	first := must.Get(w.Draw(randsrc.KeyedCoins(key, "a"), b, 1e-6))(t)
	if again := must.Get(w.Draw(randsrc.KeyedCoins(key, "a"), b, 1e-6))(t); again != first {
		t.Errorf("%+v, then %+v", first, again)
	}
}

// Its conditions are checked: others' noise, relation, reach and votes are refused, and so is
// what is out of range, and a number of queries other than the stated one.
func TestTellingRefuses(t *testing.T) {
	good := TellingOptions{Queries: 2, Order: 1.5, Steps: 3, Noise: 4, SizeNoise: 2}
	s := Setting{K: 4, Classes: 2, Affected: 1, Neighbours: accountant.ReplaceOne}
	claim := accountant.Cost{Epsilon: 700, Delta: 0.5}
	m := must.Get(GNMax(s, claim, 0.5))(t)
	for i, o := range []TellingOptions{
		{Queries: 0, Order: 1.5, Steps: 3, Noise: 4, SizeNoise: 2},
		{Queries: 2, Order: 1, Steps: 3, Noise: 4, SizeNoise: 2},
		{Queries: 2, Order: math.NaN(), Steps: 3, Noise: 4, SizeNoise: 2},
		{Queries: 2, Order: 1.5, Steps: 0, Noise: 4, SizeNoise: 2},
		{Queries: 2, Order: 1.5, Steps: 3, Noise: 3.9, SizeNoise: 2},
		{Queries: 2, Order: 1.5, Steps: 3, Noise: math.Inf(1), SizeNoise: 2},
		{Queries: 2, Order: 1.5, Steps: 3, Noise: 4, SizeNoise: 0},
		{Queries: 2, Order: 1e6, Steps: 3, Noise: 4, SizeNoise: 2}, // the same at all votes
	} {
		if _, err := m.NewTelling(o); err == nil {
			t.Error("not refused: " + strconv.Itoa(i))
		}
	}
	two := s
	two.Affected = 2
	added := s
	added.Neighbours = accountant.AddOrRemoveOne
	for _, s := range []Setting{two, added} {
		m := must.Get(GNMax(s, claim, 0.5))(t)
		if _, err := m.NewTelling(good); err == nil {
			t.Errorf("not refused: %+v", s)
		}
	}
	if _, err := must.Get(PermuteAndFlip(s, 1))(t).NewTelling(good); err == nil {
		t.Error("not refused: another mechanism")
	}
	w := must.Get(m.NewTelling(good))(t)
	b := must.Get(NewBallots(4, 2))(t)
	if err := b.Add([]int{4, 0}, NoTruth); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Draw(randsrc.SeededCoins(1), b, 1e-6); err == nil {
		t.Error("not refused: one query, where two were stated")
	}
}

// A draw is charged for both numbers that it tells: at δ, the least over all orders below m+1 of
// their divergences together.
func TestTellingCost(t *testing.T) {
	o := TellingOptions{Queries: 2, Order: 1.5, Steps: 15, Noise: 8, SizeNoise: 6}
	w := newTelling(t, 4, 2, 0.5, o)
	got := must.Get(w.Cost(1e-6))(t)
	least := math.Inf(1)
	for alpha := 1.01; alpha < 16; alpha += 0.01 {
		both := tellingRDP(alpha, 15, 8) + alpha/(2*36)
		least = math.Min(least, must.Get(accountant.EpsilonFromRDP(alpha, both, 1e-6))(t))
	}
	if got.Delta != 1e-6 || got.Epsilon < least*0.9999 || got.Epsilon > least*1.02 {
		t.Errorf("%v is charged, the least is %g", got, least)
	}
	curve := must.Get(w.Curve())(t)
	if curve.Relation() != accountant.ReplaceOne {
		t.Errorf("it is charged for %v", curve.Relation())
	}
}
