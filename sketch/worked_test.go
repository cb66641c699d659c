package sketch

import (
	"context"
	"math"
	"testing"

	"github.com/darrm/darrm/internal/testing/must"
)

// worked is example 5.2: d = 16, k = 3, n = 2, root 42, round 0.
func worked() (Config, [][]float64) {
	xs := [][]float64{make([]float64, 16), make([]float64, 16)}
	for j := range 16 {
		xs[0][j] = float64(j + 1)
		xs[1][j] = float64(j * j % 7)
	}
	return Config{N: 2, K: 3, D: 16, Ensemble: SRHT, Root: 42}, xs
}

// Without β/n: T(S)⁺ Σ G_iᵀ y_i.
var workedDecodes = map[float64][]float64{
	0: {3.3125, 3.1875, 2.0625, 3.3125, 0.9375, 1.0625, 1.0625, 0.9375, 5.5625, 5.6875, 3.5625,
		-5.5625, 7.9375, -6.6875, 8.0625, 7.9375},
	0.5: {2.6575342466, 1.1836734694, 3.9908675799, 2.6575342466, 0.6779424098, 0.1506849315,
		0.1506849315, 0.6779424098,
		4.3628739167, 5.8367346939, 3.5342465753, -4.3628739167, 6.3424657534, -7.6757990868,
		7.8163265306, 6.3424657534},
	1: {2.1578947368, -2.2857142857, 7.1578947368, 2.1578947368, -0.1992481203, -0.6052631579,
		-0.6052631579, -0.1992481203,
		2.9849624060, 7.4285714286, 3.7894736842, -2.9849624060, 5.3421052632, -10.3421052632,
		9.7857142857, 5.3421052632},
}

// Acceptance A3: messages, the Gram block and the three decodes.
func TestA3WorkedExample(t *testing.T) {
	cfg, xs := worked()
	c := codec(t, cfg)
	want := [][]float64{{-14.5, -5.5, 9.5}, {0.75, -0.25, -3.25}}
	s := &system{codec: c, config: cfg}
	for i, x := range xs {
		y, err := c.EncodeValues(0, uint64(i), x)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "y", y, want[i], 1e-12)
		s.g = append(s.g, cfg.matrix(0, uint64(i)))
		s.y = append(s.y, y)
	}
	k, err := s.gramXOR(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for r, row := range [][]float64{{2, 2, 6}, {6, -2, 2}, {2, 10, -2}} {
		for q, v := range row {
			if got := 16 * k.At(r, 3+q); got != v {
				t.Errorf("16 K[%d][%d] = %g, want %g", r, q, got, v)
			}
		}
	}
	for rho, want := range workedDecodes {
		z, err := s.solve(t.Context(), newSummer(1, 2, 3, 16), linear{rho: rho}, s.lifted())
		if err != nil {
			t.Fatal(err)
		}
		near(t, "decode", z, want, 1e-9)
	}
	x, err := c.decodeValues(t.Context(), 0, map[uint64][]float64{0: s.y[0], 1: s.y[1]})
	if err != nil || math.Abs(x[0]-8.8333333333) > 1e-9 {
		t.Errorf("x̂[0] = %g, %v", x[0], err)
	}
}

// lifted is b = Σ G_iᵀ y_i.
func (s *system) lifted() []float64 {
	b, scratch := make([]float64, s.config.padded()), make([]float64, s.config.padded())
	for i, g := range s.g {
		g.addTransposed(b, s.y[i], scratch)
	}
	return b
}

func codec(t testing.TB, c Config) *Codec {
	t.Helper()
	return must.Get(NewCodec(c))(t)
}

func near(t testing.TB, what string, got, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	scale := 0.0
	for _, v := range want {
		scale = max(scale, math.Abs(v))
	}
	for j := range got {
		if !(math.Abs(got[j]-want[j]) <= tolerance*max(1, scale)) {
			t.Errorf("%s[%d] = %.12g, want %.12g", what, j, got[j], want[j])
			return
		}
	}
}

func mse(t testing.TB, c Config, r, q float64) float64 {
	t.Helper()
	return must.Get(PredictMSE(context.Background(), c, r, q))(t)
}
