package solve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/lp"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/answers"
)

const (
	// programGap ends the rounds: no table under the moment agrees more often by more.
	programGap = 2e-5
	// idleRounds is the number of rounds, in which the gap hardly falls, that end them.
	idleRounds = 20
	// programPrices is the largest number of moments that are tried.
	programPrices = 6
	// mostVariables and mostCells bound the linear program, whose rows are dense.
	mostVariables, mostCells = 2500, 1 << 24
	// least is the smallest probability of a class in the program: without it, ratios grow without
	// bound where classes hardly ever win, and a tangent's coefficients with them. It costs
	// less than 1e-5 of agreement for fewer than 100 classes, and is no part of the bound.
	least = 1e-7
	// steepest is the largest α-th power of a ratio in a tangent: rows of larger numbers are lost to
	// rounding, or overflow. Without them the bound is a larger one.
	steepest = 1e12
)

// errNoProgram is the error where the program does not serve.
var errNoProgram = errors.New("no table of the convex program")

// program is
//
//	maximise Σ c·p   subject to   Σ m·p = 1, p ≥ 0,   Σ n·f(p_i, p_j) ≤ 1 + R for each ordered pair
//
// with f(p, q) = p^α·q^(1-α), in floating point. It is solved by tangents of f: each round solves
// the linear program of those so far, moves the incumbent towards its solution as far as the rows
// allow, and adds the tangents at the solution and half-way to where the incumbent was.
type program struct {
	order   int
	space   *plurality.Space
	cost    []float64
	least   float64
	classes []float64
	first   []int
	from    []int32 // histogram of each pair
	to      []int32
	changes [][]plurality.Change
	start   []int32
	columns []plurality.Column
	uniform []float64

	tangents []tangent
	left     int64 // of Options.Work
}

// tangent is one of a pair, with ρ of its columns, and its multiplier in the last linear program.
type tangent struct {
	pair   int
	ratios []float64
	value  float64
}

// fitting is newProgram of a size that takes seconds.
func (v *solver) fitting(ctx context.Context, order int) (*program, error) {
	n := v.system.Space().Variables()
	if n > mostVariables || v.system.PairCount()*n > mostCells {
		return nil, fmt.Errorf("%w: it is too large", errNoProgram)
	}
	return v.newProgram(ctx, order)
}

func (v *solver) newProgram(ctx context.Context, order int) (*program, error) {
	s := v.system.Space()
	n := s.Variables()
	g := &program{order: order, space: s, cost: make([]float64, n), classes: make([]float64, n),
		start: []int32{0}, least: least}
	if v.system.Problem().Named { // which has no tangents
		g.least = 0
	}
	outputs := v.system.Problem().Classes
	if v.system.Problem().Abstain {
		outputs++
	}
	g.uniform = slices.Repeat([]float64{1 / float64(outputs)}, n)
	for h := range s.Histograms() {
		first, end := s.Range(h)
		g.first = append(g.first, first)
		for i := first; i < end; i++ {
			g.classes[i] = float64(s.ClassesOf(i))
			if v.system.Problem().Named {
				g.cost[i] = v.weights.Low[h] * v.prior.Worth(s.Histogram(h), i-first)
				continue
			}
			if i == first {
				g.cost[i] = v.weights.Low[h] * g.classes[i]
			}
			if s.Votes(i) == plurality.Abstained {
				g.cost[i] = v.weights.Low[h] * v.prior.AbstainValue
			}
		}
	}
	g.first = append(g.first, n)
	err := v.system.Pairs(ctx, func(p *plurality.Pair) bool {
		g.from, g.to = append(g.from, int32(p.From)), append(g.to, int32(p.To))
		g.changes = append(g.changes, append([]plurality.Change(nil), p.Changes...))
		g.columns = append(g.columns, p.Columns...)
		g.start = append(g.start, int32(len(g.columns)))
		return true
	})
	return g, err
}

func (g *program) pairs() int { return len(g.from) }

func (g *program) of(k int) []plurality.Column { return g.columns[g.start[k]:g.start[k+1]] }

func (g *program) value(p []float64) float64 {
	sum := 0.0
	for i, c := range g.cost {
		sum += c * p[i]
	}
	return sum
}

// moment returns Σ n·f - 1 of pair k.
func (g *program) moment(k int, p []float64) float64 {
	sum := -1.0
	for _, c := range g.of(k) {
		if p[c.I] > 0 {
			sum += float64(c.Classes) * p[c.I] * num.Power(p[c.I]/p[c.J], g.order-1)
		}
	}
	return sum
}

// worst returns the largest moment.
func (g *program) worst(p []float64) float64 {
	most := 0.0
	for k := range g.pairs() {
		most = max(most, g.moment(k, p))
	}
	return most
}

// mixed returns p with so much of the uniform distribution that no class is below least.
func (g *program) mixed(p []float64) []float64 {
	out := make([]float64, len(p))
	for i := range p {
		share := least / g.uniform[i]
		out[i] = (1-share)*p[i] + least
	}
	return out
}

// towards returns the point furthest from a to b whose moments are all at most r, as those of a are.
func (g *program) towards(a, b []float64, r float64) []float64 {
	between := func(t float64) []float64 {
		p := make([]float64, len(a))
		for i := range p {
			p[i] = (1-t)*a[i] + t*b[i]
		}
		return p
	}
	low, high := 0.0, 1.0
	for range 40 {
		mid := (low + high) / 2
		if g.worst(between(mid)) <= r {
			low = mid
		} else {
			high = mid
		}
	}
	return between(low)
}

// cut adds the tangents at p of the pairs whose moment is above least.
func (g *program) cut(p []float64, least float64) int {
	added := 0
	for k := range g.pairs() {
		if !(g.moment(k, p) > least) {
			continue
		}
		t, steep := tangent{pair: k}, 0.0
		for _, c := range g.of(k) {
			ratio := 1.0
			if p[c.I] != p[c.J] {
				ratio = p[c.I] / p[c.J]
			}
			t.ratios = append(t.ratios, ratio)
			steep = max(steep, num.Power(ratio, g.order))
		}
		if steep > steepest {
			continue
		}
		g.tangents = append(g.tangents, t)
		added++
	}
	return added
}

// row returns the tangent's row without its right side, 1 + R.
func (g *program) row(t tangent) lp.Row {
	row := lp.Row{Coef: make([]float64, len(g.cost))}
	for i, c := range g.of(t.pair) {
		up := float64(c.Classes) * num.Power(t.ratios[i], g.order-1)
		row.Coef[c.I] += float64(g.order) * up
		row.Coef[c.J] -= float64(g.order-1) * up * t.ratios[i]
	}
	return row
}

// newLP returns the linear program of the tangents so far.
func (g *program) newLP(r float64) (lp.Solver, error) {
	p := lp.Problem{}
	for i, c := range g.cost {
		p.C, p.Lower, p.Upper = append(p.C, -c), append(p.Lower, g.least), append(p.Upper, 1/g.classes[i])
	}
	s, err := lp.New(p)
	if err != nil {
		return nil, err
	}
	var rows []lp.Row
	for h := range len(g.first) - 1 {
		one, other := lp.Row{Coef: make([]float64, len(g.cost)), RHS: 1},
			lp.Row{Coef: make([]float64, len(g.cost)), RHS: -1}
		for i := g.first[h]; i < g.first[h+1]; i++ {
			one.Coef[i], other.Coef[i] = g.classes[i], -g.classes[i]
		}
		rows = append(rows, one, other)
	}
	for _, t := range g.tangents {
		row := g.row(t)
		row.RHS = 1 + r
		rows = append(rows, row)
	}
	if err := s.AddRows(rows); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// solve returns the best point found whose moments are all at most r, beginning at incumbent, and
// the bound of the last linear program.
func (g *program) solve(ctx context.Context, incumbent []float64,
	r float64) (best []float64, bound float64, err error) {
	bound = 1
	s, err := g.newLP(r)
	if err != nil {
		return incumbent, bound, err
	}
	defer s.Close()
	simplices := 2 * (len(g.first) - 1)
	for last, idle := 1.0, 0; idle < idleRounds; idle++ {
		got, err := s.Solve(ctx)
		if err != nil {
			return incumbent, bound, err
		}
		g.left -= g.work(got.Iterations)
		bound = -got.Bound
		for i := range g.tangents {
			g.tangents[i].value = got.Dual[simplices+i]
		}
		before := incumbent
		// A row that binds for the incumbent and is hardly broken by the solution keeps it where it
		// is: from the uniform distribution, for which none binds, the way is free.
		for _, from := range [][]float64{incumbent, g.uniform} {
			if next := g.towards(from, got.X, r); g.value(next) > g.value(incumbent) {
				incumbent = next
			}
		}
		if bound-g.value(incumbent) <= programGap || g.left <= 0 {
			return incumbent, bound, nil
		}
		if gap := bound - g.value(incumbent); gap < 0.9*last {
			last, idle = gap, 0
		}
		known := len(g.tangents)
		half := make([]float64, len(before))
		for i := range half {
			half[i] = (before[i] + got.X[i]) / 2
		}
		if g.cut(got.X, r+1e-9)+g.cut(half, r+1e-9) == 0 {
			return incumbent, bound, nil // as far as floating point goes
		}
		var rows []lp.Row
		for _, t := range g.tangents[known:] {
			row := g.row(t)
			row.RHS = 1 + r
			rows = append(rows, row)
		}
		if err := s.AddRows(rows); err != nil {
			return incumbent, bound, err
		}
	}
	return incumbent, bound, nil
}

// work counts what a round takes: each pivot touches the basis and the rows, and the way of the
// incumbent is bisected twice over all columns of all pairs.
func (g *program) work(pivots int) int64 {
	n, rows := int64(len(g.cost)), int64(len(g.tangents)+2*len(g.first))
	return int64(pivots+1)*n*(n+rows) + 80*int64(len(g.columns))
}

// proof returns the tangents whose multipliers are above 0.
func (g *program) proof() (proof answers.Proof) {
	for _, t := range g.tangents {
		if t.value > 0 {
			proof = append(proof, answers.Tangent{From: int(g.from[t.pair]), Changes: g.changes[t.pair],
				Ratios: t.ratios, Value: t.value})
		}
	}
	return proof
}

// program returns the table of the convex program, whose moment is sought so that the price of its
// rounded integers keeps the promise. at is a table that does, in floating point: its own moment is
// the first, and the linear programs begin at its tangents.
func (v *solver) program(ctx context.Context, at []float64) (*answers.Table, error) {
	order := v.Order
	if order == 0 {
		order = DefaultOrder(v.system.Problem())
	}
	g, err := v.fitting(ctx, order)
	if err != nil {
		return nil, err
	}
	if g.left = v.Work; g.left == 0 {
		g.left = defaultWork
	}
	at = g.mixed(at)
	r := g.worst(at)
	g.cut(at, r/4)
	target := math.Log(v.system.Problem().Delta)
	// By Rényi composition ln δ grows as Q·ln(1+R) does, which is too much where few answers cost a
	// large ε: two prices show the slope there.
	slope := float64(v.system.Problem().Answers)
	var last point // of ln(1+R)
	var best *answers.Table
	low, high := 0.0, math.Inf(1)
	for range programPrices {
		p, _, err := g.solve(ctx, g.towards(g.uniform, at, r), r)
		if err != nil {
			return best, noProgram(err)
		}
		at = p
		certified, err := answers.Certify(ctx, v.system, masses(v.system, p), v.Price)
		var over *answers.PriceError
		var price float64
		switch {
		case errors.As(err, &over):
			price, high = logarithm(over.Delta), min(high, r)
		case err != nil:
			return nil, err
		default:
			price, low = logarithm(certified.Certificate().Delta), max(low, r)
			t, err := answers.NewWeightedTable(certified, v.prior, v.weights,
				answers.Law{Name: answers.ProgramLaw, Order: float64(order), Moment: r}, g.proof())
			if err != nil {
				return nil, err
			}
			if best == nil || t.Value > best.Value {
				best = t
			}
		}
		v.tell(answers.ProgramLaw)(math.Exp(price))
		now := point{math.Log1p(r), price}
		if last.x > 0 {
			if seen := (now.price - last.price) / (now.x - last.x); seen > 0 && seen < math.Inf(1) {
				slope = seen
			}
		}
		last = now
		if best != nil && (price <= target && price >= target-tolerance || g.left <= 0) {
			break
		}
		next := math.Expm1(now.x + (target-tolerance/2-price)/slope)
		if !(next > low && next < high) {
			next = (low + min(high, 2*r)) / 2
		}
		r = next
	}
	if best == nil {
		return nil, fmt.Errorf("%w: no table of it was found that keeps the promise", errNoProgram)
	}
	return best, nil
}

// noProgram returns errNoProgram where the solver of the build refuses the size, or err.
func noProgram(err error) error {
	if errors.Is(err, lp.ErrTooLarge) {
		return fmt.Errorf("%w: %w", errNoProgram, err)
	}
	return err
}
