package solve

import (
	"context"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/plurality"
)

// optimum is a number that was computed independently, to its digits.
type optimum struct {
	k, classes, t  int
	eps, delta, mu float64
	value          float64
	digits         float64 // half a unit of the last one, or the length of the interval
	gap            float64 // asked for
	long           bool
}

var optima = []optimum{
	{11, 2, 1, .3, 0, .75, .769115279, 5e-10, 1e-10, false},
	{11, 3, 1, .3, 0, .6, .625168134, 5e-10, 1e-10, false},
	{11, 3, 1, .5, 0, .6, .732404002, 5e-10, 1e-10, false},
	{11, 3, 1, 1, 0, .6, .874782370, 5e-10, 1e-10, false},
	{11, 4, 1, .5, 0, .5, .626560563, 5e-10, 1e-10, false},
	{15, 5, 1, .5, 0, .4, .578231589, 5e-10, 1e-10, false},
	{25, 3, 1, .2, 0, .5, .602991266, 5e-10, 1e-10, false},
	{25, 4, 1, .5, 0, .5, .814723179, 1e-9, 1e-9, false},
	{50, 3, 1, .1, 0, .5, .592288575, 1e-9, 1e-9, true},
	{50, 4, 1, .1, 0, .5, .583635986, 1e-9, 1e-9, true},
	{5, 3, 2, 1, 0, .6, .656649997, 5e-10, 1e-10, false},
	{11, 3, 2, 1, 0, .6, .743997230, 5e-10, 1e-10, false},
	{25, 4, 2, .5, 0, .5, .636224357, 1e-9, 1e-9, true},
	{11, 3, 3, 1.5, 0, .6, .769062942, 1e-9, 1e-9, false},
	{11, 3, 1, .5, 1e-5, .6, .732420828, 1e-9, 1e-9, false},
	{11, 3, 1, .5, .01, .6, .749199995, 1e-9, 1e-9, false},
	{25, 4, 1, .5, 1e-3, .5, .817853152, 1e-9, 1e-9, true},
	{11, 3, 2, .5, 1e-3, .6, .592562328, 1e-9, 1e-9, false},
	{25, 10, 1, .5, 0, .3, (.5165007049 + .5165007101) / 2, 2e-8, 2e-8, true},
	{100, 4, 1, .1, 0, .5, (.8051356 + .8051405) / 2, 5e-6, 4e-6, true},
	{50, 4, 1, .5, 0, .4, .83805, 6e-6, 1e-6, true},
	{50, 4, 2, .4, 0, .5, .78483, 6e-6, 1e-6, true},
	{25, 10, 1, .2, 0, .3, .26210, 6e-6, 1e-6, true},
	{250, 3, 1, .05, 0, .5, .83268, 6e-6, 1e-6, true},
	{100, 4, 1, .5, 0, .4, .96051, 6e-6, 1e-6, true},
}

// All optima that were computed independently, to their digits: the optimum lies between
// value and bound, which differ by at most the gap asked for.
func TestOptima(t *testing.T) {
	raced.Elsewhere(t, "TestWorkersDoNotMatter")
	for _, o := range optima {
		if o.long && os.Getenv("DARRM_LONG") == "" {
			continue
		}
		t.Run(fmt.Sprintf("K=%d,C=%d,t=%d,eps=%g,delta=%g", o.k, o.classes, o.t, o.eps, o.delta),
			func(t *testing.T) {
				table, err := Optimal(context.Background(),
					plurality.Problem{K: o.k, Classes: o.classes, Affected: o.t, Epsilon: o.eps, Delta: o.delta},
					plurality.Objective{Accuracy: o.mu}, Options{Gap: o.gap})
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("[%.12f, %.12f], gap %.2g, %d rows checked", table.Value, table.UpperBound, table.Gap,
					table.Certificate().Rows)
				if table.Gap > o.gap {
					t.Errorf("gap %g, asked for %g", table.Gap, o.gap)
				}
				if math.Abs(table.Value-o.value) > o.digits || math.Abs(table.UpperBound-o.value) > o.digits {
					t.Errorf("optimum in [%.12f, %.12f], want %.12f", table.Value, table.UpperBound, o.value)
				}
			})
	}
}

// A list of more places than are taken between two looks at the context is transposed as any: every
// place once, ascending for each variable.
func TestTransposeOfALongList(t *testing.T) {
	const n = 7
	list := make([]int32, 1<<21+3)
	for i := range list {
		list[i] = int32(i * i % n)
	}
	places, place, err := transpose(t.Context(), n, list)
	if err != nil || len(place) != len(list) {
		t.Fatal(err)
	}
	for v := range n {
		before := int32(-1)
		for _, at := range place[places[v]:places[v+1]] {
			if list[at] != int32(v) || at <= before {
				t.Fatalf("place %d after %d of variable %d", at, before, v)
			}
			before = at
		}
	}
}
