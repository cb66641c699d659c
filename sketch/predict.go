package sketch

import (
	"context"
	"math"

	"github.com/darrm/darrm/internal/check"
)

// PredictMSE returns E ‖x̂ - mean‖² for clients' vectors with the correlation r and Σ‖x_i‖² = q
// (see Correlation), a sum over coordinates. For an estimator with β(ρ) and orthonormal rows
// it is
//
//	(Q/n²) (β(ρ) + (ρ*-ρ) β'(ρ) - 1 - R),
//
// exact for row selection, and with an error about that of β for SRHT. Padding multiplies it by
// (d-1)/(d'-1): exact for T = 1, within 1 % otherwise. For ρ = 1 and nk next to d it is +Inf unless
// r = n-1. A plug-in ρ is taken to meet ρ* exactly. r must lie in [-1, n-1] and q be finite and not
// negative. Monte Carlo may take seconds for d' < 256, ablations and a custom T.
func PredictMSE(ctx context.Context, c Config, r, q float64) (float64, error) {
	codec, err := NewCodec(c)
	if err != nil {
		return 0, err
	}
	if err := checkStatistics(c.N, r, q); err != nil {
		return 0, err
	}
	l, err := codec.law(ctx, c.N, c.T.of(c.N, r), true)
	if err != nil {
		return 0, err
	}
	star := 0.0
	if c.N > 1 {
		star = r / float64(c.N-1)
	}
	n := float64(c.N)
	return q / (n * n) * c.padding() * l.at(star), nil
}

func checkStatistics(n int, r, q float64) error {
	const slack = 1e-9 // of rounding in Correlation
	if !(r >= -1-slack && r <= float64(n-1)+slack*float64(n)) {
		return check.Want("correlation R", r, "in [-1, n-1]")
	}
	return check.Epsilon("Q", q)
}

// at is the law's error in units of Q/n², never below 0.
func (l law) at(star float64) float64 {
	if star >= 1-1e-12 {
		return max(0, l.full)
	}
	if math.IsInf(l.none, 1) {
		return l.none
	}
	return max(0, l.none+star*(l.full-l.none))
}

// padding is the part of the error that falls on the first d of d' coordinates.
func (c Config) padding() float64 {
	if c.padded() == c.D {
		return 1
	}
	return float64(c.D-1) / float64(c.padded()-1)
}

// Crossing returns the ρ* = R/(n-1) above which a has a smaller error than b: both errors are
// linear in ρ*. ok is false if a is not better even for identical vectors. If a is better for
// all vectors, star is the least value there is, -1/(n-1). Both must have the same N, and a ρ
// that is fixed: not PlugIn.
func Crossing(ctx context.Context, a, b Config) (star float64, ok bool, err error) {
	if a.N != b.N {
		return 0, false, check.Want("clients n", b.N, "the same for both estimators")
	}
	if a.T.PlugIn || b.T.PlugIn {
		return 0, false, check.Want("transform", "PlugIn", "one with a fixed rho")
	}
	low := -1.0
	if a.N > 1 {
		low = -1 / float64(a.N-1)
	}
	difference := func(r float64) (float64, error) {
		x, err := PredictMSE(ctx, a, r, 1)
		if err != nil {
			return 0, err
		}
		y, err := PredictMSE(ctx, b, r, 1)
		return x - y, err
	}
	high := float64(a.N - 1)
	zero, err := difference(0)
	if err != nil {
		return 0, false, err
	}
	one, err := difference(high)
	if err != nil {
		return 0, false, err
	}
	if one >= 0 || a.N == 1 {
		return 0, zero < 0, nil
	}
	if math.IsInf(zero, 1) {
		return 1, true, nil
	}
	return max(low, zero/(zero-one)), true, nil // both errors are linear in ρ*
}
