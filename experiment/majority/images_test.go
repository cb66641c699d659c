package majority

import (
	"bytes"
	"context"
	"encoding/csv"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/cache"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/internal/testing/experimenttest"
	"github.com/darrm/darrm/learn/data"
)

// The whole way on small images: teachers learn, mechanisms answer, tables add up.
func TestImagesEndToEnd(t *testing.T) {
	data := t.TempDir()
	experimenttest.WriteImages(t, filepath.Join(data, "squares"), 3000, 600)
	catalog := experiment.New(Field(solve.Optimal))
	d := experimenttest.Parse(t, catalog, smallImages)
	out := experimenttest.Run(t, d, t.TempDir(), experiment.Options{Data: data})
	for _, c := range out.Result.Failed() {
		t.Errorf("claim fails: %s (%s)", c.Text, c.Evidence)
	}
	experimenttest.EveryClaimCanFail(t, catalog, []byte(smallImages), out,
		experimenttest.Replay(out, experiment.Options{Data: data}))
	if len(out.Record.Steps) != 7 {
		t.Errorf("%d steps, want 7", len(out.Record.Steps))
	}
	if len(out.Record.Inputs) != 4 {
		t.Errorf("inputs: %v", out.Record.Inputs)
	}
	// The exact expectation of every method's accuracy, from the votes file.
	file, err := os.ReadFile(filepath.Join(out.Dir, "votes-plain.csv"))
	if err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(bytes.NewReader(file)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(lines) != 401 || len(lines[0]) != 7 { // two of three labels
		t.Fatalf("%d lines of %d cells", len(lines), len(lines[0]))
	}
	sigma := experimenttest.Value(t, experimenttest.Table(t, out.Result, "setup"), "sigma",
		map[string]any{"m": 3}).(float64)
	want, win := 0.0, map[int]float64{}
	for _, l := range lines[1:] {
		margin := -5
		for _, v := range l[1:6] {
			x, err := strconv.Atoi(v)
			if err != nil {
				t.Fatal(err)
			}
			margin += 2 * x
		}
		if l[6] == "0" {
			margin = -margin
		}
		if _, ok := win[margin]; !ok {
			win[margin] = noisyWin(margin, sigma)
		}
		want += win[margin] / float64(len(lines)-1)
	}
	accuracy := experimenttest.Table(t, out.Result, "accuracy")
	got := experimenttest.Value(t, accuracy, "all",
		map[string]any{"m": 3, "method": string(methodGNMax)}).(float64)
	if math.Abs(got-want) > 1e-9 {
		t.Errorf("GNMax is right with %v, from its votes %v", got, want)
	}
	if right := experimenttest.Value(t, accuracy, "all",
		map[string]any{"m": 3, "method": string(methodMajority)}).(float64); right < 0.9 {
		t.Errorf("teachers without noise are right on %v only", right)
	}
	// Teachers that are trained again, in the same place, vote the same.
	steps, err := cache.Open(filepath.Join(out.Dir, "steps"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(steps.Path("private-teachers")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(out.Dir, "record.json")); err != nil {
		t.Fatal(err)
	}
	again := experimenttest.Run(t, d, filepath.Dir(out.Dir), experiment.Options{Data: data})
	for _, name := range []string{"accuracy.csv", "votes-private.csv", "results.json"} {
		if again.Record.Outputs[name] != out.Record.Outputs[name] {
			t.Errorf("%s differs between two runs", name)
		}
	}
	// Another seed trains others.
	other := experimenttest.Run(t, d, filepath.Dir(out.Dir), experiment.Options{Data: data, Seed: 1})
	if other.Record.Outputs["votes-private.csv"] == out.Record.Outputs["votes-private.csv"] {
		t.Error("another seed gives the same votes")
	}
}

// What DP-SGD rests on: Poisson samples, bounded steps, noise of the right size.
func TestTraining(t *testing.T) {
	const n = 4000
	one := records{labels: make([]float64, n)}
	for range n {
		one.features = append(one.features, []float64{1})
	}
	// Every record's gradient at w = 0 is ½·x: one step with η = 1 moves w by the share of
	// the records that were sampled, over 2q. 400 steps of different streams; the sizes are
	// Binomial(n, q). Mean and variance are within 5 standard errors with probability 1 -
	// 1e-6 over seeds; the seeds are fixed.
	const q, runs = 0.25, 400
	sum, squares := 0.0, 0.0
	for s := range uint64(runs) {
		w, err := training{SamplingRate: q, Steps: 1, LearningRate: 1}.train(one, 7, s)
		if err != nil {
			t.Fatal(err)
		}
		size := -2 * w[0] * q * n
		sum += size
		squares += size * size
	}
	mean := sum / runs
	variance := squares/runs - mean*mean
	if se := math.Sqrt(n * q * (1 - q) / runs); math.Abs(mean-n*q) > 5*se {
		t.Errorf("samples have %v records on average, want %v ± %v", mean, n*q, se)
	}
	if want := n * q * (1 - q); math.Abs(variance-want) > 5*want*math.Sqrt(2.0/runs) {
		t.Errorf("variance of the sample size %v, want %v: is this a Poisson sample?", variance, want)
	}

	// Huge features: a step is at most ηC·(sample)/(qn), and with q = 1 exactly that.
	big := records{features: [][]float64{{3e6, 4e6}}, labels: []float64{0}}
	w, err := training{SamplingRate: 1, Steps: 1, LearningRate: 2, Clip: 0.5}.train(big, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	if norm := math.Hypot(w[0], w[1]); math.Abs(norm-1) > 1e-12 || w[0] >= 0 {
		t.Errorf("a clipped step is %v long, want 1", norm)
	}

	// No signal: a step is noise of standard deviation ησC/(qn) in each of 10,000
	// coordinates. The mean square is within 5 standard errors with probability 1 - 6e-7.
	const coordinates = 10_000
	flat := records{features: [][]float64{make([]float64, coordinates)}, labels: []float64{0}}
	w, err = training{SamplingRate: 0.5, Steps: 1, LearningRate: 3, Clip: 0.1,
		NoiseMultiplier: 7}.train(flat, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	square := dot(w, w) / coordinates
	if want := math.Pow(3*7*0.1/0.5, 2); math.Abs(square-want) > 5*want*math.Sqrt(2.0/coordinates) {
		t.Errorf("mean square of the noise %v, want %v", square, want)
	}
	mean = 0
	for _, v := range w {
		mean += v / coordinates
	}
	if math.Abs(mean) > 5*math.Sqrt(square/coordinates) {
		t.Errorf("mean of the noise %v", mean)
	}
}

// Noise comes from the experiment's seed: one teacher that sees every image in its one step
// learns nothing else that a seed could change.
func TestTeachersAreOfTheirSeed(t *testing.T) {
	data := t.TempDir()
	experimenttest.WriteImages(t, filepath.Join(data, "squares"), 30, 300)
	p := &imageParameters{Data: "squares", Classes: [2]int{0, 1}, Teachers: 1, Pool: 2}
	votes := func(seed uint64) string {
		r := &experiment.Run{Context: context.Background(),
			Options: experiment.Options{Data: data, Seed: seed}}
		v, err := p.trainTeachers(r, training{SamplingRate: 1, Steps: 1, LearningRate: 1, Clip: 1,
			NoiseMultiplier: 1000}, streamPrivate)
		if err != nil {
			t.Fatal(err)
		}
		return v.Votes[0]
	}
	if first := votes(1); first != votes(1) || first == votes(2) {
		t.Error("votes do not depend on the seed alone")
	}
}

// The accountant's figure for a teacher: below the Rényi accountant's that is recorded
// with the votes in testdata/mnist-5v8, and not absurdly so.
func TestTeacherCost(t *testing.T) {
	experimenttest.Numbers(t)
	c, err := training{SamplingRate: 0.0625, Steps: 80, LearningRate: 1, Clip: 1,
		NoiseMultiplier: 12}.cost(1e-4)
	if err != nil {
		t.Fatal(err)
	}
	if !(c.Epsilon > 0.1 && c.Epsilon <= 0.13577) {
		t.Errorf("ε = %v, want in (0.1, 0.13577]", c.Epsilon)
	}
}

func TestFeaturesAndParts(t *testing.T) {
	// Two squares of 2 × 2, one dark, one bright: mean taken off and scaled, ±1/√2.
	x := pooled([]byte{0, 0, 255, 255, 0, 0, 255, 255}, 2, 4, 2)
	if want := []float64{-math.Sqrt2 / 2, math.Sqrt2 / 2, 1}; math.Abs(x[0]-want[0])+
		math.Abs(x[1]-want[1]) > 1e-15 || x[2] != 1 || len(x) != 3 {
		t.Errorf("features %v, want %v", x, want)
	}
	if x := pooled(make([]byte, 8), 2, 4, 2); x[0] != 0 || x[1] != 0 {
		t.Errorf("features of a black image %v", x)
	}
	p := &imageParameters{Classes: [2]int{5, 8}, Pool: 1}
	set := data.LabelledImages{Images: data.Images{N: 5, Rows: 1, Columns: 2,
		Pixels: []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}}, Labels: []byte{8, 5, 3, 5, 8}}
	d, err := p.pick(set, 1)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(d.labels, []float64{1, 0}) {
		t.Errorf("labels %v", d.labels)
	}
	if _, err := (&imageParameters{Classes: [2]int{5, 7}, Pool: 1}).pick(set, 0); err == nil {
		t.Error("a class without images is accepted")
	}
	// Parts are disjoint and equal.
	many := records{}
	for i := range 103 {
		many.features = append(many.features, []float64{float64(i)})
		many.labels = append(many.labels, 0)
	}
	seen := map[float64]bool{}
	for _, part := range many.partition(11, rand.New(words{randsrc.NewSeeded(1)})) {
		if len(part.labels) != 9 {
			t.Errorf("a part has %d records, want 9", len(part.labels))
		}
		for _, x := range part.features {
			if seen[x[0]] {
				t.Errorf("record %v is in two parts", x[0])
			}
			seen[x[0]] = true
		}
	}
}

// noisyWin is Pr[margin + X - Y > 0] + ½Pr[margin + X - Y = 0] for discrete Gaussian X and
// Y of parameter σ, summed as the definition says.
func noisyWin(margin int, sigma float64) float64 {
	reach := int(12*sigma) + 1
	weight := func(k int) float64 { return math.Exp(-float64(k*k) / (2 * sigma * sigma)) }
	total, win := 0.0, 0.0
	for x := -reach; x <= reach; x++ {
		for y := -reach; y <= reach; y++ {
			w := weight(x) * weight(y)
			total += w
			switch d := margin + x - y; {
			case d > 0:
				win += w
			case d == 0:
				win += w / 2
			}
		}
	}
	return win / total
}

// What GNMax draws has the law that is used for expectations, and that is the one of the
// definition: 40,000 draws at four counts, fixed seeds, 5 standard errors (false alarm
// 2e-6 over seeds).
func TestGNMaxDrawsItsLaw(t *testing.T) {
	experimenttest.Numbers(t)
	const n = 40_000
	p := &imageParameters{Teachers: 11}
	for _, how := range []ensemble.Calibration{ensemble.Renyi, ensemble.Exact} {
		mechanism, sigma, err := p.gnmax(accountant.Cost{Epsilon: 0.6, Delta: 1e-3}, how)
		if err != nil {
			t.Fatal(err)
		}
		law, err := p.law(mechanism)
		if err != nil {
			t.Fatal(err)
		}
		for _, ones := range []int{0, 4, 6, 11} {
			coins := randsrc.SeededSequence(uint64(ones))
			count := 0
			for range n {
				class, err := mechanism.Answer(coins, "", []int{11 - ones, ones})
				if err != nil {
					t.Fatal(err)
				}
				count += class
			}
			p := law[ones]
			if want := noisyWin(2*ones-11, sigma); math.Abs(p-want) > 1e-9 {
				t.Errorf("σ = %v, ones = %d: law %v, by the definition %v", sigma, ones, p, want)
			}
			if se := math.Sqrt(p * (1 - p) / n); math.Abs(float64(count)/n-p) > 5*se {
				t.Errorf("σ = %v, ones = %d: %v of the draws, law %v ± %v", sigma, ones, float64(count)/n, p,
					se)
			}
		}
	}
}

// Ties count: two accuracies that print alike are in no order.
func TestOrderOfPrintedAccuracies(t *testing.T) {
	printed := printedAccuracy{GNMax: [2]float64{0.56, 0.04}, Sub: [2]float64{0.89, 0.04},
		Opt: [2]float64{0.91, 0.04}}
	drawn := func(gnmax, sub, opt float64) evaluation {
		return evaluation{Answered: []answered{{Method: methodOpt, Drawn: [][]float64{{opt, opt}}},
			{Method: methodGNMax, Drawn: [][]float64{{gnmax, gnmax}}},
			{Method: methodSub, Drawn: [][]float64{{sub, sub}}}}}
	}
	for _, c := range []struct {
		gnmax, sub, opt float64
		want            bool
	}{{0.5, 0.6, 0.7, true}, {0.5, 0.7, 0.6, false}, {0.6, 0.5, 0.7, false},
		{0.5, 0.596, 0.604, false}, {0.5, 0.604, 0.606, true}} {
		if got := drawn(c.gnmax, c.sub, c.opt).order(0) == printed.order(); got != c.want {
			t.Errorf("%v: in the printed order: %t", c, got)
		}
	}
}

// smallImages is an experiment of kind images that takes a second.
const smallImages = `{
  "format_version": 1, "name": "small", "kind": "images", "title": "small", "source": "", "about": "",
  "parameters": {
    "data": "squares", "classes": [0, 1], "teachers": 5, "pool": 2, "teacher_delta": 0.001,
    "private": {"sampling_rate": 0.25, "steps": 20, "learning_rate": 1, "clip": 1, "noise_multiplier": 3},
    "plain": {"sampling_rate": 0.25, "steps": 40, "learning_rate": 2},
    "allowances": [1, 3], "queries": [30], "draws": 5, "slack": 0.001, "ordered": [3],
    "printed": [{"table": "X", "m": 3, "queries": 30, "gnmax": [0.9, 0.1], "sub": [0.9, 0.1], "opt": [0.9, 0.1]}],
    "within": [{"m": 3, "accuracy": 0.3}]
  }
}`
