package randomiser

import (
	"cmp"
	"encoding/binary"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/vec"
	"github.com/darrm/darrm/sketch/stream"
)

// RandK is OneBit behind a compressor of package sketch: Rand-k. The seed names k of the d
// coordinates too, all sets equally likely, the bit is OneBit's of these k numbers of x, and the
// report is d/k times OneBit's at the k coordinates, 0 elsewhere. It is unbiased, every report has
// norm Scale, about √(d/k) times that of OneBit, and the sum of a round has as many times more
// noise.
//
// Privacy: given the seed, which is drawn independently of x, the bit is a threshold coin on a
// sign, as OneBit's: ε₀, and the price through a shuffler, are the same. A message takes 9 bytes,
// as OneBit's: what k saves is work.
//
// Cost: k normal numbers and k coordinates to write a message, as many to add it, and d words of
// memory where k > d/64.
type RandK struct {
	d     int
	inner *OneBit // of R^k
}

var _ Randomizer = (*RandK)(nil)

// NewRandK returns the randomiser of k of d coordinates, 1 ≤ k ≤ d, and ε₀ at most epsilon.
func NewRandK(d, k int, epsilon float64) (*RandK, error) {
	if err := cmp.Or(checkShape(d, epsilon), check.Whole("coordinates of a report", k, 1, d)); err != nil {
		return nil, err
	}
	inner, err := NewOneBit(k, epsilon)
	return &RandK{d, inner}, err
}

// Dim returns d.
func (r *RandK) Dim() int { return handle.Made(r).d }

// Epsilon returns ε₀ = ln(t/(2⁶⁴-t)), rounded up.
func (r *RandK) Epsilon() float64 {
	r = handle.Made(r)
	return promise(r.d, handle.Made(r.inner).epsilon)
}

// Size returns 9.
func (r *RandK) Size() int { return oneBitSize }

// Scale returns the norm of every report: d/k times OneBit's in R^k.
func (r *RandK) Scale(bound float64) float64 {
	r = handle.Made(r)
	if r.d < 1 {
		return 0
	}
	return r.inner.Scale(bound) * (float64(r.d) / float64(r.inner.d))
}

// subset returns the coordinates that a seed names, ascending.
func (r *RandK) subset(seed uint64) []int {
	s := stream.New(seed, stream.RandK)
	return s.Subset(r.d, r.inner.d)
}

// Append draws three words. See [Randomizer].
func (r *RandK) Append(dst []byte, x []float64, bound float64, coins Coins) ([]byte, error) {
	r = handle.Made(r)
	if err := made(r.d, coins); err != nil {
		return dst, err
	}
	if _, err := relativeNorm(x, r.d, bound); err != nil {
		return dst, err
	}
	seed := coins.Uint64()
	part := borrow(r.inner.d)
	defer scratch.Put(part)
	for i, j := range r.subset(seed) {
		(*part)[i] = x[j]
	}
	// x is within rounding of its bound, and its part may be as near: it is cut, which is no rule of
	// privacy.
	vec.Clip(*part, bound)
	n, err := relativeNorm(*part, r.inner.d, bound)
	if err != nil {
		return dst, err
	}
	return r.inner.appendSeeded(dst, seed, *part, n, coins), nil
}

// Add adds (d/k)·Scale_k·s·v at the coordinates of the seed. See [Randomizer].
func (r *RandK) Add(sum []float64, message []byte, bound float64) error {
	r = handle.Made(r)
	if err := checkSum(sum, r.d, message, oneBitSize, bound); err != nil {
		return err
	}
	part := borrow(r.inner.d)
	defer scratch.Put(part)
	clear(*part)
	if err := r.inner.Add(*part, message, bound); err != nil {
		return err
	}
	floats.Scale(float64(r.d)/float64(r.inner.d), *part)
	for i, j := range r.subset(binary.LittleEndian.Uint64(message)) {
		sum[j] += (*part)[i]
	}
	return nil
}
