package gamma

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
)

// FromGiven returns the noise function nearest to given values, each rounded
// down to a multiple of 2⁻⁵³, and the largest change of a value, rounded up. values are those left
// of the middle, γ(0) … γ(⌈K/2⌉-1), or all K+1: then γ(l) and γ(K-l) may differ by 1e-9, and the
// smaller one counts, which is the one with more noise. A value may be outside [0,1] by as much. Where they differ by
// more, or a tie has a value, the function treats the labels by their names (NewByName), with values in [-1,1].
//
// The errors name the number of votes. Nothing is shrunk: CertifyDelta and CertifyEpsilon prove how
// private the function is.
func FromGiven(k int, values []float64) (f Func, change float64, err error) {
	if err := check.Teachers(k); err != nil {
		return Func{}, 0, err
	}
	half := (k + 1) / 2
	if len(values) != half && len(values) != k+1 {
		return Func{}, 0, fmt.Errorf("gamma has %d values, but K = %d needs %d, or the first %d",
			len(values),
			k, k+1, half)
	}
	if len(values) == k+1 && lopsided(values) {
		if f, err = NewByName(values); err != nil {
			return Func{}, 0, err
		}
		return f, changeOf(f, values), nil
	}
	free := make([]float64, half)
	for l, given := range values {
		v, err := check.Given(fmt.Sprintf("gamma(%d)", l), given)
		if err != nil {
			return Func{}, 0, err
		}
		switch other := k - l; {
		case l < half:
			free[l] = v
		case l > other:
			free[other] = min(free[other], v)
		}
	}
	if f, err = FromFree(k, free); err != nil {
		return Func{}, 0, err
	}
	return f, changeOf(f, values), nil
}

// lopsided reports whether values, of which there is one for each number of votes, differ between the labels.
func lopsided(values []float64) bool {
	for l, v := range values {
		other := values[len(values)-1-l]
		if !(math.Abs(v-other) <= check.GivenTolerance) || 2*l == len(values)-1 && v != 0 {
			return true
		}
	}
	return false
}

// changeOf returns the largest change of a given value, rounded up.
func changeOf(f Func, values []float64) (change float64) {
	for l, v := range values {
		if d := v - f.At(l); d != 0 { // exact but where it is far below 2⁻⁵³
			change = max(change, math.Nextafter(math.Abs(d), 1))
		}
	}
	return change
}

// certifyRounds bounds the attempts of CertifyDelta; the second one suffices unless δ is of the
// size of rounding errors.
const certifyRounds = 8

// CertifyDelta certifies f with the smallest δ that the search of all constraints shows at the ε of
// p, rounded up. p.Delta is not looked at. f itself is certified, and nothing is shrunk. The error
// is a *ViolationError where no δ below 1 is shown, a *constraints.ParameterError, or ctx.Err().
// With E = e^{mε} and U the certified bound of the scaled left-hand sides, it is
//
//	δ = ((1+E)·U - (E-1)) / 2
//
// Rounding errors of the search are some 1e-14 of 1+E and count as δ. Cost: two certificates.
func CertifyDelta(ctx context.Context, p constraints.Problem, f Func) (*Certified, error) {
	// A release at least as revealing as a teacher cannot have a smaller δ than that: see
	// constraints.Problem.Validate.
	if p.Delta = 0; p.Validate() != nil {
		p.Delta = p.TeacherDelta
	}
	for round := 0; ; round++ {
		s, err := constraints.NewSystem(p)
		if err != nil {
			return nil, err
		}
		c, bound, err := certify(ctx, s, f)
		var violation *ViolationError
		if !errors.As(err, &violation) {
			return c, err
		}
		// Both differences are rounded up. Every attempt takes more, so that δ also covers the shortest
		// decimal's rounding.
		excess := math.Nextafter(bound.Upper-s.RHS(), 2) * float64(int(1)<<round)
		delta := math.Nextafter(p.Delta+float64(s.Original(excess)/2), 2)
		if !(delta < 1) || round == certifyRounds {
			return nil, fmt.Errorf("no delta below 1 is proved at epsilon = %s: %w", p.TotalDecimal(), err)
		}
		p.Delta = delta
	}
}

// leastEpsilon is the smallest ε that CertifyEpsilon tries.
const leastEpsilon = 1e-6

// CertifyEpsilon certifies f with the smallest ε of ten digits that bisection finds at the δ of p,
// each step of which is the certificate. p.M and p.TotalEpsilon are not looked at. f itself is
// certified, and nothing is shrunk. The error is a *ViolationError where no ε up to 700 is shown, a
// *constraints.ParameterError, or ctx.Err().
//
// Only what was certified counts, so that it ends on the private side. It looks upwards first: at
// large ε the rounding errors of the search exceed what δ leaves, so that larger ones need not
// pass. Cost: some fifty certificates.
func CertifyEpsilon(ctx context.Context, p constraints.Problem, f Func) (*Certified, error) {
	p.M = 0
	var violation *ViolationError
	try := func(epsilon float64) (*Certified, error) {
		p.TotalEpsilon = epsilon
		c, err := Certify(ctx, p, f)
		if errors.As(err, &violation) {
			return nil, nil
		}
		return c, err
	}
	low, high := 0.0, leastEpsilon
	best, err := try(high)
	for ; best == nil && err == nil; best, err = try(high) {
		if high == check.MaxTotalEpsilon {
			return nil, fmt.Errorf("no epsilon up to %d is proved at delta = %g: %w", check.MaxTotalEpsilon,
				p.Delta, violation)
		}
		low, high = high, min(num.TenDigits(2*high), check.MaxTotalEpsilon)
	}
	if err != nil {
		return nil, err
	}
	_, err = num.LeastTenDigits(low, high, 0, func(x float64) (bool, error) {
		c, err := try(x)
		if c != nil {
			best = c
		}
		return c != nil, err
	})
	if err == nil {
		return best, nil
	}
	return nil, err
}
