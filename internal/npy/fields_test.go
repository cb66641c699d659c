package npy

import "testing"

// A literal of Python is read as Python reads it: either quote, and each escape with all of its digits.
func TestLiteral(t *testing.T) {
	for in, want := range map[string]string{
		`'a', rest`: "a", `"it's"`: "it's", `'\x41b'`: "Ab", `'\u00e9'`: "é", `'\U0001f600!'`: "😀!", `'\\\'\"\n\r\t'`: "\\'\"\n\r\t", `''`: "",
	} {
		if got, _, ok := literal(in); !ok || got != want {
			t.Errorf("%s is read as %q, %t, want %q", in, got, ok, want)
		}
	}
	if _, rest, ok := literal(`'a\x41', 'b'`); !ok || rest != ", 'b'" {
		t.Errorf("behind a literal there is %q, %t", rest, ok)
	}
	for _, in := range []string{"", "a", "'a", `'a"`, `'\`, `'\'`, `'\x4'`, `'\xg1'`, `'\u00e'`, `'\ud800'`, `'\U00110000'`, `'\q'`} {
		if got, _, ok := literal(in); ok {
			t.Errorf("%s is read as %q", in, got)
		}
	}
}
