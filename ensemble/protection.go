package ensemble

import (
	"fmt"
	"math"
	"math/big"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/num"
)

// Above this ε, and from this δ on, a total protects nobody: a mechanism that reveals whole
// records, or all but reveals them, can have it.
const (
	mostEpsilon    = 10
	worthlessDelta = 0.01
)

// LabelAdvice says how to lower the total of labels.
const LabelAdvice = "answer fewer queries, make the ε and δ of each answer smaller, or have teachers " +
	"that are trained privately once"

// Worthless reports whether a total protects nobody: if ε > 10, δ ≥ 0.01 or δ ≥ 1/records. It is
// the one rule for labels and models. The reason is one line for people. records is the number of
// records that the promise is about, 0 if unknown: then 1/records is not checked. A total that is
// not worthless may still be too weak for its purpose.
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
				"such a δ; choose one far below one over the number of records",
			num.Outward(total.Delta, 6, true), worthlessDelta)
		if records == 0 {
			reason += ", which was not stated"
		}
	case times.Cmp(big.NewRat(1, 1)) >= 0:
		reason = fmt.Sprintf(
			"δ = %g is at least 1/%d, one over the number of records: publishing a record drawn at random "+
				"has such a δ; choose one far below", total.Delta, records)
	case !(total.Epsilon <= mostEpsilon):
		reason = fmt.Sprintf(
			"ε = %s is above %d: all that is released may be more than e^%d times as likely as with one "+
				"record changed", num.Outward(total.Epsilon, 6, true), mostEpsilon, mostEpsilon)
	default:
		return "", false
	}
	return "this total protects nobody: " + reason, true
}

// MostWorth returns the largest total that is not [Worthless] for a number of records, 0 if unknown.
func MostWorth(records int) accountant.Cost {
	most := accountant.Cost{Epsilon: mostEpsilon, Delta: worthlessDelta}
	if records > 0 {
		most.Delta = min(most.Delta, 1/float64(records))
	}
	for { // the limit itself is too much, and 1/records may be rounded up
		if _, worthless := Worthless(most, records); !worthless {
			return most
		}
		most.Delta = math.Nextafter(most.Delta, 0)
	}
}
