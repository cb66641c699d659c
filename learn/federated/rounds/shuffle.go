package rounds

import (
	"context"
	"crypto/sha256"
	"slices"

	"github.com/darrm/darrm/learn/federated"
	"github.com/darrm/darrm/learn/federated/randomiser"
)

// Shuffle takes the silos' reports of one round. It is not safe for concurrent use.
type Shuffle struct {
	plan     *Run
	round    *Round
	in       map[int]bool
	shuffler *randomiser.Shuffler
}

// NewShuffle begins to take reports of a round.
func (p *Run) NewShuffle(r *Round) (*Shuffle, error) {
	if err := p.wantsReports(r); err != nil {
		return nil, err
	}
	s, err := p.priced.NewShuffler(r.broadcast())
	if err != nil {
		return nil, err
	}
	return &Shuffle{plan: p, round: r, in: map[int]bool{}, shuffler: s}, nil
}

// Add takes a silo's file whole, or, after an error, nothing of it. It refuses a second file of a
// silo and what ReadReports refuses.
func (s *Shuffle) Add(ctx context.Context, file []byte) (silo int, err error) {
	silo, reports, err := s.plan.ReadReports(ctx, s.round, file)
	if err != nil {
		return silo, err
	}
	if s.in[silo] {
		return silo, errTwice(silo)
	}
	s.in[silo] = true
	for k, messages := range reports {
		for m := range slices.Chunk(messages, s.plan.size()) {
			if err := s.shuffler.Accept(randomiser.Stream(k), m); err != nil {
				return silo, err
			}
		}
	}
	return silo, nil
}

func errTwice(silo int) error { return formatf("silo %d has sent its reports already", silo+1) }

// Missing returns the silos, from 0, whose reports did not come.
func (s *Shuffle) Missing() (out []int) { return s.plan.missing(s.in) }

func (p *Run) missing(in map[int]bool) (out []int) {
	for m := range p.doc.Silos {
		if !in[m] {
			out = append(out, m)
		}
	}
	return out
}

// Enough reports whether there are as many reports as the price is for: Release then releases.
func (s *Shuffle) Enough() bool { return s.shuffler.Enough() }

// Release returns the file of the shuffled reports. Each stream is in the order of its reports'
// bytes, so the file is a function of the set of reports: nothing in it depends on which silo sent
// what, on the order of the files or on when they came, and the same reports again are the same
// file. Fewer reports than the price is for are randomiser.ErrPartialRound, a round that the book
// knows with other reports is ErrReleased, and one whose predecessor it does not know ErrOtherBook;
// then nothing is released. The book is written first: a shuffler that dies in between is asked
// again with the same reports.
func (s *Shuffle) Release(book Book) ([]byte, error) {
	var out federated.Reports
	var err error
	if out[randomiser.Gradients], out[randomiser.Differences], err = s.shuffler.Release(); err != nil {
		return nil, err
	}
	file := s.plan.body(s.plan.head(shuffledMagic, s.round), out)
	if err := book.note(s.plan, s.round, sha256.Sum256(file)); err != nil {
		return nil, err
	}
	return file, nil
}
