package ensemble

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/accountant/game"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/testing/must"
)

// ownNoise returns DaRRM with a noise function that no program chose, for votes that promise
// nothing.
func ownNoise(t testing.TB, affected int, cost accountant.Cost, values ...float64) *Mechanism {
	t.Helper()
	p := constraints.Problem{K: len(values) - 1, Affected: affected, Epsilon: math.Inf(1),
		TotalEpsilon: cost.Epsilon, Delta: cost.Delta}
	c := must.Get(gamma.Certify(t.Context(), p, must.Get(gamma.New(values))(t)))(t)
	return must.Get(DaRRM(c, accountant.ReplaceOne))(t)
}

// adaptive returns the largest Σ (p - e^ε·q)₊ over all sequences of pairs, each chosen after the
// answers so far: without a lattice, by the definition.
func adaptive(pairs []lawPair, count int, x float64) float64 {
	if count == 0 {
		return max(0, 1-x)
	}
	worst := 0.0
	for _, pair := range pairs {
		sum := 0.0
		for o, p := range pair.p {
			if p > 0 {
				sum += p * adaptive(pairs, count-1, x*pair.q[o]/p)
			}
		}
		worst = max(worst, sum)
	}
	return worst
}

// The price of several answers is never below that of every adaptive sequence of neighbours, and
// lowering its ε by a fifth and .05 would be.
func TestJointPriceIsThatOfAllSequences(t *testing.T) {
	much := accountant.Cost{Epsilon: 1.5, Delta: .6}
	mechanisms := []*Mechanism{
		ownNoise(t, 1, much, .9, .6, .2, .2, .6, .9),
		ownNoise(t, 2, much, .5, .3, 0, .3, .5),
		ownNoise(t, 1, much, .123456789, .1, .05, .02, .01, .01, .02, .05, .1, .123456789),
	}
	for _, p := range pluralityCases {
		mechanisms = append(mechanisms, mustPlurality(t, solvedPlurality(t, p)))
	}
	for _, m := range mechanisms {
		pairs := distinct(lawPairs(t, m))
		for count, delta := range map[int]float64{2: .05, 3: .01} {
			if count == 3 && len(pairs) > 30 {
				continue
			}
			e := must.Get(m.Joint().epsilon(t.Context(), delta, count))(t)
			if exact := adaptive(pairs, count, math.Exp(e)); exact > delta*(1+1e-9) {
				t.Errorf("%s, %d answers: delta(%g) = %g, priced as %g", m.Title(), count, e, exact, delta)
			}
			if less := 0.8*e - 0.05; less > 0 && adaptive(pairs, count, math.Exp(less)) <= delta {
				t.Errorf("%s, %d answers: delta = %g needs no more than epsilon = %g, priced as %g",
					m.Title(), count, delta, less, e)
			}
		}
	}
}

// Answers of a table cost what they cost together, where that is less than composing them; one
// answer, and more than are priced within a second, are composed.
func TestAnswersArePricedTogether(t *testing.T) {
	m := ownNoise(t, 1, accountant.Cost{Epsilon: .3, Delta: 1e-4}, .3, .1, .02, .02, .1, .3)
	at := func(queries int) (Total, Report) {
		r := m.Answers(queries, 1e-6)
		return must.Get(r.Total())(t), must.Get(r.Bounds())(t)
	}
	total, report := at(100)
	if report.Bounds[0].Method != methodGame ||
		total.Rule != "the price of up to 100 answers together" ||
		total.Cost.Delta != totalDelta(1e-6, accountant.Repeated{Cost: m.PerAnswer(), Count: 100}) {
		t.Errorf("%+v", total)
	}
	for _, b := range report.Bounds[1:] {
		if b.Cost.Epsilon < total.Cost.Epsilon {
			t.Errorf("%+v is less than %+v", b, total)
		}
	}
	if _, report := at(1); report.Bounds[0].Method == methodGame {
		t.Errorf("one answer: %+v", report)
	}
	fewer, more := must.Get(m.Joint().epsilon(t.Context(), .1, 50))(t), must.Get(
		m.Joint().epsilon(t.Context(), .1, 200))(t)
	if !(fewer < more) {
		t.Errorf("50 answers cost %g, 200 cost %g", fewer, more)
	}
	many := maxJointWork/10 + 1 // five pairs, both orders
	_, err := m.Joint().epsilon(t.Context(), .5, many)
	if !errors.Is(err, accountant.ErrUnsupported) {
		t.Errorf("%d answers: %v", many, err)
	}
	if private := must.Get(constraints.NewProblem(3, 3, 0.1, 0))(t); darrmOf(t, private).Joint() != nil {
		t.Error("answers that rest on the teachers' promise are priced by their votes")
	}
	s := must.Get(NewStatement(t.Context(), StatementOptions{Problem: m.Problem(), Answer: m.Event(),
		PerAnswer: m.PerAnswer(), Joint: m.Joint(), Queries: []int{1, 100}, Slack: new(1e-6)}))(t)
	if e, ok := s.Fresh[1].Bound(string(methodGame)); !ok || e != total.Cost.Epsilon ||
		*s.Fresh[1].Epsilon != e || !slices.Contains(s.Methods(), string(methodGame)) {
		t.Errorf("statement: %+v", s.Fresh[1])
	}
	if _, ok := s.Fresh[0].Bound(string(methodGame)); ok {
		t.Errorf("one answer: %+v", s.Fresh[0])
	}
}

func darrmOf(t testing.TB, p constraints.Problem) *Mechanism {
	t.Helper()
	c := must.Get(gamma.Certify(t.Context(), p, must.Get(gamma.Constant(p.K, 0))(t)))(t)
	return must.Get(DaRRM(c, accountant.ReplaceOne))(t)
}

// Without a δ no answers have a price together, and none is asked for.
func TestNoJointPriceWithoutDelta(t *testing.T) {
	r := Answers{Queries: 2, PerAnswer: accountant.Cost{Epsilon: 0.1}, K: 3, Affected: 1,
		Randomness: FreshTeachers,
		Joint:      newJointPrice(1, func(func(game.Pair, error) bool) { t.Error("it is asked for") })}
	if b := mustBounds(t, r); len(b.Refused) != 0 || len(b.Bounds) == 0 {
		t.Errorf("%+v", b)
	}
}
