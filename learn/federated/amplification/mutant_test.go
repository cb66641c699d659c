package amplification

import (
	"testing"

	"github.com/darrm/darrm/internal/testing/mutant"
)

// Planted mutants, each with the test that must fail for it. Every day their places are looked for;
// if long they are planted.
func TestMutantsDie(t *testing.T) {
	mutant.AllDie(t, []mutant.Mutant{
		{Name: "batches have losses", File: "round.go", Old: "if m := r.mode(); m != Exact {",
			New: "if m := r.mode(); false {", Killer: "TestLossesOfStreams"},
		{Name: "two streams cost as one", File: "round.go",
			Old: "accountant.Charge{Event: one, Count: streams}",
			New: "accountant.Charge{Event: one, Count: 1}", Killer: "TestLossesOfStreams"},
		{Name: "δ of a larger ε", File: "round.go",
			Old:    "r.Epsilon, tinyLoss, epsilons)",
			New:    "r.Epsilon, tinyLoss, append(append([]float64{}, epsilons[1:]...), r.Epsilon))",
			Killer: "TestLossesCompose|TestLossesAreOfTheTheorem"},
		{Name: "the points next to the threshold are left out", File: "exact.go",
			Old:    "a, b := (2+e)*means[i], e*masses[i]",
			New:    "i = min(i+1, m)\n\ta, b := (2+e)*means[i], e*masses[i]",
			Killer: "TestLossesAreOfTheTheorem|TestExactIsABound"},
		{Name: "more reports hide than there are", File: "blanket.go", Old: "cover * (1 - num.Margin)",
			New: "cover * (1 + num.Margin)", Killer: "TestBlanketIsRoundedToItsDearerSide"},
		{Name: "a bit tells less than it does", File: "blanket.go", Old: "kappa*(1+num.Margin)",
			New: "kappa*(1-num.Margin)", Killer: "TestBlanketIsRoundedToItsDearerSide"},
	})
}
