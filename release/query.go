package release

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/votes"
)

// Query is one query to an on-line release: the votes of all K teachers, or how many voted for
// each class.
type Query struct {
	// ID names the query, and is its request in the ledger: 1 to ledger.MaxID bytes. The same
	// ID with the same votes and ReplayKey has the same answer for ever.
	ID string
	// ReplayKey is the asker's secret of at least 128 random bits, as 32 to 64 digits 0-9 and a-f.
	// Without one the query is answered once and never again: ids are no secrets, and who guesses
	// votes could else ask until he is answered.
	ReplayKey string
	// Votes are the classes that the teachers voted for, in the order of the teachers; -1 for
	// a vote that is missing.
	Votes []int
	// Counts, instead of Votes, are how many teachers voted for each class, K in all.
	Counts []int
	// Sets, instead of Votes where each question has several labels ([OnlineOptions.Several]), has of each teacher
	// the labels that it says yes to, by their index, at most L; nil for a vote that is missing. The first τ
	// are counted.
	Sets [][]int
	// Asked are the labels that are answered, of Sets; nil for all. A query is charged as one question whichever
	// they are, and another one about the same question as another.
	Asked []int
	// Client names who asks, "" for nobody. The id belongs to the client that asked first.
	Client string
	// Share, unless nil, is how much all requests of the client may spend.
	Share *ledger.Budget
	// AnswersShare, unless nil, is how many answers of a table for many answers the client may take.
	AnswersShare *uint64
}

// count returns the number of votes for each class and of those that are missing. A query that
// is out of its ranges is an [InputError], which quotes no votes: it may be logged. Of a mechanism
// that takes votes which are none, none becomes a coin: missing is 0.
func (q *Query) count(setting ensemble.Setting,
	policy votes.MissingPolicy) (counts []int, missing int, err error) {
	defer func() {
		if err != nil {
			err = &InputError{err}
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
			sum := "the sum"
			if setting.Missing {
				sum = "a sum of at most"
			}
			return nil, 0, fmt.Errorf("counts must be %d numbers of at least 0, one for each class, with "+
				"%s K = %d", setting.Classes, sum, setting.K)
		}
		return counts, 0, nil
	case len(q.Votes) != setting.K:
		return nil, 0, check.Wantf("number of votes", len(q.Votes), "K = %d", setting.K)
	}
	counts = make([]int, setting.Classes)
	for i, vote := range q.Votes {
		switch {
		case vote == -1 && policy == votes.MissingCoin:
			missing++
		case vote == -1 && policy == votes.MissingAbstain && setting.Missing:
		case vote == -1:
			allowed := votes.MissingCoin
			if setting.Missing {
				allowed = votes.MissingAbstain
			}
			return nil, 0, check.Namedf("the vote of teacher %d is missing, which this service does not "+
				"allow (%s %v)", i+1, pMissing, allowed)
		case vote < 0 || vote >= setting.Classes:
			return nil, 0, fmt.Errorf("the vote of teacher %d is of no class: they are 0 to %d", i+1,
				setting.Classes-1)
		default:
			counts[vote]++
		}
	}
	return counts, missing, nil
}

// replayKey returns ReplayKey or, where there is none, a new one that nobody knows. An error is an
// [InputError], which does not quote it.
func (q *Query) replayKey() ([]byte, error) {
	if q.ReplayKey == "" {
		unknown := make([]byte, 32)
		rand.Read(unknown) // never fails: crypto/rand ends the program instead
		return unknown, nil
	}
	if n := len(q.ReplayKey); n < 32 || n > 64 || strings.Trim(q.ReplayKey, "0123456789abcdef") != "" {
		return nil, &InputError{errors.New("the replay key must be 32 to 64 of the digits 0-9 and a-f: " +
			"at least 128 random bits")}
	}
	return []byte(q.ReplayKey), nil
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
