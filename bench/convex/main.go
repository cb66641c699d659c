// The program convex times private training of a linear model by learn/convex beside numpy and
// scikit-learn on the same work.
//
//	go run ./bench/convex [-n 100000] [-d 50]
//
// It needs a Python with numpy, scipy and scikit-learn ($PYTHON, else the first in PATH that has
// them, or the system's).
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/bench/peers"
	"github.com/darrm/darrm/learn/convex"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/train"
)

func main() {
	n := flag.Int("n", 100_000, "records")
	d := flag.Int("d", 50, "features")
	flag.Parse()
	peers.End("convex", run(*n, *d))
}

func run(n, d int) error {
	records, err := normals(n, d)
	if err != nil {
		return err
	}
	setting := convex.Setting{Radius: 1, Target: accountant.Cost{Epsilon: 1, Delta: 1e-6}}
	setting.Loss = loss.GLM[loss.Hinge]{}
	pass, err := seconds(convex.PhasedSGD{Setting: setting, Ball: 1}, records)
	if err != nil {
		return err
	}
	setting.Loss = loss.Logistic{}
	objective, err := seconds(convex.ObjectivePerturbation{Setting: setting, Ball: 1}, records)
	if err != nil {
		return err
	}
	var numpy, sklearn, peer float64
	interpreter, err := peers.Python("numpy,scipy,sklearn")
	if err != nil {
		return err
	}
	python := exec.Command(interpreter, "bench/convex/numpy_convex.py", fmt.Sprint(n), fmt.Sprint(d))
	python.Stderr = os.Stderr
	out, err := python.Output()
	if err != nil {
		return err
	}
	if _, err := fmt.Sscan(strings.ReplaceAll(string(out), "\n", " "), &numpy, &sklearn,
		&peer); err != nil {
		return err
	}
	fmt.Printf("Seconds, %d records with %d features, ratio to learn/convex:\n\n", n, d)
	fmt.Println("| work | learn/convex | numpy, scipy | ratio | scikit-learn | ratio |")
	fmt.Println("|---|---:|---:|---:|---:|---:|")
	fmt.Printf("| one pass, hinge (phased-sgd) | %.3f | %.3f | %.1f | %.3f | %.1f |\n", pass, numpy,
		numpy/pass, sklearn, sklearn/pass)
	fmt.Printf("| objective perturbation, logistic | %.3f | %.3f | %.1f | - | - |\n", objective, peer,
		peer/objective)
	return nil
}

// normals returns records with directions drawn uniformly, and labels of a noisy plane.
func normals(n, d int) (*data.Records, error) {
	rng := rand.New(rand.NewPCG(1, 2))
	plane := make([]float64, d)
	for j := range plane {
		plane[j] = rng.NormFloat64()
	}
	x, y := make([]float64, n*d), make([]float64, n)
	for i := range n {
		row, size, score := x[i*d:(i+1)*d], 0.0, 0.3*rng.NormFloat64()
		for j := range row {
			row[j] = rng.NormFloat64()
			size += row[j] * row[j]
		}
		for j := range row {
			row[j] /= math.Sqrt(size)
			score += row[j] * plane[j]
		}
		if score > 0 {
			y[i] = 1
		}
	}
	return data.NewRecords(n, d, x, y)
}

// seconds returns how long one private model takes, planning included: the least of three.
func seconds(m convex.Method, r *data.Records) (float64, error) {
	least := math.Inf(1)
	for range 3 {
		begin := time.Now()
		plan, err := m.Plan(r.Len(), r.Dim())
		if err != nil {
			return 0, err
		}
		algorithm, err := plan.Train(r)
		if err != nil {
			return 0, err
		}
		release, err := train.NewRelease(algorithm)
		if err != nil {
			return 0, err
		}
		if _, err := release.Run(context.Background(), nil); err != nil {
			return 0, err
		}
		least = min(least, time.Since(begin).Seconds())
	}
	return least, nil
}
