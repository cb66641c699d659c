package solve

import (
	"math"
	"slices"

	"github.com/darrm/darrm/internal/noise"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/answers"
)

// normal returns the probabilities, one for each variable of the Space, of the label whose count is
// the largest once normal noise of deviation sigma was added to each count. For two classes that is
// Φ(lead/(σ·√2)), which is accurate far out too.
func normal(s *answers.System, sigma float64) []float64 {
	space := s.Space()
	p := make([]float64, space.Variables())
	var runs []noise.Run
	for h := range space.Histograms() {
		first, end := space.Range(h)
		if s.Problem().Classes == 2 {
			fill(space, p, h, math.Erfc(-float64(s.Lead(h))/(2*sigma))/2)
			continue
		}
		runs = runs[:0]
		for i := first; i < end; i++ {
			if v := space.Votes(i); v != plurality.Abstained {
				runs = append(runs, noise.Run{Count: v, Size: space.ClassesOf(i)})
			}
		}
		sum := 0.0
		law := noise.NormalMax(runs, sigma)
		for k, q := range law {
			sum += q * float64(runs[k].Size)
		}
		for k, q := range law { // the rule's error goes to all alike
			p[first+k] = q / sum
		}
	}
	return p
}

// fill sets the probabilities of histogram h of two classes: the leading one has a.
func fill(space *plurality.Space, p []float64, h int, a float64) {
	first, _ := space.Range(h)
	p[first] = a
	if space.ClassesOf(first) == 1 {
		p[first+1] = 1 - a
	}
}

// masses rounds probabilities to integers. A group of classes has a mass of 1 at least: one that
// were 0 beside a neighbour's that is not would cost all of that, at every answer. Of abstaining,
// this holds unless it is 0 everywhere.
func masses(s *answers.System, p []float64) (all []uint64) {
	space := s.Space()
	if n := space.Variables(); s.Problem().Labels > 0 {
		for own := range slices.Chunk(p, n) {
			all = append(all, whole(space, own)...)
		}
		return all
	}
	return whole(space, p)
}

// whole is masses of one table.
func whole(space *plurality.Space, p []float64) []uint64 {
	abstains := false
	for i, q := range p {
		abstains = abstains || space.Votes(i) == plurality.Abstained && q > 0
	}
	out := space.Masses(p)
	for h := range space.Histograms() {
		first, end := space.Range(h)
		largest := first
		for i := first; i < end; i++ {
			if out[i] > out[largest] {
				largest = i
			}
		}
		for i := first; i < end; i++ {
			if out[i] == 0 && (abstains || space.Votes(i) != plurality.Abstained) {
				out[i]++
				out[largest]--
			}
		}
	}
	return out
}

// renyiLink is the Link of an order: the coins of neighbours have Σ P^α·P'^(1-α) ≤ 1 + R in both
// orders.
func renyiLink(order, moment float64) *answers.Link {
	return answers.NewLink(func(p, q float64) float64 {
		return math.Log(excess(order, p, q) / moment)
	})
}

// window returns the best table that obeys a Link.
func (v *solver) window(link *answers.Link) []float64 {
	if v.system.Problem().Named {
		return v.anchored(link)
	}
	weight := make([]float64, v.system.Problem().K+1)
	for h, w := range v.weights.Low {
		weight[v.system.Lead(h)] += w
	}
	return ofLeads(v.system, v.system.Problem().Window(weight, link))
}

// anchored is window of classes that are told apart: of each label the best table under the one Link, where labels
// have tables of their own.
func (v *solver) anchored(link *answers.Link) (all []float64) {
	s, space := v.system, v.system.Space()
	for label := range max(1, s.Problem().Labels) {
		if same := slices.Index(v.prior.Yes[:min(label, len(v.prior.Yes))], v.yes(label)); same >= 0 {
			all = append(all, all[same*space.Variables():(same+1)*space.Variables()]...)
			continue
		}
		second := s.Problem().Anchored(s.Gains(v.prior, s.Weights(v.weights, label)), link)
		for h := range space.Histograms() {
			q := second[space.Histogram(h)[1]]
			all = append(all, 1-q, q)
		}
	}
	return all
}

// yes returns the share of yes of a label, 0 where there is one table for all.
func (v *solver) yes(label int) float64 {
	if label < len(v.prior.Yes) {
		return v.prior.Yes[label]
	}
	return 0
}

// ofLeads returns the probabilities of two classes: the leading one has those of a.
func ofLeads(s *answers.System, a []float64) []float64 {
	space := s.Space()
	p := make([]float64, space.Variables())
	for h := range space.Histograms() {
		fill(space, p, h, a[s.Lead(h)])
	}
	return p
}

// excess returns the larger of Σ P^α·P'^(1-α) - 1 and Σ P'^α·P^(1-α) - 1 of two coins of bias p and q: the
// powers of one are those of the other, inverted.
func excess(order, p, q float64) float64 {
	heads, tails := math.Pow(p/q, order), math.Pow((1-p)/(1-q), order)
	return max(float64(q*heads)+float64((1-q)*tails), p/heads+(1-p)/tails) - 1
}
