package main

import (
	"testing"

	"github.com/darrm/darrm/internal/mutant"
)

// Planted mutants, each with the test that must fail for it. Every day their places are looked for;
// if long they are planted.
func TestMutantsDie(t *testing.T) {
	mutant.AllDie(t, []mutant.Mutant{
		{Name: "an interrupt does not stop the check of a table", File: "cmd_verify.go",
			Old: "release.ReadTable(ctx, r)", New: "release.ReadTable(context.Background(), r)",
			Killer: "TestCheckEndsWithItsContext"},
		{Name: "a time limit does not stop the check of a table", File: "cmd_verify.go",
			Old: "a.checkTable(ctx, path)", New: "a.checkTable(context.WithoutCancel(ctx), path)",
			Killer: "TestScripts)/(verify"},
		{Name: "heads that were kept elsewhere are not looked for", File: "cmd_budget.go",
			Old: "l.Verify(c.Context(), heads...)", New: "l.Verify(c.Context())",
			Killer: "TestScripts)/(budget"},
		{Name: "records that are shared are trained on", File: "shuffledflags.go",
			Old: "o.SharedRecords = f.set.Task, f.set.Start, f.bound, f.shared",
			New: "o.SharedRecords = f.set.Task, f.set.Start, f.bound, true", Killer: "TestScripts)/(train"},
	})
}
