package accountant_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/testing/must"
)

// The counterexamples of docs/errata.md that are about accounting.

// Appendix B.4 prints δ = 1-(1-δ)^M·(1-δ') and λ = 1-(1-δ)^K·(1-δ'). The inner δ is Δ, the
// teacher's: with it every digit of Table B.1 is met; with the δ that the table prints, or
// any above Δ, none is.
func TestErratumInnerDeltaOfTableB1(t *testing.T) {
	const teacherDelta, slack = 1e-5, 0.1
	for m, printed := range map[int]string{10: "0.1001", 13: "0.1001", 15: "0.1001", 20: "0.1002",
		35: "0.1003"} {
		c, err := accountant.General(m, accountant.Cost{Epsilon: 0.1, Delta: teacherDelta}, slack)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%.4f", c.Delta); got != printed {
			t.Errorf("M = %d: δ = %s, printed %s", m, got, printed)
		}
		if literal := 1 - math.Pow(1-0.1001, float64(m))*(1-slack); literal < 0.6 {
			t.Errorf("M = %d: the formula as printed gives %g", m, literal)
		}
	}
}

// The printed order of the conversion lacks "1 +": at ρ = 1, δ = 1e-6 it gives ε = 8.8019
// in place of 8.4338.
func TestErratumRenyiOrder(t *testing.T) {
	const delta, rho = 1e-6, 1.0
	printed := math.Sqrt(math.Log(1/delta) / rho)
	must.Near(t, "the best order", accountant.ZCDPOrder(rho, delta), 1+printed, 1e-9)
	wrong, err := accountant.ClassicalEpsilonFromRDP(printed, printed*rho, delta)
	if err != nil {
		t.Fatal(err)
	}
	right, err := accountant.EpsilonFromZCDP(rho, delta)
	if err != nil {
		t.Fatal(err)
	}
	must.Near(t, "ε at the printed order", wrong, 8.8019, 1e-5)
	must.Near(t, "ε at the best order", right, 8.4338, 1e-5)
}
