package federated

import (
	"math"
	"slices"
	"testing"

	"github.com/darrm/darrm/internal/must"
)

// Broadcasts of one round and one model that differ in the model before ask for other differences:
// the silo answers them with coins of their own. Two reports with one seed of which one bit is
// turned and the other not would tell the true sign.
func TestCoinsKnowThePreviousModel(t *testing.T) {
	_, silos, server := sending(t, 64, nil)
	step(t, silos, server)
	b := server.Broadcast()
	other := b
	other.Previous = slices.Clone(b.Previous)
	other.Previous[3] = math.Nextafter(other.Previous[3], 2)
	seeds := map[string]bool{}
	for _, b := range []Broadcast{b, other} {
		for _, messages := range must.Get(silos[0].Report(t.Context(), b))(t) {
			for i := 0; i < len(messages); i += 9 {
				seed := string(messages[i : i+8])
				if seeds[seed] {
					t.Fatal("a seed is used twice")
				}
				seeds[seed] = true
			}
		}
	}
	if len(seeds) != 2*2*16 {
		t.Errorf("%d seeds", len(seeds))
	}
}
