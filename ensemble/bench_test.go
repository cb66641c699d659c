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
