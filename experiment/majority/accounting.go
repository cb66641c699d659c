package majority

import (
	"cmp"
	"fmt"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/internal/check"
)

// accountingParameters: what many queries of one cost come to.
type accountingParameters struct {
	Slack float64         `json:"slack"` // δ' of the composition
	Rows  []accountingRow `json:"rows"`
}

// accountingRow is one dataset in one table of the source.
type accountingRow struct {
	Table   string  `json:"table"`
	Data    string  `json:"data"`
	Epsilon float64 `json:"epsilon"` // of one query
	Delta   float64 `json:"delta"`
	Queries []int   `json:"queries"`
	// Printed holds, for each of Queries, the ε and δ that the source prints.
	Printed [][2]string `json:"printed,omitempty"`
}

func (p *accountingParameters) Validate() error {
	if err := cmp.Or(check.Open("slack", p.Slack, 0, 1), check.Some("rows", len(p.Rows))); err != nil {
		return err
	}
	for _, row := range p.Rows {
		if err := cmp.Or(check.Epsilon("epsilon", row.Epsilon), check.Delta("delta", row.Delta),
			check.Some("queries", len(row.Queries))); err != nil {
			return err
		}
		for _, q := range row.Queries {
			if err := check.Whole("queries", q, 1, accountant.MaxOptimalCount); err != nil {
				return err
			}
		}
		if len(row.Printed) != 0 && len(row.Printed) != len(row.Queries) {
			return check.Wantf("printed", fmt.Sprintf("%d entries", len(row.Printed)),
				"one per number of queries, %d", len(row.Queries))
		}
	}
	return nil
}

func (p *accountingParameters) Steps() int { return len(p.Rows) }

// cycle is the order of colours for lines that stand for parameters, not for methods.
var cycle = []experiment.Method{methodOpt, methodOpt, methodSub, methodSub, methodGNMax,
	methodGNMax, methodOptClear, methodOptClear}

// composition is a total by the source's theorem and by the best one.
type composition struct {
	General accountant.Cost `json:"general"`
	Optimal float64         `json:"optimal"` // ε at General's δ
}

func (p *accountingParameters) Run(r *experiment.Run) error {
	t := r.TableOf("totals", nil)
	chart := experiment.Panel{Title: fmt.Sprintf("Total ε of Q queries, δ' = %g", p.Slack),
		X: "Q, queries", Y: "total ε", LogY: true}
	same, numbers := 0, 0
	saves := true
	for i, row := range p.Rows {
		totals, err := experiment.Step(r, fmt.Sprintf("row-%02d", i+1),
			[]any{p.Slack, row.Epsilon, row.Delta, row.Queries}, func() ([]composition, error) {
				return compositions(row, p.Slack)
			})
		if err != nil {
			return err
		}
		general := experiment.Series{Name: fmt.Sprintf("ε = %g, general", row.Epsilon),
			Method: cycle[i%len(cycle)]}
		optimal := experiment.Series{Name: fmt.Sprintf("ε = %g, optimal", row.Epsilon),
			Method: general.Method, Dashed: true}
		for j, c := range totals {
			var printed any
			if len(row.Printed) > 0 {
				printed = fmt.Sprintf("(%s, %s)", row.Printed[j][0], row.Printed[j][1])
				numbers += 2
				if experiment.Agrees(c.General.Epsilon, row.Printed[j][0]) {
					same++
				}
				if experiment.Agrees(c.General.Delta, row.Printed[j][1]) {
					same++
				}
			}
			saves = saves && c.Optimal <= c.General.Epsilon
			t.Add(row.Table, row.Data, row.Epsilon, row.Delta, row.Queries[j], c.General.Epsilon,
				c.General.Delta, printed, c.Optimal, 100*(1-c.Optimal/c.General.Epsilon))
			general.Add(float64(row.Queries[j]), c.General.Epsilon)
			optimal.Add(float64(row.Queries[j]), c.Optimal)
		}
		if i == 0 || p.Rows[i-1].Table != row.Table { // one line per table is enough to see
			chart.Series = append(chart.Series, general, optimal)
		}
	}
	r.Table(t)
	if numbers > 0 {
		r.Sentence("printed", same == numbers, map[string]any{"value": same, "second": numbers})
	}
	r.Sentence("saves", saves, map[string]any{"value": len(t.Rows)})
	r.Note("Composition theorems need fresh randomness in every query. The source's teachers are " +
		"trained once: for them these totals are no guarantee. See the experiments with images for " +
		"what holds.")
	return r.Figure("totals",
		"Total ε by the source's composition (full lines) and by the optimal one (dashed).", 1,
		[]experiment.Panel{chart})
}

func compositions(row accountingRow, slack float64) ([]composition, error) {
	each := accountant.Cost{Epsilon: row.Epsilon, Delta: row.Delta}
	var out []composition
	for _, q := range row.Queries {
		general, err := accountant.General(q, each, slack)
		if err != nil {
			return nil, err
		}
		best, err := accountant.Optimal(q, each, general.Delta)
		if err != nil {
			return nil, err
		}
		out = append(out, composition{general, best.Epsilon})
	}
	return out, nil
}
