package selection

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/model"
	"github.com/darrm/darrm/learn/train"
)

// heldScores are the scores of each kind.
var heldScores = []Score{{Kind: Accuracy, Loss: loss.Logistic{}},
	{Kind: MeanLoss, Loss: loss.Logistic{}, Bound: 8}, {Kind: Pairs}}

// costing is a bit whose model costs epsilon.
func costing(epsilon float64, r *data.Records) train.Algorithm {
	return bit{target: accountant.Cost{Epsilon: epsilon}, n: r.Len(), side: 1}.algorithm(r)
}

// two are records of one feature with a class.
func two(t must.TB, x, y []float64) *data.Records {
	if len(x) == 0 {
		return nil
	}
	r, err := data.NewRecords(len(x), 1, x, y)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The privacy loss of what is told of the held-out records, two numbers with discrete Laplace
// noise, is at most ε where one of them differs: |difference|/scale, added up. For some it is ε.
func TestHeldOutTestKeepsItsEpsilon(t *testing.T) {
	most := 0.0
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(3, 9).Draw(t, "n")
		number := rapid.SliceOfN(rapid.Float64Range(-3, 3), n, n)
		class := rapid.SliceOfN(rapid.SampledFrom([]float64{0, 1}), n, n)
		x, y := number.Draw(t, "x"), class.Draw(t, "y")
		score := rapid.SampledFrom(heldScores).Draw(t, "score")
		relation := rapid.SampledFrom([]accountant.Relation{accountant.ReplaceOne,
			accountant.AddOrRemoveOne}).Draw(t, "relation")
		if score.Kind == Pairs {
			relation = accountant.ReplaceOne
		}
		otherX, otherY := append([]float64{}, x...), append([]float64{}, y...)
		i := rapid.IntRange(0, n-1).Draw(t, "i")
		if relation == accountant.ReplaceOne {
			otherX[i], otherY[i] = -x[i], 1-y[i]
		} else {
			otherX, otherY = append(otherX[:i], otherX[i+1:]...), append(otherY[:i], otherY[i+1:]...)
		}
		epsilon := rapid.Float64Range(0.01, 4).Draw(t, "epsilon")
		h := HeldOut{Score: score, Epsilon: epsilon, Relation: relation}
		side := []float64{rapid.Float64Range(-2, 2).Draw(t, "w")}
		var sums, counts [2]int64
		var law *tested
		for k, r := range []*data.Records{two(t, x, y), two(t, otherX, otherY)} {
			a, err := h.Of(costing(4, r), r)
			if err != nil {
				t.Fatal(err)
			}
			law = a.Start(stream.Seeded(1)).(*testedRun).t
			sums[k], counts[k] = law.told(side)
		}
		b, _ := law.sum.Scale().Float64()
		told := math.Abs(float64(sums[0]-sums[1])) / b
		if law.counts {
			b, _ = law.count.Scale().Float64()
			told += math.Abs(float64(counts[0]-counts[1])) / b
		}
		if told > epsilon*(1+1e-12) {
			t.Fatalf("%s, %v: loss %v at epsilon %v", score.Kind, relation, told, epsilon)
		}
		// What is not told may not differ.
		if !law.counts && relation == accountant.AddOrRemoveOne {
			t.Fatal("the number of records is used without noise")
		}
		most = max(most, told/epsilon)
	})
	if most < 0.99 {
		t.Errorf("no loss above %v of epsilon: the noise could be less", most)
	}
}

// The figures are those of the records and the noise that is stated: over seeds they have the mean
// of an evaluation, within its error, and the deviation that they state. A right test fails with
// probability below 1e-6 (means of 3000 draws at 5.5 deviations); the seeds are fixed.
func TestHeldOutTestIsTheEvaluation(t *testing.T) {
	const runs = 3000
	rng := rand.New(rand.NewPCG(3, 4))
	x, y := make([]float64, 300), make([]float64, 300)
	for i := range x {
		y[i] = float64(rng.IntN(2))
		x[i] = y[i] - 0.5 + rng.NormFloat64()
	}
	r, w := two(t, x, y), []float64{1}
	m := must.Get(model.New(model.Document{Task: "logistic", Link: model.LinkLogit, Model: w}))(t)
	e := must.Get(m.Evaluate(r))(t)
	for _, tt := range []struct {
		score    Score
		relation accountant.Relation
		want     float64
	}{
		{heldScores[0], accountant.ReplaceOne, *e.Accuracy},
		{heldScores[0], accountant.AddOrRemoveOne, *e.Accuracy},
		{heldScores[1], accountant.ReplaceOne, *e.Loss}, // no record's loss is above the bound
		{heldScores[1], accountant.AddOrRemoveOne, *e.Loss},
		{heldScores[2], accountant.ReplaceOne, *e.AUC},
	} {
		h := HeldOut{Score: tt.score, Epsilon: 1, Relation: tt.relation}
		a, err := h.Of(costing(1, features(t, 1, -1, 1)), r)
		if err != nil {
			t.Fatal(err)
		}
		sum, squares, stated := 0.0, 0.0, 0.0
		for seed := range uint64(runs) {
			got := must.Get(a.Start(stream.Seeded(seed)).(*testedRun).Test(w))(t)
			if got.Epsilon != 1 || (got.Records == r.Len()) != (tt.relation == accountant.ReplaceOne) {
				t.Fatalf("%v: %+v", tt, got)
			}
			sum, squares = sum+got.Value-tt.want, squares+(got.Value-tt.want)*(got.Value-tt.want)
			stated = got.Deviation
		}
		deviation := math.Sqrt(squares / runs)
		// Scores are in parts of 256 of a record: rounding moves a mean by 1/512 of a record at most.
		if mean := sum / runs; math.Abs(mean) > 5.5*stated/math.Sqrt(runs)+stated*0.05 {
			t.Errorf("%s, %v: mean off by %v of %v", tt.score.Kind, tt.relation, mean, stated)
		}
		if deviation < 0.9*stated || deviation > 1.1*stated {
			t.Errorf("%s, %v: deviation %v, stated %v", tt.score.Kind, tt.relation, deviation, stated)
		}
	}
}

// A test costs nothing beside the model where its ε is at most the model's, and else is refused.
// Other records held out are another run, and a run's choice stays its own.
func TestHeldOutRefusals(t *testing.T) {
	r := features(t, 1, -1, 1, -1, 1)
	good := HeldOut{Score: heldScores[0], Epsilon: 1, Relation: accountant.ReplaceOne}
	a := must.Get(good.Of(costing(1, r), r))(t)
	if a.Cost != costing(1, r).Cost || a.Digest == costing(1, r).Digest {
		t.Error("another cost, or the digest of the model alone")
	}
	other := must.Get(good.Of(costing(1, r), features(t, 1, -1, 1, -1, -1)))(t)
	if a.Digest == other.Digest {
		t.Error("other records held out have the same digest")
	}
	p := planOf(t, tiny("", 0), 5, 1)
	chosen := must.Get(good.Of(must.Get(p.Train(r))(t), r))(t)
	run := train.Simulate(chosen, 1)
	if _, err := run.Run(t.Context(), nil); err != nil || run.Choice() == nil {
		t.Errorf("choice %v (%v)", run.Choice(), err)
	}
	if plain := train.Simulate(costing(1, r), 1); must.Get(plain.Test())(t) != nil {
		t.Error("a model without a test has one")
	}
	for name, change := range map[string]func(h *HeldOut){
		"above the model's": func(h *HeldOut) { h.Epsilon = 1.0000001 },
		"no epsilon":        func(h *HeldOut) { h.Epsilon = 0 },
		"no number":         func(h *HeldOut) { h.Epsilon = math.NaN() },
		"a loss without a bound": func(h *HeldOut) {
			h.Score = Score{Kind: MeanLoss, Loss: loss.Logistic{}}
		},
		"pairs where records are added": func(h *HeldOut) {
			h.Score = heldScores[2]
			h.Relation = accountant.AddOrRemoveOne
		},
	} {
		h := good
		change(&h)
		if _, err := h.Of(costing(1, r), r); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if _, err := good.Of(costing(1, r), nil); err == nil {
		t.Error("no record: taken")
	}
	good.Relation = accountant.AddOrRemoveOne
	empty := must.Get(good.Of(costing(1, r), nil))(t)
	run = train.Simulate(empty, 1)
	if _, err := run.Run(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if test := must.Get(run.Test())(t); test.Records != 0 || !(test.Value >= 0 && test.Value <= 1) {
		t.Errorf("of no record: %+v", test)
	}
}

// Of several classes the highest score counts, and no other kind than accuracy.
func TestScoreOfSeveralClasses(t *testing.T) {
	r := must.Get(data.NewRecords(4, 2, []float64{2, 0, 0, 2, -1, -1, 1, 0}, []float64{0, 1, 2, 2}))(t)
	s := Score{Kind: Accuracy, Loss: loss.Logistic{}, Classes: 3}
	if got := s.Right([]float64{1, 0, 0, 1, -1, -1}, r); got != 3 {
		t.Errorf("%d are right, want 3", got)
	}
	if err := s.check(4, accountant.ReplaceOne); err != nil {
		t.Error(err)
	}
	s.Kind, s.Bound = MeanLoss, 1
	if s.check(4, accountant.ReplaceOne) == nil {
		t.Error("a mean loss of several classes was taken")
	}
	softmax := must.Get(loss.NewSoftmax(3))(t)
	for _, c := range []struct {
		s    Score
		fits bool
	}{
		{Score{Kind: Accuracy, Loss: softmax, Classes: 3}, true},
		{Score{Kind: MeanLoss, Loss: softmax, Bound: 1}, true},
		{Score{Kind: Accuracy, Loss: softmax}, false},
		{Score{Kind: Accuracy, Loss: softmax, Classes: 4}, false},
		{Score{Kind: Pairs, Loss: softmax}, false},
	} {
		if err := c.s.check(4, accountant.ReplaceOne); (err == nil) != c.fits {
			t.Errorf("%+v: %v", c.s, err)
		}
		if c.fits { // its models are as long as it reads them
			c.s.of(make([]float64, 6), r)
		}
	}
}
