package solve

import "math"

// Progress describes a running solve.
type Progress struct {
	Round     int     // linear programs solved
	Rows      int     // rows in the last one
	Violation float64 // by how much the worst constraint was broken, scaled; 0 at the end
	Error     float64 // error of the relaxation: a lower bound
	Share     float64 // an estimate of the part that is done, in [0,1]; it never falls
	Work      int64   // multiplications so far, of Options.Work
}

// A loop ends about when its bound no longer moves. The logarithm of what the bound moved in the last
// recentRounds rounds says how far that is; as it may rest for some rounds long before, the share of
// the first rounds stays below rounds / (rounds + usualRounds).
const (
	recentRounds = 16
	usualRounds  = 48
)

// estimate follows a bound, in units of the error of coins.
type estimate struct {
	near   float64   // where it ends
	bounds []float64 // the last ones
	share  float64
}

// next takes up the bound of a round and returns the share.
func (e *estimate) next(round int, bound float64) float64 {
	if e.bounds = append(e.bounds, bound); len(e.bounds) > recentRounds {
		moved := max(e.near, bound-e.bounds[0])
		e.bounds = e.bounds[1:]
		share := min(math.Log(moved)/math.Log(e.near), float64(round)/float64(round+usualRounds))
		e.share = max(e.share, share)
	}
	return e.share
}

// report tells how far the program is: nearer to the end of its gap, or to that of its work.
func (pr *program) report(violation float64) {
	if pr.o.Progress != nil {
		pr.far.near = pr.near
		share := max(pr.far.next(pr.round, pr.lastError/pr.worth),
			min(1, float64(pr.work)/float64(pr.o.Work)))
		pr.o.Progress(Progress{Round: pr.round, Rows: pr.order + len(pr.rows), Violation: violation,
			Error: pr.lastError, Share: share, Work: pr.work})
	}
}
