package solve

import (
	"errors"
	"math"
)

// DefaultWork is how much a solve may take by default: about a minute of a core of 2024.
const DefaultWork = 200_000_000_000

// errWork ends a loop that has taken Options.Work.
var errWork = errors.New("cutting planes reached the limit of work")

// What a place costs in multiplications of a linear program: a search has some eight arithmetic steps
// there, on vectors that it has just made.
const workOfPlace = 12

// spend counts work. It is counted from sizes and from what the solver says, and never from time, so
// that a program ends at the same round on every machine and under every load.
func (pr *program) spend(n int64) {
	pr.work += min(max(0, n), math.MaxInt64-pr.work) // a solver may say anything
}

// spendSearch counts a search at so many numbers of teachers at (b,a), or at all of them for lows < 0:
// for each n4 of them and n3 ≤ t-n4 a family of K-n3-n4+1 places. Splits are not counted.
func (pr *program) spendSearch(lows int) {
	p := pr.system.Problem()
	k, t := int64(p.K)+1, int64(p.Affected)+1
	places := int64(lows) * t * (2*k - t) / 2
	if lows < 0 {
		places = t * t * (3*k - 2*t) / 6
	}
	pr.spend(workOfPlace * places)
}

// spendRow counts a row that is made: the laws of two sides, of K teachers each.
func (pr *program) spendRow() {
	k := int64(pr.system.Problem().K)
	pr.spend(k * k / 4)
}

// exhausted reports whether the program may do no more.
func (pr *program) exhausted() bool { return pr.work >= pr.o.Work }
