package sketch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/experiment/datasets"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/sketch"
)

// The tasks.
const (
	taskPower      = "power iteration"
	taskKMeans     = "k-means"
	taskRegression = "linear regression"
)

// tasksParameters: tasks whose every round is a mean of clients' vectors.
type tasksParameters struct {
	// Data are the points of each task's data set; with Real the stand-in will not do.
	DataSeed   uint64              `json:"data_seed"`
	Real       bool                `json:"real,omitempty"`
	Points     int                 `json:"points"`
	Estimators []experiment.Method `json:"estimators"`
	Settings   []setting           `json:"settings"`
	Repeats    int                 `json:"repeats"`
	// repeat r has the root Root + r + the seed of the run
	Root uint64 `json:"root"`
	Beta string `json:"beta"`
	// Claims are judged on the data that the definition is for: the stand-in, or with Real the real
	// ones.
	Claims []experiment.Statement `json:"claims"`

	workers int // in tests; 0 is one per processor
}

// setting is one task with its clients.
type setting struct {
	Task       string  `json:"task"`
	Split      string  `json:"split"`
	Clients    int     `json:"clients"`
	Sent       int     `json:"sent"` // k
	Iterations int     `json:"iterations"`
	Clusters   int     `json:"clusters,omitempty"` // k-means
	Rate       float64 `json:"rate,omitempty"`     // regression
	// Within bounds the relative distance of the mean squared error from the predicted one. It is
	// claimed and tested.
	Within float64 `json:"within"`
}

// dataSet returns the name of the points of a task.
func (s setting) dataSet() string {
	if s.Task == taskRegression {
		return datasets.Indoor
	}
	return datasets.FashionMNIST
}

func (s setting) String() string {
	return fmt.Sprintf("%s, %s, n = %d, k = %d", s.Task, s.Split, s.Clients, s.Sent)
}

func (p *tasksParameters) Validate() error {
	_, err := sketch.ParseBetaMode(p.Beta)
	err = cmp.Or(err,
		check.Some("estimators and settings", len(p.Estimators), len(p.Settings)),
		check.Each("estimators", p.Estimators, check.Among(known)),
		check.Whole("points", p.Points, 2, 100_000),
		check.Whole("repeats", p.Repeats, 1, 1000),
	)
	if err != nil {
		return err
	}
	for _, s := range p.Settings {
		d := map[string]int{datasets.FashionMNIST: 1024, datasets.Indoor: 512}[s.dataSet()]
		splits := []string{splitIID, splitShards}
		if s.Task == taskRegression {
			splits = []string{splitIID, splitSorted}
		}
		err := cmp.Or(
			check.Among([]string{taskPower, taskKMeans, taskRegression})("task", s.Task),
			check.Among(splits)("split", s.Split),
			check.Whole("clients", s.Clients, 2, p.Points/2),
			check.Whole("sent", s.Sent, 1, d),
			check.Whole("iterations", s.Iterations, 1, 10_000),
			check.Open("within", s.Within, 0, 1),
		)
		if s.Task == taskKMeans {
			err = cmp.Or(err, check.Whole("clusters", s.Clusters, 1, min(p.Points, 1000)))
		}
		if s.Task == taskRegression {
			err = cmp.Or(err, check.UpTo("rate", s.Rate, 1e6))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	f, err := p.summarise(nil)
	return cmp.Or(err, experiment.CheckStatements(p.Claims, f, "", "loss"))
}

func (p *tasksParameters) Steps() int { return len(p.Settings) * p.Repeats }

// dataSets returns the names of all points.
func (p *tasksParameters) dataSets() []string {
	var out []string
	for _, s := range p.Settings {
		if !slices.Contains(out, s.dataSet()) {
			out = append(out, s.dataSet())
		}
	}
	return out
}

// NeedsData returns the folder of the real files, if nothing may stand in for them.
func (p *tasksParameters) NeedsData() string {
	if p.Real {
		return p.dataSets()[0]
	}
	return ""
}

// Inputs returns the hashes of the points that real files give, nil where stand-ins serve.
func (p *tasksParameters) Inputs(ctx context.Context, root string) (map[string]string, error) {
	var out map[string]string
	for _, name := range p.dataSets() {
		in, err := datasets.PointInputs(ctx, name, root, p.Points, p.DataSeed, p.Real)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%w; scripts/fetch-mnist %s fetches Fashion-MNIST", err, root)
		}
		if err != nil {
			return nil, err
		}
		for file, hash := range in {
			if out == nil {
				out = map[string]string{}
			}
			out[name+": "+file] = hash
		}
	}
	return out, nil
}

// trace is one run of a task with one estimator, by iterations.
type trace struct {
	Error     []float64 `json:"error"`     // squared, averaged over the means of an iteration
	Predicted []float64 `json:"predicted"` // for the vectors that were sent
	Loss      []float64 `json:"loss"`      // after the iteration
	Rho       []float64 `json:"rho"`       // ρ*
}

// library holds the points that were needed so far: none where every step was done before.
type library struct {
	p    *tasksParameters
	root string
	sets map[string]loaded
}

// loaded is the points of a task.
type loaded struct {
	datasets.Points
	top []float64 // power iteration: the first eigenvector of the points, which are centred
}

func (l *library) get(ctx context.Context, s setting) (loaded, error) {
	name := s.dataSet()
	if s.Task == taskPower {
		name += ", centred"
	}
	if all, ok := l.sets[name]; ok {
		return all, nil
	}
	var all loaded
	var err error
	if all.Points, err = datasets.OpenPoints(ctx, s.dataSet(), l.root, l.p.Points,
		l.p.DataSeed); err != nil {
		return all, err
	}
	if s.Task == taskPower {
		if all.Points, all.top, err = centred(all.Points); err != nil {
			return all, err
		}
	}
	l.sets[name] = all
	return all, nil
}

func (p *tasksParameters) Run(r *experiment.Run) error {
	beta, err := sketch.ParseBetaMode(p.Beta)
	if err != nil {
		return err
	}
	sets := &library{p, r.Data, map[string]loaded{}}
	found := make([][][]trace, len(p.Settings)) // by setting, repeat and estimator
	for i, s := range p.Settings {
		for repeat := range p.Repeats {
			root := p.Root + r.Seed + uint64(repeat)
			key := []any{s, p.Estimators, p.Points, p.DataSeed, p.Beta, root, r.Inputs}
			traces, err := experiment.Step(r, fmt.Sprintf("setting-%02d-run-%02d", i+1, repeat+1), key,
				func() ([]trace, error) {
					all, err := sets.get(r, s)
					if err != nil {
						return nil, err
					}
					return p.work(r, s, all, root, beta)
				})
			if err != nil {
				return err
			}
			found[i] = append(found[i], traces)
		}
	}
	return p.report(r, found)
}

// work runs one task with every estimator, each on a trajectory of its own.
func (p *tasksParameters) work(ctx context.Context, s setting, all loaded, root uint64,
	beta sketch.BetaMode) ([]trace, error) {
	clients := split(all.Points, s.Split, s.Clients, root)
	traces := make([]trace, len(p.Estimators))
	g, ctx := errgroup.WithContext(ctx)
	if p.workers > 0 {
		g.SetLimit(p.workers)
	}
	for i, m := range p.Estimators {
		g.Go(func() error {
			e, err := newEstimator(m, sketch.Config{N: s.Clients, K: s.Sent, D: all.Dim(), Root: root,
				Beta: beta, Workers: 1}, 0)
			if err != nil {
				return err
			}
			var t task
			switch s.Task {
			case taskPower:
				t = &powerIteration{clients: clients, v: unitVector(all.Dim(), root), top: all.top}
			case taskKMeans:
				t = newKMeans(clients, all.Dim(), firstCentres(all.Points, s.Clusters, root))
			default:
				t = newRegression(clients, all.Dim(), s.Rate)
			}
			traces[i], err = follow(ctx, t, e, s.Iterations)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", s, m, err)
			}
			return nil
		})
	}
	return traces, g.Wait()
}

// follow runs the iterations of a task. Every mean of every iteration is a round of its own, with
// fresh randomness: errors of one draw would add up.
func follow(ctx context.Context, t task, e sketch.Compared, iterations int) (trace, error) {
	var out trace
	for iteration := range iterations {
		vectors := t.vectors()
		estimates := make([][]float64, len(vectors))
		squared, predicted, rho := 0.0, 0.0, 0.0
		for c, xs := range vectors {
			mean := sketch.MeanOf(xs)
			estimates[c] = mean
			if e.Compressor != nil {
				var err error
				if estimates[c], err = sketch.RoundMean(ctx, e, uint64(iteration*len(vectors)+c),
					xs); err != nil {
					return out, err
				}
			}
			expected, err := e.Predict(ctx, xs)
			if err != nil {
				return out, err
			}
			correlation, _ := sketch.Correlation(xs)
			share := 1 / float64(len(vectors))
			squared += share * sketch.SquaredError(estimates[c], mean)
			predicted += share * expected
			rho += share * correlation / float64(len(xs)-1)
		}
		t.receive(estimates)
		out.Error, out.Predicted, out.Loss, out.Rho = append(out.Error, squared),
			append(out.Predicted, predicted), append(out.Loss, t.loss()), append(out.Rho, rho)
	}
	return out, nil
}
