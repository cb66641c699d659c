package sketch

import (
	"context"
	"errors"
	"maps"
	"slices"
)

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
