package num

import (
	"math"
	"math/big"
)

// Twofold is an unevaluated sum Hi+Lo with |Lo| ≤ ulp(Hi)/2, about 106 bits. The
// operations below have relative error below 2⁻¹⁰⁰ as long as nothing
// over- or underflows, and one result on every processor. Source: Joldes, Muller and Popescu, Tight and
// rigorous error bounds for basic building blocks of double-word arithmetic (2017).
type Twofold struct{ Hi, Lo float64 }

// Twofold returns a number of the interval, with relative error below 2⁻¹⁰⁰ where the interval is narrow.
func (x Interval) Twofold() Twofold {
	hi, _ := x.lo.Float64()
	lo, _ := down().Sub(x.lo, big.NewFloat(hi)).Float64()
	return Twofold{hi, lo}
}

// QuickTwoSum returns a+b exactly, for |a| ≥ |b| or a = 0.
func QuickTwoSum(a, b float64) Twofold {
	s := a + b
	return Twofold{s, b - (s - a)}
}

// TwoSum returns a+b exactly (Knuth).
func TwoSum(a, b float64) Twofold {
	s := a + b
	t := s - a
	return Twofold{s, (a - (s - t)) + (b - t)}
}

// TwoProduct returns a·b exactly, unless the low part underflows.
func TwoProduct(a, b float64) Twofold {
	h := float64(a * b)
	return Twofold{h, math.FMA(a, b, -h)}
}

// Scale returns x·a.
func (x Twofold) Scale(a float64) Twofold {
	p := TwoProduct(x.Hi, a)
	return QuickTwoSum(p.Hi, math.FMA(x.Lo, a, p.Lo))
}

// Mul returns x·y.
func (x Twofold) Mul(y Twofold) Twofold {
	p := TwoProduct(x.Hi, y.Hi)
	return QuickTwoSum(p.Hi, p.Lo+(float64(x.Hi*y.Lo)+float64(x.Lo*y.Hi)))
}

// Add returns x+y. Used for terms of one sign, where there is no cancellation.
func (x Twofold) Add(y Twofold) Twofold {
	s := TwoSum(x.Hi, y.Hi)
	return QuickTwoSum(s.Hi, s.Lo+(x.Lo+y.Lo))
}

// Div returns x/y.
func (x Twofold) Div(y Twofold) Twofold {
	q1 := x.Hi / y.Hi
	// x - q1·y: the leading part is exact in one fused operation.
	r := math.FMA(-q1, y.Hi, x.Hi)
	r += x.Lo - float64(q1*y.Lo)
	return QuickTwoSum(q1, r/y.Hi)
}

// Float64 returns x rounded to nearest.
func (x Twofold) Float64() float64 { return x.Hi + x.Lo }

// Around returns float64s on both sides of every number that is at most off ≥ 0 from x, for x ≥ 0 and
// off below ulp(Hi)/4. They are Hi, and its neighbour unless Lo leaves no doubt.
func (x Twofold) Around(off float64) (low, up float64) {
	low, up = x.Hi, x.Hi
	if x.Lo < off {
		low = math.Nextafter(low, math.Inf(-1))
	}
	if x.Lo > -off {
		up = math.Nextafter(up, math.Inf(1))
	}
	return low, up
}
