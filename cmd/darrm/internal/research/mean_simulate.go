package research

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/plot/plotter"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/cmd/darrm/internal/picture"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/figure"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/sketch"
)

// simulateFlags are the flags of mean simulate.
type simulateFlags struct {
	n, k, d      *cli.List[int]
	rho          *cli.List[float64]
	estimators   []string
	vectors      string
	bits, trials int
	root         uint64
	beta         string
	format, out  string
	plot         string
}

// simulated are the estimators that simulate compares by default.
var simulated = []string{string(sketch.RandK), string(sketch.RandKSpatialAvg),
	string(sketch.RandProjAvg), string(sketch.RandProjOpt)}

func newMeanSimulate(a *cli.App) *cobra.Command {
	whole := func(name string) *cli.List[int] {
		return cli.NewList("", cli.IntList(func(v int) error {
			return check.Whole(name, v, 1, sketch.MaxDimension)
		}))
	}
	f := simulateFlags{n: whole("n"), k: whole("k"), d: whole("d"),
		rho: cli.NewList("0,0.5,1", cli.FloatList(func(v float64) error {
			return check.Probability("rho", v)
		}))}
	c := &cobra.Command{
		Use:   "simulate --n list --k list --d list",
		Short: "Measure errors beside what is predicted for them",
		Long: meanNotPrivate + `

Run every combination of the lists with every estimator, --trials rounds each, on vectors
of length 1 that are all equally alike, and print the mean squared error (a sum over
coordinates), its standard error and the predicted error. With --vectors the clients'
vectors are the rows of a NumPy file, and n, d and ρ* are theirs.

ρ* (--rho) is how alike vectors are: 0 for orthogonal ones, 1 for identical ones. A list
has numbers and ranges first:last:step, separated by commas.

Everything is drawn from --root: the same root gives the same output.`,
		Example: `  darrm mean simulate --n 10 --k 102 --d 1024 --rho 0:1:0.25 --plot errors.svg
  darrm mean simulate --vectors gradients.npy --k 10,50,100 --trials 20
  darrm mean simulate --n 50 --k 256 --d 1024 --bits 4 --estimators rand-proj-spatial-avg,eden`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c, a) },
	}
	fl := c.Flags()
	fl.Var(f.n, "n", "numbers of clients")
	fl.Var(f.k, "k", "numbers that a client sends")
	fl.Var(f.d, "d", "lengths of the vectors")
	fl.Var(f.rho, "rho", "how alike the vectors are, ρ*")
	fl.StringVar(&f.vectors, "vectors", "",
		"take the rows of this file (.npy) for the clients' vectors")
	fl.StringSliceVar(&f.estimators, "estimators", simulated, "the estimators, separated by commas")
	// so that the help can break the line
	fl.Lookup("estimators").DefValue = strings.Join(simulated, ", ")
	registerBits(c, &f.bits)
	fl.IntVar(&f.trials, "trials", 100, "rounds of each simulation")
	fl.Uint64Var(&f.root, "root", 0, "what everything is drawn from")
	registerBeta(c, &f.beta)
	f.format = "table"
	cli.Enum(c, &f.format, "format", `"table", "csv" or "json"`, "table", "csv", "json")
	fl.StringVarP(&f.out, "out", "o", "", "write the rows to this file instead of stdout")
	fl.StringVar(&f.plot, "plot", "", "draw the errors into this file ("+figure.Formats+")")
	cli.TakesFile(c, "out")
	cli.TakesFile(c, "plot", cli.PictureFiles...)
	cli.TakesFile(c, "vectors", "npy")
	cli.ExcludeEach(c, "the vectors say it", "vectors", "n", "d", "rho")
	return c
}

func (f *simulateFlags) grid(c *cobra.Command, a *cli.App) (sketch.Grid, error) {
	g := sketch.Grid{N: f.n.Values, K: f.k.Values, D: f.d.Values, Rho: f.rho.Values, Bits: f.bits,
		Trials: f.trials, Root: f.root}
	var err error
	if g.Beta, err = sketch.ParseBetaMode(f.beta); err != nil {
		return g, err
	}
	for _, name := range f.estimators {
		e := sketch.Estimator(name)
		if err := e.Check(); err != nil {
			return g, fmt.Errorf("--estimators: %w", err)
		}
		g.Estimators = append(g.Estimators, e)
	}
	if f.vectors == "" {
		return g, cli.Require(c, "n", "k", "d")
	}
	if err := cli.Require(c, "k"); err != nil {
		return g, err
	}
	m, err := readVectors(c.Context(), a, f.vectors)
	g.Vectors = rowsOf(m)
	return g, err
}

func (f *simulateFlags) run(c *cobra.Command, a *cli.App) error {
	if a.JSON {
		if c.Flags().Changed("format") && f.format != "json" {
			return cli.Usagef("--json and --format %s exclude each other", f.format)
		}
		f.format = "json"
	}
	if err := cmp.Or(picture.CheckPlot(f.plot), (release.FileOutput{Path: f.out}).CheckPlace(),
		(release.FileOutput{Path: f.plot}).CheckPlace()); err != nil {
		return err
	}
	g, err := f.grid(c, a)
	if err != nil {
		return err
	}
	var axis *simulationAxis
	if f.plot != "" {
		if axis, err = axisOf(g); err != nil {
			return err
		}
	}
	p := cli.NewProgress(a)
	defer p.Stop()
	rows, err := g.Simulate(c.Context(), p.Count("simulating", "trials"))
	p.Stop()
	if err != nil {
		return err
	}
	if err := a.Deliver(f.out, func(w io.Writer) error {
		return writeSimulation(a.Page(w), rows, f.format)
	}); err != nil {
		return err
	}
	return picture.Deliver(a, "plot", f.plot, func() (figure.Sheet, error) { return axis.picture(rows) })
}

func writeSimulation(w *terminal.Page, rows []sketch.GridRow, format string) error {
	switch format {
	case "json":
		return cli.EncodeJSON(w, rows)
	case "csv":
		c := csv.NewWriter(w)
		if err := c.Write([]string{"n", "k", "d", "rho", "estimator", "bits_per_client", "mse",
			"standard_error", "predicted"}); err != nil {
			return err
		}
		for _, r := range rows {
			if err := c.Write([]string{strconv.Itoa(r.N), strconv.Itoa(r.K), strconv.Itoa(r.D),
				num.Shortest(r.Rho), string(r.Estimator), num.Shortest(r.Bits), num.Shortest(r.MSE),
				num.Shortest(r.StandardError), num.Shortest(r.Predicted)}); err != nil {
				return err
			}
		}
		c.Flush()
		return c.Error()
	}
	var cells [][]string
	for _, r := range rows {
		cells = append(cells, []string{string(r.Estimator), strconv.Itoa(r.N), strconv.Itoa(r.K),
			strconv.Itoa(r.D), fmt.Sprintf("%.3g", r.Rho),
			fmt.Sprintf("%.4g", r.MSE), fmt.Sprintf("%.1g", r.StandardError),
			fmt.Sprintf("%.4g", r.Predicted), fmt.Sprintf("%.0f", r.Bits)})
	}
	return w.Table(terminal.TextTable{Header: []string{"estimator", "n", "k", "d", "ρ*", "MSE", "±",
		"predicted", "bits"}, Rows: cells})
}

// simulationAxis is the x axis of a picture: the one parameter that was given several values.
type simulationAxis struct {
	name string
	of   func(sketch.GridRow) float64
}

func axisOf(g sketch.Grid) (*simulationAxis, error) {
	var axes []simulationAxis
	if len(g.Vectors) == 0 {
		if len(g.N) > 1 {
			axes = append(axes, simulationAxis{"n, clients",
				func(r sketch.GridRow) float64 { return float64(r.N) }})
		}
		if len(g.D) > 1 {
			axes = append(axes, simulationAxis{"d, length of a vector",
				func(r sketch.GridRow) float64 { return float64(r.D) }})
		}
		if len(g.Rho) > 1 {
			axes = append(axes, simulationAxis{"ρ*, how alike vectors are",
				func(r sketch.GridRow) float64 { return r.Rho }})
		}
	}
	if len(g.K) > 1 {
		axes = append(axes, simulationAxis{"k, numbers per client",
			func(r sketch.GridRow) float64 { return float64(r.K) }})
	}
	if len(axes) != 1 {
		return nil, cli.Usagef("a picture needs exactly one of --n, --k, --d and --rho with several "+
			"values, but %d have", len(axes))
	}
	return &axes[0], nil
}

// picture draws the measured errors as curves, one for each estimator.
func (x *simulationAxis) picture(rows []sketch.GridRow) (figure.Sheet, error) {
	c := figure.NewChart("", x.name, "mean squared error")
	var order []sketch.Estimator
	points := map[sketch.Estimator]plotter.XYs{}
	for _, r := range rows {
		if points[r.Estimator] == nil {
			order = append(order, r.Estimator)
		}
		points[r.Estimator] = append(points[r.Estimator], plotter.XY{X: x.of(r), Y: r.MSE})
	}
	for i, e := range order {
		slices.SortFunc(points[e], func(a, b plotter.XY) int { return cmp.Compare(a.X, b.X) })
		if err := c.Curve(i%len(figure.CurveStyles), e.Title(), points[e]); err != nil {
			return figure.Sheet{}, err
		}
	}
	c.Y.Min = min(c.Y.Min, 0)
	return c.Sheet(), nil
}
