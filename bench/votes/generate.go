package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/parquet-go/parquet-go"
)

const teachers = 11

// kinds are the files that generate writes.
var kinds = []string{"csv", "csv.gz", "jsonl", "u1.npy", "i8.npy", "teachers.npy", "parquet"}

// vote returns teacher t's answer to query i: the same for every file. Teachers
// agree with a query's truth three times out of four.
func vote(i, t int) byte {
	x := uint64(i)*0x9e3779b97f4a7c15 + 1
	x ^= x >> 29
	truth := byte(x >> 7 & 1)
	y := (x + uint64(t)) * 0xbf58476d1ce4e5b9
	y ^= y >> 32
	if y&3 == 0 {
		return 1 - truth
	}
	return truth
}

// generate writes n queries in every kind, row by row, in little memory.
func generate(dir string, n int) error {
	write := func(kind string, fill func(w *bufio.Writer) error) error {
		f, err := os.Create(filepath.Join(dir, "votes."+kind))
		if err != nil {
			return err
		}
		w := bufio.NewWriterSize(f, 1<<20)
		return errors.Join(fill(w), w.Flush(), f.Close())
	}
	csv := func(w io.Writer) error {
		line := []byte(strings.Repeat("0,", teachers-1) + "0\n")
		for i := range n {
			for t := range teachers {
				line[2*t] = '0' + vote(i, t)
			}
			if _, err := w.Write(line); err != nil {
				return err
			}
		}
		return nil
	}
	array := func(descr string, size int, byTeacher bool) func(w *bufio.Writer) error {
		return func(w *bufio.Writer) error {
			rows, cols := n, teachers
			if byTeacher {
				rows, cols = cols, rows
			}
			head := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d), }", descr, rows,
				cols)
			head += strings.Repeat(" ", 63-(10+len(head))%64) + "\n"
			w.WriteString("\x93NUMPY\x01\x00")
			binary.Write(w, binary.LittleEndian, uint16(len(head)))
			w.WriteString(head)
			cell := make([]byte, size)
			for r := range rows {
				for c := range cols {
					i, t := r, c
					if byTeacher {
						i, t = c, r
					}
					cell[0] = vote(i, t)
					if _, err := w.Write(cell); err != nil {
						return err
					}
				}
			}
			return nil
		}
	}
	return errors.Join(
		write("csv", func(w *bufio.Writer) error { return csv(w) }),
		write("csv.gz", func(w *bufio.Writer) error {
			z := gzip.NewWriter(w)
			return errors.Join(csv(z), z.Close())
		}),
		write("jsonl", func(w *bufio.Writer) error {
			for i := range n {
				w.WriteString(`{"votes":[`)
				for t := range teachers {
					if t > 0 {
						w.WriteByte(',')
					}
					w.WriteByte('0' + vote(i, t))
				}
				if _, err := w.WriteString("]}\n"); err != nil {
					return err
				}
			}
			return nil
		}),
		write("u1.npy", array("|u1", 1, false)),
		write("i8.npy", array("<i8", 8, false)),
		write("teachers.npy", array("|u1", 1, true)),
		write("parquet", func(w *bufio.Writer) error { return writeParquet(w, n) }),
	)
}

// writeParquet writes a column of 64-bit integers for each teacher, in row groups
// of a million rows and compressed with snappy, as pandas does by default.
func writeParquet(w io.Writer, n int) error {
	group := parquet.Group{}
	for t := range teachers {
		group[fmt.Sprintf("t%02d", t)] = parquet.Encoded(parquet.Int(64), &parquet.RLEDictionary)
	}
	p := parquet.NewGenericWriter[any](w, parquet.NewSchema("votes", group),
		parquet.Compression(&parquet.Snappy),
		parquet.MaxRowsPerRowGroup(1<<20), parquet.DataPageVersion(1), parquet.PageBufferSize(1<<20))
	rows := make([]parquet.Row, 0, 1024)
	for i := range n {
		row := make(parquet.Row, teachers)
		for t := range row {
			row[t] = parquet.Int64Value(int64(vote(i, t))).Level(0, 0, t)
		}
		if rows = append(rows, row); len(rows) == cap(rows) || i == n-1 {
			if _, err := p.WriteRows(rows); err != nil {
				return err
			}
			rows = rows[:0]
		}
	}
	return p.Close()
}
