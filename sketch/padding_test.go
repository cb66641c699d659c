package sketch

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/sketch/wire"
)

// Of a vector that was padded to d' only d coordinates are kept. Where all numbers are sent the
// error is orthogonal to the vector, which lies in those d; under a uniform rotation every
// direction orthogonal to it is alike, so that they keep (d-1)/(d'-1) of the error, and not d/d'.
// By 20,000 uniform rotations the share deviates by 0.0025 at (3,4), and by 5,000 by 0.0024 at (9,16), where
// the two are 0.083 and 0.029 apart: 0.012 is allowed.
func TestRotatedPadding(t *testing.T) {
	raced.Elsewhere(t, "TestDeterministic")
	for d, rounds := range map[int]int{3: 20_000, 9: 5000} {
		r, err := newRotated(baseline{N: 1, K: 1, D: d, Root: 3}, 1)
		if err != nil {
			t.Fatal(err)
		}
		full := r.padded()
		x := append(gaussians(1, d, 0, 5)[0], make([]float64, full-d)...)
		kept, all := 0.0, 0.0
		for round := range uint64(rounds) {
			// An orthonormal basis of a uniform law: all but its first vector, and that.
			rotation := append(gaussians(full-1, full, 0, 100+round), gaussians(1, full, 1, 100+round)[0])
			unit := math.Sqrt(float64(full) / dot(x, x))
			inner := 0.0
			codes := make([]float64, full)
			for i, row := range rotation {
				z := dot(row, x) * unit
				codes[i] = r.law.values[r.law.nearest(z)]
				inner += z * codes[i]
			}
			for j, v := range x {
				estimate := 0.0
				for i, row := range rotation {
					estimate += row[j] * codes[i]
				}
				e := math.Pow(estimate*float64(full)/(inner*unit)-v, 2)
				if all += e; j < d {
					kept += e
				}
			}
		}
		r.K = full
		whole := *r
		whole.D = full
		if predicted := r.MSE(1) / whole.MSE(1); math.Abs(kept/all-predicted) > 0.012 {
			t.Errorf("d = %d of %d: %.4f of the error is kept, %.4f is predicted", d, full, kept/all,
				predicted)
		}
	}
}

// The scale of a message is the largest of its numbers rounded up to a float32, so that all of them
// lie on the grid and their rounding has no bias. Half of all numbers would be rounded down to the
// nearest.
func TestRoundedScaleCoversTheNumbers(t *testing.T) {
	codec, err := NewCodec(Config{N: 1, K: 3, D: 5, Ensemble: SRHT, Root: 2})
	if err != nil {
		t.Fatal(err)
	}
	r, err := newRounded(codec, 2)
	if err != nil {
		t.Fatal(err)
	}
	below := 0
	for i, x := range gaussians(200, 500, 0.5, 7) {
		x = x[:5]
		y, err := codec.EncodeValues(0, uint64(i), x)
		if err != nil {
			t.Fatal(err)
		}
		m, err := r.Encode(0, uint64(i), x)
		if err != nil {
			t.Fatal(err)
		}
		scale := math.Float32frombits(binary.LittleEndian.Uint32(m[wire.Size+2:]))
		largest := 0.0
		for _, v := range y {
			largest = max(largest, math.Abs(v))
		}
		if float64(scale) < largest || float64(math.Nextafter32(scale, 0)) >= largest {
			t.Errorf("scale %v of numbers up to %v", scale, largest)
		}
		if float64(float32(largest)) < largest {
			below++
		}
	}
	if below < 50 {
		t.Errorf("only %d of the numbers are rounded down: this tests little", below)
	}
}
