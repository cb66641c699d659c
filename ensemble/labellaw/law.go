package labellaw

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strconv"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/memo"
)

// Law is the public law of a mechanism's labels. Make it with the method LabelLaw of a
// mechanism of package ensemble, or read it with Decode.
type Law struct {
	Channel
	K         int
	Mechanism string // its name
	// Answers is the number of labels that Worth is of: all that one table is made and priced for, and 1
	// where each label is priced by itself.
	Answers int
	Names   []string  // of the classes
	Shares  []float64 // π, of the classes
	Prior   Stated    // of the votes
	// Beta is β ≥ 0: +Inf where labels have no noise.
	Beta float64
	// Offsets of the layer, of classes that are told apart: one for each, 0 for the first. Else nil.
	Offsets []float64
	Limit   float64 // what the worth tends to for many labels; 0 where none is known
}

// Stated names the public prior that a Law was worked out by: one field is set.
type Stated struct {
	Mean          float64 `json:"mean,omitempty"`
	Concentration float64 `json:"concentration,omitempty"`
	Counts        bool    `json:"counts,omitempty"` // public counts of votes
	// Shares are the classes' by the prior, where they are told apart and not equal.
	Shares []float64 `json:"shares,omitempty"`
}

// Options are the inputs of a Law beside mechanism and prior. All are public.
type Options struct {
	Names  []string  // of the classes; nil for their numbers
	Shares []float64 // of the classes; nil for equal ones, and for the prior's of classes that are told apart
	Prior  Stated
}

// Complete fills in the names that Options leave out, for the given number of classes: what shares are depends on the
// mechanism. See Fit.
func (o Options) Complete(classes int) Options {
	o.Names, o.Shares = slices.Clone(o.Names), slices.Clone(o.Shares)
	if o.Names == nil {
		for c := range classes {
			o.Names = append(o.Names, strconv.Itoa(c))
		}
	}
	return o
}

// Validate returns an error naming the first field that breaks its rule.
func (l *Law) Validate() error {
	l = handle.Made(l)
	if err := cmp.Or(l.Channel.Validate(), check.Teachers(l.K), check.Whole("answers", l.Answers, 1, 0),
		checkShares(l.Shares, l.Classes)); err != nil {
		return err
	}
	if len(l.Names) != l.Classes {
		return check.Wantf("names of classes", len(l.Names), "one for each of the %d classes", l.Classes)
	}
	seen := map[string]bool{}
	for _, name := range l.Names {
		if seen[name] {
			return check.Want("name of a class", name, "another one for each class")
		}
		seen[name] = true
	}
	stated := 0
	for _, is := range []bool{l.Prior.Mean != 0, l.Prior.Concentration != 0, l.Prior.Counts} {
		if is {
			stated++
		}
	}
	if stated != 1 {
		return check.Want("prior", l.Prior, "one of mean, concentration and counts")
	}
	if !(l.Beta >= 0) {
		return check.Want("beta", l.Beta, "≥ 0")
	}
	if want := len(l.Apart); len(l.Offsets) != want {
		return check.Wantf("offsets of the layer", len(l.Offsets), "%d, one for each class that is told apart", want)
	}
	for _, x := range l.Offsets {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return check.Want("offset of the layer", x, "finite")
		}
	}
	if l.Apart != nil && !(math.Abs(l.Agrees-l.diagonal(l.Shares)) <= rounding) {
		return check.Want("agreement", l.Agrees, "the mean of the transition's diagonal by the shares")
	}
	if l.Prior.Shares != nil {
		if err := checkShares(l.Prior.Shares, l.Classes); err != nil {
			return err
		}
	}
	if !(l.Limit >= 0) {
		return check.Want("limit of the worth", l.Limit, "≥ 0")
	}
	return nil
}

// Worth returns how many labels without noise all Answers labels carry as much as.
func (l *Law) Worth() float64 {
	l = handle.Made(l)
	return l.Channel.Worth(l.Shares, l.Answers)
}

// limitNoises are the σ = 1/μ of Limit at a sensitivity of 1, one budget of which many mechanisms share.
var limitNoises memo.Of[accountant.Cost, float64]

// Limit returns the limit of the worth of Q labels of two classes as Q grows, where one table is priced
// for all Q labels within budget, and one record changes at most affected votes:
//
//	(E|lead|·μ/(2·affected))²,   lead the votes of one class minus those of the other, over the prior
//
// It is no bound: with few teachers fewer labels can be worth more. The error names the ε or δ of
// the budget that has no μ, or is ctx.Err(). Cost: some dozen prices of normal noise.
func Limit(ctx context.Context, prior Prior, affected int, budget accountant.Cost) (float64, error) {
	sigma, err := limitNoises.Get(budget, func() (float64, error) { return accountant.GaussianNoise(budget) })
	if err != nil {
		return 0, err
	}
	if prior == nil {
		return 0, errors.New("prior must be given")
	}
	lead, total := 0.0, 0.0
	for counts, weight := range prior {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		lead += weight * float64(slices.Max(counts)-slices.Min(counts))
		total += weight
	}
	return math.Pow(lead/total/(2*float64(affected)*sigma), 2), nil
}
