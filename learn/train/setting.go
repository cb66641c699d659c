package train

import (
	"fmt"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/param"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
)

// OptionError is an option that a method does not have.
type OptionError struct {
	Method string
	Option string // name of the field of the package's Options
	Flag   string
}

func (e *OptionError) Error() string { return fmt.Sprintf("%s has no %s", e.Method, e.Option) }

// CheckOptions refuses a struct of options that sets a parameter the method does not have. The
// *OptionError names the first.
func CheckOptions(method string, options any) error {
	for _, o := range param.Of(options) {
		if o.Stated() && !o.IsFor(method) {
			return &OptionError{Method: method, Option: o.Field, Flag: o.Flag}
		}
	}
	return nil
}

// Setting holds the parameters shared by the methods that shorten records and clip slopes, for a
// loss of type L. For private methods nothing in it may depend on the private data.
type Setting[L any] struct {
	Loss L
	// Radius is R, a public bound on the norm of a record's features. Longer records are shortened
	// to it. Private methods need it, since a bound taken from the data would reveal something of
	// them. For other methods 0 leaves records as they are.
	Radius float64
	// Clip bounds the slopes of the loss: larger ones are cut to it, which for a convex loss is to
	// minimise another convex loss with this Lipschitz constant. 0 is the loss's own bound.
	Clip float64
	// Target is the (ε, δ) to be met, of a private method.
	Target accountant.Cost
	// Neighbours is the neighbouring relation; 0 is ReplaceOne, or where a method has only one,
	// that.
	Neighbours accountant.Relation
}

// Radii, balls, diameters and clips are between LeastScale and LargestScale. Beyond, squares of
// features could underflow, so that a record would not be shortened. A single record could also
// decide whether a run leaves the range of numbers, so that the failure would reveal it.
const (
	LeastScale   = 1e-30
	LargestScale = 1e30
)

// ScaleRule is the rule of InScale, for messages of errors.
var ScaleRule = fmt.Sprintf("between %g and %g", LeastScale, LargestScale)

// InScale reports whether a length is between LeastScale and LargestScale.
func InScale(x float64) bool { return x >= LeastScale && x <= LargestScale }

// CheckSize refuses what is not the n records of d features that a plan was made for.
func CheckSize(r interface {
	Len() int
	Dim() int
}, n, d int) error {
	if r == nil {
		return check.Want("records", "nil", "given")
	}
	if r.Len() != n {
		return check.Wantf("number of records", r.Len(), "the %d of the plan", n)
	}
	if r.Dim() != d {
		return check.Wantf("number of features", r.Dim(), "the plan's, %d", d)
	}
	return nil
}

// CheckRecords is [CheckSize], and refuses a record that usable refuses ([data.Records.Check]).
func CheckRecords(r *data.Records, n, d int, usable func(x []float64, y float64) error) error {
	if err := CheckSize(r, n, d); err != nil {
		return err
	}
	return r.Check(usable)
}

// Shortened returns the records with features longer than radius in ‖·‖_q shortened to it, each
// record by itself, as the methods do: the constant feature of an intercept comes after.
func Shortened(r *data.Records, radius, q float64) *data.Records {
	if q == 2 {
		return r.Shortened(radius)
	}
	return r.Scaled(func(row []float64) float64 { return geometry.Shortening(row, radius, q) })
}
