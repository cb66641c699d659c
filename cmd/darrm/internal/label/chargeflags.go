package label

import (
	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/release"
)

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
