package figure

import (
	"math"
	"testing"

	"gonum.org/v1/plot"
)

func TestMarks(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		want   []float64
	}{
		{1, 1, []float64{1}},
		{0.9, 30, []float64{0.9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 30}},
		{0.001, 0.002, []float64{0.001, 0.002}},
		{11, 19, nil},
		{9.5e307, math.MaxFloat64, []float64{1e308}},
	} {
		got := marks(c.lo, c.hi)
		if len(got) != len(c.want) {
			t.Errorf("marks(%g, %g) = %v, want %v", c.lo, c.hi, got, c.want)
			continue
		}
		for i, m := range got {
			if math.Abs(m.value/c.want[i]-1) > 1e-12 ||
				math.Abs(float64(m.digit)*math.Pow10(int(math.Floor(math.Log10(m.value*(1+1e-12)))))/m.value-
					1) > 1e-12 {
				t.Errorf("marks(%g, %g)[%d] = %v, want %v", c.lo, c.hi, i, m, c.want[i])
			}
		}
	}
}

// strange are the ends for which loops over powers of ten did not end.
var strange = []float64{math.NaN(), math.Inf(-1), -1, 0, math.SmallestNonzeroFloat64, 1e-300, 1,
	1e300, math.MaxFloat64, math.Inf(1)}

func TestEveryRangeEnds(t *testing.T) {
	for _, lo := range strange {
		for _, hi := range strange {
			if n := len(marks(lo, hi)); n > 9*633 || n > 0 &&
				!(lo > 0 && lo <= hi && hi <= math.MaxFloat64) {
				t.Errorf("marks(%g, %g): %d marks", lo, hi, n)
			}
			a, b := Fit(lo, hi)
			if !(a > 0 && a < b && b <= math.MaxFloat64) {
				t.Errorf("Fit(%g, %g) = %g, %g", lo, hi, a, b)
			}
			if lo > 0 && lo < hi && hi <= math.MaxFloat64 && (a != lo || b != hi) {
				t.Errorf("Fit(%g, %g) = %g, %g", lo, hi, a, b)
			}
			if len(marks(a, b)) == 0 && b/a > 10 {
				t.Errorf("Fit(%g, %g) = %g, %g has no mark", lo, hi, a, b)
			}
		}
	}
}

// Every axis has some values, and none so many that they run into each other.
func TestTicksAreFewAndSome(t *testing.T) {
	labelled := func(ticks []plot.Tick) (n int) {
		for _, tick := range ticks {
			if tick.Label != "" {
				n++
			}
		}
		return n
	}
	for _, lo := range []float64{1e-7, 0.013, 1, 17, 29.9, 480} {
		for _, factor := range []float64{1.1, 1.5, 2, 3, 7, 50, 1e3, 1e9, 1e30} {
			hi := lo * factor
			for name, c := range map[string]struct {
				ticks    []plot.Tick
				min, max int
			}{
				"logarithmic": {LogTicks(lo, hi), 2, 9}, "few": {FewTicks(lo, hi), 2, 8},
				"coarse": {coarseTicks(0, hi), 2, 5},
			} {
				if n := labelled(c.ticks); n < c.min || n > c.max {
					t.Errorf("%s ticks from %g to %g: %d values, want %d to %d: %v", name, lo, hi, n, c.min, c.max,
						c.ticks)
				}
			}
		}
	}
}
