package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/bench/peers"
	"github.com/darrm/darrm/learn/convex"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/train"
)

// turns is the number of times that the programs of a dense comparison run, one after the other.
const turns = 5

// dense prints the milliseconds of a step on n records without zeros: this program's, those of
// other builds of it, and numpy's.
func dense(n, d, steps int, others []string) error {
	python, err := peers.Python("numpy")
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	mine := []string{"-dense-step", fmt.Sprintf("%dx%d", n, d), "-steps", fmt.Sprint(steps)}
	script := "bench/sparse/numpy_dense.py"
	if _, err := os.Stat(script); err != nil {
		script = "numpy_dense.py"
	}
	programs := []program{{"learn/convex", append([]string{self}, mine...), nil}}
	for _, o := range others {
		programs = append(programs, program{"learn/convex before", append([]string{o}, mine...), nil})
	}
	numbers := []string{python, script, fmt.Sprint(n), fmt.Sprint(d), fmt.Sprint(steps)}
	programs = append(programs,
		program{"numpy, one thread: step", append(slices.Clone(numbers), "step"),
			[]string{"OPENBLAS_NUM_THREADS=1"}},
		program{"numpy, one thread: Xᵀs alone", append(slices.Clone(numbers), "product"),
			[]string{"OPENBLAS_NUM_THREADS=1"}},
		program{"numpy, all threads: step", append(slices.Clone(numbers), "step"), nil})
	times := make([][]float64, len(programs))
	for range turns {
		for i, p := range programs {
			ms, err := p.run()
			if err != nil {
				return err
			}
			times[i] = append(times[i], ms...)
		}
	}
	fmt.Printf("Milliseconds elapsed of a step, %d records of %d features, none of them 0, %d turns "+
		"of %d steps:\n\n", n, d, turns, steps)
	fmt.Println("| program | least | tenth | median | ÷ learn/convex, least | tenth | median |")
	fmt.Println("|---|---:|---:|---:|---:|---:|---:|")
	at := func(i, percent int) float64 { return times[i][percent*(len(times[i])-1)/100] }
	for i := range programs {
		slices.Sort(times[i])
	}
	for i, p := range programs {
		fmt.Printf("| %s | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f |\n", p.name, at(i, 0), at(i, 10),
			at(i, 50), at(i, 0)/at(0, 0), at(i, 10)/at(0, 10), at(i, 50)/at(0, 50))
	}
	return nil
}

// program prints the milliseconds of its steps.
type program struct {
	name    string
	command []string
	env     []string
}

func (p program) run() ([]float64, error) {
	c := exec.Command(p.command[0], p.command[1:]...)
	c.Env = append(os.Environ(), p.env...)
	var problem bytes.Buffer
	c.Stderr = &problem
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", strings.Join(p.command, " "), err, problem.String())
	}
	var ms []float64
	for _, word := range strings.Fields(string(out)) {
		var v float64
		if _, err := fmt.Sscan(word, &v); err != nil {
			return nil, fmt.Errorf("%s: %q: %w", strings.Join(p.command, " "), word, err)
		}
		ms = append(ms, v)
	}
	return ms, nil
}

// denseSteps prints the milliseconds of each step.
func denseSteps(n, d, steps int) error {
	rng := rand.New(rand.NewPCG(1, 1))
	x, y := make([]float64, n*d), make([]float64, n)
	for i := range x {
		x[i] = 2*rng.Float64() - 1
	}
	for i := range y {
		y[i] = float64(rng.IntN(2))
	}
	r, err := data.NewRecords(n, d, x, y)
	if err != nil {
		return err
	}
	ball, err := geometry.NewL1Ball(d, 10)
	if err != nil {
		return err
	}
	p, err := convex.FrankWolfe{
		Setting: convex.Setting{Loss: loss.Logistic{}, Radius: 1,
			Target: accountant.Cost{Epsilon: 1, Delta: 1e-6}},
		Set: ball, Steps: steps + 1,
	}.Plan(n, d)
	if err != nil {
		return err
	}
	a, err := p.Train(r)
	if err != nil {
		return err
	}
	var last time.Time
	_, err = train.Simulate(a, 1).Run(context.Background(), func(int, []float64) error {
		now := time.Now()
		if !last.IsZero() { // the first has all else to make
			fmt.Println(now.Sub(last).Seconds() * 1e3)
		}
		last = now
		return nil
	})
	return err
}
