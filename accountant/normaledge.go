package accountant

import "math"

// normalEdge is a point z at which the mass of the standard normal is cut: the mass on the side of z
// that is away from 0, and a bound on its error.
type normalEdge struct {
	z, tail, slack float64
}

// lowest and highest are the edges of all mass.
var lowest, highest = normalEdge{z: math.Inf(-1)}, normalEdge{z: math.Inf(1)}

// newNormalEdge returns the edge at z, which may be off by the wobble. math.Erfc is good to a unit in
// the last place; four are allowed, and the argument's rounding moves the result by another z² units
// at most. Where z moves little, the density near it is at most twice 1+|z| of the tail (Birnbaum's
// inequality); otherwise no move of z changes the tail by more than one toward 0.
func newNormalEdge(z, wobble float64) normalEdge {
	if math.IsInf(z, 0) {
		return normalEdge{z: z}
	}
	const ulp = 0x1p-52
	a := math.Abs(z)
	tail := math.Erfc(a/math.Sqrt2) / 2
	slack := tail*ulp*(8+2*z*z) + 4*math.SmallestNonzeroFloat64 // tail*ulp alone may underflow
	if moved := 2 * (1 + a) * wobble; moved < 1e-3 {
		slack += tail * moved
	} else {
		near := math.Erfc((a-wobble)/math.Sqrt2) / 2
		slack += near - tail + near*ulp*(8+2*(a-wobble)*(a-wobble))
	}
	return normalEdge{z, tail, slack}
}

// massUpTo returns the mass from e to f > e, rounded up for side = 1 and down for -1.
func (e normalEdge) massUpTo(f normalEdge, side float64) float64 {
	var m float64
	slack := e.slack + f.slack
	switch {
	case e.z >= 0:
		m = e.tail - f.tail
	case f.z <= 0:
		m = f.tail - e.tail
	default:
		m, slack = 1-e.tail-f.tail, slack+2*0x1p-52
	}
	return max(0, m+side*slack)
}

// lossEdge is where the outcomes of a normalLoss are cut, in standard deviations from the mean of
// the plain normal and from that of the moved one.
type lossEdge struct{ plain, moved normalEdge }

// edgeAt cuts where the loss is x. Outcomes rise with the loss: where they do not, their signs are
// changed.
func (l normalLoss) edgeAt(x float64) lossEdge {
	sign := 1.0
	if l.down {
		sign = -1
	}
	at, wobble := l.locate(sign * x)
	at *= sign
	return lossEdge{newNormalEdge(at/l.sigma, wobble/l.sigma),
		newNormalEdge((at-sign)/l.sigma, wobble/l.sigma)}
}

// mixtureUpTo returns the mass of the sampled mixture from e to f > e, rounded to the side.
func (l normalLoss) mixtureUpTo(e, f lossEdge, side float64) float64 {
	moved := e.moved.massUpTo(f.moved, side)
	if l.q == 1 {
		return moved
	}
	m := (1-l.q)*e.plain.massUpTo(f.plain, side) + l.q*moved
	return max(0, m+side*(4*0x1p-52*m+4*math.SmallestNonzeroFloat64)) // m's last place may be none
}
