package accountant

import "fmt"

// Relation says which datasets count as neighbours. Guarantees under different
// relations are never mixed: (ε, δ) under one is a different promise under the other.
type Relation int

// The zero Relation is none of them and is refused.
const (
	AddOrRemoveOne Relation = iota + 1 // one record is added or removed
	ReplaceOne                         // one record is replaced by another
	ZeroOutOne                         // one record is made to count for nothing, while the number of records stays
)

// String returns the name that reports use.
func (r Relation) String() string {
	switch r {
	case AddOrRemoveOne:
		return "add or remove one record"
	case ReplaceOne:
		return "replace one record"
	case ZeroOutOne:
		return "zero out one record"
	}
	return fmt.Sprintf("Relation(%d)", int(r))
}

func (r Relation) check() error {
	if r < AddOrRemoveOne || r > ZeroOutOne {
		return fmt.Errorf("neighbouring relation = %v, but it must be stated: AddOrRemoveOne, ReplaceOne or ZeroOutOne", r)
	}
	return nil
}
