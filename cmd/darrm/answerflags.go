package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/plan/choose"
	"github.com/darrm/darrm/release"
)

// answerFlags say what answers votes, and who pays.
type answerFlags struct {
	problemFlags
	mechanism mechanismFlags
	optimal   optimalFlags
	read      readFlags
	charge    chargeFlags
	table     string
	chooser   *choose.Chooser // what the flags say, once prepare has checked it
	unsaved   error           // a cache's, to be told when all else is done
}

// register registers the flags of the mechanism.
func (f *answerFlags) register(c *cobra.Command) {
	f.problemFlags.register(c, 0, 0)
	f.mechanism.register(c)
	f.optimal.registerPlurality(c)
	f.optimal.registerGap(c, choose.DefaultGap)
	c.Flags().StringVar(&f.table, "table", "",
		"use the noise function, or the table of many classes, in this file, certified again, instead "+
			"of solving")
	takesFile(c, "table", tableFiles...)
}

// prepare checks the flags, before a large file is read.
func (f *answerFlags) prepare(c *cobra.Command, a *app, service bool) error {
	if err := f.mechanism.prepareRelation(); err != nil {
		return err
	}
	r, err := f.request(c, a, &f.optimal, &f.mechanism, 0)
	if err != nil {
		return err
	}
	r.K, r.Classes = f.read.options.K, len(f.read.options.Classes)
	r.Service, r.Checkpoint = service, f.charge.checkpoint != ""
	if f.table != "" {
		r.TableName = f.table
		r.ReadTable = func(context.Context) (release.Table, error) {
			t, err := f.readAnyTable(c, a, f.table)
			return t.Table, err
		}
	}
	r.Solve.Noise, r.Solve.Plurality = f.solvers(a, &f.optimal, &f.unsaved)
	if f.chooser, err = choose.Prepare(c.Context(), r); err != nil {
		return err
	}
	f.read.options.K = f.chooser.K()
	return nil
}

// choose makes the mechanism for k teachers, solving where no table was given.
func (f *answerFlags) choose(c *cobra.Command, k, classes int) (choose.Choice, error) {
	ctx, cancel := f.limit(c.Context())
	defer cancel()
	g, err := f.chooser.Choose(ctx, k, classes)
	g.Instead = nameFlag(c, g.Instead)
	return g, f.late("certify", err)
}
