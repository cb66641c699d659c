package research

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cache"
	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/cmd/darrm/internal/problem"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/experiment/choice"
	"github.com/darrm/darrm/experiment/classes"
	"github.com/darrm/darrm/experiment/convex"
	"github.com/darrm/darrm/experiment/federated"
	"github.com/darrm/darrm/experiment/majority"
	"github.com/darrm/darrm/experiment/manyanswers"
	"github.com/darrm/darrm/experiment/pairwise"
	"github.com/darrm/darrm/experiment/pipeline"
	"github.com/darrm/darrm/experiment/shuffled"
	"github.com/darrm/darrm/experiment/sketch"
	"github.com/darrm/darrm/experiment/students"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/lp"
	"github.com/darrm/darrm/release"
)

// experiments returns the catalog of all fields, with the solver of noise functions.
func experiments(s majority.Solver) *experiment.Catalog {
	return experiment.New(majority.Field(s), shuffled.Field(), pipeline.Field(s), sketch.Field(),
		convex.Field(), federated.Field(), pairwise.Field(), classes.Field(), manyanswers.Field(), students.Field(), choice.Field())
}

// NewExperiment makes the commands that repeat the literature's figures.
func NewExperiment(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "experiment",
		Short: "Repeat the figures and tables of the literature, or vary them",
		Long: `Repeat the figures and tables of the literature, or vary them.

An experiment is a small file: what is computed, for which parameters, and what was
printed. "list" names the built-in ones; "show" prints one, to be changed; "run"
computes it. "darrm report" makes a page of what was run. Nothing here is private:
everything is drawn from a seed.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newExperimentList(a), newExperimentShow(a), newExperimentRun(a))
	return c
}

func newExperimentList(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the built-in experiments",
		Long:  `List the built-in experiments, what each repeats of which paper, and the data that it needs.`,
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			type entry struct {
				Name   string `json:"name"`
				Title  string `json:"title"`
				Source string `json:"source"`
				Paper  string `json:"paper"`
				Data   string `json:"data,omitempty"`
				Quick  bool   `json:"quick"`
			}
			var list []entry
			var rows [][]string
			for _, d := range experiments(solve.Optimal).List() {
				list = append(list, entry{d.Name, d.Title, d.Source, d.Paper, d.NeedsData(), d.Quick()})
				data := d.NeedsData()
				if data == "" {
					data = "none"
				}
				rows = append(rows, []string{d.Name, d.Source, data, d.Title})
			}
			return a.Show(list, func(w *terminal.Page) error {
				if err := w.Table(terminal.TextTable{Header: []string{"experiment", "repeats", "data", "what"},
					Rows: rows}); err != nil {
					return err
				}
				w.Printf("\nThe papers:\n")
				var papers []string
				names := map[string][]string{}
				for _, e := range list {
					if names[e.Paper] == nil {
						papers = append(papers, e.Paper)
					}
					names[e.Paper] = append(names[e.Paper], e.Name)
				}
				for _, paper := range papers {
					w.Hang("  ", "    ", paper+": "+strings.Join(names[paper], ", "))
				}
				return nil
			})
		},
	}
}

func newExperimentShow(a *cli.App) *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "show NAME",
		Short: "Print the definition of a built-in experiment",
		Long: `Print the definition of a built-in experiment as JSON, to be changed and run from a
file of your own.`,
		Example: `  darrm experiment show figure-3.2 --out mine.json
  darrm experiment run mine.json`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeExperiments,
		RunE: func(_ *cobra.Command, args []string) error {
			b, err := experiments(solve.Optimal).Source(args[0])
			if err != nil {
				return &release.UsageError{Err: err}
			}
			return a.Deliver(out, cli.Bytes(b))
		},
	}
	c.Flags().StringVarP(&out, "out", "o", "", "write the definition to this file instead of stdout")
	cli.TakesFile(c, "out", cli.TableFiles...)
	return c
}

// experimentFlags are the flags of experiment run.
type experimentFlags struct {
	out, data string
	seed      uint64
	quick     bool
	cache     problem.CacheFlags
}

func newExperimentRun(a *cli.App) *cobra.Command {
	var f experimentFlags
	c := &cobra.Command{
		Use:   "run NAME|FILE...|all",
		Short: "Run experiments into folders of numbers and pictures",
		Long: `Run experiments, each into a folder of its own below --out: the numbers (CSV and
JSON), the pictures (SVG and PNG), and a record of version, seed, parameters and
machine. "all" runs every built-in one; a path (with a separator, or ending in
.json) is a definition of your own, at most a megabyte.

A run that was interrupted goes on where it was. What the same program already did
with the same parameters is not done again. Every experiment tests claims about its
numbers; one that does not hold is an error, after everything was written.

Those that need images look for them below --data: see scripts/fetch-mnist.`,
		Example: `  darrm experiment run figure-3.2 figure-b.5
  darrm experiment run all --quick --data data --out results
  darrm report results --out report.html`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeExperiments,
		RunE:              func(c *cobra.Command, args []string) error { return f.run(c, a, args) },
	}
	fl := c.Flags()
	fl.StringVarP(&f.out, "out", "o", "results", "folder for the experiments' folders")
	cli.TakesFolder(c, "out")
	fl.StringVar(&f.data, "data", "data", "folder below which the images lie")
	cli.TakesFolder(c, "data")
	fl.Uint64Var(&f.seed, "seed", 0, "seed of everything that is drawn")
	fl.BoolVar(&f.quick, "quick", false, "the short form, where an experiment has one")
	f.cache.RegisterCache(c)
	return c
}

func (f *experimentFlags) run(c *cobra.Command, a *cli.App, args []string) error {
	if err := release.CheckFolder("--out", f.out); err != nil {
		return err
	}
	store, err := f.cache.Store()
	if err != nil {
		return err
	}
	catalog := experiments(cachedSolver(store))
	var defs []experiment.Definition
	for _, arg := range args {
		if arg == "all" {
			defs = append(defs, catalog.List()...)
			continue
		}
		d, err := catalog.Load(arg)
		if errors.Is(err, experiment.ErrUnknown) {
			return &release.UsageError{Err: err}
		}
		if err != nil {
			return &release.InputError{Err: err}
		}
		defs = append(defs, d)
	}
	type entry struct {
		Name    string             `json:"name"`
		Dir     string             `json:"dir,omitempty"`
		Reused  bool               `json:"reused"`
		Seconds float64            `json:"seconds"`
		Claims  []experiment.Claim `json:"claims"`
		Error   string             `json:"error,omitempty"`
	}
	var list []entry
	var rows [][]string
	var missing, failed []string
	for i, d := range defs {
		bar := cli.NewProgress(a)
		o, err := d.Run(c.Context(), f.out, experiment.Options{
			Seed: f.seed, Quick: f.quick, Data: f.data, Version: cli.Version, Solver: lp.Backend(),
			Progress: func(at experiment.Progress) {
				bar.Show("running "+at.Experiment, int64(at.Of), int64(at.Done),
					fmt.Sprintf("%s (%d of %d): %s", at.Experiment, i+1, len(defs), at.Step))
			},
		})
		bar.Stop()
		if errors.Is(err, experiment.ErrNoData) {
			missing = append(missing, err.Error())
			list = append(list, entry{Name: d.Name, Error: err.Error(), Claims: []experiment.Claim{}})
			rows = append(rows, []string{d.Name, "-", "-", "not run: no data"})
			continue
		}
		if err != nil {
			var unwritten *experiment.OutputError
			if errors.As(err, &unwritten) {
				return &release.OutputError{Err: fmt.Errorf("--out: %w", err)}
			}
			return err
		}
		e := entry{Name: d.Name, Dir: o.Dir, Reused: o.Reused, Seconds: o.Record.Seconds,
			Claims: o.Result.Claims}
		held := fmt.Sprintf("%d of %d", len(o.Result.Claims)-len(o.Result.Failed()), len(o.Result.Claims))
		for _, claim := range o.Result.Failed() {
			failed = append(failed, fmt.Sprintf("%s: %s (%s)", d.Name, claim.Text, claim.Evidence))
		}
		took := fmt.Sprintf("%.1f s", o.Record.Seconds)
		if o.Reused {
			took = "done before"
		}
		list, rows = append(list, e), append(rows, []string{d.Name, took, held, o.Dir})
	}
	err = a.Show(list, func(w *terminal.Page) error {
		return w.Table(terminal.TextTable{Header: []string{"experiment", "time", "claims that hold",
			"folder"}, Rows: rows})
	})
	if err != nil {
		return err
	}
	switch {
	case len(failed) > 0:
		return fmt.Errorf("claims that do not hold: %s", strings.Join(failed, "; "))
	case len(missing) > 0:
		return &release.InputError{Err: fmt.Errorf("not run: %s", strings.Join(missing, "; "))}
	}
	return nil
}

// cachedSolver solves through the cache.
func cachedSolver(store *cache.Store) majority.Solver {
	return func(ctx context.Context, p constraints.Problem, o solve.Options) (*gamma.Table, error) {
		r, err := solve.Cached(ctx, store, p, o)
		if r.Table != nil {
			return r.Table, nil // a cache that did not take it is no reason to fail
		}
		return nil, err
	}
}

// NewReport makes the command that writes a page of experiments' results.
func NewReport(a *cli.App) *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "report FOLDER...",
		Short: "Write an HTML page of experiments' results",
		Long: `Write an HTML page of experiments' results: figures, tables, parameters, the claims that
were tested, and what a reader needs to read them. The page is one file and loads nothing
from a network. FOLDER is that of an experiment, or holds several. Every file is compared
with its record first, and must be a regular file of at most 256 MiB.`,
		Example: "  darrm report results --out report.html",
		Args:    cobra.MinimumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(c *cobra.Command, args []string) error {
			if err := (release.FileOutput{Path: out}).CheckPlace(); err != nil {
				return err
			}
			var page strings.Builder
			if err := experiments(solve.Optimal).WriteReport(c.Context(), &page, args...); err != nil {
				return release.Unreadable(c.Context(), err)
			}
			if err := a.Deliver(out, func(w io.Writer) error {
				_, err := io.WriteString(w, page.String())
				return err
			}); err != nil {
				return err
			}
			if a.JSON && out != "" && out != "-" {
				return a.DeliverJSON("", struct {
					Report string `json:"report"`
					Bytes  int    `json:"bytes"`
				}{out, page.Len()})
			}
			return nil
		},
	}
	c.Flags().StringVarP(&out, "out", "o", "", "write the page to this file instead of stdout")
	cli.TakesFile(c, "out", "html")
	return c
}

// completeExperiments completes the names of built-in experiments, or a file.
func completeExperiments(*cobra.Command, []string,
	string) (names []string, _ cobra.ShellCompDirective) {
	for _, d := range experiments(solve.Optimal).List() {
		names = append(names, d.Name)
	}
	return names, cobra.ShellCompDirectiveDefault
}
