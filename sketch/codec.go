package sketch

import (
	"fmt"
	"math/bits"

	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/sketch/wire"
)

// Codec is one estimator: the clients' side and the server's. It is safe for use by several
// goroutines.
type Codec struct {
	config Config
	kept   laws // by Monte Carlo for a custom T
}

var _ Compressor = (*Codec)(nil)

// NewCodec returns the codec of a Config, or an error if the Config breaks a rule. β is
// computed when it is first needed.
func NewCodec(c Config) (*Codec, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	return &Codec{config: c}, nil
}

// Config returns the codec's configuration.
func (c *Codec) Config() Config { return handle.Made(c).config }

// Dimension is d', the length of vectors inside: d padded to a power of two for SRHT.
func (c *Codec) Dimension() int { return handle.Made(c).config.padded() }

// Warnings returns remarks on the choice of parameters; it may be empty.
func (c *Codec) Warnings() []string {
	c = handle.Made(c)
	var w []string
	n, k, d := c.config.N, c.config.K, c.config.padded()
	if t := c.config.T.of(n, 0); t.custom == nil && t.rho == 1 && 2*n*k > d && n*k < 2*d &&
		c.config.Ensemble != RowSelect {
		w = append(w, fmt.Sprintf("rho = 1 (Max) with nk = %d near d = %d: its error explodes unless "+
			"the vectors are identical; rho = %.2g is safe", n*k, d, RhoAvg(max(n, 3))))
	}
	if d != c.config.D {
		w = append(w, fmt.Sprintf("d = %d is padded to %d, so that nk = %d numbers are %.0f %% of it "+
			"instead of %.0f %%; a power of two avoids that", c.config.D, d, n*k,
			100*float64(n*k)/float64(d), 100*float64(n*k)/float64(c.config.D)))
	}
	return w
}

func (c *Codec) header(round, client uint64) wire.Header {
	return wire.Header{Scheme: wire.Scheme(c.config.Ensemble), Round: round, Client: client,
		D: c.config.D, Count: c.config.K}
}

// Encode returns the message of a client in a round: a header and k numbers.
func (c *Codec) Encode(round, client uint64, x []float64) ([]byte, error) {
	c = handle.Made(c)
	y, err := c.EncodeValues(round, client, x)
	if err != nil {
		return nil, err
	}
	b := make([]byte, 0, wire.Size+8*len(y))
	return wire.AppendFloats(c.header(round, client).Append(b, c.config.Root), y), nil
}

// EncodeValues returns the k numbers G x of a client's message. x must have length d, finite
// coordinates, and a finite sum of their sizes. It takes O(d log d) for SRHT, O(k) after
// checking x for row selection, O(kd) for Gaussian matrices.
func (c *Codec) EncodeValues(round, client uint64, x []float64) ([]float64, error) {
	c = handle.Made(c)
	if _, err := checkVector(x, c.config.D); err != nil {
		return nil, err
	}
	y := make([]float64, c.config.K)
	c.config.matrix(round, client).times(y, x, make([]float64, c.config.padded()))
	if !finite(y) { // entries of Gaussian matrices may be above 1
		return nil, errTooLarge()
	}
	return y, nil
}

// Numbers of a few bits each stand in messages one behind the other, the first in the lowest
// bits of the first byte. What is left of the last byte is 0.

// appendBits writes numbers of width bits each, at most 32.
func appendBits(b []byte, width int, numbers []int) []byte {
	var word uint64
	have := 0
	for _, v := range numbers {
		word |= uint64(v) << have
		for have += width; have >= 8; have -= 8 {
			b = append(b, byte(word))
			word >>= 8
		}
	}
	if have > 0 {
		b = append(b, byte(word))
	}
	return b
}

// bitBytes is the length in bytes of n numbers of width bits.
func bitBytes(n, width int) int { return (n*width + 7) / 8 }

// takeBits reads n numbers of width bits off body. n·width must not overflow: n is at most
// eight times the length of a message.
func takeBits(body []byte, width, n int) (numbers []int, rest []byte, err error) {
	size := bitBytes(n, width)
	if len(body) < size {
		return nil, nil, wire.Errorf("%d numbers of %d bits need %d bytes, but there are %d", n, width,
			size, len(body))
	}
	numbers = make([]int, n)
	var word uint64
	have := 0
	at := 0
	for i := range numbers {
		for have < width {
			word |= uint64(body[at]) << have
			at++
			have += 8
		}
		numbers[i] = int(word & (1<<width - 1))
		word >>= width
		have -= width
	}
	if word != 0 {
		return nil, nil, wire.Errorf("the bits behind the last of %d numbers are not 0", n)
	}
	return numbers, body[size:], nil
}

// indexBits is the width of a coordinate below d: ⌈log₂ d⌉.
func indexBits(d int) int { return bits.Len(uint(d - 1)) }

// takeIndices reads n coordinates below d, ascending and all different.
func takeIndices(body []byte, d, n int) (indices []int, rest []byte, err error) {
	if n > d {
		return nil, nil, wire.Errorf("%d coordinates, but there are only d = %d", n, d)
	}
	indices, rest, err = takeBits(body, indexBits(d), n)
	if err != nil {
		return nil, nil, err
	}
	for a, j := range indices {
		if j >= d || a > 0 && j <= indices[a-1] {
			return nil, nil, wire.Errorf(
				"coordinate %d is %d, but coordinates must ascend and be below d = %d", a, j, d)
		}
	}
	return indices, rest, nil
}
