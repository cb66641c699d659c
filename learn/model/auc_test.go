package model

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/learn/data"
)

// intervalOf returns the interval of scores, nil where there is no AUC.
func intervalOf(scores []float64, positive []bool) *Interval {
	o, ok := order(scores, positive)
	if !ok {
		return nil
	}
	i := o.interval()
	return &i
}

// The variance behind the interval against DeLong's, by all pairs.
func TestAUCIntervalIsOfDeLongsVariance(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		var class [2][]float64
		var scores []float64
		var positive []bool
		for range 5 + rng.IntN(40) {
			c := rng.IntN(2)
			z := float64(rng.IntN(8) + 2*c) // ties
			class[c] = append(class[c], z)
			scores, positive = append(scores, z), append(positive, c == 1)
		}
		if len(class[0]) < 2 || len(class[1]) < 2 {
			continue
		}
		psi := func(x, y float64) float64 { // positive, negative
			switch {
			case x > y:
				return 1
			case x == y:
				return .5
			}
			return 0
		}
		shares := func(of, other []float64, sign float64) (v []float64) {
			for _, x := range of {
				s := 0.0
				for _, y := range other {
					s += psi(sign*x, sign*y)
				}
				v = append(v, s/float64(len(other)))
			}
			return v
		}
		variance := func(v []float64) float64 {
			m, s := 0.0, 0.0
			for _, x := range v {
				m += x / float64(len(v))
			}
			for _, x := range v {
				s += (x - m) * (x - m)
			}
			return s / float64(len(v)-1)
		}
		want := variance(shares(class[1], class[0], 1))/float64(len(class[1])) +
			variance(shares(class[0], class[1], -1))/float64(len(class[0]))
		a := *AUC(scores, positive)
		got := *intervalOf(scores, positive)
		// Wilson's ends solve (x-a)² = z²·x(1-x)/trials.
		const z = 1.959963984540054
		n := float64(len(scores))
		for _, x := range got {
			if x == 0 || x == 1 {
				continue
			}
			trials := z * z * x * (1 - x) / ((x - a) * (x - a))
			expected := min(a*(1-a)/want, n)
			if want < 1e-15 { // all right, or all wrong
				expected = float64(min(len(class[0]), len(class[1])))
			}
			if math.Abs(trials/expected-1) > 1e-6 {
				t.Fatalf("%v: %g trials, want %g (variance %g)", got, trials, expected, want)
			}
		}
	}
}

// The interval covers in about 95 of 100 samples, and does not end where all pairs are right:
// 1500 samples each, so that a true 0.93 is below 0.91 with probability 2e-3 and a true 0.89
// above with 8e-3; the samples are fixed.
func TestAUCIntervalCovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	for _, c := range []struct {
		auc                 float64
		negatives, positive int
	}{{.6, 50, 20}, {.83, 100, 100}, {.83, 200, 15}, {.97, 40, 20}, {.97, 300, 100}, {.5, 30, 30}} {
		// Classes N(0, 1) and N(√2·Φ⁻¹(AUC), 1).
		shift := 2 * math.Erfinv(2*c.auc-1)
		covered := 0
		for range 1500 {
			var scores []float64
			var positive []bool
			for i := range c.negatives + c.positive {
				p := i < c.positive
				z := rng.NormFloat64()
				if p {
					z += shift
				}
				scores, positive = append(scores, z), append(positive, p)
			}
			if i := intervalOf(scores, positive); i[0] <= c.auc && c.auc <= i[1] {
				covered++
			}
		}
		if share := float64(covered) / 1500; share < .91 || share > .995 {
			t.Errorf("%+v: covered in %.3f of samples", c, share)
		}
	}
	if i := intervalOf([]float64{1, 2, 3, 4, 5, 6},
		[]bool{false, false, false, true, true, true}); i[0] > .5 || i[1] != 1 {
		t.Errorf("three right of three: %v", i)
	}
	// One record of a class is one trial, wherever it stands among the others.
	for others := 1; others <= 40; others++ {
		for below := range others + 1 {
			scores, positive := make([]float64, others+1), make([]bool, others+1)
			for i := range scores {
				scores[i], positive[i] = float64(i), i == below
			}
			low, high := num.Wilson(float64(below)/float64(others), 1)
			if got := *intervalOf(scores, positive); got != (Interval{low, high}) {
				t.Fatalf("%d of %d: %v, want %v to %v", below, others, got, low, high)
			}
		}
	}
	if intervalOf([]float64{1, 2}, []bool{true, true}) != nil {
		t.Error("an interval of one class")
	}
	if i := intervalOf([]float64{1, 2}, []bool{true, false}); i[0] != 0 || i[1] < .7 {
		t.Errorf("one wrong pair: %v", i)
	}
}

// A model of pairs ranks: no class, no loss of a record.
func TestRankingModel(t *testing.T) {
	m := read(t, `{"task":"logistic:ordered","link":"rank","columns":["a"],"response":"y","intercept":false,"model":[2]}`)
	if m.Task != nil || m.Pair.Name() != "logistic:ordered" || m.Link != LinkRank ||
		m.Link.Classes() || m.Link.Predict(-1.5) != -1.5 {
		t.Errorf("%+v", m)
	}
	r, err := data.NewRecords(4, 1, []float64{1, 2, 3, 4}, []float64{0, 1, 0, 1})
	if err != nil {
		t.Fatal(err)
	}
	e, err := m.Evaluate(r)
	if err != nil || *e.AUC != .75 || e.AUCInterval == nil || e.Loss != nil || e.Accuracy != nil ||
		e.RMSE != nil {
		t.Errorf("%+v, %v", e, err)
	}
	if r, err = data.NewRecords(2, 1, []float64{1, 2}, []float64{0, 2}); err != nil {
		t.Fatal(err)
	}
	if _, err = m.Evaluate(r); err == nil || !strings.Contains(err.Error(), "record 2: label = 2") {
		t.Error(err)
	}
	for _, text := range []string{`{"task":"ridge","link":"rank","model":[1]}`,
		`{"task":"","link":"rank","model":[1]}`} {
		if _, err := Read(strings.NewReader(text)); err == nil ||
			!strings.Contains(err.Error(), "pair loss") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
