package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
)

// recordStream makes lines of records as they are read, and notes what the program keeps.
type recordStream struct {
	rng         *rand.Rand
	n, done     int
	line        bytes.Buffer
	early, late uint64 // bytes in use after a tenth of the records, and after all
}

func (s *recordStream) Read(p []byte) (int, error) {
	if s.line.Len() == 0 {
		switch s.done {
		case s.n / 10:
			s.early = inUse()
		case s.n:
			s.late = inUse()
			return 0, io.EOF
		}
		s.done++
		y := s.rng.IntN(2)
		fmt.Fprintf(&s.line, "%d 1:%.4f 3:%.4f\n", y, s.rng.NormFloat64()+float64(y), s.rng.NormFloat64())
	}
	return s.line.Read(p)
}

func inUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// weights runs a command that trains and returns the model that it prints.
func weights(t *testing.T, in io.Reader, args ...string) []float64 {
	t.Helper()
	var out bytes.Buffer
	root := cli.NewRoot(&cli.App{In: in, Out: &out, Err: io.Discard}, commandGroups)
	root.SetArgs(append([]string{"train", "pairwise", "--method", "online", "--task", "logistic",
		"--step-size", "0.1", "--insecure-seed", "1"}, args...))
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	var m struct {
		Simulated []float64 `json:"simulated_model"`
	}
	if err := json.Unmarshal(out.Bytes(), &m); err != nil {
		t.Fatal(err)
	}
	return m.Simulated
}

// Memory does not grow with the stream: 90,000 records of 3 features would be 2.9 MB.
func TestStreamKeepsOneRecord(t *testing.T) {
	s := &recordStream{rng: rand.New(rand.NewPCG(1, 2)), n: 100_000}
	w := weights(t, s, "--private", "-", "--dim", "3")
	if s.late > s.early+256<<10 {
		t.Errorf("%d bytes more in use after %d records", s.late-s.early, s.n)
	}
	if len(w) != 3 || !(w[0] > 0.3) || w[1] != 0 {
		t.Errorf("model %v", w)
	}
}

// A stream gives the model that the same records give as a file, by another way through the
// library, in every format, schedule and average.
func TestStreamIsTheFile(t *testing.T) {
	dir := t.TempDir()
	var svm, csv strings.Builder
	csv.WriteString("a,y,b\n")
	rng := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		y, a, b := rng.IntN(2), rng.NormFloat64(), rng.NormFloat64()
		a += float64(y)
		fmt.Fprintf(&svm, "%d 1:%v 2:%v\n", y, a, b)
		fmt.Fprintf(&csv, "%v,%d,%v\n", a, y, b)
	}
	for name, text := range map[string]string{"a.svm": svm.String(), "a.csv": csv.String()} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		format := []string{"--dim", "2"}
		if name == "a.csv" {
			format = []string{"--data-format", "csv", "--response", "y"}
		}
		for _, more := range [][]string{nil, {"--ball", "0.5", "--radius", "1"},
			{"--decay", "root", "--average", "lagged"}, {"--clip", "0.1", "--average", "last"}} {
			more = append(more, format...)
			streamed := weights(t, strings.NewReader(text), append(more, "--private", "-")...)
			read := weights(t, nil, append(more, "--private", file)...)
			if fmt.Sprint(streamed) != fmt.Sprint(read) || len(read) != 2 || read[0] == 0 {
				t.Errorf("%s %v: %v from the stream, %v from the file", name, more, streamed, read)
			}
		}
	}
}
