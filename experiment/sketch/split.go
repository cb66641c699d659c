package sketch

import (
	"cmp"
	"slices"

	"github.com/darrm/darrm/experiment/datasets"
	"github.com/darrm/darrm/sketch/stream"
)

// Ways to hand out the points to clients.
const (
	splitIID    = "iid"    // shuffled, then equal parts
	splitShards = "shards" // two shards of points sorted by label for each client
	splitSorted = "sorted" // equal parts of points sorted by target
)

// client is the points of one client, in rows side by side.
type client struct {
	rows     int
	x        []float64 // rows·d
	response []float64
}

// split hands out the points. Everything is drawn from one stream of the root.
func split(p datasets.Points, how string, clients int, root uint64) []client {
	rng := stream.New(root, stream.DataSplit, 0, 0)
	order := make([]int, p.Len())
	for i := range order {
		order[i] = i
	}
	byResponse := func(a, b int) int { return cmp.Compare(p.Response(a), p.Response(b)) }
	if how == splitSorted {
		slices.SortStableFunc(order, byResponse)
		return deal(p, equalParts(order, clients))
	}
	shuffle(&rng, order)
	if how == splitIID {
		return deal(p, equalParts(order, clients))
	}
	slices.SortStableFunc(order, byResponse)
	shards := equalParts(order, 2*clients)
	numbers := make([]int, len(shards))
	for i := range numbers {
		numbers[i] = i
	}
	shuffle(&rng, numbers)
	parts := make([][]int, clients)
	for i := range parts {
		parts[i] = slices.Concat(shards[numbers[2*i]], shards[numbers[2*i+1]])
	}
	return deal(p, parts)
}

// shuffle is Fisher-Yates from the end.
func shuffle(rng *stream.Stream, a []int) {
	for i := len(a) - 1; i > 0; i-- {
		j := rng.Bound(uint64(i + 1))
		a[i], a[j] = a[j], a[i]
	}
}

func equalParts(order []int, parts int) [][]int {
	out := make([][]int, parts)
	for i := range out {
		out[i] = order[i*len(order)/parts : (i+1)*len(order)/parts]
	}
	return out
}

func deal(p datasets.Points, parts [][]int) []client {
	out := make([]client, len(parts))
	for i, part := range parts {
		c := client{rows: len(part), x: make([]float64, 0, len(part)*p.Dim()),
			response: make([]float64, 0, len(part))}
		for _, r := range part {
			c.x, c.response = append(c.x, p.Row(r)...), append(c.response, p.Response(r))
		}
		out[i] = c
	}
	return out
}
