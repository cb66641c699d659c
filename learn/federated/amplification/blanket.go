package amplification

import (
	"math"
	"slices"

	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/poissonbinom"
)

// maxReports is the largest number of reports of a stream that is counted. Larger numbers are
// counted as this one, which only raises the cost.
const maxReports = 1 << 22

// Blocks of the blanket's size are this share of N wide, or this part of C's deviation where
// low moments are taken exactly.
const (
	coarse  = 2e-5
	perSide = 8
)

// blanket is the view of the package comment: C ~ Bin(others, cover), N = C+1.
type blanket struct {
	others int
	cover  float64 // rounded down: fewer hide less
	kappa  float64 // rounded up
}

func newBlanket(reports int, epsilon float64, oneBit bool) blanket {
	cover := math.Exp(-epsilon)
	if oneBit {
		cover = 2 / (math.Exp(epsilon) + 1)
	}
	kappa := math.Tanh(epsilon / 2)
	return blanket{min(reports, maxReports) - 1, cover * (1 - num.Margin),
		math.Min(kappa*(1+num.Margin), 1-0x1p-53)}
}

// slice is one N: for s = N, N-2, … > 0 ascending the mean y = s/N of the signs, the
// probability of ±y together, and functions of t = κy. s = 0 has y = 0.
type slice struct {
	n           float64
	y, w, logW  []float64
	atanh, r    []float64 // atanh t, √(1-t²)
	logR, log2T []float64 // ln r, ln 2t
	kappa       float64
	logErr      float64 // bounds what logW may lack
	buffer      []float64

	summed        int // above's m of these points
	masses, means []float64
}

// above returns the sums of w and of wt over the points i … m-1, for each i from 0 to m.
func (s *slice) above(m int) (masses, means []float64) {
	if s.summed == m && m > 0 {
		return s.masses, s.means
	}
	s.masses, s.means = slices.Grow(s.masses[:0], m+1)[:m+1], slices.Grow(s.means[:0], m+1)[:m+1]
	s.masses[m], s.means[m] = 0, 0
	for i := m - 1; i >= 0; i-- {
		s.masses[i] = s.masses[i+1] + s.w[i]
		s.means[i] = s.means[i+1] + float64(s.w[i]*s.kappa*s.y[i])
	}
	s.summed = m
	return s.masses, s.means
}

// functional is E f(S/N) for a function f ≥ 0 whose mean does not grow with N, as f convex in y:
// the means of N signs are a reversed martingale.
type functional interface {
	// powers returns c_2, c_4, c_6 and c_8 ≥ 0 such that f(y) less Σ c_i·y^i has a mean that does not
	// grow with N either; none where f has no such series or it is of no use.
	powers(b blanket) (c [4]float64, ok bool)
	// growth bounds f: f(y) ≤ e^(logFactor + lambda·|y|).
	growth(b blanket, n float64) (logFactor, lambda float64)
	// least is the logarithm of a value that the mean is likely above: the sum may leave out what is
	// far below.
	least(b blanket, n float64) float64
	// logSum returns the logarithm of the sum of w·(f(y)+f(-y))/2 over the first m points.
	logSum(s *slice, m int) float64
}

// logMeans returns ln E_C E_S f(S/N) of each functional, rounded up. The sum over S ends where, by
// Chernoff's bound, what is left is below e^-36 of the value, and has that bound added: for s ≥
// lambda
//
//	E[e^{λ|S|/N}; |S| ≥ s] ≤ 2·e^{λs/N - s²/(2N)}
//
// The sum over C takes every value, in blocks [a, b]: the low moments of S/N, which are polynomials
// in 1/N, for each value, and of what is left the value at a, which is above those within. Blocks
// are narrow where they matter and double in the tails. So nothing is left out.
func (b blanket) logMeans(fs []functional) []float64 {
	pmf := poissonbinom.Binomial(b.others, b.cover)
	mode := 0
	for c, p := range pmf {
		if p > pmf[mode] {
			mode = c
		}
	}
	totals := make([]float64, len(fs))
	for k := range totals {
		totals[k] = math.Inf(-1)
	}
	values := make([]float64, len(fs))
	series := make([]*[4]float64, len(fs))
	least := max(1, int(math.Sqrt(float64(b.others)*b.cover*(1-b.cover))/perSide))
	for k, f := range fs {
		if c, ok := f.powers(b); ok {
			series[k] = &c
		} else {
			least = max(1, int(coarse*float64(mode)))
		}
	}
	var s slice
	// block evaluates at its smallest blanket, and reports whether any part matters.
	block := func(from, to int) (matters bool) {
		mass := 0.0
		var moments [4]float64
		for c := from; c <= to; c++ {
			mass += pmf[c]
			for i, m := range lowMoments(float64(c + 1)) {
				moments[i] += pmf[c] * m
			}
		}
		s.fill(from+1, b, fs)
		low := lowMoments(s.n)
		for k, f := range fs {
			values[k] = s.value(b, f)
			if c := series[k]; c != nil && values[k] < 600 {
				first, all := 0.0, 0.0
				for i := range c {
					first += c[i] * low[i]
					all += c[i] * moments[i]
				}
				values[k] = math.Log(all + mass*max(0, math.Exp(values[k])-first) + math.SmallestNonzeroFloat64)
			} else {
				values[k] += math.Log(mass)
			}
			matters = matters || values[k] > totals[k]+logNegligible
		}
		return matters
	}
	// walk goes from c to the end in one direction.
	walk := func(c, step, end int) {
		size := least
		for (end-c)*step >= 0 {
			far := c + step*(size-1)
			if (end-far)*step < 0 {
				far = end
			}
			matters := block(min(c, far), max(c, far))
			if matters && size > least {
				size = max(least, size/4)
				continue
			}
			if !matters {
				size *= 2
			}
			for k, v := range values {
				totals[k] = logAdd(totals[k], v)
			}
			c = far + step
		}
	}
	walk(mode, -1, 0)
	walk(mode+1, 1, b.others)
	for k := range totals {
		// Sums of up to 2²² positive terms, each off by some units in the last place.
		totals[k] += num.SumMargin
	}
	return totals
}

// logNegligible is the logarithm of the share below which a block may be wide.
const logNegligible = -25

// value returns ln E_S f(S/N) for the slice's N, with what the sum leaves out.
func (s *slice) value(b blanket, f functional) float64 {
	m, tail := s.cut(b, f)
	return logAdd(f.logSum(s, m)+s.logErr, tail)
}

// cut returns the number of points that f needs, and the logarithm of a bound on the sum's rest.
func (s *slice) cut(b blanket, f functional) (points int, tail float64) {
	logFactor, lambda := f.growth(b, s.n)
	drop := 36 + max(0, logFactor-f.least(b, s.n))
	l := lambda / math.Sqrt(s.n)
	reach := math.Ceil(math.Sqrt(s.n) * (l + math.Sqrt(l*l+2*drop)))
	if reach >= s.n {
		return int(s.n)/2 + 1, math.Inf(-1)
	}
	// Points are s = N mod 2, +2, …; those up to reach are taken, so the rest is s ≥ reach.
	return int(reach)/2 + 1, math.Ln2 + logFactor + lambda*reach/s.n - reach*reach/(2*s.n)
}

// fill makes the points that any of the functionals needs.
func (s *slice) fill(n int, b blanket, fs []functional) {
	s.n, s.kappa, s.summed = float64(n), b.kappa, 0
	points := 0
	for _, f := range fs {
		m, _ := s.cut(b, f)
		points = max(points, m)
	}
	points = min(points, n/2+1)
	for _, a := range []*[]float64{&s.y, &s.w, &s.logW, &s.atanh, &s.r, &s.logR, &s.log2T, &s.buffer} {
		if cap(*a) < points {
			*a = make([]float64, points, points*5/4)
		}
		*a = (*a)[:points]
	}
	// Pr[S = s] by the ratio of neighbours, from the centre: that of N+1 for odd N.
	least := n % 2
	first := logCentral((n + least) / 2)
	s.logErr = 0x1p-51 * float64(points+8)
	logRatio, ratio := 0.0, 1.0
	for i := range points {
		v := float64(least + 2*i)
		if i > 0 {
			step := (s.n - v + 2) / (s.n + v)
			if ratio *= step; ratio < 1e-200 { // long before the product underflows
				logRatio += math.Log(ratio)
				ratio = 1
			}
		}
		s.y[i] = v / s.n
		s.logW[i] = first + logRatio + math.Log(ratio)
		if v > 0 {
			s.logW[i] += math.Ln2 // both signs
		}
		s.w[i] = math.Exp(s.logW[i])
		t := b.kappa * s.y[i]
		s.r[i] = math.Sqrt((1 - t) * (1 + t))
		s.atanh[i] = math.Atanh(t)
		s.logR[i], s.log2T[i] = math.Log(s.r[i]), math.Log(2*t)
	}
}

// lowMoments returns E(S/N)^i for i = 2, 4, 6, 8.
func lowMoments(n float64) [4]float64 {
	x := 1 / n
	return [4]float64{x, x * x * (3 - 2*x), x * x * x * (15 - 30*x + 16*x*x),
		x * x * x * x * (105 - 420*x + 588*x*x - 272*x*x*x)}
}

// logCentral returns ln(C(2m, m)/4^m): a product, or Stirling's series to 1e-16.
func logCentral(m int) float64 {
	if m < 20 {
		p := 1.0
		for i := 1; i <= m; i++ {
			p *= 1 - 0.5/float64(i)
		}
		return math.Log(p)
	}
	x := 1 / float64(m)
	return -0.5*math.Log(math.Pi*float64(m)) - x/8 + x*x*x/192 - x*x*x*x*x/640 +
		17*math.Pow(x, 7)/14336
}

// logAdd returns ln(e^a + e^b).
func logAdd(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(b, -1) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}

// logSumExp returns ln Σ e^x.
func logSumExp(xs []float64) float64 {
	top := math.Inf(-1)
	for _, x := range xs {
		top = max(top, x)
	}
	if math.IsInf(top, -1) {
		return top
	}
	sum := 0.0
	for _, x := range xs {
		sum += math.Exp(x - top)
	}
	return top + math.Log(sum)
}
