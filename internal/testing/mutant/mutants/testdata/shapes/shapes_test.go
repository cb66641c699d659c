package shapes

import "testing"

func TestShapes(t *testing.T) {
	var l list[int]
	l.add(7, 8)
	x, err := last(l.all, true)
	if x != 8 || err != nil || l.two(0, "") != 2 || sum(l.all) != 15 ||
		ready != "yes" || three != 3 || word() != "w" {
		t.Error(x, err, ready)
	}
}
