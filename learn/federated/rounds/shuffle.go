package rounds

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/darrm/darrm/internal/atomicfile"
	"github.com/darrm/darrm/internal/handle"
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
	p = handle.Made(p)
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
	s = handle.Made(s)
	if s.plan == nil {
		return 0, errors.New("a shuffle must be made by Run.NewShuffle")
	}
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
func (s *Shuffle) Missing() (out []int) {
	s = handle.Made(s)
	return handle.Made(s.plan).missing(s.in)
}

func (p *Run) missing(in map[int]bool) (out []int) {
	for m := range p.doc.Silos {
		if !in[m] {
			out = append(out, m)
		}
	}
	return out
}

// Enough reports whether there are as many reports as the price is for: Release then releases.
func (s *Shuffle) Enough() bool { return s != nil && s.plan != nil && s.shuffler.Enough() }

// Release returns the file of the shuffled reports. Each stream is in the order of its reports'
// bytes, so the file is a function of the set of reports: nothing in it depends on which silo sent
// what, on the order of the files or on when they came, and the same reports again are the same
// file. Fewer reports than the price is for are randomiser.ErrPartialRound, a round that the book
// knows with other reports is ErrReleased, and one whose predecessor it does not know ErrOtherBook;
// then nothing is released. The book is written first: a shuffler that dies in between is asked
// again with the same reports.
func (s *Shuffle) Release(book Book) ([]byte, error) {
	s = handle.Made(s)
	if s.plan == nil {
		return nil, errors.New("a shuffle must be made by Run.NewShuffle")
	}
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

// Book is a folder where a shuffler remembers which rounds it released, each in a file of its own
// that holds the SHA-256 of the shuffled reports. The same reports again are the same bytes again;
// with a late silo's among them the two releases would differ by that silo's reports, and its price
// is for their being among all others.
type Book struct {
	Folder string
	// Begins accepts a book that does not know the round before: it states that no other book
	// released this one. Of the first round nothing needs to be stated.
	Begins bool
}

// ErrPartialRound is the error for fewer reports than the price requires.
var ErrPartialRound = randomiser.ErrPartialRound

// ErrReleased is the error for a round that was released before, with other reports.
var ErrReleased = errors.New("the round was released before with other reports")

// ErrOtherBook is the error for a book without the round before. Another book, or this one before
// it was emptied, may then have released the round with other reports.
var ErrOtherBook = errors.New("the shuffler's book does not know the round before")

// BookError is a book that cannot be read or written.
type BookError struct{ Err error }

func (e *BookError) Error() string { return fmt.Sprintf("the shuffler's book: %v", e.Err) }
func (e *BookError) Unwrap() error { return e.Err }

// path is the file of a round. It is not named by the question: another model in the same round is
// another try at its records.
func (b Book) path(p *Run, round int) string {
	return filepath.Join(b.Folder, fmt.Sprintf("%s-round-%d", p.Digest(), round))
}

// note writes that the round was released as the shuffled reports of the digest, on disk.
func (b Book) note(p *Run, r *Round, digest [32]byte) error {
	if _, err := os.Stat(b.Folder); err != nil {
		return &BookError{err}
	}
	path, line := b.path(p, r.Round), hex.EncodeToString(digest[:])+"\n"
	was, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := b.follows(p, r); err != nil {
			return err
		}
		err = atomicfile.WriteNew(path, 0o600, func(w io.Writer) error {
			_, err := io.WriteString(w, line)
			return err
		})
		if err == nil {
			return nil
		}
		if !errors.Is(err, fs.ErrExist) { // else another shuffler was first
			return &BookError{err}
		}
		was, err = os.ReadFile(path)
	}
	switch {
	case err != nil:
		return &BookError{err}
	case string(was) != line:
		return fmt.Errorf("round %d: %w, and the two would differ by those of single silos (%s)", r.Round,
			ErrReleased, path)
	}
	return nil
}

// follows refuses a round whose predecessor the book does not know.
func (b Book) follows(p *Run, r *Round) error {
	if r.Round == 0 || b.Begins {
		return nil
	}
	_, err := os.Stat(b.path(p, r.Round-1))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("round %d: %w: another book may have released this one with other reports, "+
			"and the two would differ by those of single silos; if none has, state it", r.Round,
			ErrOtherBook)
	case err != nil:
		return &BookError{err}
	}
	return nil
}
