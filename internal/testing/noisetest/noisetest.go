// Package noisetest compares frequencies with probabilities.
package noisetest

import (
	"fmt"
	"math"
)

// falseAlarm bounds the probability with which Check rejects draws that do follow the
// law.
const falseAlarm = 1e-6

// Check compares how often each outcome was drawn with the law of one draw, and returns
// an error that names what cannot be chance. Tested are every outcome and every set {0 …
// i}, so that both a single wrong probability and a small change of scale are seen. Each
// of these events is binomial; with q = x/n of n draws, chance exceeds
//
//	e^{-n·KL(q, p)},   KL(q, p) = q·ln(q/p) + (1-q)·ln((1-q)/(1-p))
//
// with at most that probability on either side (Chernoff), for any n, so a false alarm
// has at most probability falseAlarm in all. law sums to 1 up to rounding.
func Check(observed []int, law []float64) error {
	if len(observed) != len(law) {
		return fmt.Errorf("%d outcomes, but the law has %d", len(observed), len(law))
	}
	n := 0
	for _, x := range observed {
		n += x
	}
	limit := math.Log(2 * 2 * float64(len(law)) / falseAlarm)
	below, seen := 0.0, 0
	for i, x := range observed {
		below += law[i]
		seen += x
		if err := compare(fmt.Sprintf("outcome %d", i), x, n, law[i], limit); err != nil {
			return err
		}
		if err := compare(fmt.Sprintf("outcomes up to %d", i), seen, n, min(1, below), limit); err !=
			nil {
			return err
		}
	}
	return nil
}

func compare(name string, x, n int, p, limit float64) error {
	q := float64(x) / float64(n)
	if n > 0 && math.Abs(q-p) > 1e-9 && float64(n)*divergence(q, p) > limit {
		return fmt.Errorf("%s: drawn %d times of %d, expected %.1f", name, x, n, float64(n)*p)
	}
	return nil
}

// divergence returns KL(q, p).
func divergence(q, p float64) float64 {
	part := func(a, b float64) float64 {
		if a == 0 {
			return 0
		}
		return a * math.Log(a/b)
	}
	return part(q, p) + part(1-q, 1-p)
}
