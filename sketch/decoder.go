package sketch

import (
	"context"
	"fmt"
	"math"

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
