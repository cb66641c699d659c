package choose

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/convex"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/model"
	"github.com/darrm/darrm/learn/train"
)

// Forecast guesses how good the model of Method is at a number of records and a budget, by training
// on other records: public ones of the same kind, or made-up ones. It is as good as these are like
// the private ones. It sees no private record, so it costs nothing, and its models are no
// releases. It is immutable and safe for concurrent use.
type Forecast struct {
	// Problem is the problem of the training. Its Records and Target are not used.
	Problem Problem
	// Learn and Test are public or made up, with a constant feature where the training adds one.
	Learn, Test *data.Records
	// Runs are the trainings whose scores are summed up, 1 to 1000. Seed gives their draws.
	Runs int
	Seed uint64
}

// Expected is the score that a Forecast expects of one number of records and one budget.
type Expected struct {
	Records int     `json:"n"`
	Epsilon float64 `json:"epsilon"`
	Method  string  `json:"method"`
	Score   string  `json:"score"` // ScoreOf
	// Median, Low and High are of the runs: the median, the worst and the best.
	Median float64 `json:"median"`
	// Constant is the score of the best constant on the records to test on: 0.5 for the AUC, 0 for R².
	Constant float64 `json:"constant"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
	// Worthless is true where the model is expected to be hardly better than a constant: by NoiseToSignal, or since
	// the median is no better.
	Worthless bool `json:"worthless,omitempty"`
}

// ScoreOf returns the figure that a Forecast has of a task: "accuracy", "auc" or "r2".
func ScoreOf(task string) string {
	switch task {
	case "auc":
		return "auc"
	case "linear":
		return "r2"
	}
	return "accuracy"
}

// maxRuns is the most runs of a Forecast.
const maxRuns = 1000

// At trains on n records, which each run draws from Learn with replacement, so that n may be more
// than there are. Cost: Runs trainings.
func (f Forecast) At(ctx context.Context, n int, target accountant.Cost) (Expected, error) {
	e := Expected{Records: n, Epsilon: target.Epsilon, Score: ScoreOf(f.Problem.Task)}
	if err := cmp.Or(check.Whole("runs", f.Runs, 1, maxRuns),
		check.Whole("number of records", n, 1, math.MaxInt32)); err != nil {
		return e, err
	}
	p := f.Problem
	p.Records, p.Dim, p.Target = n, f.Learn.Dim(), target
	choice, err := Method(p)
	if err != nil {
		return e, err
	}
	e.Method = choice.Name
	method, err := convex.New(choice.Name, choice.Options)
	if err != nil {
		return e, err
	}
	plan, err := method.Plan(n, p.Dim)
	if err != nil {
		return e, err
	}
	rng := rand.New(rand.NewPCG(f.Seed, uint64(n)))
	scores, rows := make([]float64, f.Runs), make([]int, n)
	for run := range scores {
		for i := range rows {
			rows[i] = rng.IntN(f.Learn.Len())
		}
		records, err := f.Learn.Select(rows)
		if err != nil {
			return e, err
		}
		algorithm, err := plan.Train(records)
		if err != nil {
			return e, err
		}
		w, err := train.Simulate(algorithm, f.Seed+uint64(run)).Run(ctx,
			func(int, []float64) error { return ctx.Err() })
		if err != nil {
			return e, err
		}
		if scores[run], err = f.Problem.score(w, f.Test); err != nil {
			return e, err
		}
	}
	slices.Sort(scores)
	e.Low, e.High = scores[0], scores[len(scores)-1]
	e.Median = (scores[(len(scores)-1)/2] + scores[len(scores)/2]) / 2
	e.Constant = constant(e.Score, f.Test)
	e.Worthless = NoiseToSignal(plan.Price) >= 1 || e.Median <= e.Constant
	return e, nil
}

// constant returns the score of the best constant: the share of the commonest class, no order, or the mean.
func constant(score string, r *data.Records) float64 {
	switch score {
	case "auc":
		return 0.5
	case "r2":
		return 0
	}
	of, most := map[float64]int{}, 0
	for i := range r.Len() {
		of[r.Response(i)]++
		most = max(most, of[r.Response(i)])
	}
	return float64(most) / float64(r.Len())
}

// score returns the task's score of weights on records.
func (p Problem) score(w []float64, r *data.Records) (float64, error) {
	l, err := p.Loss()
	if err != nil {
		return 0, err
	}
	m, err := model.New(model.Document{Task: l.Name(), Link: model.LinkOf(l), Simulated: w, Classes: p.words()})
	if err != nil {
		return 0, err
	}
	e, err := m.Evaluate(r)
	if err != nil {
		return 0, err
	}
	score := map[string]*float64{"accuracy": e.Accuracy, "auc": e.AUC, "r2": e.R2}[ScoreOf(p.Task)]
	if score == nil {
		return 0, fmt.Errorf("all records to test on have the same response, so no %s can be computed",
			ScoreOf(p.Task))
	}
	return *score, nil
}

// words returns names of several classes, nil of others.
func (p Problem) words() (words []string) {
	if p.Classes > 2 {
		for k := range p.Classes {
			words = append(words, strconv.Itoa(k))
		}
	}
	return words
}

// Sizes of made-up records.
const (
	madeLearn = 50_000
	madeTest  = 20_000
	maxMade   = 1 << 27 // numbers, a gigabyte
)

// MadeUp returns records of d features in [-1,1] and a constant one, to learn from and to test on, shortened
// without the constant one to Radius, of a task and of several classes if above 2.
// The response depends on all features, so strongly that the model that drew them has the score
// best: of classes by a logistic law, of several by a softmax, of numbers by a line and uniform noise.
func MadeUp(task string, classes, d int, best float64, seed uint64) (learn, test *data.Records, err error) {
	p := Problem{Task: task, Classes: classes}
	if err := check.Whole("dim", d, 1, maxMade/(2*(madeLearn+madeTest))); err != nil {
		return nil, nil, err
	}
	l, err := p.Loss()
	if err != nil {
		return nil, nil, err
	}
	if _, ok := l.(loss.Softmax); classes > 2 && !ok {
		return nil, nil, check.Want("number of classes", classes, "2, or above with the task logistic")
	}
	least := 0.5
	switch {
	case task == "linear":
		least = 0
	case classes > 2:
		least = 1 / float64(classes)
	}
	if !(best > least && best < 1) {
		return nil, nil, check.Wantf("best score", best, "above %.3g and below 1", least)
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	several := max(classes, 2) - 1 // scores that are drawn by
	if classes > 2 {
		several = classes
	}
	direction := make([]float64, several*d)
	for k := range several {
		own := direction[k*d : (k+1)*d]
		for j := range own {
			own[j] = rng.NormFloat64()
		}
		floats.Scale(1/floats.Norm(own, 1), own) // so that scores are in [-1,1]
	}
	draw := func(n int, strength float64, rng *rand.Rand) (*data.Records, error) {
		x, y := make([]float64, n*d), make([]float64, n)
		z := make([]float64, several)
		for i := range n {
			a := x[i*d : (i+1)*d]
			for j := range a {
				a[j] = 2*rng.Float64() - 1
			}
			for k := range z {
				z[k] = floats.Dot(a, direction[k*d:(k+1)*d])
			}
			u := rng.Float64()
			switch {
			case task == "linear":
				y[i] = float64(strength*z[0]) + float64((1-strength)*(2*u-1))
			case several > 1:
				floats.Scale(madeScale(strength), z)
				loss.Chances(z)
				for k := 0; k < several-1 && u >= z[k]; k++ {
					u -= z[k]
					y[i]++
				}
			case u < 1/(1+math.Exp(-madeScale(strength)*z[0])):
				y[i] = 1
			}
		}
		return data.NewRecords(n, d, x, y)
	}
	low, high := 0.0, 1.0
	for range 30 {
		strength := (low + high) / 2
		r, err := draw(madeTest/4, strength, rand.New(rand.NewPCG(seed, 2)))
		if err != nil {
			return nil, nil, err
		}
		w := direction
		if task == "linear" { // the line's own slope
			w = slices.Clone(w)
			for j := range w {
				w[j] *= strength
			}
		}
		got, err := p.score(w, r)
		if err != nil {
			return nil, nil, err
		}
		if got < best {
			low = strength
		} else {
			high = strength
		}
	}
	if learn, err = draw(madeLearn, high, rng); err == nil {
		test, err = draw(madeTest, high, rng)
	}
	if err != nil {
		return nil, nil, err
	}
	radius := Radius(math.Sqrt(float64(d)))
	return learn.Shortened(radius).WithIntercept(), test.Shortened(radius).WithIntercept(), nil
}

// madeScale turns a strength in [0,1] into the slope of a logistic law, up to 10⁴.
func madeScale(strength float64) float64 { return math.Expm1(strength * math.Log(1e4)) }
