package mechanisms

import (
	"bytes"
	"context"
	"math"
	"testing"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/internal/testing/clitest"
)

// What solve and verify print fits the width, for few and many teachers, ties, every
// objective and a promise of many digits.
func TestTablesFitATerminal(t *testing.T) {
	counts, err := gamma.UniformCounts(11)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		p constraints.Problem
		o gamma.Objective
	}{
		"flagship": {constraints.Problem{K: 11, M: 3, Epsilon: 0.13577, TeacherDelta: 1e-4,
			Delta: 0.000299970001, Affected: 11}, gamma.Objective{PriorMean: 0.75}},
		"counts": {constraints.Problem{K: 11, M: 3, Epsilon: 0.1, TeacherDelta: 1e-5,
			Delta: 2.9999700001e-5, Affected: 11}, gamma.Objective{Counts: counts}},
		"worst case": {constraints.Problem{K: 10, M: 3, Epsilon: 0.123456789, TeacherDelta: 1e-5,
			Delta: 2.9999700001e-5, Affected: 10}, gamma.Objective{WorstCase: true}},
		"large": {constraints.Problem{K: 2000, M: 1.5, Epsilon: 0.1, TeacherDelta: 1e-5,
			Delta: 1e-5, Affected: 1}, gamma.Objective{PriorMean: 0.612345678}},
		"promising nothing": {constraints.Problem{K: 101, TotalEpsilon: 0.123456789, Epsilon: math.Inf(1),
			Affected: 1}, gamma.Objective{PriorMean: 0.85}},
	} {
		c.o.Shape = gamma.Free
		f, err := gamma.Constant(c.p.K, 1)
		if err != nil {
			t.Fatal(err)
		}
		certified, err := gamma.CertifyShrunk(context.Background(), c.p, f)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		table, err := gamma.NewTable(context.Background(), certified, c.o, gamma.Proof{})
		if err != nil {
			t.Fatal(err)
		}
		for _, width := range clitest.Widths {
			var b bytes.Buffer
			if err := renderTable(&terminal.Page{Writer: &b, Width: width}, table); err != nil {
				t.Fatal(err)
			}
			clitest.CheckWidth(t, name, b.String(), width)
		}
	}
}
