package sketch

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/experiment/datasets"
	"github.com/darrm/darrm/internal/testing/experimenttest"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/sketch"
	"github.com/darrm/darrm/sketch/stream"
)

var catalog = experiment.New(Field())

// blobs are n points of dimension d in as many classes, of which each lies around a place of its
// own.
func blobs(t testing.TB, n, d, classes int) datasets.Points {
	t.Helper()
	rng := stream.New(1, stream.Synthetic)
	x, y := make([]float64, n*d), make([]float64, n)
	for i := range n {
		y[i] = float64(i % classes)
		for j := range d {
			x[i*d+j] = 0.3 * rng.Normal()
		}
		x[i*d+i%classes] += 3 + 3*float64(i%classes)
	}
	r, err := data.NewRecords(n, d, x, y)
	if err != nil {
		t.Fatal(err)
	}
	return datasets.Points{Name: "blobs", Records: r}
}

func TestSplits(t *testing.T) {
	p := blobs(t, 103, 4, 10)
	for _, how := range []string{splitIID, splitShards, splitSorted} {
		clients := split(p, how, 5, 1000)
		rows := 0
		seen := map[[4]float64]bool{}
		for _, c := range clients {
			rows += c.rows
			if c.rows < 20 || c.rows > 22 || len(c.x) != 4*c.rows || len(c.response) != c.rows {
				t.Errorf("%s: %d points", how, c.rows)
			}
			for r := range c.rows {
				seen[[4]float64(c.x[4*r:])] = true
			}
			labels := slices.Compact(slices.Sorted(slices.Values(c.response)))
			if how == splitShards && len(labels) > 6 || how == splitSorted && len(labels) > 4 ||
				how == splitIID && len(labels) < 7 {
				t.Errorf("%s: a client has %d labels", how, len(labels))
			}
		}
		if len(clients) != 5 || rows != 103 || len(seen) != 103 {
			t.Errorf("%s: %d clients, %d points, %d different", how, len(clients), rows, len(seen))
		}
		again, other := split(p, how, 5, 1000), split(p, how, 5, 1001)
		if how == splitShards { // which shards a client has is drawn
			labels := func(c client) []float64 {
				return slices.Compact(slices.Sorted(slices.Values(c.response)))
			}
			if slices.Equal(labels(other[2]), labels(clients[2])) &&
				slices.Equal(labels(other[0]), labels(clients[0])) {
				t.Error("every root deals the same labels")
			}
		}
		if !slices.Equal(again[2].x, clients[2].x) ||
			slices.Equal(other[2].x, clients[2].x) != (how == splitSorted) {
			t.Errorf("%s: the root does not decide it", how)
		}
	}
}

// Without compression the tasks do what they are for: the first eigenvector is the one that a
// dense decomposition finds, clusters are found, and gradients are those of the loss.
func TestTasksByTheMeanItself(t *testing.T) {
	p := blobs(t, 400, 12, 4)
	exact, err := newEstimator(methodUncompressed, sketch.Config{N: 5, K: 1, D: 12}, 0)
	if err != nil {
		t.Fatal(err)
	}
	centre, top, err := centred(p)
	if err != nil {
		t.Fatal(err)
	}
	covariance := mat.NewSymDense(12, nil)
	for i := range centre.Len() {
		covariance.SymRankOne(covariance, 1, mat.NewVecDense(12, slices.Clone(centre.Row(i))))
	}
	var eigen mat.EigenSym
	eigen.Factorize(covariance, true)
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	if c := math.Abs(floats.Dot(mat.Col(nil, 11, &vectors), top)); math.Abs(c-1) > 1e-9 {
		t.Errorf("cosine with the first eigenvector: %g", c)
	}
	power := &powerIteration{clients: split(centre, splitIID, 5, 1), v: unitVector(12, 1), top: top}
	trace, err := follow(context.Background(), power, exact, 60)
	if err != nil || trace.Loss[59] > 0.2 || trace.Error[59] != 0 || trace.Predicted[3] != 0 ||
		trace.Rho[59] < 0.9 {
		t.Errorf("power iteration: %+v, %v", trace.Loss, err)
	}
	clusters := newKMeans(split(p, splitIID, 5, 1), 12, firstCentres(p, 4, 5))
	start := clusters.loss()
	if trace, err = follow(context.Background(), clusters, exact, 20); err != nil ||
		trace.Loss[19] > start || slices.Min(trace.Loss) < 0 {
		t.Errorf("k-means: from %g to %+v, %v", start, trace.Loss, err)
	}
	r := newRegression(split(p, splitSorted, 5, 1), 12, 0.01)
	if r.loss() != 3.5 { // mean of 0, 1, 4, 9
		t.Errorf("loss of w = 0: %g", r.loss())
	}
	gradient := sketch.MeanOf(r.vectors()[0]) // clients have equally many points
	for j := range gradient {
		h := 1e-6
		r.w[j] += h
		r.measure()
		up := r.loss()
		r.w[j] -= 2 * h
		r.measure()
		if d := (up - r.loss()) / (2 * h); math.Abs(d-gradient[j]) > 1e-6 {
			t.Errorf("gradient %d: %g, by differences %g", j, gradient[j], d)
		}
		r.w[j] += h
		r.measure()
	}
	if trace, err = follow(context.Background(), r, exact, 50); err != nil ||
		!slices.IsSortedFunc(trace.Loss, func(a, b float64) int { return int(math.Copysign(1, b-a)) }) {
		t.Errorf("regression: %+v, %v", trace.Loss, err)
	}
}

// A client whose cluster is empty sends its own last centre, and not the server's, however far
// noise has taken that.
func TestEmptyClusters(t *testing.T) {
	p := blobs(t, 40, 6, 2)
	start := [][]float64{p.Row(0), p.Row(1), {0, 0, 0, 0, 0, 90}}
	k := newKMeans(split(p, splitIID, 2, 1), 6, start)
	first := k.vectors()
	if !slices.Equal(first[2][0], start[2]) || !slices.Equal(first[2][1], start[2]) {
		t.Errorf("before any point: %v", first[2])
	}
	own := slices.Clone(first[0][0])
	for i, c := range k.clients { // of its own points, which lie around two places
		var mean [6]float64
		count := 0.0
		for r := range c.rows {
			if x := c.x[6*r : 6*r+6]; floats.Distance(x, start[0], 2) < floats.Distance(x, start[1], 2) {
				count++
				floats.Add(mean[:], x)
			}
		}
		floats.Scale(1/count, mean[:])
		if floats.Distance(mean[:], first[0][i], 2) > 1e-12 {
			t.Errorf("client %d sends %v, its mean is %v", i, first[0][i], mean)
		}
	}
	k.receive([][]float64{{0, 0, 0, 0, 0, 1e6}, start[1], start[2]})
	if got := k.vectors(); !slices.Equal(got[0][0], own) || !slices.Equal(got[2][1], start[2]) {
		t.Errorf("an empty cluster sends %v, its last centre was %v", got[0][0], own)
	}
}

// Acceptance T6: the same root gives the same numbers, whatever the number of workers; another
// root gives others.
func TestT6WorkersChangeNothing(t *testing.T) {
	p := tasksParameters{Estimators: []experiment.Method{methodRandK, methodProjAvg, methodWangni,
		methodInduced, methodSpatialAvg}}
	all := loaded{Points: blobs(t, 120, 16, 4)}
	for _, s := range []setting{
		{Task: taskPower, Split: splitIID, Clients: 6, Sent: 2, Iterations: 3},
		{Task: taskKMeans, Split: splitShards, Clients: 6, Sent: 3, Iterations: 3, Clusters: 4},
		{Task: taskRegression, Split: splitSorted, Clients: 6, Sent: 2, Iterations: 3, Rate: 0.01},
	} {
		all.top = unitVector(16, 3)
		run := func(workers int, root uint64) string {
			p.workers = workers
			traces, err := p.work(context.Background(), s, all, root,
				sketch.BetaMode{Kind: sketch.BetaMonteCarlo, Draws: 20})
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(traces)
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
		one := run(1, 7)
		if run(4, 7) != one {
			t.Errorf("%s: the number of workers changes the numbers", s)
		}
		if run(1, 8) == one {
			t.Errorf("%s: the root changes nothing", s)
		}
	}
}

// A mean of rank 1 is found by one step of rank 1, any mean by one of full rank; without the
// bits for one there is no score.
func TestLowRank(t *testing.T) {
	p := bitsParameters{Trials: 3}
	one := make([]float64, 64)
	for i := range one {
		one[i] = float64(1+i/8) * float64(2-i%8)
	}
	if s := p.lowRank([][]float64{one, one}, 16*32, 1, 1); s.Sent != 16 ||
		s.Error > 1e-15*floats.Dot(one, one) {
		t.Errorf("rank 1: %+v", s)
	}
	x := blobs(t, 1, 64, 1).Row(0)
	if s := p.lowRank([][]float64{x}, 8*16*32, 1, 1); s.Sent != 128 || s.Error > 1e-12 {
		t.Errorf("full rank: %+v", s)
	}
	if s := p.lowRank([][]float64{x}, 15*32, 1, 1); s.Sent != 0 {
		t.Errorf("too few bits: %+v", s)
	}
}

// What no experiment can be is refused when it is read.
func TestDefinitionsAreChecked(t *testing.T) {
	for name, changes := range map[string][][2]string{
		"figure-2.2": {{`"dimension": 1024`, `"dimension": 1`}, {`"trials": 20`, `"trials": 1`},
			{`"rand-k-spatial-max", "rand-proj`, `"topk", "rand-proj`}, {`"against": "k"`, `"against": "d"`},
			{`"rho": [1]`, `"rho": [2]`}, {`"sent": [1, 10, 40`, `"sent": [1, 40`},
			{`"beta": "auto"`, `"beta": "exact"`}},
		"figure-2.4": {{`"split": "iid"`, `"split": "shards of sorted"`},
			{`"task": "power iteration"`, `"task": "power"`}, {`"clients": 10`, `"clients": 1`},
			{`"sent": 102`, `"sent": 1025`}, {`"setting": 1`, `"setting": 7`},
			{`"measure": "loss"`, `"measure": "bits"`}, {`"clusters": 10`, `"clusters": 0`},
			{`"within": 0.05`, `"within": 0`}, {`"repeats": 4`, `"repeats": 0`}},
		"figure-a.2": {{`"dimension": 32`, `"dimension": 16`}, {`"trials": 1000`, `"trials": 0`}},
		"mean-bits": {{`"dimension": 1024`, `"dimension": 1000`}, {`"rho": [0, 0.5`, `"rho": [-1, 0.5`},
			{`"bits_per_coordinate": [0.125`, `"bits_per_coordinate": [0.01`},
			{`"method": "eden"`, `"method": "qsgd"`}},
	} {
		text, err := catalog.Source(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range changes {
			if !strings.Contains(string(text), c[0]) {
				t.Errorf("%s has no %s", name, c[0])
				continue
			}
			if _, err := catalog.Parse([]byte(strings.Replace(string(text), c[0], c[1], 1))); err == nil {
				t.Errorf("%s with %s accepted", name, c[1])
			}
		}
	}
}

// An experiment that only the real images serve fails with ErrNoData without them. Others take a
// stand-in, which title and notes name.
func TestRealImagesOrAStandin(t *testing.T) {
	experimenttest.Numbers(t)
	d := experimenttest.Load(t, catalog, "figure-2.4-real")
	if d.NeedsData() != datasets.FashionMNIST {
		t.Errorf("needs %q", d.NeedsData())
	}
	if _, err := d.Run(context.Background(), t.TempDir(),
		experiment.Options{Data: t.TempDir()}); err == nil ||
		!strings.Contains(err.Error(), experiment.ErrNoData.Error()) {
		t.Errorf("without the images: %v", err)
	}
	out := experimenttest.Run(t, experimenttest.Load(t, catalog, "figure-a.3"), t.TempDir(),
		experiment.Options{Quick: true, Data: t.TempDir()})
	if !strings.HasSuffix(out.Result.Title, "(generated stand-in)") ||
		!slices.ContainsFunc(out.Result.Notes, func(n string) bool {
			return strings.Contains(n, "generated stand-in, seed 2024")
		}) {
		t.Errorf("%s: %q", out.Result.Title, out.Result.Notes)
	}
}
