package report

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/randsrc/stream"
)

// Stream names one of the two streams of a round.
type Stream int

// The streams of a round: reports of gradients, and of differences of gradients.
const (
	Gradients Stream = iota
	Differences
	streams
)

// String returns the stream's name.
func (s Stream) String() string {
	switch s {
	case Gradients:
		return "gradients"
	case Differences:
		return "differences"
	}
	return fmt.Sprintf("Stream(%d)", int(s))
}

// ErrPartialRound says that a round's reports are not all there, or are too few.
var ErrPartialRound = errors.New("the round is not complete")

// Expected is what one stream of a round takes.
type Expected struct {
	Reports int // how many messages; 0 where the stream is silent
	Minimum int // how few may be released if clients drop out; 0: all of them
	Size    int // bytes of each message
}

// Enough refuses to release a stream with so few reports, or more than there can be: ErrPartialRound.
func (e Expected) Enough(of Stream, count int) error {
	least := cmp.Or(e.Minimum, e.Reports)
	if count < least || count > e.Reports {
		return fmt.Errorf("%d of %d reports of %v, at least %d must be in: %w", count, e.Reports, of, least, ErrPartialRound)
	}
	return nil
}

// Shuffler holds one round's messages until all are in, and releases each stream in a
// uniformly random order. The two orders are independent: were a record's two reports at one
// place they would be one report of 2ε₀. It keeps no source, time or
// order of arrival. It is not safe for concurrent use.
//
// Amplification counts honest reports that were really released: the price of a round is for the
// minimum less the reports that colluding clients may have sent.
type Shuffler struct {
	expected [streams]Expected
	queues   [streams][]byte
	coins    stream.Coins
	round    int
	done     bool
}

// Purposes of the shuffler's streams of coins, one for each stream of messages.
var permutations = [streams]string{"federated permutation of gradients", "federated permutation of differences"}

// NewShuffler returns the shuffler of one round, whose permutations come from the coins'
// streams of the round. For a private round they are stream.Secret's, which neither the server nor a client
// knows. At least one report must be expected.
func NewShuffler(coins stream.Coins, round int, gradients, differences Expected) (*Shuffler, error) {
	s := &Shuffler{expected: [streams]Expected{gradients, differences}, coins: coins, round: round}
	if gradients.Reports+differences.Reports == 0 {
		return nil, &check.Error{Name: "reports of a round", Value: 0, Rule: "at least 1"}
	}
	for i, e := range s.expected {
		name := Stream(i).String()
		if err := check.Whole("reports of "+name, e.Reports, 0, 1<<31-1); err != nil {
			return nil, err
		}
		if e.Reports == 0 {
			continue
		}
		if err := check.Whole("fewest reports of "+name, e.Minimum, 0, e.Reports); err != nil {
			return nil, err
		}
		if err := check.Whole("bytes of a message of "+name, e.Size, 1, 0); err != nil {
			return nil, err
		}
		if e.Minimum == 0 {
			s.expected[i].Minimum = e.Reports
		}
	}
	return s, nil
}

// Accept takes one message of a stream. It refuses another length than the stream's, a message
// beyond the expected number, and any after the round was released or aborted.
func (s *Shuffler) Accept(to Stream, message []byte) error {
	if to < 0 || to >= streams {
		return &check.Error{Name: "stream", Value: int(to), Rule: "Gradients or Differences"}
	}
	if s.done {
		return errors.New("the round is over: its reports were released or dropped")
	}
	e := s.expected[to]
	if len(message) != e.Size || e.Reports == 0 {
		return &check.Error{Name: "bytes of a message of " + to.String(), Value: len(message), Rule: fmt.Sprintf("%d, as every message of the stream", e.Size)}
	}
	if s.Count(to) == e.Reports {
		return &check.Error{Name: "reports of " + to.String(), Value: e.Reports + 1, Rule: fmt.Sprintf("at most the %d expected", e.Reports)}
	}
	s.queues[to] = append(s.queues[to], message...)
	return nil
}

// Count returns how many messages of a stream are in.
func (s *Shuffler) Count(of Stream) int {
	if s.expected[of].Size == 0 {
		return 0
	}
	return len(s.queues[of]) / s.expected[of].Size
}

// Abort drops the round's messages. Nothing of them is released.
func (s *Shuffler) Abort() {
	for i := range s.queues {
		clear(s.queues[i])
		s.queues[i] = nil
	}
	s.done = true
}

// Release returns the messages of both streams, each one after the other in a new order, and
// forgets them. While a stream lacks messages of its minimum it is ErrPartialRound, and nothing is
// released; more may then be accepted, or the round aborted. Who releases with fewer than
// expected says that no more will come.
func (s *Shuffler) Release() (gradients, differences []byte, err error) {
	if s.done {
		return nil, nil, errors.New("the round is over: its reports were released or dropped")
	}
	for i, e := range s.expected {
		if err := e.Enough(Stream(i), s.Count(Stream(i))); err != nil {
			return nil, nil, err
		}
	}
	for i, q := range s.queues {
		if s.expected[i].Reports > 0 {
			permute(s.coins.Stream(permutations[i], s.round), q, s.expected[i].Size)
		}
	}
	out := s.queues
	s.queues, s.done = [streams][]byte{}, true
	return out[Gradients], out[Differences], nil
}

// permute orders messages of the size uniformly.
func permute(rng *rand.ChaCha8, messages []byte, size int) {
	spare := make([]byte, size)
	order(rng, len(messages)/size, func(i, j int) {
		a, b := messages[i*size:][:size], messages[j*size:][:size]
		copy(spare, a)
		copy(a, b)
		copy(b, spare)
	})
}

// order makes the swaps of a uniformly random order of n things: Fisher and Yates.
func order(rng *rand.ChaCha8, n int, swap func(i, j int)) {
	for i := n - 1; i > 0; i-- {
		swap(i, int(stream.Below(rng, uint64(i+1))))
	}
}

// Places returns where a Shuffler with these coins puts each of n messages of a stream, by their order of
// arrival: for a shuffle whose messages are never in one place. They are as secret as the coins. It takes
// 8 bytes for each message, and returns 4.
func Places(coins stream.Coins, round int, of Stream, n int) []uint32 {
	at := make([]uint32, n) // who is at a place
	for i := range at {
		at[i] = uint32(i)
	}
	order(coins.Stream(permutations[of], round), n, func(i, j int) { at[i], at[j] = at[j], at[i] })
	places := make([]uint32, n)
	for place, who := range at {
		places[who] = uint32(place)
	}
	return places
}
