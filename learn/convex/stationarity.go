package convex

import (
	"gonum.org/v1/gonum/floats"

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

// NearStationarity returns ‖prox(w) - w‖_p for the mean loss F of the records, which is to be
// ρ-weakly convex with 2ρ/(p-1) ≤ β, and prox(w) = argmin F(v) + (β/2)‖v - w‖_p² over the ball of
// ‖·‖_p: w is that near to a point that is stationary to within β·D times it (Lemma 14). The
// minimiser is found by the given number of steps of mirror descent, to within the order of
// 1/√steps: it is a measure for experiments, not part of any promise, and a secret of the records.
// Cost: steps·n gradients.
func NearStationarity(l loss.Loss, records *data.Records, w []float64, beta float64,
	ball geometry.LpBall, steps int) float64 {
	total, m := float64(steps), newMirror(ball.Norm(), len(w), ball.Radius())
	m.restart(w)
	sum := make([]float64, len(w))
	for t := 1.0; t <= total; t++ {
		g := meanGradient(l, records, m.point)
		floats.AddScaled(sum, 2*t/(total*(total+1)), m.point)
		m.step(g, 2/(beta/2*(t+1)), beta)
	}
	floats.Sub(sum, w)
	return geometry.Norm(sum, ball.Norm())
}
