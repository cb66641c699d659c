package ensemble

import (
	"bytes"
	"context"
	"io"
	"testing"

	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/votes"
)

func BenchmarkRelease(b *testing.B) {
	m := anyGamma(b, 11, 1, 0.98, 1, 1, 0.54, 0.94)
	for i := 0; b.Loop(); i++ {
		if _, err := m.Release(i % 12); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSimulate(b *testing.B) {
	s := anyGamma(b, 11, 1, 0.98, 1, 1, 0.54, 0.94).Simulate(1)
	for i := 0; b.Loop(); i++ {
		if _, err := s.Draw(i % 12); err != nil {
			b.Fatal(err)
		}
	}
}

// A file of a million queries with the votes of 11 teachers: read, answered with
// the system's randomness, and written.
func BenchmarkMillionQueries(b *testing.B) {
	const k, queries = 11, 1_000_000
	var file bytes.Buffer
	coin := randsrc.NewSeeded(1)
	for range queries {
		for i := range k {
			one, err := coin.Bit()
			if err != nil {
				b.Fatal(err)
			}
			if i > 0 {
				file.WriteByte(',')
			}
			file.WriteString(votes.LabelOf(one).String())
		}
		file.WriteByte('\n')
	}
	m := anyGamma(b, k, 1, 0.98, 1, 1, 0.54, 0.94)
	b.SetBytes(int64(file.Len()))
	b.ReportAllocs()
	for b.Loop() {
		t, err := votes.ReadCSV(bytes.NewReader(file.Bytes()), votes.CSVOptions{K: k})
		if err != nil {
			b.Fatal(err)
		}
		labels, err := m.Aggregate(context.Background(), t)
		if err != nil {
			b.Fatal(err)
		}
		ids := make([]string, t.Len())
		for i := range ids {
			ids[i] = t.Query(i).ID
		}
		if err := votes.WriteLabels(io.Discard, ids, labels); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*queries/b.Elapsed().Seconds(), "queries/s")
	b.ReportMetric(float64(b.N)*queries*k/b.Elapsed().Seconds(), "votes/s")
}
