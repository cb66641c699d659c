package sketch

import (
	"context"
	"fmt"
	"math"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/sketch/wire"
)

// baseline holds the parameters of the estimators wangni, induced and rotated. Each of their
// messages is an unbiased estimate of the client's own vector. The server takes the mean of
// these estimates, and does not use how alike the vectors are. They promise no privacy.
type baseline struct {
	N    int // clients, 1 or more; a decoder takes at most so many messages
	K    int // numbers per client, 1 ≤ K ≤ D (wangni: on average)
	D    int // length of a vector, at most MaxDimension
	Root uint64
}

func (b baseline) check() error {
	// The rules are those of Rand-k.
	return Config{N: b.N, K: b.K, D: b.D, Ensemble: RowSelect, Root: b.Root}.check()
}

// header returns that of a message of count numbers.
func (b baseline) header(scheme wire.Scheme, round, client uint64, count int) wire.Header {
	return wire.Header{Scheme: scheme, Round: round, Client: client, D: b.D, Count: count}
}

// checkVector checks that x has length d and finite numbers whose sum of sizes is finite,
// and returns that sum.
func checkVector(x []float64, d int) (sum float64, err error) {
	if len(x) != d {
		return 0, check.Wantf("length of the vector", len(x), "d = %d", d)
	}
	for j, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return 0, check.Want(fmt.Sprintf("coordinate %d", j), v, "finite")
		}
		sum += math.Abs(v)
	}
	if math.IsInf(sum, 1) {
		return 0, errTooLarge()
	}
	return sum, nil
}

func errTooLarge() error {
	return check.Want("vector", "a vector whose sums overflow", "smaller")
}

// contribution adds a client's vector, as its message encodes it, to out.
type contribution func(out []float64)

// newAverage returns a decoder of b's clients; read checks a message before anything is kept of it.
func (b baseline) newAverage(round uint64, read func(client uint64, message []byte) (contribution,
	error)) Decoder {
	return &average{answers: answers[contribution]{n: b.N, round: round}, d: b.D, read: read}
}

// average decodes a round of messages that need no knowledge of each other.
type average struct {
	answers[contribution]
	d    int
	read func(client uint64, message []byte) (contribution, error)
}

func (a *average) Add(client uint64, message []byte) error {
	c, err := a.read(client, message)
	if err != nil {
		return fmt.Errorf("client %d: %w", client, err)
	}
	return a.add(client, c)
}

// Mean adds the contributions up and divides by the number of clients that answered.
func (a *average) Mean(ctx context.Context) ([]float64, error) {
	clients, err := a.clients()
	if err != nil {
		return nil, err
	}
	sum := make([]float64, a.d)
	for _, client := range clients {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		a.of[client](sum)
	}
	for j := range sum {
		sum[j] /= float64(len(clients))
	}
	if !finite(sum) {
		return nil, fmt.Errorf("round %d: the mean overflows", a.round)
	}
	return sum, nil
}
