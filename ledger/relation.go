package ledger

import (
	"fmt"

	"github.com/darrm/darrm/internal/check"
)

// Relation is a neighbouring relation: it defines the pairs of datasets that are neighbours. A cost
// is a promise about neighbours, so costs add up only where all are for the same relation: a ledger
// has one, for ever.
type Relation string

const (
	// ReplaceOne: one record of the two datasets differs.
	ReplaceOne Relation = "replace"
	// AddOrRemoveOne: one of the two datasets has one record more.
	AddOrRemoveOne Relation = "add-remove"
)

// check fails for what is not one of the relations.
func (r Relation) check() error {
	if r == ReplaceOne || r == AddOrRemoveOne {
		return nil
	}
	return &check.Error{Name: "neighbours", Value: fmt.Sprintf("%.40q", string(r)),
		Rule: fmt.Sprintf("%q or %q", ReplaceOne, AddOrRemoveOne)}
}
