// Package sketch_bench puts the decoder of package sketch beside the formula in numpy, which
// makes the d × d matrix S and its eigenvectors:
//
//	go test -run '^$' -bench . -benchtime 1x ./bench/sketch
//
// It needs a Python with numpy (apt-get install python3-numpy), $PYTHON or the system's.
package sketch_bench

import (
	"context"
	"fmt"
	"math"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/darrm/darrm/bench/peers"
	"github.com/darrm/darrm/sketch"
)

// numpy returns the seconds of one decode and its mean squared error for identical unit vectors.
func numpy(t testing.TB, python string, c sketch.Config, rounds int) (seconds, squared float64) {
	t.Helper()
	out, err := exec.Command(python, "numpy_decode.py", fmt.Sprint(c.N), fmt.Sprint(c.K),
		fmt.Sprint(c.D), fmt.Sprint(sketch.RhoAvg(c.N)), fmt.Sprint(rounds)).Output()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fscan(strings.NewReader(string(out)), &seconds, &squared); err != nil {
		t.Fatalf("%q: %v", out, err)
	}
	return seconds, squared
}

// round encodes identical unit vectors.
func round(t testing.TB, c *sketch.Codec) map[uint64][]byte {
	t.Helper()
	x := make([]float64, c.Config().D)
	x[0] = 1
	messages := map[uint64][]byte{}
	for i := range uint64(c.Config().N) {
		m, err := c.Encode(0, i, x)
		if err != nil {
			t.Fatal(err)
		}
		messages[i] = m
	}
	return messages
}

// Two programs that share only the formula have the same mean squared error, which is the
// predicted one. A round deviates by 15 % at d = 128; 15 % of the mean of 40 are 6 standard errors.
func TestNumpyAgrees(t *testing.T) {
	python, err := peers.Python("numpy")
	if err != nil {
		t.Skip(err)
	}
	c := sketch.Config{N: 8, K: 12, D: 128, Ensemble: sketch.SRHT, T: sketch.Transform{Avg: true}}
	want, err := sketch.PredictMSE(context.Background(), c, 7, 8)
	if err != nil {
		t.Fatal(err)
	}
	if _, got := numpy(t, python, c, 40); math.Abs(got-want) > 0.15*want {
		t.Errorf("numpy's squared error is %g, predicted is %g", got, want)
	}
}

// One decode each, in one run; numpy/ours is the ratio of the least times.
func BenchmarkAgainstNumpy(b *testing.B) {
	python, err := peers.Python("numpy")
	if err != nil {
		b.Skip(err)
	}
	for _, v := range [][3]int{{10, 5, 1024}, {10, 25, 1024}, {10, 102, 1024}, {50, 20, 1024}} {
		c := sketch.Config{N: v[0], K: v[1], D: v[2], Ensemble: sketch.SRHT,
			T: sketch.Transform{Avg: true}}
		b.Run(fmt.Sprintf("n=%d,k=%d,d=%d", c.N, c.K, c.D), func(b *testing.B) {
			codec, err := sketch.NewCodec(c)
			if err != nil {
				b.Fatal(err)
			}
			messages := round(b, codec)
			ours, theirs := math.Inf(1), math.Inf(1)
			for b.Loop() {
				for range 20 {
					begin := time.Now()
					if _, err := sketch.Decode(context.Background(), codec, 0, messages); err != nil {
						b.Fatal(err)
					}
					ours = min(ours, time.Since(begin).Seconds())
				}
				seconds, _ := numpy(b, python, c, 3)
				theirs = min(theirs, seconds)
			}
			b.ReportMetric(theirs/ours, "numpy/ours")
			b.ReportMetric(theirs*1e3, "numpy-ms")
			b.ReportMetric(ours*1e3, "ours-ms")
			b.ReportMetric(0, "ns/op")
		})
	}
}
