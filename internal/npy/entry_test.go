package npy

import (
	"bytes"
	"regexp"
	"testing"

	"pgregory.net/rapid"
)

// The syntax of an entry, and of a type of records, as regular expressions: what the readers are
// compared with.
var (
	entrySyntax = regexp.MustCompile(
		`^\s*['"](\w+)['"]\s*:\s*(?:['"]([^'"\\\n]*)['"]|(True|False)|\(([\dL,\s]*)\))\s*(,\s*|$)`)
	recordsSyntax = regexp.MustCompile(`['"]descr['"]\s*:\s*\[`)
)

func compareEntry(t interface {
	Errorf(format string, args ...any)
}, s string) {
	want := entrySyntax.FindStringSubmatch(s)
	e, rest, ok := readEntry(s)
	if ok != (want != nil) {
		t.Errorf("%q: %v, want %v", s, ok, want != nil)
	}
	if ok && want != nil && (e != entry{want[1], want[2], want[3], want[4]} ||
		rest != s[len(want[0]):]) {
		t.Errorf("%q: %+v, %q, want %q", s, e, rest, want)
	}
	if got, want := records(s), recordsSyntax.MatchString(s); got != want {
		t.Errorf("%q: records %v, want %v", s, got, want)
	}
}

func TestEntriesAreOfTheSyntax(t *testing.T) {
	for _, s := range []string{
		`'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), `, `'shape': (3,)`, `"a":"b"`,
		` 'shape' : ( 3L , 4L ) ,x`, `'descr': [('a', '<f8')]`, `'descr''descr':[`, `'a': True,`,
		`'a': Truely`, `'a': 'x\'`, "'a': 'x\n'", `'': True`, `'a' True`, `'a': ()`, `'a': 'é'`,
	} {
		compareEntry(t, s)
	}
	parts := rapid.SampledFrom([]string{"'", `"`, "descr", "shape", "True", "False", "(", ")", "[",
		":", ",", " ", "\n", "\f", "3", "L", `\`, "é", "_", "x"})
	rapid.Check(t, func(t *rapid.T) {
		s := ""
		for _, part := range rapid.SliceOfN(parts, 0, 14).Draw(t, "parts") {
			s += part
		}
		compareEntry(t, s)
		compareEntry(t, "'a':"+s)
	})
}

func FuzzEntry(f *testing.F) {
	f.Add(`'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), `)
	f.Fuzz(func(t *testing.T, s string) { compareEntry(t, s) })
}

func FuzzRows(f *testing.F) {
	f.Add(append(Head(`[('a', '<f8'), ("b'\n", '|b1')]`, 1), make([]byte, 9)...))
	f.Add(append(Head("'<f4'", 1, 2), make([]byte, 8)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		rows, err := NewRows(bytes.NewReader(b))
		if err != nil {
			return
		}
		x := make([]float64, len(rows.Fields))
		for n := 0; n < 3; n++ {
			block, err := rows.Next(2)
			if err != nil {
				return
			}
			for i := range rows.Len(block) {
				rows.Row(x, block, i)
			}
		}
	})
}
