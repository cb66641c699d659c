package check

import "testing"

func TestOneOf(t *testing.T) {
	type noise string
	for _, c := range []struct {
		v, want noise
		refused string
	}{{"", "a", ""}, {"a", "a", ""}, {"c", "c", ""}, {"d", "d", "noise = d, but it must be a, b or c"}} {
		got, err := OneOf("noise", c.v, "a", "b", "c")
		if got != c.want || (err == nil) != (c.refused == "") || err != nil && err.Error() != c.refused {
			t.Errorf("%q: %q, %v", c.v, got, err)
		}
	}
	if _, err := OneOf[noise]("noise", "d", "a", "b"); err == nil ||
		err.Error() != "noise = d, but it must be a or b" {
		t.Error(err)
	}
}
