package release

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/darrm/darrm/internal/atomicfile"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/internal/readfile"
)

// serviceKey is the secret from which all coins of an on-line release come, and the keyed
// digests by which its ledger recognises votes and answers.
type serviceKey struct{ *randsrc.Key }

// serviceKeyMagic begins the file: then the key's fingerprint and the key.
const serviceKeyMagic = "darrm service key 1\n"

// maxServiceKey is more than such a file has.
const maxServiceKey = 4 << 10

// openServiceKey reads the key from the file at path, and makes one where there is none. Of
// several processes that make it at once all get the same. A file that is no key, or that
// others than its owner may use, is an [InputError].
func openServiceKey(ctx context.Context, path string) (serviceKey, error) {
	k, err := readServiceKey(ctx, path)
	if !errors.Is(err, fs.ErrNotExist) {
		return k, err
	}
	fresh, err := randsrc.NewKey()
	if err != nil {
		return k, err
	}
	err = atomicfile.WriteNew(path, 0o600, func(w io.Writer) error {
		fingerprint := fresh.Fingerprint()
		if _, err := w.Write(append([]byte(serviceKeyMagic), fingerprint[:]...)); err != nil {
			return err
		}
		return fresh.Send(w)
	})
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return k, &OutputError{fmt.Errorf("make the service key: %w", err)}
	}
	return readServiceKey(ctx, path) // of whoever was first
}

func readServiceKey(ctx context.Context, path string) (k serviceKey, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return k, &InputError{err}
	}
	// Who can read it can undo the noise of every answer, and so would be told the votes.
	if info.Mode().IsRegular() && readfile.Shared(info) {
		return k, &InputError{fmt.Errorf("the service key %s has mode %#o, so others than its owner may "+
			"use it; only 0600 is accepted", path, info.Mode().Perm())}
	}
	b, err := readfile.Whole(ctx, path, maxServiceKey)
	if err != nil {
		return k, &InputError{err}
	}
	defer clear(b)
	rest, ok := bytes.CutPrefix(b, []byte(serviceKeyMagic))
	if !ok || len(rest) < 32 {
		return k, &InputError{fmt.Errorf("%s is not a service key", path)}
	}
	if k.Key, err = randsrc.ReadKey(bytes.NewReader(rest[32:]), [32]byte(rest[:32])); err !=
		nil {
		return k, &InputError{fmt.Errorf("service key %s: %w", path, err)}
	}
	return k, nil
}

// name returns the name of the key in the ledger's events.
func (k serviceKey) name() string {
	fingerprint := k.Fingerprint()
	return hex.EncodeToString(fingerprint[:])
}

// digest is a keyed hash of parts. No two lists of parts have the same bytes.
func (k serviceKey) digest(use string, parts ...[]byte) (out [32]byte) {
	h := k.Pin()
	fmt.Fprintf(h, "darrm online 5: %s\n", use)
	for _, part := range parts {
		fmt.Fprintf(h, "%d:", len(part))
		h.Write(part)
	}
	h.Sum(out[:0])
	return out
}
