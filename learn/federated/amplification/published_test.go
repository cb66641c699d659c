package amplification

import (
	"cmp"
	"fmt"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
)

// What is published and stands beside the exact accounts in tests.

// ClosedForm returns the ε₀ whose leading order is the target's, of a run of `streams` reports a
// record in rounds of full gradients and N_r one-bit reports:
//
//	ρ = (√(ε+l) - √l)²,  l = ln(1/δ),  q = ρ·N_r/streams,  ε₀ = ln((2 + q + √(q²+8q))/2)
//
// It is to four digits what Calibrate returns by Classical, below 2 or so, and no proof.
func ClosedForm(target accountant.Cost, reports, streams int) (float64, error) {
	if err := cmp.Or(checkTarget(target), check.Whole("honest reports of a stream", reports, 1, 0),
		check.Whole("streams of a run", streams, 1, 0)); err != nil {
		return 0, err
	}
	rho, err := accountant.ZCDPFor(target)
	if err != nil {
		return 0, err
	}
	q := rho * float64(reports) / float64(streams)
	return math.Log1p((q + math.Sqrt(q*q+8*q)) / 2), nil
}

// PublishedLocal is the published budget of the local phase.
type PublishedLocal struct {
	Silos, Records, Batch int             // M, n, b
	Steps, Rounds         int             // K, R
	Target                accountant.Cost // of the whole run; the local phase has a quarter of ε
	// Printed takes the constant 24 that was printed in place of 26, which the general theorem gives.
	Printed bool
}

// LocalNoise is σ, the largest of what three conditions ask for.
type LocalNoise struct {
	Alpha  float64 // 1 + 2·ln(1/δ)/ε
	Budget float64 // √(4·26·α·K·⌈R/M⌉/(n²ε))
	Least  float64 // 2√5/b
	Order  float64 // √(8α/(b²·ln(n/b))): the order's limit, for the sensitivity 2/b
}

// Sigma returns σ.
func (l LocalNoise) Sigma() float64 { return max(l.Budget, l.Least, l.Order) }

// Noise returns the published noise of the local phase, for comparison. LocalStep's Event is
// proved, and needs less. The error is errRate where b/n is above 0.1.
func (p PublishedLocal) Noise() (LocalNoise, error) {
	if err := cmp.Or(
		LocalStep{1, p.Batch, p.Records}.check(),
		check.Whole("silos", p.Silos, 1, 0),
		check.Whole("local steps", p.Steps, 1, 0),
		check.Whole("rounds", p.Rounds, 1, 0),
		checkTarget(p.Target),
	); err != nil {
		return LocalNoise{}, err
	}
	m, n, b := float64(p.Silos), float64(p.Records), float64(p.Batch)
	if b/n > 0.1 {
		return LocalNoise{}, fmt.Errorf("rate %g: %w", b/n, errRate)
	}
	constant := 26.
	if p.Printed {
		constant = 24
	}
	alpha := 1 - 2*math.Log(p.Target.Delta)/p.Target.Epsilon
	phases := math.Ceil(float64(p.Rounds) / m)
	return LocalNoise{
		Alpha:  alpha,
		Budget: math.Sqrt(4*constant*alpha*float64(p.Steps)*phases/p.Target.Epsilon) / n,
		Least:  2 * math.Sqrt(5) / b,
		Order:  math.Sqrt(8*alpha/math.Log(n/b)) / b,
	}, nil
}
