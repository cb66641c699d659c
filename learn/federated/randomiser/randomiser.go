// Package randomiser turns the clipped gradient of one record into one short message that is
// locally differentially private, and a shuffler's messages into an unbiased sum.
//
// A [Randomizer] writes a message of fixed length from a vector of norm at most a public bound, and
// adds to a sum the unbiased report that a message stands for. [OneBit] is the default, [PrivUnit]
// has less noise above ε₀ = 1.6 or so, and [Floats] sends what OneBit sends as d numbers, for
// comparisons of size. [RandK] is OneBit behind a compressor: less work for a long vector, more
// noise. A [Shuffler] forgets which message came from whom.
//
// Messages are a public seed and a few private bits. The seed is drawn independently of the
// data, and every private bit by comparing 64 uniform bits with an integer, so that the stated
// ε₀ is the real one whatever the floating-point rounding and the quality of the expansion:
// these only decide how exactly the mean of many reports is the mean of the vectors.
//
// Values of its types are safe for concurrent use while nobody writes to their fields, but for
// those whose comments say otherwise.
//
// # Notation
//
//	d            Dim        length of the vectors
//	C            bound      public bound on a vector's norm, > 0
//	ε₀           Epsilon    of one message, for any two vectors, rounded up
//	κ            kappa      tanh(ε₀/2), Pr[kept] - Pr[flipped]
//	t            threshold  of 2⁶⁴: a bit is kept with probability t/2⁶⁴
//	Scale        Scale      ‖report‖
//
// Source: Duchi, Jordan and Wainwright, Minimax Optimal Procedures for Locally Private
// Estimation (2018), Section 4.2.3.
package randomiser

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/vec"
)

// Coins are independent uniform 64-bit words, as *rand.ChaCha8 of math/rand/v2 gives them.
// For a private report they come from a key that the system's generator drew
// (internal/randsrc/stream.Secret) and are used once: two messages that share coins share
// their seed and their flips, and protect nothing.
type Coins interface{ Uint64() uint64 }

// Randomizer is one local randomiser. It is immutable and safe for concurrent use.
type Randomizer interface {
	// Dim returns d.
	Dim() int
	// Epsilon returns ε₀: for any two vectors, bounds alike, and any set of messages the
	// probabilities are within e^ε₀ of each other. It is rounded up.
	Epsilon() float64
	// Size returns the bytes of a message, the same for all.
	Size() int
	// Scale returns √E‖report‖² for vectors of norm up to bound: the mean of n reports of
	// vectors x_i deviates from their mean by (Scale² - avg ‖x_i‖²)/n in squared norm.
	Scale(bound float64) float64
	// Append appends the message of x, whose norm is at most bound. How many coins it draws
	// tells nothing of x. It refuses a vector of another length, one that is not finite
	// or is longer than the bound by more than rounding, and a bound that is not above 0: there is
	// nothing to send.
	Append(dst []byte, x []float64, bound float64, coins Coins) ([]byte, error)
	// Add adds a message's unbiased report to sum, which has d entries. It refuses what Append
	// cannot have written, and then leaves sum alone.
	Add(sum []float64, message []byte, bound float64) error
}

// MaxDim is the largest d.
const MaxDim = 1 << 26

// ε₀ is in [1e-6, MaxEpsilon]. Below it a report is noise alone; above it
// 64 bits do not tell one ε₀ from the next.
const (
	minEpsilon = 1e-6
	MaxEpsilon = 32
)

func checkShape(d int, epsilon float64) error {
	if err := check.Whole("dimension", d, 1, MaxDim); err != nil {
		return err
	}
	if !(epsilon >= minEpsilon && epsilon <= MaxEpsilon) {
		return check.Wantf("local epsilon", epsilon, "between %g and %g", minEpsilon, float64(MaxEpsilon))
	}
	return nil
}

func checkBound(bound float64) error {
	if !(bound > 0) || math.IsInf(bound, 1) {
		return check.Want("bound of the reports", bound, "a finite number > 0; at 0 nothing is sent")
	}
	return nil
}

// made refuses a randomiser of d dimensions that nobody made, and one without coins to draw.
func made(d int, coins Coins) error {
	if d < 1 || coins == nil {
		return errors.New("a randomiser must be made by its New, and be given coins")
	}
	return nil
}

// promise returns the ε₀ of a randomiser of d dimensions: a zero one promises nothing.
func promise(d int, epsilon float64) float64 {
	if d < 1 {
		return math.Inf(1)
	}
	return epsilon
}

// relativeNorm returns ‖x‖/bound, at most 1. The privacy of a message does not depend on it.
func relativeNorm(x []float64, d int, bound float64) (float64, error) {
	if len(x) != d {
		return 0, check.Wantf("length of the vector", len(x), "%d", d)
	}
	if err := checkBound(bound); err != nil {
		return 0, err
	}
	n := vec.Norm(x) / bound
	if !(n > 1e-140 && n < 1e140) {
		n = floats.Norm(x, 2) / bound // scaled: no square leaves the range
	}
	if !(n <= 1+vec.Slack(d)) {
		return 0, check.Want("norm of the vector over its bound", n, "at most 1: clip it first (vec.Clip)")
	}
	return min(n, 1), nil
}

func checkSum(sum []float64, d int, message []byte, size int, bound float64) error {
	if err := check.Whole("dimension", d, 1, MaxDim); err != nil {
		return err
	}
	if len(sum) != d {
		return check.Wantf("length of the sum", len(sum), "%d", d)
	}
	if len(message) != size {
		return check.Wantf("bytes of a message", len(message), "%d", size)
	}
	return checkBound(bound)
}
