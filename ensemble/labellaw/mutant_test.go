package labellaw

import (
	"testing"

	"github.com/darrm/darrm/internal/testing/mutant"
)

// Planted mutants, each with the test that must fail for it. Every day their places are looked for;
// if long they are planted.
func TestMutantsDie(t *testing.T) {
	mutant.AllDie(t, []mutant.Mutant{
		{Name: "a tie counts for each of its classes in full", File: "fit.go",
			Old: "q.weight * agrees / float64(tied)", New: "q.weight * agrees / float64(min(1, tied))",
			Killer: "TestAgainstBruteForce"},
		{Name: "weights of the prior are taken as they are", File: "fit.go",
			Old: "all[i].weight /= total", New: "all[i].weight /= 1", Killer: "TestWeightsAndShares"},
		{Name: "abstentions count in the layer", File: "fit.go",
			Old: "q.named*expected/weights", New: "expected/weights", Killer: "TestAgainstBruteForce"},
		{Name: "labels without noise have a layer", File: "fit.go",
			Old: "if noise < rounding {", New: "if noise < 0 {", Killer: "TestNoNoise"},
		{Name: "abstentions are wrong labels", File: "channel.go",
			Old: "max(0, 1-c.Agrees-c.Abstains)", New: "max(0, 1-c.Agrees)",
			Killer: "TestChannelProperties"},
		{Name: "classes behind a label are equally frequent", File: "channel.go",
			Old:    "shares[class] * t[class][y] / q[y]",
			New:    "t[class][y] / q[y] / float64(len(shares))",
			Killer: "TestFigures"},
		{Name: "a label of many classes is worth its χ²", File: "channel.go",
			Old:    "c.ChiSquare(shares) / float64(c.Classes-1)",
			New:    "c.ChiSquare(shares) / float64(min(1, c.Classes))",
			Killer: "TestFigures"},
		{Name: "the limit is that of one vote a record", File: "law.go",
			Old: "(2*float64(affected)*sigma)", New: "(2*float64(min(1, affected))*sigma)",
			Killer: "TestLimit"},
		{Name: "the limit is of unequal weights", File: "law.go",
			Old: "lead/total/", New: "lead/min(1, total)/", Killer: "TestMu"},
		{Name: "a document states what it likes", File: "document.go",
			Old: "if !near(x.stated, x.found) {", New: "if false {", Killer: "TestDocument"},
		{Name: "a class that is told apart has the law of ties in full", File: "fit.go",
			Old: "weight := q.weight / float64(tied)", New: "weight := q.weight / float64(min(1, tied))", Killer: "TestToldApart"},
		{Name: "a layer of classes that are told apart has no offsets", File: "layer.go",
			Old: "slope[c] += float64(q.weight * (q.law[c] - softmax[c]))", New: "slope[c] += float64(0 * (q.law[c] - softmax[c]))",
			Killer: "TestToldApart"},
		{Name: "a document of classes that are told apart agrees as it likes", File: "law.go",
			Old: "!(math.Abs(l.Agrees-l.diagonal(l.Shares)) <= rounding)", New: "!(l.Agrees >= 0)", Killer: "TestToldApart"},
		{Name: "one share of a class too many", File: "channel.go",
			Old: "if math.Abs(sum-1) > rounding {", New: "if false {", Killer: "TestWeightsAndShares"},
	})
}
