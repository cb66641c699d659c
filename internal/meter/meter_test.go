package meter_test

import (
	"context"
	"slices"
	"testing"

	"github.com/darrm/darrm/internal/meter"
)

func TestShare(t *testing.T) {
	meter.Share(t.Context(), 1, 2) // nobody reads
	var got []float64
	ctx, cancel := context.WithCancel(meter.With(t.Context(), func(s float64) { got = append(got, s) }))
	defer cancel()
	meter.Share(ctx, 1, 4)
	meter.Share(ctx, 5, 4)
	meter.Share(ctx, 0, 0)
	if !slices.Equal(got, []float64{.25, 1}) {
		t.Errorf("%v", got)
	}
}
