package accountant

import "fmt"

// Relation is the neighbouring relation: it defines the pairs of datasets that are neighbours.
// Guarantees under different relations are never mixed: (ε, δ) under one is a different promise
// under the other.
type Relation int

// The zero Relation is none of them and is refused.
const (
	AddOrRemoveOne Relation = iota + 1 // one record is added or removed
	ReplaceOne                         // one record is replaced by another
	// BlankOne: one record is replaced by a blank one, which moves nothing (zero-out
	// adjacency). Two such steps replace a record. No ledger counts by it.
	BlankOne
)

// String returns the name that reports use.
func (r Relation) String() string {
	switch r {
	case AddOrRemoveOne:
		return "add or remove one record"
	case ReplaceOne:
		return "replace one record"
	case BlankOne:
		return "blank one record"
	}
	return fmt.Sprintf("Relation(%d)", int(r))
}

func (r Relation) check() error {
	if r < AddOrRemoveOne || r > BlankOne {
		return fmt.Errorf("neighbouring relation = %v, but it must be stated: AddOrRemoveOne, "+
			"ReplaceOne or BlankOne", r)
	}
	return nil
}
