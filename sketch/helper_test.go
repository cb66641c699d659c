package sketch

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/darrm/darrm/sketch/wire"
)

// decodeValues estimates the mean of a round from the k numbers of each client.
func (c *Codec) decodeValues(ctx context.Context, round uint64,
	y map[uint64][]float64) ([]float64, error) {
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
