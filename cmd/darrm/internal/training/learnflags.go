package training

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/experiment/datasets"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/release"
)

// The methods of train share these groups of flags: data, loss, privacy and the model's file.

// DataFlags locate the records to train on.
type DataFlags struct {
	DataDir         string `flag:"data-dir" help:"folder with the real files of $data-set (default: generated stand-ins)"`
	DataSeed        uint64 `flag:"data-seed" help:"seed of the stand-ins, and of what is drawn from real files"`
	Public          string `flag:"public" help:"file of public records of the same columns; a record that equals a private one, with columns in order or permuted, is refused"`
	SharedRecords   bool   `flag:"allow-shared-records" help:"states that public records which equal private ones do so by chance; stderr says how many do. It is for your eyes only"`
	PublicLabels    string `flag:"public-labels" help:"IDX file of the labels of $public"`
	dataSet         string
	private, labels string
	recordFlags
}

const sharedFlag = "allow-shared-records"

// Register adds the flags to a command.
func (f *DataFlags) Register(c *cobra.Command) {
	cli.Register(c, f)
	cli.Enum(c, &f.dataSet, "data-set", "one of the known data sets: "+strings.Join(datasets.Names(), ", "),
		datasets.Names()...)
	cli.TakesFolder(c, "data-dir")
	cli.TakesFile(c, "public", cli.RecordFiles...)
	cli.TakesFile(c, "public-labels", cli.IdxFiles...)
	f.registerPrivate(c, ", instead of --data-set")
}

// SayShared prints the number of shared records that --allow-shared-records accepted.
func (f *DataFlags) SayShared(a *cli.App, set datasets.Set) {
	if !f.SharedRecords || set.Public == nil {
		return
	}
	err := data.CheckShared(set.Private, set.Public)
	if e := (*data.SharedError)(nil); errors.As(err, &e) {
		a.Say("darrm: %v: %s, by chance as --%s states; for your eyes only", e, e.Count(), sharedFlag)
	}
}

// registerPrivate adds the flags of private records only; more is appended to the help of their
// file.
func (f *DataFlags) registerPrivate(c *cobra.Command, more string) {
	registerPrivate(c, &f.private, &f.labels, "file of private records"+more)
	f.recordFlags.register(c)
	f.prepareFlags.register(c)
}

func registerPrivate(c *cobra.Command, private, labels *string, usage string) {
	fl := c.Flags()
	fl.StringVar(private, "private", "", usage)
	cli.TakesFile(c, "private", cli.RecordFiles...)
	fl.StringVar(labels, "labels", "", "IDX file of the labels of --private, which are its responses")
	cli.TakesFile(c, "labels", cli.IdxFiles...)
}

// files are the files of records.
func (f *DataFlags) files() []release.File {
	return []release.File{
		{Name: "--private", Path: f.private}, {Name: "--public", Path: f.Public},
		{Name: "--labels", Path: f.labels}, {Name: "--public-labels", Path: f.PublicLabels},
		{Name: "--prepare", Path: f.File},
	}
}

// lossNames are the values of --task.
var lossNames = map[string]loss.Loss{"mean": loss.MeanEstimation{}, "ridge": loss.LeastSquares{},
	"logistic": loss.Logistic{}}

// privacyFlags hold the model's budget.
type privacyFlags struct {
	Epsilon float64 `flag:"eps" help:"ε that the model may cost"`
	Delta   float64 `flag:"delta" help:"δ that the model may cost"`
}

func (f *privacyFlags) target() accountant.Cost {
	return accountant.Cost{Epsilon: f.Epsilon, Delta: f.Delta}
}

// modelFlags hold the model's file, the ledger that pays, and the file of the secret state.
type modelFlags struct {
	out          string
	request      release.Model
	DryRun       bool   `flag:"dry-run" help:"say what the model would cost, and train and charge nothing"`
	InsecureSeed uint64 `flag:"insecure-seed" help:"simulate with this seed, for experiments; the model is marked, it is not private"`
}

func (f *modelFlags) register(c *cobra.Command) {
	cli.Register(c, f)
	cli.Register(c, &f.request)
	cli.RegisterAcceptWeak(c, &f.request.AcceptWeak)
	c.Flags().StringVarP(&f.out, "out", "o", "", "write the model to this file instead of stdout")
	cli.TakesFile(c, "out", cli.TableFiles...)
	cli.TakesFile(c, "checkpoint")
	cli.TakesFile(c, "ledger", cli.LedgerFiles...)
}

// Open reads the records, and sets the loss that is named or the data set's own.
func (f *DataFlags) Open(c *cobra.Command, a *cli.App, task string) (datasets.Set, error) {
	if err := cli.Require(c, "data-set|private"); err != nil {
		return datasets.Set{}, err
	}
	if f.dataSet != "" {
		if err := cli.Refuse(c, "goes with --private: a known data set has its own", "public", "response", "no-header",
			"decimal-comma", "data-format", "task", "labels", "public-labels", "positive", "intercept", "prepare",
			"columns", "all-but", "scale", "categories", "fill", "hold-out"); err != nil {
			return datasets.Set{}, err
		}
		if !slices.Contains(datasets.Names(), f.dataSet) {
			return datasets.Set{}, cli.Usagef("data-set = %q, but it must be one of %s", f.dataSet,
				strings.Join(datasets.Names(), ", "))
		}
		if f.DataDir != "" {
			set, err := datasets.Load(c.Context(), f.dataSet, f.DataDir, f.DataSeed)
			return set, release.Unreadable(c.Context(), err)
		}
		set, err := datasets.Standin(f.dataSet, f.DataSeed)
		if err == nil {
			a.Say("darrm: %s is a STAND-IN generated from seed %d, not the real data (--data-dir)",
				f.dataSet, f.DataSeed)
		}
		return set, err
	}
	if err := cmp.Or(cli.Refuse(c, "goes with --data-set", "data-dir", "data-seed"),
		cli.Require(c, "task")); err != nil {
		return datasets.Set{}, err
	}
	if f.PublicLabels != "" && f.Public == "" {
		return datasets.Set{}, cli.Usagef("--public-labels goes with --public")
	}
	set := datasets.Set{Name: filepath.Base(f.private)}
	if set.Task = lossNames[task]; set.Task == nil {
		return set, cli.Usagef("--task must be given (see %s --help)", c.CommandPath())
	}
	err := data.Files{Private: f.private, Labels: f.labels, Public: f.Public,
		PublicLabels: f.PublicLabels}.CheckApart(c.Context())
	if errors.Is(err, data.ErrSameFile) {
		return set, cli.Usagef("--public, --public-labels: %w", err)
	}
	if err != nil {
		return set, release.Unreadable(c.Context(), err)
	}
	_, mean := set.Task.(loss.MeanEstimation)
	o := reading{responses: !mean}
	if set.Private, err = f.read(c, a, f.private, f.labels, o); err != nil {
		return set, err
	}
	if f.Public != "" {
		o.dim, o.prepare = set.Private.Dim(), f.mapped
		if set.Public, err = f.read(c, a, f.Public, f.PublicLabels, o); err != nil {
			return set, err
		}
	}
	return set, nil
}

// FlagGroups are the groups of the flags about training.
var FlagGroups = []cli.FlagGroup{
	{Title: "Budget", Flags: "eps delta n rows-per-person runs stopping grid score score-bound " +
		"score-changes score-share selection neighbours accept-weak full-budget"},
	{Title: "Records", Flags: "private public response columns all-but scale categories fill prepare weights weight-bound class-weights " +
		"no-header decimal-comma labels public-labels positive data-format data-set data-dir data-seed dim features " +
		"intercept radius hold-out allow-shared-records silo silos colluding missing"},
	{Title: "Output", Flags: "out force dry-run insecure-seed"},
	{Title: "Ledger", Flags: "ledger request-id checkpoint"},
	{Title: "Method"},
}
