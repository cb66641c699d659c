package noisymax

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/darrm/darrm/accountant/game"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
)

// Limits of a Problem.
const (
	MaxAnswers = check.MaxAnswers // Q
	MaxSigma   = 1 << 14          // σ
	MinSigma   = 0.05
)

// Problem is a promise: all answers together are (ε, δ)-differentially private. Each float64 stands
// for its shortest decimal.
type Problem struct {
	Teachers int     // K
	Classes  int     // C
	Missing  bool    // a vote may be missing, and one that comes or goes changes one count
	Affected int     // t: one record changes at most t votes; 1 where there are more than two classes
	Answers  int     // Q: at most so many answers, 1 ≤ Q ≤ MaxAnswers
	Epsilon  float64 // ε in (0, 700] of all answers together
	Delta    float64 // δ in (0,1) of all answers together
}

// ErrReach is the error for a record that changes several of the votes for more than two classes:
// votes may move in several ways at once, for which nothing is proved.
var ErrReach = errors.New("noise is priced by its label where a record changes one vote, or for two classes")

// Validate returns an error that names the first field that breaks its rule, or ErrReach, or nil.
func (p Problem) Validate() error {
	if err := cmp.Or(check.Together(p.Teachers, p.Classes, p.Affected, p.Answers, p.Epsilon),
		check.Within("budget delta", p.Delta)); err != nil {
		return err
	}
	if p.Classes > 2 && p.Affected > 1 {
		return fmt.Errorf("%d classes, %d votes: %w", p.Classes, p.Affected, ErrReach)
	}
	return nil
}

// Price returns a δ such that all answers with noise of parameter sigma, which stands for its shortest
// decimal, are (ε, δ)-DP together. It is never below the true δ. step is that of game.Options.
// Cost: a millisecond for two classes and hundred answers; for more classes about a second of a
// processor for σ = 20 and 200 answers, ten for σ = 60 and 2000.
func Price(ctx context.Context, p Problem, sigma, step float64) (float64, error) {
	g, err := newGame(ctx, p, sigma, step)
	if err != nil {
		return 0, err
	}
	return g.Delta(ctx, p.Epsilon, p.Answers)
}

const (
	// share is the part of a price that outcomes beyond the reach may add to it, about.
	share = 1e-7
	// finest is how many of the least squares a σ is wide, at least.
	finest = 64
	// near is by how much a cell may cost more than the dearest pair. That of σ is half of it. Of large
	// noise there are many cells.
	near, nearer, large = 2e-3, 5e-4, 16
)

// newGame returns the game of all pairs of the problem.
func newGame(ctx context.Context, p Problem, sigma, step float64) (*game.Game, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if err := checkSigma(sigma); err != nil {
		return nil, err
	}
	l, reach, err := p.law(sigma)
	if err != nil {
		return nil, err
	}
	f := l.family(p, reach)
	if p.fewFor(l) {
		f = l.ofCounts(p, reach)
	}
	return game.NewOfFamily(ctx, f, game.Options{Step: step})
}

// delta returns δ, rounded down.
func (p Problem) delta() float64 { return num.FromRat(num.Decimal(p.Delta)).Lower() }

func checkSigma(sigma float64) error {
	if !(sigma >= MinSigma && sigma <= MaxSigma) {
		return check.Wantf("sigma", sigma, "between %g and %d", MinSigma, MaxSigma)
	}
	return nil
}

// law returns the law of the noise, and how far out it matters.
func (p Problem) law(sigma float64) (l *law, reach int, err error) {
	square := num.Decimal(sigma)
	square.Mul(square, square)
	// Pr[Y ≥ k] is about e^{-k²/(2σ²)}
	tail := new(big.Rat).Mul(num.Decimal(p.Delta), num.Decimal(share/4))
	tail.Quo(tail, big.NewRat(int64(p.Answers), 1))
	log := -num.Log(num.FromRat(tail)).Lower()
	reach = int(math.Ceil(sigma*math.Sqrt(2*log))) + 2
	least := leastOf(sigma)
	reach = (reach + least - 1) / least * least
	l, err = newLaw(square, reach+int(2*sigma)+8, least)
	return l, reach, err
}

// leastOf returns the width of the least squares.
func leastOf(sigma float64) int {
	least := 1
	for float64(2*least*finest) <= sigma {
		least *= 2
	}
	return least
}

// family returns all ordered pairs of laws of a label.
func (l *law) family(p Problem, reach int) game.Family {
	two, least := p.Classes == 2, l.every
	lost := 0.0 // that the rest is the label although a count is more than reach above it
	if !two {
		lost = l.f(-reach + 1).up
	}
	f := game.Family{Order: orderOf(p), Near: near}
	if l.sigma() < large {
		f.Near = nearer
	}
	// Two counts, all others far below: k is their difference, of which 2t change. Fewer are a
	// post-processing of that.
	far := reach + reach/2 + 2*p.Affected
	wins := func(k int) span { return l.wins(l.reach+1, l.reach+1-k) }
	// A lead beyond K is that of no votes, before and after the move.
	duel := line{law: l, win: wins, lose: func(k int) span { return wins(-k) },
		shift: 2 * p.Affected, lost: lost, from: 2*p.Affected - p.Teachers, to: p.Teachers}
	f.Parts = duel.parts(far, least)
	sure := wins(-far+2*p.Affected).up + lost
	dearest := duel.bounds(p.Affected, p.Affected)
	if !two {
		// One count and the rest, the other count far below or none: one vote comes or goes.
		alone := line{law: l, win: l.f, lose: func(k int) span { return l.f(-k - 1) }, shift: 1,
			lost: lost, from: -reach, to: reach}
		f.Parts = append(f.Parts, alone.parts(reach, least)...)
		alone.swapped = true
		f.Parts = append(f.Parts, alone.parts(reach, least)...)
		f.Parts = append(f.Parts, l.plane(reach, least, p.Teachers)...)
		sure = max(sure, 2*lost)
		at := int(l.sigma())
		dearest = l.bounds(square{at, at, 1}, 0, 0)
	}
	f.Parts = append(f.Parts, single(certain(min(1, sure))))
	f.Scale = scaleOf(dearest)
	f.Ratio = l.largestRatio(reach, p.Affected)
	return f
}

// scaleOf returns about the scale of a game of which this is the dearest pair.
func scaleOf(dearest []game.Bounds) float64 {
	sum := 0.0
	for _, b := range dearest {
		d := math.Sqrt(b.P) - math.Sqrt(b.PPrime)
		sum += float64(d * d)
	}
	return max(1e-6, 2*math.Sqrt(sum))
}

// largestRatio is about the largest P'/P within the reach.
func (l *law) largestRatio(reach, affected int) float64 {
	r := l.p(max(0, reach-2*affected)).over(l.p(reach)).up
	if r = float64(r * r); !(r <= infinite) {
		r = infinite
	}
	return r
}

// sigma returns about σ, by the largest probability 1/(σ·√(2π)).
func (l *law) sigma() float64 { return 0.3989 / l.largest[0] }

// orderOf returns about the order of Rényi divergence that counts: 1 + √(ln(1/δ)/ρ), where zCDP of ρ
// costs (ε, δ).
func orderOf(p Problem) float64 {
	log := -num.Log(num.FromRat(num.Decimal(p.Delta))).Lower()
	return 1 + math.Sqrt(log)/(math.Sqrt(p.Epsilon+log)-math.Sqrt(log))
}
