package rounds

import (
	"context"
	"fmt"
	"hash"
	"io"
	"slices"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/learn/federated"
	"github.com/darrm/darrm/learn/federated/report"
)

// BlockSize is how many reports a Mix places and adds up together.
const BlockSize = federated.BlockSize

// MixKey is the secret of one shuffle that many machines do together, where a piece of work can be lost and
// done again: the places of the reports are a function of it, so that work that is repeated puts every
// report where it was. Who has it and the shuffled reports can unmix them. A key is of one
// job, and ends with it.
type MixKey struct{ key *randsrc.Key }

// NewMixKey returns a new key of the operating system's randomness. There is no way to choose one.
func NewMixKey() (*MixKey, error) {
	k, err := randsrc.NewKey()
	if err != nil {
		return nil, err
	}
	return &MixKey{k}, nil
}

// ReadMixKey receives a key that Send wrote in another process of the same job. Another key than the one
// with the fingerprint is an error.
func ReadMixKey(r io.Reader, fingerprint [32]byte) (*MixKey, error) {
	k, err := randsrc.ReadKey(r, fingerprint)
	if err != nil {
		return nil, err
	}
	return &MixKey{k}, nil
}

// Send writes the key for ReadMixKey.
func (k *MixKey) Send(w io.Writer) error { return k.key.Send(w) }

// Fingerprint names the key and gives nothing of it away.
func (k *MixKey) Fingerprint() [32]byte { return k.key.Fingerprint() }

// Pin returns a keyed hash: what it says of two files is whether they are the same.
func (k *MixKey) Pin() hash.Hash { return k.key.Pin() }

func (k *MixKey) coins() stream.Coins {
	return stream.Restore(k.key.Derive("federated shuffle"), true)
}

// Mix is a Shuffle and the Aggregate after it for reports that are never in one place. Machines that have
// the plan, the round, the numbers of the silos that sent reports and the key agree on where every report
// goes, without a word to each other. A report's name is its stream, its silo and its number in the silo's
// file: whoever meets a name twice met one report. The places are those of a Shuffle to which the
// silos' files were added in order of their numbers. It is safe for concurrent use.
type Mix struct {
	plan  *Plan
	round *Round
	in    map[int]bool
	first map[int][2]int // a silo's reports come after those of the silos before it
	count [2]int
}

// NewMix refuses what a Shuffle refuses: a silo that is there twice, and fewer reports than the price is for,
// which is ErrPartialRound.
func (p *Plan) NewMix(r *Round, silos []int) (*Mix, error) {
	if err := p.wantsReports(r); err != nil {
		return nil, err
	}
	m := &Mix{plan: p, round: r, in: map[int]bool{}, first: map[int][2]int{}}
	for _, silo := range slices.Sorted(slices.Values(silos)) {
		if err := p.Asks(r, silo); err != nil {
			return nil, err
		}
		if m.in[silo] {
			return nil, errTwice(silo)
		}
		m.in[silo], m.first[silo] = true, m.count
		for k, n := range p.ReportCounts(r, silo) {
			m.count[k] += n
		}
	}
	expected, err := p.priced.ExpectedReports(r.broadcast())
	if err != nil {
		return nil, err
	}
	for k, e := range expected {
		if err := e.Enough(report.Stream(k), m.count[k]); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Missing returns the silos, from 0, whose reports did not come.
func (m *Mix) Missing() []int { return m.plan.missing(m.in) }

// Counts returns how many reports there are, by stream.
func (m *Mix) Counts() [2]int { return m.count }

// Blocks returns how many blocks a stream has, and BlockReports how many reports one of them.
func (m *Mix) Blocks(of report.Stream) int { return (m.count[of] + BlockSize - 1) / BlockSize }

// BlockReports returns how many reports a block has, from 0.
func (m *Mix) BlockReports(of report.Stream, block int) int {
	return min(BlockSize, m.count[of]-block*BlockSize)
}

// Order is where the reports of a stream go.
type Order struct {
	m      *Mix
	of     report.Stream
	places []uint32
}

// Order works a stream's order out. It takes 8 bytes for each report, and keeps 4.
func (m *Mix) Order(key *MixKey, of report.Stream) *Order { return m.order(key.coins(), of) }

func (m *Mix) order(coins stream.Coins, of report.Stream) *Order {
	return &Order{m, of, report.Places(coins, m.round.Round, of, m.count[of])}
}

// Place returns where a report goes, by its silo and its number in the silo's file, both from 0.
func (o *Order) Place(silo, number int) int { return int(o.places[o.m.first[silo][o.of]+number]) }

// BlockSum adds up the reports of a block, in order of their places.
func (m *Mix) BlockSum(ctx context.Context, of report.Stream, messages []byte) ([]float64, error) {
	sum, err := m.plan.priced.BlockSum(ctx, m.round.broadcast(), of, messages)
	if err != nil {
		return nil, fmt.Errorf("reports of %v: %w", of, err)
	}
	return sum, nil
}

// Aggregate is Plan.Aggregate by the sums of the blocks, which it asks for in order. The result is the same,
// bit for bit.
func (m *Mix) Aggregate(ctx context.Context, sum func(of report.Stream, block int) ([]float64, error)) (*Round, error) {
	return m.plan.next(ctx, m.round, func(s *federated.Server) (federated.Request, error) { return s.ReceiveBlocks(m.count, sum) })
}

// Release writes into the book that the round is released with these reports, as Shuffle.Release does, and
// returns what the file of shuffled reports begins with: after it come the reports by place, stream after
// stream. Before it nothing may leave that depends on the reports.
func (m *Mix) Release(book Book, c *Contents) (head []byte, err error) {
	for k, stream := range c {
		n := 0
		for _, b := range stream {
			n += b.Reports
		}
		if n != m.count[k] {
			return nil, &check.Error{Name: fmt.Sprintf("reports of %v in the buckets", report.Stream(k)), Value: n, Rule: fmt.Sprint(m.count[k])}
		}
	}
	if err := book.note(m.plan, m.round, c); err != nil {
		return nil, err
	}
	return m.plan.counts(m.plan.head(shuffledMagic, m.round), m.count), nil
}
