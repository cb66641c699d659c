package classes

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/internal/check"
)

// claim is about the optimum under one prior, on one set, at each of its ε or at some. What it
// states is what is not nil: of how often its answer has the most votes,
type claim struct {
	Votes string    `json:"votes"`
	Prior string    `json:"prior"`
	At    []float64 `json:"eps,omitempty"` // defaults to all of the set
	// by so much it exceeds permute-and-flip's, as the whole 95 % interval says
	More  *float64 `json:"more,omitempty"`
	Less  *float64 `json:"less,omitempty"`  // by so much it falls below permute-and-flip's, likewise
	Near  *float64 `json:"near,omitempty"`  // it is within so much of what no mechanism is above
	Saves *float64 `json:"saves,omitempty"` // permute-and-flip needs so many times the ε for it
}

func (c claim) validate(sets []set) error {
	positive := func(name string, v *float64) error {
		if v == nil {
			return nil
		}
		return check.UpTo(name, *v, 100)
	}
	i := slices.IndexFunc(sets, func(s set) bool { return s.Votes == c.Votes })
	if i < 0 {
		return check.Want("votes of a claim", c.Votes, "those of a set")
	}
	return cmp.Or(
		check.Each("eps of a claim", c.At, check.Among(sets[i].Epsilons)),
		check.Among(sets[i].priors())("prior of a claim", c.Prior),
		positive("more", c.More), positive("less", c.Less), positive("near", c.Near),
		positive("saves", c.Saves),
	)
}

// judge tests what follows from theory, and what the definition claims of these votes.
func (p *parameters) judge(r *experiment.Run, found [][]outcome) {
	p.judgeBounds(r, found)
	p.judgeOrder(r, found)
	p.judgeGroups(r, found)
	for _, c := range p.Claims {
		i := slices.IndexFunc(p.Sets, func(s set) bool { return s.Votes == c.Votes })
		c.judge(r, p.Sets[i], found[i])
	}
}

// rounding bounds the rounding errors of float64 sums over queries.
const rounding = 1e-9

// judgeBounds: the mechanisms with δ = 0 obey the bound that is proved for these very votes, and it
// is nearly reached.
func (p *parameters) judgeBounds(r *experiment.Run, found [][]outcome) {
	over, gap, tables := math.Inf(-1), 0.0, 0
	for _, outcomes := range found {
		for _, o := range outcomes {
			best := o.of(ceiling, "")
			if best == nil {
				continue
			}
			gap = max(gap, best.Bound-best.Agrees.Mean)
			for _, x := range o.Rows {
				if x.Mechanism != plain && x.Mechanism != "gnmax" {
					over = max(over, x.Agrees.Mean-best.Bound)
				}
				if x.Bound > 0 {
					tables++
					gap = max(gap, x.Gap)
				}
			}
		}
	}
	if tables > 0 {
		r.Claim(over <= rounding,
			"no mechanism with δ = 0 has an answer with the most votes more often than is proved to be "+
				"possible on these votes", "at most %+.5f above", over)
		r.Claim(gap <= p.Gap+rounding,
			fmt.Sprintf("each of %d tables is proved to be within %g of its optimum", tables, p.Gap),
			"at most %.1e", gap)
	}
}

// judgeOrder: the mechanisms without a table are in the same order everywhere.
func (p *parameters) judgeOrder(r *experiment.Run, found [][]outcome) {
	least := math.Inf(1)
	for _, outcomes := range found {
		for _, o := range outcomes {
			least = min(least, o.of(flip, "").Agrees.Mean-o.of("lnmax", "").Agrees.Mean,
				o.of("lnmax", "").Agrees.Mean-o.of("gnmax", "").Agrees.Mean)
		}
	}
	r.Claim(least > 0, "permute-and-flip has an answer with the most votes more often than LNMax, "+
		"and LNMax than GNMax, at every ε", "by at least %.4f", least)
}

// judgeGroups: a table that exists for groups only is no gain.
func (p *parameters) judgeGroups(r *experiment.Run, found [][]outcome) {
	for i, s := range p.Sets {
		if s.Grouped == "" {
			continue
		}
		g := slices.IndexFunc(p.Sets, func(x set) bool { return x.Votes == s.Grouped })
		least := math.Inf(1)
		refused := true
		for j, eps := range s.Epsilons {
			refused = refused && found[i][j].Refused != ""
			for _, x := range found[g][slices.Index(p.Sets[g].Epsilons, eps)].Rows {
				if x.Mechanism == optimum {
					least = min(least, found[i][j].of(flip, "").Right.Low-x.Right.High)
				}
			}
		}
		r.Claim(least > 0, fmt.Sprintf("permute-and-flip of all %d teachers is right more often than "+
			"the optimum of %d groups of them, at every ε", found[i][0].K, found[g][0].K),
			"their 95 %% intervals are at least %.4f apart", least)
		if refused {
			r.Note("For %s there is no table: %s. Permute-and-flip answers.", s.title(found[i][0]),
				found[i][0].Refused)
		}
	}
}

func (c claim) judge(r *experiment.Run, s set, found []outcome) {
	at := c.At
	if at == nil {
		at = s.Epsilons
	}
	more, less, near, saves := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(1)
	for _, eps := range at {
		o := found[slices.Index(s.Epsilons, eps)]
		x := o.of(optimum, c.Prior)
		more, less = min(more, x.OverAgrees.Low), min(less, -x.OverAgrees.High)
		near, saves = max(near, o.of(ceiling, "").Bound-x.Agrees.Mean), min(saves, x.FlipEpsilon/eps)
	}
	where := fmt.Sprintf("%s, the optimum for %s", s.title(found[0]), c.Prior)
	when := "at every ε"
	if c.At != nil {
		when = fmt.Sprintf("at ε of %v", c.At)
	}
	if c.More != nil {
		r.Claim(more >= *c.More,
			fmt.Sprintf("%s: an answer has the most votes more often than permute-and-flip's by at "+
				"least %g, %s", where, *c.More, when), "95 %% intervals of the differences begin at %+.4f",
			more)
	}
	if c.Less != nil {
		r.Claim(less >= *c.Less,
			fmt.Sprintf("%s: an answer has the most votes less often than permute-and-flip's by at "+
				"least %g, %s", where, *c.Less, when), "95 %% intervals of the differences end at %+.4f", -less)
	}
	if c.Near != nil {
		r.Claim(near <= *c.Near,
			fmt.Sprintf("%s: no private mechanism has an answer with the most votes more often by more "+
				"than %g, %s", where, *c.Near, when), "at most %.4f", near)
	}
	if c.Saves != nil {
		r.Claim(saves >= *c.Saves,
			fmt.Sprintf("%s: permute-and-flip needs %g times the ε to have the most votes as often, %s",
				where, *c.Saves, when), "at least %.3f times", saves)
	}
}
