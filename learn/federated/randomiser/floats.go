package randomiser

import (
	"encoding/binary"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/vec"
	"github.com/darrm/darrm/sketch/stream"
)

// Floats is OneBit whose messages are the vector s·g in d single-precision numbers, in place of
// the seed and the bit that make it: 32·d bits. The server's sum is the same, bit for bit. A
// message is a function of OneBit's and as private. It is there to compare sizes.
type Floats struct{ *OneBit }

var _ Randomizer = Floats{}

// Size returns 4d.
func (r Floats) Size() int { return 4 * r.d }

// Append appends s·g of the message that OneBit would send with these coins.
func (r Floats) Append(dst []byte, x []float64, bound float64, coins Coins) ([]byte, error) {
	var array [oneBitSize]byte
	m, err := r.OneBit.Append(array[:0], x, bound, coins)
	if err != nil {
		return dst, err
	}
	g := borrow(r.d)
	defer scratch.Put(g)
	normals(*g, binary.LittleEndian.Uint64(m), stream.Direction, 0)
	for _, v := range *g {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(float32(v))^uint32(m[8]^1)<<31)
	}
	return dst, nil
}

// Add normalises the message's vector to Scale. It refuses one without a direction.
func (r Floats) Add(sum []float64, message []byte, bound float64) error {
	if err := checkSum(sum, r.d, message, r.Size(), bound); err != nil {
		return err
	}
	g := borrow(r.d)
	defer scratch.Put(g)
	for j := range *g {
		(*g)[j] = float64(math.Float32frombits(binary.LittleEndian.Uint32(message[4*j:])))
	}
	n := vec.Norm(*g)
	if !(n > 0 && n <= math.MaxFloat64) {
		return &check.Error{Name: "norm of a message's vector", Value: n, Rule: "a finite number > 0"}
	}
	floats.AddScaled(sum, r.Scale(bound)/n, *g)
	return nil
}
