package convex

import (
	"testing"

	"github.com/darrm/darrm/internal/mutant"
)

// Planted mutants, each with the test that must fail for it. Every day their places are looked for;
// if long they are planted.
func TestMutantsDie(t *testing.T) {
	mutant.AllDie(t, []mutant.Mutant{
		{Name: "scores on far vertices may be too large", File: "frankwolfe.go",
			Old: "float64(s.Levels) * p.reach())", New: "float64(s.Levels))",
			Killer: "TestScoresOfFarVertices"},
		{Name: "a resumed run draws other vertices", File: "frankwolfe_run.go",
			Old: "\te.levels = nil\n\tfor t", New: "\tfor t", Killer: "TestFrankWolfeResumes"},
		{Name: "features are rounded up", File: "frankwolfe_run.go",
			Old: "int64(x/p.Radius*float64(most))", New: "int64(math.Round(x/p.Radius*float64(most)))",
			Killer: "TestRoundingMovesNothingFurther"},
		{Name: "scores have half the noise", File: "frankwolfe_run.go",
			Old:    "score := int64(high<<(64-digits) | low>>digits)",
			New:    "score := 2 * int64(high<<(64-digits)|low>>digits)",
			Killer: "TestFrankWolfeScoresAreWithinTheirSensitivity"},
		{Name: "sums of many records overflow", File: "frankwolfe.go",
			Old: "sumBits = 61", New: "sumBits = 63", Killer: "TestSumsFit"},
		{Name: "the dense product leaves out the last records", File: "selection.go",
			Old: "for i, b := range by {", New: "for i, b := range by[:0] {",
			Killer: "TestDenseSumsAreExact"},
		{Name: "one step less is accounted", File: "dpsgd.go",
			Old: "Neighbours: p.Neighbours}, Count: p.c.Steps,",
			New: "Neighbours: p.Neighbours}, Count: max(1, p.c.Steps-1),", Killer: "TestEveryStepIsPriced"},
		{Name: "the minimiser's tolerance counts in one world", File: "perturbation.go",
			Old: "float64(n) + 2*p.tolerance) / p.lambda", New: "float64(n) + p.tolerance) / p.lambda",
			Killer: "TestToleranceCountsInBothWorlds"},
		{Name: "the approximate minimiser's tolerance counts in one world", File: "perturbation.go",
			Old: "p.sensitivity = 2 * p.tolerance / p.lambda", New: "p.sensitivity = p.tolerance / p.lambda",
			Killer: "TestToleranceCountsInBothWorlds"},
		{Name: "the bound on the gap leaves the noise out", File: "bounds.go",
			Old: "b.records() + kappa*lengths*sigma*sigma", New: "b.records() + 1e-9*lengths*sigma",
			Killer: "TestGapBoundHolds"},
		{Name: "the bound on the risk leaves the rest of the population out", File: "bounds.go",
			Old: "value += 2 * p.norm * within", New: "value += 0 * p.norm * within",
			Killer: "TestFrankWolfeBoundStepByStep"},
		{Name: "noise in lp is for the norm of lq", File: "proximal.go",
			Old: "math.Pow(float64(p.d), 1/p.c.Norm-0.5)", New: "math.Pow(float64(p.d), 0)",
			Killer: "TestProximalSensitivityInLp"},
		{Name: "records in lp are shortened by their largest number", File: "proximal.go",
			Old: "p.takeIn(r, geometry.Dual(p.c.Norm))", New: "p.takeIn(r, 2*geometry.Dual(1))",
			Killer: "TestLongRecordsDoNoMore"},
		{Name: "steps go beyond the half-space", File: "mirror.go",
			Old: "-m.border(norm-m.radius)", New: "-1.5*m.border(norm-m.radius)",
			Killer: "TestMirrorStepsAreFejer"},
		{Name: "predictions beyond the interval keep their distance", File: "oracle.go",
			Old: "\tm = max(o.low, min(o.high, m))\n", New: "", Killer: "TestIntervalVectors"},
	})
}
