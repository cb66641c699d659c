package convex

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/internal/vec"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/loss"
)

// Gap returns max_{v∈W} ⟨∇F(w), w - v⟩ for the mean loss F of the records: at least 0 in W, and 0
// where w is stationary. It is measured on records, and is their secret.
func Gap(l loss.Loss, records *data.Records, w []float64, set geometry.Set) float64 {
	return geometry.Gap(set, w, meanGradient(l, records, w))
}

func meanGradient(l loss.Loss, records *data.Records, w []float64) []float64 {
	g, one := make([]float64, len(w)), make([]float64, len(w))
	for i := range records.Len() {
		l.Gradient(one, w, records.Row(i), records.Response(i))
		floats.AddScaled(g, 1/float64(records.Len()), one)
	}
	return g
}

// NearStationarity returns ‖prox(w) - w‖ for the mean loss F of the records, which is to be
// ρ-weakly convex with ρ < β, and prox(w) = argmin F(v) + (β/2)‖v - w‖² over the ball of the given
// radius: w is that near to a point that is stationary to within β·D times it (Lemma 14). The
// minimiser is found by the given number of subgradient steps, to within the order of 1/√steps: it
// is a measure for experiments, not part of any promise, and a secret of the records. Cost: steps·n
// gradients.
func NearStationarity(l loss.Loss, records *data.Records, w []float64, beta, radius float64,
	steps int) float64 {
	total := float64(steps)
	lambda := beta / 2
	v, sum := append([]float64(nil), w...), make([]float64, len(w))
	for t := 1.0; t <= total; t++ {
		g := meanGradient(l, records, v)
		floats.AddScaled(sum, 2*t/(total*(total+1)), v)
		for j := range v {
			v[j] -= 2 / (lambda * (t + 1)) * (g[j] + beta*(v[j]-w[j]))
		}
		vec.Clip(v, radius)
	}
	floats.Sub(sum, w)
	return math.Sqrt(floats.Dot(sum, sum))
}
