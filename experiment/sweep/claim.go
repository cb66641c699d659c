package sweep

import (
	"fmt"

	"github.com/darrm/darrm/experiment"
)

// Budgets claims that no model costs more than its ε. Lines without privacy count for nothing.
type Budgets struct {
	worst float64
	where string
}

// Add takes in one model's ε, accounted and stated, and where it is.
func (b *Budgets) Add(accounted, stated float64, where string) {
	if share := accounted / stated; accounted > 0 && share > b.worst {
		b.worst, b.where = share, where
	}
}

// Claim states the claim, unless no line is private.
func (b *Budgets) Claim(r *experiment.Run) {
	if b.worst > 0 {
		r.Claim(b.worst <= 1, "no model costs more than its ε by the corrected account",
			"largest share of the target: %.6f, %s", b.worst, b.where)
	}
}

// ClaimRange claims that a line's mean score is in a range; published is the figure that others
// print, "" for none.
func ClaimRange(
	r *experiment.Run, here, what, line string, within [2]float64, published string, v float64,
) {
	if published != "" {
		published = " (published: " + published + ")"
	}
	text := fmt.Sprintf("%s: %s of %s is in [%g, %g]%s", here, what, line, within[0], within[1],
		published)
	r.Claim(v >= within[0] && v <= within[1], text, "%.4f", v)
}
