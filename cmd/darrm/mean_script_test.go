package main

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/darrm/darrm/internal/npy"
)

// vector FILE ROW…: write a .npy file. A row is numbers separated by commas; one row is a
// vector, several are a matrix.
func cmdVector(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: vector FILE ROW…")
	}
	var x []float64
	for _, row := range args[1:] {
		for cell := range strings.SplitSeq(row, ",") {
			v, err := strconv.ParseFloat(cell, 64)
			ts.Check(err)
			x = append(x, v)
		}
	}
	var b bytes.Buffer
	if rows := len(args) - 1; rows == 1 {
		ts.Check(npy.WriteVector(&b, x))
	} else {
		b.Write(npy.Head("'<f8'", int64(rows), int64(len(x)/rows)))
		for _, v := range x {
			ts.Check(binary.Write(&b, binary.LittleEndian, v))
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b.Bytes(), 0o666))
}

// near FILE ROW: the .npy file holds these numbers, up to 1e-9.
func cmdNear(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: near FILE ROW")
	}
	f, err := os.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	defer f.Close() // only read from
	m, err := npy.ReadMatrix(f)
	ts.Check(err)
	want := strings.Split(args[1], ",")
	if !m.Vector || len(want) != len(m.X) {
		ts.Fatalf("%d numbers, want %d", len(m.X), len(want))
	}
	for i, cell := range want {
		v, err := strconv.ParseFloat(cell, 64)
		ts.Check(err)
		if math.Abs(v-m.X[i]) > 1e-9 {
			ts.Fatalf("number %d is %g, want %g", i+1, m.X[i], v)
		}
	}
}
