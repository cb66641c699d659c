package poissonbinom

import "math"

// twofold is an unevaluated sum hi+lo with |lo| ≤ ulp(hi)/2, about 106 bits. The
// operations below have relative error below 2⁻¹⁰⁰ as long as nothing
// over- or underflows. Source: Joldes, Muller and Popescu, Tight and rigorous error
// bounds for basic building blocks of double-word arithmetic (2017).
type twofold struct{ hi, lo float64 }

// quickTwoSum returns a+b exactly, for |a| ≥ |b| or a = 0.
func quickTwoSum(a, b float64) twofold {
	s := a + b
	return twofold{s, b - (s - a)}
}

// twoSum returns a+b exactly (Knuth).
func twoSum(a, b float64) twofold {
	s := a + b
	t := s - a
	return twofold{s, (a - (s - t)) + (b - t)}
}

// twoProduct returns a·b exactly, unless the low part underflows.
func twoProduct(a, b float64) twofold {
	h := float64(a * b)
	return twofold{h, math.FMA(a, b, -h)}
}

// scale returns x·a.
func (x twofold) scale(a float64) twofold {
	p := twoProduct(x.hi, a)
	return quickTwoSum(p.hi, math.FMA(x.lo, a, p.lo))
}

// mul returns x·y.
func (x twofold) mul(y twofold) twofold {
	p := twoProduct(x.hi, y.hi)
	return quickTwoSum(p.hi, p.lo+(float64(x.hi*y.lo)+float64(x.lo*y.hi)))
}

// add returns x+y. Used for terms of one sign, where there is no cancellation.
func (x twofold) add(y twofold) twofold {
	s := twoSum(x.hi, y.hi)
	return quickTwoSum(s.hi, s.lo+(x.lo+y.lo))
}

// div returns x/y.
func (x twofold) div(y twofold) twofold {
	q1 := x.hi / y.hi
	// x - q1·y: the leading part is exact in one fused operation.
	r := math.FMA(-q1, y.hi, x.hi)
	r += x.lo - float64(q1*y.lo)
	return quickTwoSum(q1, r/y.hi)
}

// float64 returns x rounded to nearest.
func (x twofold) float64() float64 { return x.hi + x.lo }
