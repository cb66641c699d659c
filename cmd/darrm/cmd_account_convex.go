package main

import (
	"github.com/spf13/cobra"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/learn/convex"
)

func newAccountConvex(a *app) *cobra.Command {
	var f convexFlags
	var n, d int
	c := &cobra.Command{
		Use:   "convex --method NAME --n records --dim features --task LOSS --radius R --eps ε --delta δ",
		Short: "Price a training by the methods of train convex, before there are data",
		Long: `Price a training by one of the methods of darrm train convex, before there are data: what
the source's printed noise costs, as its text accounts for it and by the corrected
account, beside the noise that is calibrated to --eps. "In use" is the row that train
takes with the same flags. The ε of a row that is not proved is no promise.`,
		Example: `  darrm account train convex --n 4096 --dim 20 --task absolute --set l2:1 --radius 1 --eps 0.5 --delta 1e-5
  darrm account train convex --method poly-sfw --n 1000000 --dim 50 --task logistic --set l1:1 --radius 1 \
    --eps 1 --delta 1e-6`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := require(c, "n", "dim", "task", "radius", "eps", "delta"); err != nil {
				return err
			}
			if f.intercept {
				d++
			}
			plan, err := f.plan(c, n, d)
			if err != nil {
				return err
			}
			rows, err := plan.Compare()
			if err != nil {
				return err
			}
			return f.deliver(a, plan.Price(), rows)
		},
	}
	c.Flags().IntVar(&n, "n", 0, "number of private records")
	c.Flags().IntVar(&d, "dim", 0, "number of features")
	f.register(c)
	return c
}

// comparedPrice is one account of one amount of noise in JSON.
type comparedPrice struct {
	Noise       convex.Noise `json:"noise"`
	Reading     string       `json:"account"`
	Sensitivity float64      `json:"sensitivity"`
	Deviation   float64      `json:"deviation"`
	Epsilon     *float64     `json:"epsilon"`
	InUse       bool         `json:"in_use"`
	Proved      bool         `json:"proved"`
}

func (f *convexFlags) deliver(a *app, p convex.Price, rows []convex.PriceRow) error {
	if a.json {
		out := struct {
			Method string          `json:"method"`
			Cost   accountant.Cost `json:"cost"`
			*priceReport
			Rows []comparedPrice `json:"accounts"`
		}{Method: p.Method, Cost: p.Cost, priceReport: newPriceReport(p)}
		for _, r := range rows {
			out.Rows = append(out.Rows, comparedPrice{r.Noise, r.Reading, r.Sensitivity, r.Deviation, finite(r.Epsilon), r.InUse, r.Holds})
		}
		return a.deliverJSON("", out)
	}
	return a.print(func(w *terminal.Page) error {
		w.Text("  ", f.method+": one model costs "+p.Cost.String()+"-DP where neighbours "+p.Relation.String()+", by "+string(p.Bound))
		for _, note := range p.Notes {
			w.Text("  ", note)
		}
		w.Printf("\n")
		t := terminal.Table{Header: []string{"noise", "account", "ε", "σ", ""}}
		for _, r := range rows {
			status := "proved"
			switch {
			case !r.Holds:
				status = "not proved"
			case r.InUse:
				status = "in use"
			}
			t.Rows = append(t.Rows, []string{string(r.Noise), r.Reading, num.Outward(r.Epsilon, 5, true), num.Outward(r.Deviation, 5, true), status})
		}
		return w.Table(t)
	})
}
