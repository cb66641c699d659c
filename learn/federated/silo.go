package federated

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/federated/randomiser"
)

// Silo is one holder of records. Its answer depends only on the plan, the records, the question and
// its coins. So a question that is asked again gets the same answer and reveals nothing new. A Silo
// does not know the privacy spent on its records: a ledger must be charged before it answers.
type Silo struct {
	plan    *plan
	number  int // from 0
	records *data.Records
	coins   stream.Coins
}

// Reports are the messages of one round, one after the other, by randomiser.Stream.
type Reports [2][]byte

// NewSilo returns the silo of that number, from 0, with its records. The coins must be its own and
// secret (stream.Secret), and kept while a round may be asked for again. Those of a release are
// bound to the plan and the records: two runs begin with the same question where their starts are
// the same, and two reports with the same seed and the same coins at another ε₀, or of other
// records, would tell a record's true sign. Coins of a simulation protect nothing and stay as they
// are, so that the roles repeat it.
func (p *Plan) NewSilo(number int, records *data.Records, coins stream.Coins) (*Silo, error) {
	p = handle.Made(p)
	if err := p.hasReports(); err != nil {
		return nil, err
	}
	if err := check.Whole("silo", number, 0, len(p.Silos)-1); err != nil {
		return nil, err
	}
	if err := p.fits(records, p.Silos[number]); err != nil {
		return nil, err
	}
	if coins.ForRelease() {
		own := records.Digest()
		coins = coins.Derive(fmt.Sprintf("federated silo %x %x", sha256.Sum256(p.text()), own), number)
	}
	return &Silo{&p.plan, number, records, coins}, nil
}

// batch returns the records of a round: B of them without replacement, or all.
func (s *Silo) batch(round int, question string) []int {
	return sample(s.coins.Stream(s.purpose("batch", question), round), s.records.Len(),
		s.plan.batch(round, s.number))
}

func (s *Silo) purpose(what, question string) string {
	return fmt.Sprintf("federated %s %d %s", what, s.number, hex.EncodeToString([]byte(question)))
}

// sample returns k of the numbers below n, all sets equally likely: the first k places of a
// Fisher-Yates shuffle.
func sample(rng *rand.ChaCha8, n, k int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	if k == n {
		return all
	}
	for i := range k {
		j := i + int(stream.Below(rng, uint64(n-i)))
		all[i], all[j] = all[j], all[i]
	}
	return all[:k]
}

// Report answers a broadcast: one message for each sampled record and stream. Their number and
// length do not depend on the records. Cost: two gradients and two messages for each record.
func (s *Silo) Report(ctx context.Context, b Broadcast) (Reports, error) {
	s = handle.Made(s)
	if err := s.plan.made(); err != nil {
		return Reports{}, err
	}
	if err := b.check(&s.plan.task); err != nil {
		return Reports{}, err
	}
	p := s.plan
	norms := p.sent(b)
	question := digest("broadcast", b.Round, b.Model, b.Previous)
	batch := s.batch(b.Round, question)
	var out Reports
	size := p.randomizer.Size()
	for k, norm := range norms {
		if norm > 0 {
			out[k] = make([]byte, len(batch)*size)
		}
	}
	type worker struct {
		c   *contribution
		rng rand.ChaCha8
	}
	workers := make([]*worker, p.Workers)
	err := chunks(ctx, len(batch), p.Workers, func(w, from, to int) error {
		if workers[w] == nil {
			workers[w] = &worker{c: newContribution(p.d)}
		}
		c, rng := workers[w].c, &workers[w].rng
		s.coins.Restart(rng, s.purpose(fmt.Sprintf("reports %d", from/chunkSize), question), b.Round)
		for i := from; i < to; i++ {
			c.of(p, s.records, batch[i], b, norms)
			for k, norm := range norms {
				if norm == 0 {
					continue
				}
				// A slice without room for a second message: it is written in its place.
				if _, err := p.randomizer.Append(out[k][i*size:i*size:(i+1)*size], c.vectors[k], norm,
					rng); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return out, err
}

var _ randomiser.Coins = (*rand.ChaCha8)(nil)
