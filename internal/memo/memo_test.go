package memo

import (
	"errors"
	"testing"
)

// An answer is worked out once, an error each time; and no more answers are kept than may be.
func TestOf(t *testing.T) {
	asked := 0
	m := Of[int, int]{Most: 2}
	get := func(q int) int {
		a, err := m.Get(q, func() (int, error) { asked++; return 10 * q, nil })
		if err != nil || a != 10*q {
			t.Fatalf("%d: %d, %v", q, a, err)
		}
		return asked
	}
	for _, tt := range [][2]int{{1, 1}, {1, 1}, {2, 2}, {1, 2}} {
		if got := get(tt[0]); got != tt[1] {
			t.Errorf("after %d: %d questions, want %d", tt[0], got, tt[1])
		}
	}
	if get(3) != 3 || len(m.known) != 1 || get(1) != 4 {
		t.Errorf("%d questions, %d answers are kept", asked, len(m.known))
	}
	for range 2 {
		if _, err := m.Get(7, func() (int, error) { asked++; return 0, errors.New("none") }); err == nil {
			t.Error("an error was forgotten")
		}
	}
	if asked != 6 {
		t.Errorf("%d questions", asked)
	}
}
