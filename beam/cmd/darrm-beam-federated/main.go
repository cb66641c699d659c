// Command darrm-beam-federated does a shuffler's and a server's work on one round of darrm
// federated as an Apache Beam pipeline: on this machine, or on any runner that the Go SDK can
// submit to.
package main

import (
	"context"
	"errors"
	"fmt"

	darrmbeam "github.com/darrm/darrm/beam"
	"github.com/darrm/darrm/beam/cmd/internal/frame"
	"github.com/darrm/darrm/learn/federated/rounds"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/release/exitcode/learning"
)

var (
	input  = frame.Group("The round")
	output = frame.Group("What is released")

	job     darrmbeam.RoundJob
	reports frame.Texts
)

func init() {
	input.StringVar(&job.PlanFile, "plan", "",
		"`file` of the run's plan, of darrm federated init (required); it is priced again")
	input.StringVar(&job.RoundFile, "round", "",
		"`file` of the round that the silos answered (required)")
	input.Var(&reports, "reports",
		"`file` or pattern of the silos' reports (required); may be given several times. Nothing "+
			"depends on names or order")
	output.StringVar(&job.Book.Folder, "book", "",
		"`folder` where this shuffler remembers which rounds it released (required); one for all "+
			"rounds and runs")
	output.BoolVar(&job.Book.Begins, "new-book", false,
		"state that no other book released this round: accept one that does not know the round before")
	output.StringVar(&job.Out, "out", "", "`file` for the next round (required)")
	output.StringVar(&job.Shuffled, "shuffled", "",
		"`file` for the shuffled reports, as darrm federated shuffle writes them (default: none)")
}

func main() {
	frame.Command{
		About: "Do a shuffler's and a server's work on one round, as darrm federated shuffle and darrm " +
			"federated aggregate do, as a pipeline of Apache Beam: " +
			"on this machine, or on any runner that Beam's Go SDK submits to. The runner is the shuffler.",
		Example: "--plan plan.json --round 3.round --reports 'in/*.reports' --book book --shuffled " +
			"3.shuffled --out 4.round",
		Input: "reports", Repeated: "shuffling", Rules: learning.Rules, Run: run,
	}.Main()
}

func run(ctx context.Context, engine darrmbeam.Engine) (err error) {
	if job.PlanFile == "" || job.RoundFile == "" {
		return &release.UsageError{Err: errors.New("--plan or --round is missing: the files of darrm " +
			"federated init")}
	}
	if job.Plan, err = frame.Read(ctx, job.PlanFile, rounds.MaxPlan); err != nil {
		return err
	}
	plan, err := rounds.ReadPlan(job.Plan) // whose size says how large a round may be
	if err != nil {
		return fmt.Errorf("%s: %w", job.PlanFile, err)
	}
	if job.Round, err = frame.Read(ctx, job.RoundFile, plan.MaxRound()); err != nil {
		return err
	}
	job.Reports, job.Engine = reports, engine
	r, err := darrmbeam.RunRound(ctx, job)
	if err != nil {
		return err
	}
	if len(r.Missing) > 0 {
		var silos []int
		for _, m := range r.Missing {
			silos = append(silos, m+1)
		}
		frame.Say("without silos %v, which the price allows for", silos)
	}
	frame.Say("round %d: the reports of %d silos, shuffled: %d of gradients, %d of differences",
		r.Asked.Round, r.Silos, r.Reports[0], r.Reports[1])
	switch {
	case r.Next.Local != nil:
		frame.Say("round %d waits for %d local steps of silo %d (darrm federated local)", r.Next.Round,
			plan.LocalSteps(), r.Next.Local.Silo+1)
	case plan.Finished(r.Next):
		frame.Say("all %d rounds are done: %s-DP", plan.Rounds(), plan.Cost().Short())
	default:
		frame.Say("round %d of %d is next", r.Next.Round, plan.Rounds())
	}
	return nil
}
