package release

import (
	"bytes"
	"context"
	"crypto/hmac"
	"encoding/binary"
	"encoding/hex"
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
	"github.com/darrm/darrm/internal/readfile"
	"github.com/darrm/darrm/votes"
)

// A Checkpoint lets a release that was paid for, and interrupted, be done again without
// being a second release: its coins come from a secret key, so each query has the same
// answer ([ensemble.KeyedCoins]). The key and a keyed hash of the votes and the
// noise function are in a file that is made before the charge and removed when the labels
// are out.
type Checkpoint struct {
	path    string
	key     *ensemble.JobKey
	pin     []byte // of what the key answers; nil until it is known
	resumed bool   // the file was there
	now     hash.Hash
	buf     []byte
}

// checkpointMagic begins the file: then the key's fingerprint, the pin, the key.
const checkpointMagic = "darrm resume 2\n"

// maxCheckpoint is more than a checkpoint has.
const maxCheckpoint = 4 << 10

// OpenCheckpoint reads the file at path, or makes a new key where there is none. A file that
// is no checkpoint is an [InputError].
func OpenCheckpoint(ctx context.Context, path string) (*Checkpoint, error) {
	b, err := readfile.Whole(ctx, path, maxCheckpoint)
	if errors.Is(err, fs.ErrNotExist) {
		key, err := ensemble.NewJobKey()
		return &Checkpoint{path: path, key: key}, err
	}
	if err != nil {
		return nil, InputError{err}
	}
	rest, ok := bytes.CutPrefix(b, []byte(checkpointMagic))
	if !ok || len(rest) < 64 {
		return nil, InputError{fmt.Errorf("%q is not a checkpoint of aggregate", path)}
	}
	key, err := ensemble.ReadJobKey(bytes.NewReader(rest[64:]), [32]byte(rest[:32]))
	if err != nil {
		return nil, InputError{fmt.Errorf("%q: %w", path, err)}
	}
	return &Checkpoint{path: path, key: key, pin: rest[32:64], resumed: true}, nil
}

// Resumed says whether the file was there: the release was begun before.
func (c *Checkpoint) Resumed() bool { return c != nil && c.resumed }

// Key names the key and gives nothing of it away; "" without a checkpoint.
func (c *Checkpoint) Key() string {
	if c == nil {
		return ""
	}
	fingerprint := c.key.Fingerprint()
	return hex.EncodeToString(fingerprint[:])
}

// begin starts to read the votes.
func (c *Checkpoint) begin() { c.now = c.key.Pin() }

// add takes the votes of a batch into the hash, in their order.
func (c *Checkpoint) add(b *votes.Batch) {
	for i := range b.Len() {
		id := b.ID(i)
		c.buf = binary.AppendUvarint(c.buf[:0], uint64(len(id)))
		c.buf = append(c.buf, id...)
		for _, n := range b.Row(i) {
			c.buf = binary.AppendUvarint(c.buf, uint64(n))
		}
		c.now.Write(c.buf)
	}
}

// Pin compares the votes that were read, and the noise function that answers them, with
// those that the key was made for. One key gives one series of answers, whatever request
// and ledger it is used for: where two noise functions share their coins, answers that
// differ tell the votes, though both were paid for. The first time Pin keeps them, on disk,
// before anything is paid. Other votes are an [InputError].
func (c *Checkpoint) Pin(f gamma.Func) error {
	for _, v := range f.Values() {
		c.now.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
	}
	sum := c.now.Sum(nil)
	if c.pin != nil {
		if !hmac.Equal(sum, c.pin) {
			return InputError{fmt.Errorf("the votes, or the noise function, are not those that %q was made for: an answer would be another release", c.path)}
		}
		return nil
	}
	c.pin = sum
	fingerprint := c.key.Fingerprint()
	err := atomicfile.Write(c.path, 0o600, func(w io.Writer) error {
		if _, err := w.Write(append(append([]byte(checkpointMagic), fingerprint[:]...), c.pin...)); err != nil {
			return err
		}
		return c.key.Send(w)
	})
	if err != nil {
		return OutputError{err}
	}
	return nil
}

// Coins returns the key's coins; without a checkpoint, the operating system's.
func (c *Checkpoint) Coins() ensemble.Coins {
	if c == nil {
		return ensemble.SystemCoins()
	}
	return ensemble.KeyedCoins(c.key)
}

// Forget removes the file: with it and the labels, anyone could compute which votes were
// possible. Without a checkpoint it does nothing. The error is an [OutputError].
func (c *Checkpoint) Forget() error {
	if c == nil {
		return nil
	}
	if err := os.Remove(c.path); err != nil {
		return OutputError{fmt.Errorf("the secret checkpoint is still there: %w", err)}
	}
	return nil
}
