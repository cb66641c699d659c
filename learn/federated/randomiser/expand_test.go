package randomiser

import (
	"math"
	"testing"

	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/sketch/stream"
)

// The numbers of a seed are part of the messages' standard: a server of another version decodes the
// same vectors.
func TestNormalsStandard(t *testing.T) {
	z := make([]float64, 7)
	normals(z, 20640, stream.Direction, 3)
	for i, want := range []float64{0x1.77654cp-04, 0x1.fb93bp-04, 0x1.b376d4p-03, -0x1.2318a8p-04,
		0x1.c46742p-01, 0x1.a84d86p-02, -0x1.e816dp+00} {
		if z[i] != want {
			t.Errorf("number %d is %g, want %g", i, z[i], want)
		}
	}
	short := make([]float64, 4)
	normals(short, 20640, stream.Direction, 3)
	for i := range short {
		if short[i] != z[i] {
			t.Errorf("number %d depends on how many are drawn", i)
		}
	}
}

// The law of the numbers, by fixed seeds: moments within five standard errors, and a chi-square of
// 64 cells of equal probability with 63 degrees of freedom below its 1e-6 point, 131. The mutants
// of a wrong sampler fail it.
func TestNormalsLaw(t *testing.T) {
	raced.Sequential(t)
	law := func(change func(float64) float64) (ok bool) {
		const n, each = 1_000_000, 1000
		z := make([]float64, each)
		var m [5]float64
		cells := make([]float64, 64)
		tails := 0.0
		for seed := range uint64(n / each) {
			normals(z, seed, stream.Direction, 0)
			for _, v := range z {
				v = change(v)
				for i, p := 1, v; i < len(m); i, p = i+1, p*v {
					m[i] += p / n
				}
				cells[min(63, int(64*0.5*math.Erfc(-v/math.Sqrt2)))]++
				if math.Abs(v) > right {
					tails++
				}
			}
		}
		chi := 0.0
		for _, c := range cells {
			chi += (c - n/64.) * (c - n/64.) / (n / 64.)
		}
		five := 5 / math.Sqrt(n)
		beyond := n * math.Erfc(right/math.Sqrt2)
		return chi < 131 && math.Abs(m[1]) < five && math.Abs(m[2]-1) < five*math.Sqrt2 &&
			math.Abs(m[3]) < five*math.Sqrt(15) &&
			math.Abs(m[4]-3) < five*math.Sqrt(96) && math.Abs(tails-beyond) < 5*math.Sqrt(beyond)
	}
	if !law(func(v float64) float64 { return v }) {
		t.Error("not normal")
	}
	for name, wrong := range map[string]func(float64) float64{
		"one per cent too small": func(v float64) float64 { return 0.99 * v },
		"no tail":                func(v float64) float64 { return max(-right, min(right, v)) },
		"one side":               math.Abs,
	} {
		if law(wrong) {
			t.Errorf("mutant %q passes", name)
		}
	}
}
