package ledger

import (
	"fmt"

	"github.com/darrm/darrm/internal/check"
)

// Draw is one series of rows of votes, each row cast once by fresh teachers. A second
// answer to the same rows is not a second run of the teachers, so its cost does not add to
// the first one's: [Ledger.Charge] has the rules.
type Draw struct {
	// Name is unique within [Request].Ensemble: 1 to MaxID bytes, as an id. Required.
	Name string
	// Votes is the digest of the rows, of [VoteHash.Sum]. Required, not zero.
	Votes Digest
	// Stated says that the user named the draw. Votes that equal those of an earlier draw
	// are then taken for votes that the teachers cast anew; otherwise, and where that draw
	// has the same name in another ensemble, they are refused.
	Stated bool
	// Covers says that the charge pays for any number of answers to the draw, by the
	// composition of what the teachers promise. It is no answer itself: each of those is a
	// charge that names this one in [Request].PaidBy. It must spend something itself.
	Covers bool
}

// DrawName is how a ledger names a draw.
type DrawName struct {
	Ensemble string `json:"ensemble,omitempty"` // "" where the teachers have no name
	Name     string `json:"name"`
}

func (n DrawName) String() string {
	if n.Ensemble == "" {
		return fmt.Sprintf("%q", n.Name)
	}
	return fmt.Sprintf("%q of ensemble %q", n.Name, n.Ensemble)
}

// check says what is wrong with a draw in a request that paidBy pays for.
func (d *Draw) check(paidBy string) error {
	if err := checkID("draw", d.Name); err != nil {
		return err
	}
	if d.Votes == (Digest{}) {
		return &check.Error{Name: "votes of the draw", Value: d.Votes, Rule: "a digest made with the ledger's secret"}
	}
	if d.Covers && paidBy != "" {
		return &check.Error{Name: "paid by", Value: fmt.Sprintf("%q", paidBy), Rule: "left out where a charge covers a draw"}
	}
	return nil
}
