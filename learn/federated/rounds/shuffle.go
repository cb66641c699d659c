package rounds

import (
	"bytes"
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
	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/learn/federated"
	"github.com/darrm/darrm/learn/federated/report"
)

// Shuffle takes the silos' reports of one round. It is not safe for concurrent use.
type Shuffle struct {
	plan     *Plan
	round    *Round
	in       map[int]bool
	shuffler *report.Shuffler
	scratch  []float64
}

// NewShuffle begins to take reports of a round.
func (p *Plan) NewShuffle(r *Round) (*Shuffle, error) {
	coins, err := stream.Secret()
	if err != nil {
		return nil, err
	}
	return p.newShuffle(r, coins)
}

func (p *Plan) newShuffle(r *Round, coins stream.Coins) (*Shuffle, error) {
	switch {
	case p.Finished(r):
		return nil, formatf("all %d rounds are done", p.Rounds())
	case r.Local != nil:
		return nil, formatf("round %d waits for a reply of silo %d, not for reports", r.Round, r.Local.Silo+1)
	}
	s, err := p.priced.NewShuffler(r.broadcast(), coins)
	if err != nil {
		return nil, err
	}
	return &Shuffle{plan: p, round: r, in: map[int]bool{}, shuffler: s, scratch: make([]float64, p.priced.Dim())}, nil
}

// Add takes a silo's file whole, or, after an error, nothing of it. It refuses a second file of a silo,
// another number of reports than the plan's, and what is no report, which would make the whole round
// fail when nobody knows whose it was. Cost: that of adding the reports up.
func (s *Shuffle) Add(ctx context.Context, file []byte) (silo int, err error) {
	silo, reports, err := s.plan.readReports(s.round, file)
	if err != nil {
		return silo, err
	}
	if s.in[silo] {
		return silo, formatf("silo %d has sent its reports already", silo+1)
	}
	checked := 0
	if err := s.each(reports, func(_ report.Stream, m []byte) error {
		if checked++; checked%64 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := s.plan.priced.Randomizer().Add(s.scratch, m, 1); err != nil {
			return formatf("silo %d: %w", silo+1, err)
		}
		return nil
	}); err != nil {
		return silo, err
	}
	s.in[silo] = true
	return silo, s.each(reports, s.shuffler.Accept)
}

func (s *Shuffle) each(reports federated.Reports, do func(report.Stream, []byte) error) error {
	size := s.plan.size()
	for k, messages := range reports {
		for m := range slices.Chunk(messages, size) {
			if err := do(report.Stream(k), m); err != nil {
				return err
			}
		}
	}
	return nil
}

// Missing returns the silos, from 0, whose reports did not come.
func (s *Shuffle) Missing() (out []int) {
	for m := range s.plan.doc.Silos {
		if !s.in[m] {
			out = append(out, m)
		}
	}
	return out
}

// Release returns the file of the shuffled reports. Each stream has an order of its own. Nothing in the
// file depends on which silo sent what, on the order of the files or on when they came. Fewer reports than
// the price is for are report.ErrPartialRound, and a round that the book knows with other reports is
// ErrReleased; then nothing is released. The book is written first: a shuffler that dies in between is
// asked again with the same reports.
func (s *Shuffle) Release(book Book) ([]byte, error) {
	var out federated.Reports
	var err error
	if out[report.Gradients], out[report.Differences], err = s.shuffler.Release(); err != nil {
		return nil, err
	}
	if err := book.note(s.plan, s.round, s.plan.multiset(out)); err != nil {
		return nil, err
	}
	return s.plan.body(s.plan.head(shuffledMagic, s.round), out), nil
}

// multiset returns a digest of the reports that does not depend on their order. It tells nothing that the
// reports do not tell.
func (p *Plan) multiset(reports federated.Reports) [32]byte {
	h := sha256.New()
	for _, messages := range reports {
		sorted := slices.SortedFunc(slices.Chunk(messages, p.size()), bytes.Compare)
		fmt.Fprintf(h, "%d\n", len(sorted))
		for _, m := range sorted {
			h.Write(m)
		}
	}
	return [32]byte(h.Sum(nil))
}

// Book is a folder where a shuffler remembers which rounds it released, each in a file of its own. The
// same reports in a second order tell nothing new; with a late silo's among them the two releases would
// differ by that silo's reports, and its price is for their being among all others.
type Book string

// ErrPartialRound says that fewer reports are in than the price is for.
var ErrPartialRound = report.ErrPartialRound

// ErrReleased says that a round was released before, with other reports.
var ErrReleased = errors.New("the round was released before with other reports")

// BookError is a book that cannot be read or written.
type BookError struct{ Err error }

func (e *BookError) Error() string { return fmt.Sprintf("the shuffler's book: %v", e.Err) }
func (e *BookError) Unwrap() error { return e.Err }

// note writes that the round was released with the reports of the digest, on disk.
func (b Book) note(p *Plan, r *Round, digest [32]byte) error {
	// Not by the question: another model in the same round is another try at its records.
	path := filepath.Join(string(b), fmt.Sprintf("%s-round-%d", p.Digest(), r.Round))
	line := hex.EncodeToString(digest[:]) + "\n"
	err := atomicfile.WriteNew(path, 0o600, func(w io.Writer) error { _, err := io.WriteString(w, line); return err })
	if err == nil || !errors.Is(err, fs.ErrExist) {
		if err != nil {
			return &BookError{err}
		}
		return nil
	}
	was, err := os.ReadFile(path)
	switch {
	case err != nil:
		return &BookError{err}
	case string(was) != line:
		return fmt.Errorf("round %d: %w, and the two would differ by those of single silos (%s)", r.Round, ErrReleased, path)
	}
	return nil
}
