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

func (p *bitsParameters) report(r *experiment.Run, rows []bitsRow, found []contest) error {
	table := experiment.Table{Name: "bits",
		Caption: fmt.Sprintf(
			"Error of the estimated mean in units of Q/n² (for one client, the vNMSE), d = %d, at equal "+
				"bits per client, over %d trials. Each method sends so many numbers (k) of so many bits (b) "+
				"as are best for it by its prediction.", p.Dimension, p.Trials), Columns: []experiment.Column{
			{Name: "vectors", Title: "vectors"}, {Name: "n", Title: "n"},
			{Name: "rho", Title: "ρ*", Format: "%.3g"},
			{Name: "bits_per_coordinate", Title: "bits per coordinate"}, {Name: "method", Title: "method"},
			{Name: "sent", Title: "k"}, {Name: "bits", Title: "b"},
			{Name: "assumed", Title: "ρ of the decoder"},
			{Name: "error", Title: "error", Format: "%.4g"},
			{Name: "standard_error", Title: "± standard error", Format: "%.1g"},
			{Name: "predicted", Title: "predicted", Format: "%.4g"}, {Name: "wins", Title: "smallest"}}}
	worst, worstAt, compared := 0.0, "", 0
	panels := map[string]*experiment.Panel{}
	var order []string
	for i, row := range rows {
		key := fmt.Sprintf("%s, n = %d, ρ* = %.3g", row.vectors(), row.n, found[i].Rho)
		if panels[key] == nil {
			panels[key] = &experiment.Panel{Title: key, X: "bits per coordinate", Y: "error by Q/n²",
				LogX: true, LogY: true}
			for _, m := range contenders {
				panels[key].Series = append(panels[key].Series, experiment.Series{Method: m})
			}
			order = append(order, key)
		}
		for j, s := range found[i].Scores {
			if s.Sent == 0 {
				continue
			}
			m := experiment.Method(s.Method)
			var predicted, decoder any
			if m != methodRankOne {
				predicted = s.Predicted
				compared++
				// Rounding is predicted for normal numbers, rotations for large d: to a few per cent.
				if far := math.Abs(s.Error-s.Predicted) / math.Hypot(s.StandardError,
					0.04*s.Predicted); !(far <= worst) {
					worst, worstAt = far, fmt.Sprintf("%s, %s, %g bits per coordinate", r.Title(m), key, row.bits)
				}
			}
			if m == methodProjOpt || m == methodProjAvg {
				decoder = s.AssumedAs
			}
			wins := ""
			if found[i].winner() == m {
				wins = "yes"
			}
			table.Add(row.vectors(), row.n, found[i].Rho, row.bits, s.Method, s.Sent, s.Bits, decoder,
				s.Error, s.StandardError, predicted, wins)
			panels[key].Series[j].Add(row.bits, max(s.Error, leastDrawn))
		}
	}
	r.Table(table)
	r.Claim(worst <= far, "every measured error is the predicted one, to standard errors and 4 %",
		"largest of %d deviations: %.2f, for %s", compared, worst, worstAt)
	for _, w := range p.Wins {
		lost, judged := []string{}, 0
		for i, row := range rows {
			if row.rho < 0 || !slices.Contains(w.Clients, row.n) || !slices.Contains(w.Rho, row.rho) ||
				!slices.Contains(w.BitsPerCoordinate, row.bits) {
				continue
			}
			judged++
			if won := found[i].winner(); won != w.Method {
				lost = append(lost, fmt.Sprintf("n = %d, ρ* = %g, %g bits: %s", row.n, row.rho, row.bits,
					r.Title(won)))
			}
		}
		r.Claim(judged > 0 && len(lost) == 0,
			fmt.Sprintf("%s has the smallest error for n in %v, ρ* in %v, bits per coordinate in %v",
				r.Title(w.Method), w.Clients, w.Rho, w.BitsPerCoordinate), "%d rows, lost: %s", judged,
			strings.Join(append(lost, "none")[:max(1, len(lost))], "; "))
	}
	r.Note("EDEN and rank 1 do not use how alike the vectors are; EDEN's error falls with n as all " +
		"do, by Q/n². Rand-Proj-Spatial(Opt) is told ρ*, Avg is not. The numbers of a message are " +
		"counted, not its header or the scale of 32 bits.")
	r.Note("Rank 1 is one step of PowerSGD from a random start, of a higher rank where the bits " +
		"allow it; without the error feedback that makes up for its bias in training.")
	list := make([]experiment.Panel, len(order))
	for i, key := range order {
		list[i] = *panels[key]
		list[i].Series = slices.DeleteFunc(list[i].Series,
			func(s experiment.Series) bool { return len(s.X) == 0 })
	}
	return r.Figure("bits",
		fmt.Sprintf("Error by bits per coordinate; lower is better. What is below %g is drawn there.",
			leastDrawn), min(4, len(list)), list)
}
