package sketch

import (
	"context"
	"fmt"
	"math"
	"runtime"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/sketch/stream"
	"golang.org/x/sync/errgroup"
)

// maxAlike is the most coordinates nd that AlikeVectors makes: 1 GiB.
const maxAlike = 1 << 27

func checkAlike(n, d int, rho float64) error {
	if err := check.Whole("dimension d", d, 2, MaxDimension); err != nil {
		return err
	}
	if n < 1 || n >= d {
		return check.Wantf("clients n", n,
			"at least 1, and below d = %d: more vectors cannot be orthogonal", d)
	}
	if n > maxAlike/d {
		return check.Wantf("clients n", n,
			"at most %d for d = %d: all vectors together may have 2²⁷ coordinates", maxAlike/d, d)
	}
	return check.Probability("rho", rho)
}

// AlikeVectors returns n vectors of length 1 with R = rho·(n-1): √rho·u₀ + √(1-rho)·u_i with random
// orthonormal u, so that no coordinate is preferred. rho is in [0,1], n is below d, and nd is at
// most 2²⁷. It takes O(n²d).
func AlikeVectors(ctx context.Context, n, d int, rho float64, root uint64) ([][]float64, error) {
	if err := checkAlike(n, d, rho); err != nil {
		return nil, err
	}
	rng := stream.New(root, stream.Synthetic, streamAlike)
	basis := make([][]float64, n+1)
	for i := range basis {
		v := make([]float64, d)
		for j := range v {
			v[j] = rng.Normal()
		}
		for _, u := range basis[:i] {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			c := dot(u, v)
			for j := range v {
				v[j] -= c * u[j]
			}
		}
		norm := math.Sqrt(dot(v, v))
		for j := range v {
			v[j] /= norm
		}
		basis[i] = v
	}
	for _, u := range basis[1:] {
		for j, v := range u {
			u[j] = math.Sqrt(rho)*basis[0][j] + math.Sqrt(1-rho)*v
		}
	}
	return basis[1:], nil
}

// streamAlike is the label of AlikeVectors, apart from those of data and starts.
const streamAlike = 9

// RoundMean sends vectors through the messages of one round, client i the i-th, and returns
// the server's estimate.
func RoundMean(ctx context.Context, c Compressor, round uint64, xs [][]float64) ([]float64, error) {
	if c == nil {
		return nil, errNoCompressor
	}
	d := c.NewDecoder(round)
	for i, x := range xs {
		message, err := c.Encode(round, uint64(i), x)
		if err != nil {
			return nil, err
		}
		if err := d.Add(uint64(i), message); err != nil {
			return nil, err
		}
	}
	return d.Mean(ctx)
}

// MeanOf is the mean itself, nil of no vectors.
func MeanOf(xs [][]float64) []float64 {
	if len(xs) == 0 {
		return nil
	}
	out := make([]float64, len(xs[0]))
	for _, x := range xs {
		for j, v := range x {
			out[j] += v / float64(len(xs))
		}
	}
	return out
}

// SquaredError is ‖estimate - mean‖², a sum over coordinates.
func SquaredError(estimate, mean []float64) float64 {
	s := 0.0
	for j, v := range estimate {
		s += (v - mean[j]) * (v - mean[j])
	}
	return s
}

// Measured is a mean squared error over rounds.
type Measured struct {
	MSE           float64 `json:"mse"`
	StandardError float64 `json:"standard_error"` // of MSE
}

// checkTrials bounds the trials of a measurement, each of which keeps its error.
func checkTrials(rounds int) error { return check.Whole("trials", rounds, 2, 1<<24) }

// Measure runs rounds 0 to rounds-1, 2 to 2²⁴, several at a time, and calls done, if it is not nil,
// after each, from any goroutine. The result does not depend on how many run at a time.
func Measure(ctx context.Context, c Compressor, xs [][]float64, rounds int,
	done func()) (Measured, error) {
	if err := checkTrials(rounds); err != nil {
		return Measured{}, err
	}
	if len(xs) == 0 {
		return Measured{}, check.Want("clients n", 0, "at least 1")
	}
	mean, squared := MeanOf(xs), make([]float64, rounds)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for t := range squared {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			got, err := RoundMean(ctx, c, uint64(t), xs)
			if err != nil {
				return fmt.Errorf("trial %d: %w", t, err)
			}
			squared[t] = SquaredError(got, mean)
			if done != nil {
				done()
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return Measured{}, err
	}
	var m Measured
	for _, v := range squared {
		m.MSE += v / float64(rounds)
	}
	variance := 0.0
	for _, v := range squared {
		variance += (v - m.MSE) * (v - m.MSE) / float64(rounds-1)
	}
	m.StandardError = math.Sqrt(variance / float64(rounds))
	return m, nil
}

// checkStar checks ρ* of n clients' vectors. One vector has no correlation, and any is allowed.
func checkStar(n int, star float64) error {
	low := -1.0
	if n > 1 {
		low = -1 / float64(n-1)
	}
	const slack = 1e-9 // of rounding in Correlation
	if !(star >= low-slack && star <= 1+slack) {
		return check.Wantf("rho", star, "between -1/(n-1) = %.3g and 1", low)
	}
	return nil
}

// Correlation returns the two statistics that the mean squared error depends on:
// Q = Σ ‖x_i‖² and R = (‖Σ x_i‖² - Q)/Q, which lies in [-1, n-1]. R is n-1 for identical
// vectors, 0 for orthogonal ones, and 0 by definition if Q is 0 or there is one vector. All
// vectors must have the same length. It takes O(nd).
func Correlation(xs [][]float64) (r, q float64) {
	if len(xs) == 0 {
		return 0, 0
	}
	sum := make([]float64, len(xs[0]))
	for _, x := range xs {
		for j, v := range x {
			sum[j] += v
			q += v * v
		}
	}
	if q == 0 || len(xs) == 1 {
		return 0, q
	}
	return (dot(sum, sum) - q) / q, q
}

func dot(a, b []float64) float64 {
	s := 0.0
	for j, v := range a {
		s += v * b[j]
	}
	return s
}
