package sketch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/sketch/wire"
)

// decoder keeps the k numbers of each client until the mean is asked for.
type decoder struct {
	codec *Codec
	answers[[]float64]
}

func (c *Codec) newDecoder(round uint64) *decoder {
	return &decoder{codec: c, answers: answers[[]float64]{n: c.config.N, round: round}}
}

// NewDecoder returns a decoder for one round. It keeps nk numbers; Mean takes O(d') more for
// each worker.
func (c *Codec) NewDecoder(round uint64) Decoder { return handle.Made(c).newDecoder(round) }

func (d *decoder) Add(client uint64, message []byte) error {
	c := d.codec
	n, body, err := wire.Read(message, c.header(d.round, client), c.config.Root)
	if err != nil {
		return fmt.Errorf("client %d: %w", client, err)
	}
	values, err := wire.Floats(body, n)
	if err != nil {
		return fmt.Errorf("client %d: %w", client, err)
	}
	return d.add(client, values)
}

// Mean decodes for the n' clients that were added: T and β are those of n'.
func (d *decoder) Mean(ctx context.Context) ([]float64, error) {
	clients, err := d.clients()
	if err != nil {
		return nil, err
	}
	cfg := d.codec.config
	cfg.N = len(clients)
	s := &system{codec: d.codec, config: cfg}
	for _, client := range clients {
		s.g = append(s.g, cfg.matrix(d.round, client))
		s.y = append(s.y, d.of[client])
	}
	x, err := s.mean(ctx)
	if err != nil {
		return nil, fmt.Errorf("round %d: %w", d.round, err)
	}
	if !finite(x) {
		client, size := d.largest(clients)
		return nil, fmt.Errorf("round %d: the mean overflows; client %d sent the largest value, %g",
			d.round, client, size)
	}
	return x, nil
}

func (d *decoder) largest(clients []uint64) (client uint64, size float64) {
	size = -1
	for _, c := range clients {
		for _, v := range d.of[c] {
			if math.Abs(v) > size {
				client, size = c, math.Abs(v)
			}
		}
	}
	return client, size
}

// Compressor turns vectors into messages and messages into the mean of the vectors. It
// promises no privacy. Implementations are safe for use by several goroutines.
type Compressor interface {
	// Encode returns the message of a client in a round. x is left as it is.
	Encode(round, client uint64, x []float64) ([]byte, error)
	// NewDecoder returns a decoder for one round.
	NewDecoder(round uint64) Decoder
}

// Decoder takes the messages of one round as they come. It is for one goroutine at a time.
type Decoder interface {
	// Add takes a client's message. Who the client is must be known from the transport: the
	// message must name the same. After an error the decoder is as it was before, so that a
	// bad message costs no more than itself.
	Add(client uint64, message []byte) error
	// Mean estimates the mean of the vectors of the clients that were added; at least one.
	Mean(ctx context.Context) ([]float64, error)
}

var errNoCompressor = errors.New("compressor must be given")

// Decode is the mean of a round from all its messages, keyed by client.
func Decode(ctx context.Context, c Compressor, round uint64,
	messages map[uint64][]byte) ([]float64, error) {
	if c == nil {
		return nil, errNoCompressor
	}
	d := c.NewDecoder(round)
	for _, client := range slices.Sorted(maps.Keys(messages)) {
		if err := d.Add(client, messages[client]); err != nil {
			return nil, err
		}
	}
	return d.Mean(ctx)
}

// answers keeps the messages of one round: one per client, and at most n. V is a message as a
// decoder keeps it.
type answers[V any] struct {
	n     int
	round uint64
	of    map[uint64]V
}

// add keeps a client's answer, and refuses a second one of the same client and one client too
// many.
func (a *answers[V]) add(client uint64, v V) error {
	if _, ok := a.of[client]; ok {
		return wire.Errorf("client %d has already sent one in round %d", client, a.round)
	}
	if len(a.of) == a.n {
		return wire.Errorf("client %d is one more than the n = %d clients of the round", client, a.n)
	}
	if a.of == nil {
		a.of = map[uint64]V{}
	}
	a.of[client] = v
	return nil
}

// clients returns the clients that answered, in ascending order. Sums are taken in this order, so
// that the result does not depend on the order of arrival.
func (a *answers[V]) clients() ([]uint64, error) {
	if len(a.of) == 0 {
		return nil, fmt.Errorf("round %d: no message, so no mean", a.round)
	}
	return slices.Sorted(maps.Keys(a.of)), nil
}

// finite reports whether all of x is finite.
func finite(x []float64) bool {
	return !slices.ContainsFunc(x, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
}
