package release

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/darrm/darrm/ledger"
)

// ShareError says that a client has spent its share of the budget.
type ShareError struct {
	Client string
	Share  ledger.Budget
	Spent  ledger.Cost // by the client, before the request
	Asked  ledger.Cost
	// Charged says that the budget was spent all the same: another server of the ledger
	// charged the client's last request at the same moment.
	Charged bool
}

func (e *ShareError) Error() string {
	charged := ""
	if e.Charged {
		charged = "; the request was charged, and is never answered"
	}
	return fmt.Sprintf("the client's share of the budget is spent: the request asks for (ε, δ) = %v, %v of %v is spent%s", e.Asked, e.Spent, e.Share, charged)
}

// shares are what each client has spent, by the ledger's own entries: a count in memory would
// be lost with the process, and another server would have another.
type shares struct {
	mu     sync.Mutex
	loaded bool
	seq    uint64 // the last entry in the sums
	spent  map[string]ledger.Cost
	flying map[string]ledger.Cost // of requests under way, whose charges are not in the sums
	asked  map[string][]*flight   // these requests, by their ids
}

// flight is a request under way.
type flight struct {
	client string
	cost   ledger.Cost // in flying; zero when it is in the sums
}

func newShares() *shares {
	return &shares{spent: map[string]ledger.Cost{}, flying: map[string]ledger.Cost{}, asked: map[string][]*flight{}}
}

// land takes the cost of a request out of flying: it is in the sums, or will not be.
func (s *shares) land(f *flight) {
	s.flying[f.client] = s.flying[f.client].Minus(f.cost)
	f.cost = ledger.Cost{}
}

// reserve admits a request of q that will cost so much, and returns what ends it, when it is
// charged and in the sums, or refused. What other servers charged at the same moment is found
// by [shares.verify].
func (s *shares) reserve(ctx context.Context, l *ledger.Ledger, q *Query, cost ledger.Cost) (end func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.loaded {
		if err := s.follow(ctx, l); err != nil {
			return nil, err
		}
		s.loaded = true
	}
	spent := s.spent[q.Client].Plus(s.flying[q.Client])
	if !spent.Plus(cost).Within(*q.Share) {
		return nil, &ShareError{Client: q.Client, Share: *q.Share, Spent: spent, Asked: cost}
	}
	f := &flight{q.Client, cost}
	s.flying[q.Client] = s.flying[q.Client].Plus(cost)
	s.asked[q.ID] = append(s.asked[q.ID], f)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.land(f)
		if s.asked[q.ID] = slices.DeleteFunc(s.asked[q.ID], func(other *flight) bool { return other == f }); len(s.asked[q.ID]) == 0 {
			delete(s.asked, q.ID)
		}
	}, nil
}

// verify says whether a charge of q is within the share, by the order of the ledger's entries:
// what all charges of the client up to this one cost. So every server decides the same.
func (s *shares) verify(ctx context.Context, l *ledger.Ledger, q *Query, charge ledger.Entry) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seq < charge.Seq {
		if err := s.follow(ctx, l); err != nil {
			return err
		}
	}
	if s.spent[q.Client].Within(*q.Share) {
		return nil
	}
	// Later charges may be what is too much.
	var before ledger.Cost
	err := each(ctx, l, 0, func(e *ledger.Entry) bool {
		if e.Seq < charge.Seq && clientOf(e) == q.Client {
			before = before.Plus(e.Total())
		}
		return e.Seq < charge.Seq
	})
	if err != nil || before.Plus(charge.Total()).Within(*q.Share) {
		return err
	}
	return &ShareError{Client: q.Client, Share: *q.Share, Spent: before, Asked: charge.Total(), Charged: true}
}

// spentBy returns what the client spent, as the ledger stands.
func (s *shares) spentBy(ctx context.Context, l *ledger.Ledger, client string) (ledger.Cost, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.follow(ctx, l)
	return s.spent[client], err
}

// follow adds to the sums what was charged since.
func (s *shares) follow(ctx context.Context, l *ledger.Ledger) error {
	return each(ctx, l, s.seq, func(e *ledger.Entry) bool {
		if client := clientOf(e); client != "" {
			s.spent[client] = s.spent[client].Plus(e.Total())
			for _, f := range s.asked[e.ID] { // else it would be counted twice until it is answered
				s.land(f)
			}
		}
		s.seq = e.Seq
		return true
	})
}

// each visits the entries after number seq until visit says no.
func each(ctx context.Context, l *ledger.Ledger, seq uint64, visit func(*ledger.Entry) bool) error {
	for {
		entries, err := l.After(ctx, seq)
		if err != nil || len(entries) == 0 {
			return err
		}
		for i := range entries {
			if !visit(&entries[i]) {
				return nil
			}
		}
		seq = entries[len(entries)-1].Seq
	}
}

// clientOf returns who asked for what was charged; "" for nobody.
func clientOf(e *ledger.Entry) string {
	var event Event
	if e.Kind != ledger.KindCharge || json.Unmarshal(e.Event, &event) != nil {
		return ""
	}
	return event.Client
}
