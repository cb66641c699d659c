package majority

import (
	"fmt"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
)

// AccountingParameters: what many queries of one cost come to.
type AccountingParameters struct {
	Slack float64         `json:"slack"` // δ' of the composition
	Rows  []AccountingRow `json:"rows"`
}

// AccountingRow is one dataset in one table of the source.
type AccountingRow struct {
	Table   string  `json:"table"`
	Data    string  `json:"data"`
	Epsilon float64 `json:"epsilon"` // of one query
	Delta   float64 `json:"delta"`
	Queries []int   `json:"queries"`
	// Printed holds, for each of Queries, the ε and δ that the source prints.
	Printed [][2]string `json:"printed,omitempty"`
}

func (p *AccountingParameters) validate() error {
	if !(p.Slack > 0 && p.Slack < 1) {
		return &check.Error{Name: "slack", Value: p.Slack, Rule: "in (0,1)"}
	}
	if len(p.Rows) == 0 {
		return &check.Error{Name: "rows", Value: "none", Rule: "at least one"}
	}
	for _, row := range p.Rows {
		if err := check.Epsilon("epsilon", row.Epsilon); err != nil {
			return err
		}
		if err := check.Delta("delta", row.Delta); err != nil {
			return err
		}
		if len(row.Queries) == 0 {
			return &check.Error{Name: "queries", Value: "none", Rule: "at least one"}
		}
		for _, q := range row.Queries {
			if q < 1 || q > accountant.MaxOptimalCount {
				return &check.Error{Name: "queries", Value: q, Rule: fmt.Sprintf("between 1 and %d", accountant.MaxOptimalCount)}
			}
		}
		if len(row.Printed) != 0 && len(row.Printed) != len(row.Queries) {
			return &check.Error{Name: "printed", Value: fmt.Sprintf("%d entries", len(row.Printed)), Rule: fmt.Sprintf("one per number of queries, %d", len(row.Queries))}
		}
	}
	return nil
}

func (p *AccountingParameters) steps() int { return len(p.Rows) }

// composition is a total by the source's theorem and by the best one.
type composition struct {
	General accountant.Cost `json:"general"`
	Optimal float64         `json:"optimal"` // ε at General's δ
}

func (p *AccountingParameters) run(r *run) error {
	t := Table{Name: "totals", Caption: "Total privacy loss of Q queries: the source's general composition with slack δ', and the optimal composition at the same δ.", Columns: []Column{
		{Name: "table", Title: "table"}, {Name: "data", Title: "data"}, {Name: "epsilon_query", Title: "ε per query"}, {Name: "delta_query", Title: "δ per query"}, {Name: "queries", Title: "Q"},
		{Name: "epsilon_total", Title: "total ε", Format: "%.3f"}, {Name: "delta_total", Title: "total δ", Format: "%.3f"}, {Name: "printed", Title: "source prints"},
		{Name: "epsilon_optimal", Title: "optimal composition", Format: "%.3f"}, {Name: "saved", Title: "saves", Format: "%.1f %%"}}}
	chart := panel{title: fmt.Sprintf("Total ε of Q queries, δ' = %g", p.Slack), x: "Q, queries", y: "total ε", logY: true}
	same, numbers := 0, 0
	saves := true
	for i, row := range p.Rows {
		totals, err := step(r, fmt.Sprintf("row-%02d", i+1), []any{p.Slack, row.Epsilon, row.Delta, row.Queries}, func() ([]composition, error) {
			return compositions(row, p.Slack)
		})
		if err != nil {
			return err
		}
		general := series{name: fmt.Sprintf("ε = %g, general", row.Epsilon), method: cycle[i%len(cycle)]}
		optimal := series{name: fmt.Sprintf("ε = %g, optimal", row.Epsilon), method: general.method, dashed: true}
		for j, c := range totals {
			var printed any
			if len(row.Printed) > 0 {
				printed = fmt.Sprintf("(%s, %s)", row.Printed[j][0], row.Printed[j][1])
				numbers += 2
				if agrees(c.General.Epsilon, row.Printed[j][0]) {
					same++
				}
				if agrees(c.General.Delta, row.Printed[j][1]) {
					same++
				}
			}
			saves = saves && c.Optimal <= c.General.Epsilon
			t.add(row.Table, row.Data, row.Epsilon, row.Delta, row.Queries[j], c.General.Epsilon, c.General.Delta, printed, c.Optimal, 100*(1-c.Optimal/c.General.Epsilon))
			general.add(float64(row.Queries[j]), c.General.Epsilon)
			optimal.add(float64(row.Queries[j]), c.Optimal)
		}
		if i == 0 || p.Rows[i-1].Table != row.Table { // one line per table is enough to see
			chart.series = append(chart.series, general, optimal)
		}
	}
	r.table(t)
	if numbers > 0 {
		r.claim(same == numbers, "every printed digit of the source's tables is met", "%d of %d numbers", same, numbers)
	}
	r.claim(saves, "the optimal composition never costs more", "%d totals compared", len(t.Rows))
	r.note("Composition theorems need fresh randomness in every query. The source's teachers are trained once: for them these totals are no guarantee. See the experiments with images for what holds.")
	return r.figure("totals", "Total ε by the source's composition (full lines) and by the optimal one (dashed).", 1, []panel{chart})
}

func compositions(row AccountingRow, slack float64) ([]composition, error) {
	each := accountant.Cost{Epsilon: row.Epsilon, Delta: row.Delta}
	var out []composition
	for _, q := range row.Queries {
		general, err := accountant.General(q, each, slack)
		if err != nil {
			return nil, err
		}
		o, err := accountant.OptimalHomogeneous(q, each)
		if err != nil {
			return nil, err
		}
		best, err := o.Epsilon(general.Delta)
		if err != nil {
			return nil, err
		}
		out = append(out, composition{general, best})
	}
	return out, nil
}
