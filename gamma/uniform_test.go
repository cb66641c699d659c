package gamma

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/darrm/darrm/poissonbinom"
)

// bruteUniformError is the metric by Gauss-Legendre quadrature in every p_i: all multisets
// of nodes, each with its multinomial weight.
func bruteUniformError(f Func, low, high float64, nodes int) float64 {
	x, w := make([]float64, nodes), make([]float64, nodes)
	quad.Legendre{}.FixedLocations(x, w, low, high)
	k := f.K()
	sum := 0.0
	var walk func(node, left int, weight float64, pmf []float64)
	walk = func(node, left int, weight float64, pmf []float64) {
		if node == nodes || left == 0 {
			if left == 0 {
				d := 0.0
				for l := 0; 2*l < k; l++ {
					d += (pmf[k-l] - pmf[l]) * (1 - f.At(l))
				}
				sum += weight * math.Abs(d) / 2
			}
			return
		}
		for n := 0; ; n++ {
			walk(node+1, left-n, weight, pmf)
			if n == left {
				return
			}
			// One more of this node: k!/(n₁!n₂!…) factor by factor.
			weight *= float64(left-n) / float64(n+1) * w[node] / (high - low)
			pmf = poissonbinom.Append(make([]float64, len(pmf)+1), pmf, 1-x[node], x[node])
		}
	}
	walk(0, k, 1, []float64{1})
	return sum
}

// For one teacher ℰ = ½(1-γ)·E|2p-1|, for two ½(1-γ)·E|p₁+p₂-1|: a half and a third for
// probabilities in [0,1]. One teacher needs no sample, so its value is exact.
func TestUniformErrorClosedForms(t *testing.T) {
	one, err := UniformError(mustFree(t, 1, 0.25), 0, 1)
	if err != nil || math.Abs(one.Value-0.75/4) > 1e-15 || one.StandardError > 1e-15 {
		t.Errorf("K = 1: %+v, %v; want %v", one, err, 0.75/4)
	}
	two, err := UniformError(mustFree(t, 2, 0.25), 0, 1)
	if err != nil || math.Abs(two.Value-0.75/6) > 1e-5 {
		t.Errorf("K = 2: %+v, %v; want %v", two, err, 0.75/6)
	}
}

// The sampled value against a quadrature that samples nothing. The quadrature is within
// 3e-5 with 9 nodes (8 and 9 differ by 2e-5), the standard error is 2e-5.
func TestUniformErrorAgainstQuadrature(t *testing.T) {
	sub, err := Subsampling(11, 3)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		f         Func
		low, high float64
	}{
		"subsampling":   {sub, 0, 1},
		"constant":      {mustFree(t, 11, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5), 0, 1},
		"increasing":    {mustFree(t, 7, 0, 0.2, 0.9, 1), 0, 1},
		"even K":        {mustFree(t, 6, 1, 0.5, 0.1), 0.1, 0.7},
		"one side of ½": {sub, 0.5, 1},
	} {
		got, err := UniformError(c.f, c.low, c.high)
		if err != nil {
			t.Fatal(err)
		}
		if want := bruteUniformError(c.f, c.low, c.high, 9); math.Abs(got.Value-want) > 1e-4 ||
			!(got.StandardError > 0 && got.StandardError < 5e-5) {
			t.Errorf("%s: %+v, by quadrature %v", name, got, want)
		}
	}
}

// Where all teachers are on one side of ½ the absolute value changes nothing: the metric is
// then ExpectedError with the interval's mean.
func TestUniformErrorOnOneSideIsTheExpectedError(t *testing.T) {
	sub, err := Subsampling(11, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ low, high, mu float64 }{{0.5, 1, 0.75}, {0.7, 1, 0.85},
		{0, 0.3, 0.85}} {
		weights, err := Weights(11, c.mu)
		if err != nil {
			t.Fatal(err)
		}
		got, err := UniformError(sub, c.low, c.high)
		if want := expectedError(sub, weights); err != nil || math.Abs(got.Value-want) > 1e-4 {
			t.Errorf("[%v, %v]: %+v, %v; expected error %v", c.low, c.high, got, err, want)
		}
	}
}

func TestUniformErrorRefuses(t *testing.T) {
	f := mustFree(t, 3, 1, 0.5)
	for _, c := range [][2]float64{{-0.1, 1}, {0, 1.1}, {math.NaN(), 1}, {0, math.NaN()}, {0.6, 0.5}} {
		if _, err := UniformError(f, c[0], c[1]); err == nil {
			t.Errorf("no error for [%v, %v]", c[0], c[1])
		}
	}
}
