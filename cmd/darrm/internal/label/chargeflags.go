package label

import (
	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/cmd/darrm/internal/problem"
	"github.com/darrm/darrm/release"
)

// chargeFlags hold the ledger that pays for a release of labels, and the composition of its
// answers.
type chargeFlags struct {
	release.Charge
	slack      float64
	dryRun     bool
	checkpoint string
	force      bool
}

func (f *chargeFlags) register(c *cobra.Command) {
	f.registerPayer(c)
	fl := c.Flags()
	fl.StringVar(&f.RequestID, "request-id", "",
		"name of this release in the ledger; a name is charged and answered once")
	fl.StringVar(&f.Draw, "draw", "",
		"name of these votes of fresh teachers (default: the request id). State the name of an earlier "+
			"draw to answer the same votes again")
	fl.BoolVar(&f.VotesCastAnew, "votes-cast-anew", false,
		"state that fresh teachers cast these votes for this draw. A ledger then takes them if they "+
			"equal those of an earlier draw, too, which it refuses else; it keeps no trace of either")
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
	fl := c.Flags()
	fl.StringVar(&f.Ledger, "ledger", "",
		"charge this ledger (darrm budget init) before a label is drawn")
	cli.TakesFile(c, "ledger", cli.LedgerFiles...)
	fl.StringVar((*string)(&f.Teachers), "teachers", "",
		"\"fresh\": each vote is a new run of a private mechanism, or \"frozen\": each teacher's "+
			"training was private, and it votes ever after; needed to charge a ledger")
	cli.OneOf(c, "teachers", problem.TeacherNames...)
	fl.StringVar(&f.Ensemble, "ensemble", "",
		"name of the teachers in the ledger. Frozen ones are charged once, under it: that the name "+
			"stands for the same teachers every time is your word")
	fl.StringVar(&f.EnsembleDigest, "ensemble-digest", "",
		"any text that identifies the teachers, such as a hash of their files. Once stated it is "+
			"required of every release of the ensemble; it verifies nothing")
	problem.RegisterSlack(c, &f.slack)
	problem.RegisterRecords(c, &f.Records)
	cli.RegisterAcceptWeak(c, &f.AcceptWeak)
}

// prepare checks the flags. promise is true if the teachers are private themselves.
func (f *chargeFlags) prepare(c *cobra.Command, promise bool) error {
	f.settle(c)
	return f.Check(promise)
}

// settle sets the slack where --slack was given.
func (f *chargeFlags) settle(c *cobra.Command) {
	if c.Flags().Changed("slack") {
		f.Slack = &f.slack
	}
}
