package answers

import (
	"context"
	"errors"
	"fmt"

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
	// Value is how often the answer is a class with the most votes under the prior, plus the
	// prior's AbstainValue times how often it is no class; rounded down.
	Value float64
	// UpperBound is a value that no table for two classes, used for all Q answers, exceeds: 1 for more
	// classes and where abstaining is an answer.
	UpperBound float64
	// LawBound is a value that no table under the Law's Moment exceeds, by Proof: 1 without one.
	LawBound float64
	Solver   string // what proposed the masses; nothing rests on it
	Version  string // the program that wrote the table
}

// NewTable works out the value of c and its bounds. The error is what is wrong with prior, law or
// proof, or ctx.Err(). Cost: that of Prior.Weights.
func NewTable(ctx context.Context, c *Certified, prior Prior, law Law,
	proof Proof) (*Table, error) {
	if err := prior.Validate(c.Problem()); err != nil {
		return nil, err
	}
	w, err := prior.Weights(ctx, c.system)
	if err != nil {
		return nil, err
	}
	return NewWeightedTable(c, prior, w, law, proof)
}

// NewWeightedTable is NewTable where the prior's weights are known.
func NewWeightedTable(c *Certified, prior Prior, w plurality.Weights, law Law, proof Proof,
) (*Table, error) {
	if err := law.Validate(); err != nil {
		return nil, err
	}
	s := c.system
	if (law.Name == ChainLaw || law.Name == CoinsLaw) && !c.Problem().HasChains() {
		return nil, &check.Error{Name: "law", Value: fmt.Sprintf("%q", law.Name),
			Rule: "of two classes at affected = 1, and never no class"}
	}
	t := &Table{Certified: handle.Copy(c), Prior: prior, Law: law, Proof: proof}
	t.Value = s.space.Value(w, prior.AbstainValue, c.masses)
	t.UpperBound = s.twoClassBound(w)
	var err error
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
	Prior   Prior
	Law     Law
	Proof   Proof
	Solver  string
	Version string

	stated fileFigures
}

// Certify prices the masses and works out value and bounds anew. The error is a *PriceError, a
// *FormatError, game.ErrTooLarge, or ctx.Err().
func (c *Claim) Certify(ctx context.Context) (*Table, error) {
	c = handle.Made(c)
	certified, err := Certify(ctx, c.System, c.Masses, c.Price)
	if bad := (*check.Error)(nil); errors.As(err, &bad) { // masses or inputs that are none
		return nil, &FormatError{What: formatName, Reason: err}
	}
	if err != nil {
		return nil, err
	}
	t, err := NewTable(ctx, certified, c.Prior, c.Law, c.Proof)
	if t, err = strictjson.Result(ctx, formatName, t, err); err != nil {
		return nil, err
	}
	t.Solver, t.Version = c.Solver, c.Version
	return t, nil
}

// Verify certifies the claim and compares what it says about itself with what is found: bounds may
// be weaker than those found, counts are the same. The errors are those of Certify, or a
// *MismatchError.
func (c *Claim) Verify(ctx context.Context) (*Table, error) {
	c = handle.Made(c)
	t, err := c.Certify(ctx)
	if err != nil {
		return nil, err
	}
	var s check.Stated
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
	if err := s.Err(); err != nil {
		return nil, err
	}
	return t, nil
}
