// The program pairwise times learning from pairs by learn/pairwise beside numpy on the same records
// and the same draws: steps of Algorithm 1 for 10³ to 10⁶ records, gradients over all pairs as
// libraries of AUC maximisation work them out, and what drawing a pair costs.
//
//	go run ./bench/pairwise [-d 8] [-steps 100000]
//	go run ./bench/pairwise -seconds
//
// With -seconds it times Algorithm 3 and DPEGD at the sizes of the source's Table G.5, without
// Python.
//
// It needs a Python with numpy ($PYTHON, else the first in PATH that has it, or the system's).
// Values that both work out are compared, and must be equal up to rounding.
package main

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/bench/peers"
	"github.com/darrm/darrm/bench/processor"
	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/pairwise"
	"github.com/darrm/darrm/learn/train"
)

func main() {
	d := flag.Int("d", 8, "features")
	steps := flag.Int("steps", 100_000,
		"steps of Algorithm 1 in a run, of which the fastest counts; at least a pass")
	table := flag.Bool("seconds", false, "the seconds of the source's Table G.5 instead")
	flag.Parse()
	err := error(nil)
	if *table {
		err = seconds()
	} else {
		err = run(*d, *steps)
	}
	peers.End("pairwise", err)
}

// python holds the results of numpy_pairwise.py.
type python struct {
	Steps     float64   `json:"steps"`     // seconds of Algorithm 1
	Model     []float64 `json:"model"`     // the average of its iterates
	Risk      float64   `json:"risk"`      // mean loss over all pairs of that model
	Gradient  float64   `json:"gradient"`  // seconds of a gradient over all pairs
	Descent   float64   `json:"descent"`   // seconds until descent on it has the model's mean loss
	Gradients int       `json:"gradients"` // of that descent
	Index     float64   `json:"index"`     // seconds to draw an index
	Listed    float64   `json:"listed"`    // to list all pairs, and draw one of them
}

const numpySteps = 20_000 // a step takes numpy microseconds

func run(d, steps int) error {
	const seed, eta, ball = 7, .1, 10
	pair, err := loss.ParsePair("logistic")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "pairwise")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Printf("Algorithm 1, logistic loss, %d features: nanoseconds of the processor a step, "+
		"fastest of 12 runs of %d steps or a pass (numpy: of 3 of %d).\n\n", d, steps, numpySteps)
	fmt.Println("| records | Algorithm 1 | ÷ that for 1000 | numpy | ÷ Algorithm 1 | in order " +
		"(Algorithm 2) | ÷ that for 1000 |")
	fmt.Println("|---:|---:|---:|---:|---:|---:|---:|")
	small, smallest := 0.0, 0.0
	var all python
	var records *data.Records
	var gradient, pairs float64
	for _, n := range []int{1_000, 10_000, 100_000, 1_000_000} {
		r, err := gaussians(n, d)
		if err != nil {
			return err
		}
		passes := max(1, steps/n)
		m := pairwise.SGD{Setting: pairwise.Setting{Base: pairwise.Base{Loss: pair}, Ball: ball},
			Schedule: pairwise.Schedule{StepSize: eta}, Passes: passes}
		_, took, err := timed(m, r, seed)
		if err != nil {
			return err
		}
		each := took / float64(n*passes) * 1e9
		small = cmp.Or(small, each)
		ordered := m
		ordered.Sampling = pairwise.InOrder
		if _, took, err = timed(ordered, r, seed); err != nil {
			return err
		}
		line := took / float64(n*passes) * 1e9
		smallest = cmp.Or(smallest, line)
		// The same steps as numpy's, on the first records: a pass of so many.
		own, err := r.Head(min(n, numpySteps))
		if err != nil {
			return err
		}
		m.Passes = numpySteps / own.Len()
		w, _, err := timed(m, own, seed)
		if err != nil {
			return err
		}
		p, err := numpy(dir, own, draws(own.Len(), m.Passes, seed), r, eta, ball, n == 1_000)
		if err != nil {
			return err
		}
		if floats.Distance(w, p.Model, 2) > 1e-9*floats.Norm(w, 2) {
			return fmt.Errorf("n = %d: the models are %v and %v", n, w, p.Model)
		}
		fmt.Printf("| %d | %.1f | %.2f | %.0f | %.0f | %.1f | %.2f |\n", n, each, each/small, p.Steps*1e9,
			p.Steps*1e9/each, line, line/smallest)
		if n == 1_000 {
			all, records = p, own
			begin := processor.Time()
			risk := pairwise.Risk(pair, own, w)
			pairs = (processor.Time() - begin)
			if math.Abs(risk-p.Risk) > 1e-9*risk {
				return fmt.Errorf("the mean losses over all pairs are %v and %v", risk, p.Risk)
			}
			if gradient, err = fullBatch(pair, own); err != nil {
				return err
			}
		}
	}
	fmt.Print("\nThe models of both are equal to 9 digits. The same work is done whatever n: in " +
		"order it takes as long. Algorithm 1 draws records anywhere, and\nwhere they are more than the " +
		"caches hold each step waits for memory, in numpy as here.\n\n")
	_, took, err := timed(pairwise.SGD{Setting: pairwise.Setting{Base: pairwise.Base{Loss: pair},
		Ball: ball}, Schedule: pairwise.Schedule{StepSize: eta}, Passes: numpySteps / records.Len()},
		records, seed)
	if err != nil {
		return err
	}
	fmt.Printf("All pairs, 1000 records: microseconds.\n\n| work | learn/pairwise | numpy | ratio " +
		"|\n|---|---:|---:|---:|\n")
	fmt.Printf("| one step of Algorithm 1 | %.3f | %.1f | %.0f |\n", small/1e3, all.Steps*1e6,
		all.Steps*1e9/small)
	fmt.Printf("| mean loss over all pairs (equal) | %.0f | - | - |\n", pairs*1e6)
	fmt.Printf("| one gradient over all pairs | %.0f | %.0f | %.1f |\n", gradient*1e6,
		all.Gradient*1e6, all.Gradient/gradient)
	fmt.Printf("| to the same mean loss: %d steps, or %d gradients over all pairs | %.0f | %.0f "+
		"| %.1f |\n", numpySteps, all.Gradients, took*1e6, all.Descent*1e6, all.Descent/took)
	sampling(all)
	return nil
}

// seconds prints the seconds of Algorithm 3 and of DPEGD beside those of the source's Table G.5,
// for records of as many features, ε = 1 and δ = 1/n. Both methods do the source's work, and their
// noise costs no time.
func seconds() error {
	fmt.Print("Seconds of the processor, ε = 1, fastest of 12 runs; printed ones are of another machine " +
		"and language, so that their ratio is what compares.\n\n")
	fmt.Println("| set | n | Algorithm 3 | DPEGD | ratio | printed: Algorithm 3 | DPEGD | ratio |")
	fmt.Println("|---|---:|---:|---:|---:|---:|---:|---:|")
	pair, err := loss.ParsePair("logistic")
	if err != nil {
		return err
	}
	for _, c := range []struct {
		set      string
		d, n     int
		one, all float64 // as printed
	}{
		{"diabetes", 8, 100, .046, .421}, {"diabetes", 8, 200, .096, .885}, {"diabetes", 8, 300, .135, 1.41},
		{"german", 24, 100, .377, 1.00}, {"german", 24, 200, .637, 1.88}, {"german", 24, 300, .767, 2.57},
	} {
		r, err := gaussians(c.n, c.d)
		if err != nil {
			return err
		}
		s := pairwise.Setting{Base: pairwise.Base{Loss: pair, Radius: 1}, Ball: 1}
		s.Target.Epsilon, s.Target.Delta = 1, 1/float64(c.n)
		_, one, err := timed(pairwise.Localized{Setting: s, StepSize: 1}, r, 1)
		if err != nil {
			return err
		}
		_, all, err := timed(pairwise.FullBatch{Setting: s, StepSize: 1}, r, 1)
		if err != nil {
			return err
		}
		fmt.Printf("| %s | %d | %.5f | %.5f | %.1f | %.3f | %.3f | %.1f |\n", c.set, c.n, one, all, all/one,
			c.one, c.all, c.all/c.one)
	}
	return nil
}

// fullBatch returns the seconds of one step of gradient descent over all pairs.
func fullBatch(pair loss.Pair, r *data.Records) (float64, error) {
	s := pairwise.Setting{Base: pairwise.Base{Loss: pair, Radius: 1}, Ball: 1}
	s.Target.Epsilon, s.Target.Delta = 1, 1e-5
	const passes = .1
	_, took, err := timed(pairwise.FullBatch{Setting: s, StepSize: 1, Passes: passes}, r, 1)
	work := 0.0 // in gradients over all records
	for n := r.Len() / 2; n >= 2; n /= 2 {
		share := float64(n) / float64(r.Len())
		work += max(1, float64(int(float64(n)*passes))) * share * share
	}
	return took / work, err
}

// sampling prints what a draw costs.
func sampling(p python) {
	rng := stream.Seeded(1).Stream("index", 0)
	const n, draws = 1_000, 1_000_000
	begin := processor.Time()
	sum := uint64(0)
	for range draws {
		sum += stream.Below(rng, n)
	}
	one := (processor.Time() - begin) / draws
	begin = processor.Time()
	for range draws {
		i, j := stream.Below(rng, n), stream.Below(rng, n-1)
		if j >= i {
			j++
		}
		sum += i + j
	}
	two := (processor.Time() - begin) / draws
	fmt.Printf("\nDrawing from 1000 records, nanoseconds (%d): a listed pair is drawn from a list "+
		"of all %d of them, as the source's code does; both others cost the same for any n.\n\n", sum%2,
		n*(n-1)/2)
	fmt.Println("| draw | learn/pairwise | numpy | ratio |")
	fmt.Println("|---|---:|---:|---:|")
	fmt.Printf("| an index | %.1f | %.0f | %.0f |\n", one*1e9, p.Index*1e9, p.Index/one)
	fmt.Printf("| two different indices | %.1f | - | - |\n", two*1e9)
	fmt.Printf("| a listed pair, with the list | - | %.0f | %.0f |\n", p.Listed*1e9, p.Listed/two)
}

// timed returns a method's model and its seconds: the least of twelve.
func timed(m pairwise.Method, r *data.Records,
	seed uint64) (w []float64, least float64, err error) {
	least = math.Inf(1)
	for range 12 {
		plan, err := m.Plan(r.Len(), r.Dim())
		if err != nil {
			return nil, 0, err
		}
		a, err := plan.Train(r)
		if err != nil {
			return nil, 0, err
		}
		begin := processor.Time()
		if w, err = train.Simulate(a, seed).Run(context.Background(), nil); err != nil {
			return nil, 0, err
		}
		least = min(least, processor.Time()-begin)
	}
	return w, least, nil
}

// draws returns the records that a simulation of Algorithm 1 draws.
func draws(n, passes int, seed uint64) []int {
	var out []int
	for k := range passes {
		rng := stream.Seeded(seed).Stream("index", k)
		for range n + 1 - min(k, 1) {
			out = append(out, int(stream.Below(rng, uint64(n))))
		}
	}
	return out
}

// numpy has the script do the steps of draws on records, among all of which they lie, and, where
// more is set, what else it measures.
func numpy(dir string, own *data.Records, draws []int, all *data.Records, eta, ball float64,
	more bool) (p python, err error) {
	path := filepath.Join(dir, "records")
	var b []byte
	for i := range own.Len() {
		for _, v := range append([]float64{own.Response(i)}, own.Row(i)...) {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		return p, err
	}
	b = b[:0]
	for _, i := range draws {
		b = binary.LittleEndian.AppendUint64(b, uint64(i))
	}
	if err := os.WriteFile(path+".draws", b, 0o600); err != nil {
		return p, err
	}
	interpreter, err := peers.Python("numpy")
	if err != nil {
		return p, err
	}
	c := exec.Command(interpreter, "bench/pairwise/numpy_pairwise.py", path, fmt.Sprint(own.Dim()),
		fmt.Sprint(eta), fmt.Sprint(ball), fmt.Sprint(more), fmt.Sprint(all.Len()))
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return p, err
	}
	return p, json.Unmarshal(out, &p)
}

// gaussians are two classes whose best AUC is .92.
func gaussians(n, d int) (*data.Records, error) {
	rng := rand.New(rand.NewPCG(1, 2))
	x, y := make([]float64, 0, n*d), make([]float64, n)
	for i := range n {
		y[i] = float64(rng.IntN(2))
		shift := 2*y[i] - 1
		for range d {
			x = append(x, .2*(shift+rng.NormFloat64()))
			shift = 0
		}
	}
	return data.NewRecords(n, d, x, y)
}
