package randomiser_test

import (
	"fmt"
	"testing"

	"github.com/darrm/darrm/learn/federated/randomiser"
)

func BenchmarkReport(b *testing.B) {
	for _, d := range []int{101, 1000, 10_000} {
		one := oneBit(b, d, 0.58)
		unit, err := randomiser.NewPrivUnit(d, 4, 8, 16)
		if err != nil {
			b.Fatal(err)
		}
		for _, r := range []randomiser.Randomizer{one, unit, randK(b, d, 100, 0.58)} {
			x, sum, c := make([]float64, d), make([]float64, d), coins(1)
			x[0] = 1
			m, err := r.Append(nil, x, 1, c)
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("%T,d=%d/write", r, d), func(b *testing.B) {
				for b.Loop() {
					if m, err = r.Append(m[:0], x, 1, c); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run(fmt.Sprintf("%T,d=%d/add", r, d), func(b *testing.B) {
				for b.Loop() {
					if err := r.Add(sum, m, 1); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
