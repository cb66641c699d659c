package release

import (
	"fmt"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
)

// relations are those that a ledger may have.
var relations = []accountant.Relation{accountant.ReplaceOne, accountant.AddOrRemoveOne}

// RelationNames returns what [ParseRelation] reads.
func RelationNames() (names []string) {
	for _, r := range relations {
		names = append(names, r.Name())
	}
	return names
}

// ParseRelation reads "replace" or "add-remove".
func ParseRelation(s string) (accountant.Relation, error) {
	for _, r := range relations {
		if s == r.Name() {
			return r, nil
		}
	}
	return 0, &UsageError{&check.Error{Name: "neighbours", Value: fmt.Sprintf("%q", s),
		Rule: `"replace" or "add-remove"`}}
}
