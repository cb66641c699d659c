package plurality

import (
	"context"
	"math"
	"slices"
)

// Cliques are the privacy rows of δ = 0 in fewer words. Two histograms of K votes differ by
// at most t moved votes if and only if both come from one histogram b of K-t votes by
// adding t. So the rows hold if and only if for every such b and every class of it, the
// probabilities of that class over all ways to add t votes satisfy
//
//	max p ≤ e^ε·min p
//
// Each clique is the list of those variables, ascending. Cost: O(C) a variable listed.
type Cliques struct {
	Start     []int32 // clique n is Variables[Start[n]:Start[n+1]]
	Variables []int32
}

// Len returns the number of cliques.
func (c Cliques) Len() int { return max(0, len(c.Start)-1) }

// At returns clique n.
func (c Cliques) At(n int) []int32 {
	if c.Start == nil {
		return nil
	}
	return c.Variables[c.Start[n]:c.Start[n+1]]
}

// Cliques lists them. The error is ctx.Err().
func (s *System) Cliques(ctx context.Context) (Cliques, error) {
	c, _, err := s.CliquesUpTo(ctx, math.MaxInt)
	return c, err
}

// CliquesUpTo is Cliques that lists no more once over most variables are listed: all reports
// whether that did not come.
func (s *System) CliquesUpTo(ctx context.Context, most int) (c Cliques, all bool, err error) {
	if s == nil || s.Space == nil {
		return Cliques{}, false, errNoSystem
	}
	t := s.problem.Affected
	smaller := NewSpace(s.k-t, s.classes, s.abstain, false)
	a := adder{s: s.Space, out: Cliques{Start: []int32{0}},
		stopped: func() bool { return ctx.Err() != nil }}
	var runs []run
	for h := range smaller.Histograms() {
		runs = smaller.runs(h, runs)
		for k := range runs {
			// One class of run k is followed; the others of its run are as before.
			others := append(a.others[:0], runs...)
			others[k].classes--
			a.others = others
			for own := 0; own <= t; own++ {
				a.own = runs[k].votes + own
				a.add(0, 1, t-own)
			}
			a.close()
		}
		if s.abstain {
			a.others = append(a.others[:0], runs...)
			a.own = Abstained
			a.add(0, 1, t)
			a.close()
		}
		if a.ended {
			return Cliques{}, false, ctx.Err()
		}
		if len(a.out.Variables) > most {
			return a.out, false, nil
		}
	}
	return a.out, true, nil
}

// adder lists one clique: ways to add votes to the classes that are not followed.
type adder struct {
	s      *Space
	others []run
	own    int   // votes of the followed class, with those added
	added  []run // classes that gained votes
	after  []run
	out    Cliques

	stopped func() bool
	steps   int  // since stopped was asked
	ended   bool // it said so: what is listed is of no use
}

// add adds so many votes to classes of run k and those after it; in run k each class gets
// at least so many. others lacks the classes that have some already.
func (a *adder) add(k, least, votes int) {
	if a.steps++; a.steps%4096 == 0 && a.stopped() {
		a.ended = true
	}
	if votes == 0 {
		a.emit()
		return
	}
	for ; k < len(a.others); k, least = k+1, 1 {
		for n := least; n <= votes; n++ {
			if a.others[k].classes == 0 || a.ended {
				break
			}
			a.others[k].classes--
			a.added = append(a.added, run{a.others[k].votes + n, 1})
			a.add(k, n, votes-n)
			a.added = a.added[:len(a.added)-1]
			a.others[k].classes++
		}
	}
}

func (a *adder) emit() {
	after := append(append(a.after[:0], a.others...), a.added...)
	if a.own != Abstained {
		after = append(after, run{a.own, 1})
	}
	after = merge(after)
	a.after = after
	h := a.s.indexRuns(after)
	i := a.s.start[h+1] - 1
	if a.own != Abstained {
		i = a.s.start[h] + int32(position(after, a.own))
	}
	a.out.Variables = append(a.out.Variables, i)
}

// close ends a clique: what several ways lead to stands once.
func (a *adder) close() {
	o := &a.out
	from := o.Start[len(o.Start)-1]
	list := o.Variables[from:]
	slices.Sort(list)
	o.Variables = o.Variables[:int(from)+len(slices.Compact(list))]
	o.Start = append(o.Start, int32(len(o.Variables)))
}
