package shuffleg

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// BenchmarkRunAgainstNormals runs mean estimation and logistic regression of MNIST's size
// in turn with drawing the same number of normals alone, so that both meet the same load,
// and reports the ratio of the two times. What is asked for is at most 1.5.
func BenchmarkRunAgainstNormals(b *testing.B) {
	const n, d, epochs = 1000, 784, 5
	private := gaussians(b, 1, n, d, func(int) float64 { return 0.1 }, 0.2, true)
	for _, task := range []Task{MeanEstimation{}, Logistic{}} {
		for _, release := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/release=%t", task.Name(), release), func(b *testing.B) {
				c := config(DPShuffleG)
				c.Task, c.StepSize, c.Epochs = task, 1e-5, epochs
				p := plan(b, c, private, nil)
				z := make([]float64, d)
				var alone, whole time.Duration
				for b.Loop() {
					s := normals{seededKey(1).stream(streamNoise, 0), release}
					begin := time.Now()
					for range n * epochs {
						s.fill(z)
					}
					alone += time.Since(begin)
					begin = time.Now()
					e := newEngine(p, seededKey(1), release)
					for !e.done() {
						if err := e.runEpoch(context.Background()); err != nil {
							b.Fatal(err)
						}
					}
					whole += time.Since(begin)
				}
				b.ReportMetric(float64(whole)/float64(alone), "ratio")
				b.ReportMetric(float64(whole.Nanoseconds())/float64(b.N)/(n*d*epochs), "ns/normal")
			})
		}
	}
}
