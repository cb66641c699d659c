package release

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/ledger"
)

// Query is one query to an on-line release: the votes of all K teachers, or how many voted for
// each class.
type Query struct {
	// ID names the query, and is its request in the ledger: 1 to ledger.MaxID bytes. The same
	// ID with the same votes has the same answer for ever.
	ID string
	// Votes are the classes that the teachers voted for, in the order of the teachers; -1 for
	// a vote that is missing.
	Votes []int
	// Counts, instead of Votes, are how many teachers voted for each class, K in all.
	Counts []int
	// Client names who asks, "" for nobody. Another client is another request.
	Client string
	// Share, unless nil, is how much all requests of the client may spend.
	Share *ledger.Budget
}

// count returns the number of votes for each class and of those that are missing. A query that
// is out of its ranges is an [InputError], which quotes no votes: it may be logged.
func (q *Query) count(setting ensemble.Setting, mayMiss bool) (counts []int, missing int, err error) {
	defer func() {
		if err != nil {
			err = InputError{err}
		}
	}()
	switch {
	case q.Votes != nil && q.Counts != nil:
		return nil, 0, fmt.Errorf("votes and counts exclude each other")
	case q.Votes == nil && q.Counts == nil:
		return nil, 0, fmt.Errorf("votes or counts must be given")
	case q.Votes == nil:
		counts = slices.Clone(q.Counts)
		if setting.CheckCounts(counts, 0) != nil {
			return nil, 0, fmt.Errorf("counts must be %d numbers of at least 0, one for each class, with the sum K = %d", setting.Classes, setting.K)
		}
		return counts, 0, nil
	case len(q.Votes) != setting.K:
		return nil, 0, &check.Error{Name: "number of votes", Value: len(q.Votes), Rule: fmt.Sprintf("K = %d", setting.K)}
	}
	counts = make([]int, setting.Classes)
	for i, vote := range q.Votes {
		switch {
		case vote == -1 && mayMiss:
			missing++
		case vote == -1:
			return nil, 0, fmt.Errorf("the vote of teacher %d is missing, which this service does not allow (--missing coin)", i+1)
		case vote < 0 || vote >= setting.Classes:
			return nil, 0, fmt.Errorf("the vote of teacher %d is of no class: they are 0 to %d", i+1, setting.Classes-1)
		default:
			counts[vote]++
		}
	}
	return counts, missing, nil
}

// row is the query's votes as bytes: no two that differ have the same.
func (q *Query) row() []byte {
	kind, values := byte('v'), q.Votes
	if q.Votes == nil {
		kind, values = 'c', q.Counts
	}
	row := []byte{kind}
	for _, v := range values {
		row = binary.AppendVarint(row, int64(v))
	}
	return row
}
