package ensemble

import (
	"testing"

	"github.com/darrm/darrm/internal/randsrc"
)

func BenchmarkCoins(b *testing.B) {
	m := anyGamma(b, 11, 1, 0.98, 1, 1, 0.54, 0.94)
	key, err := randsrc.NewKey()
	if err != nil {
		b.Fatal(err)
	}
	for name, coins := range map[string]randsrc.Coins{
		"system": randsrc.SystemCoins(), "keyed": randsrc.KeyedCoins(key, "r"),
		"seeded": randsrc.SeededCoins(1)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			counts := make([]int, 2)
			for i := 0; b.Loop(); i++ {
				counts[0], counts[1] = 11-i%12, i%12
				if _, err := m.Answer(coins, "a query", counts); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkWorkers is the drawing of a release: each operation is an answer, by all processors,
// with coins that they share and with coins of their own for each batch.
func BenchmarkWorkers(b *testing.B) {
	m := anyGamma(b, 11, 1, 0.98, 1, 1, 0.54, 0.94)
	for name, of := range map[string]func(randsrc.Coins) randsrc.Coins{
		"shared": func(c randsrc.Coins) randsrc.Coins { return c }, "own": randsrc.Coins.Own} {
		b.Run(name, func(b *testing.B) {
			coins := randsrc.SystemCoins()
			b.RunParallel(func(p *testing.PB) {
				mine, counts := of(coins), make([]int, 2)
				for i := 0; p.Next(); i++ {
					if i%4096 == 0 {
						mine = of(coins)
					}
					counts[0], counts[1] = 11-i%12, i%12
					if _, err := m.Answer(mine, "a query", counts); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}
