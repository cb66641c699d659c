package check

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

// An error is settled by its own parameter, unless who returns it names others; what wraps it
// changes neither that nor its text.
func TestSettling(t *testing.T) {
	own := error(&Error{"rate", 2, "in (0,1]"})
	others := SettledBy(fmt.Errorf("dp-sgd: %w", own), "noise=calibrated", "steps")
	for _, c := range []struct {
		err  error
		want []string
	}{
		{own, []string{"rate"}}, {fmt.Errorf("a method: %w", own), []string{"rate"}},
		{fmt.Errorf("a method: %w", others), []string{"noise=calibrated", "steps"}},
		{errors.New("rate"), nil}, {nil, nil},
	} {
		if got := Settling(c.err); !slices.Equal(got, c.want) {
			t.Errorf("%v is settled by %q, want %q", c.err, got, c.want)
		}
	}
	if got := others.Error(); got != "dp-sgd: rate = 2, but it must be in (0,1]" ||
		!errors.Is(others, own) {
		t.Errorf("the error reads %q", got)
	}
}
