package accountant

import (
	"fmt"
	"math"

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
	roots := fftRoots(n)
	// product becomes Π ŵ_c^{k_c}; missed[k] = Σ_c k_c·ln(1+e/|ŵ_c|) bounds what the
	// errors e of the ŵ_c may do to it, and size is ln Π (|ŵ_c|+e)^{k_c}. The masses are real, so the
	// other half of each spectrum are the conjugates.
	product := make([]complex128, n/2+1)
	missed, size := make([]float64, n/2+1), make([]float64, n/2+1)
	w := make([]float64, n)
	for i := range product {
		product[i] = 1
	}
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
		for i := range product {
			z := complex(w[i], 0)
			if i > 0 && i < n/2 {
				z = complex(w[i], w[n-i])
			}
			a := math.Sqrt(real(z)*real(z) + imag(z)*imag(z)) // 0 only where e is all
			missed[i] += float64(p.count) * math.Log1p(e/a)
			size[i] += float64(p.count) * math.Log(a+e)
			product[i] *= power(z, p.count)
		}
	}
	sumSize, sumError := 0.0, 0.0
	for i, z := range product {
		b := math.Exp(size[i]) * 1.01
		// Π(|ŵ|+e)^k - Π|ŵ|^k, and the rounding of the powers: each multiplication
		// √5·u, and underflow.
		off := b*-math.Expm1(-missed[i]) + b*math.Expm1(multiplications*3*0x1p-53) + 1e-290
		w[i] = real(z)
		if i > 0 && i < n/2 {
			w[n-i] = imag(z)
			b, off = 2*b, 2*off
		}
		sumSize += b
		sumError += off
	}
	inverseRealFFT(w, roots)
	each := (sumError*1.01 + levels*fftError*1.01*(sumSize+sumError)) / float64(n)
	c := lossCurve{step: s.step, first: first, delta: make([]float64, n), largest: s.largest(),
		infinite: s.infinite()}
	// δ_j = e^-step·δ_{j+1} + (1-e^-step)·A_{j+1}, A the masses above: all positive.
	down, rest := math.Exp(-s.step), -math.Expm1(-s.step)
	above, d := 0.0, 0.0
	for j := n - 1; j >= 0; j-- {
		c.delta[j] = min(1, d)
		index := first + j
		density := max(0, w[index&(n-1)]/float64(n)) + each
		x := theta * s.step * float64(index)
		term := math.Exp(logScale-x) * density * (1 + 8*0x1p-52*(math.Abs(x)+math.Abs(logScale)+2) +
			exponents)
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

// power returns z^k by squaring.
func power(z complex128, k int) complex128 {
	r := complex(1, 0)
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
		return 0, fmt.Errorf("delta = %g, of which infinite losses alone take %g: %w", delta,
			min(1, c.infinite), ErrDeltaTooSmall)
	}
	return bisectDown(0, top, func(e float64) bool { return c.at(e) <= delta }), nil
}
