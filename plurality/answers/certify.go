package answers

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/darrm/darrm/accountant/game"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/plurality"
)

// PriceError is the error for masses whose answers together are not certified to keep the promise.
type PriceError struct {
	Problem Problem
	Delta   float64 // the price at the promised ε
}

func (e *PriceError) Error() string {
	p := e.Problem
	return fmt.Sprintf("the masses are not certified to answer %d queries (%g, %g)-differentially "+
		"privately: at that epsilon the price is delta = %.17g",
		p.Answers, p.Epsilon, p.Delta, e.Delta)
}

// Certificate is the price that was proved of the masses, and how: the game was worked out as finely
// as Price says, or each answer keeps Each, and Q such answers are composed exactly.
type Certificate struct {
	Pairs int          // ordered pairs of neighbouring histograms, all of which are in the price
	Delta float64      // the price of Q answers at the promised ε, rounded up: at most δ
	Price game.Options // how finely the game was worked out; 0 where answers were composed
	Each  game.Each    // what each answer keeps, where answers were composed
}

// Certified is a mechanism with the proof of what it promises: integer masses with which Q answers,
// however they are asked for, have been priced. It can only be made by certifying, so whoever holds
// one may release with it. It is immutable.
type Certified struct {
	system      *System
	masses      []uint64
	certificate Certificate
}

// Certify checks that the masses, one for each variable of s's Space, and of each label, sum to plurality.One in each
// histogram, and prices Q answers at the promised ε. The price is that of a game in which an
// adversary knows all labels so far and chooses the next pair of neighbours (package game): it is
// worked out from the integers alone, over every pair, and never too low. That the proved checker's list has
// every pair: price_ok in proofs/Answers.v, named_listed in proofs/Named.v. The error is a
// *PriceError where it is above δ, a *constraints.ParameterError for masses that are none and for
// o, game.ErrTooLarge, or ctx.Err(). Cost: that of Price.
func Certify(ctx context.Context, s *System, masses []uint64, o game.Options) (*Certified, error) {
	return s.certified(masses, func(masses []uint64) (c Certificate, err error) {
		c.Delta, c.Price, err = s.Price(ctx, masses, o)
		return c, err
	})
}

// CertifyEach is Certify by another proof: by the masses themselves each answer keeps each, and Q of
// any answers that keep it are (ε, δ)-DP together. For few answers that may admit what the game
// refuses, which rounds ratios to a lattice. Answers are at most game.MaxComposed.
func CertifyEach(ctx context.Context, s *System, masses []uint64, each game.Each) (*Certified, error) {
	return s.certified(masses, func(masses []uint64) (c Certificate, err error) {
		if c.Delta, err = each.Composed(s.problem.Epsilon, s.problem.Answers); err != nil {
			return c, err
		}
		keeps, err := each.Keeps(ctx, s.Laws(ctx, masses))
		if !keeps { // then nothing is proved
			c.Delta = 1
		}
		c.Each = each
		return c, err
	})
}

// certified returns the mechanism of the masses if what prove says of them keeps the promise.
func (s *System) certified(masses []uint64, prove func(masses []uint64) (Certificate, error)) (*Certified, error) {
	if s == nil || s.space == nil {
		return nil, errors.New("system must be given: use NewSystem")
	}
	if err := s.checkMasses(masses); err != nil {
		return nil, err
	}
	masses = append([]uint64(nil), masses...) // which nobody else can change
	c, err := prove(masses)
	if err != nil {
		return nil, err
	}
	if !(c.Delta <= s.delta) { // NaN too
		return nil, &PriceError{s.problem, c.Delta}
	}
	c.Pairs = s.pairs
	return &Certified{handle.Copy(s), masses, c}, nil
}

// Price returns a δ such that Q answers drawn from the masses are (ε, δ)-differentially private, ε
// being the problem's, and the options with their defaults. Cost: that of game.Game.Delta.
func (s *System) Price(ctx context.Context, masses []uint64,
	o game.Options) (float64, game.Options, error) {
	s = handle.Made(s)
	g, err := game.New(ctx, s.Laws(ctx, masses), o)
	if err != nil {
		return 0, o, err
	}
	delta, err := g.Delta(ctx, s.problem.Epsilon, s.problem.Answers)
	return delta, g.Options(), err
}

// Laws yields the answer's laws under each unordered pair of neighbours, outcome by outcome.
func (s *System) Laws(ctx context.Context, masses []uint64) game.Pairs {
	s = handle.Made(s)
	if s.problem.Labels > 0 {
		return s.lawsOfLabels(ctx, masses)
	}
	return Laws(ctx, s.space, s.reach(), masses)
}

// Laws yields the laws of an answer of the masses, one for each variable of the space, under each
// unordered pair of histograms that the votes of 1 to t teachers lead from one to the other.
func Laws(ctx context.Context, space *plurality.Space, t int, masses []uint64) game.Pairs {
	return func(yield func(game.Pair, error) bool) {
		var pair game.Pair
		probability := func(i int) game.Probability {
			return game.Probability{Mass: masses[i], Classes: space.ClassesOf(i)}
		}
		enough := false
		err := space.Pairs(ctx, t, func(p *plurality.Pair) bool {
			if p.To < p.From { // it comes in the other order too
				return true
			}
			pair = pair[:0]
			for _, c := range p.Columns {
				pair = append(pair, game.Outcome{Count: c.Classes, P: probability(c.I),
					PPrime: probability(c.J)})
			}
			enough = !yield(pair, nil)
			return !enough
		})
		if err != nil && !enough {
			yield(nil, err)
		}
	}
}

// Curve returns (ε, δ) that up to Q answers keep, ascending in ε from 0 on, with δ falling to least
// in (0,1) or as far as it falls: what accountant.NewHockeyStick takes, so that these answers add
// up with other events. It is proved as the certificate is. Cost: that of game.Game.Curve.
func (c *Certified) Curve(ctx context.Context, least float64) ([]game.Point, error) {
	if err := c.whole(); err != nil {
		return nil, err
	}
	if c.certificate.Each != (game.Each{}) {
		return c.certificate.Each.Curve(least, c.system.problem.Answers)
	}
	g, err := game.New(ctx, c.system.Laws(ctx, c.masses), c.certificate.Price)
	if err != nil {
		return nil, err
	}
	return g.Curve(ctx, least, c.system.problem.Answers)
}

// System returns a copy of what the mechanism is one for, nil of the zero Certified.
func (c *Certified) System() *System {
	if c == nil {
		return nil
	}
	return handle.Copy(c.system)
}

// Same reports whether both are one mechanism: the same numbers, for the same problem.
func (c *Certified) Same(d *Certified) bool {
	return c != nil && d != nil && c.Problem() == d.Problem() && slices.Equal(c.masses, d.masses)
}

// Problem returns what is promised. The zero Certified promises nothing: K = 0.
func (c *Certified) Problem() Problem {
	if c == nil || c.system == nil {
		return Problem{}
	}
	return c.system.problem
}

// Certificate returns what was proved.
func (c *Certified) Certificate() Certificate { return handle.Made(c).certificate }

// Mass returns g(λ,v) of variable i of the Space: with probability g/One the answer is one of the
// classes with v votes, each equally likely.
func (c *Certified) Mass(i int) uint64 {
	if handle.Made(c).masses == nil {
		return 0
	}
	return c.masses[i]
}

// Masses returns the masses of the histogram of these votes: those of its groups of classes with
// equal votes, in descending order of the votes, then that of abstaining where it is an answer. A
// label is drawn by one uniform integer below plurality.One against them, and each class of the
// group is equally likely. Whoever draws counts the answers: there are at most Q.
func (c *Certified) Masses(votes []int) ([]uint64, error) {
	counts, err := c.counts(votes)
	if err != nil {
		return nil, err
	}
	h, err := c.system.space.Index(counts)
	if err != nil {
		return nil, err
	}
	first, end := c.system.space.Range(h)
	return append([]uint64(nil), c.masses[first:end]...), nil
}

// Hash names the mechanism and its promise: a charge for up to Q answers is one of this table, and
// two tables under one charge may cost more than either promises. It is the SHA-256, in
// hexadecimal, of the problem and all masses. Neither prior, law nor solver are in it.
func (c *Certified) Hash() string {
	c = handle.Made(c)
	p := c.Problem()
	h := sha256.New()
	fmt.Fprintf(h, "darrm %s %d: k=%d classes=%d affected=%d missing=%t answers=%d epsilon=%v "+
		"delta=%v abstain=%t\n",
		formatKind, FormatVersion, p.K, p.Classes, p.Affected, p.Missing, p.Answers, p.Epsilon, p.Delta,
		p.Abstain)
	if p.Named {
		fmt.Fprintln(h, "named")
	}
	if p.Labels > 0 { // which of the masses are whose follows from their order
		fmt.Fprintf(h, "labels=%d\n", p.Labels)
	}
	var b [8]byte
	for _, m := range c.masses {
		binary.LittleEndian.PutUint64(b[:], m)
		h.Write(b[:])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Law returns the probability of each class when these are the votes, then that of abstaining where
// it is an answer, to the nearest float64. It is not private.
func (c *Certified) Law(votes []int) ([]float64, error) {
	counts, err := c.counts(votes)
	if err != nil {
		return nil, err
	}
	return c.system.space.Law(c.masses, counts)
}

func (c *Certified) counts(votes []int) ([]int, error) {
	if err := c.whole(); err != nil {
		return nil, err
	}
	if c.system.problem.Labels > 0 {
		return nil, errWhichLabel
	}
	return c.system.counts(votes)
}

// whole returns an error for the zero Certified.
func (c *Certified) whole() error {
	if c.Problem().K < 1 {
		return errors.New("the mechanism was not certified")
	}
	return nil
}
