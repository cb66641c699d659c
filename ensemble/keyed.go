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
// needs of the caller is said at [Mechanism.ReleaseKeyed].
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

// ReleaseKeyed answers one query with the coins that key has for it:
//
//	answer = Release's, with u = ⌊b₀…b₇ / 2¹¹⌋ and coin = b₈ mod 2 in the place of the
//	system's; b = HMAC-SHA-256_k(0 ‖ query), k from the job's secret
//
// so a query that is answered again, by a bundle that is retried say, has the same
// answer, and the two together are one release that costs PerAnswer once. HMAC-SHA-256
// is taken for a pseudorandom function: then the answers of a job are those of
// Release to everybody who does not know the key and cannot tell the function
// from a random one, and the guarantee is against such (Mironov, Pandey,
// Reingold and Vadhan, Computational Differential Privacy (2009)). Given that:
//
//   - query ids must differ within the job: two queries of one id share their coins, and
//     what their answers differ in is then no noise;
//   - the votes of a query must not change under one key (see [JobKey.Pin]);
//   - the key must not be seen by those who see the labels.
//
// It fails, and there is no answer, for a key that NewJobKey did not make.
func (m *Mechanism) ReleaseKeyed(key *JobKey, query string, ones int) (bool, error) {
	return m.answer(key.secret().Coins(query), ones)
}
