package accountant

import (
	"math"

	"github.com/darrm/darrm/internal/num"
)

// atomLoss is a privacy loss of few values. Masses and losses are rounded up, so that the masses
// may sum to slightly more than 1.
type atomLoss struct {
	atoms    []atom // ascending
	infinite float64
}

// atom is mass of P at a loss.
type atom struct{ loss, mass float64 }

func (l atomLoss) span() (low, high, deviation float64) {
	if len(l.atoms) == 0 {
		return 0, 0, 0
	}
	mean, square := 0.0, 0.0
	for _, a := range l.atoms {
		mean += a.mass * a.loss
		square += a.mass * a.loss * a.loss
	}
	return l.atoms[0].loss, l.atoms[len(l.atoms)-1].loss, math.Sqrt(max(0, square-mean*mean))
}

func (l atomLoss) discretise(step float64) (lossMass, error) {
	low, high, _ := l.span()
	out, err := newLossMass(step, low, high)
	if err != nil {
		return out, err
	}
	for _, a := range l.atoms {
		out.add(step, a.loss, a.mass)
	}
	out.infinite = l.infinite
	return out, nil
}

// rdp returns ln(Σ mass·e^{(α-1)·loss})/(α-1), rounded up, for a loss that is finite. The sum less
// 1 is taken with expm1, as mixtureLoss.rdp does. Its terms have both signs, so what rounding may
// do to them, and by how much the masses may exceed 1, is added.
func (l atomLoss) rdp(alpha float64) float64 {
	if len(l.atoms) == 0 {
		return 0
	}
	top := (alpha - 1) * l.atoms[len(l.atoms)-1].loss * (1 + num.Margin)
	if math.IsInf(top, 1) {
		return l.atoms[len(l.atoms)-1].loss // which no divergence exceeds
	}
	log := 0.0
	if top < 600 {
		sum, size := 0.0, 0.0
		for _, a := range l.atoms {
			y := (alpha - 1) * a.loss
			x := a.mass * math.Expm1(y)
			sum += x
			size += math.Abs(x) * (1 + math.Abs(y))
		}
		log = math.Log1p(max(0, sum+1e-12*size+float64(len(l.atoms))*0x1p-51))
	} else { // e^top may not fit
		sum := 0.0
		for _, a := range l.atoms {
			sum += a.mass * math.Exp((alpha-1)*a.loss-top)
		}
		log = top + math.Log(sum) + 1e-12*(1+top)
	}
	return (log*(1+num.SumMargin)+num.Tiny)/(alpha-1)*(1+num.Margin) + num.Tiny
}
