package sketch

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/bits"
	"sort"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/sketch/fwht"
	"github.com/darrm/darrm/sketch/stream"
	"github.com/darrm/darrm/sketch/wire"
)

// maxRotatedBits is the most bits per number of a rotated.
const maxRotatedBits = 4

// rotated is the unbiased quantiser of DRIVE (Vargaftik et al., NeurIPS 2021) for one bit and EDEN
// (Vargaftik et al., ICML 2022) for more. A client rotates its vector at random, so that the
// coordinates look like normal numbers, rounds each to the nearest of the 2^bits values that Lloyd
// and Max found best for these, and sends a scale that makes the estimate unbiased. With K < d'
// only K coordinates, drawn at random, are sent: less than one bit per coordinate of the vector.
//
// The rotation is two rounds of random signs and a Walsh-Hadamard transform, of d padded to a
// power of two. It is unbiased up to how far that is from a uniform rotation.
type rotated struct {
	baseline
	bits int
	law  quantiser
}

var _ Compressor = (*rotated)(nil)

// newRotated checks b, whose K may be up to d', the next power of two of D, and bits, 1 to 4.
func newRotated(b baseline, bits int) (*rotated, error) {
	whole := b
	whole.K = 1
	if err := whole.check(); err != nil {
		return nil, err
	}
	r := &rotated{baseline: b, bits: bits}
	if err := cmp.Or(check.Whole("numbers per client k", b.K, 1, r.padded()),
		check.Whole("bits per number", bits, 1, maxRotatedBits)); err != nil {
		return nil, err
	}
	r.law = lloydMax(bits)
	return r, nil
}

func (r *rotated) padded() int { return 1 << bits.Len(uint(r.D-1)) }

// Bits returns the length of a client's numbers: K of the stated bits each, and a scale.
func (r *rotated) Bits() int { return r.K*r.bits + scaleBits }

// MSE predicts the mean squared error for vectors with Q = Σ ‖x_i‖², for large d and exact
// for a uniform rotation: (Q/n²)((d'/K)/(1-D) - 1), where D is the distortion that the 2^bits
// values leave of a standard normal number.
func (r *rotated) MSE(q float64) float64 {
	d, n := float64(r.padded()), float64(r.N)
	// Of d' coordinates only d are kept, with their share of the noise.
	kept := 1.0
	if r.D < r.padded() {
		kept = float64(r.D-1) / (d - 1)
	}
	return kept * q / (n * n) * (d/float64(r.K)/(1-r.law.distortion) - 1)
}

// rotation is R = (1/d') H D₂ H D₁ of one client and round, and the coordinates that are sent.
type rotation struct {
	first, second stream.Stream
	sent          []int // nil: all
}

func (r *rotated) rotation(round, client uint64) rotation {
	d := r.padded()
	s := stream.New(r.Root, stream.Rounding, round, client)
	out := rotation{first: s}
	for range (d + 63) / 64 { // the words of the first signs
		s.Uint64()
	}
	out.second = s
	if r.K < d {
		for range (d + 63) / 64 {
			s.Uint64()
		}
		out.sent = s.Subset(d, r.K)
	}
	return out
}

func (t rotation) forward(a []float64) {
	first, second := t.first, t.second
	first.Flip(a)
	fwht.Transform(a)
	second.Flip(a)
	fwht.Transform(a)
}

func (t rotation) back(a []float64) {
	first, second := t.first, t.second
	fwht.Transform(a)
	second.Flip(a)
	fwht.Transform(a)
	first.Flip(a)
}

// Encode returns a header, the bits in a byte, the scale as float32, and K numbers of those
// bits. It takes two transforms.
func (r *rotated) Encode(round, client uint64, x []float64) ([]byte, error) {
	if _, err := checkVector(x, r.D); err != nil {
		return nil, err
	}
	d := r.padded()
	largest := 0.0
	for _, v := range x {
		largest = max(largest, math.Abs(v))
	}
	t := r.rotation(round, client)
	codes := make([]int, d)
	scale := 0.0
	if largest > 0 {
		a := make([]float64, d)
		for j, v := range x {
			a[j] = v / largest // no square overflows
		}
		square := dot(a, a)
		t.forward(a) // d'·R x: of length d'·‖x‖, while normal numbers have √d'
		unit := 1 / math.Sqrt(square*float64(d))
		inner := 0.0
		for j, v := range a {
			codes[j] = r.law.nearest(v * unit)
			inner += v * unit * r.law.values[codes[j]]
		}
		// x̂ = scale·Rᵀc with scale = ‖x‖²/⟨Rx,c⟩, and Rx = ‖x‖·z/√d' for the z that were rounded.
		scale = largest * math.Sqrt(square*float64(d)) / inner
	}
	if t.sent != nil {
		some := make([]int, r.K)
		for a, j := range t.sent {
			some[a] = codes[j]
		}
		codes = some
	}
	if scale > math.MaxFloat32 {
		return nil, check.Want("vector", "a vector whose length does not fit a float32", "smaller")
	}
	b := append(r.header(wire.Rotated, round, client, r.K).Append(nil, r.Root), byte(r.bits))
	b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(scale)))
	return appendBits(b, r.bits, codes), nil
}

// NewDecoder returns a decoder for one round. It keeps the messages' numbers, and makes one
// rotation per client in Mean.
func (r *rotated) NewDecoder(round uint64) Decoder {
	return r.newAverage(round, func(client uint64, message []byte) (contribution, error) {
		n, body, err := wire.Read(message, r.header(wire.Rotated, round, client, r.K), r.Root)
		if err != nil {
			return nil, err
		}
		if len(body) < 1 || int(body[0]) != r.bits {
			return nil, wire.Errorf("other numbers than of %d bits each", r.bits)
		}
		scale, body, err := takeScale(body[1:])
		if err != nil {
			return nil, err
		}
		if want := bitBytes(n, r.bits); len(body) != want {
			return nil, wire.Errorf("%d bytes of numbers, but %d of %d bits have %d", len(body), n, r.bits,
				want)
		}
		if _, _, err := takeBits(body, r.bits, n); err != nil {
			return nil, err
		}
		body = append([]byte(nil), body...)
		return func(out []float64) {
			codes, _, _ := takeBits(body, r.bits, n) // read once before, without an error
			t := r.rotation(round, client)
			d := r.padded()
			a := make([]float64, d)
			for i, code := range codes {
				j := i
				if t.sent != nil {
					j = t.sent[i]
				}
				a[j] = r.law.values[code]
			}
			t.back(a)
			// back is d'·Rᵀ; a coordinate that was sent stands for d'/K of them.
			factor := scale / float64(d) * (float64(d) / float64(n))
			for j := range out {
				out[j] += factor * a[j]
			}
		}, nil
	})
}

// quantiser is the 2^bits values that are best for a standard normal number.
type quantiser struct {
	values, edges []float64 // ascending; edges are half way between values
	distortion    float64   // E(z - nearest value)²
}

func (q quantiser) nearest(z float64) int { return sort.SearchFloat64s(q.edges, z) }

// lloydMax finds the values by the iteration of Lloyd and Max: edges half way between values,
// values at the mean of their cells. They are symmetric, so only the positive half is iterated.
// At the fixed point the values have no error along themselves: the distortion is
// 1 - E(nearest value)².
func lloydMax(bits int) quantiser {
	half := 1 << bits / 2
	v := make([]float64, half)
	for i := range v {
		v[i] = 3 * (float64(i) + 0.5) / float64(half)
	}
	for range 10_000 {
		moved := 0.0
		low := 0.0
		for i := range v {
			high := math.Inf(1)
			upper := 0.0 // φ(high)
			if i+1 < half {
				high = (v[i] + v[i+1]) / 2
				upper = normalDensity(high)
			}
			mean := (normalDensity(low) - upper) / (normalCDF(-low) - normalCDF(-high))
			moved = max(moved, math.Abs(mean-v[i]))
			v[i] = mean
			low = high
		}
		if moved < 1e-15 {
			break
		}
	}
	q := quantiser{distortion: 1}
	for i := range v {
		q.values = append(q.values, -v[half-1-i])
	}
	q.values = append(q.values, v...)
	for i := 1; i < len(q.values); i++ {
		q.edges = append(q.edges, (q.values[i-1]+q.values[i])/2)
	}
	for i, value := range q.values {
		low, high := math.Inf(-1), math.Inf(1)
		if i > 0 {
			low = q.edges[i-1]
		}
		if i < len(q.edges) {
			high = q.edges[i]
		}
		q.distortion -= value * value * (normalCDF(high) - normalCDF(low))
	}
	return q
}
