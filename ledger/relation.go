package ledger

import (
	"fmt"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
)

// Relation is a neighbouring relation. A cost is a promise about neighbours, so costs add up only
// where all are for the same relation: a ledger has one, for ever.
type Relation = accountant.Relation

// The relations that a ledger may have.
const (
	ReplaceOne     = accountant.ReplaceOne     // one record of the two datasets differs
	AddOrRemoveOne = accountant.AddOrRemoveOne // one of the two datasets has one record more
)

// checkRelation fails for what is not one of them.
func checkRelation(r Relation) error {
	if r == ReplaceOne || r == AddOrRemoveOne {
		return nil
	}
	return check.Wantf("neighbours", fmt.Sprintf("%q", r.Name()), "%q or %q", ReplaceOne.Name(),
		AddOrRemoveOne.Name())
}
