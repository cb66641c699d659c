package multimessage_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/must"
	"github.com/darrm/darrm/learn/federated/amplification"
	"github.com/darrm/darrm/learn/federated/multimessage"
)

func coins(seed byte) *rand.ChaCha8 { return rand.NewChaCha8([32]byte{seed}) }

// Acceptance 20: the least λ to 0.1 %, and the published one.
func TestLeastLambda(t *testing.T) {
	for _, v := range []struct {
		n                        int
		eps, delta, want, public float64
	}{{10000, 0.5, 1e-5, 199.16, 3302.20}, {10000, 1, 1e-6, 83.87, 972.92}, {100000, 0.5, 1e-6, 270.71, 3891.66}} {
		target := accountant.Cost{Epsilon: v.eps, Delta: v.delta}
		got, err := multimessage.LeastLambda(v.n, target)
		if err != nil {
			t.Fatal(err)
		}
		must.Near(t, "least lambda", got, v.want, 1e-3)
		published, err := multimessage.PublishedLambda(v.n, target)
		if err != nil {
			t.Fatal(err)
		}
		must.Near(t, "published", published, v.public, 1e-5)
		delta, err := amplification.Round{Streams: 1, Reports: v.n, Epsilon: math.Log(2*float64(v.n)/published - 1), OneBit: true}.Delta(v.eps)
		if err != nil || delta > 1e-50 {
			t.Errorf("at the published value delta is %g, %v", delta, err)
		}
	}
	if _, err := multimessage.PublishedLambda(100, accountant.Cost{Epsilon: 1, Delta: 1e-5}); err == nil {
		t.Error("the published theorem needs a larger epsilon")
	}
	if _, err := multimessage.LeastLambda(2, accountant.Cost{Delta: 1e-12}); err == nil {
		t.Error("epsilon = 0 needs more noise than there is")
	}
}

// Acceptance 20: the least noise bits, exactly, and the deviation of the sum. One bit less is not private.
func TestLeastNoise(t *testing.T) {
	for _, v := range []struct {
		n, g           int
		eps, delta, sd float64
		want           int
	}{
		{100, 4, 1, 1e-5, 4.098, 13}, {1000, 8, 1, 1e-5, 4.308, 5}, {1000, 32, 1, 1e-5, 3.787, 77}, {1000, 32, 0.5, 1e-5, 7.075, 272}, {1000, 64, 1, 1e-6, 4.243, 392},
	} {
		got, err := multimessage.LeastNoise(v.n, v.g, accountant.Cost{Epsilon: v.eps, Delta: v.delta})
		if err != nil {
			t.Fatal(err)
		}
		if got != v.want {
			t.Errorf("%+v: %d", v, got)
		}
		must.Near(t, "deviation", math.Sqrt(multimessage.Scalar{Limit: 1, Levels: v.g, Noise: got}.LargestVariance(v.n)), v.sd, 1e-3)
		if less, err := (multimessage.Scalar{Limit: 1, Levels: v.g, Noise: got - 1}).Delta(v.n, v.eps); err != nil || less <= v.delta {
			t.Errorf("%+v: one bit less costs %g, %v", v, less, err)
		}
	}
	if _, err := multimessage.LeastNoise(100_000, 1000, accountant.Cost{Epsilon: 0.01, Delta: 1e-9}); err == nil {
		t.Error("more bits than are computed")
	}
}

// Acceptance 20: the scalar estimate of 1000 users, 2000 runs: mean 300 and variance 2.0654296875 within three standard errors, which a right
// protocol fails with probability 0.5 % by seed.
func TestScalarEstimate(t *testing.T) {
	const n, runs = 1000, 2000
	s, c := multimessage.Scalar{Limit: 1, Levels: 32, Noise: 10}, coins(1)
	mean, square := 0.0, 0.0
	for range runs {
		total := 0
		for range n {
			ones, err := s.Encode(0.3, c)
			if err != nil {
				t.Fatal(err)
			}
			total += ones
		}
		e := s.Estimate(total, n) - 300
		mean += e / runs
		square += e * e / runs
	}
	const variance = 2.0654296875
	if math.Abs(mean) > 3*math.Sqrt(variance/runs) {
		t.Errorf("mean is %g off", mean)
	}
	if math.Abs(square-variance) > 3*variance*math.Sqrt(2./runs) {
		t.Errorf("variance %g", square)
	}
	m := s.AppendMessages(nil, 7)
	ones := 0
	for _, b := range m {
		ones += int(b)
	}
	if len(m) != 42 || s.Bits() != 42 || ones != 7 {
		t.Errorf("messages %v", m)
	}
}

// The bits' sum is unbiased with variance n·p(1-p)/(1-2p)², p = λ/(2n): three standard errors as above.
func TestOneBitEstimate(t *testing.T) {
	const n, runs, lambda = 500, 2000, 100.
	o, err := multimessage.NewOneBit(n, lambda)
	if err != nil {
		t.Fatal(err)
	}
	c := coins(2)
	mean, square := 0.0, 0.0
	for range runs {
		ones := 0
		for i := range n {
			if o.Encode(i%5 == 0, c) {
				ones++
			}
		}
		e := o.Estimate(ones) - n/5
		mean += e / runs
		square += e * e / runs
	}
	p := lambda / (2 * n)
	variance := n * p * (1 - p) / ((1 - 2*p) * (1 - 2*p))
	if math.Abs(mean) > 3*math.Sqrt(variance/runs) || math.Abs(square-variance) > 3*variance*math.Sqrt(2./runs) {
		t.Errorf("mean %g off, variance %g, want %g", mean, square, variance)
	}
	must.Near(t, "closed form", o.Estimate(77), n/(n-lambda)*(77-lambda/2), 1e-12)
}

func TestVector(t *testing.T) {
	const n, runs = 50, 2000
	v, c := multimessage.Vector{Dim: 3, Limit: 2, Levels: 8, Noise: 6}, coins(3)
	x := []float64{-1.1, 0.4, 1.5}
	var mean [3]float64
	sum := make([]float64, 3)
	for range runs {
		ones := make([]int, 3)
		for range n {
			if err := v.Add(ones, x, c); err != nil {
				t.Fatal(err)
			}
		}
		v.Estimate(sum, ones, n)
		for j := range mean {
			mean[j] += sum[j] / runs
		}
	}
	// A coordinate's variance is at most (1/4)²·50·(6·3/16 + 1/4); three standard errors for each of three.
	deviation := math.Sqrt(50./16*(6*3./16+0.25)) / math.Sqrt(runs)
	for j := range mean {
		if math.Abs(mean[j]-n*x[j]) > 3.5*deviation {
			t.Errorf("coordinate %d: %g, want %g", j, mean[j], n*x[j])
		}
	}
	if v.Bits() != 3*(16+6) {
		t.Errorf("%d bits", v.Bits())
	}
	_, bits, warning, err := multimessage.PublishedVector(16512, 101, accountant.Cost{Epsilon: 1, Delta: 1e-5})
	if err != nil || warning == "" {
		t.Fatal(err)
	}
	must.Near(t, "published noise bits", bits, 470_135_800, 1e-6)
}

func TestRefusals(t *testing.T) {
	c := coins(4)
	for _, x := range []float64{-0.1, 1.1, math.NaN(), math.Inf(1)} {
		if _, err := (multimessage.Scalar{Limit: 1, Levels: 4, Noise: 2}).Encode(x, c); err == nil {
			t.Errorf("%g accepted", x)
		}
	}
	for _, s := range []multimessage.Scalar{{}, {Limit: 1}, {Limit: -1, Levels: 1}, {Limit: 1, Levels: 1, Noise: -1}} {
		if _, err := s.Encode(0, c); err == nil {
			t.Errorf("%+v accepted", s)
		}
	}
	v := multimessage.Vector{Dim: 2, Limit: 1, Levels: 4, Noise: 2}
	for _, x := range [][]float64{{1, 1}, {1}, {math.NaN(), 0}} {
		if v.Add(make([]int, 2), x, c) == nil {
			t.Error(fmt.Sprint(x, " accepted"))
		}
	}
	for _, lambda := range []float64{0, -1, 10, math.NaN()} {
		if _, err := multimessage.NewOneBit(10, lambda); err == nil {
			t.Errorf("lambda %g", lambda)
		}
	}
}
