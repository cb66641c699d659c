package ensemble

import (
	"fmt"
	"math/big"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/num"
)

// From here on a total protects nobody: a mechanism that reveals whole records, or all but
// reveals them, can have it.
const (
	worthlessEpsilon = 20
	worthlessDelta   = 0.01
)

// Worthless reports whether a total protects nobody: if δ ≥ 1/records, δ ≥ 0.01 or ε ≥ 20. The
// reason is one line for people, with what to do. records is the number of records that the
// teachers were trained on, 0 if unknown. A total that is not worthless may still be too weak for
// its purpose.
//
// Source for 1/records: Dwork and Roth, The Algorithmic Foundations of Differential Privacy
// (2014), Section 2.3.3.
func Worthless(total accountant.Cost, records int) (reason string, worthless bool) {
	times := new(big.Rat)
	if records > 0 && total.Delta >= 0 {
		times.Mul(num.Decimal(min(total.Delta, 1)), big.NewRat(int64(records), 1))
	}
	switch {
	case !(total.Delta < 1): // NaN too
		reason = fmt.Sprintf("δ = %g allows everything to be revealed", total.Delta)
	case !(total.Delta < worthlessDelta):
		reason = fmt.Sprintf(
			"δ = %s is at least %g: a mechanism that publishes everything with that probability has "+
				"such a δ", num.Outward(total.Delta, 6, true), worthlessDelta)
	case times.Cmp(big.NewRat(1, 1)) >= 0:
		reason = fmt.Sprintf(
			"δ = %g is at least 1/%d, one over the number of records: publishing a record drawn at random "+
				"has such a δ", total.Delta, records)
	case !(total.Epsilon < worthlessEpsilon):
		reason = fmt.Sprintf(
			"ε = %g is at least %d: all answers together may be e^%d times as likely as with one "+
				"record changed", total.Epsilon, worthlessEpsilon, worthlessEpsilon)
	default:
		return "", false
	}
	return "this total protects nobody: " + reason +
		"; answer fewer queries, make the ε and δ of each answer smaller, or have teachers that are " +
		"trained privately once", true
}
