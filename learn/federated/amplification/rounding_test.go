package amplification

import (
	"math"
	"testing"

	"github.com/darrm/darrm/internal/num"
)

// Reports hide among no more uniform ones than there are, and a bit tells no less than it does: against
// intervals around e^-ε₀, 2/(e^ε₀+1) and tanh(ε₀/2).
func TestBlanketIsRoundedToItsDearerSide(t *testing.T) {
	one, two := num.FromInt(1), num.FromInt(2)
	for epsilon := 1e-6; epsilon < 30; epsilon *= 1.07 {
		e := num.Exp(num.Decimal(epsilon))
		kappa := e.Sub(one).Quo(e.Add(one))
		for oneBit, cover := range map[bool]num.Interval{false: one.Quo(e), true: two.Quo(e.Add(one))} {
			b := newBlanket(1000, epsilon, oneBit)
			if b.cover > cover.Lower() || b.cover < cover.Lower()*(1-1e-12) {
				t.Errorf("ε₀ = %v: the cover is %v of %v", epsilon, b.cover, cover.Lower())
			}
			if top := kappa.Upper(); b.kappa < math.Min(top, 1-0x1p-53) || b.kappa > top*(1+1e-12) {
				t.Errorf("ε₀ = %v: κ is %v of %v", epsilon, b.kappa, top)
			}
		}
	}
}
