package npy

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// Files as NumPy 1.24 writes them.
func TestReadMatrix(t *testing.T) {
	file := func(descr, fortran, shape, elements string) string {
		text := "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }"
		return Magic + "\x01\x00" + string([]byte{byte(len(text)), 0}) + text + elements
	}
	one := "\x00\x00\x00\x00\x00\x00\xf0\x3f" // 1 as <f8
	for _, c := range []struct {
		in            string
		rows, columns int
		x             []float64
		rule          string
	}{
		{file("|u1", "False", "(2, 3)", "\x00\x01\x02\x03\x04\xff"), 2, 3, []float64{0, 1, 2, 3, 4, 255},
			""},
		{file("|i1", "True", "(2, 3)", "\x00\x01\x02\x03\x04\xff"), 2, 3, []float64{0, 2, 4, 1, 3, -1},
			""},
		{file("<f8", "False", "(1,)", one), 1, 1, []float64{1}, ""},
		{file(">f4", "False", "(1,)", "\xc0\x20\x00\x00"), 1, 1, []float64{-2.5}, ""},
		{file("<i2", "False", "(1,)", "\xfe\xff"), 1, 1, []float64{-2}, ""},
		{file(">u2", "False", "(1,)", "\x01\x00"), 1, 1, []float64{256}, ""},
		{file("<i4", "False", "(1,)", "\xfe\xff\xff\xff"), 1, 1, []float64{-2}, ""},
		{file("<u4", "False", "(1,)", "\xfe\xff\xff\xff"), 1, 1, []float64{1<<32 - 2}, ""},
		{file("<i8", "False", "(1,)", "\xfe\xff\xff\xff\xff\xff\xff\xff"), 1, 1, []float64{-2}, ""},
		{file("<u8", "False", "(1,)", "\x02\x00\x00\x00\x00\x00\x00\x00"), 1, 1, []float64{2}, ""},
		{file("<f8", "False", "()", one), 0, 0, nil, "0 dimensions"},
		{file("<f8", "False", "(1, 1, 1)", one), 0, 0, nil, "3 dimensions"},
		{file("<f8", "False", "(0, 4)", ""), 0, 0, nil, "empty"},
		{file("<f8", "False", "(2,)", one), 0, 0, nil, "but there are 8"},
		{file("<f8", "False", "(1,)", one+"x"), 0, 0, nil, "more bytes"},
		{file("<f8", "False", "(1152921504606846976, 1)", one), 0, 0, nil, "more than any disk"},
		{file("<f8", "False", "(576460752303423487,)", one), 0, 0, nil, "but there are 8"},
		{file("<c16", "False", "(1,)", one+one), 0, 0, nil, "none for vectors"},
		{file("|f8", "False", "(1,)", one), 0, 0, nil, "none for vectors"},
		{file("|O", "False", "(1,)", "\x80"), 0, 0, nil, "none for vectors"},
		{"\x80\x04\x95", 0, 0, nil, "pickle"},
		{"", 0, 0, nil, "does not begin"},
	} {
		m, err := ReadMatrix(iotest.OneByteReader(strings.NewReader(c.in)))
		if c.rule != "" {
			var rule *Error
			if !errors.As(err, &rule) || !strings.Contains(rule.Rule, c.rule) {
				t.Errorf("%q: %v, want %s", c.in, err, c.rule)
			}
			continue
		}
		if err != nil || m.Rows != c.rows || m.Columns != c.columns || !slices.Equal(m.X, c.x) {
			t.Errorf("%q: %+v, %v", c.in, m, err)
		}
	}
	broken := errors.New("broken")
	if _, err := ReadMatrix(io.MultiReader(strings.NewReader(file("<f8", "False", "(1,)", "")),
		iotest.ErrReader(broken))); !errors.Is(err, broken) {
		t.Errorf("a reader that fails: %v", err)
	}
}

func TestVectorsReturn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Float64(), 1, 300).Draw(t, "x")
		var b bytes.Buffer
		if err := WriteVector(&b, x); err != nil {
			t.Fatal(err)
		}
		if (b.Len()-8*len(x))%64 != 0 {
			t.Fatalf("elements begin at %d", b.Len()-8*len(x))
		}
		m, err := ReadMatrix(&b)
		if err != nil || !m.Vector || m.Rows != 1 ||
			!slices.EqualFunc(m.Row(0), x, func(a, b float64) bool {
				return math.Float64bits(a) == math.Float64bits(b)
			}) {
			t.Fatalf("%v became %v, %v", x, m, err)
		}
	})
}

func FuzzReadMatrix(f *testing.F) {
	f.Add(append(Head("'<f8'", 1, 1), 0, 0, 0, 0, 0, 0, 0, 0))
	f.Add(append(Head("'>i2'", 2), 0, 0, 0, 0))
	f.Fuzz(func(t *testing.T, in []byte) {
		m, err := ReadMatrix(bytes.NewReader(in))
		if err == nil && (m.Rows < 1 || m.Columns < 1 || len(m.X) != m.Rows*m.Columns ||
			len(m.X) > len(in)) {
			t.Errorf("%d × %d, %d numbers of %d bytes", m.Rows, m.Columns, len(m.X), len(in))
		}
	})
}
