package rounds

import (
	"bytes"
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
	"github.com/darrm/darrm/learn/federated"
	"github.com/darrm/darrm/learn/federated/report"
)

// Buckets is how many parts a stream's reports fall into for the digest that a Book has. Reports begin with
// random bits, so the parts of honest silos are about equal.
const Buckets = 32

// Bucket returns the part that a report belongs to.
func Bucket(message []byte) int { return int(message[0] % Buckets) }

// Contents is a digest of reports by stream and bucket, which does not depend on their order. It tells
// nothing that the reports do not tell.
type Contents [2][Buckets]struct {
	Reports int
	Digest  [32]byte
}

// Set fills a bucket with its reports, which it sorts.
func (c *Contents) Set(of report.Stream, bucket int, messages [][]byte) {
	h := sha256.New()
	slices.SortFunc(messages, bytes.Compare)
	for _, m := range messages {
		h.Write(m)
	}
	c[of][bucket].Reports, c[of][bucket].Digest = len(messages), [32]byte(h.Sum(nil))
}

// sum returns one digest of all. Messages have one length, so that no two multisets are hashed alike.
func (c *Contents) sum() [32]byte {
	h := sha256.New()
	for _, stream := range c {
		for i, b := range stream {
			if b.Reports > 0 {
				fmt.Fprintf(h, "%d %d %x\n", i, b.Reports, b.Digest)
			}
		}
		fmt.Fprintln(h, "end of the stream")
	}
	return [32]byte(h.Sum(nil))
}

// contents returns the digest of reports that are in one place.
func (p *Plan) contents(reports federated.Reports) *Contents {
	out := new(Contents)
	for k, messages := range reports {
		var parts [Buckets][][]byte
		for m := range slices.Chunk(messages, p.size()) {
			parts[Bucket(m)] = append(parts[Bucket(m)], m)
		}
		for i, part := range parts {
			out.Set(report.Stream(k), i, part)
		}
	}
	return out
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
func (b Book) note(p *Plan, r *Round, c *Contents) error {
	// Not by the question: another model in the same round is another try at its records.
	path := filepath.Join(string(b), fmt.Sprintf("%s-round-%d", p.Digest(), r.Round))
	digest := c.sum()
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
