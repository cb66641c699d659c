package training

import (
	"cmp"
	"github.com/spf13/cobra"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/federated/rounds"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/release/silo"
)

// siloFlags are the flags of federated encode and local.
type siloFlags struct {
	recordFlags
	Silo            int    `flag:"silo" help:"number of this silo in the plan, from 1"`
	Ledger          string `flag:"ledger" help:"the ledger of these records (darrm budget init): it pays for the run with the first answer, and refuses a second answer to a round"`
	Checkpoint      string `flag:"checkpoint" help:"keep the SECRET key of the coins here until the answer is out, so that the same command finishes an answer that was interrupted"`
	DryRun          bool   `flag:"dry-run" help:"say what the answer would cost, and answer and charge nothing"`
	private, labels string
	out             string
	acceptWeak      bool
	local           bool
}

const siloOnce = `The ledger pays for the whole run with the first answer: all rounds together cost what the
plan says, also where fewer are answered. Every answer is noted there. A round that was
answered is refused, whatever model it shows; the same command says so if its answer is
still there, and with --checkpoint finishes an answer that was interrupted, with the same
bytes.`

func newFederatedEncode(a *cli.App) *cobra.Command {
	var f siloFlags
	c := &cobra.Command{
		Use:   "encode PLAN ROUND --silo number --private FILE --ledger FILE",
		Short: "Answer a round with the private reports of a silo's records",
		Long: `Write the reports of one silo's records for one round. Each record's gradient, clipped, is
one report of a seed and one private bit; the file is for the shuffler alone, since
without the shuffling a report costs more than the plan says.

The plan is priced again before anything is paid: its file is not believed. The records
must be as many as the plan says, and have its columns.

` + siloOnce,
		Example: `  darrm federated encode plan.json round0.json --silo 2 --private b.csv --ledger b.ledger \
    --checkpoint b.key -o 2.reports`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, a, args[0], args[1]) },
	}
	f.register(c)
	return c
}

func newFederatedLocal(a *cli.App) *cobra.Command {
	f := siloFlags{local: true}
	c := &cobra.Command{
		Use:   "local PLAN ROUND --silo number --private FILE --ledger FILE",
		Short: "Answer a round with the noisy local steps of the silo that it asks",
		Long: `Make the local steps of the silo that a round asks for them, in a run with --local-steps,
and write the model that they lead to. darrm federated aggregate says which silo that
is, and takes the answer. The noise of the steps is part of the plan's price, and
everybody may see the answer.

` + siloOnce,
		Example: `  darrm federated local plan.json round0-local.json --silo 1 --private a.csv --ledger a.ledger -o reply.json`,
		Args:    cobra.ExactArgs(2),
		RunE:    func(c *cobra.Command, args []string) error { return f.run(c, a, args[0], args[1]) },
	}
	f.register(c)
	return c
}

func (f *siloFlags) run(c *cobra.Command, a *cli.App, planPath, roundPath string) error {
	if err := cli.Require(c, "silo", "private", "ledger"); err != nil {
		return err
	}
	if !f.DryRun {
		if err := cli.Require(c, "out"); err != nil {
			return err
		}
	}
	output := release.FileOutput{Path: f.out, Stdout: a.Out}
	if err := output.CheckPlace(); err != nil {
		return err
	}
	p, r, err := readRun(a, c, planPath, roundPath)
	if err != nil {
		return err
	}
	if f.local != (r.Local != nil) {
		if f.local {
			return cli.Usagef("%s waits for reports: use darrm federated encode", roundPath)
		}
		return cli.Usagef("%s waits for the local steps of silo %d: use darrm federated local there",
			roundPath, r.Local.Silo+1)
	}
	answer := silo.Answer{
		Plan: p, Round: r, Silo: f.Silo - 1, Ledger: f.Ledger, Checkpoint: f.Checkpoint, Output: output,
		AcceptWeak: f.acceptWeak,
		Reads: []release.File{{Name: "--private", Path: f.private}, {Name: "--labels", Path: f.labels},
			{Name: "PLAN", Path: planPath}, {Name: "ROUND", Path: roundPath}},
	}
	if err := answer.Check(); err != nil {
		return err
	}
	if answer.Records, err = f.records(c, a, p); err != nil {
		return err
	}
	report := siloReport{Plan: p.Digest(), Silo: f.Silo, Round: r.Round, Run: p.Cost(),
		DryRun: f.DryRun}
	if !f.local {
		counts := p.ReportCounts(r, f.Silo-1)
		report.Gradients, report.Differences = counts[0], counts[1]
	}
	if f.DryRun {
		if err := answer.Quote(c.Context()); err != nil {
			return err
		}
		return a.DeliverJSON("", report)
	}
	bar := cli.NewProgress(a)
	defer bar.Stop()
	bar.Wait("answering")
	out, err := answer.Run(c.Context())
	bar.Stop()
	if err != nil && !out.Done() {
		return err
	}
	report.Before = out.Before
	switch {
	case a.JSON: // it is in the result
	case out.Before:
		a.Say("silo %d answered round %d before: its answer is in %s, unchanged", f.Silo, r.Round, f.out)
	case f.local:
		a.Say("silo %d, round %d: %d local steps", f.Silo, r.Round, p.LocalSteps())
	default:
		a.Say("silo %d, round %d: %d reports of gradients and %d of differences, for the shuffler alone",
			f.Silo, r.Round, report.Gradients, report.Differences)
	}
	if !a.JSON {
		a.Say("the run is charged once: %s-DP for all %d rounds", p.Cost().Short(), p.Rounds())
	}
	if err == nil && a.JSON && f.out != "-" {
		err = a.DeliverJSON("", report)
	}
	return err
}

// siloReport describes a silo's answer in JSON.
type siloReport struct {
	Plan        string          `json:"plan"`
	Silo        int             `json:"silo"`
	Round       int             `json:"round"`
	DryRun      bool            `json:"dry_run,omitempty"`
	Before      bool            `json:"answered_before"`
	Gradients   int             `json:"gradients"`
	Differences int             `json:"differences"`
	Run         accountant.Cost `json:"cost_of_all_rounds"`
}

// records reads the silo's records, with the plan's columns.
func (f *siloFlags) records(c *cobra.Command, a *cli.App, p *rounds.Run) (*data.Records, error) {
	columns := p.Columns()
	_, mean := p.Loss().(loss.MeanEstimation)
	o := reading{responses: !mean, dim: p.Features()}
	if f.isTable(f.private) && !f.NoHeader {
		if o.prepare = columns.Preparation; o.prepare != nil && f.Response != "" {
			o.prepare = o.prepare.With(true, f.Response)
		}
		f.Response = cmp.Or(f.Response, columns.Response())
	}
	records, err := f.read(c, a, f.private, f.labels, o)
	if err == nil && columns.Intercept {
		records = records.WithIntercept()
	}
	return records, err
}
