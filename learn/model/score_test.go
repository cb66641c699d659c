package model

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// A shortened score is what docs/formats.md states for programs in other languages, to the last digit: every operation is
// rounded to 53 bits, and none of them together.
func TestScoresAreAsStated(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	number := func(x float64) *big.Float { return big.NewFloat(x) } // of 53 bits, as what is worked out from them
	product := func(x, y *big.Float) *big.Float { return new(big.Float).Mul(x, y) }
	sum := func(x, y *big.Float) *big.Float { return new(big.Float).Add(x, y) }
	cut := 0
	for range 3000 {
		d := 1 + rng.IntN(12)
		a, w := make([]float64, d), make([]float64, d)
		squares, products := number(0), number(0)
		for j := range a {
			a[j], w[j] = rng.NormFloat64(), rng.NormFloat64()
			squares = sum(squares, product(number(a[j]), number(a[j])))
			products = sum(products, product(number(a[j]), number(w[j])))
		}
		length := product(new(big.Float).Sqrt(squares), number(1+float64(d+8)*0x1p-52+0x1p-44))
		m := &Model{Link: LinkIdentity, Weights: w, Intercept: rng.NormFloat64(), Radius: 3 * rng.Float64()}
		if rng.IntN(4) == 0 { // just as long: the margin is larger than a double's last digits
			m.Radius, _ = length.Float64()
			m.Radius *= 1 + float64(rng.IntN(3)-1)*0x1p-52
		}
		factor := number(1)
		if radius := number(m.Radius); length.Cmp(radius) > 0 {
			factor = product(new(big.Float).Quo(radius, length), number(1-0x1p-50))
			cut++
		}
		want, _ := sum(product(factor, products), number(m.Intercept)).Float64()
		if got, err := m.Score(a); err != nil || got != want {
			t.Fatalf("%v at radius %v: a score of %v, want %v (%v)", a, m.Radius, got, want, err)
		}
	}
	if cut < 500 || cut > 2500 {
		t.Errorf("%d of 3000 records are shortened", cut)
	}
}

// Records whose squares have lost digits, or are infinite, are shortened to the radius and no farther, others not at all.
func TestScoresBeyondSquares(t *testing.T) {
	for _, c := range []struct{ feature, radius, want float64 }{
		{1e-150, 1, 1e-150}, {1e-170, 1e-100, 1e-170}, {1e-150, 1e-160, 1e-160}, {1e-170, 1e-200, 1e-200}, {1e-140, 1e-141, 1e-141},
		{1e-140, 1e-139, 1e-140}, {1e200, 1, 1}, {1e200, 1e201, 1e200}, {0, 1e-200, 0},
	} {
		m := &Model{Link: LinkIdentity, Weights: []float64{1, 1}, Radius: c.radius}
		if got, err := m.Score([]float64{c.feature, 0}); err != nil || !(math.Abs(got-c.want) <= 1e-12*c.want) {
			t.Errorf("%+v: a score of %v (%v)", c, got, err)
		}
	}
}

// Probabilities are the formulas of their links, by another exponential. Those of a softmax are in the proportion e^z, however
// large the scores are.
func TestProbabilities(t *testing.T) {
	rng := rand.New(rand.NewPCG(33, 34))
	for range 2000 {
		z := 20 * rng.NormFloat64()
		if got, want := Probability(z), 1/(1+math.Exp(-z)); !(math.Abs(got-want) <= 4e-16*want) {
			t.Fatalf("Probability(%v) = %v, want %v", z, got, want)
		}
		scores, shift := make([]float64, 1+rng.IntN(5)), 1e6*math.Round(rng.NormFloat64())
		sum := 0.0
		for k := range scores {
			scores[k] = 4 * rng.NormFloat64()
			sum += math.Exp(scores[k])
		}
		moved := make([]float64, len(scores))
		for k, z := range scores {
			moved[k] = z + shift
		}
		for k, got := range LinkSoftmax.Probabilities(moved) {
			if want := math.Exp(scores[k]) / sum; !(math.Abs(got-want) <= 1e-8*want) {
				t.Fatalf("softmax of %v: %v for %d, want %v", moved, got, k, want)
			}
		}
	}
	if got := LinkSoftmax.Probabilities([]float64{0, 2000, 2001}); got[0] != 0 || math.Abs(got[2]-1/(1+math.Exp(-1))) > 1e-15 {
		t.Errorf("softmax of scores far apart: %v", got)
	}
	if got := LinkSoftmax.Probabilities(nil); len(got) != 0 {
		t.Errorf("probabilities of no class: %v", got)
	}
}
