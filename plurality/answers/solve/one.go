package solve

import (
	"context"
	"errors"
	"math"

	"github.com/darrm/darrm/accountant/game"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/answers"
	pluralitysolve "github.com/darrm/darrm/plurality/solve"
)

// mostComposed is the most answers for which tables of one answer are tried: with more, what pairs of
// neighbours cost together is far less than what each may cost alone.
const mostComposed = 256

// shares are parts of δ that the answers' own δ may take together: what is left is for their
// composition.
var shares = []float64{1, 0.9, 0.6, 0.3, 0}

// fewShares are the shares to try where each takes a linear program.
var fewShares = []float64{1, 0.5, 0}

// eachOf returns what each answer may keep so that all keep the promise together, with so much of δ
// for their own: about the largest ε₁ by exact composition. The certificate decides whether they do.
func eachOf(p answers.Problem, share float64) game.Each {
	each := game.Each{Epsilon: p.Epsilon / float64(p.Answers), Delta: share * p.Delta / float64(p.Answers)}
	if share == 1 { // basic composition, which a little less keeps for certain
		each.Epsilon *= 1 - 1e-15
		each.Delta *= 1 - 1e-15
		return each
	}
	low, high := each.Epsilon, p.Epsilon
	for range 45 {
		mid := low + (high-low)/2
		if composed(game.Each{Epsilon: mid, Delta: each.Delta}, p.Epsilon, p.Answers) <= p.Delta*(1-1e-9) {
			low = mid
		} else {
			high = mid
		}
	}
	each.Epsilon = low
	return each
}

// composed is about Composed of each, off by less than a part of 1e-10: all terms are positive, and their
// logarithms are at most some ten thousands.
func composed(each game.Each, epsilon float64, n int) float64 {
	ofAll, _ := math.Lgamma(float64(n + 1))
	ofAll -= float64(float64(n) * (each.Epsilon + math.Log1p(math.Exp(-each.Epsilon))))
	sum := 0.
	for l := n; l >= 0; l-- {
		over := float64(float64(2*l-n)*each.Epsilon) - epsilon
		if over <= 0 {
			break
		}
		some, _ := math.Lgamma(float64(l + 1))
		rest, _ := math.Lgamma(float64(n - l + 1))
		sum -= float64(math.Exp(ofAll-some-rest+float64(float64(l)*each.Epsilon)) * math.Expm1(-over))
	}
	return sum - float64(math.Expm1(float64(n)*math.Log1p(-each.Delta))*(1-sum))
}

// oneLink is the Link of answers that keep each by themselves, for either answer of the two classes.
func oneLink(each game.Each) *answers.Link {
	factor := math.Exp(each.Epsilon)
	return answers.NewLink(func(p, q float64) float64 {
		most := min(factor*p+each.Delta, 1-(1-p-each.Delta)/factor)
		return q - most + 4*answers.Near
	})
}

// mixed is by how much probabilities are mixed with the uniform ones, so that whole numbers keep what
// they were made for.
const mixed = 0x1p-40

// one returns the best table whose answers are (ε₁, δ₁)-DP each, over some ways to share the promise
// among the answers. Its cost follows from that alone.
func (v *solver) one(ctx context.Context) (*answers.Table, error) {
	p := v.system.Problem()
	if p.Answers > game.MaxComposed {
		return nil, errNoTable
	}
	some := shares
	if !p.HasChains() {
		some = fewShares
	}
	return v.overShares(ctx, some, func(each game.Each) ([]float64, error) {
		if p.HasChains() {
			return v.window(oneLink(each)), nil
		}
		return v.optimal(ctx, each)
	})
}

// overShares returns the best certified table of the probabilities that each answer may have, over some ways
// to share the promise among the answers. Where optimum returns none, that way is left out.
func (v *solver) overShares(ctx context.Context, some []float64, optimum func(game.Each) ([]float64, error)) (
	*answers.Table, error) {
	var best *answers.Table
	for _, share := range some {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		each := eachOf(v.system.Problem(), share)
		q, err := optimum(each)
		if err != nil {
			return nil, err
		}
		if q == nil || best != nil && v.value(masses(v.system, q)) <= best.Value {
			continue
		}
		t, err := v.certifiedEach(ctx, q, each)
		if err != nil {
			return nil, err
		}
		if t != nil && (best == nil || t.Value > best.Value) {
			best = t
		}
	}
	if best == nil {
		return nil, errNoTable
	}
	return best, nil
}

// optimalWork bounds the search for one optimum of one answer, in steps times dual values: some
// seconds.
const optimalWork = 2_000_000_000

// optimal returns the best table of one answer that keeps each.
func (v *solver) optimal(ctx context.Context, each game.Each) ([]float64, error) {
	p, space := v.system.Problem(), v.system.Space()
	if p.Missing || p.Named || p.Classes == 2 { // for which there is none in that package, or not of this kind
		return nil, errNoTable
	}
	t, err := pluralitysolve.Optimal(ctx, plurality.Problem{K: p.K, Classes: p.Classes, Epsilon: each.Epsilon,
		Delta: each.Delta, Affected: p.Affected, Abstain: p.Abstain}, v.prior.Objective,
		pluralitysolve.Options{Gap: 1e-5, Work: optimalWork})
	if late := (*pluralitysolve.LimitError)(nil); errors.As(err, &late) {
		return nil, errNoTable
	} else if err != nil {
		return nil, err
	}
	q := make([]float64, space.Variables())
	for i := range q {
		q[i] = float64(t.Mass(i)) / float64(plurality.One) / float64(space.ClassesOf(i))
	}
	return q, nil
}

// certifiedEach returns the certified table of probabilities whose answers keep the promise each, but
// for rounding; or nil.
func (v *solver) certifiedEach(ctx context.Context, q []float64, each game.Each) (*answers.Table, error) {
	for share := mixed / min(1, each.Epsilon); share < 1e-6; share *= 32 {
		p := make([]float64, len(q))
		for i := range q {
			p[i] = q[i] + share*(v.uniform()-q[i])
		}
		certified, err := answers.CertifyEach(ctx, v.system, masses(v.system, p), each)
		if over := (*answers.PriceError)(nil); errors.As(err, &over) {
			v.tell(answers.OneLaw)(over.Delta)
			continue
		} else if err != nil {
			return nil, err
		}
		v.tell(answers.OneLaw)(certified.Certificate().Delta)
		return answers.NewWeightedTable(certified, v.prior, v.weights,
			answers.Law{Name: answers.OneLaw, Epsilon: each.Epsilon, Delta: each.Delta}, nil)
	}
	return nil, nil
}

// uniform returns the probability of a class, or of no class, where all are equally likely.
func (v *solver) uniform() float64 {
	p := v.system.Problem()
	if p.Abstain {
		return 1 / float64(p.Classes+1)
	}
	return 1 / float64(p.Classes)
}

// value returns how often masses agree.
func (v *solver) value(masses []uint64) float64 {
	return v.system.Value(v.prior, v.weights, masses)
}
