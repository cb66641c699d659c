package manyanswers

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/internal/check"
)

// claim is about the table for many answers on one set at one ε of the budgets, for each of its
// numbers of queries or for some.
type claim struct {
	Votes   string  `json:"votes"`
	Epsilon float64 `json:"eps"`
	Queries []int   `json:"queries,omitempty"` // defaults to all of the set
	// Over has by how much it agrees more often than each mechanism at least, Under by how much less
	// often.
	Over  map[string]float64 `json:"over,omitempty"`
	Under map[string]float64 `json:"under,omitempty"`
	// Near is by how much the bound for two classes exceeds it at most.
	Near *float64 `json:"near,omitempty"`
}

// byKey has the mechanisms by their names in a definition.
var byKey = map[string]string{"gnmax": gnmax, "permute_and_flip": flip, "one_answer": single,
	"normal": normal}

func (c claim) validate(p *parameters) error {
	i := slices.IndexFunc(p.Sets, func(s set) bool { return s.Votes == c.Votes })
	if i < 0 {
		return check.Want("votes of a claim", c.Votes, "those of a set")
	}
	err := cmp.Or(check.Among(p.epsilons())("eps of a claim", c.Epsilon),
		check.Each("queries of a claim", c.Queries, check.Among(p.Sets[i].Queries)))
	for _, differences := range []map[string]float64{c.Over, c.Under} {
		for _, name := range slices.Sorted(maps.Keys(differences)) {
			err = cmp.Or(err,
				check.Among(slices.Sorted(maps.Keys(byKey)))("mechanism of a claim", name),
				check.Probability("difference to "+name, differences[name]))
		}
	}
	if c.Near != nil {
		err = cmp.Or(err, check.UpTo("near", *c.Near, 1))
	}
	return err
}

// rounding bounds the rounding errors of float64 sums over queries.
const rounding = 1e-9

// judge tests what follows from theory, and what the definition claims of these votes.
func (p *parameters) judge(r *experiment.Run, found []point) {
	p.judgePrices(r, found)
	p.judgeBounds(r, found)
	p.judgeLabels(r, found)
	for _, c := range p.Claims {
		c.judge(r, found)
	}
}

// judgePrices: nothing costs more than its budget.
func (p *parameters) judgePrices(r *experiment.Run, found []point) {
	epsilon, delta := 0.0, 0.0
	for _, x := range found {
		for _, m := range x.Rows {
			epsilon, delta = max(epsilon, m.Epsilon/x.budget.Epsilon), max(delta, m.Delta/x.budget.Delta)
		}
	}
	r.Sentence("prices", epsilon <= 1 && delta <= 1, map[string]any{"epsilon": epsilon, "delta": delta})
}

// judgeBounds: no table of two classes agrees more often than is proved to be possible.
func (p *parameters) judgeBounds(r *experiment.Run, found []point) {
	over, tables := math.Inf(-1), 0
	for _, x := range found {
		if x.Bound < 1 {
			tables++
			over = max(over, x.of(best).Agrees-x.Bound, x.of(normal).Agrees-x.Bound)
		}
	}
	if tables > 0 {
		r.Sentence("bound", over <= rounding, map[string]any{"value": over})
	}
}

// judgeLabels: the price of labels is below that of the counts they come from.
func (p *parameters) judgeLabels(r *experiment.Run, found []point) {
	least := math.Inf(1)
	for _, x := range found {
		least = min(least, x.of(normal).Agrees-x.of(gnmax).Agrees)
	}
	r.Sentence("labels", least > 0, map[string]any{"value": least})
}

func (c claim) judge(r *experiment.Run, found []point) {
	over, under, near := map[string]float64{}, map[string]float64{}, math.Inf(-1)
	own := map[string]any{"when": "for every number of queries"}
	if c.Queries != nil {
		own["when"] = "for " + strings.Trim(strings.Join(strings.Fields(fmt.Sprint(c.Queries)), ", "), "[]") +
			" queries"
	}
	for _, x := range found {
		if x.Votes != c.Votes || x.budget.Epsilon != c.Epsilon ||
			c.Queries != nil && !slices.Contains(c.Queries, x.queries) {
			continue
		}
		own["at"] = fmt.Sprintf("%s at (%g, %g)", x.title(), x.budget.Epsilon, x.budget.Delta)
		agrees := x.of(best).Agrees
		near = max(near, x.Bound-agrees)
		for _, m := range x.Rows {
			if d, ok := over[m.Mechanism]; !ok || agrees-m.Agrees < d {
				over[m.Mechanism] = agrees - m.Agrees
			}
			if d, ok := under[m.Mechanism]; !ok || m.Agrees-agrees < d {
				under[m.Mechanism] = m.Agrees - agrees
			}
		}
	}
	state := func(name string, least, want map[string]float64) {
		for _, key := range slices.Sorted(maps.Keys(want)) {
			d, ok := least[byKey[key]]
			own["of"], own["bound"], own["value"] = r.Title(experiment.Method(lookPrefix+byKey[key])), want[key], d
			r.Sentence(name, ok && d >= want[key], own)
		}
	}
	state("over", over, c.Over)
	state("under", under, c.Under)
	if c.Near != nil {
		own["bound"], own["value"] = *c.Near, near
		r.Sentence("near", near <= *c.Near, own)
	}
}
