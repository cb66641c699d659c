package rounds

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/learn/federated"
	"github.com/darrm/darrm/learn/federated/randomiser"
)

// BlockSize is the number of reports that a Mix places and adds up together.
const BlockSize = federated.BlockSize

// Cells is the number of cells of a stream. The first bits of a message select its cell. Each cell
// can be sorted apart from the others: the cells one after the other have the order of the whole.
// Messages begin with random bits, so the cells of honest silos are about equal.
const Cells = 1 << 12

// Cell returns the part that a message belongs to.
func Cell(message []byte) int {
	var first [2]byte // of a message that is shorter, which has no report, zeros
	copy(first[:], message)
	return int(binary.BigEndian.Uint16(first[:]) >> 4)
}

// Mix is a Shuffle and the Aggregate after it for reports that are never in one place. A report's
// place is its rank in the order of its stream's bytes; of equal reports, which are alike to
// everybody, any may come first. It is safe for concurrent use.
type Mix struct {
	plan  *Run
	round *Round
	in    map[int]bool
	count [2]int
}

// NewMix refuses what a Shuffle refuses: a silo that appears twice, and fewer reports than the
// price is for, which is ErrPartialRound.
func (p *Run) NewMix(r *Round, silos []int) (*Mix, error) {
	p = handle.Made(p)
	if err := p.wantsReports(r); err != nil {
		return nil, err
	}
	m := &Mix{plan: p, round: r, in: map[int]bool{}}
	for _, silo := range slices.Sorted(slices.Values(silos)) {
		if err := p.Asks(r, silo); err != nil {
			return nil, err
		}
		if m.in[silo] {
			return nil, errTwice(silo)
		}
		m.in[silo] = true
		for k, n := range p.ReportCounts(r, silo) {
			m.count[k] += n
		}
	}
	expected, err := p.priced.ExpectedReports(r.broadcast())
	if err != nil {
		return nil, err
	}
	for k, e := range expected {
		if err := e.Enough(randomiser.Stream(k), m.count[k]); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Missing returns the silos, from 0, whose reports did not come.
func (m *Mix) Missing() []int {
	m = handle.Made(m)
	return handle.Made(m.plan).missing(m.in)
}

// Counts returns the number of reports by stream.
func (m *Mix) Counts() [2]int { return handle.Made(m).count }

// Blocks returns the number of blocks of a stream.
func (m *Mix) Blocks(of randomiser.Stream) int {
	return (handle.Made(m).count[of] + BlockSize - 1) / BlockSize
}

// BlockReports returns the number of reports in a block; blocks are numbered from 0.
func (m *Mix) BlockReports(of randomiser.Stream, block int) int {
	m = handle.Made(m)
	return min(BlockSize, m.count[of]-block*BlockSize)
}

// BlockSum adds up the reports of a block, in order of their places.
func (m *Mix) BlockSum(ctx context.Context, of randomiser.Stream,
	messages []byte) ([]float64, error) {
	m = handle.Made(m)
	sum, err := handle.Made(m.plan).priced.BlockSum(ctx, m.round.broadcast(), of, messages)
	if err != nil {
		return nil, fmt.Errorf("reports of %v: %w", of, err)
	}
	return sum, nil
}

// Aggregate is Plan.Aggregate by the sums of the blocks, which it asks for in order. The result is
// the same, bit for bit.
func (m *Mix) Aggregate(ctx context.Context, sum func(of randomiser.Stream, block int) ([]float64,
	error)) (*Round, error) {
	m = handle.Made(m)
	return handle.Made(m.plan).next(ctx, m.round, func(s *federated.Server) (federated.Request, error) {
		return s.ReceiveBlocks(m.count, sum)
	})
}

// Head returns the beginning of the file of shuffled reports. After it come the reports by place,
// stream after stream.
func (m *Mix) Head() []byte {
	m = handle.Made(m)
	p := handle.Made(m.plan)
	return p.counts(p.head(shuffledMagic, m.round), m.count)
}

// Release writes into the book that the round is released as the shuffled reports with this
// SHA-256, as Shuffle.Release does. Before it nothing may leave that depends on the reports.
func (m *Mix) Release(book Book, digest [32]byte) error {
	m = handle.Made(m)
	return book.note(m.plan, m.round, digest)
}
