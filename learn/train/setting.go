package train

import "github.com/darrm/darrm/accountant"

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
