package tiny

import "testing"

func TestAbs(t *testing.T) {
	for x, want := range map[int]int{-2: 2, -1: 1, 0: 0, 3: 3} {
		if got := Abs(x); got != want {
			t.Errorf("Abs(%d) = %d", x, got)
		}
	}
}

func TestDouble(t *testing.T) {
	if got := Double(0); got != 0 {
		t.Errorf("Double(0) = %d", got)
	}
}
