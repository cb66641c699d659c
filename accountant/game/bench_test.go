package game_test

import (
	"fmt"
	"testing"

	"github.com/darrm/darrm/accountant/game"
)

// BenchmarkDelta prices 2000 answers of 101 teachers and 1000 of 87,125 ordered pairs: a second and
// half a minute are the aims.
func BenchmarkDelta(b *testing.B) {
	for _, c := range []struct {
		name  string
		pairs game.Pairs
		q     int
	}{
		{"K=101/Q=2000", all(normalCoins(101, .0180)), 2000},
		{"100x4/Q=1000", newNormalTable(100, 4, 53).pairs, 1000},
	} {
		for _, step := range []float64{1. / 10, 1. / 20} {
			b.Run(fmt.Sprintf("%s/step=%g", c.name, step), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					g, err := game.New(b.Context(), c.pairs, game.Options{Step: step})
					if err != nil {
						b.Fatal(err)
					}
					d, err := g.Delta(b.Context(), 3, c.q)
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(d, "delta")
				}
			})
		}
	}
}
