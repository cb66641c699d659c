package solve

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/darrm/darrm/accountant/game"
	"github.com/darrm/darrm/internal/noise"
	"github.com/darrm/darrm/lp"
	"github.com/darrm/darrm/plurality/answers"
)

// named returns the ways to make a table of classes that are told apart. Two have chains, anchored at free
// points. More have normal noise on counts with public offsets and, for few answers, the best table of
// which each answer keeps what composition allows.
func (v *solver) named() []way {
	p := v.system.Problem()
	if p.Pure() { // of which no noise is normal
		return []way{{answers.OneLaw, v.eachBest}, {answers.OneLaw, v.exponential}}
	}
	if p.Answers == 1 { // nothing is better than the best of one answer
		if p.Classes == 2 {
			return []way{{answers.OneLaw, v.one}}
		}
		return []way{{answers.OneLaw, v.eachBest}, {answers.NormalLaw, v.offset}}
	}
	if p.Classes == 2 {
		ways := []way{{answers.ChainLaw, v.chain}}
		if p.Answers <= fewAnswers {
			ways = append(ways, way{answers.CoinsLaw, v.coins})
		}
		if p.Answers <= mostComposed {
			ways = append(ways, way{answers.OneLaw, v.one})
		}
		return ways
	}
	ways := []way{{answers.NormalLaw, v.offset}}
	if p.Answers <= fewAnswers {
		ways = append(ways, way{answers.OneLaw, v.eachBest})
	}
	return ways
}

// perVote is the precision of a public offset, in parts of a vote: integral counts stand for those.
const perVote = 1 << 20

// offsetNormal returns the probabilities of the class whose count is the largest once its offset and normal
// noise of deviation sigma were added.
func (v *solver) offsetNormal(offsets []float64, sigma float64) []float64 {
	space := v.system.Space()
	p := make([]float64, space.Variables())
	n := len(offsets)
	order, runs := make([]int, n), make([]noise.Run, n)
	for h := range space.Histograms() {
		first, _ := space.Range(h)
		votes := space.Histogram(h)
		for c := range order {
			order[c] = c
		}
		at := func(c int) int { return int(math.Round((float64(votes[c]) + offsets[c]) * perVote)) }
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(at(b), at(a)) })
		for i, c := range order {
			runs[i] = noise.Run{Count: at(c), Size: 1}
		}
		law, sum := noise.NormalMax(runs, sigma*perVote), 0.0
		for _, q := range law {
			sum += q
		}
		for i, c := range order { // the rule's error goes to all alike
			p[first+c] = law[i] / sum
		}
	}
	return p
}

// worth returns the value of probabilities in floating point.
func (v *solver) worth(p []float64) float64 { return v.value(masses(v.system, p)) }

// offsetRounds is how often offsets and noise are sought in turns.
const offsetRounds = 3

// offset returns the table of normal noise with the public offsets that are worth most.
func (v *solver) offset(ctx context.Context) (*answers.Table, error) {
	offsets := make([]float64, v.system.Problem().Classes)
	f := v.normals()
	f.probabilities = func(x float64) ([]float64, error) { return v.offsetNormal(offsets, math.Exp(x)), nil }
	x, err := f.guess(ctx, v.system)
	if err != nil {
		return nil, err
	}
	for range offsetRounds {
		sigma := math.Exp(x)
		if err := v.seekOffsets(ctx, offsets, sigma, func() []float64 { return v.offsetNormal(offsets, sigma) }); err != nil {
			return nil, err
		}
		if x, err = f.guess(ctx, v.system); err != nil {
			return nil, err
		}
	}
	got, err := f.calibrate(ctx, v.system, v.Price, x, v.tell(answers.NormalLaw))
	if err != nil {
		return nil, err
	}
	return answers.NewWeightedTable(got.certified, v.prior, v.weights,
		answers.Law{Name: answers.NormalLaw, Sigma: math.Exp(got.x)}, nil)
}

// seekOffsets moves the offsets to where the table is worth most (the last class keeps 0): along
// each in turn, by steps that double while they gain and are halved where none does. probabilities are those of the
// offsets, and sigma is the scale of their noise.
func (v *solver) seekOffsets(ctx context.Context, offsets []float64, sigma float64, probabilities func() []float64) error {
	best := v.worth(probabilities())
	for step := max(1, sigma/2); step > 1e-3*max(1, sigma); {
		gained := false
		for c := range len(offsets) - 1 {
			for _, sign := range []float64{1, -1} {
				for move := sign * step; ctx.Err() == nil && math.Abs(offsets[c]+move) < 1e6; move *= 2 {
					offsets[c] += move
					if now := v.worth(probabilities()); now > best+1e-12 {
						best, gained = now, true
						continue
					}
					offsets[c] -= move
					break
				}
			}
		}
		if !gained {
			step /= 4
		}
	}
	return ctx.Err()
}

// exponential returns the table of the exponential mechanism with the public offsets b that are worth most,
//
//	p(h,c) ∝ e^(ε₁·(h_c + b_c)/(2t))
//
// for what is too large for the linear program: it is (ε₁, 0)-DP, since a record changes each count by at most t.
func (v *solver) exponential(ctx context.Context) (*answers.Table, error) {
	p, space := v.system.Problem(), v.system.Space()
	if v.linear() {
		return nil, errNoTable
	}
	each, offsets := eachOf(p, 1), make([]float64, p.Classes)
	rate := each.Epsilon / float64(2*p.Affected)
	probabilities := func() []float64 {
		out := make([]float64, space.Variables())
		for h := range space.Histograms() {
			first, end := space.Range(h)
			votes, top, sum := space.Histogram(h), math.Inf(-1), 0.0
			for c, n := range votes {
				top = max(top, float64(n)+offsets[c])
			}
			for c, n := range votes {
				out[first+c] = math.Exp(rate * (float64(n) + offsets[c] - top))
				sum += out[first+c]
			}
			for i := first; i < end; i++ {
				out[i] /= sum
			}
		}
		return out
	}
	if err := v.seekOffsets(ctx, offsets, 1/rate, probabilities); err != nil {
		return nil, err
	}
	return v.overShares(ctx, shares[:1], func(game.Each) ([]float64, error) { return probabilities(), nil })
}

// linear reports whether the best table of one answer is that of a linear program.
func (v *solver) linear() bool {
	return v.system.Space().Variables() <= mostColumns && v.system.PairCount() <= mostEvents
}

// Limits of the linear program of one answer: the plain solver has no more columns, and a round of
// separation goes through all pairs.
const (
	mostColumns  = 512
	mostEvents   = 200_000 // ordered pairs
	eventRounds  = 80
	eventsBroken = 1e-10
)

// eachBest returns the best table whose answers each keep what exact composition allows, over some ways
// to share the promise.
func (v *solver) eachBest(ctx context.Context) (*answers.Table, error) {
	if !v.linear() {
		return nil, errNoTable
	}
	some := shares
	if v.system.Problem().Pure() {
		some = shares[:1]
	}
	return v.overShares(ctx, some, func(each game.Each) ([]float64, error) {
		q, err := v.events(ctx, each)
		if errors.Is(err, lp.ErrTooLarge) {
			return nil, nil
		}
		return q, err
	})
}

// events returns the best probabilities of one answer that keeps each: a linear program with a row
//
//	Σ_{c in S} (P(c) - e^ε·P'(c)) ≤ δ
//
// for the events S and ordered pairs of neighbours that a solution breaks, the most broken ones first.
func (v *solver) events(ctx context.Context, each game.Each) ([]float64, error) {
	g, err := v.newProgram(ctx, 2)
	if err != nil {
		return nil, err
	}
	solver, err := g.newLP(0) // the simplices alone
	if err != nil {
		return nil, err
	}
	defer solver.Close()
	factors, rights := []float64{math.Exp(each.Epsilon)}, []float64{each.Delta}
	type broken struct {
		by  float64
		row lp.Row
	}
	for range eventRounds {
		solution, err := solver.Solve(ctx)
		if err != nil {
			return nil, err
		}
		var found []broken
		for k := range g.pairs() {
			if _, row, by := g.broken(k, solution.X, factors, rights, eventsBroken); by > 0 {
				found = append(found, broken{by, row})
			}
		}
		if len(found) == 0 {
			return solution.X, nil
		}
		slices.SortStableFunc(found, func(a, b broken) int { return cmp.Compare(b.by, a.by) })
		var rows []lp.Row
		for _, f := range found[:min(len(found), len(g.cost))] {
			rows = append(rows, f.row)
		}
		if err := solver.AddRows(rows); err != nil {
			return nil, err
		}
	}
	return nil, errNoTable
}
