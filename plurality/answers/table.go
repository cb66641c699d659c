package answers

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/darrm/darrm/accountant/game"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/strictjson"
	"github.com/darrm/darrm/plurality"
)

// Table is a certified mechanism with all that is known about it: what it is to be best at, and how
// good it is.
type Table struct {
	*Certified
	Prior Prior
	Law   Law
	Proof Proof
	// Events prove UpperBound of more classes than two, and where abstaining is an answer.
	Events []Event
	// Value is how often the answer is a class with the most votes under the prior, plus the
	// prior's AbstainValue times how often it is no class; with Costs minus the expected cost of an
	// answer. It is rounded down.
	Value float64
	// UpperBound is a value that no table that is used for all Q answers exceeds: of two classes by
	// the window of coins, else by Events, 1 without them.
	UpperBound float64
	// LawBound is a value that no table under the Law's Moment exceeds, by Proof: 1 without one.
	LawBound float64
	Solver   string // what proposed the masses; nothing rests on it
	Version  string // the program that wrote the table
}

// NewTable works out the value of c and its bounds. The error is what is wrong with prior, law or
// proof or of the events, or ctx.Err(). Cost: that of Prior.Weights, and some milliseconds for each factor
// of the events.
func NewTable(ctx context.Context, c *Certified, prior Prior, law Law,
	proof Proof, events ...Event) (*Table, error) {
	if err := prior.Validate(c.Problem()); err != nil {
		return nil, err
	}
	w, err := prior.Weights(ctx, c.system)
	if err != nil {
		return nil, err
	}
	return NewWeightedTable(c, prior, w, law, proof, events...)
}

// NewWeightedTable is NewTable where the prior's weights are known.
func NewWeightedTable(c *Certified, prior Prior, w plurality.Weights, law Law, proof Proof,
	events ...Event) (*Table, error) {
	if err := law.Validate(); err != nil {
		return nil, err
	}
	s := c.system
	if (law.Name == ChainLaw || law.Name == CoinsLaw) && !c.Problem().HasChains() {
		return nil, check.Want("law", fmt.Sprintf("%q", law.Name),
			"one for these classes: chains are for two classes without abstentions")
	}
	// What each answer keeps is proved where the price is composed of it, and is the law's word else.
	if each := c.certificate.Each; law.Name == OneLaw && each != (game.Each{}) && each != (game.Each{Epsilon: law.Epsilon, Delta: law.Delta}) {
		return nil, check.Wantf("law", fmt.Sprintf("(%v, %v) of each answer", law.Epsilon, law.Delta),
			"what the price states of each, (%v, %v)", each.Epsilon, each.Delta)
	}
	t := &Table{Certified: handle.Copy(c), Prior: prior, Law: law, Proof: proof, Events: events}
	t.Value = s.Value(prior, w, c.masses)
	t.UpperBound = s.bound(prior, w)
	if c.Problem().Named && len(proof) > 0 {
		return nil, check.Want("proof", fmt.Sprintf("%d multipliers", len(proof)),
			"left out where the classes are told apart")
	}
	if c.Problem().Labels > 0 && len(events) > 0 {
		return nil, check.Want("events", fmt.Sprintf("%d multipliers", len(events)),
			"left out where each label has masses of its own")
	}
	byEvents, err := s.eventBound(w, prior, events)
	if err != nil {
		return nil, err
	}
	if byEvents < prior.perfect() {
		t.UpperBound = min(t.UpperBound, byEvents+boundSlack)
	}
	if t.LawBound, err = s.lawBound(w, prior.AbstainValue, law, proof); err != nil {
		return nil, err
	}
	// A private table cannot be better than a bound for all of them: then one is wrong.
	if t.Value > t.UpperBound {
		return nil, fmt.Errorf("no table's value is above %v, but it is %v", t.UpperBound, t.Value)
	}
	return t, nil
}

// Claim is the content of a file, checked for form and not yet for truth. It cannot release
// anything; Certify turns it into a Table.
type Claim struct {
	System  *System
	Masses  []uint64
	Price   game.Options
	Each    game.Each // in the place of Price: see CertifyEach
	Prior   Prior
	Law     Law
	Proof   Proof
	Events  []Event
	Solver  string
	Version string

	stated fileFigures
}

// Certify prices the masses and works out value and bounds anew. The error is a *PriceError, a
// *FormatError, game.ErrTooLarge, or ctx.Err().
func (c *Claim) Certify(ctx context.Context) (*Table, error) {
	c = handle.Made(c)
	certified, err := c.prove(ctx)
	if bad := (*check.Error)(nil); errors.As(err, &bad) { // masses or inputs that are none
		return nil, &FormatError{What: formatName, Reason: err}
	}
	if err != nil {
		return nil, err
	}
	t, err := NewTable(ctx, certified, c.Prior, c.Law, c.Proof, c.Events...)
	if t, err = strictjson.Result(ctx, formatName, t, err); err != nil {
		return nil, err
	}
	t.Solver, t.Version = c.Solver, c.Version
	return t, nil
}

func (c *Claim) prove(ctx context.Context) (*Certified, error) {
	if c.Each != (game.Each{}) {
		return CertifyEach(ctx, c.System, c.Masses, c.Each)
	}
	return Certify(ctx, c.System, c.Masses, c.Price)
}

// Verify certifies the claim and compares what it says about itself with what is found: bounds may
// be weaker than those found, counts are the same. The errors are those of Certify, or a
// *MismatchError.
func (c *Claim) Verify(ctx context.Context) (*Table, error) {
	c = handle.Made(c)
	return strictjson.Verify(ctx, c, func(s *check.Stated, t *Table) {
		stated, found := c.stated, t.figures()
		s.Lower("value", stated.Value, found.Value)
		if found.UpperBound < 1 { // its logarithms may differ between processors
			found.UpperBound -= boundSlack / 2
		}
		s.Upper("upper_bound", stated.UpperBound, found.UpperBound)
		s.Upper("law_bound", stated.LawBound, found.LawBound)
		s.Upper("certificate.delta", stated.Certificate.Delta, found.Certificate.Delta)
		s.Exact("certificate.pairs", stated.Certificate.Pairs, found.Certificate.Pairs)
		s.Exact("hash", stated.Hash, found.Hash)
	})
}

// Name is the name of a way to make a table.
type Name string

const (
	NormalLaw Name = "normal" // normal noise on each count, and the largest wins
	// two classes: the largest leads of a class that an order allows, by the prior
	ChainLaw Name = "chain"
	// two classes: the largest leads of a class that Q coins of neighbours allow, by the prior
	CoinsLaw   Name = "coins"
	OneLaw     Name = "one"     // the best of which each answer is (ε, δ)-DP
	ProgramLaw Name = "program" // a convex program: the best under an order's bound on neighbours
)

// Law describes how a table was made. The promise does not rest on it: the integer masses are
// priced, whatever they come from. The bound of a Proof is one on all tables under the Law's
// Moment.
type Law struct {
	Name  Name    `json:"name"`
	Sigma float64 `json:"sigma,omitempty"` // σ of the noise on each count, of NormalLaw
	// ε of CoinsLaw: Q coins of neighbours' probabilities are (ε, δ)-indistinguishable. ε of OneLaw
	Epsilon float64 `json:"epsilon,omitempty"`
	Delta   float64 `json:"delta,omitempty"` // δ of OneLaw
	// Order α and Moment R of ChainLaw and ProgramLaw: for all neighbours P, P', in either order,
	//
	//	Σ P^α·P'^(1-α) ≤ 1 + R,   R = e^((α-1)·D_α) - 1
	Order  float64 `json:"order,omitempty"`
	Moment float64 `json:"moment,omitempty"`
}

// MaxOrder is the largest order of a Law.
const MaxOrder = 128

// Validate returns an error naming the first field that breaks its rule.
func (l Law) Validate() error {
	for _, unused := range []struct {
		name  string
		value float64
		used  bool
	}{
		{"sigma", l.Sigma, l.Name == NormalLaw},
		{"epsilon of the law", l.Epsilon, l.Name == CoinsLaw || l.Name == OneLaw},
		{"delta of the law", l.Delta, l.Name == OneLaw},
		{"order", l.Order, l.Name == ChainLaw || l.Name == ProgramLaw},
		{"moment", l.Moment, l.Name == ChainLaw || l.Name == ProgramLaw},
	} {
		if !unused.used && unused.value != 0 {
			return check.Wantf(unused.name, unused.value, "0 where the law is %.40q", string(l.Name))
		}
	}
	switch l.Name {
	case NormalLaw:
		return check.Positive("sigma", l.Sigma)
	case CoinsLaw:
		return check.UpTo("epsilon of the law", l.Epsilon, check.MaxTotalEpsilon)
	case OneLaw:
		return game.Each{Epsilon: l.Epsilon, Delta: l.Delta}.Validate()
	case ChainLaw, ProgramLaw:
		if l.Order != math.Trunc(l.Order) || !(l.Order >= 2 && l.Order <= MaxOrder) {
			return check.Wantf("order", l.Order, "a whole number between 2 and %d", MaxOrder)
		}
		return check.Positive("moment", l.Moment)
	}
	return check.Want("law", fmt.Sprintf("%.40q", string(l.Name)), `"normal", "chain", "coins", "one" or "program"`)
}
