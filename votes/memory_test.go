package votes

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/testing/raced"
)

// rowSource generates rows without holding them.
type rowSource struct {
	row  func(i int) string
	n, i int
	rest string
}

func (r *rowSource) Read(p []byte) (int, error) {
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

// Reading 2,000,000 rows with consecutive ids must not retain more than 8 MiB
// (the ids alone would take 32).
func TestNextRunsInConstantMemory(t *testing.T) {
	n := 2_000_000
	if raced.Enabled {
		n = 100_000
	}
	src := &rowSource{n: n, row: func(i int) string { return fmt.Sprintf("%d,1,0,1\n", i) }}
	r, err := NewReader(context.Background(), src, Options{IDColumn: "1", K: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	before := liveHeap()
	rows := 0
	for b, err := range r.Batches() {
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Len() {
			if b.Ones(i) != 2 {
				t.Fatalf("query %s has %d ones", b.ID(i), b.Ones(i))
			}
		}
		rows += b.Len()
		b.Release()
	}
	after := liveHeap()
	if rows != n {
		t.Errorf("%d rows, want %d", rows, n)
	}
	// What goes round at once: a few batches and their text.
	if after > before+8<<20 {
		t.Errorf("heap grew by %d bytes", after-before)
	}
	if len(r.ids.other.places) != 0 {
		t.Errorf("%d ids are remembered one by one", len(r.ids.other.places))
	}
	runtime.KeepAlive(r)
}

// An endless line is refused after about twice maxRecordBytes, not read to its end.
func TestEndlessLineIsBounded(t *testing.T) {
	piece := strings.Repeat("x", 1000)
	src := &rowSource{n: 1 << 40, row: func(int) string { return piece }}
	_, err := ReadCSV(src, CSVOptions{})
	if err == nil || !strings.Contains(err.Error(), "record longer") {
		t.Errorf("got %v", err)
	}
	if read := src.i * len(piece); read > 2*maxRecordBytes+256<<10 {
		t.Errorf("%d bytes were read", read)
	}
}
