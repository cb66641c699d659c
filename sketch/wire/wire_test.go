package wire

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/testing/must"
)

// The worked example of docs/mean.md.
const example = "44534b4d 01 02 0000" +
	"0000000000000000" + "0000000000000000" + "1000000000000000" + "0300000000000000" +
	"4bab1dcc9d6cceb5" +
	"0000000000002dc0" + "00000000000016c0" + "0000000000002340"

func exampleBytes(t testing.TB) []byte {
	return must.Get(hex.DecodeString(strings.ReplaceAll(example, " ", "")))(t)
}

var header = Header{Scheme: SRHT, D: 16, Count: 3}

func TestExample(t *testing.T) {
	want := exampleBytes(t)
	values := []float64{-14.5, -5.5, 9.5}
	got := AppendFloats(header.Append(nil, 42), values)
	if !bytes.Equal(got, want) {
		t.Errorf("got\n%x, want\n%x", got, want)
	}
	n, body, err := Read(want, header, 42)
	if err != nil || n != 3 {
		t.Fatal(n, err)
	}
	back, err := Floats(body, n)
	if err != nil || back[0] != -14.5 || back[1] != -5.5 || back[2] != 9.5 {
		t.Error(back, err)
	}
}

// What a stranger may send: an error each, that names what is wrong, and no allocation for
// what is merely claimed.
func TestHostile(t *testing.T) {
	good := exampleBytes(t)
	put := func(at int, v uint64) func([]byte) []byte {
		return func(b []byte) []byte { binary.LittleEndian.PutUint64(b[at:], v); return b }
	}
	for name, c := range map[string]struct {
		change func(b []byte) []byte
		want   string
	}{
		"empty":        {func([]byte) []byte { return nil }, "0 bytes, but a header alone has 48"},
		"short header": {func(b []byte) []byte { return b[:47] }, "47 bytes"},
		"magic":        {func(b []byte) []byte { b[0] = 'X'; return b }, `begins with "XSKM"`},
		"version":      {func(b []byte) []byte { b[4] = 2; return b }, "version 2"},
		"scheme": {func(b []byte) []byte { b[5] = 1; return b },
			"scheme 1 (row selection), but the decoder reads scheme 2 (SRHT)"},
		"reserved": {func(b []byte) []byte { b[7] = 1; return b }, "bytes 6 and 7"},
		"round":    {put(8, 9), "round = 9, but it must be 0"},
		"client": {put(16, math.MaxUint64),
			"client = 18446744073709551615, but it must be 0"},
		"d":          {put(24, 17), "d = 17, but it must be 16"},
		"d of 2⁶⁰":   {put(24, 1<<60), "d = 1152921504606846976"},
		"k":          {put(32, 4), "4 values, but it must have k = 3"},
		"2⁶⁰ values": {put(32, 1<<60), "1152921504606846976 values"},
		"all values": {put(32, math.MaxUint64), "18446744073709551615 values"},
		"tag":        {put(40, 1), "another root, or other streams"},
		"truncated": {func(b []byte) []byte { return b[:len(b)-1] },
			"23 bytes follow the header, but 3 values need 24"},
		"one value less": {func(b []byte) []byte { return b[:len(b)-8] },
			"16 bytes follow the header"},
		"header only": {func(b []byte) []byte { return b[:Size] },
			"3 values, but only 0 bytes follow"},
		"trailing": {func(b []byte) []byte { return append(b, 0) },
			"25 bytes follow the header"},
		"NaN":                {put(56, math.Float64bits(math.NaN())), "value 1 is NaN"},
		"signalling NaN":     {put(56, 0x7ff0000000000001), "value 1 is NaN"},
		"infinite":           {put(64, math.Float64bits(math.Inf(-1))), "value 2 is -Inf"},
		"big-endian integer": {put(24, 16<<56), "d = 1152921504606846976"},
	} {
		b := c.change(bytes.Clone(good))
		n, body, err := Read(b, header, 42)
		if err == nil {
			_, err = Floats(body, n)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || !errors.Is(err, ErrMessage) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	// Another root, and a count that is the scheme's own matter.
	if _, _, err := Read(good, header, 43); err == nil ||
		!strings.Contains(err.Error(), "another root") {
		t.Errorf("another root: %v", err)
	}
	free := header
	free.Count = -1
	for _, n := range []uint64{193, 1 << 60, math.MaxUint64} {
		if _, _, err := Read(put(32, n)(bytes.Clone(good)), free, 42); err == nil ||
			!strings.Contains(err.Error(), "only 24 bytes follow") {
			t.Errorf("%d values: %v", n, err)
		}
	}
	if n, _, err := Read(good, free, 42); n != 3 || err != nil {
		t.Errorf("any count: %d, %v", n, err)
	}
	if _, err := Floats(nil, math.MaxInt); err == nil {
		t.Error("more values than memory has, of nothing")
	}
}

// Reading never panics and never allocates more than the message has. Every accepted message is as
// Append writes it.
func FuzzRead(f *testing.F) {
	b := exampleBytes(f)
	f.Add(b, -1)
	f.Add(b, 3)
	f.Add(b[:50], 3)
	f.Add([]byte(nil), 0)
	f.Fuzz(func(t *testing.T, b []byte, count int) {
		want := header
		want.Count = count
		n, body, err := Read(b, want, 42)
		if err != nil {
			return
		}
		values, err := Floats(body, n)
		if err != nil {
			return
		}
		want.Count = n
		if again := AppendFloats(want.Append(nil, 42), values); !bytes.Equal(again, b) {
			t.Errorf("read from\n%x, written as\n%x", b, again)
		}
	})
}
