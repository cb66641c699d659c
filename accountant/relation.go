package accountant

import (
	"fmt"
	"slices"
)

// Relation is the neighbouring relation: it defines the pairs of datasets that are neighbours.
// Guarantees under different relations are never mixed: (ε, δ) under one is a different promise
// under the other. A ledger has one, for ever. As JSON it is its [Relation.Name].
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

// relationNames are in the order of the relations.
var relationNames = []string{"add-remove", "replace", "blank"}

// Name returns the relation's name for programs, such as "replace"; "" of none of them.
func (r Relation) Name() string {
	if r < AddOrRemoveOne || r > BlankOne {
		return ""
	}
	return relationNames[r-1]
}

// MarshalText returns the name.
func (r Relation) MarshalText() ([]byte, error) { return []byte(r.Name()), r.check() }

// UnmarshalText reads a name.
func (r *Relation) UnmarshalText(name []byte) error {
	i := slices.Index(relationNames, string(name))
	if i < 0 {
		return fmt.Errorf("neighbouring relation = %.40q, but it must be among %q", name, relationNames)
	}
	*r = Relation(i + 1)
	return nil
}

func (r Relation) check() error {
	if r < AddOrRemoveOne || r > BlankOne {
		return fmt.Errorf("neighbouring relation = %v, but it must be stated: AddOrRemoveOne, "+
			"ReplaceOne or BlankOne", r)
	}
	return nil
}
