package label

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"gonum.org/v1/plot/plotter"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/cmd/darrm/internal/picture"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/figure"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/plan"
	"github.com/darrm/darrm/plan/choose"
)

// sizesFlags are the flags of a plan for several numbers of teachers.
type sizesFlags struct {
	teachers *cli.List[int]
	means    *cli.List[float64]
	plot     string
}

// maxSizes bounds the plans of one table.
const maxSizes = 64

func (f *sizesFlags) register(c *cobra.Command) {
	f.teachers = cli.NewList("", cli.IntList(check.Teachers))
	f.means = cli.NewList("", cli.FloatList(func(mean float64) error {
		return check.Open("prior mean", mean, 0, 1)
	}))
	fl := c.Flags()
	fl.Var(f.teachers, "compare-K",
		"instead of --K: plan for each of these numbers of teachers, and say "+
			"from which on the labels agree as often as --agreement wants; ranges are first:last:step")
	fl.Var(f.means, "compare-prior-mean",
		"for each of --compare-K, instead of --prior-mean: the mean "+
			"probability that one of so many teachers, with so much less data, votes for the likelier class")
	fl.StringVar(&f.plot, "plot", "", "draw the agreement against --compare-K into this file ("+
		figure.Formats+")")
	cli.TakesFile(c, "plot", cli.PictureFiles...)
}

// check checks the flags.
func (f *sizesFlags) check(c *cobra.Command, files []string) error {
	if !f.teachers.Given {
		return cli.Refuse(c, "goes with --compare-K", "compare-prior-mean", "plot")
	}
	switch n := len(f.teachers.Values); {
	case len(files) > 0:
		return cli.Usagef("--compare-K goes without FILEs: votes are of one number of teachers")
	case c.Flags().Changed("K"):
		return cli.Usagef("--K and --compare-K exclude each other")
	case !slices.IsSorted(f.teachers.Values) || len(slices.Compact(slices.Clone(f.teachers.Values))) <
		n:
		return cli.Usagef("--compare-K must be ascending")
	case n > maxSizes:
		return cli.Usagef("--compare-K has %d numbers, but it must have at most %d", n, maxSizes)
	case f.means.Given && c.Flags().Changed("prior-mean"):
		return cli.Usagef("--prior-mean and --compare-prior-mean exclude each other")
	case f.means.Given && len(f.means.Values) != n:
		return cli.Usagef("--compare-prior-mean has %d numbers, but --compare-K has %d: give one for each",
			len(f.means.Values), n)
	}
	return picture.CheckPlot(f.plot)
}

// sizesOf returns the numbers of teachers, each with its reach and its law of votes.
func (f *planFlags) sizesOf(c *cobra.Command, classes int) (out []plan.Size, err error) {
	for i, k := range f.sizes.teachers.Values {
		s := plan.Size{K: k}
		if s.Affected, _, err = f.problem.Reach(c, k); err != nil {
			return nil, err
		}
		if f.sizes.means.Given {
			s.Votes, err = plan.Prior(k, classes, f.sizes.means.Values[i])
		} else {
			s.Votes, err = choose.Prior(k, classes, f.problem.Noise.PriorMean)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// compareSizes plans for several numbers of teachers and prints what to expect of each.
func (f *planFlags) compareSizes(c *cobra.Command, a *cli.App, r plan.Request) error {
	sizes, err := f.sizesOf(c, r.Classes)
	if err != nil {
		return err
	}
	solvers(a, &r, &f.problem)
	r.Solve = nil // each size is solved for its own prior mean
	all, err := planned(c, a, &f.problem, "numbers of teachers", func(ctx context.Context, progress func(done, of int)) ([]plan.Sized, error) {
		r.Progress = progress
		return plan.Sizes(ctx, r, sizes)
	})
	if err != nil {
		return err
	}
	o := &sizesOutcome{r: r, agreement: f.agreement, reaching: plan.Reaching(all, f.agreement),
		all:   all,
		means: f.sizes.means.Given, reach: c.Flags().Changed("affected") || c.Flags().Changed("data")}
	if err := picture.Deliver(a, "plot", f.sizes.plot, o.picture); err != nil {
		return err
	}
	err = a.Show(o.json(), o.render)
	if err != nil {
		return err
	}
	return f.problem.Unsaved
}

// sizesOutcome is the printed form of a plan for several numbers of teachers.
type sizesOutcome struct {
	r         plan.Request
	agreement float64 // that is wanted; 0 for none
	reaching  int
	all       []plan.Sized
	means     bool // each has a mean of its own
	reach     bool // it was stated
}

func (o *sizesOutcome) render(w *terminal.Page) error {
	w.Fact("plan:", fmt.Sprintf("%s of %d classes, within %v", num.Count(o.r.Queries, "label"), o.r.Classes,
		o.r.Budget))
	if !o.reach {
		w.Fact("reach:", "not stated, so one record reaches all teachers, however many: say --data or "+
			"--affected")
	}
	w.Printf("\n")
	header := []string{"K", "prior", "mechanism", "ε of one label", "agreement"}
	var rows [][]string
	for _, s := range o.all {
		row := []string{fmt.Sprint(s.K), "", "nothing fits", "-", "-"}
		if row[1] = "uneven shares"; s.Votes.Concentration() == 0 {
			row[1] = fmt.Sprintf("%v", s.Votes.Mean())
		}
		if s.Best != nil {
			row[2], row[4] = s.Best.Title(), s.Best.Agreement.String()
			if s.Best.Mechanism.Together().Most == 0 {
				row[3] = num.Outward(s.Best.Mechanism.PerAnswer().Epsilon, 4, true)
			}
		}
		rows = append(rows, row)
	}
	if err := w.Table(terminal.TextTable{Header: header, Rows: rows}); err != nil {
		return err
	}
	w.Printf("\n")
	switch {
	case o.agreement == 0:
	case o.reaching > 0:
		w.Fact("teachers:", fmt.Sprintf("%s is reached from K = %d on", num.Percent(o.agreement),
			o.reaching))
	default:
		w.Fact("teachers:", fmt.Sprintf("%s is not reached by the largest of these numbers: more "+
			"teachers, "+
			"a larger budget or fewer labels", num.Percent(o.agreement)))
	}
	note := "more teachers share the same records: each learns from fewer of them, and is right " +
		"less often. " +
		"This table presumes that they are all as good; --compare-prior-mean takes one accuracy " +
		"for each K, " +
		"which public data can tell"
	if o.means {
		note = "more teachers share the same records: each learns from fewer of them. What that " +
			"costs is what " +
			"--compare-prior-mean says and no more"
	}
	w.Fact("note:", note)
	w.Fact("note:", "agreement is with the majority, which is wrong more often itself where "+
		"teachers are")
	return nil
}

func (o *sizesOutcome) json() any {
	type row struct {
		K             int              `json:"k"`
		Affected      int              `json:"affected"`
		PriorMean     float64          `json:"prior_mean,omitempty"`
		Concentration float64          `json:"prior_concentration,omitempty"`
		Mechanism     string           `json:"mechanism,omitempty"`
		Title         string           `json:"title,omitempty"`
		PerLabel      *accountant.Cost `json:"per_label,omitempty"`
		AllLabels     *accountant.Cost `json:"all_labels,omitempty"`
		Agreement     *float64         `json:"agreement"` // null where nothing fits
		StandardError float64          `json:"agreement_standard_error"`
		Refused       string           `json:"refused,omitempty"`
	}
	out := struct {
		Queries  int             `json:"queries"`
		Classes  int             `json:"classes"`
		Budget   accountant.Cost `json:"budget"`
		Wanted   float64         `json:"wanted_agreement"`
		Reaching int             `json:"reached_from_k"` // 0 where it is not
		Sizes    []row           `json:"sizes"`
	}{Queries: o.r.Queries, Classes: o.r.Classes, Budget: o.r.Budget, Wanted: o.agreement,
		Reaching: o.reaching}
	for _, s := range o.all {
		x := row{K: s.K, Affected: s.Affected, PriorMean: s.Votes.Mean(),
			Concentration: s.Votes.Concentration()}
		if s.Best != nil {
			per, a := s.Best.Mechanism.PerAnswer(), s.Best.Agreement
			x.Mechanism, x.Title, x.PerLabel, x.AllLabels = s.Best.Name, s.Best.Title(), &per, &s.Best.Total
			x.Agreement, x.StandardError = &a.Expected, a.StandardError
		} else {
			x.Refused = s.Refused.Error()
		}
		out.Sizes = append(out.Sizes, x)
	}
	return out
}

// picture draws agreement against the number of teachers, and the agreement that is wanted.
func (o *sizesOutcome) picture() (figure.Sheet, error) {
	p := figure.NewChart(fmt.Sprintf("%s of %d classes within (%g, %g)", num.Count(o.r.Queries, "label"),
		o.r.Classes,
		o.r.Budget.Epsilon, o.r.Budget.Delta), "K, teachers", "expected agreement")
	var points plotter.XYs
	lo, hi := float64(o.all[0].K), float64(o.all[0].K)
	for _, s := range o.all {
		lo, hi = min(lo, float64(s.K)), max(hi, float64(s.K))
		if s.Best != nil {
			points = append(points, plotter.XY{X: float64(s.K), Y: s.Best.Agreement.Expected})
		}
	}
	if err := p.Curve(0, "best mechanism of each K", points); err != nil {
		return figure.Sheet{}, err
	}
	if o.agreement > 0 {
		wanted := plotter.XYs{{X: lo, Y: o.agreement}, {X: hi, Y: o.agreement}}
		if err := p.Line("wanted", wanted, figure.Line(figure.Grey, 1, 3)); err != nil {
			return figure.Sheet{}, err
		}
	}
	p.X.Min, p.X.Max = figure.Fit(lo, hi)
	p.Y.Min, p.Y.Max = 0, 1.04
	return p.Sheet(), nil
}
