package sketch

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/darrm/darrm/experiment"
)

// leastDrawn is the height at which smaller errors are drawn. The errors for identical vectors are
// so small that on their scale no others could be told apart.
const leastDrawn = 1e-3

func (p *bitsParameters) report(r *experiment.Run, rows []bitsRow, contests []contest) error {
	f := &experiment.Found{Lines: methodLines(contenders)}
	panels := map[string][]int{} // places by title
	var order []string
	for i, row := range rows {
		key := fmt.Sprintf("%s, n = %d, ρ* = %.3g", row.vectors(), row.n, contests[i].Rho)
		if panels[key] == nil {
			order = append(order, key)
		}
		panels[key] = append(panels[key], i)
		f.Places = append(f.Places, experiment.Place{
			Name: fmt.Sprintf("%s, %g bits per coordinate", key, row.bits),
			Text: map[string]string{"vectors": row.vectors()}, At: map[string]float64{"n": float64(row.n),
				"rho": contests[i].Rho, "bits_per_coordinate": row.bits}})
		for j, s := range contests[i].Scores {
			if s.Sent > 0 {
				s.tell(f, i, j, contests[i].winner())
			}
		}
	}
	r.Grid("bits", map[string]any{"d": p.Dimension, "trials": p.Trials}, f)
	claimDeviations(r, f, "predicted", "deviation", "%s, %s")
	p.judgeWins(r, rows, contests)
	r.Note("EDEN and rank 1 do not use how alike the vectors are; EDEN's error falls with n as all " +
		"do, by Q/n². Rand-Proj-Spatial(Opt) is told ρ*, Avg is not. The numbers of a message are " +
		"counted, not its header or the scale of 32 bits.")
	r.Note("Rank 1 is one step of PowerSGD from a random start, of a higher rank where the bits " +
		"allow it; without the error feedback that makes up for its bias in training.")
	var list []experiment.Panel
	for _, key := range order {
		list = append(list, r.Curves(f, experiment.Panel{Title: key, X: "bits per coordinate",
			Y: "error by Q/n²", LogX: true, LogY: true}, panels[key], "bits_per_coordinate", "drawn", "", ""))
	}
	return r.Figure("bits",
		fmt.Sprintf("Error by bits per coordinate; lower is better. What is below %g is drawn there.",
			leastDrawn), min(4, len(list)), list)
}

// tell adds a contender's score.
func (s scored) tell(f *experiment.Found, i, j int, winner experiment.Method) {
	f.Add(i, j, "sent", float64(s.Sent))
	f.Add(i, j, "bits", float64(s.Bits))
	f.Add(i, j, "error", s.Error)
	f.Add(i, j, "standard_error", s.StandardError)
	f.Add(i, j, "drawn", max(s.Error, leastDrawn))
	m := experiment.Method(s.Method)
	if m != methodRankOne {
		f.Add(i, j, "predicted", s.Predicted)
		// Rounding is predicted for normal numbers, rotations for large d: to a few per cent.
		f.Add(i, j, "deviation",
			math.Abs(s.Error-s.Predicted)/math.Hypot(s.StandardError, 0.04*s.Predicted))
	}
	if m == methodProjOpt || m == methodProjAvg {
		f.Add(i, j, "assumed", s.AssumedAs)
	}
	f.Say(i, j, "wins", map[bool]string{true: "yes"}[m == winner])
}

// judgeWins states the claims.
func (p *bitsParameters) judgeWins(r *experiment.Run, rows []bitsRow, contests []contest) {
	for _, w := range p.Wins {
		var lost []string
		judged := 0
		for i, row := range rows {
			if row.rho < 0 || !slices.Contains(w.Clients, row.n) || !slices.Contains(w.Rho, row.rho) ||
				!slices.Contains(w.BitsPerCoordinate, row.bits) {
				continue
			}
			judged++
			if won := contests[i].winner(); won != w.Method {
				lost = append(lost, fmt.Sprintf("n = %d, ρ* = %g, %g bits: %s", row.n, row.rho, row.bits,
					r.Title(won)))
			}
		}
		if lost == nil {
			lost = []string{"none"}
		}
		r.Sentence("wins", judged > 0 && lost[0] == "none", map[string]any{"line": r.Title(w.Method),
			"n": w.Clients, "rho": w.Rho, "bits": w.BitsPerCoordinate, "count": judged,
			"lost": strings.Join(lost, "; ")})
	}
}
