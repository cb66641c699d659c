package training

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/model"
	"github.com/darrm/darrm/learn/pairwise"
	"github.com/darrm/darrm/learn/train"
)

var metricFamily = family{
	name: "metric", mechanism: pairwise.Mechanism,
	methods: func() methods { return methods{familyFlags: new(metricFlags)} },
	trains: commandText{
		use:   "--private FILE --radius R --ball B --eps ε --delta δ --task logistic",
		short: "Learn a distance privately that puts records of one class near each other",
		long: `Learn one Mahalanobis distance (x-x')ᵀM(x-x') from pairs of records: those of one class
are to be near each other, others far. M is positive semidefinite, of Frobenius norm
--ball at most. The response is the class, any numbers.

The model is M, row by row. "darrm predict" puts records where Euclid's distance is the
learned one: give its columns to whatever takes distances, such as nearest neighbours.
"darrm evaluate" says how often a record's nearest neighbour has its class.

All noise follows from --eps and --delta, which are met for any records: --radius is a
public bound; longer records are shortened to it. M has d² numbers, each with noise:
expect to need some ten thousand records for a handful of features.

Checkpoint, ledger and what may be published are as in darrm train shuffled. Tuning on the
private data is not covered.`,
		example: `  darrm train metric --private a.csv --response y --task logistic --radius 1 --ball 10 --eps 2 --delta 1e-6 -o model.json
  darrm predict model.json new.csv -o coordinates.csv`,
	},
	accounts: commandText{
		use:   "--n records --dim features --task logistic --radius R --ball B --eps ε --delta δ",
		short: "Price a training by train metric, before there are data",
		long: "Price a training by darrm train metric, before there are data: Δ is the sensitivity " +
			"of the\nfirst phase's matrix in Frobenius norm, σ the noise on its diagonal.",
		example: "  darrm account train metric --n 100000 --dim 4 --task logistic --radius 1 --ball 10 " +
			"--eps 2 --delta 1e-6",
	},
}

// metricFlags hold the parameters of pairwise.Metric.
type metricFlags struct {
	methodFlags
	Ball      float64 `flag:"ball" help:"B, the largest Frobenius norm of the matrix"`
	Threshold float64 `flag:"threshold" help:"squared distance that is neither near nor far (default: the squared radius)"`
	StepSize  float64 `flag:"step-size" help:"η; the first phase takes a quarter of it (default: the theory's)"`
}

func (f *metricFlags) register(c *cobra.Command) {
	f.methodFlags.register(c, []string{"metric"}, "logistic", "")
	cli.OneOf(c, "task", "logistic")
	cli.Register(c, f)
}

func (f *metricFlags) Check(c *cobra.Command) error {
	return cmp.Or(cli.Refuse(c, "is not for --method "+f.Method, "clip", "grid"),
		cli.Require(c, "radius", "ball", "eps", "delta"))
}

func (f *metricFlags) about() modelKind {
	return modelKind{task: "logistic", paidFor: "logistic pairs", set: fmt.Sprintf("psd:%g", f.Ball),
		link: model.LinkMetric}
}

func (f *metricFlags) plan(_ context.Context, n, d int) (train.Plan, error) {
	return f.named(pairwise.Metric{Radius: f.Radius, Bound: f.Ball, Threshold: f.Threshold,
		StepSize: f.StepSize, Target: f.target()}.Plan(n, d))
}

// measure searches for neighbours among a part of the records, since all would take n² distances.
func (f *metricFlags) measure(r *data.Records) func(w []float64) string {
	const most = 2000
	rows := make([]int, min(most, r.Len()))
	for i := range rows {
		rows[i] = i
	}
	return func(w []float64) string {
		some, err := r.Select(rows)
		if err != nil {
			return err.Error()
		}
		m := model.Model{Link: model.LinkMetric, Weights: w}
		e, err := m.Evaluate(some)
		if err != nil {
			return err.Error()
		}
		return fmt.Sprintf("nearest neighbours of the same class: %s, by Euclid's distance %s, among %d",
			num.Percent(*e.Nearest), num.Percent(*e.NearestEuclid), e.Records)
	}
}
