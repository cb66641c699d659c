package ensemble

import (
	"fmt"
	"hash"
	"io"

	"github.com/darrm/darrm/internal/randsrc"
)

// JobKey is the secret of one release that is worked out on several machines, where
// a piece of work can be lost and done again. Its answers depend on the key, the query's
// id and its votes alone, so work that is repeated repeats its answers. A key is of one job:
// it is made for it, stays in it, and ends with it. What that rests on and what it
// needs of the caller is said at [KeyedCoins].
type JobKey struct{ key *randsrc.Key }

// NewJobKey returns a new key of 256 bits of the operating system's randomness. There is
// no way to choose one.
func NewJobKey() (*JobKey, error) {
	k, err := randsrc.NewKey()
	if err != nil {
		return nil, err
	}
	return &JobKey{k}, nil
}

// ReadJobKey receives a key that Send wrote in another process of the same job. Another
// key than the one with the fingerprint is an error: it would answer anew what was
// answered before.
func ReadJobKey(r io.Reader, fingerprint [32]byte) (*JobKey, error) {
	k, err := randsrc.ReadKey(r, fingerprint)
	if err != nil {
		return nil, err
	}
	return &JobKey{k}, nil
}

// Send writes the key for ReadJobKey. Whoever reads what it writes can undo the noise
// of the whole job.
func (k *JobKey) Send(w io.Writer) error { return k.secret().Send(w) }

// Fingerprint names the key and gives nothing of it away.
func (k *JobKey) Fingerprint() [32]byte { return k.secret().Fingerprint() }

// Pin returns a keyed hash: what it says of two streams of votes is whether they are the
// same, and without the key not even that.
func (k *JobKey) Pin() hash.Hash { return k.secret().Pin() }

// Format prints what k is and not what it holds.
func (k JobKey) Format(f fmt.State, _ rune) { io.WriteString(f, "job key (secret)") }

func (k *JobKey) secret() *randsrc.Key {
	if k == nil {
		return nil
	}
	return k.key
}
