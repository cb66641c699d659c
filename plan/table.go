package plan

import (
	"fmt"
	"strings"

	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/num"
)

// Table returns the choices as the header and rows of a table for people. Costs are rounded up.
func (p *Plan) Table() (header []string, rows [][]string) {
	p = handle.Made(p)
	for _, c := range p.Choices {
		per := c.Mechanism.PerAnswer()
		one := []string{num.Outward(per.Epsilon, 4, true), num.Outward(per.Delta, 3, true)}
		if c.Mechanism.Together().Most > 0 {
			one = []string{"-", "-"} // no label has a price of its own
		}
		worth := c.Worth.String()
		if c.Worth.Of == 0 {
			worth = "-"
		}
		rows = append(rows, []string{c.Title(), one[0], one[1],
			strings.TrimSuffix(c.Agreement.String(), " %"), worth,
			num.Outward(c.Total.Epsilon, 5, true), num.Outward(c.Total.Delta, 3, true)})
	}
	return []string{"mechanism", "ε each", "δ each", "agrees %", "worth", "ε all", "δ all"}, rows
}

// String returns the expected share in percent, with the standard error of an estimate.
func (a Agreement) String() string {
	if a.StandardError > 0 {
		return fmt.Sprintf("%.1f ± %.1f %%", 100*a.Expected, 100*a.StandardError)
	}
	return num.Percent(a.Expected)
}
