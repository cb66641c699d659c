package noisymax

import (
	"testing"

	"github.com/darrm/darrm/internal/testing/mutant"
)

// Planted mutants, one for each inequality of the proof, each with the test that must fail for it. Every
// day their places are looked for; if long they are planted.
func TestMutantsDie(t *testing.T) {
	const squares, all, regions = "TestSquaresHoldTheirPairs", "TestNotBelowAllHistograms", "TestRegionsHoldTheirHistograms"
	const documents = "TestAlteredDocumentsAreRefused"
	mutant.AllDie(t, []mutant.Mutant{
		{Name: "the ratio of the dear corner", File: "cells.go",
			Old: "from, fromNext := l.outcomes(a0, b1, kind), l.outcomes(a0-1, b1+1, kind)",
			New: "from, fromNext := l.outcomes(a1, b0, kind), l.outcomes(a1-1, b0+1, kind)", Killer: squares},
		{Name: "the probability of the low corner", File: "cells.go",
			Old: "p := [3]span{to[0], from[1], lowest}", New: "p := [3]span{from[0], from[1], lowest}",
			Killer: squares},
		{Name: "the rest's ratio of one term alone", File: "cells.go",
			Old: "span{min(first.low, second.low), max(first.up, second.up)}",
			New: "span{max(first.low, second.low), min(first.up, second.up)}", Killer: "TestFractionsAreMixtures"},
		{Name: "corners without slack", File: "cells.go", Old: "	c.Slack = (float64(w*max",
			New: "	c.Slack = 0 * (float64(w*max", Killer: squares},
		{Name: "corners within the square alone", File: "cells.go",
			Old: "for _, a := range [2]int{s.a - 1, s.a + s.width - 1} {",
			New: "for _, a := range [2]int{s.a + s.width - 1, s.a + s.width - 1} {", Killer: squares},
		{Name: "ties go to the first", File: "law.go",
			Old: "l.p(y).mul(l.f(y + d - 1).add(l.f(y + d)).half())", New: "l.p(y).mul(l.f(y + d))",
			Killer: "TestFractionsAreMixtures|TestDrawnAsPriced"},
		{Name: "kind 1 without its fraction", File: "cells.go",
			Old: "l.wins(a-1, b-1).add(l.p(-a).mul(l.f(-b)).half()),", New: "l.wins(a-1, b-1),",
			Killer: "TestFractionsAreMixtures"},
		{Name: "one count of two moves", File: "noisymax.go", Old: "shift: 2 * p.Affected, lost: lost, from:",
			New: "shift: p.Affected, lost: lost, from:", Killer: all},
		{Name: "no even votes", File: "noisymax.go", Old: "from: 2*p.Affected - p.Teachers, to: p.Teachers}",
			New: "from: 2*p.Affected + 2 - p.Teachers, to: p.Teachers - 2}", Killer: all},
		{Name: "no plane", File: "noisymax.go",
			Old: "		f.Parts = append(f.Parts, l.plane(reach, least, p.Teachers)...)\n", New: "",
			Killer: "TestEveryRegionCounts"},
		{Name: "where the sign changes, the smaller end counts", File: "moments.go",
			Old: "return max(float64(c0*x.first), float64(c0*y.first)) +", New: "return min(float64(c0*x.first), float64(c0*y.first)) +",
			Killer: "TestLargestIsAboveEveryLawBetween"},
		{Name: "where the sign changes, the smaller slope counts", File: "moments.go",
			Old: "max(float64(c1*x.second), float64(c1*y.second))", New: "min(float64(c1*x.second), float64(c1*y.second))",
			Killer: "TestLargestIsAboveEveryLawBetween"},
		{Name: "the others seen from the fewest votes", File: "counts.go", Old: "lowShift: least, upShift: most}",
			New: "lowShift: most, upShift: least}", Killer: regions},
		{Name: "the others' votes are as even as may be", File: "counts.go",
			Old: "		low = []run{{r.most[1], full}}", New: "		low = []run{{0, full}}", Killer: regions},
		{Name: "the first class at its least lead", File: "counts.go",
			Old: "c.bounds(first, c.winner(to, 1), c.winner(from, 1), c.winner(to, 1))",
			New: "c.bounds(first, c.winner(from, 1), c.winner(from, 1), c.winner(to, 1))", Killer: regions},
		{Name: "the second class at its dear end", File: "counts.go",
			Old: "c.winner(-from, -1), c.winner(-from, -1), c.winner(-to, -1)",
			New: "c.winner(-from, -1), c.winner(-to, -1), c.winner(-from, -1)", Killer: regions},
		{Name: "the rest by parts without its last part", File: "counts.go", Old: "-float64(2*zero)-float64(2*next)",
			New: "-float64(2*zero)-next", Killer: regions + "|" + all},
		{Name: "a ratio at one law of the others", File: "counts.go",
			Old: "found = max(found, ratio-(worst+", New: "found = max(found, ratio-(0*worst+", Killer: regions},
		{Name: "a document keeps its promise whatever it costs", File: "table.go", Old: "if !(delta <= p.delta()) {",
			New: "if !(delta <= 2) {", Killer: documents},
		{Name: "a document is of any law", File: "table.go", Old: " || f.Noise != lawName {", New: " {", Killer: documents},
		{Name: "a stated price is believed", File: "table.go",
			Old: "s.Upper(\"certificate.delta\", c.stated.Certificate.Delta, t.Certificate().Delta)", New: "", Killer: documents},
		{Name: "a name without the noise", File: "table.go", Old: "p.Missing, p.Answers, p.Epsilon, p.Delta, lawName, c.sigma))",
			New: "p.Missing, p.Answers, p.Epsilon, p.Delta, lawName, 1.0))", Killer: "TestDocumentsComeBack"},
		{Name: "pairs of one order", File: "cells.go", Old: "for b := -reach; b <= reach; b += side {",
			New: "for b := 0; b <= reach; b += side {", Killer: "TestEveryRegionCounts"},
	})
}
