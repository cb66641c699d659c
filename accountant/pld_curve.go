package accountant

import (
	"fmt"
	"math"
	"math/big"

	"github.com/darrm/darrm/internal/num"
)

// lossCurve bounds δ(ε) at the grid points of a window.
type lossCurve struct {
	step     float64
	first    int       // grid index of delta[0]
	delta    []float64 // non-increasing bounds, without constant
	constant float64   // infinite losses, and those above the window
	largest  float64   // no finite loss is above it
	infinite float64   // infinite losses alone

	saturated bool // the tilt is the largest, short of its goal
}

// curve convolves under the tilt theta.
func (s lossSum) curve(theta float64) lossCurve {
	n, levels := 1<<s.bits, float64(s.bits)
	mean, variance := 0.0, 0.0
	logs := make([]float64, len(s.parts))
	for i, p := range s.parts {
		log, m, v := p.logMoment(s.step, theta)
		logs[i] = log
		mean += float64(p.count) * m
		variance += float64(p.count) * v
	}
	first := int(math.Round(mean/s.step)) - n/2
	roots := rootsFor[s.bits]()
	product := newSpectrum(n)
	w := make([]float64, n)
	logScale, exponents, multiplications := 0.0, 0.0, 1.0
	for k, p := range s.parts {
		log := logs[k]
		logScale += float64(p.count) * log
		exponents += float64(p.count) * (math.Abs(log) + 1) * 0x1p-52
		multiplications += float64(p.count) + 1
		clear(w)
		total := 0.0
		for i, m := range p.mass {
			if m == 0 {
				continue
			}
			x := theta * s.step * float64(p.first+i)
			logM := p.logs[i]
			e := x + logM - log
			// Rounded up: the exponent's error is below two units of each part.
			v := math.Exp(e) * (1 + 4*0x1p-52*(math.Abs(x)+math.Abs(logM)+math.Abs(log)+2))
			at := (p.first + i) & (n - 1)
			w[at] += v // circular: mass that wraps is added, never lost
			total += v
		}
		realFFT(w, roots)
		// The hundredth also covers masses that underflow under the tilt.
		e := levels * fftError * total * 1.01
		product.multiply(w, e, p.count)
	}
	size, sumError := product.put(w, multiplications)
	inverseRealFFT(w, roots)
	each := (sumError*1.01 + levels*fftError*1.01*(size+sumError)) / float64(n)
	c := lossCurve{step: s.step, first: first, delta: make([]float64, n), largest: s.largest(),
		infinite: s.infinite()}
	// δ_j = e^-step·δ_{j+1} + (1-e^-step)·A_{j+1}, A the masses above: all positive.
	down, rest := math.Exp(-s.step), -math.Expm1(-s.step)
	above, d := 0.0, 0.0
	untilt := newUntilt(logScale, theta*s.step)
	for j := n - 1; j >= 0; j-- {
		c.delta[j] = min(1, d)
		index := first + j
		density := max(0, w[index&(n-1)]/float64(n)) + each
		weight, exponent := untilt.at(index)
		term := weight * density * (1 + 8*0x1p-52*(exponent+math.Abs(logScale)+2) + exponents)
		if float64(index)*s.step > c.largest {
			term = 0 // no sum of losses is there
		}
		above = (above + term) * (1 + 0x1p-52)
		d = (down*d + rest*above) * (1 + 4*0x1p-52)
	}
	c.constant = c.infinite
	if c.largest > 0 {
		c.constant += float64(n) * math.SmallestNonzeroFloat64 // terms that underflow
	}
	if end := float64(first+n) * s.step; end <= c.largest {
		c.constant += s.tail(theta, end, variance)
	}
	return c
}

// spectrum is Π ŵ_c^{k_c} of transforms ŵ_c of n real numbers, each of which may be off by e_c. The
// other half of each are the conjugates.
type spectrum struct {
	product []complex128
	size    []float64 // Π (|ŵ_c|+e_c)^{k_c}
	missed  []float64 // Σ k_c·e_c/(|ŵ_c|+e_c)
}

func newSpectrum(n int) spectrum {
	s := spectrum{make([]complex128, n/2+1), make([]float64, n/2+1), make([]float64, n/2+1)}
	for i := range s.product {
		s.product[i], s.size[i] = 1, 1
	}
	return s
}

// multiply multiplies by the power count of w, as realFFT leaves it.
func (s spectrum) multiply(w []float64, e float64, count int) {
	n := len(w)
	for i := range s.product {
		z := complex(w[i], 0)
		if i > 0 && i < n/2 {
			z = complex(w[i], w[n-i])
		}
		a := math.Sqrt(real(z)*real(z) + imag(z)*imag(z))
		s.missed[i] += float64(count) * e / (a + e)
		s.size[i] *= power(a+e, count)
		s.product[i] *= power(z, count)
	}
}

// put writes the product to w for inverseRealFFT, and bounds Σ|product| and by how much in all it may
// be off. As the errors grow from 0 to e_c, Π (|ŵ_c|+e_c)^{k_c} grows ever faster, in the end by
// size·missed. The powers are rounded too: each multiplication by √5·u, and underflow.
func (s spectrum) put(w []float64, multiplications float64) (size, off float64) {
	n := len(w)
	for i, z := range s.product {
		b := s.size[i] * 1.01
		o := b*s.missed[i] + b*math.Expm1(multiplications*3*0x1p-53) + 1e-290
		w[i] = real(z)
		if i > 0 && i < n/2 {
			w[n-i] = imag(z)
			b, o = 2*b, 2*o
		}
		size += b
		off += o
	}
	return size, off
}

// untilt evaluates e^{scale - tilt·index}, an exponential for each block of indices and a product for
// each of them.
type untilt struct {
	scale, tilt float64
	within      [untiltBlock]float64 // e^{tilt·d}
	last        int                  // the largest index of the block
	base        float64              // its value
}

const untiltBlock = 64

func newUntilt(scale, tilt float64) *untilt {
	u := &untilt{scale: scale, tilt: tilt, last: math.MinInt}
	for d := range u.within {
		u.within[d] = math.Exp(tilt * float64(d))
	}
	return u
}

// at returns the value, and what its error grows with beside the scale: it is within eight units in
// the last place of them together.
func (u *untilt) at(index int) (value, exponent float64) {
	last := index | (untiltBlock - 1)
	if last != u.last {
		u.last, u.base = last, math.Exp(u.scale-u.tilt*float64(last))
	}
	exponent = u.tilt * (math.Abs(float64(index)) + untiltBlock)
	if u.base < 1e-290 { // its last place may be none
		return math.Exp(u.scale - u.tilt*float64(index)), exponent
	}
	return u.base * u.within[last-index], exponent
}

// power returns z^k by squaring.
func power[T float64 | complex128](z T, k int) T {
	r := T(1)
	for ; k > 0; k >>= 1 {
		if k&1 == 1 {
			r *= z
		}
		z *= z
	}
	return r
}

// at returns the bound at any epsilon ≥ 0: between grid points δ is linear in e^ε;
// below the window it is what it would be without any ε, above it the constant.
func (c lossCurve) at(epsilon float64) float64 {
	if epsilon > 0 {
		epsilon = math.Nextafter(epsilon, 0) // its decimal may be half a unit below
	}
	j := math.Floor(epsilon/c.step) - float64(c.first)
	switch {
	case epsilon >= c.largest:
		return min(1, c.infinite)
	case j < 0:
		return 1
	case j >= float64(len(c.delta)-1):
		return min(1, c.constant)
	}
	i := int(j)
	x := float64(c.first+i) * c.step
	s := epsilon - x
	weight := min(1, math.Exp(s)*math.Expm1(c.step-s)/math.Expm1(c.step)*(1+num.Margin))
	low, high := c.delta[i+1], c.delta[i]
	return min(1, (low+weight*max(0, high-low)+c.constant)*(1+num.Margin))
}

// belowWindow reports whether ε is under the window, where the curve has no value. The tilt may
// have moved it too far up where a tiny mass has a huge loss.
func (c lossCurve) belowWindow(epsilon float64) bool { return epsilon < float64(c.first)*c.step }

// epsilon returns the smallest ε at which the curve is at most delta.
func (c lossCurve) epsilon(delta float64) (float64, error) {
	if c.at(0) <= delta {
		return 0, nil
	}
	top := float64(c.first+len(c.delta)-1) * c.step
	if top <= 0 || c.at(top) > delta {
		top = c.largest
	}
	if c.at(top) > delta {
		return 0, fmt.Errorf("delta = %g, but infinite losses alone take %g of it: %w", delta,
			min(1, c.infinite), ErrDeltaTooSmall)
	}
	return bisectDown(0, top, func(e float64) bool { return c.at(e) <= delta }), nil
}

// minStirling is the smallest n of logFactorial, whose two sides are then less than 1e-40
// apart.
const minStirling = 1024

// logFactorial returns an interval around a number that is above ln n!, or below it, for
// n ≥ minStirling. The partial sums of Stirling's series
//
//	ln n! = n·ln n - n + ln(2πn)/2 + Σ_{i≥1} B_2i/(2i(2i-1)·n^{2i-1})
//
// lie on alternate sides, above after an odd number of terms (Abramowitz and Stegun,
// 6.1.41 and 6.1.42).
func logFactorial(n int, above bool) num.Interval {
	terms, constant := stirling, logRoot2PiUp
	if !above {
		terms, constant = stirling[:len(stirling)-1], logRoot2PiDown
	}
	inverse := big.NewRat(1, int64(n))
	square := new(big.Rat).Mul(inverse, inverse)
	series, power := new(big.Rat), inverse
	for _, c := range terms {
		series.Add(series, new(big.Rat).Mul(power, c))
		power = new(big.Rat).Mul(power, square)
	}
	x := num.FromInt(int64(n))
	log := num.Log(x)
	return x.Mul(log).Sub(x).Add(log.Mul(num.FromRat(big.NewRat(1, 2)))).Add(
		num.FromRat(constant)).Add(num.FromRat(series))
}

var (
	stirling = []*big.Rat{
		big.NewRat(1, 12), big.NewRat(-1, 360), big.NewRat(1, 1260), big.NewRat(-1, 1680),
		big.NewRat(1, 1188), big.NewRat(-691, 360360), big.NewRat(1, 156),
	}
	// ln(2π)/2 to 60 digits, from below and above.
	logRoot2PiDown = rational("0.918938533204672741780329736405617639861397473637783412817151")
	logRoot2PiUp   = rational("0.918938533204672741780329736405617639861397473637783412817152")
)

func rational(digits string) *big.Rat {
	r, ok := new(big.Rat).SetString(digits)
	if !ok {
		panic("accountant: not a number: " + digits)
	}
	return r
}
