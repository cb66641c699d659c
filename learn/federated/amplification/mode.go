package amplification

import (
	"errors"
	"fmt"
	"slices"
)

// Mode is a proof of what a round costs.
type Mode string

// The modes. An empty Mode is the best one that is certified for the round: Exact where all records
// take part, Ternary for batches of one-bit reports, TCDP for batches of other reports.
const (
	Exact   Mode = "exact"   // the divergence in the blanket view, summed; all records take part
	Ternary Mode = "ternary" // its series for batches, integer orders; OneBit only
	// Exact's supremum of ε_RDP(α)/α, and the sampling theorem of truncated CDP
	TCDP  Mode = "tcdp"
	Paper Mode = "paper" // the published constants, c = 1536
	// Numeric computes the believed worst case of a batch, checked by enumeration and not proved.
	// It gives figures, and no Event.
	Numeric Mode = "numeric"
)

// Modes returns all modes.
func Modes() []Mode { return []Mode{Exact, Ternary, TCDP, Paper, Numeric} }

func (m Mode) check() error {
	if m != "" && !slices.Contains(Modes(), m) {
		return fmt.Errorf("accounting mode = %q, but it must be one of %q", string(m), Modes())
	}
	return nil
}

// ErrInapplicable is the error for a mode that proves nothing of a round: a condition fails.
var ErrInapplicable = errors.New("the mode does not apply")

// Which condition of a theorem failed. Each is an ErrInapplicable.
var (
	errLocalEpsilon = condition("it needs a local epsilon of 1 or more")
	errRate         = condition("it needs a sampling rate of at most 0.1")
	errRho          = condition("it needs a divergence of at most 0.1 an order in each shuffled round")
	errConstant     = condition("its constant is too small for the local epsilon and the rate")
	errOrders       = condition("it holds at no Rényi order")
	errSampled      = condition("it is for rounds in which all records take part")
	ErrReports      = condition("it is for one-bit reports")
	errUnproved     = condition("its worst case is not proved")
	errLosses       = condition("one worst pair is proved for rounds in which all records take part")
)

func condition(rule string) error { return fmt.Errorf("%w: %s", ErrInapplicable, rule) }
