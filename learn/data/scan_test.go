package data

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// Scan and Read give the same records.
func TestScanIsRead(t *testing.T) {
	const libsvm = "# none\n1 1:2 3:4\n0 2:1 # two\n\n1\n"
	for name, c := range map[string]struct {
		read func() (*Records, error)
		scan func(visit func([]float64, float64) error) error
	}{
		"libsvm": {
			func() (*Records, error) { return ReadLIBSVM(strings.NewReader(libsvm), 3) },
			func(visit func([]float64, float64) error) error {
				return ScanLIBSVM(strings.NewReader(libsvm), 3, visit)
			},
		},
	} {
		records, err := c.read()
		if err != nil {
			t.Fatal(name, err)
		}
		i := 0
		err = c.scan(func(x []float64, y float64) error {
			if !slices.Equal(x, records.Row(i)) || y != records.Response(i) {
				t.Errorf("%s: record %d is %v, %v", name, i+1, x, y)
			}
			i++
			return nil
		})
		if err != nil || i != records.Len() {
			t.Errorf("%s: %d records, %v", name, i, err)
		}
	}
}

func TestScanEndsWithTheLine(t *testing.T) {
	stop := errors.New("stop")
	third := func() func([]float64, float64) error {
		n := 0
		return func([]float64, float64) error {
			if n++; n == 3 {
				return stop
			}
			return nil
		}
	}
	err := ScanLIBSVM(strings.NewReader("1 1:1\n# none\n1 1:1\n1 1:1\n"), 1, third())
	if !errors.Is(err, stop) || !strings.HasPrefix(err.Error(), "line 4: ") {
		t.Error(err)
	}
	none := func([]float64, float64) error { return nil }
	if err := ScanLIBSVM(strings.NewReader("1 1:1\n"), 0, none); err == nil {
		t.Error("a stream tells its dimension")
	}
	if err := ScanLIBSVM(strings.NewReader("1 1:1\n1 2:1\n"), 1, none); err == nil ||
		!strings.Contains(err.Error(), "line 2") {
		t.Error(err)
	}
}

// repeated is a stream of n copies of a line.
type repeated struct {
	line string
	n    int
	rest string
}

func (l *repeated) Read(p []byte) (int, error) {
	if l.rest == "" {
		if l.n == 0 {
			return 0, io.EOF
		}
		l.n, l.rest = l.n-1, l.line
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// A scan's memory does not grow with its stream.
func TestScanKeepsOneLine(t *testing.T) {
	const n = 200_000
	for name, scan := range map[string]func(visit func([]float64, float64) error) error{
		"libsvm": func(visit func([]float64, float64) error) error {
			return ScanLIBSVM(&repeated{line: "1 1:0.25 3:0.5\n", n: n}, 3, visit)
		},
	} {
		var early, late uint64
		seen := 0
		live := func() uint64 {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			return m.HeapAlloc
		}
		err := scan(func([]float64, float64) error {
			switch seen++; seen {
			case n / 10:
				early = live()
			case n:
				late = live()
			}
			return nil
		})
		if err != nil || seen != n {
			t.Fatalf("%s: %d lines, %v", name, seen, err)
		}
		if late > early+64<<10 { // 180,000 records of 4 numbers are 5.8 MB
			t.Errorf("%s: %s more after %d lines", name, fmt.Sprint(late-early), n)
		}
	}
}
