package sketch

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/darrm/darrm/sketch/wire"
)

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
