// The program sparse times a step of the noisy Frank-Wolfe method on records of which most
// features are 0, as text has them: learn/convex, which touches what is not 0 and draws a
// vertex in constant time, beside plain loops over all n·d numbers with a noise draw for each of
// the 2d vertices, and beside numpy on the same work, dense and with scipy's sparse matrices.
//
//	go run ./bench/sparse [-n 2000] [-per-record 75] [-steps 200] [-gigabytes 1]
//
// Features follow a power law, as words do: column j is drawn with probability ∝ 1/(j+10). It
// needs a Python with numpy and scipy for the last two columns ($PYTHON, else python3).
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/bench/peers"
	"github.com/darrm/darrm/internal/noise"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/learn/convex"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/train"
)

func main() {
	n := flag.Int("n", 2000, "records")
	per := flag.Int("per-record", 75, "features of a record that are not 0, about")
	steps := flag.Int("steps", 200,
		"steps of the sparse runs; dense ones do as many as fit half a second")
	gigabytes := flag.Float64("gigabytes", 1, "up to how much memory the dense loops may take")
	flag.Parse()
	peers.End("sparse", run(*n, *per, *steps, *gigabytes))
}

func run(n, per, steps int, gigabytes float64) error {
	python, _ := peers.Python("numpy, scipy.sparse") // without it, the columns are NaN
	fmt.Printf("Microseconds a step, %d records with about %d features each, ratio to "+
		"learn/convex:\n\n", n, per)
	fmt.Println("| d | not 0 | convex | coarse | dense | ratio | numpy | ratio | scipy | ratio |")
	fmt.Println("|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
	for _, d := range []int{1000, 10_000, 47_236, 100_000, 1_000_000} {
		r, err := records(n, d, per)
		if err != nil {
			return err
		}
		sparse, err := step(r, steps, 0)
		if err != nil {
			return err
		}
		coarse, err := step(r, steps, 8)
		if err != nil {
			return err
		}
		fits := float64(n)*float64(d)*8 <= gigabytes*1e9
		dense, numpy, scipy := math.NaN(), math.NaN(), math.NaN()
		if fits {
			if dense, err = denseStep(r); err != nil {
				return err
			}
		}
		if python != "" {
			if numpy, scipy, err = pythonStep(python, n, d, per, fits); err != nil {
				return err
			}
		}
		cell := func(v float64) string {
			if math.IsNaN(v) {
				return "- | -"
			}
			return fmt.Sprintf("%.0f | %.1f", v*1e6, v/sparse)
		}
		fmt.Printf("| %d | %.4f %% | %.0f | %.0f | %s | %s | %s |\n", d,
			100*float64(r.NonZeros())/float64(n)/float64(d), sparse*1e6, coarse*1e6, cell(dense),
			cell(numpy), cell(scipy))
	}
	fmt.Printf("\n- is more than %g GB, or no Python with numpy and scipy.\n", gigabytes)
	return nil
}

// records are n records with power-law features and a label that three of them decide.
func records(n, d, per int) (*data.Sparse, error) {
	rng := rand.New(rand.NewPCG(1, uint64(d)))
	total := math.Log((float64(d) + 10) / 10)
	b := data.SparseBuilder{Dim: d}
	for range n {
		columns := make([]int32, per)
		for k := range columns { // by inversion of the power law
			columns[k] = int32(min(float64(d-1), 10*math.Exp(rng.Float64()*total)-10))
		}
		slices.Sort(columns)
		columns = slices.Compact(columns)
		values, z := make([]float64, len(columns)), -0.5
		for k, j := range columns {
			values[k] = 1 - rng.Float64()
			if j == 3 || j == 8 || j == 20 {
				z += 4 * values[k]
			}
		}
		y := 0.0
		if rng.Float64() < 1/(1+math.Exp(-z)) {
			y = 1
		}
		if err := b.Add(columns, values, y); err != nil {
			return nil, err
		}
	}
	return b.Records()
}

// step returns the seconds that a step of the method takes, the least of three runs.
func step(r *data.Sparse, steps, bits int) (float64, error) {
	ball, err := geometry.NewL1Ball(r.Dim(), 10)
	if err != nil {
		return 0, err
	}
	p, err := convex.FrankWolfe{
		Setting: convex.Setting{Loss: loss.Logistic{}, Radius: 1,
			Target: accountant.Cost{Epsilon: 1, Delta: 1e-6}},
		Set: ball, Steps: steps, SlopeBits: bits,
	}.Plan(r.Len(), r.Dim())
	if err != nil {
		return 0, err
	}
	a, err := p.TrainSparse(r)
	if err != nil {
		return 0, err
	}
	best := math.Inf(1)
	for seed := range 3 {
		s := train.Simulate(a, uint64(seed))
		begin := time.Now()
		if _, err := s.Run(context.Background(), nil); err != nil {
			return 0, err
		}
		best = min(best, time.Since(begin).Seconds()/float64(steps))
	}
	return best, nil
}

// denseStep returns the seconds that a step takes in plain loops.
func denseStep(r *data.Sparse) (float64, error) {
	n, d := r.Len(), r.Dim()
	x := make([]float64, n*d)
	for i := range n {
		columns, values := r.Row(i)
		for k, j := range columns {
			x[i*d+int(j)] = values[k]
		}
	}
	law, err := noise.NewLaplace(1<<30, 1)
	if err != nil {
		return 0, err
	}
	src := randsrc.NewSeeded(1)
	w, g, steps := make([]float64, d), make([]float64, d), 0
	begin := time.Now()
	for steps == 0 || time.Since(begin) < time.Second/2 {
		steps++
		clear(g)
		for i := range n {
			row, z := x[i*d:(i+1)*d], 0.0
			for j, v := range row {
				z += v * w[j]
			}
			slope := 1/(1+math.Exp(-z)) - r.Response(i)
			for j, v := range row {
				g[j] += slope * v
			}
		}
		best, least := 0, int64(math.MaxInt64)
		for v := range 2 * d {
			y, err := law.Sample(src)
			if err != nil {
				return 0, err
			}
			if v < d {
				y += int64(g[v] * 1e7)
			} else {
				y -= int64(g[v-d] * 1e7)
			}
			if y < least {
				best, least = v, y
			}
		}
		mu := 3 / float64(steps+2)
		for j := range w {
			w[j] *= 1 - mu
		}
		if best < d {
			w[best] += 10 * mu
		} else {
			w[best-d] -= 10 * mu
		}
	}
	return time.Since(begin).Seconds() / float64(steps), nil
}

// pythonStep returns the seconds a step takes in numpy, NaN where that does not fit, and with
// scipy's sparse matrices.
func pythonStep(python string, n, d, per int, fits bool) (dense, sparse float64, err error) {
	script := "bench/sparse/numpy_sparse.py"
	if _, err := os.Stat(script); err != nil {
		script = "numpy_sparse.py"
	}
	out, err := exec.Command(python, script, fmt.Sprint(n), fmt.Sprint(d), fmt.Sprint(per),
		map[bool]string{true: "1", false: "0"}[fits]).Output()
	if err != nil {
		return 0, 0, fmt.Errorf("%s %s: %w", python, script, err)
	}
	_, err = fmt.Fscan(strings.NewReader(string(out)), &dense, &sparse)
	return dense, sparse, err
}
