package training

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/learn/federated/rounds"
	"github.com/darrm/darrm/learn/model"
	"github.com/darrm/darrm/release"
)

func newFederatedAggregate(a *cli.App) *cobra.Command {
	var out, modelPath string
	c := &cobra.Command{
		Use:   "aggregate PLAN ROUND ANSWER",
		Short: "Work out the next round from the shuffled reports, or the local steps",
		Long: `Take the shuffled reports of a round and write the next one. The result is a function of
the files: the command may be repeated, and an --out that holds the result stays as it is.
One that holds something else is not replaced, since silos may have answered it. It needs
no secret and no trust.

In a run with --local-steps the result is first the same round asking one silo for its
local steps (darrm federated local); with that silo's answer the same command writes the
next round.

After the last round --model writes the model, which darrm predict and evaluate read. All
rounds and models may be published: the price covers them together.`,
		Example: `  darrm federated aggregate plan.json round0.json 0.shuffled -o round1.json
  darrm federated aggregate plan.json round9.json 9.shuffled -o round10.json --model model.json`,
		Args:              cobra.ExactArgs(3),
		ValidArgsFunction: cli.CompleteFiles(),
		RunE: func(c *cobra.Command, args []string) error {
			if err := cli.Require(c, "out"); err != nil {
				return err
			}
			return runAggregateRound(c, a, args, out, modelPath)
		},
	}
	registerOut(c, &out, "write the next round to this file")
	c.Flags().StringVar(&modelPath, "model", "", "after the last round: write the model to this file")
	cli.TakesFile(c, "model", cli.TableFiles...)
	return c
}

func runAggregateRound(c *cobra.Command, a *cli.App, args []string, out, modelPath string) error {
	files := []release.File{{Name: "PLAN", Path: args[0]}, {Name: "ROUND", Path: args[1]},
		{Name: "ANSWER", Path: args[2]}, {Name: "--model", Path: modelPath, Written: true}}
	if err := cli.CheckFiles(out, files...); err != nil {
		return err
	}
	p, r, err := readRun(a, c, args[0], args[1])
	if err != nil {
		return err
	}
	if modelPath != "" && r.Round+1 < p.Rounds() {
		return cli.Usagef("--model is for the last round, %d, and this is %d", p.Rounds()-1, r.Round)
	}
	answer, err := readAll(c.Context(), a, args[2], max(p.MaxShuffled(), p.MaxRound()))
	if err != nil {
		return err
	}
	bar := cli.NewProgress(a)
	defer bar.Stop()
	bar.Wait("adding up")
	var next *rounds.Round
	if r.Local != nil {
		next, err = p.Accept(r, answer)
	} else {
		next, err = p.Aggregate(c.Context(), r, answer)
	}
	bar.Stop()
	if err != nil {
		return federatedFault(args[2], err)
	}
	file, err := next.Encode()
	if err != nil {
		return err
	}
	asked := 0
	if next.Local != nil {
		asked = next.Local.Silo + 1
	}
	if err := deliverOnce(c.Context(), a, out, file, func(unchanged bool) any {
		return struct {
			Plan      string `json:"plan"`
			Round     int    `json:"round"`
			Rounds    int    `json:"rounds"`
			Asked     int    `json:"asked_silo,omitempty"` // for its local steps
			Finished  bool   `json:"finished"`
			Unchanged bool   `json:"unchanged"` // it was there
		}{p.Digest(), next.Round, p.Rounds(), asked, p.Finished(next), unchanged}
	}); err != nil {
		return err
	}
	say := a.Say
	if a.JSON { // it is in the result
		say = func(string, ...any) {}
	}
	switch {
	case next.Local != nil:
		say("round %d waits for %d local steps of silo %d", next.Round, p.LocalSteps(), asked)
	case p.Finished(next):
		say("all %d rounds are done: %s-DP where neighbours %s", p.Rounds(), p.Cost().Short(),
			p.Price().Relation)
		if modelPath != "" {
			r := newFederatedModel(p, next)
			return a.DeliverTo("model", modelPath, func(w io.Writer) error { return r.encode(w) })
		}
	default:
		say("round %d of %d is next", next.Round, p.Rounds())
	}
	return nil
}

// newFederatedModel returns the model of a finished run.
func newFederatedModel(p *rounds.Run, last *rounds.Round) *modelReport {
	price, columns := p.Price(), p.Columns()
	return &modelReport{
		Private: true, DataSet: "plan " + p.Digest(), Method: price.Method, Rounds: p.Rounds(),
		Cost: cli.FiniteCost(price.Cost), Price: newPriceReport(price),
		Dim: price.Dim,
		Document: model.Document{Task: p.Loss().Name(), Link: model.LinkOf(p.Loss()),
			Columns: columns.Names(), Response: columns.Response(), Intercept: columns.Intercept,
			Preparation: ruled(columns.Preparation), Model: last.Result()},
	}
}
