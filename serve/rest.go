package serve

import (
	"context"

	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
)

// rest is what can still be charged to a client: the least of the ledger, of the rule on totals that
// protect nobody, and of the client's share. A client that may not look is told of its own share
// alone.
type rest struct {
	*release.Amount         // nil where a client that may not look has no share of it
	Answers         *uint64 `json:"answers,omitempty"` // of a table for many answers
}

// rest returns what is left for a client in a state of the ledger, or of now where the state is
// none; nil where it may not know, and where the ledger cannot be read: what was answered is not
// lost for that.
func (s *Server) rest(ctx context.Context, client *member, now ledger.State) *rest {
	var out rest
	looks := client.may(mayLook)
	if looks && now.Head.Seq == 0 {
		var err error
		if now, err = s.Online.State(ctx); err != nil {
			return nil
		}
	}
	left, known := ledger.Cost{}, looks
	if looks {
		left = s.Online.Usable(now)
	}
	if client.share != nil {
		spent, err := s.Online.SpentBy(ctx, client.Name)
		if err != nil {
			return nil
		}
		own := client.share.Cost().Minus(spent)
		if !known {
			left = own
		}
		left, known = release.Least(left, own), true
	}
	if known {
		amount := release.NewAmount(left)
		out.Amount = &amount
	}
	if s.Online.Plan().Together().Most > 0 &&
		(looks || client.Answers != nil) {
		most, taken, own, err := s.Online.Taken(ctx, client.Name)
		if err != nil {
			return nil
		}
		answers := minus(most, taken)
		if client.Answers != nil {
			mine := minus(*client.Answers, own)
			if !looks {
				answers = mine
			}
			answers = min(answers, mine)
		}
		out.Answers = &answers
	}
	if out == (rest{}) {
		return nil
	}
	return &out
}

// minus is a - b, and 0 where b is more.
func minus(a, b uint64) uint64 { return a - min(a, b) }
