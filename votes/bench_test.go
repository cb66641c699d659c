package votes

import (
	"bytes"
	"context"
	"encoding/csv"
	"io"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// singleTeacherAccuracies is an independent reading of a wide file with the
// columns query, teachers…, label.
func singleTeacherAccuracies(t *testing.T, data []byte) []float64 {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	rows = rows[1:]
	out := make([]float64, len(rows[0])-2)
	for _, row := range rows {
		for i := range out {
			if row[i+1] == row[len(row)-1] {
				out[i] += 1 / float64(len(rows))
			}
		}
	}
	return out
}

const benchRows, benchTeachers = 1_000_000, 11

// benchFile generates a wide file in memory.
func benchFile(id, label bool) []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	if id {
		b.WriteString("query,")
	}
	for i := range benchTeachers {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("t" + strconv.Itoa(i+1))
	}
	if label {
		b.WriteString(",label")
	}
	b.WriteByte('\n')
	var row []byte
	for i := range benchRows {
		row = row[:0]
		if id {
			row = append(strconv.AppendInt(row, int64(i), 10), ',')
		}
		bits := rng.Uint32()
		for j := range benchTeachers {
			if j > 0 {
				row = append(row, ',')
			}
			row = append(row, '0'+byte(bits>>j&1))
		}
		if label {
			row = append(row, ',', '0'+byte(bits>>31))
		}
		b.Write(append(row, '\n'))
	}
	return b.Bytes()
}

func benchmarkRead(b *testing.B, id, label bool, read func(io.Reader) int) {
	data := benchFile(id, label)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	b.ResetTimer()
	for b.Loop() {
		if n := read(bytes.NewReader(data)); n != benchRows {
			b.Fatalf("%d rows", n)
		}
	}
	b.ReportMetric(float64(b.N)*benchRows*benchTeachers/b.Elapsed().Seconds(), "votes/s")
}

// Batches of 1,000,000 rows of 11 votes, in constant memory. slow is encoding/csv
// on one goroutine, the reference.
func BenchmarkNext(b *testing.B) {
	for _, c := range []struct {
		name      string
		id, label bool
		opts      Options
	}{
		{"votes", false, false, Options{}},
		{"votes/workers=1", false, false, Options{Workers: 1}},
		{"votes/three classes", false, false, Options{Classes: IntegerClasses(3)}},
		{"votes/slow", false, false, Options{slow: true}},
		{"id,votes,label", true, true, Options{}},
		{"id,votes,label/slow", true, true, Options{slow: true}},
	} {
		b.Run(c.name, func(b *testing.B) {
			benchmarkRead(b, c.id, c.label, func(in io.Reader) int {
				r, err := NewReader(context.Background(), in, c.opts)
				if err != nil {
					b.Fatal(err)
				}
				defer r.Close()
				n := 0
				for batch, err := range r.Batches() {
					if err != nil {
						b.Fatal(err)
					}
					n += batch.Len()
					batch.Release()
				}
				return n
			})
		})
	}
}

func BenchmarkReadCSV(b *testing.B) {
	for _, c := range []struct {
		name      string
		id, label bool
	}{{"votes", false, false}, {"id,votes,label", true, true}} {
		b.Run(c.name, func(b *testing.B) {
			benchmarkRead(b, c.id, c.label, func(r io.Reader) int {
				t, err := ReadCSV(r, CSVOptions{})
				if err != nil {
					b.Fatal(err)
				}
				return t.Len()
			})
		})
	}
}

// 100,000 queries of 11 votes in every format, from memory; from files, whole
// programs and beside numpy: bench/votes.
func BenchmarkFormats(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	d := &data{classes: IntegerClasses(2)}
	for range 100_000 {
		row := make([]int, benchTeachers)
		for t := range row {
			row[t] = rng.IntN(2)
		}
		d.votes = append(d.votes, row)
	}
	for _, v := range []variant{
		{name: "csv", data: d.writeCSV(',', false)},
		{name: "csv.gz", data: gzipped(d.writeCSV(',', false)),
			opts: Options{Compression: CompressionGzip}},
		{name: "csv.zst", data: zstded(d.writeCSV(',', false)),
			opts: Options{Compression: CompressionZstd}},
		{name: "jsonl list", data: d.writeJSON(true, true), opts: Options{Format: FormatJSONL}},
		{name: "jsonl keys", data: d.writeJSON(false, true), opts: Options{Format: FormatJSONL}},
		{name: "npy u1", data: d.npy("|u1", false, false), opts: npyOf(LayoutWide)},
		{name: "npy i8", data: d.npy("<i8", false, false), opts: npyOf(LayoutWide)},
		{name: "npy f8", data: d.npy("<f8", false, false), opts: npyOf(LayoutWide)},
		{name: "npy teachers", data: d.npy("|u1", true, false), opts: npyOf(LayoutTeachers)},
		{name: "parquet", data: d.writeParquet(parquetOptions{version: 1, codec: &parquet.Snappy,
			kind: "dictint", optional: true, pageSize: 1 << 20, group: 1 << 20}), opts: pq(Options{})},
		{name: "parquet text", data: d.writeParquet(parquetOptions{version: 2, codec: &parquet.Zstd,
			kind: "text", pageSize: 1 << 20, group: 1 << 20}), opts: pq(Options{})},
	} {
		b.Run(v.name, func(b *testing.B) {
			b.SetBytes(int64(len(v.data)))
			for b.Loop() {
				r, err := NewReader(context.Background(), bytes.NewReader(v.data), v.opts)
				if err != nil {
					b.Fatal(err)
				}
				n := 0
				for batch, err := range r.Batches() {
					if err != nil {
						b.Fatal(err)
					}
					n += batch.Len()
					batch.Release()
				}
				r.Close()
				if n != len(d.votes) {
					b.Fatal(n)
				}
			}
			b.ReportMetric(float64(b.N)*float64(len(d.votes))/b.Elapsed().Seconds(), "queries/s")
		})
	}
}

// Labels written in every format.
func BenchmarkLabels(b *testing.B) {
	for _, f := range []Format{FormatCSV, FormatJSONL, FormatNPY, FormatParquet} {
		b.Run(f.String(), func(b *testing.B) {
			batch := &Batch{places: make([]int, 10_000)}
			answers := make([]int, batch.Len())
			n := 0
			for b.Loop() {
				w, err := CreateLabels("-", LabelOptions{Format: f, Stdout: io.Discard})
				if err != nil {
					b.Fatal(err)
				}
				for range 10 {
					w.WriteBatch(batch, answers)
					batch.First += int64(batch.Len())
				}
				if err := w.Commit(); err != nil {
					b.Fatal(err)
				}
				n += 10 * batch.Len()
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "labels/s")
		})
	}
}
