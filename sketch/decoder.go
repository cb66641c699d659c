package sketch

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/darrm/darrm/sketch/wire"
)

// decoder keeps the k numbers of each client until the mean is asked for.
type decoder struct {
	codec *Codec
	round uint64
	y     map[uint64][]float64
}

// NewDecoder returns a decoder for one round. It keeps nk numbers; Mean takes O(d') more for
// each worker.
func (c *Codec) NewDecoder(round uint64) Decoder { return &decoder{codec: c, round: round} }

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

func (d *decoder) add(client uint64, y []float64) error {
	if _, ok := d.y[client]; ok {
		return wire.Errorf("client %d has already sent one in round %d", client, d.round)
	}
	if len(d.y) == d.codec.config.N {
		return wire.Errorf("client %d is one more than the n = %d clients of the round", client, d.codec.config.N)
	}
	if d.y == nil {
		d.y = map[uint64][]float64{}
	}
	d.y[client] = y
	return nil
}

// Mean decodes for the n' clients that were added: T and β are those of n'.
func (d *decoder) Mean(ctx context.Context) ([]float64, error) {
	if len(d.y) == 0 {
		return nil, fmt.Errorf("round %d: no message, so no mean", d.round)
	}
	cfg := d.codec.config
	cfg.N = len(d.y)
	clients := slices.Sorted(maps.Keys(d.y)) // the result must not depend on who came first
	s := &system{codec: d.codec, config: cfg}
	for _, client := range clients {
		s.g = append(s.g, cfg.matrix(d.round, client))
		s.y = append(s.y, d.y[client])
	}
	x, err := s.mean(ctx)
	if err != nil {
		return nil, fmt.Errorf("round %d: %w", d.round, err)
	}
	for _, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			client, size := d.largest(clients)
			return nil, fmt.Errorf("round %d: the mean overflows; client %d sent the largest value, %g", d.round, client, size)
		}
	}
	return x, nil
}

func (d *decoder) largest(clients []uint64) (client uint64, size float64) {
	size = -1
	for _, c := range clients {
		for _, v := range d.y[c] {
			if math.Abs(v) > size {
				client, size = c, math.Abs(v)
			}
		}
	}
	return client, size
}
