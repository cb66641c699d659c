package training

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/pairwise"
	"github.com/darrm/darrm/learn/prepare"
	"github.com/darrm/darrm/release"
)

// stream returns Algorithm 2 for records of any dimension, nil for other methods.
func (f *pairwiseFlags) stream() func(d int) (*pairwise.Online, error) {
	if f.Method != "online" {
		return nil
	}
	return func(d int) (*pairwise.Online, error) {
		o := f.all()
		return pairwise.NewOnline(o.Setting, d, pairwise.Schedule{StepSize: o.StepSize, Decay: o.Decay},
			o.Output)
	}
}

// notOfStreams are the flags that need the records more than once, or all of them.
var notOfStreams = []string{"grid", "passes", "l2", "rule", "noise", "buffer", "labels", "positive",
	"checkpoint", "dry-run", "hold-out", "score-eps", "rows-per-person"}

// stream trains on stdin and keeps one record at a time. The model promises nothing.
func (f *trainFamily) stream(c *cobra.Command, a *cli.App,
	online func(d int) (*pairwise.Online, error), m release.Model) error {
	if err := cli.Refuse(c, "is not for --private -: a stream is read once", notOfStreams...); err != nil {
		return err
	}
	format := f.formatOf(f.private)
	switch {
	case format != formatCSV && format != formatLIBSVM:
		return cli.Usagef("--data-format %s is not for --private -: a stream is CSV or LIBSVM", format)
	case format == formatCSV && f.Response == "":
		return cli.Usagef("--response must be given: stdin needs a column of responses")
	case format == formatLIBSVM && f.Response != "":
		return cli.Usagef("--response goes with CSV: stdin is read as libsvm (--data-format csv)")
	case format == formatLIBSVM && f.Dim == 0:
		return cli.Usagef("--dim must be given: a LIBSVM stream does not state how many features there " +
			"are")
	case format == formatCSV && f.Dim != 0:
		return cli.Usagef("--dim goes with LIBSVM: stdin is read as csv")
	}
	if _, err := online(max(1, f.Dim)); err != nil {
		return fmt.Errorf("online: %w", err)
	}
	t := &trainedStream{app: a, online: online}
	m.Begin = func([]byte) (release.Training, error) {
		return release.Training{State: func() []byte { return nil },
			Run: func(ctx context.Context, _ func() error) (func(io.Writer) error, error) {
				read, err := t.learn(c, &f.recordFlags, format)
				if err != nil {
					return nil, err
				}
				r := f.report(read)
				r.Method, r.Rounds, r.Dim = "online", 1, t.dim
				if r.Simulated, err = t.o.Model(); err != nil {
					return nil, err
				}
				a.Say("NOT PRIVATE: online promises nothing; it learned from %d records, %d of class 1",
					t.o.Seen(), t.positive)
				return r.encode, nil
			}}, nil
	}
	_, err := m.Run(c.Context())
	return err
}

// trainedStream is a method while it learns from stdin.
type trainedStream struct {
	app      *cli.App
	online   func(d int) (*pairwise.Online, error)
	o        *pairwise.Online // nil before the first record
	dim      int
	positive int
}

// scanCSV visits the records of a CSV stream.
func (t *trainedStream) scanCSV(f *recordFlags, rules prepare.Rules, in io.Reader,
	read *recordsRead, visit func(x []float64, y float64) error) error {
	table, err := f.table(in, "-")
	if err != nil {
		return err
	}
	m, err := rules.Map(table)
	if err != nil {
		return err
	}
	read.columns, read.response = m.Published(table)
	read.prepare = m
	return prepare.Scan(table, m, visit)
}

// learn learns from the records of stdin to its end.
func (t *trainedStream) learn(c *cobra.Command, f *recordFlags,
	format string) (read recordsRead, err error) {
	read.name = "stdin"
	ctx := c.Context()
	rules, err := f.rules(c, t.app)
	if err != nil {
		return read, err
	}
	if err := f.onlyTables("-"); err != nil {
		return read, err
	}
	bar := cli.NewProgress(t.app)
	defer bar.Stop()
	t.app.Doing("training")
	shown := time.Now()
	visit := func(x []float64, y float64) error {
		if t.o == nil {
			if t.o, err = t.online(len(x)); err != nil {
				return err
			}
			t.dim = len(x)
		}
		if err := t.o.Learn(x, y); err != nil {
			return err
		}
		if y > 0 {
			t.positive++
		}
		if time.Since(shown) >= cli.ProgressEvery {
			shown = time.Now()
			bar.Show("training", -1, int64(t.o.Seen()), fmt.Sprintf("training: %d records", t.o.Seen()),
				progressbar.OptionSpinnerType(14))
		}
		return nil
	}
	in := t.app.Stdin(ctx)
	if format == formatCSV {
		err = t.scanCSV(f, rules, in, &read, visit)
	} else {
		err = data.ScanLIBSVM(in, f.Dim, visit)
	}
	if err == nil && (t.o == nil || t.positive == 0 || t.positive == t.o.Seen()) {
		err = errors.New("no pair of two classes: the model would be 0")
	}
	if ctx.Err() != nil {
		return read, ctx.Err()
	}
	if err != nil {
		err = &release.InputError{Err: fmt.Errorf("stdin: %w", err)}
	}
	return read, err
}
