package label

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/plan"
	"github.com/darrm/darrm/release"
)

// registerPurpose registers --for.
func registerPurpose(c *cobra.Command, p *plan.Purpose) {
	*p = plan.ForStudent
	cli.Enum(c, p, "for", "what the labels are for: a \"student\" that is "+
		"trained on them ranks by their worth, \"labels\" that are used one by one by agreement", plan.Purposes()...)
}

// compareNumbers plans for each number of labels where --queries does not state one, and sets the number
// that the plan is for. It returns nil where one was stated.
func (f *planFlags) compareNumbers(c *cobra.Command, a *cli.App, r *plan.Request) ([]plan.Numbered, error) {
	if r.Queries != 0 || c.Flags().Changed("queries") { // 0 is refused
		return nil, nil
	}
	queries := f.numbers.Values
	if !f.numbers.Given {
		queries = plan.UsualNumbers(f.sampled)
	}
	if !slices.IsSorted(queries) || len(slices.Compact(slices.Clone(queries))) < len(queries) {
		return nil, cli.Usagef("--compare-queries must be ascending")
	}
	if n := len(queries); n > maxSizes {
		return nil, cli.Usagef("--compare-queries has %d numbers, but it must have at most %d", n, maxSizes)
	}
	if len(queries) == 1 {
		r.Queries = queries[0]
		return nil, nil
	}
	all, err := planned(c, a, &f.problem, "numbers of labels", func(ctx context.Context, progress func(done, of int)) ([]plan.Numbered, error) {
		each := *r
		each.Progress = progress
		return plan.Numbers(ctx, each, queries)
	})
	if err != nil {
		return nil, err
	}
	most := plan.Most(all)
	if most == nil {
		return nil, &release.UsageError{Err: fmt.Errorf("the budget and the number of labels do not go together: %w",
			all[0].Refused)}
	}
	r.Queries = most.Queries
	return all, nil
}

// renderNumbers writes what numbers of labels are worth, and which is taken; nothing where one was stated.
func renderNumbers(w *terminal.Page, all []plan.Numbered, taken int) error {
	if len(all) == 0 {
		return nil
	}
	w.Printf("\nWhat so many labels are worth to a student, in labels without noise:\n\n")
	var rows [][]string
	for _, n := range all {
		row := []string{fmt.Sprint(n.Queries), "nothing fits", "-", "-", ""}
		if n.Plan != nil {
			best := n.Plan.Choices[0]
			row[1], row[2], row[3] = best.Name, best.Agreement.String(), best.Worth.String()
		}
		if n.Queries == taken {
			row[4] = "← planned"
		}
		rows = append(rows, row)
	}
	if err := w.Table(terminal.TextTable{Header: []string{"labels", "mechanism", "agree", "worth", ""},
		Rows: rows}); err != nil {
		return err
	}
	w.Printf("\n")
	w.Fact("labels:", fmt.Sprintf("%d, the largest of these numbers within 5 %% of the best worth", taken))
	return nil
}
