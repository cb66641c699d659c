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

// crossing returns the ρ* = R/(n-1) above which a has a smaller error than b, of the same N and with a ρ
// that is fixed: both errors are linear in ρ*. It is +Inf if a is not better even for identical
// vectors, and the least value there is, -1/(n-1), if a is better for all.
func crossing(ctx context.Context, a, b Config) (float64, error) {
	difference := func(r float64) (float64, error) {
		x, err := PredictMSE(ctx, a, r, 1)
		if err != nil {
			return 0, err
		}
		y, err := PredictMSE(ctx, b, r, 1)
		return x - y, err
	}
	n := float64(a.N)
	zero, err := difference(0)
	if err != nil {
		return 0, err
	}
	one, err := difference(n - 1)
	switch {
	case err != nil:
		return 0, err
	case (one >= 0 || a.N == 1) && zero < 0:
		return 0, nil
	case one >= 0 || a.N == 1:
		return math.Inf(1), nil
	case math.IsInf(zero, 1):
		return 1, nil
	}
	return max(-1/(n-1), zero/(zero-one)), nil
}
