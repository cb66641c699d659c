package randomiser

import (
	"encoding/binary"
	"fmt"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/internal/vec"
	"github.com/darrm/darrm/sketch/stream"
)

// OneBit is the ℓ2 mechanism of Duchi, Jordan and Wainwright as a seed and one bit. The seed names
// v, uniform on the sphere. The bit selects v or -v, after
//
//	u = x/‖x‖, or -u with probability 1/2 - ‖x‖/(2C)
//	s = sign⟨v, u⟩, with sign(0) = 1, or -s with probability 1/(e^ε₀+1)
//	report = Scale·s·v,  Scale = (C/κ)·√π·Γ((d+1)/2)/Γ(d/2)
//
// It is unbiased, and every report has norm Scale. Given the seed the bit is 1 with
// probability t/2⁶⁴, its complement, or a mean of the two: the message is ε₀-LDP for any v and
// any rounding of ⟨v, u⟩. A message takes 65 bits, padded to 9 bytes.
//
// Cost: d normal numbers to write a message, as many to add it.
type OneBit struct {
	d       int
	epsilon float64
	coin    choice
	unit    float64 // Scale at C = 1
}

// oneBitSize is 8 bytes of seed and one with the bit.
const oneBitSize = 9

var _ Randomizer = (*OneBit)(nil)

// NewOneBit returns the randomiser of ε₀ at most epsilon, d ≥ 1: the threshold of its coin is
// rounded down.
func NewOneBit(d int, epsilon float64) (*OneBit, error) {
	if err := checkShape(d, epsilon); err != nil {
		return nil, err
	}
	coin := newChoice(1, 2, epsilon)
	return &OneBit{d, min(epsilon, coin.epsilon()), coin, 1 / (coin.contrast() * meanAbs(d))}, nil
}

// Dim returns d.
func (r *OneBit) Dim() int { return r.d }

// Epsilon returns ε₀ = ln(t/(2⁶⁴-t)), rounded up.
func (r *OneBit) Epsilon() float64 { return r.epsilon }

// Size returns 9.
func (r *OneBit) Size() int { return oneBitSize }

// Scale returns the norm of every report.
func (r *OneBit) Scale(bound float64) float64 { return bound * r.unit }

// Append draws three words. See [Randomizer].
func (r *OneBit) Append(dst []byte, x []float64, bound float64, coins Coins) ([]byte, error) {
	n, err := relativeNorm(x, r.d, bound)
	if err != nil {
		return dst, err
	}
	return r.appendSeeded(dst, coins.Uint64(), x, n, coins), nil
}

// appendSeeded draws two words for x of relative norm n.
func (r *OneBit) appendSeeded(dst []byte, seed uint64, x []float64, n float64, coins Coins) []byte {
	g := borrow(r.d)
	defer scratch.Put(g)
	normals(*g, seed, stream.Direction, 0)
	s := floats.Dot(*g, x) >= 0
	s = s != turned(n, coins)
	s = s == r.coin.fromNear(coins)
	dst = binary.LittleEndian.AppendUint64(dst, seed)
	if s {
		return append(dst, 1)
	}
	return append(dst, 0)
}

// Add adds Scale·s·v. See [Randomizer].
func (r *OneBit) Add(sum []float64, message []byte, bound float64) error {
	if err := checkSum(sum, r.d, message, oneBitSize, bound); err != nil {
		return err
	}
	c := r.Scale(bound)
	switch message[8] {
	case 0:
		c = -c
	case 1:
	default:
		return fmt.Errorf("the last byte of a message is %d, but it is one bit: 0 or 1", message[8])
	}
	g := borrow(r.d)
	defer scratch.Put(g)
	normals(*g, binary.LittleEndian.Uint64(message), stream.Direction, 0)
	floats.AddScaled(sum, c/vec.Norm(*g), *g)
	return nil
}
