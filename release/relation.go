package release

import (
	"fmt"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/ledger"
)

// inLedger is the relation as a ledger names it; "" for none, which no ledger takes.
func inLedger(r accountant.Relation) ledger.Relation {
	switch r {
	case accountant.ReplaceOne:
		return ledger.ReplaceOne
	case accountant.AddOrRemoveOne:
		return ledger.AddOrRemoveOne
	}
	return ""
}

var relations = []accountant.Relation{accountant.ReplaceOne, accountant.AddOrRemoveOne}

// RelationNames returns what [ParseRelation] reads.
func RelationNames() (names []string) {
	for _, r := range relations {
		names = append(names, string(inLedger(r)))
	}
	return names
}

// ParseRelation reads "replace" or "add-remove".
func ParseRelation(s string) (accountant.Relation, error) {
	for _, r := range relations {
		if s == string(inLedger(r)) {
			return r, nil
		}
	}
	return 0, &UsageError{&check.Error{Name: "neighbours", Value: fmt.Sprintf("%q", s),
		Rule: `"replace" or "add-remove"`}}
}
