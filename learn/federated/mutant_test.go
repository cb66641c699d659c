package federated

import (
	"testing"

	"github.com/darrm/darrm/internal/testing/mutant"
)

// Planted mutants, each with the test that must fail for it. Every day their places are looked for;
// if long they are planted.
func TestMutantsDie(t *testing.T) {
	mutant.AllDie(t, []mutant.Mutant{
		{Name: "a silo's coins do not know the previous model", File: "silo.go",
			Old: `digest("broadcast", b.Round, b.Model, b.Previous)`,
			New: `digest("broadcast", b.Round, b.Model)`, Killer: "TestCoinsKnowThePreviousModel"},
		{Name: "local phases are priced by losses", File: "psgm.go",
			Old: "if local == nil && account.byLosses() {", New: "if account.byLosses() {",
			Killer: "TestWhatIsCharged|TestLocalPhaseIsPaidFor"},
		{Name: "batches are priced by losses", File: "account.go",
			Old: "count > 0 && round.Rate < 1", New: "count > 0 && round.Rate > 1",
			Killer: "TestWhatIsCharged"},
		{Name: "the silo that takes the least of its records sets the rate", File: "plan.go",
			Old: "rate = max(rate, float64(p.batch", New: "rate = min(1-rate, float64(p.batch",
			Killer: "TestBatchOfEachSilo"},
		{Name: "the theory's step leaves the noise out", File: "psgm.go",
			Old: "take(math.Sqrt(p.beta)*float64(p.n)", New: "take(1e9*math.Sqrt(p.beta)*float64(p.n)",
			Killer: "TestTheoryStep"},
		{Name: "a local phase that cannot be priced is free", File: "psgm.go",
			Old: "if local, err = p.localEvent(); err != nil {\n\t\t\treturn err",
			New: "if local, err = p.localEvent(); err != nil {\n\t\t\treturn nil", Killer: "TestRefusedParameters"},
		{Name: "a block may have any length", File: "server.go", Old: "len(messages)%size != 0 || n > BlockSize {",
			New: "len(messages)%size != 0 && n > BlockSize {", Killer: "TestBlockSum"},
		{Name: "a mean that was stopped is one", File: "run.go",
			Old: "return nil\n\t})\n\tif err != nil {\n\t\treturn err",
			New: "return nil\n\t})\n\tif err != nil {\n\t\treturn nil", Killer: "TestStoppedMean"},
		{Name: "each block sums the first block's vectors", File: "run.go",
			Old: "do(worker, start+from, start+to, sum)", New: "do(worker, from, to, sum)",
			Killer: "TestBlockSumsTakeEachVectorOnce"},
	})
}
