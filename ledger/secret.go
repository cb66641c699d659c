package ledger

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/darrm/darrm/internal/atomicfile"
	"github.com/darrm/darrm/internal/readfile"
)

// SecretSuffix is added to the path of a ledger for the path of its secret.
const SecretSuffix = ".secret"

const (
	secretMagic = "darrm ledger secret 1\n"
	secretSize  = len(secretMagic) + 2*32 + 1
)

// secret is the key of the digests of votes. Whoever has it can test what somebody voted.
type secret [32]byte

// encode returns the file: a line that names the format, and one of hexadecimal digits.
func (s *secret) encode() []byte { return fmt.Appendf(nil, "%s%x\n", secretMagic, s[:]) }

// fingerprint is the SHA-256 of the file.
func (s *secret) fingerprint() Digest { return sha256.Sum256(s.encode()) }

// readSecret reads the file at path, which nobody but its owner may open.
func readSecret(path string) (s secret, err error) {
	f, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return s, fmt.Errorf("%w: %w", ErrSecret, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return s, fmt.Errorf("%w: %w", ErrSecret, err)
	}
	if readfile.Shared(info) {
		return s, fmt.Errorf(
			"%w: %s has mode %#o, so others than its owner may use it; only 0600 is accepted", ErrSecret,
			path, info.Mode().Perm())
	}
	b, err := io.ReadAll(io.LimitReader(f, int64(secretSize)+1))
	if err != nil {
		return s, fmt.Errorf("%w: read %s: %w", ErrSecret, path, err)
	}
	if digits, ok := bytes.CutPrefix(b, []byte(secretMagic)); ok && len(b) == secretSize {
		hex.Decode(s[:], digits[:2*len(s)]) // compared as a whole below
	}
	if !bytes.Equal(s.encode(), b) {
		return s, fmt.Errorf("%w: %s is not in the form of a secret", ErrSecret, path)
	}
	return s, nil
}

// ensureSecret returns the secret at path, and makes it where there is none: one that is there
// was left by a [Create] that was cut short, or belongs to one that goes on now, whose
// ledger may be the one that comes into being.
func ensureSecret(path string) (s secret, err error) {
	rand.Read(s[:]) // never fails: crypto/rand ends the program instead
	err = atomicfile.WriteNew(path, 0o600, func(w io.Writer) error {
		_, err := w.Write(s.encode())
		return err
	})
	if errors.Is(err, fs.ErrExist) {
		return readSecret(path)
	}
	return s, err
}
