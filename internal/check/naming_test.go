package check

import (
	"errors"
	"fmt"
	"io"
	"testing"
)

// A front end's names stand where the library's stood: in a Namedf, in what wraps one, and in a
// Namedf of another. The errors inside are still found.
func TestNamedBy(t *testing.T) {
	flag := func(p Parameter) string { return "--" + string(p)[:1] }
	inner := Namedf("%w (%s)", io.EOF, Parameter("time"))
	for _, tt := range []struct {
		err         error
		plain, want string
	}{
		{io.EOF, "EOF", "EOF"},
		{inner, "EOF (time)", "EOF (--t)"},
		{fmt.Errorf("file: %w", inner), "file: EOF (time)", "file: EOF (--t)"},
		{Namedf("%w; %s of %d", inner, Parameter("place"), 3), "EOF (time); place of 3",
			"EOF (--t); --p of 3"},
		{Missing(Named("; %s", Parameter("e")), []Parameter{"a"}, []Parameter{"b", "c", "d"}),
			"a and b (or c, d) must be given; e", "--a and --b (or --c, --d) must be given; --e"},
	} {
		if got := tt.err.Error(); got != tt.plain {
			t.Errorf("%q, want %q", got, tt.plain)
		}
		if got := NamedBy(tt.err, flag); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
	if !errors.Is(inner, io.EOF) {
		t.Error("the error inside is not found")
	}
}
