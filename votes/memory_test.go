package votes

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
)

// rowReader generates rows without holding them.
type rowReader struct {
	row  func(i int) string
	n, i int
	rest string
}

func (r *rowReader) Read(p []byte) (int, error) {
	if r.rest == "" {
		if r.i == r.n {
			return 0, io.EOF
		}
		r.rest = r.row(r.i)
		r.i++
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

func liveHeap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// Reading 200,000 rows with consecutive ids must not retain more than 256 KiB
// (the ids alone would take megabytes).
func TestNextRunsInConstantMemory(t *testing.T) {
	const n = 200_000
	src := &rowReader{n: n, row: func(i int) string { return fmt.Sprintf("%d,1,0,1\n", i) }}
	r, err := NewCSVReader(src, CSVOptions{IDColumn: "1"})
	if err != nil {
		t.Fatal(err)
	}
	before := liveHeap()
	rows := 0
	for {
		q, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if q.Ones != 2 {
			t.Fatalf("got %+v", q)
		}
		rows++
	}
	after := liveHeap()
	if rows != n {
		t.Errorf("%d rows, want %d", rows, n)
	}
	if after > before+256<<10 {
		t.Errorf("heap grew by %d bytes", after-before)
	}
	if len(r.ids.other) != 0 {
		t.Errorf("%d ids are remembered one by one", len(r.ids.other))
	}
	runtime.KeepAlive(r)
}

// An endless line is refused after about MaxRecordBytes, not read to its end.
func TestEndlessLineIsBounded(t *testing.T) {
	piece := strings.Repeat("x", 1000)
	src := &rowReader{n: 1 << 40, row: func(int) string { return piece }}
	_, err := ReadCSV(src, CSVOptions{})
	if err == nil || !strings.Contains(err.Error(), "record longer") {
		t.Errorf("got %v", err)
	}
	if read := src.i * len(piece); read > MaxRecordBytes+256<<10 {
		t.Errorf("%d bytes were read", read)
	}
}
