package ensemble

import (
	"math"
	"testing"

	"github.com/darrm/darrm/poissonbinom"
)

// The published intervals: Newcombe, "Two-sided confidence intervals for the single proportion"
// (Statistics in Medicine 17, 1998), Table I, method 3.
func TestWilsonOfNewcombe(t *testing.T) {
	for _, c := range []struct {
		successes, n int
		want         Interval
	}{
		{81, 263, Interval{0.2553, 0.3662}}, {15, 148, Interval{0.0624, 0.1605}},
		{0, 20, Interval{0, 0.1611}}, {1, 29, Interval{0.0061, 0.1718}},
	} {
		got := Wilson(float64(c.successes)/float64(c.n), c.n)
		if math.Abs(got.Low-c.want.Low) > 5e-5 || math.Abs(got.High-c.want.High) > 5e-5 {
			t.Errorf("%d of %d: %v, want %v", c.successes, c.n, got, c.want)
		}
		mirrored := Wilson(1-float64(c.successes)/float64(c.n), c.n)
		if math.Abs(got.Low+mirrored.High-1) > 1e-12 {
			t.Errorf("%d of %d: %v, but %v for the others", c.successes, c.n, got, mirrored)
		}
	}
	if got := Wilson(0, 0); got != (Interval{0, 1}) {
		t.Errorf("of nothing: %v", got)
	}
}

// coverage is with what probability the interval of n draws contains their mean: of 0s and 1s,
// or of p/2 and (1+p)/2, which have the same mean and half the deviation.
func coverage(p float64, n int, halved bool) (sum float64) {
	for k, probability := range poissonbinom.Binomial(n, p) {
		mean := float64(k) / float64(n)
		if halved {
			mean = p/2 + mean/2
		}
		if i := Wilson(mean, n); i.Low <= p && p <= i.High {
			sum += probability
		}
	}
	return sum
}

// 0s and 1s are covered in 95 % of all draws on average, exactly worked out, and hardly less
// anywhere; values that vary less are covered at least as often.
func TestWilsonCovers(t *testing.T) {
	for _, n := range []int{50, 400} {
		total, lowest, count := 0.0, 1.0, 0
		for p := 0.05; p < 0.96; p += 0.01 {
			c := coverage(p, n, false)
			total, lowest, count = total+c, min(lowest, c), count+1
			if narrow := coverage(p, n, true); narrow < 0.999 {
				t.Errorf("n = %d, p = %.2f: values of half the deviation are covered with probability %v", n, p,
					narrow)
			}
		}
		if mean := total / float64(count); math.Abs(mean-0.95) > 0.005 || lowest < 0.92 {
			t.Errorf("n = %d: covered with probability %v on average, %v at least", n, mean, lowest)
		}
	}
}

// Agreement is of all queries, accuracy of those with a true label.
func TestIntervalsAreOfTheirOwnQueries(t *testing.T) {
	s := Score{Agreement: 0.8, Accuracy: 0.8, Queries: 900, Labels: 30}
	if got := s.AgreementInterval(); got != Wilson(0.8, 900) {
		t.Errorf("agreement: %v", got)
	}
	if got := s.AccuracyInterval(); got != Wilson(0.8, 30) || got.High-got.Low < 0.2 {
		t.Errorf("accuracy: %v", got)
	}
	b := twoClasses(t, 3, []int{3, 3, 0, 3, 1, 2}, []int{1, NoTruth, NoTruth, 0, NoTruth, NoTruth})
	if got := b.Plain(); got.Labels != 2 || got.AccuracyInterval() != Wilson(got.Accuracy, 2) ||
		got.AgreementInterval() != Wilson(1, 6) {
		t.Errorf("%+v", got)
	}
}
