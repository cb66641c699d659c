package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"math"
	"os"

	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/atomicfile"
	"github.com/darrm/darrm/votes"
)

// resumption lets a release that was paid for, and interrupted, be done again without
// being a second release: its coins come from a secret key, so each query has the same
// answer (ensemble.Mechanism.ReleaseKeyed). The key and a keyed hash of the votes and the
// noise function are in a file that is made before the charge and removed when the labels
// are out.
type resumption struct {
	path    string
	key     *ensemble.JobKey
	pin     []byte // of what the key answers; nil until it is known
	resumed bool   // the file was there
	now     hash.Hash
}

// resumptionMagic begins the file: then the key's fingerprint, the pin, the key.
const resumptionMagic = "darrm resume 2\n"

// openResumption reads the file at path, or makes a new key where there is none.
func openResumption(path string) (*resumption, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		key, err := ensemble.NewJobKey()
		return &resumption{path: path, key: key}, err
	}
	if err != nil {
		return nil, inputError{err}
	}
	rest, ok := bytes.CutPrefix(b, []byte(resumptionMagic))
	if !ok || len(rest) < 64 {
		return nil, inputError{fmt.Errorf("%s is not a checkpoint of aggregate", path)}
	}
	key, err := ensemble.ReadJobKey(bytes.NewReader(rest[64:]), [32]byte(rest[:32]))
	if err != nil {
		return nil, inputError{fmt.Errorf("%s: %w", path, err)}
	}
	return &resumption{path: path, key: key, pin: rest[32:64], resumed: true}, nil
}

// begin starts to read the votes.
func (r *resumption) begin() { r.now = r.key.Pin() }

// add takes the votes of a batch into the hash, in their order.
func (r *resumption) add(b *votes.Batch) {
	var buf []byte
	for i := range b.Len() {
		id := b.ID(i)
		buf = binary.AppendUvarint(buf[:0], uint64(len(id)))
		buf = append(buf, id...)
		for _, n := range b.Row(i) {
			buf = binary.AppendUvarint(buf, uint64(n))
		}
		r.now.Write(buf)
	}
}

// end compares the votes, and the noise function that answers them, with those that the key
// was made for. One key gives one series of answers, whatever request and ledger it is used
// for: where two noise functions share their coins, answers that differ tell the votes,
// though both were paid for. The first time it keeps them, on disk, before anything is paid.
func (r *resumption) end(f gamma.Func) error {
	var buf []byte
	for _, v := range f.Values() {
		buf = binary.LittleEndian.AppendUint64(buf, math.Float64bits(v))
	}
	r.now.Write(buf)
	sum := r.now.Sum(nil)
	if r.pin != nil {
		if !hmac.Equal(sum, r.pin) {
			return inputError{fmt.Errorf("the votes, or the noise function, are not those that %s was made for: an answer would be another release", r.path)}
		}
		return nil
	}
	r.pin = sum
	fingerprint := r.key.Fingerprint()
	err := atomicfile.Write(r.path, 0o600, func(w io.Writer) error {
		if _, err := w.Write(append(append([]byte(resumptionMagic), fingerprint[:]...), r.pin...)); err != nil {
			return err
		}
		return r.key.Send(w)
	})
	if err != nil {
		return outputError{err}
	}
	return nil
}

// answer answers a batch with the key's coins.
func (r *resumption) answer(m *ensemble.Mechanism) func(context.Context, *votes.Batch) ([]int, error) {
	return func(ctx context.Context, b *votes.Batch) ([]int, error) {
		answers := make([]int, b.Len())
		for i := range answers {
			if i%1024 == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			one, err := m.ReleaseKeyed(r.key, b.ID(i), b.Ones(i))
			if err != nil {
				return nil, fmt.Errorf("query %q: %w", b.ID(i), err)
			}
			if one {
				answers[i] = 1
			}
		}
		return answers, nil
	}
}

// forget removes the file: with it and the labels, anyone could compute which votes were
// possible.
func (r *resumption) forget() error {
	if err := os.Remove(r.path); err != nil {
		return outputError{fmt.Errorf("the secret checkpoint is still there: %w", err)}
	}
	return nil
}
