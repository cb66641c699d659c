package training

import (
	"fmt"
	"math"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/learn/train"
	"github.com/darrm/darrm/release"
)

func newAccountFamily(a *cli.App, k family) *cobra.Command {
	if k.account != nil {
		return k.account(a, k)
	}
	f := k.methods()
	var choose selectFlags
	var numbers []int
	var d int
	c := k.accounts.command(k.name)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := choose.prepare(c, k.methods().grid()); err != nil {
			return err
		}
		if err := cli.Require(c, "n", "dim", "task"); err != nil {
			return err
		}
		if err := f.Check(c); err != nil {
			return err
		}
		if f.common().intercept {
			d++
		}
		plan := func(n int) func() (train.Plan, error) {
			return func() (train.Plan, error) {
				return choose.plan(n, d, &f.common().privacyFlags, f.about().task, f.about().link,
					func() (train.Plan, error) { return f.checkedPlan(c, n, d, false) })
			}
		}
		if len(numbers) == 1 {
			return deliverPlan(c, a, numbers[0], plan(numbers[0]))
		}
		return deliverPrices(c, a, numbers, plan)
	}
	c.Flags().IntSliceVar(&numbers, "n", nil, "number of private records, or several to price each")
	c.Flags().IntVar(&d, "dim", 0, "number of features")
	f.register(c)
	choose.register(c)
	return c
}

// deliverPlan prices a plan and prints it with the method's own fields.
// n is the public number of records.
func deliverPlan(c *cobra.Command, a *cli.App, n int,
	make func() (train.Plan, error)) error {
	plan, rows, err := compared(c, a, make)
	if err != nil {
		return err
	}
	sayWeakness(a, plan.Price.Cost, n)
	return deliverPrice(a, plan, rows)
}

// compared prices a plan, and the accounts beside its own.
func compared(c *cobra.Command, a *cli.App, make func() (train.Plan, error)) (plan train.Plan, rows []train.PriceRow,
	err error) {
	if plan, err = pricing(c, a, make); err == nil {
		rows, err = pricing(c, a, plan.Compare)
	}
	return plan, rows, err
}

// deliverPrices prices a plan for each number of records, and prints what is in use of each.
func deliverPrices(c *cobra.Command, a *cli.App, numbers []int,
	plan func(n int) func() (train.Plan, error)) error {
	header := []string{"method", "ε", "δ", "noise in", "Δ", "σ"}
	return deliverEach(a, numbers, header, func(n int) (pricedMethod, accountant.Cost, []string, error) {
		p, rows, err := compared(c, a, plan(n))
		if err != nil {
			return pricedMethod{}, accountant.Cost{}, nil, err
		}
		price := p.Price
		b, _ := worst(price.Blocks)
		return newPricedMethod(p, rows), price.Cost, []string{price.Method,
			num.Outward(price.Cost.Epsilon, 5, true), num.Outward(price.Cost.Delta, 5, true),
			b.Name, num.Outward(b.Sensitivity, 5, true), num.Outward(b.Deviation, 5, true)}, nil
	})
}

// deliverEach prices each number of records by price, and prints a row of each behind its number.
func deliverEach[T any](a *cli.App, numbers []int, header []string,
	price func(n int) (priced T, cost accountant.Cost, row []string, err error)) error {
	for _, n := range numbers { // before the first is priced
		if err := check.Whole("number of records", n, 1, 0); err != nil {
			return fmt.Errorf("n = %d: %w", n, err)
		}
	}
	var all []T
	t := terminal.TextTable{Header: append([]string{"n"}, header...)}
	for _, n := range numbers {
		priced, cost, row, err := price(n)
		if err != nil {
			return fmt.Errorf("n = %d: %w", n, err)
		}
		for _, remark := range release.Weakness(cost, n) {
			a.Say("n = %d: %s", n, remark)
		}
		all, t.Rows = append(all, priced), append(t.Rows, append([]string{strconv.Itoa(n)}, row...))
	}
	return a.Show(all, func(w *terminal.Page) error { return w.Table(t) })
}

// pricedMethod is a price and the accounts that it was chosen from, in JSON.
type pricedMethod struct {
	Method string          `json:"method"`
	Cost   accountant.Cost `json:"cost"`
	*priceReport
	Theory *train.Bound     `json:"theory,omitempty"`
	Rows   []train.PriceRow `json:"accounts"`
}

// proved tells what is proved of a plan's models, rounded to the safe side; nil where nothing is.
func proved(b *train.Bound) (lines []string) {
	if b == nil {
		return nil
	}
	line := fmt.Sprintf("expected %s: at most %s by the proof of %s, for independent records", b.Of,
		num.Outward(b.Value, 4, true), b.Theorem)
	if !b.Says() {
		line += fmt.Sprintf("; that says nothing, since no model of the set is above %s: it takes more "+
			"records", num.Outward(b.Nothing, 4, true))
	}
	lines = append(lines, line)
	if b.Printed > 0 {
		lines = append(lines, fmt.Sprintf("with the source's own constants and noise: at most %s",
			num.Outward(b.Printed, 4, true)))
	}
	return lines
}

func newPricedMethod(plan train.Plan, rows []train.PriceRow) pricedMethod {
	p := plan.Price
	return pricedMethod{Method: p.Method, Cost: p.Cost, priceReport: newPriceReport(p),
		Theory: plan.Bound(), Rows: rows}
}

func deliverPrice(a *cli.App, plan train.Plan, rows []train.PriceRow) error {
	p := plan.Price
	return a.Show(newPricedMethod(plan, rows), func(w *terminal.Page) error {
		w.Text("  ", p.Method+": one model costs "+p.Cost.Short()+"-DP where neighbours "+
			p.Relation.String()+", by "+string(p.Bound))
		for _, note := range p.Notes {
			w.Text("  ", note)
		}
		for _, line := range proved(plan.Bound()) {
			w.Text("  ", line)
		}
		w.Text("  ", p.Tuning())
		w.Printf("\n")
		t := terminal.TextTable{Header: []string{"noise", "account", "ε", "Δ", "σ", ""}}
		for _, r := range rows {
			status := "proved"
			switch {
			case !r.Holds:
				status = "not proved"
			case math.IsInf(r.Epsilon, 1):
				status = "none"
			case r.InUse:
				status = "in use"
			}
			t.Rows = append(t.Rows, []string{string(r.Noise), r.Reading, num.Outward(r.Epsilon, 5, true),
				num.Outward(r.Sensitivity, 5, true), num.Outward(r.Deviation, 5, true), status})
		}
		return w.Table(t)
	})
}
