package label

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/release"
)

// registerBudget registers the budget of all labels together.
func registerBudget(c *cobra.Command, b *release.LabelBudget) {
	fl := c.Flags()
	for _, f := range []struct {
		name, what string
		value      *float64
		rest       *bool
	}{
		{"budget-eps", "ε", &b.Epsilon, &b.RestEpsilon},
		{"budget-delta", "δ", &b.Delta, &b.RestDelta},
	} {
		fl.Var(&budgetValue{f.value, f.rest}, f.name, f.what+
			" that all labels together may cost, or \"rest\": what --ledger has left")
		cli.Offer(c, f.name, cobra.FixedCompletions([]string{rest}, cobra.ShellCompDirectiveNoFileComp))
	}
}

// budgetValue is a number, or what a ledger has left.
type budgetValue struct {
	value *float64
	rest  *bool
}

// rest stands for what a ledger has left.
const rest = "rest"

func (v *budgetValue) Set(text string) (err error) {
	if *v.rest = text == rest; *v.rest {
		return nil
	}
	*v.value, err = strconv.ParseFloat(text, 64)
	return err
}

func (v *budgetValue) String() string {
	switch {
	case v.value == nil || *v.value == 0 && !*v.rest: // not stated
		return ""
	case *v.rest:
		return rest
	}
	return number(*v.value)
}

func (v *budgetValue) Type() string { return cli.NumberOrRest }
