package npy

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A text is read as Python reads it: either quote, and each escape with all of its digits.
func TestLiteralsOfText(t *testing.T) {
	for in, want := range map[string]string{
		`'a', rest`: "a", `"it's"`: "it's", `'\x41b'`: "Ab", `'\xe9'`: "é", `'\u00e9'`: "é", `'\U0001f600!'`: "😀!",
		`'\\\'\"\n\r\t'`: "\\'\"\n\r\t", `''`: "",
	} {
		if got, _, ok := literal(in, 0); !ok || got != want {
			t.Errorf("%s is read as %q, %t, want %q", in, got, ok, want)
		}
	}
	if _, rest, ok := literal(`'a\x41', 'b'`, 0); !ok || rest != ", 'b'" {
		t.Errorf("behind a literal there is %q, %t", rest, ok)
	}
	for _, in := range []string{"", "a", "'a", `'a"`, `'\`, `'\'`, `'\x4'`, `'\xg1'`, `'\u00e'`, `'\ud800'`, `'\U00110000'`, `'\q'`} {
		if got, _, ok := literal(in, 0); ok {
			t.Errorf("%s is read as %q", in, got)
		}
	}
}

// python writes a value as Python may, with any blanks and with a comma at the end or none.
func python(t *rapid.T, value any) string {
	blank := func() string { return rapid.SampledFrom([]string{"", " ", "\n", "\t "}).Draw(t, "blank") }
	several := func(open string, items []any, end string) string {
		var parts []string
		for _, item := range items {
			parts = append(parts, python(t, item))
		}
		if len(parts) > 0 && rapid.Bool().Draw(t, "comma") {
			parts = append(parts, blank())
		}
		return open + strings.Join(parts, ",") + blank() + end
	}
	text := ""
	switch v := value.(type) {
	case string:
		text = strings.ReplaceAll(strconv.Quote(v), `\a`, `\x07`)
	case bool:
		text = map[bool]string{true: "True", false: "False"}[v]
	case int64:
		text = strconv.FormatInt(v, 10) + rapid.SampledFrom([]string{"", "L"}).Draw(t, "long")
	case tuple:
		text = several("(", v, ")")
	case list:
		text = several("[", v, "]")
	case dict:
		text = several("{", v, "}")
	case entry:
		return blank() + python(t, v.key) + ":" + python(t, v.value)
	}
	return blank() + text + blank()
}

// valueOf draws a value of so many levels.
func valueOf(levels int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		kinds := 6
		if levels == 0 {
			kinds = 3
		}
		of := func() (items []any) {
			for range rapid.IntRange(0, 3).Draw(t, "items") {
				items = append(items, valueOf(levels-1).Draw(t, "item"))
			}
			return items
		}
		switch rapid.IntRange(1, kinds).Draw(t, "kind") {
		case 1:
			return rapid.String().Draw(t, "text")
		case 2:
			return rapid.Bool().Draw(t, "truth")
		case 3:
			return rapid.Int64Min(0).Draw(t, "number")
		case 4:
			return tuple(of())
		case 5:
			return list(of())
		}
		items := of()
		for i, item := range items {
			items[i] = entry{"k" + fmt.Sprint(i), item}
		}
		return dict(items)
	})
}

// What Python writes is read as it is, up to its end, and nothing of which the end is missing.
func TestLiteralsAreOfTheSyntax(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := valueOf(3).Draw(t, "value")
		s := python(t, want)
		got, rest, ok := literal(s+":x", 0)
		if !ok || rest != ":x" || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %#v, %q, %t, want %#v", s, got, rest, ok, want)
		}
		if s = strings.TrimSpace(s); strings.ContainsAny(s[:1], "([{\"") {
			if got, _, ok := literal(s[:rapid.IntRange(0, len(s)-1).Draw(t, "cut")], 0); ok {
				t.Errorf("a part of %q is read as %#v", s, got)
			}
		}
	})
	for _, s := range []string{"(1 2)", "(,)", "[1,,2]", "{1: 2}", "{'': 2}", "{'a'}", "{'a': }", "{'a' 2}", "Tru", "-1",
		"1.5", "99999999999999999999", "[1)", strings.Repeat("(", 20) + strings.Repeat(")", 20)} {
		if got, rest, ok := literal(s, 0); ok && rest == "" {
			t.Errorf("%q is read as %#v", s, got)
		}
	}
}

func FuzzHeader(f *testing.F) {
	f.Add(`{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`)
	f.Fuzz(func(t *testing.T, s string) {
		var h Header
		if h.parse(true, s) == nil && h.Fields == nil && !strings.Contains(s, "descr") && !strings.Contains(s, `\`) {
			t.Errorf("%q has no type", s)
		}
	})
}
