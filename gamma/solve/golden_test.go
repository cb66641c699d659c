package solve

import (
	"bytes"
	"context"
	"flag"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
)

var update = flag.Bool("update", false, "solve the tables of ../testdata anew and write them")

// golden lists the tables in ../testdata, which package gamma's tests use so as
// to need no solver, and which hold this version to the tables of the last one. δ is
// written out: a default may change, a stored table does not.
var golden = []struct {
	file  string
	p     constraints.Problem
	shape gamma.Shape
}{
	{"k11-m1-free", constraints.Problem{K: 11, M: 1, Epsilon: 0.1, TeacherDelta: 1e-5, Delta: 1e-5,
		Affected: 11}, gamma.Free},
	{"k11-m3-free", constraints.Problem{K: 11, M: 3, Epsilon: 0.1, TeacherDelta: 1e-5,
		Delta: 2.99997e-5, Affected: 11}, gamma.Free},
	{"k11-m3-monotone", constraints.Problem{K: 11, M: 3, Epsilon: 0.1, TeacherDelta: 1e-5,
		Delta: 2.99997e-5, Affected: 11}, gamma.Monotone},
	{"k7-m1-any", constraints.Problem{K: 7, M: 1, Epsilon: 1, TeacherDelta: 1e-5, Delta: 1e-5,
		Affected: 7}, gamma.Any},
	{"k11-m3-pure", constraints.Problem{K: 11, M: 3, Epsilon: 0.1, Affected: 11}, gamma.Free},
	{"k7-m2-free", constraints.Problem{K: 7, M: 2, Epsilon: 0.1, TeacherDelta: 1e-5, Delta: 1.99999e-5,
		Affected: 7}, gamma.Free},
	{"k7-m2-monotone", constraints.Problem{K: 7, M: 2, Epsilon: 0.1, TeacherDelta: 1e-5,
		Delta: 1.99999e-5, Affected: 7}, gamma.Monotone},
	{"k7-m2-large-delta", constraints.Problem{K: 7, M: 2, Epsilon: 0.1, TeacherDelta: 1e-5,
		Delta: 1e-3, Affected: 7}, gamma.Free},
	{"k7-m2-affected1", constraints.Problem{K: 7, M: 2, Epsilon: 0.1, TeacherDelta: 1e-5,
		Delta: 1.99999e-5, Affected: 1}, gamma.Free},
	{"k8-m2-affected3", constraints.Problem{K: 8, M: 2, Epsilon: 0.3, TeacherDelta: 1e-2,
		Delta: 0.0199, Affected: 3}, gamma.Free},
	{"k8-m2-free", constraints.Problem{K: 8, M: 2, Epsilon: 1, TeacherDelta: 1e-5, Delta: 1.99999e-5,
		Affected: 8}, gamma.Free},
	{"k41-m5-free", constraints.Problem{K: 41, M: 5, Epsilon: 0.1, TeacherDelta: 1e-5,
		Delta: 4.9999e-5, Affected: 41}, gamma.Free},
	{"k101-m5-free", constraints.Problem{K: 101, M: 5, Epsilon: 0.1, TeacherDelta: 1e-5,
		Delta: 4.9999e-5, Affected: 101}, gamma.Free},
	{"k101-m5-monotone", constraints.Problem{K: 101, M: 5, Epsilon: 0.1, TeacherDelta: 1e-5,
		Delta: 4.9999e-5, Affected: 101}, gamma.Monotone},
}

// The stored tables are still certified, still say the truth about themselves,
// and are still optimal.
func TestGoldenTables(t *testing.T) {
	for _, c := range golden {
		path := filepath.Join("..", "testdata", c.file+".json")
		if *update {
			table := optimal(t, c.p, Options{Shape: c.shape, SolverName: "any", Version: "testdata"})
			var b bytes.Buffer
			if err := table.Encode(&b); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		claim, err := gamma.ReadClaim(bytes.NewReader(data))
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if claim.Problem != c.p || claim.Objective.Shape != c.shape {
			t.Errorf("%s is about %+v %+v, want %+v %s", path, claim.Problem, claim.Objective, c.p, c.shape)
		}
		table, err := claim.Verify(context.Background())
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if table.Gap > 1e-9 {
			t.Errorf("%s: gap %g", path, table.Gap)
		}
		if c.p.K > 41 && !long() {
			continue // seconds with the race detector
		}
		now := optimal(t, c.p, Options{Shape: c.shape})
		if math.Abs(now.ExpectedError-table.ExpectedError) > 1e-9 {
			t.Errorf("%s: error %.12f, solved anew %.12f", path, table.ExpectedError, now.ExpectedError)
		}
	}
}
