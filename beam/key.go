package darrmbeam

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/darrm/darrm/ensemble"
)

// keyAt tells a worker which key the job has and where it is. It goes through the
// pipeline, where many can see it; the key is not in it.
type keyAt struct {
	Fingerprint []byte // names the key
	File        string // where it is; "" in the memory of this process
}

// inMemory holds the keys of this process's jobs, for workers in the same process.
var inMemory sync.Map // [32]byte → *ensemble.JobKey

// newKey draws a job's key and puts it where its workers find it. forget destroys
// it, for late workers too.
func newKey(ctx context.Context, dir string) (key *ensemble.JobKey, at keyAt, forget func() error, err error) {
	if key, err = ensemble.NewJobKey(); err != nil {
		return nil, at, nil, err
	}
	name := key.Fingerprint()
	at.Fingerprint = name[:]
	if dir == "" {
		inMemory.Store(name, key)
		return key, at, func() error { inMemory.Delete(name); return nil }, nil
	}
	at.File = join(dir, "darrm-job-key-"+rand.Text())
	// The context may be done by then, and the key must go all the same.
	forget = func() error {
		if err := remove(context.WithoutCancel(ctx), at.File); err != nil {
			return fmt.Errorf("the job key in %s could not be destroyed; do it yourself: %w", at.File, err)
		}
		return nil
	}
	// Removing is tried first: a key that cannot be destroyed must not be written.
	if err := forget(); err != nil {
		return nil, at, nil, err
	}
	if err := writeKey(ctx, key, at.File); err != nil {
		return nil, at, nil, errors.Join(fmt.Errorf("write the job key: %w", err), forget())
	}
	return key, at, forget, nil
}

func writeKey(ctx context.Context, key *ensemble.JobKey, path string) (err error) {
	var w io.WriteCloser
	if isLocal(path) {
		w, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	} else {
		w, err = create(ctx, path)
	}
	if err != nil {
		return err
	}
	return errors.Join(key.Send(w), w.Close())
}

// find returns the key in a worker.
func (at keyAt) find(ctx context.Context) (*ensemble.JobKey, error) {
	if len(at.Fingerprint) != 32 {
		return nil, errors.New("the job names no key")
	}
	name := [32]byte(at.Fingerprint)
	if at.File == "" {
		if k, ok := inMemory.Load(name); ok {
			return k.(*ensemble.JobKey), nil
		}
		return nil, errors.New("the job key is not in this process: either the job is over, or its workers run elsewhere and need a key directory")
	}
	b, err := get(ctx, at.File)
	if err != nil {
		return nil, fmt.Errorf("the job key is not to be had, either because the job is over, or because the key directory is not shared with this worker: %w", err)
	}
	defer clear(b)
	return ensemble.ReadJobKey(bytes.NewReader(b), name)
}

// absolute makes a local directory absolute, for workers that run elsewhere.
func absolute(dir string) (string, error) {
	if dir == "" || !isLocal(dir) {
		return dir, nil
	}
	return filepath.Abs(dir)
}
