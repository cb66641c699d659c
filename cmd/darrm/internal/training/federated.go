package training

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/learn/federated/rounds"
	"github.com/darrm/darrm/release"
)

// NewFederated makes the commands of training in rounds of silos.
func NewFederated(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "federated",
		Short: "Train on many silos' records without a trusted server, by files",
		Long: `Several silos train one model together. Each keeps its records: what leaves it is one
short private report for each record and round. A shuffler that all trust mixes the
reports of all silos, and a server that nobody needs to trust averages them.

  1. init       whoever leads writes the plan, which everybody may see, and round 0
  2. encode     each silo answers the round with its reports, paid for by its ledger
  3. shuffle    the shuffler mixes the reports of all silos
  4. aggregate  whoever leads works out the next round; go on with 2
     local      with --local-steps, one silo answers again before the round ends

  run        one role goes through all rounds by itself, over a folder that all share
  pass       the shuffler's pass for a silo of such a run

How files get from one machine to another is up to you. Plan, rounds and shuffled reports
are public; the reports of a silo are for the shuffler alone. docs/federated.md is a
guide, with what each part is trusted for.`,
		Example: `  darrm federated init --silos 40,30,30 --columns a,b --response y --task logistic \
    --clip 1 --difference-clip 1 --step-size 0.5 --eps 2 --delta 1e-5 -o plan.json --round round0.json
  darrm federated encode plan.json round0.json --silo 2 --private b.csv --ledger b.ledger -o 2.reports
  darrm federated shuffle plan.json round0.json 1.reports 2.reports 3.reports --book book -o 0.shuffled
  darrm federated aggregate plan.json round0.json 0.shuffled -o round1.json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newFederatedInit(a), newFederatedEncode(a), newFederatedShuffle(a),
		newFederatedAggregate(a), newFederatedLocal(a), newFederatedRun(a), newFederatedPass(a))
	return c
}

// federatedFault marks the kind of an error: a file that does not fit is an input, and a round that
// was released before is refused as by a ledger.
func federatedFault(path string, err error) error {
	var book *rounds.BookError
	switch {
	case errors.Is(err, rounds.ErrFormat):
		return &release.InputError{Err: fmt.Errorf("%s: %w", path, err)}
	case errors.As(err, &book):
		return &release.OutputError{Err: fmt.Errorf("--book: %w", err)}
	}
	return err
}

// readAll reads a file of at most limit bytes.
func readAll(ctx context.Context, a *cli.App, path string, limit int64) ([]byte, error) {
	in, err := a.Open(ctx, path, limit)
	if err != nil {
		return nil, err
	}
	defer in.Close() // only read from
	b, err := io.ReadAll(in)
	return b, release.Unreadable(ctx, err)
}

// readRun reads the files of a plan and of a round.
func readRun(a *cli.App, c *cobra.Command,
	plan, round string) (*rounds.Run, *rounds.Round, error) {
	bar := cli.NewProgress(a)
	defer bar.Stop()
	bar.Wait("pricing the plan")
	b, err := readAll(c.Context(), a, plan, rounds.MaxPlan)
	if err != nil {
		return nil, nil, err
	}
	p, err := rounds.ReadPlan(b)
	if err != nil {
		return nil, nil, federatedFault(plan, err)
	}
	if b, err = readAll(c.Context(), a, round, p.MaxRound()); err != nil {
		return nil, nil, err
	}
	r, err := p.ReadRound(b)
	return p, r, federatedFault(round, err)
}

// deliverOnce writes a round's file to --out and its report as JSON to stdout. It keeps an equal file that is there.
func deliverOnce(ctx context.Context, a *cli.App, out string, file []byte,
	report func(unchanged bool) any) error {
	before, err := release.WriteOnce(ctx, fmt.Sprintf("--out = %q", out),
		release.FileOutput{Path: out, Stdout: a.Out}, cli.Bytes(file))
	if err != nil {
		return err
	}
	if a.JSON && out != "-" {
		return a.DeliverJSON("", report(before))
	}
	if before {
		a.Say("%s holds it already, unchanged", out)
	}
	return nil
}

// registerOut adds --out, which must be given.
func registerOut(c *cobra.Command, out *string, usage string) {
	c.Flags().StringVarP(out, "out", "o", "", usage+`; "-" is stdout`)
	cli.TakesFile(c, "out")
}

func (f *siloFlags) register(c *cobra.Command) {
	cli.Register(c, f, "silo", "checkpoint", "dry-run")
	f.registerRecords(c)
	cli.TakesFile(c, "checkpoint")
	registerOut(c, &f.out, "write the answer to this file")
	c.ValidArgsFunction = cli.CompleteFiles(cli.TableFiles...)
	cli.First(c, FlagGroups, "silo", "private", "response", "ledger", "checkpoint", "out", "labels",
		"dry-run")
}

// registerRecords adds the flags of a silo's records and of what pays for them.
func (f *siloFlags) registerRecords(c *cobra.Command) {
	registerPrivate(c, &f.private, &f.labels, "file of the silo's private records")
	f.recordFlags.register(c)
	cli.Register(c, f, "ledger")
	cli.TakesFile(c, "ledger", cli.LedgerFiles...)
	cli.RegisterAcceptWeak(c, &f.acceptWeak)
}
