package accountant

import (
	"testing"

	"github.com/darrm/darrm/internal/testing/mutant"
)

// Planted mutants, each with the test that must fail for it. Every day their places are looked for;
// if long they are planted.
func TestMutantsDie(t *testing.T) {
	mutant.AllDie(t, []mutant.Mutant{
		{Name: "orders that one mechanism lacks have the others' divergence", File: "bestof.go",
			Old: "worst[a] = math.Inf(1)", New: "worst[a] = max(worst[a], 0)",
			Killer: "TestOneOfHasTheOrdersOfAll"},
		{Name: "what a part of a mixture has below its grid is dropped", File: "profile.go",
			Old: "out.addAt(out.first+first, up*lowest.massUpTo(a.moved, +1))", New: "", Killer: "TestMixtureOfOnePart"},
		{Name: "infinite losses of a sum are not rounded up", File: "pld_sum.go",
			Old: "-math.Expm1(log)*(1+1e-13)", New: "-math.Expm1(log)",
			Killer: "TestInfiniteLossesOfASumAreOutward"},
		{Name: "the upper part of a step of Laplace's losses is shared", File: "loss.go",
			Old: "if a > x || b < x+step {", New: "if a > x {",
			Killer: "TestEndsOfLaplaceLossesAreAtTheUpperPoint"},
		{Name: "the lower part of a step of Laplace's losses is shared", File: "loss.go",
			Old: "if a > x || b < x+step {", New: "if b < x+step {",
			Killer: "TestEndsOfLaplaceLossesAreAtTheUpperPoint"},
		{Name: "the divergence of atoms has no rounding error", File: "loss.go",
			Old: "sum+1e-12*size+float64(len(l.atoms))*0x1p-51", New: "sum",
			Killer: "TestDivergenceOfAtomsIsOutward"},
		{Name: "masses of atoms are taken to be exactly 1", File: "loss.go",
			Old: "+float64(len(l.atoms))*0x1p-51", New: "", Killer: "TestDivergenceOfAtomsIsOutward"},
		{Name: "large losses of atoms have no divergence near order 1", File: "loss.go",
			Old: "top := (alpha - 1)", New: "top := alpha", Killer: "TestDivergenceOfAtomsIsOutward"},
		{Name: "little noise costs nothing", File: "gaussian.go",
			Old:    `return 0, fmt.Errorf("epsilon is above %g: %w", maxPure, ErrUnsupported)`,
			New:    "_ = fmt.Errorf\n\t\treturn 0, nil",
			Killer: "TestGaussianRefuses"},
		{Name: "a sum of epsilons that is no float64 is composed", File: "optimal_mixed.go",
			Old:    "num.FromRat(o.sum).DecimalUp()}); err != nil {",
			New:    "num.FromRat(o.sum).DecimalUp()}); false && err != nil {",
			Killer: "TestInfiniteSumsAreRefused"},
		{Name: "any η of a law of the number of runs is taken", File: "stopping.go",
			Old: "err != nil || !(eta > -1", New: "err != nil && !(eta > -1",
			Killer: "TestStoppingRefusals"},
		{Name: "a law has fewer runs than were asked for", File: "stopping.go",
			Old: "high <= leastGamma*1.001", New: "false", Killer: "TestStoppingRefusals"},
		{Name: "rho of a target is rounded up", File: "convert.go",
			Old: "return r * r * (1 - num.Margin), nil", New: "return r * r * (1 + num.Margin), nil",
			Killer: "TestZCDPForIsRoundedDown"},
		{Name: "delta of a mixture is for the float64 and not for its decimal", File: "optimal_mixed.go",
			Old: "epsilon = math.Nextafter(epsilon, 0)", New: "epsilon = math.Nextafter(epsilon, 1000)",
			Killer: "TestMixtureAtItsLargestLoss"},
		{Name: "a price is remembered for every delta", File: "methods.go", Old: "lossQuestion{delta: delta, bits: bits}",
			New: "lossQuestion{bits: bits}", Killer: "TestRememberedPricesAreTheirOwn"},
		{Name: "a price is remembered by its first events alone", File: "methods.go",
			Old: "copy(q.charges[:], charges) < len(charges)", New: "copy(q.charges[:], charges) < 0",
			Killer: "TestRememberedPricesAreTheirOwn"},
	})
}
