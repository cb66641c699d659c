package check

import (
	"fmt"
	"strings"
	"testing"
)

func TestOneOf(t *testing.T) {
	type noise string
	for _, c := range []struct {
		v, want noise
		refused string
	}{{"", "a", ""}, {"a", "a", ""}, {"c", "c", ""}, {"d", "d", `noise = "d", but it must be "a", "b" or "c"`}} {
		got, err := OneOf("noise", c.v, "a", "b", "c")
		if got != c.want || (err == nil) != (c.refused == "") || err != nil && err.Error() != c.refused {
			t.Errorf("%q: %q, %v", c.v, got, err)
		}
	}
	if _, err := OneOf[noise]("noise", "d", "a", "b"); err == nil ||
		err.Error() != `noise = "d", but it must be "a" or "b"` {
		t.Error(err)
	}
}

func TestKnown(t *testing.T) {
	for name, fine := range map[string]bool{"free": true, "any": true, "": false, "Free": false, "free ": false} {
		if err := Known("shape", name, []string{"any", "free"}); (err == nil) != fine {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestEnum(t *testing.T) {
	type layout int
	layouts := Enum[layout]{"layout", []string{"wide", "counts"}}
	for i, v := range layouts.Values() {
		read := layout(-1)
		text := layouts.String(v)
		if err := layouts.Unmarshal(&read, []byte(text)); err != nil || read != v || int(v) != i ||
			text != layouts.Names[i] || layouts.Check(v) != nil {
			t.Errorf("%d: %q, %v", v, text, err)
		}
	}
	read := layout(1)
	if err := layouts.Unmarshal(&read, []byte("tall")); read != 1 || err == nil ||
		err.Error() != `layout = "tall", but it must be "wide" or "counts"` {
		t.Errorf("tall: %v, %v", read, err)
	}
	for _, v := range []layout{-1, 2} {
		if text := layouts.String(v); layouts.Check(v) == nil || !strings.HasSuffix(text, fmt.Sprintf("layout(%d)", int(v))) {
			t.Errorf("%d: %q", v, text)
		}
	}
}
