package randomiser

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/num"
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
func (r *OneBit) Dim() int { return handle.Made(r).d }

// Epsilon returns ε₀ = ln(t/(2⁶⁴-t)), rounded up.
func (r *OneBit) Epsilon() float64 {
	r = handle.Made(r)
	return promise(r.d, r.epsilon)
}

// Size returns 9.
func (r *OneBit) Size() int { return oneBitSize }

// Scale returns the norm of every report.
func (r *OneBit) Scale(bound float64) float64 { return bound * handle.Made(r).unit }

// Append draws three words. See [Randomizer].
func (r *OneBit) Append(dst []byte, x []float64, bound float64, coins Coins) ([]byte, error) {
	r = handle.Made(r)
	if err := made(r.d, coins); err != nil {
		return dst, err
	}
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
	r = handle.Made(r)
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

// Floats is OneBit whose messages are the vector s·g in d single-precision numbers, in place of
// the seed and the bit that make it: 32·d bits. The server's sum is the same, bit for bit. A
// message is a function of OneBit's and as private. It is there to compare sizes.
type Floats struct{ *OneBit }

var _ Randomizer = Floats{}

// Size returns 4d.
func (r Floats) Size() int { return 4 * r.Dim() }

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
	if err := checkSum(sum, r.Dim(), message, r.Size(), bound); err != nil {
		return err
	}
	g := borrow(r.d)
	defer scratch.Put(g)
	for j := range *g {
		(*g)[j] = float64(math.Float32frombits(binary.LittleEndian.Uint32(message[4*j:])))
	}
	n := vec.Norm(*g)
	if !(n > 0 && n <= math.MaxFloat64) {
		return check.Want("norm of a message's vector", n, "a finite number > 0")
	}
	floats.AddScaled(sum, r.Scale(bound)/n, *g)
	return nil
}

// choice is the private part of a message: of `all` possible values `near` are favoured, and
// one of these is sent with probability threshold/2⁶⁴.
type choice struct {
	near, all uint64
	threshold uint64
}

// newChoice takes the largest threshold whose privacy is at most epsilon:
//
//	threshold ≤ 2⁶⁴·near·e^ε/(near·e^ε + all - near)
//
// in intervals, rounded down.
func newChoice(near, all uint64, epsilon float64) choice {
	e := num.FromInt(int64(near)).Mul(num.Exp(num.Decimal(epsilon)))
	share := e.Quo(e.Add(num.FromInt(int64(all - near))))
	word := num.FromRat(new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 64)))
	t, _ := share.Mul(word).Lo().Uint64() // truncated
	return choice{near, all, t}
}

// rest is 2⁶⁴ - threshold, of 2⁶⁴; thresholds are above 0.
func (c choice) rest() uint64 { return -c.threshold }

// epsilon returns the real ε of the integer threshold, rounded up: the favoured values are
// sent with threshold/(2⁶⁴·near) each, the others with rest/(2⁶⁴·(all-near)).
func (c choice) epsilon() float64 {
	ratio := new(big.Rat).SetFrac(
		new(big.Int).Mul(new(big.Int).SetUint64(c.threshold), new(big.Int).SetUint64(c.all-c.near)),
		new(big.Int).Mul(new(big.Int).SetUint64(c.rest()), new(big.Int).SetUint64(c.near)))
	return num.Log(num.FromRat(ratio)).DecimalUp()
}

// contrast returns the probability of one favoured value less that of one other, from the
// integers, so that it is the real one's to a unit in the last place.
func (c choice) contrast() float64 {
	other := new(big.Int).SetUint64(c.all - c.near)
	near := new(big.Int).SetUint64(c.near)
	top := new(big.Int).Sub(new(big.Int).Mul(new(big.Int).SetUint64(c.threshold), other),
		new(big.Int).Mul(new(big.Int).SetUint64(c.rest()), near))
	bottom := new(big.Int).Lsh(new(big.Int).Mul(other, near), 64)
	f, _ := new(big.Rat).SetFrac(top, bottom).Float64()
	return f
}

// fromNear draws whether the value is a favoured one. It reads one word whatever comes.
func (c choice) fromNear(coins Coins) bool { return coins.Uint64() < c.threshold }

// turned draws whether a vector of relative norm n stands for itself or for its opposite, so
// that a short vector is the mean of two long ones. Privacy does not depend on it:
// the bit that it changes is randomised afterwards.
func turned(n float64, coins Coins) bool {
	return float64(coins.Uint64()>>11)*0x1p-53 >= (1+n)/2
}

// meanAbs returns E|v_1| = Γ(d/2)/(√π·Γ((d+1)/2)) for v uniform on the sphere of R^d.
func meanAbs(d int) float64 {
	if d > 1e6 {
		// The difference of two large logarithms loses digits; the series' next term is below 1e-23.
		x := 1 / float64(d)
		return math.Sqrt(2/math.Pi*x) * (1 + x/4 + x*x/32 - 5*x*x*x/128)
	}
	// Exact by E_d = (d-2)/(d-1)·E_{d-2}, from E_1 = 1 and E_2 = 2/π.
	e, k := 1.0, 1
	if d%2 == 0 {
		e, k = 2/math.Pi, 2
	}
	for ; k < d; k += 2 {
		e *= float64(k) / float64(k+1)
	}
	return e
}
