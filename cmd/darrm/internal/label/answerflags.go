package label

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/cmd/darrm/internal/problem"
	"github.com/darrm/darrm/plan/choose"
	"github.com/darrm/darrm/release"
)

// answerFlags select the mechanism that answers votes, and the ledger that pays.
type answerFlags struct {
	problem.Flags
	read    readFlags
	charge  chargeFlags
	table   string
	chooser *choose.Chooser // what the flags say, once prepare has checked it
}

// registerAnswer registers the flags of the mechanism.
func (f *answerFlags) registerAnswer(c *cobra.Command) {
	f.RegisterRelease(c, choose.Agreement)
	f.RegisterMechanism(c)
	f.RegisterPlurality(c, choose.DefaultGap)
	f.Register(c, "solve-within")
	c.Flags().StringVar(&f.table, "table", "",
		"use the noise function, or the table of many classes, in this file, certified again, instead "+
			"of solving")
	cli.TakesFile(c, "table", cli.TableFiles...)
}

// prepare checks the flags, before a large file is read.
func (f *answerFlags) prepare(c *cobra.Command, a *cli.App, service bool) error {
	r, err := f.Asked(c, a, 0)
	if err != nil {
		return err
	}
	r.K, r.Classes = f.read.options.K, len(f.read.options.Classes)
	r.Names = f.read.options.Classes
	r.Missing = f.read.abstain()
	r.Service, r.Checkpoint = service, f.charge.checkpoint != ""
	if f.table != "" {
		r.TableName = f.table
		r.ReadTable = func(context.Context) (release.Table, error) { return f.ReadAnyTable(c, a, f.table) }
	}
	if f.chooser, err = choose.Prepare(c.Context(), r); err != nil {
		return err
	}
	f.read.options.K = f.chooser.K()
	return nil
}

// choose makes the mechanism for k teachers, solving where no table was given.
func (f *answerFlags) choose(c *cobra.Command, k, classes int) (choose.Choice, error) {
	ctx, cancel := f.Limit(c.Context())
	defer cancel()
	g, err := f.chooser.Choose(ctx, k, classes)
	g.Instead = cli.NameFlag(c, g.Instead)
	return g, f.Late("certify", err)
}
