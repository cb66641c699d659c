package main

import (
	"testing"

	"github.com/darrm/darrm/internal/testing/mutant"
)

// Planted mutants, each with the test that must fail for it. Every day their places are looked for;
// if long they are planted.
func TestMutantsDie(t *testing.T) {
	mutant.AllDie(t, []mutant.Mutant{
		{Name: "a time limit does not stop the check of a table",
			File: "internal/problem/problem.go",
			Old:  "bar.Work(ctx, \"checking the table\", 1)", New: "bar.Work(context.WithoutCancel(ctx), \"checking the table\", 1)",
			Killer: "TestScripts)/(verify"},
		{Name: "heads that were kept elsewhere are not looked for", File: "internal/label/budget.go",
			Old: "l.Verify(c.Context(), heads...)", New: "l.Verify(c.Context())",
			Killer: "TestScripts)/(budget"},
		{Name: "records that are shared are trained on", File: "internal/training/shuffledflags.go",
			Old: "o.SharedRecords = f.Set.Task, f.Set.Start, f.bound, f.shared",
			New: "o.SharedRecords = f.Set.Task, f.Set.Start, f.bound, true", Killer: "TestScripts)/(train"},
	})
}
