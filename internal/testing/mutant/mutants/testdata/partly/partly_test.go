package partly

import "testing"

func TestHalf(t *testing.T) {
	if got := Half(8); got != 4 {
		t.Errorf("Half(8) = %d", got)
	}
}

func TestThird(t *testing.T) {
	t.Run("of a server", func(t *testing.T) { t.Skip("no server") })
}
