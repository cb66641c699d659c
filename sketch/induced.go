package sketch

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/sketch/stream"
	"github.com/darrm/darrm/sketch/wire"
)

// induced is the induced compressor of Horváth and Richtárik (ICLR 2021) made of Top-k and
// Rand-k: the Top largest coordinates are sent as they are, with their places, and the rest
// goes through Rand-k with the other K - Top numbers.
type induced struct {
	baseline
	Top int // k₁, at most K-1
}

var _ Compressor = (*induced)(nil)

// inducedTop is the usual share of Top-k: half, rounded down, so that one number is Rand-k's.
func inducedTop(k int) int { return k / 2 }

// newInduced checks b and top.
func newInduced(b baseline, top int) (*induced, error) {
	if err := b.check(); err != nil {
		return nil, err
	}
	if top < 0 || top >= b.K {
		return nil, check.Want("top", top, "at least 0, and below k: Rand-k needs a number")
	}
	return &induced{b, top}, nil
}

// split returns the places of the largest coordinates, ascending, and the vector without them.
// Of two that are equally large the first is taken.
func (c *induced) split(x []float64) (places []int, rest []float64) {
	order := make([]int, len(x))
	for j := range order {
		order[j] = j
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(math.Abs(x[b]), math.Abs(x[a]))
	})
	places, rest = order[:c.Top:c.Top], slices.Clone(x)
	slices.Sort(places)
	for _, j := range places {
		rest[j] = 0
	}
	return places, rest
}

func (c *induced) subset(round, client uint64) []int {
	s := stream.New(c.Root, stream.InducedSubset, round, client)
	return s.Subset(c.D, c.K-c.Top)
}

// Encode returns a header, the places of the Top largest coordinates in ⌈log₂ d⌉ bits each,
// their values, and those of Rand-k. It takes O(d log d).
func (c *induced) Encode(round, client uint64, x []float64) ([]byte, error) {
	if _, err := checkVector(x, c.D); err != nil {
		return nil, err
	}
	places, rest := c.split(x)
	values := make([]float64, 0, c.K)
	for _, j := range places {
		values = append(values, x[j])
	}
	for _, j := range c.subset(round, client) {
		values = append(values, rest[j])
	}
	return wire.AppendFloats(appendBits(c.header(wire.Induced, round, client, c.K).Append(nil, c.Root), indexBits(c.D),
		places), values), nil
}

// NewDecoder returns a decoder for one round. It keeps what was sent.
func (c *induced) NewDecoder(round uint64) Decoder {
	return c.newAverage(round, func(client uint64, message []byte) (contribution, error) {
		n, body, err := wire.Read(message, c.header(wire.Induced, round, client, c.K), c.Root)
		if err != nil {
			return nil, err
		}
		places, body, err := takeIndices(body, c.D, c.Top)
		if err != nil {
			return nil, err
		}
		values, err := wire.Floats(body, n)
		if err != nil {
			return nil, err
		}
		return func(out []float64) {
			for a, j := range places {
				out[j] += values[a]
			}
			scale := float64(c.D) / float64(c.K-c.Top)
			for a, j := range c.subset(round, client) {
				out[j] += scale * values[c.Top+a]
			}
		}, nil
	})
}

// MSE returns the mean squared error for these vectors: (1/n²)(d/k₂ - 1) Σ ‖x_i - Top(x_i)‖²
// with k₂ = K - Top. It is exact.
func (c *induced) MSE(_ context.Context, xs [][]float64) (float64, error) {
	total := 0.0
	for _, x := range xs {
		if _, err := checkVector(x, c.D); err != nil {
			return 0, err
		}
		_, rest := c.split(x)
		total += dot(rest, rest)
	}
	n := float64(len(xs))
	return (float64(c.D)/float64(c.K-c.Top) - 1) * total / (n * n), nil
}
