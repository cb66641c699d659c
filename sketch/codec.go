package sketch

import (
	"context"
	"fmt"
	"maps"
	"slices"

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

// DecodeValues estimates the mean of a round from the k numbers of each client.
func (c *Codec) DecodeValues(ctx context.Context, round uint64,
	y map[uint64][]float64) ([]float64, error) {
	c = handle.Made(c)
	d := c.newDecoder(round)
	for _, client := range slices.Sorted(maps.Keys(y)) {
		if len(y[client]) != c.config.K {
			return nil, wire.Errorf("of client %d: %d values, but it must have k = %d", client,
				len(y[client]), c.config.K)
		}
		if err := wire.Finite(y[client]); err != nil {
			return nil, fmt.Errorf("client %d: %w", client, err)
		}
		if err := d.add(client, slices.Clone(y[client])); err != nil {
			return nil, err
		}
	}
	return d.Mean(ctx)
}
