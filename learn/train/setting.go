package train

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/param"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
)

// Method is a method with its parameters.
type Method interface {
	// Plan prices the method for n records of dimension d. The error names the parameter that
	// breaks a rule, or what the method cannot do.
	Plan(n, d int) (Plan, error)
}

// Named is a method that programs take by its name and options.
type Named[O any] struct {
	Name    string
	Private bool // its models may be released
	Make    func(o O) (Method, error)
}

// Catalogue lists the methods of a package.
type Catalogue[O any] []Named[O]

// Names returns the names of the methods.
func (c Catalogue[O]) Names() []string {
	names := make([]string, len(c))
	for i, m := range c {
		names[i] = m.Name
	}
	return names
}

// Private reports whether models of the method of a name may be released.
func (c Catalogue[O]) Private(name string) bool {
	return slices.ContainsFunc(c, func(m Named[O]) bool { return m.Name == name && m.Private })
}

// New returns the method of a name. It refuses options that the method does not have, rather
// than to leave them out in silence; the error, an OptionError, names the first.
func (c Catalogue[O]) New(name string, o O) (Method, error) {
	i := slices.IndexFunc(c, func(m Named[O]) bool { return m.Name == name })
	if i < 0 {
		return nil, check.Want("method", fmt.Sprintf("%q", name), "one of "+strings.Join(c.Names(), ", "))
	}
	if err := CheckOptions(name, o); err != nil {
		return nil, err
	}
	return c[i].Make(o)
}

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

// CheckScale refuses a length that is not InScale. What it is may follow the rule.
func CheckScale(name string, x float64, what ...string) error {
	if InScale(x) {
		return nil
	}
	return check.Want(name, x, ScaleRule+strings.Join(what, ""))
}

// CheckScaleOr0 is CheckScale for a length that may be 0, such as "0 for none".
func CheckScaleOr0(name string, x float64, zero string) error {
	if x == 0 || InScale(x) {
		return nil
	}
	return check.Want(name, x, zero+", or "+ScaleRule)
}

// InScale reports whether a length is between LeastScale and LargestScale.
func InScale(x float64) bool { return x >= LeastScale && x <= LargestScale }

// Samples are the records of a run; tests count what is read.
type Samples interface {
	Row(i int) []float64
	Response(i int) float64
}

// Normals is the source of a run's noise; tests fix it.
type Normals interface {
	Restart(purpose string, round int)
	Fill(z []float64)
}

// CheckLambda refuses a λ of the regulariser λ‖w‖² that is below 0 or beyond data.MaxMagnitude.
func CheckLambda(lambda float64) error {
	if lambda >= 0 && lambda <= data.MaxMagnitude {
		return nil
	}
	return check.Want("lambda", lambda, "finite and ≥ 0")
}

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

// CheckStart checks the model that a run starts from, which has the dimension d of the data or of the model.
func CheckStart(start []float64, d int, of string) error {
	if len(start) != d {
		return check.Wantf("dimension of the start", len(start), "the %s's, %d", of, d)
	}
	for _, v := range start {
		if !(math.Abs(v) <= data.MaxMagnitude) {
			return check.Wantf("start", v, "at most %g in size", data.MaxMagnitude)
		}
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
