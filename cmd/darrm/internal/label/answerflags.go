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
	mechanism problem.MechanismFlags
	optimal   problem.OptimalFlags
	read      readFlags
	charge    chargeFlags
	table     string
	chooser   *choose.Chooser // what the flags say, once prepare has checked it
	unsaved   error           // a cache's, to be told when all else is done
}

// register registers the flags of the mechanism.
func (f *answerFlags) register(c *cobra.Command) {
	f.Flags.Register(c, choose.Agreement, 0, 0)
	f.mechanism.Register(c)
	f.optimal.RegisterPlurality(c)
	f.optimal.RegisterGap(c, choose.DefaultGap)
	c.Flags().StringVar(&f.table, "table", "",
		"use the noise function, or the table of many classes, in this file, certified again, instead "+
			"of solving")
	cli.TakesFile(c, "table", cli.TableFiles...)
}

// prepare checks the flags, before a large file is read.
func (f *answerFlags) prepare(c *cobra.Command, a *cli.App, service bool) error {
	if err := f.mechanism.PrepareRelation(); err != nil {
		return err
	}
	r, err := f.Request(c, a, &f.optimal, &f.mechanism, 0)
	if err != nil {
		return err
	}
	r.K, r.Classes = f.read.options.K, len(f.read.options.Classes)
	r.Missing = f.read.abstain()
	r.Service, r.Checkpoint = service, f.charge.checkpoint != ""
	if f.table != "" {
		r.TableName = f.table
		r.ReadTable = func(context.Context) (release.Table, error) {
			t, err := f.ReadAnyTable(c, a, f.table)
			return t.Table, err
		}
	}
	r.Solve.Noise, r.Solve.Plurality = f.Solvers(a, &f.optimal, &f.unsaved)
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
