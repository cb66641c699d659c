package data

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/darrm/darrm/internal/testing/must"
)

// A shortened row is within the radius in exact arithmetic, also where its norm is a few units in the last
// place above or below; and hardly shorter.
func TestShortenedIsExactlyWithin(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	beyond := 0
	for _, d := range []int{1, 2, 3, 50, 700} {
		for range 60 {
			row, square := make([]float64, d), new(big.Float).SetPrec(400)
			for j := range row {
				row[j] = rng.NormFloat64()
				x := new(big.Float).SetPrec(400).SetFloat64(row[j])
				square.Add(square, x.Mul(x, x))
			}
			norm, _ := new(big.Float).Sqrt(square).Float64()
			for k := -3; k <= 3; k++ {
				radius := norm * (1 + float64(k)*0x1p-53)
				r := must.Get(NewRecords(1, d, row, nil))(t).Shortened(radius)
				within, sum := new(big.Float).SetPrec(400).SetFloat64(radius), new(big.Float).SetPrec(400)
				if within.Mul(within, within); square.Cmp(within) > 0 {
					beyond++
				}
				for _, v := range r.Row(0) {
					x := new(big.Float).SetPrec(400).SetFloat64(v)
					sum.Add(sum, x.Mul(x, x))
				}
				got, _ := new(big.Float).Sqrt(sum).Float64()
				if sum.Cmp(within) > 0 || got < min(radius, norm)*(1-1e-12) {
					t.Fatalf("d = %d: a norm of %.17g, radius %.17g", d, got, radius)
				}
			}
		}
	}
	if beyond < 100 {
		t.Errorf("%d rows are beyond their radius: the test shows little", beyond)
	}
}

// Each record has one weight, a finite number from 0 on.
func TestWeighted(t *testing.T) {
	r := must.Get(NewRecords(2, 1, []float64{1, 2}, nil))(t)
	for _, w := range [][]float64{{1, 0}, {0.5, MaxMagnitude}} {
		if got, err := r.Weighted(w); err != nil || got.Weights()[1] != w[1] || r.Weights() != nil {
			t.Errorf("%v: %v", w, err)
		}
	}
	for _, w := range [][]float64{nil, {1}, {1, 1, 1}, {1, -1e-300}, {math.NaN(), 1}, {1, math.Inf(1)}} {
		if _, err := r.Weighted(w); err == nil {
			t.Errorf("%v: taken", w)
		}
	}
}

// The digest of sparse records is of these bytes, however many there are: plans and checkpoints have it.
func TestSparseDigest(t *testing.T) {
	const n, d = 700, 3
	x, y := make([]float64, n*d), make([]float64, n)
	b := binary.LittleEndian.AppendUint64([]byte("darrm sparse records v1"), n)
	b = binary.LittleEndian.AppendUint64(b, d)
	for i := range n {
		y[i] = float64(i % 2)
		b = binary.LittleEndian.AppendUint64(b, d)
		for j := range d {
			x[i*d+j] = float64(1 + i + j)
			b = binary.LittleEndian.AppendUint64(b, uint64(j))
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x[i*d+j]))
		}
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(y[i]))
	}
	if got := SparseOf(must.Get(NewRecords(n, d, x, y))(t)).Digest(); got != sha256.Sum256(b) {
		t.Errorf("%x", got)
	}
}
