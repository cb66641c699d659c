package sketch

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/sketch/wire"
)

// Baseline is what the estimators have in common whose messages are each an unbiased
// estimate of the client's own vector: the server only takes their mean, and uses nothing
// of how alike the vectors are. Like everything here they promise no privacy.
type Baseline struct {
	N    int // clients, 1 or more; so many messages a decoder takes at most
	K    int // numbers per client, 1 ≤ K ≤ D (Wangni: on average)
	D    int // length of a vector, at most MaxDimension
	Root uint64
}

func (b Baseline) check() error {
	// The rules are those of Rand-k.
	return Config{N: b.N, K: b.K, D: b.D, Ensemble: RowSelect, Root: b.Root}.check()
}

// checkVector checks that x has length d and finite numbers whose sum of sizes is finite,
// and returns that sum.
func checkVector(x []float64, d int) (sum float64, err error) {
	if len(x) != d {
		return 0, &check.Error{Name: "length of the vector", Value: len(x), Rule: fmt.Sprintf("d = %d", d)}
	}
	for j, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return 0, &check.Error{Name: fmt.Sprintf("coordinate %d", j), Value: v, Rule: "finite"}
		}
		sum += math.Abs(v)
	}
	if math.IsInf(sum, 1) {
		return 0, &check.Error{Name: "vector", Value: "a vector whose sums overflow", Rule: "smaller"}
	}
	return sum, nil
}

// contribution adds what a message says of its client's vector to out.
type contribution func(out []float64)

// average decodes a round of messages that need no knowledge of each other.
type average struct {
	n, d  int
	round uint64
	// read checks a message before anything is kept of it.
	read func(client uint64, message []byte) (contribution, error)
	got  map[uint64]contribution
}

func (a *average) Add(client uint64, message []byte) error {
	c, err := a.read(client, message)
	if err != nil {
		return fmt.Errorf("client %d: %w", client, err)
	}
	if _, ok := a.got[client]; ok {
		return wire.Errorf("client %d has already sent one in round %d", client, a.round)
	}
	if len(a.got) == a.n {
		return wire.Errorf("client %d is one more than the n = %d clients of the round", client, a.n)
	}
	if a.got == nil {
		a.got = map[uint64]contribution{}
	}
	a.got[client] = c
	return nil
}

// Mean adds in the order of the clients' numbers: the result must not depend on who came first.
func (a *average) Mean(ctx context.Context) ([]float64, error) {
	if len(a.got) == 0 {
		return nil, fmt.Errorf("round %d: no message, so no mean", a.round)
	}
	sum := make([]float64, a.d)
	for _, client := range slices.Sorted(maps.Keys(a.got)) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		a.got[client](sum)
	}
	for j := range sum {
		if sum[j] /= float64(len(a.got)); math.IsNaN(sum[j]) || math.IsInf(sum[j], 0) {
			return nil, fmt.Errorf("round %d: the mean overflows", a.round)
		}
	}
	return sum, nil
}
