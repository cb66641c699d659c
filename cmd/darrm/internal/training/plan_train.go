package training

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/learn/choose"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/prepare"
	"github.com/darrm/darrm/release"
)

// planTrainFlags are the flags of plan train.
type planTrainFlags struct {
	recordFlags
	task     string
	eps      *cli.List[float64]
	epsilons []float64 // of eps
	Delta    float64   `flag:"delta" help:"δ of one model"`
	Numbers  []int     `flag:"n" help:"numbers of private records to try"`
	Reach    float64   `flag:"reach" help:"score that is wanted"`
	Best     float64   `flag:"best" help:"without FILE: score of the best model of the made-up records"`
	Classes  int       `flag:"num-classes" help:"without FILE: number of classes of the made-up records, where they are more than two"`
	Repeats  int       `flag:"repeats" help:"trainings for each figure"`
	Seed     uint64    `flag:"seed" help:"seed of all draws: the same command has the same figures"`
	Radius   float64   `flag:"radius" help:"FILE: public bound on the norm of a record's features, as for darrm train FILE"`
}

// NewPlanTrain makes the command that guesses how much data a model needs.
func NewPlanTrain(a *cli.App) *cobra.Command {
	f := planTrainFlags{Numbers: []int{300, 1000, 3000, 10000, 30000}, Best: 0.85, Repeats: 5, Seed: 1}
	c := &cobra.Command{
		Use:   "train [FILE] --task TASK --eps ε,ε… --delta δ",
		Short: "Guess how much data a model needs for an ε, by other data",
		Long: `Guess how good the model of darrm train FILE is, for several numbers of records and several
ε: by public records of the same kind (FILE, by the same rules), or by made-up ones (--dim,
and --best, the score that no model of them exceeds). Each figure is the median of --repeats
trainings, with noise as a release has it, tested on other records.

It is a guess: private records may be harder or easier than those. It reads no private
record and no ledger. FILE must be public: the figures have no noise that covers it.

With --reach it says from how many records on the score is reached, by a line between the
numbers that were tried. Scores: accuracy of logistic and hinge, AUC of auc, R² of linear.
Several classes are --num-classes of made-up records, or the words of the response in FILE.`,
		Example: `  darrm plan train --task logistic --dim 20 --best 0.85 --eps 0.5,1,2 --delta 1e-6 --reach 0.8
  darrm plan train public.csv --response y --scale age=0:120 --categories sex=Male,Female \
    --task logistic --eps 1 --delta 1e-6 --n 1000,3000,10000`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: cli.CompleteFiles(cli.RecordFiles...),
		RunE:              func(c *cobra.Command, args []string) error { return f.run(c, a, args) },
	}
	cli.Enum(c, &f.task, "task", strings.Join(choose.Tasks(), ", "), choose.Tasks()...)
	f.eps = cli.NewList("", cli.EpsilonList(func(x float64) error { return check.Positive("eps", x) }))
	c.Flags().Var(f.eps, "eps", "ε of one model, or several")
	cli.Register(c, &f)
	f.recordFlags.register(c)
	f.prepareFlags.register(c)
	c.Flags().Lookup("dim").Usage = "without FILE: number of features of the made-up records"
	cli.First(c, FlagGroups, "task", "eps", "delta", "n", "reach", "dim", "best", "response")
	return c
}

// planTrainReport is the result of plan train, in JSON.
type planTrainReport struct {
	Guess    bool              `json:"guess"` // always true
	By       string            `json:"by"`
	Task     string            `json:"task"`
	Score    string            `json:"score"`
	Delta    float64           `json:"delta"`
	Runs     int               `json:"runs"`
	Expected []choose.Expected `json:"expected"`
	Reach    []reached         `json:"reach,omitempty"`
}

// reached is from how many records on a score is expected.
type reached struct {
	Epsilon float64 `json:"epsilon"`
	Score   float64 `json:"score"`
	Records *int    `json:"n"` // null where none of the numbers reaches it
}

func (f *planTrainFlags) run(c *cobra.Command, a *cli.App, args []string) error {
	if err := f.check(c, args); err != nil {
		return err
	}
	slices.Sort(f.Numbers)
	f.Numbers = slices.Compact(f.Numbers)
	forecast := choose.Forecast{Runs: f.Repeats, Seed: f.Seed}
	report := planTrainReport{Guess: true, Task: f.task, Score: choose.ScoreOf(f.task), Delta: f.Delta,
		Runs: f.Repeats}
	var err error
	if len(args) > 0 {
		forecast, err = f.public(c, a, args[0], forecast)
		report.By = args[0]
	} else {
		forecast, err = f.madeUp(forecast)
		report.By = "made-up records"
	}
	if err != nil {
		return err
	}
	bar := cli.NewProgress(a)
	defer bar.Stop()
	count := bar.Count("forecast", "figures")
	for _, n := range f.Numbers {
		for _, epsilon := range f.epsilons {
			e, err := forecast.At(c.Context(), n, accountant.Cost{Epsilon: epsilon, Delta: f.Delta})
			if err != nil {
				return fmt.Errorf("n = %d: %w", n, err)
			}
			report.Expected = append(report.Expected, e)
			count(len(report.Expected), len(f.Numbers)*len(f.epsilons))
		}
	}
	bar.Stop()
	if c.Flags().Changed("reach") {
		for i, epsilon := range f.epsilons {
			report.Reach = append(report.Reach, reached{epsilon, f.Reach, f.from(report.Expected, i)})
		}
	}
	return a.Show(report, func(w *terminal.Page) error { return f.print(w, report) })
}

// check refuses what can be refused before a file is read.
func (f *planTrainFlags) check(c *cobra.Command, args []string) error {
	if err := cli.Require(c, "task", "eps", "delta"); err != nil {
		return err
	}
	if len(args) == 0 {
		if f.stated() || f.Response != "" || f.Radius != 0 || f.NoHeader {
			return cli.Usagef("the rules of columns, --response and --radius go with a FILE of public records")
		}
		if err := cli.Require(c, "dim"); err != nil {
			return err
		}
	} else if c.Flags().Changed("best") || c.Flags().Changed("dim") || c.Flags().Changed("num-classes") {
		return cli.Usagef("--dim, --best and --num-classes go with made-up records: leave %q out, or them", args[0])
	}
	if f.epsilons = f.eps.Values; len(f.Numbers) == 0 {
		return cli.Usagef("--n must have one number or more")
	}
	if slices.ContainsFunc(f.epsilons, func(x float64) bool { return math.IsInf(x, 1) }) {
		return cli.Usagef("--eps = inf, but it must be finite")
	}
	if c.Flags().Changed("reach") && !(f.Reach > 0 && f.Reach < 1) {
		return cli.Usagef("--reach = %v, but it must be above 0 and below 1", f.Reach)
	}
	return nil
}

// madeUp sets the records to made-up ones.
func (f *planTrainFlags) madeUp(to choose.Forecast) (choose.Forecast, error) {
	learn, test, err := choose.MadeUp(f.task, f.Classes, f.Dim, f.Best, f.Seed)
	if err != nil {
		return to, err
	}
	d := float64(f.Dim)
	to.Learn, to.Test = learn, test
	to.Problem = choose.Problem{Task: f.task, Classes: f.Classes, Neighbours: accountant.ReplaceOne,
		Radius: func(q float64) float64 {
			radius := 1.0
			if !math.IsInf(q, 1) {
				radius = math.Pow(d, 1/q)
			}
			if q == 2 { // as train FILE and the records have it
				radius = choose.Radius(radius)
			}
			return geometry.WithIntercept(radius, q)
		}}
	return to, nil
}

// held is the share of public records that a forecast is tested on.
const held = 0.25

// public sets the records to those of a public file.
func (f *planTrainFlags) public(c *cobra.Command, a *cli.App, path string,
	to choose.Forecast) (choose.Forecast, error) {
	if !f.isTable(path) {
		return to, cli.Usagef("%s is read as %s, but plan train takes tables: %s", path, f.formatOf(path),
			strings.Join(tableFormats, ", "))
	}
	if f.Response == "" && f.File == "" {
		return to, cli.Usagef("--response must be given: %s needs a column of responses", path)
	}
	m, err := f.openEarly(c, a, path, reading{})
	if err != nil {
		return to, err
	}
	classes := 0
	if r := m.Response; r != nil && len(r.Categories) > 2 {
		if classes = len(r.Categories); f.task != "logistic" {
			return to, cli.Usagef("--categories = %q: several classes are for --task logistic", r.Categories)
		}
	}
	if f.Radius == 0 {
		if f.Radius = choose.Radius(m.Radius(2)); math.IsInf(m.Radius(2), 1) {
			return to, needsBound(m)
		}
	}
	if f.task == "linear" && (m.Response == nil || m.Response.Scale == nil) {
		return to, needsRange(m)
	}
	records, err := f.read(c, a, path, "", reading{responses: true})
	if err != nil {
		return to, err
	}
	records = records.Shortened(f.Radius)
	learn, test, err := prepare.HoldOut{Share: held}.Split(records)
	if err != nil {
		return to, err
	}
	to.Problem = choose.Problem{Task: f.task, Classes: classes, Neighbours: accountant.ReplaceOne,
		Radius: func(q float64) float64 {
			radius := f.Radius // also where q is larger than 2
			if q > 2 {
				radius = min(radius, m.Radius(q))
			}
			return geometry.WithIntercept(radius, q)
		}}
	l, err := to.Problem.Loss()
	if err != nil {
		return to, err
	}
	for _, r := range []*data.Records{learn, test} {
		if err := r.Check(l.Check); err != nil {
			return to, release.Unreadable(c.Context(), fmt.Errorf("%s: %w", path, err))
		}
	}
	to.Learn, to.Test = learn.WithIntercept(), test.WithIntercept()
	return to, nil
}

// from returns from how many records on the score is reached at the i-th ε, by a line in the
// logarithm of n between the numbers tried, nil where none reaches it. The least n that is tried
// and reaches it is the answer where it is the first.
func (f *planTrainFlags) from(all []choose.Expected, i int) *int {
	var before choose.Expected
	for k := i; k < len(all); k += len(f.epsilons) {
		at := all[k]
		if at.Median >= f.Reach {
			n := at.Records
			if before.Records > 0 {
				share := (f.Reach - before.Median) / (at.Median - before.Median)
				n = rounded(float64(before.Records) *
					math.Pow(float64(at.Records)/float64(before.Records), share))
			}
			return &n
		}
		before = at
	}
	return nil
}

// rounded returns a number with two digits, rounded up.
func rounded(x float64) int {
	unit := math.Pow(10, max(math.Floor(math.Log10(x))-1, 0))
	return int(math.Ceil(x/unit) * unit)
}

func (f *planTrainFlags) print(w *terminal.Page, r planTrainReport) error {
	w.Text("  ", fmt.Sprintf("A GUESS, by %s: private records may be harder or easier to learn from",
		r.By))
	w.Text("  ", fmt.Sprintf("%s, median of %d trainings on n records each, at δ = %v", r.Score,
		r.Runs, r.Delta))
	w.Printf("\n")
	t := terminal.TextTable{Header: []string{"n"}}
	for _, epsilon := range f.epsilons {
		t.Header = append(t.Header, "ε = "+num.Shortest(epsilon))
	}
	worthless := false
	for i := 0; i < len(r.Expected); i += len(f.epsilons) {
		row := []string{strconv.Itoa(r.Expected[i].Records)}
		for _, e := range r.Expected[i : i+len(f.epsilons)] {
			mark := ""
			if e.Worthless {
				mark, worthless = " *", true
			}
			row = append(row, fmt.Sprintf("%.3f%s", e.Median, mark))
		}
		t.Rows = append(t.Rows, row)
	}
	if err := w.Table(t); err != nil {
		return err
	}
	if worthless {
		w.Text("  ", fmt.Sprintf("* hardly better than a constant, which has %.3f", r.Expected[0].Constant))
	}
	for _, reach := range r.Reach {
		if reach.Records == nil {
			w.Text("  ", fmt.Sprintf("ε = %v: %v is not reached with %d records", reach.Epsilon,
				reach.Score, f.Numbers[len(f.Numbers)-1]))
			continue
		}
		w.Text("  ", fmt.Sprintf("ε = %v: about %d records for %v", reach.Epsilon, *reach.Records,
			reach.Score))
	}
	return nil
}
