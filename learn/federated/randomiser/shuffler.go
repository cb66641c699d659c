package randomiser

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"sort"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
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
func (s Stream) String() string { return streamNames.String(s) }

var streamNames = check.Enum[Stream]{Name: "stream", Names: []string{"gradients", "differences"}}

// ErrPartialRound is the error for a round whose reports are not all there, or are too few.
var ErrPartialRound = errors.New("the round is not complete")

// Expected is the size of one stream of a round.
type Expected struct {
	Reports int // how many messages; 0 where the stream is silent
	Minimum int // how few may be released if clients drop out; 0: all of them
	Size    int // bytes of each message
}

// Enough refuses to release a stream with so few reports, or more than there can be:
// ErrPartialRound.
func (e Expected) Enough(of Stream, count int) error {
	least := cmp.Or(e.Minimum, e.Reports)
	if count < least || count > e.Reports {
		return fmt.Errorf("%d of %d reports of %v, at least %d must be in: %w", count, e.Reports, of,
			least, ErrPartialRound)
	}
	return nil
}

// Shuffler holds one round's messages until all are in, and releases each stream in the order of
// the messages' bytes. So what it releases is a function of the messages as a set. It keeps no
// source, time or order of arrival, draws nothing, and releases the same set as the same bytes
// whenever and wherever it is asked. A uniformly random order, of which proofs of amplification
// speak, tells as much: each is made of the other without the data. It is not safe for concurrent
// use.
//
// Amplification counts honest reports that were really released: the price of a round is for the
// minimum less the reports that colluding clients may have sent.
type Shuffler struct {
	expected [streams]Expected
	queues   [streams][]byte
	done     bool
}

// NewShuffler returns the shuffler of one round. At least one report must be expected.
func NewShuffler(gradients, differences Expected) (*Shuffler, error) {
	s := &Shuffler{expected: [streams]Expected{gradients, differences}}
	if gradients.Reports+differences.Reports == 0 {
		return nil, check.Want("reports of a round", 0, "at least 1")
	}
	for i, e := range s.expected {
		name := Stream(i).String()
		if err := check.Whole("reports of "+name, e.Reports, 0, 1<<31-1); err != nil {
			return nil, err
		}
		if e.Reports == 0 {
			continue
		}
		if err := cmp.Or(check.Whole("fewest reports of "+name, e.Minimum, 0, e.Reports),
			check.Whole("bytes of a message of "+name, e.Size, 1, 0)); err != nil {
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
	s = handle.Made(s)
	if to < 0 || to >= streams {
		return check.Want("stream", int(to), "Gradients or Differences")
	}
	if s.done {
		return errors.New("the round is over: its reports were released")
	}
	e := s.expected[to]
	if len(message) != e.Size || e.Reports == 0 {
		return check.Wantf("bytes of a message of "+to.String(), len(message),
			"%d, as every message of the stream", e.Size)
	}
	if s.Count(to) == e.Reports {
		return check.Wantf("reports of "+to.String(), e.Reports+1, "at most the %d expected", e.Reports)
	}
	s.queues[to] = append(s.queues[to], message...)
	return nil
}

// Count returns the number of messages received for a stream.
func (s *Shuffler) Count(of Stream) int {
	s = handle.Made(s)
	if s.expected[of].Size == 0 {
		return 0
	}
	return len(s.queues[of]) / s.expected[of].Size
}

// Enough reports whether every stream has its minimum: Release then releases.
func (s *Shuffler) Enough() bool {
	s = handle.Made(s)
	for i, e := range s.expected {
		if e.Enough(Stream(i), s.Count(Stream(i))) != nil {
			return false
		}
	}
	return true
}

// Release returns the messages of both streams, each one after the other in the order of their
// bytes, and forgets them. While a stream has fewer messages than its minimum the error is
// ErrPartialRound, and nothing is released; more may then be accepted, or the round aborted. A
// round released with fewer messages than expected takes no more.
func (s *Shuffler) Release() (gradients, differences []byte, err error) {
	s = handle.Made(s)
	if s.done {
		return nil, nil, errors.New("the round is over: its reports were released")
	}
	for i, e := range s.expected {
		if err := e.Enough(Stream(i), s.Count(Stream(i))); err != nil {
			return nil, nil, err
		}
	}
	for i, q := range s.queues {
		Sort(q, s.expected[i].Size)
	}
	out := s.queues
	s.queues, s.done = [streams][]byte{}, true
	return out[Gradients], out[Differences], nil
}

// Sort puts messages of size bytes, one after the other, in the order of their bytes.
func Sort(messages []byte, size int) {
	if len(messages) > 0 {
		sort.Sort(&bySize{messages, size, make([]byte, size)})
	}
}

// bySize sorts messages where they lie.
type bySize struct {
	messages []byte
	size     int
	spare    []byte
}

func (b *bySize) Len() int           { return len(b.messages) / b.size }
func (b *bySize) at(i int) []byte    { return b.messages[i*b.size:][:b.size] }
func (b *bySize) Less(i, j int) bool { return bytes.Compare(b.at(i), b.at(j)) < 0 }
func (b *bySize) Swap(i, j int) {
	copy(b.spare, b.at(i))
	copy(b.at(i), b.at(j))
	copy(b.at(j), b.spare)
}
