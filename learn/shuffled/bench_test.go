package shuffled

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/learn/loss"
)

// BenchmarkRunAgainstNormals runs mean estimation and logistic regression of MNIST's size,
// epoch by epoch in turn with drawing as many normals alone, and reports the ratio of the
// fastest epoch to the fastest drawing: what else the machine does is not in it. What is
// asked for is at most 1.5.
func BenchmarkRunAgainstNormals(b *testing.B) {
	const n, d, epochs = 1000, 784, 20
	private := gaussians(b, 1, n, d, func(int) float64 { return 0.1 }, 0.2, true)
	for _, task := range []loss.Loss{loss.MeanEstimation{}, loss.Logistic{}} {
		for _, release := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/release=%t", task.Name(), release), func(b *testing.B) {
				c := config(DPShuffleG)
				c.Task, c.StepSize, c.Epochs = task, 1e-5, epochs
				p := plan(b, c, private, nil)
				z := make([]float64, d)
				alone, whole := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
				coins := stream.Restore(stream.Seeded(1).Key(), release)
				s := coins.Normals()
				s.Restart(streamNoise, 0)
				for b.Loop() {
					e := p.start(coins)
					for k := range epochs {
						begin := time.Now()
						for range n {
							s.Fill(z)
						}
						alone = min(alone, time.Since(begin))
						begin = time.Now()
						if err := e.Round(context.Background(), k); err != nil {
							b.Fatal(err)
						}
						whole = min(whole, time.Since(begin))
					}
				}
				b.ReportMetric(float64(whole)/float64(alone), "ratio")
				b.ReportMetric(float64(whole.Nanoseconds())/(n*d), "ns/normal")
			})
		}
	}
}
