package training

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/learn/federated/rounds"
	"github.com/darrm/darrm/release"
)

// federatedInitFlags are the flags of federated init.
type federatedInitFlags struct {
	federatedFlags
	recordFlags        // for the rules of columns alone
	Features    int    `flag:"features" help:"number of features, instead of $columns, where they have no names"`
	Round       string `flag:"round" help:"write the first round to this file (default: darrm federated run does)"`
	out         string
	acceptWeak  bool
}

func newFederatedInit(a *cli.App) *cobra.Command {
	var f federatedInitFlags
	c := &cobra.Command{
		Use:   "init --silos n,n,… --columns NAME,… --task LOSS --clip C --difference-clip C --eps ε --delta δ",
		Short: "Plan and price a run, and write its first round",
		Long: `Write the plan of a run, which says all that silos, shuffler and server must agree on,
and the round that it begins with. Everybody may see both. Nothing in them may be taken
from private records: the numbers of records, the names of columns, the clips and the step
size are public.

Rows become records by the plan's rules, alike in every silo: --scale, --categories, --fill
or a file of them (darrm train describe). The model keeps them, and darrm predict and
evaluate apply them. docs/training.md has more.

The price is for all rounds together, for every record of every silo: what --eps and
--delta say. A silo pays it with its first answer. It holds if the shuffler is honest,
if no round is released with fewer reports than all but --missing, of silos that may drop
out, and if no more than --colluding are of silos that work together with the server.

Each plan has a name of its own: a second init with the same flags is another run.`,
		Example: `  darrm federated init --silos 40,30,30 --columns a,b --response y --task logistic --intercept \
    --clip 1 --difference-clip 1 --step-size 0.5 --rounds 10 --missing 30 \
    --eps 2 --delta 1e-5 -o plan.json --round round0.json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.init(c, a) },
	}
	f.Method = methodPSGM
	f.registerRun(c)
	fl := c.Flags()
	fl.IntSliceVar(&f.psgm.Silos, "silos", nil,
		"how many records each silo has; silos are numbered from 1 in this order")
	f.prepareFlags.register(c)
	c.Flags().Lookup("columns").Usage = "columns of the silos' tables that are features, in the model's order"
	c.Flags().Lookup("all-but").Hidden = true // of a table that is there
	cli.Register(c, &f, "features", "round")
	cli.Register(c, &f.recordFlags, "response")
	cli.RegisterAcceptWeak(c, &f.acceptWeak)
	registerOut(c, &f.out, "write the plan to this file")
	cli.TakesFile(c, "round", cli.TableFiles...)
	cli.First(c, FlagGroups, "silos", "columns", "response", "task", "eps", "delta", "out", "round")
	return c
}

func (f *federatedInitFlags) init(c *cobra.Command, a *cli.App) error {
	if err := cli.Require(c, "silos", "columns|prepare|features", "task", "out"); err != nil {
		return err
	}
	if err := f.Check(c); err != nil {
		return err
	}
	round := release.File{Name: "--round", Path: f.Round, Written: true}
	if err := cli.CheckFiles(f.out, round); err != nil {
		return err
	}
	for _, file := range []release.File{{Name: "--out", Path: f.out}, round} {
		if _, err := os.Lstat(file.Path); err == nil && file.Path != "-" {
			return &release.OutputError{Err: fmt.Errorf("%s = %q, but the file exists: silos may use it "+
				"already, and no run can continue without its plan", file.Name, file.Path)}
		}
	}
	columns := rounds.Columns{Intercept: f.intercept}
	if f.AllBut != nil {
		return cli.Usagef("--all-but is not for a plan, which no table is read for: use --columns")
	}
	if f.Features == 0 {
		rules, err := f.rules(c, a)
		if err != nil {
			return err
		}
		if columns.Preparation, err = rules.Stated(); err != nil {
			return &release.UsageError{Err: err}
		}
		f.Features = len(columns.Names())
	} else if f.stated() || f.Response != "" {
		return cli.Usagef("--features is for records without named columns: leave out --columns, --response " +
			"and the rules of columns")
	}
	p, err := pricing(c, a, func() (*rounds.Run, error) {
		return rounds.New(f.run(f.psgm.Silos), f.Features, columns)
	})
	if err != nil {
		return err
	}
	if err := release.CheckModel(p.Cost(), p.Records(), f.acceptWeak); err != nil {
		return err // no silo would answer
	}
	first, err := p.First().Encode()
	if err != nil {
		return err
	}
	plan, err := p.Encode()
	if err != nil {
		return err
	}
	if f.Round != "" {
		if err := a.DeliverTo("round", f.Round, cli.Bytes(first)); err != nil {
			return err
		}
	}
	if !a.JSON {
		sayRun(a, p)
		a.Say("plan %s", p.Digest())
	}
	reports, least := p.Federated().Expected(p.Rounds() - 1)
	if err := a.Deliver(f.out, cli.Bytes(plan)); err != nil || !a.JSON || f.out == "-" {
		return err
	}
	return a.DeliverJSON("", struct {
		Plan         string          `json:"plan"`
		Method       string          `json:"method"`
		Cost         accountant.Cost `json:"cost"`
		LocalEpsilon float64         `json:"local_epsilon"`
		LocalNoise   float64         `json:"local_noise"`
		Dim          int             `json:"dim"`
		Rounds       int             `json:"rounds"`
		Silos        int             `json:"silos"`
		Reports      int             `json:"reports"` // of a stream of the last round
		Least        int             `json:"least"`
		*priceReport
	}{p.Digest(), p.Price().Method, p.Cost(), p.Federated().LocalEpsilon(), p.Federated().LocalNoise(),
		p.Federated().Dim(), p.Rounds(), len(p.Silos()), reports, least, newPriceReport(p.Price())})
}
