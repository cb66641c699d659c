// Package shuffled_bench puts the training loop of package shuffled beside a plain numpy
// loop:
//
//	go test -run '^$' -bench . ./bench/shuffled
//
// It needs a Python with numpy (apt-get install python3-numpy), $PYTHON or the system's.
package shuffled_bench

import (
	"context"
	"fmt"
	"math"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/bench/peers"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/shuffled"
	"github.com/darrm/darrm/learn/shuffled/iteration"
	"github.com/darrm/darrm/learn/train"
)

const (
	eta   = 1e-5
	clip  = 10.0
	sigma = 161.0921424
)

// numpy runs the script and returns its output.
func numpy(t testing.TB, python string, n, d, epochs int,
	sigma float64) (loop, alone, objective float64) {
	t.Helper()
	out, err := exec.Command(python, "numpy_shuffled.py", fmt.Sprint(n), fmt.Sprint(d),
		fmt.Sprint(epochs), fmt.Sprint(eta), fmt.Sprint(clip), fmt.Sprint(sigma)).Output()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fscan(strings.NewReader(string(out)), &loop, &alone, &objective); err != nil {
		t.Fatalf("%q: %v", out, err)
	}
	return loop, alone, objective
}

func sines(t testing.TB, n, d int) *data.Records {
	t.Helper()
	x := make([]float64, n*d)
	for i := range x {
		x[i] = math.Sin(float64(i + 1))
	}
	return must.Get(data.NewRecords(n, d, x, nil))(t)
}

func newPlan(t testing.TB, r *data.Records, epochs int, sigma float64) *shuffled.Plan {
	t.Helper()
	c := shuffled.Config{
		Task: loss.MeanEstimation{}, Regularizer: geometry.Ball{Radius: 10}, Method: shuffled.DPShuffleG,
		Epochs: epochs,
		Order:  iteration.Reshuffled, StepSize: eta, Clip: clip, Noise: sigma,
		Target: accountant.Cost{Delta: 1e-6},
	}
	if sigma == 0 {
		c.Method, c.Order = shuffled.ShuffleG, iteration.FixedOrder
	}
	return must.Get(shuffled.NewPlan(t.Context(), c, r, nil))(t)
}

// Two programs that share nothing but the formulas end at the same objective without
// noise. 1e-9 allows for sums in another order.
func TestNumpyAgrees(t *testing.T) {
	python, err := peers.Python("numpy")
	if err != nil {
		t.Skip(err)
	}
	const n, d, epochs = 50, 30, 4
	_, _, theirs := numpy(t, python, n, d, epochs, 0)
	r := sines(t, n, d)
	x, err := train.Simulate(newPlan(t, r, epochs, 0).Algorithm(), 1).Run(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if ours := (train.Problem{Loss: loss.MeanEstimation{}, Regularizer: geometry.Ball{Radius: 10},
		Records: r}).Objective(x); math.Abs(ours-theirs) > 1e-9*ours {
		t.Errorf("objective %.17g, numpy's %.17g", ours, theirs)
	}
}

// The loops in turn, in one run. numpy/ours is the ratio of the two loops' times.
func BenchmarkAgainstNumpy(b *testing.B) {
	python, err := peers.Python("numpy")
	if err != nil {
		b.Skip(err)
	}
	for _, size := range []struct{ n, d, epochs int }{{1000, 784, 5}, {2103, 11, 20}, {159, 124, 50}} {
		b.Run(fmt.Sprintf("n=%d,d=%d,K=%d", size.n, size.d, size.epochs), func(b *testing.B) {
			p := newPlan(b, sines(b, size.n, size.d), size.epochs, sigma)
			var ours, theirs, normals float64
			for b.Loop() {
				begin := time.Now()
				if _, err := train.Simulate(p.Algorithm(), 1).Run(context.Background(), nil); err != nil {
					b.Fatal(err)
				}
				ours += time.Since(begin).Seconds()
				loop, alone, _ := numpy(b, python, size.n, size.d, size.epochs, sigma)
				theirs += loop
				normals += alone
			}
			b.ReportMetric(theirs/ours, "numpy/ours")
			b.ReportMetric(theirs/normals, "numpy/its-normals")
			b.ReportMetric(ours/float64(b.N)*1e3, "ours-ms")
		})
	}
}
