package data

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/ulikunitz/xz"
)

// An R file is put together from items, by the description in R Internals and not by the reader.
func rInt(v int) string     { return string(binary.BigEndian.AppendUint32(nil, uint32(int32(v)))) }
func rText(s string) string { return rInt(9|0x40000) + rInt(len(s)) + s }
func rName(s string) string { return rInt(1) + rText(s) }
func rPair1(tag, value string) string {
	return rInt(2|0x400) + tag + value
}

func rDoubles(v ...float64) string {
	s := rInt(14) + rInt(len(v))
	for _, x := range v {
		s += string(binary.BigEndian.AppendUint64(nil, math.Float64bits(x)))
	}
	return s
}

func rInts(flags int, v ...int) string {
	s := rInt(13|flags) + rInt(len(v))
	for _, x := range v {
		s += rInt(x)
	}
	return s
}

func rTexts(v ...string) string {
	s := rInt(16) + rInt(len(v))
	for _, x := range v {
		s += rText(x)
	}
	return s
}

func rSave(variables string) string {
	return "RDX2\nX\n" + rInt(2) + rInt(0x20a01) + rInt(0x20300) + variables + rInt(254)
}

var rEnd = rInt(254)

// rFrame1 is data.frame(x = c(1.5, -2), f = factor(c("b", NA)), n = c(NA, 7L)), whose second
// "names" is a symbol that came before.
func rFrame1() string {
	factor := rInts(0x300, 2, math.MinInt32) + rPair1(rName("levels"), rTexts("a", "b")) + rPair1(rName("class"), rTexts("factor")) + rEnd
	columns := rInt(19|0x300) + rInt(3) + rDoubles(1.5, -2) + factor + rInts(0, math.MinInt32, 7)
	// Symbols so far: frame, levels, class.
	return columns + rPair1(rName("names"), rTexts("x", "f", "n")) + rPair1(rInt(3<<8|255), rTexts("data.frame")) + rPair1(rName("row.names"), rInts(0, math.MinInt32, -2)) + rEnd
}

func rFile1() string {
	return rSave(rPair1(rName("frame"), rFrame1()) + rPair1(rName("other"), rDoubles(1, 2)))
}

func readR(s string) ([]Frame, error) {
	return readRData(context.Background(), strings.NewReader(s), "test")
}

// The same frame whichever way it is packed, and in both versions of the format.
func TestReadRData(t *testing.T) {
	plain := rFile1()
	third := strings.Replace(strings.Replace(plain, "RDX2", "RDX3", 1), rInt(2)+rInt(0x20a01)+rInt(0x20300), rInt(3)+rInt(0x40201)+rInt(0x30500)+rInt(5)+"UTF-8", 1)
	var zipped, xzed bytes.Buffer
	z := gzip.NewWriter(&zipped)
	x, err := xz.NewWriter(&xzed)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []interface {
		Write([]byte) (int, error)
		Close() error
	}{z, x} {
		if _, err := w.Write([]byte(plain)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"plain": plain, "version 3": third, "gzip": zipped.String(), "xz": xzed.String()} {
		frames, err := readR(text)
		if err != nil || len(frames) != 1 || frames[0].Name != "frame" || frames[0].Rows != 2 || len(frames[0].Columns) != 3 {
			t.Errorf("%s: %+v, %v", name, frames, err)
			continue
		}
		f := frames[0]
		if c := f.Column("x"); c == nil || !reflect.DeepEqual(c.Values, []float64{1.5, -2}) || c.Levels != nil {
			t.Errorf("%s: x is %+v", name, c)
		}
		if c := f.Column("f"); c == nil || c.Values[0] != 1 || !math.IsNaN(c.Values[1]) || !reflect.DeepEqual(c.Levels, []string{"a", "b"}) {
			t.Errorf("%s: f is %+v", name, c)
		}
		if c := f.Column("n"); c == nil || !math.IsNaN(c.Values[0]) || c.Values[1] != 7 {
			t.Errorf("%s: n is %+v", name, c)
		}
		if f.Column("nobody") != nil {
			t.Errorf("%s: a column that is not there", name)
		}
	}
	// data.frame(x = c(1.5, -2)), packed by Python's bz2.
	packed, err := base64.StdEncoding.DecodeString("QlpoOTFBWSZTWdSkJowAAEB/hP4xSAAAARAAhAAQQC8HHEBAAABBIAB0GimINPU00B6g02oMUjQaeoAAaZJSZ7IKAuayCpMIjmbyRwpoECpnFxCIyIRKGRWEZB5gDQwArt3ASjCCpFUZmr9O9hSsxBl6eJatyPxdyRThQkNSkJow")
	if err != nil {
		t.Fatal(err)
	}
	frames, err := readR(string(packed))
	if err != nil || len(frames) != 1 || !reflect.DeepEqual(frames[0].Columns[0].Values, []float64{1.5, -2}) {
		t.Errorf("bzip2: %+v, %v", frames, err)
	}
}

// What is damaged, or is no data frame of numbers, is refused by what is wrong with it.
func TestRDataIsRefused(t *testing.T) {
	plain := rFile1()
	for i := range len(plain) { // nothing is read from a part of a file
		if frames, err := readR(plain[:i]); err == nil {
			t.Fatalf("%d of %d bytes: %+v", i, len(plain), frames)
		}
	}
	deep := rInt(254)
	for range 100 {
		deep = rInt(19) + rInt(1) + deep
	}
	for want, text := range map[string]string{
		"goes on":             plain + "x",
		"begins with":         "RDA2\nA\n2\n",
		"version 4":           strings.Replace(plain, rInt(2)+rInt(0x20a01), rInt(4)+rInt(0x20a01), 1),
		"level 2 of 1":        strings.Replace(plain, rTexts("a", "b"), rTexts("a"), 1),
		"has 3 rows":          strings.Replace(plain, rInts(0, math.MinInt32, 7), rInts(0, 1, 2, 3), 1),
		"2 names of 3":        strings.Replace(plain, rTexts("x", "f", "n"), rTexts("x", "f"), 1),
		"items of type 16":    strings.Replace(plain, rDoubles(1.5, -2), rTexts("a", "b"), 1),
		"version = 2":         strings.Replace(plain, rDoubles(1.5, -2), rInt(238), 1),
		"type 4":              strings.Replace(plain, rDoubles(1.5, -2), rInt(4), 1),
		"length -1":           strings.Replace(plain, rInt(14)+rInt(2), rInt(14)+rInt(-1), 1),
		"string of length":    strings.Replace(plain, rText("frame"), rInt(9)+rInt(1<<30), 1),
		"symbol 9 of 4":       strings.Replace(plain, rInt(3<<8|255), rInt(9<<8|255), 1),
		"deep":                rSave(rPair1(rName("a"), deep)),
		"unexpected EOF":      rSave(rPair1(rName("a"), rInt(14)+rInt(1<<30))),
		"list of variables":   "RDX2\nX\n" + rInt(2) + rInt(0) + rInt(0) + rDoubles(1),
		"gzip: invalid":       "\x1f\x8b\x00",
		"goes on with type 1": "RDX2\nX\n" + rInt(2) + rInt(0) + rInt(0) + rPair1(rName("a"), rDoubles(1)) + rInt(1),
	} {
		if text == plain {
			t.Fatalf("%s: nothing is changed", want)
		}
		if frames, err := readR(text); err == nil || !strings.Contains(err.Error(), want) && !strings.HasPrefix(want, "gzip") {
			t.Errorf("want %q: %+v, %v", want, frames, err)
		}
	}
}

// The files of Debian's packages, where DARRM_DATA has them: sizes, classes and first rows as their
// documentation prints them.
func TestRealRData(t *testing.T) {
	for _, c := range []struct {
		file, class, level string
		rows, columns, of  int
		first              []float64
	}{
		{"PimaIndiansDiabetes.rda", "diabetes", "pos", 768, 9, 268, []float64{6, 148, 72, 35, 0, 33.6, .627, 50, 1}},
		{"LetterRecognition.rda", "lettr", "T", 20000, 17, 796, []float64{19, 2, 8, 3, 5, 1, 8, 13}},
		{"GermanCredit.RData", "Class", "Good", 1000, 62, 700, []float64{6, 1169, 4, 4, 67, 2, 1}},
	} {
		path := filepath.Join(os.Getenv("DARRM_DATA"), "pairs", c.file)
		if _, err := os.Stat(path); err != nil {
			t.Skipf("%s is not there: apt-get download r-cran-mlbench r-cran-caret", c.file)
		}
		frames, err := ReadRData(context.Background(), path)
		if err != nil || len(frames) != 1 || frames[0].Rows != c.rows || len(frames[0].Columns) != c.columns {
			t.Fatalf("%s: %d frames, %v", c.file, len(frames), err)
		}
		for j, v := range c.first {
			if got := frames[0].Columns[j].Values[0]; got != v {
				t.Errorf("%s: column %d begins with %g, want %g", c.file, j, got, v)
			}
		}
		class, n := frames[0].Column(c.class), 0
		for _, v := range class.Values {
			if class.Levels[int(v)] == c.level {
				n++
			}
		}
		if n != c.of {
			t.Errorf("%s: %d rows are %s, want %d", c.file, n, c.level, c.of)
		}
	}
}

// Whatever a file holds, it is read or refused, and what is read is a frame.
func FuzzReadRData(f *testing.F) {
	f.Add([]byte(rFile1()))
	f.Add([]byte(rSave(rPair1(rName("a"), rDoubles(1)))))
	f.Add([]byte("RDX3\nX\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		frames, err := readR(string(b))
		if err != nil && frames != nil {
			t.Fatal("frames and an error")
		}
		for _, fr := range frames {
			for _, c := range fr.Columns {
				if len(c.Values) != fr.Rows {
					t.Fatalf("%d values in %d rows", len(c.Values), fr.Rows)
				}
				for _, v := range c.Values {
					if c.Levels != nil && !math.IsNaN(v) && (v < 0 || int(v) >= len(c.Levels)) {
						t.Fatalf("level %g of %d", v, len(c.Levels))
					}
				}
			}
		}
	})
}
