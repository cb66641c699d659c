package experiment

import (
	"bytes"
	"encoding/csv"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Golden values of the numbers: every CSV file of every experiment. The quick forms run
// always; the full ones with DARRM_LONG=1, those that need images only where DARRM_DATA
// names the folder that scripts/fetch-mnist filled.
func TestGolden(t *testing.T) {
	numbers(t)
	for _, d := range List() {
		quick := d.Quick()
		if d.NeedsData() != "" && (os.Getenv("DARRM_DATA") == "" || !long()) {
			continue
		}
		t.Run(d.Name, func(t *testing.T) {
			if quick {
				golden(t, d, true)
			}
			if !quick || long() {
				golden(t, d, false)
			}
		})
	}
}

func golden(t *testing.T, d Definition, quick bool) {
	t.Helper()
	out := mustRun(t, d, t.TempDir(), Options{Quick: quick, Data: realData(t, d)})
	p := d.full
	if quick {
		p = d.quick
	}
	if len(out.Record.Steps) != p.steps() {
		t.Errorf("took %d steps, announced %d", len(out.Record.Steps), p.steps())
	}
	for _, c := range out.Result.Failed() {
		t.Errorf("claim fails: %s (%s)", c.Text, c.Evidence)
	}
	for _, table := range out.Result.Tables {
		file := filepath.Join("testdata", "golden", filepath.Base(out.Dir), table.Name+".csv")
		got, err := os.ReadFile(filepath.Join(out.Dir, table.Name+".csv"))
		if err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, got, 0o666); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		compareCSV(t, file, got, want)
	}
}

// compareCSV wants the same text and the same numbers, up to what processors and solvers
// may differ in: 1e-7 of the value, or 1e-9.
func compareCSV(t *testing.T, file string, got, want []byte) {
	t.Helper()
	a, err := csv.NewReader(bytes.NewReader(got)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	b, err := csv.NewReader(bytes.NewReader(want)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(a) != len(b) {
		t.Errorf("%s: %d lines, want %d", file, len(a), len(b))
		return
	}
	for i := range a {
		for j := range a[i] {
			if j >= len(b[i]) {
				t.Errorf("%s:%d: %d cells, want %d", file, i+1, len(a[i]), len(b[i]))
				return
			}
			x, errX := strconv.ParseFloat(a[i][j], 64)
			y, errY := strconv.ParseFloat(b[i][j], 64)
			if errX == nil && errY == nil {
				if math.Abs(x-y) > 1e-9+1e-7*math.Abs(y) {
					t.Errorf("%s:%d: %s = %v, want %v", file, i+1, a[0][j], x, y)
				}
			} else if a[i][j] != b[i][j] {
				t.Errorf("%s:%d: %s = %q, want %q", file, i+1, a[0][j], a[i][j], b[i][j])
			}
		}
	}
}

func TestCompareCSVSeesChanges(t *testing.T) {
	want := []byte("a,b\n1,x\n0.5,y\n")
	for _, mutant := range []string{"a,b\n1,x\n", "a,b\n1,x\n0.5000002,y\n", "a,b\n1,z\n0.5,y\n", "a,c\n1,x\n0.5,y\n"} {
		inner := &testing.T{}
		compareCSV(inner, "x", []byte(mutant), want)
		if !inner.Failed() {
			t.Errorf("%q passes for %q", mutant, want)
		}
	}
}
