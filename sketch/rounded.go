package sketch

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/sketch/stream"
	"github.com/darrm/darrm/sketch/wire"
)

// maxRoundedBits is the most bits of a rounded number.
const maxRoundedBits = 16

// rounded sends the numbers of a Codec in a few bits each: it takes the grid of 2^bits values
// from -s to s, where s is the largest size of the client's numbers, and rounds each number to
// one of its two neighbours at random, so that the mean stays right. The estimate remains
// unbiased; see MSE for what rounding costs.
type rounded struct {
	codec *Codec
	bits  int
}

var _ Compressor = (*rounded)(nil)

// newRounded rounds the numbers of c to bits bits, 1 to 16.
func newRounded(c *Codec, bits int) (*rounded, error) {
	if err := check.Whole("bits per number", bits, 1, maxRoundedBits); err != nil {
		return nil, err
	}
	return &rounded{c, bits}, nil
}

// Bits returns the length of a client's numbers: k of the rounded bits each, and their scale.
func (r *rounded) Bits() int { return r.codec.config.K*r.bits + scaleBits }

// scaleBits is the size of the float32 that a message of few bits per number has besides.
const scaleBits = 32

func (r *rounded) header(round, client uint64) wire.Header {
	h := r.codec.header(round, client)
	h.Scheme = wire.Rounded
	return h
}

// Encode returns a header, the ensemble and the bits in a byte each, the scale as float32, and
// k numbers of those bits.
func (r *rounded) Encode(round, client uint64, x []float64) ([]byte, error) {
	y, err := r.codec.EncodeValues(round, client, x)
	if err != nil {
		return nil, err
	}
	largest := 0.0
	for _, v := range y {
		largest = max(largest, math.Abs(v))
	}
	scale := float32(largest)
	if float64(scale) < largest { // all numbers must lie on the grid
		scale = math.Nextafter32(scale, float32(math.Inf(1)))
	}
	if math.IsInf(float64(scale), 1) {
		return nil, check.Want("vector", fmt.Sprintf("a vector with a projection of %g", largest),
			"so small that it fits a float32")
	}
	codes := make([]int, len(y))
	if scale > 0 {
		coins := stream.New(r.codec.config.Root, stream.Rounding, round, client)
		top := float64(int(1)<<r.bits - 1)
		for a, v := range y {
			u := min(max((v/float64(scale)+1)/2*top, 0), top)
			low := math.Floor(u)
			if coins.Float64() < u-low {
				low++
			}
			codes[a] = int(low)
		}
	}
	b := r.header(round, client).Append(nil, r.codec.config.Root)
	b = append(b, byte(r.codec.config.Ensemble), byte(r.bits))
	b = binary.LittleEndian.AppendUint32(b, math.Float32bits(scale))
	return appendBits(b, r.bits, codes), nil
}

// takeScale reads a float32 that is finite and not negative off body.
func takeScale(body []byte) (scale float64, rest []byte, err error) {
	if len(body) < 4 {
		return 0, nil, wire.Errorf("%d bytes, but a scale has 4", len(body))
	}
	scale = float64(math.Float32frombits(binary.LittleEndian.Uint32(body)))
	if !(scale >= 0) || math.IsInf(scale, 1) {
		return 0, nil, wire.Errorf("the scale is %g, but it must be finite and not negative", scale)
	}
	return scale, body[4:], nil
}

type roundedDecoder struct {
	*decoder
	r *rounded
}

// NewDecoder returns a decoder for one round, as that of the codec.
func (r *rounded) NewDecoder(round uint64) Decoder {
	return &roundedDecoder{r.codec.newDecoder(round), r}
}

func (d *roundedDecoder) Add(client uint64, message []byte) error {
	y, err := d.r.read(d.round, client, message)
	if err != nil {
		return fmt.Errorf("client %d: %w", client, err)
	}
	return d.add(client, y)
}

func (r *rounded) read(round, client uint64, message []byte) ([]float64, error) {
	n, body, err := wire.Read(message, r.header(round, client), r.codec.config.Root)
	if err != nil {
		return nil, err
	}
	if len(body) < 2 || Ensemble(body[0]) != r.codec.config.Ensemble || int(body[1]) != r.bits {
		return nil, wire.Errorf("other numbers than %s in %d bits each", r.codec.config.Ensemble, r.bits)
	}
	scale, body, err := takeScale(body[2:])
	if err != nil {
		return nil, err
	}
	codes, body, err := takeBits(body, r.bits, n)
	if err != nil {
		return nil, err
	}
	if len(body) > 0 {
		return nil, wire.Errorf("%d bytes follow the %d numbers", len(body), n)
	}
	top := float64(int(1)<<r.bits - 1)
	y := make([]float64, n)
	for a, code := range codes {
		y[a] = scale * (2*float64(code)/top - 1)
	}
	return y, nil
}

// roundingVariance is the mean of (v-low)(high-v), what rounding a standard normal number to the
// grid of 2^bits values from -s to s adds to its variance, where numbers beyond ±s count as there.
func roundingVariance(bits int, s float64) float64 {
	cells := int(1)<<bits - 1
	step := 2 * s / float64(cells)
	if bits > 8 { // numbers are uniform within so small a cell
		return step * step / 6
	}
	total := 0.0
	for i := range cells {
		low := -s + float64(i)*step
		high := low + step
		// ∫(v-low)(high-v)φ = (low+high)∫vφ - low·high∫φ - ∫v²φ.
		mass := normalCDF(high) - normalCDF(low)
		first := normalDensity(low) - normalDensity(high)
		second := mass + low*normalDensity(low) - high*normalDensity(high)
		total += (low+high)*first - low*high*mass - second
	}
	return max(total, 0)
}

func normalDensity(v float64) float64 { return math.Exp(-v*v/2) / math.Sqrt(2*math.Pi) }
func normalCDF(v float64) float64     { return math.Erfc(-v/math.Sqrt2) / 2 }

// MSE is PredictMSE for numbers of so few bits, by taking a client's numbers for normal
// ones and the largest of k of them for its median. That holds to a few per cent for SRHT from
// k of about 16 on; for other ensembles it is not meant.
func (r *rounded) MSE(ctx context.Context, correlation, q float64) (float64, error) {
	c := r.codec
	exact, err := PredictMSE(ctx, c.config, correlation, q)
	if err != nil || q == 0 {
		return exact, err
	}
	alone, err := PredictMSE(ctx, c.config, 0, q)
	if err != nil {
		return 0, err
	}
	n, k, d := float64(c.config.N), float64(c.config.K), float64(c.config.padded())
	// A client's numbers have variance ‖x‖²/d', so that the rounding of all of them adds
	// V = Q·(k/d')·v. Noise e_i in the messages goes through the same decoder as orthogonal
	// vectors with the energy of the messages: (β²/n²)·E tr(T⁺ST⁺)·V/(nk), and the trace follows
	// from the error of such vectors, (Q/n²)(β²μ₂/(nd') - 1).
	largest := math.Sqrt2 * math.Erfinv(math.Pow(0.5, 1/k))
	v := q * (k / d) * roundingVariance(r.bits, largest)
	return exact + d/(k*n*n)*(1+alone*n*n/q)*v, nil
}
