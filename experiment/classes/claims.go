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
		r.Sentence("bound", over <= rounding, map[string]any{"value": over})
		r.Sentence("gap", gap <= p.Gap+rounding, map[string]any{"tables": tables, "gap": p.Gap, "value": gap})
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
	r.Sentence("order", least > 0, map[string]any{"value": least})
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
		r.Sentence("groups", least > 0, map[string]any{"teachers": found[i][0].K, "groups": found[g][0].K, "value": least})
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
	own := map[string]any{"at": fmt.Sprintf("%s, the optimum for %s", s.title(found[0]), c.Prior), "when": "at every ε"}
	if c.At != nil {
		own["when"] = fmt.Sprintf("at ε of %v", c.At)
	}
	state := func(name string, bound *float64, value, sign float64) {
		if bound != nil {
			own["bound"], own["value"], own["minus"] = *bound, value, -value
			r.Sentence(name, sign*value >= sign**bound, own)
		}
	}
	state("more", c.More, more, 1)
	state("less", c.Less, less, 1)
	state("near", c.Near, near, -1)
	state("saves", c.Saves, saves, 1)
}
