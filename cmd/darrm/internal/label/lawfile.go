package label

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/ensemble/labellaw"
	"github.com/darrm/darrm/plan"
	"github.com/darrm/darrm/plan/choose"
	"github.com/darrm/darrm/release"
)

// checkLaw refuses a file of --label-law that cannot be written, or that has anything but another law:
// labels that were paid for cannot be drawn again. That it is no file of this release its Beside sees to.
func (f *aggregateFlags) checkLaw(ctx context.Context) error {
	switch f.labelLaw {
	case "":
		return nil
	case "-":
		if f.out == "" || f.out == "-" {
			return cli.Usagef("--label-law - goes with --out FILE: stdout has the labels")
		}
		return nil
	}
	if err := (release.FileOutput{Path: f.labelLaw, Name: "--label-law"}).CheckPlace(); err != nil {
		return err
	}
	if info, err := os.Stat(f.labelLaw); f.charge.force || err != nil || !info.Mode().IsRegular() {
		return nil
	}
	there, err := os.Open(f.labelLaw)
	if err != nil {
		return &release.OutputError{Err: err}
	}
	defer there.Close()
	if _, err := labellaw.Decode(ctx, there); err != nil && ctx.Err() == nil {
		return cli.Usagef("--label-law = %q, but the file exists and is no label law: give another name, or "+
			"--force to replace it", f.labelLaw)
	}
	return ctx.Err()
}

// writeLaw writes the law of the mechanism's labels where --label-law names a file.
func (f *aggregateFlags) writeLaw(c *cobra.Command, a *cli.App, g choose.Choice) error {
	if f.labelLaw == "" {
		return nil
	}
	data, err := f.law(c.Context(), g)
	if err != nil {
		return err
	}
	return a.DeliverTo("label-law", f.labelLaw, cli.Bytes(data))
}

// law returns the document of --label-law. It depends on the mechanism and on public priors alone.
func (f *aggregateFlags) law(ctx context.Context, g choose.Choice) ([]byte, error) {
	m := g.Mechanism()
	t := g.Plan.Table()
	s := m.Setting()
	var (
		prior *plan.Law
		err   error
	)
	if t.Gamma == nil && t.Plurality == nil && t.Answers == nil {
		prior, err = choose.Prior(s.K, s.Classes, f.Noise.PriorMean)
	} else {
		prior, err = choose.PriorOf(t, s.K, s.Classes)
	}
	if err != nil {
		return nil, err
	}
	l, err := lawOf(ctx, m, prior, labellaw.Options{Names: f.read.options.Classes})
	if err != nil {
		return nil, err
	}
	return l.Encode()
}
