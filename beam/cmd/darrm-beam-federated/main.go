// Command darrm-beam-federated does a shuffler's and a server's work on one round of darrm federated as an
// Apache Beam pipeline: on this machine, or on any runner that the Go SDK can submit to.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

	darrmbeam "github.com/darrm/darrm/beam"
	"github.com/darrm/darrm/beam/cmd/internal/frame"
	"github.com/darrm/darrm/internal/readfile"
	"github.com/darrm/darrm/learn/federated/rounds"
)

var (
	job     darrmbeam.RoundJob
	reports frame.Paths
)

func init() {
	flag.StringVar(&job.PlanFile, "plan", "", "the run's plan, of darrm federated init (required); it is priced again")
	flag.StringVar(&job.RoundFile, "round", "", "the round that the silos answered (required)")
	flag.Var(&reports, "reports", "file or pattern of the silos' reports (required); may be given several times. Nothing depends on names or order")
	flag.StringVar(&job.Book.Folder, "book", "", "folder where this shuffler remembers which rounds it released (required); one for all rounds and runs")
	flag.BoolVar(&job.Book.Begins, "new-book", false, "state that no other book released this round: accept one that does not know the round before")
	flag.StringVar(&job.Out, "out", "", "file for the next round (required)")
	flag.StringVar(&job.Shuffled, "shuffled", "", "file for the shuffled reports, as darrm federated shuffle writes them (default: none)")
}

func main() { frame.Main("reports", "shuffling", run) }

func run(ctx context.Context, engine darrmbeam.Engine) (err error) {
	if job.PlanFile == "" || job.RoundFile == "" {
		return errors.New("--plan or --round is missing: the files of darrm federated init")
	}
	if job.Plan, err = readfile.Whole(ctx, job.PlanFile, rounds.MaxPlan); err != nil {
		return err
	}
	plan, err := rounds.ReadPlan(job.Plan) // whose size says how large a round may be
	if err != nil {
		return fmt.Errorf("%s: %w", job.PlanFile, err)
	}
	if job.Round, err = readfile.Whole(ctx, job.RoundFile, plan.MaxRound()); err != nil {
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
		fmt.Fprintf(os.Stderr, "without silos %v, which the price allows for\n", silos)
	}
	fmt.Fprintf(os.Stderr, "round %d: the reports of %d silos, shuffled: %d of gradients, %d of differences\n", r.Asked.Round, r.Silos, r.Reports[0], r.Reports[1])
	switch {
	case r.Next.Local != nil:
		fmt.Fprintf(os.Stderr, "round %d waits for %d local steps of silo %d (darrm federated local)\n", r.Next.Round, plan.LocalSteps(), r.Next.Local.Silo+1)
	case plan.Finished(r.Next):
		fmt.Fprintf(os.Stderr, "all %d rounds are done: %s-DP\n", plan.Rounds(), plan.Cost().Short())
	default:
		fmt.Fprintf(os.Stderr, "round %d of %d is next\n", r.Next.Round, plan.Rounds())
	}
	return nil
}
