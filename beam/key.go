package darrmbeam

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
)

// keyAt names the keys of a job and their file, for its workers. It goes through the pipeline,
// where many can see it; the keys are not in it.
type keyAt struct {
	Fingerprint []byte // names the job key
	File        string // where the keys are; "" in the memory of this process
}

// jobKeys are the secrets of a job.
type jobKeys struct {
	coins *randsrc.Key     // answers the queries; makes pins and seals
	votes *ledger.VoteHash // recognises the votes in the ledger; nil where it need not, and of a round
}

// Fingerprint names the keys.
func (k jobKeys) Fingerprint() [32]byte { return k.coins.Fingerprint() }

// Pin is a keyed hash.
func (k jobKeys) Pin() hash.Hash { return k.coins.Pin() }

// Send writes the keys for [keyAt.find].
func (k jobKeys) Send(w io.Writer) error {
	if k.votes != nil {
		if err := k.votes.SendKey(w); err != nil {
			return err
		}
	}
	return k.coins.Send(w)
}

// inMemory holds the keys of this process's jobs, for workers in the same process.
var inMemory sync.Map // [32]byte → jobKeys

// placeKey puts the keys of a job where its workers find them: in this process's memory, or in a
// new file of the directory. forget destroys them, for late workers too.
func placeKey(ctx context.Context, dir string,
	keys jobKeys) (at keyAt, forget func() error, err error) {
	name := keys.Fingerprint()
	at.Fingerprint = name[:]
	if dir == "" {
		inMemory.Store(name, keys)
		return at, func() error { inMemory.Delete(name); return nil }, nil
	}
	at.File = join(dir, "darrm-job-key-"+rand.Text())
	// The context may be done by then, and the key must go all the same.
	forget = func() error {
		if err := remove(context.WithoutCancel(ctx), at.File); err != nil {
			return &release.OutputError{Err: fmt.Errorf(
				"--key-dir: the job key in %s could not be destroyed; do it yourself: %w", at.File, err)}
		}
		return nil
	}
	// Removing is tried first: a key that cannot be destroyed must not be written.
	if err := forget(); err != nil {
		return at, nil, err
	}
	if err := writeKeys(ctx, at.File, keys.Send); err != nil {
		return at, nil, errors.Join(
			&release.OutputError{Err: fmt.Errorf("--key-dir: write the job key: %w", err)}, forget())
	}
	return at, forget, nil
}

func writeKeys(ctx context.Context, path string, send func(io.Writer) error) (err error) {
	var w io.WriteCloser
	if isLocal(path) {
		w, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	} else {
		w, err = create(ctx, path)
	}
	if err != nil {
		return err
	}
	return errors.Join(send(w), w.Close())
}

// find returns the keys of a job in a worker.
func (at keyAt) find(ctx context.Context) (keys jobKeys, err error) {
	if len(at.Fingerprint) != 32 {
		return keys, errors.New("the job names no key")
	}
	name := [32]byte(at.Fingerprint)
	if at.File == "" {
		if k, ok := inMemory.Load(name); ok {
			return k.(jobKeys), nil
		}
		return keys, errors.New(
			"the job key is not in this process: either the job is over, or its workers run elsewhere and " +
				"need a key directory" + lasting)
	}
	b, err := get(ctx, at.File)
	if err != nil {
		return keys, fmt.Errorf(
			"the job key is not to be had, either because the job is over, or because the key directory "+
				"is not shared with this worker: %w%s", err, lasting)
	}
	defer clear(b)
	if keys.votes, b, err = ledger.CutVoteKey(b); err != nil {
		return keys, err
	}
	keys.coins, err = randsrc.ReadKey(bytes.NewReader(b), name)
	return keys, err
}

// absolute makes a local directory absolute, for workers that run elsewhere.
func absolute(dir string) (string, error) {
	if dir == "" || !isLocal(dir) {
		return dir, nil
	}
	return filepath.Abs(dir)
}
