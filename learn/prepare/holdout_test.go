package prepare

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/learn/data"
)

// rowsOf returns the records' numbers, the response last, in order.
func rowsOf(r *data.Records) (rows [][]float64) {
	if r != nil {
		for i := range r.Len() {
			rows = append(rows, append(slices.Clone(r.Row(i)), r.Response(i)))
		}
	}
	return rows
}

func newRecords(t *rapid.T, values []float64) *data.Records {
	y := make([]float64, len(values))
	for i := range y {
		y[i] = float64(i % 2)
	}
	r, err := data.NewRecords(len(values), 1, values, y)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Neighbouring records have neighbouring parts: where a record is replaced, the rows of both parts
// stay; where one is removed, one is missing in one part.
func TestHoldOutKeepsNeighbours(t *testing.T) {
	equal := func(a, b []float64) bool { return slices.Equal(a, b) }
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(-9, 9), 2, 30).Draw(t, "values")
		share := rapid.Float64Range(0.05, 0.95).Draw(t, "share")
		k := rapid.IntRange(0, len(values)-1).Draw(t, "changed")
		split := func(h HoldOut, r *data.Records) [2][][]float64 {
			learn, held, err := h.Split(r)
			if err != nil {
				t.Fatal(err)
			}
			return [2][][]float64{rowsOf(learn), rowsOf(held)}
		}
		all := newRecords(t, values)
		other := slices.Clone(values)
		other[k] = rapid.Float64Range(-9, 9).Draw(t, "new")
		before, after := split(HoldOut{Share: share}, all), split(HoldOut{Share: share},
			newRecords(t, other))
		changed := 0
		for part := range before {
			if len(before[part]) != len(after[part]) {
				t.Fatalf("part %d has another size", part)
			}
			for i := range before[part] {
				if !equal(before[part][i], after[part][i]) {
					changed++
				}
			}
		}
		if changed > 1 {
			t.Fatalf("%d rows changed with one", changed)
		}
		var rest []int
		for i := range values {
			if i != k {
				rest = append(rest, i)
			}
		}
		fewer, err := all.Select(rest)
		if err != nil {
			t.Fatal(err)
		}
		h := HoldOut{Share: share, ByContent: true}
		before, after = split(h, all), split(h, fewer)
		gone := append(slices.Clone(all.Row(k)), all.Response(k))
		for part := range before {
			if slices.EqualFunc(before[part], after[part], equal) {
				continue
			}
			i := slices.IndexFunc(before[part], func(row []float64) bool { return equal(row, gone) })
			if i < 0 || len(before[part])+len(before[1-part]) != len(values) {
				t.Fatalf("part %d lost another row", part)
			}
			found := false // of equal rows any may be the one that is gone
			for j, row := range before[part] {
				found = found || equal(row, gone) && slices.EqualFunc(
					slices.Delete(slices.Clone(before[part]), j, j+1), after[part], equal)
			}
			if !found {
				t.Fatalf("part %d changed by more than row %d", part, k)
			}
		}
	})
}

// The share is what is held out: 20,000 draws, of a deviation of 0.0035 at most, are within 0.02
// with a probability above 1 - 1e-7.
func TestHoldOutShare(t *testing.T) {
	values := make([]float64, 20_000)
	for i := range values {
		values[i] = float64(i)
	}
	r, err := data.NewRecords(len(values), 1, values, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range []HoldOut{{Share: 0.5}, {Share: 0.25, ByContent: true}} {
		learn, held, err := h.Split(r)
		if err != nil || learn.Len()+held.Len() != r.Len() ||
			math.Abs(float64(held.Len())/float64(r.Len())-h.Share) > 0.02 {
			t.Errorf("%+v: %d and %d, %v", h, learn.Len(), held.Len(), err)
		}
	}
	for _, share := range []float64{0, 1, math.NaN()} {
		if _, _, err := (HoldOut{Share: share}).Split(r); err == nil {
			t.Errorf("a share of %v is taken", share)
		}
	}
}
