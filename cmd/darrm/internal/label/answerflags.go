package label

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/cmd/darrm/internal/problem"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/plan/choose"
	"github.com/darrm/darrm/release"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
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
	f.read.tell(&f.Request)
	r, err := f.Asked(c, a, 0)
	if err != nil {
		return err
	}
	r.Service, r.Checkpoint = service, f.charge.checkpoint != ""
	if f.table != "" {
		r.TableName = f.table
		r.ReadTable = func(context.Context) (release.Table, error) { return f.ReadAnyTable(c, a, f.table) }
	}
	if f.chooser, err = choose.Prepare(c.Context(), r); err != nil {
		return err
	}
	if f.read.options.YesFrom == "" || f.read.options.K == 0 && service {
		f.read.options.K = f.chooser.K()
	}
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

// chargeFlags hold the ledger that pays for a release of labels, and the composition of its
// answers.
type chargeFlags struct {
	release.Charge
	dryRun     bool
	checkpoint string
	force      bool
}

func (f *chargeFlags) register(c *cobra.Command) {
	f.registerPayer(c)
	cli.Register(c, &f.Charge, "request-id", "draw", "votes-cast-anew", "new-charge")
	fl := c.Flags()
	fl.StringVar(&f.checkpoint, "checkpoint", "",
		"keep the SECRET key of the coins here until the labels are out, so that the same command "+
			"finishes a release that was paid for and interrupted (darrm and its baselines only)")
	cli.TakesFile(c, "checkpoint")
	fl.BoolVar(&f.dryRun, "dry-run", false,
		"say what the release would cost, and release and charge nothing")
	fl.BoolVar(&f.force, "force", false,
		"replace the file at --out, and never one that the --ledger knows as the result of a request; "+
			"without --ledger nobody accounts for two draws")
}

// registerPayer registers the ledger and the teachers that it is charged for.
func (f *chargeFlags) registerPayer(c *cobra.Command) {
	cli.Register(c, &f.Charge, "ledger", "teachers", "ensemble", "ensemble-digest", "slack", "records", "accept-weak")
	cli.TakesFile(c, "ledger", cli.LedgerFiles...)
	cli.OneOf(c, "teachers", ensemble.FreshTeachers, ensemble.FrozenTeachers)
}

// decisive are the flags of one label and of its mechanism, in the order in which a statement has
// them. A table states itself.
var decisive = append(slices.DeleteFunc(slices.Clone(excluded),
	func(name string) bool { return name == "table" }), "missing", "check-ratio")

// statement returns what the flags state that decides on the mechanism; nil where a table is given. within is nil where each
// label has its own price.
func (f *answerFlags) statement(c *cobra.Command, within *within) (*release.Statement, error) {
	if f.table != "" {
		return nil, nil
	}
	reach, _, err := f.Reach(c, ensemble.AllTeachers)
	if err != nil {
		return nil, err
	}
	s := &release.Statement{Affected: reach, Neighbours: f.Neighbours.Name(), Prior: "default"}
	if mean := f.Noise.PriorMean; mean != nil {
		s.Prior = fmt.Sprintf("mean %v", *mean)
	}
	losses, err := f.Many.Losses(f.Names)
	if err != nil {
		return nil, err
	}
	s.Shares, s.Costs, s.YesShares = losses.Shares, losses.Costs.Uneven(), losses.Yes
	if within != nil {
		s.For = within.purposeOf(losses)
	} else {
		var words []string
		seen := map[string]bool{}
		for _, name := range decisive {
			flag := c.Flags().Lookup(name)
			if flag != nil && flag.Changed && !seen[name] {
				words = append(words, text(flag))
				seen[name] = true
			}
		}
		s.Mechanism = strings.Join(words, " ")
	}
	if each := f.Each(); f.Promised() {
		s.PerTeacher = &each
		s.Teachers, s.Ensemble = string(f.charge.Teachers), f.charge.Ensemble
	}
	return s, nil
}

func text(flag *pflag.Flag) string { return flag.Name + "=" + flag.Value.String() }
