package rounds

import (
	"bytes"
	"crypto/hmac"
	"crypto/hpke"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/strictjson"
)

// Reports that wait for a shuffler where others can read are sealed: by hybrid public key
// encryption (RFC 9180) to the shuffler's key, by ML-KEM-768 with X25519, since a copy that is kept
// may be tried for decades. Plan, question and silo are bound to it. Within it the reports have a
// code (HMAC-SHA-256) by a secret that the shuffler gave to that silo alone, its pass: whoever
// could send in other silos' names would take the reports away among which a record hides.

const (
	sealedMagic = "darrm federated sealed 1\n"
	publicMagic = "darrm shuffler public key 1\n"
	secretMagic = "darrm shuffler secret key 1\n"
	passMagic   = "darrm shuffler pass 1\n"
	// sealRoom is at least what a seal adds: the magic, the encapsulated key of 1,120 bytes, the code,
	// the tag.
	sealRoom = 2048
	// MaxKey is the most bytes that a file of a key has.
	MaxKey = 4096
)

var (
	sealKEM  = hpke.MLKEM768X25519()
	sealKDF  = hpke.HKDFSHA256()
	sealAEAD = hpke.AES256GCM()
)

// ShufflerKey is a shuffler's secret key. It is immutable and safe for concurrent use.
type ShufflerKey struct{ key hpke.PrivateKey }

// SealKey is a shuffler's public key. It is immutable and safe for concurrent use.
type SealKey struct {
	key  hpke.PublicKey
	file []byte
}

// Pass is a silo's secret of a run, which the shuffler gives to it, and to nobody else, before: the
// fingerprint of the shuffler's key, and the key of the codes that mark its reports as its own.
type Pass struct {
	Silo        int    // from 0
	Fingerprint string // of the shuffler's key
	secret      [32]byte
}

// passFile is the file of a Pass.
type passFile struct {
	Silo        int    `json:"silo"` // from 1
	Fingerprint string `json:"shuffler"`
	Secret      []byte `json:"secret"`
}

var errNoKey = errors.New("a shuffler's key must be given: make one with NewShufflerKey")

// Pass returns the pass of a silo, from 0: always the same of one key.
func (k ShufflerKey) Pass(silo int) (Pass, error) {
	if k.key == nil {
		return Pass{}, errNoKey
	}
	key, err := k.key.Bytes()
	if err != nil {
		return Pass{}, err
	}
	h := hmac.New(sha256.New, key)
	fmt.Fprintf(h, "%s%d", passMagic, silo)
	return Pass{silo, k.Public().Fingerprint(), [32]byte(h.Sum(nil))}, nil
}

// Encode returns the file of the pass, which is SECRET.
func (a Pass) Encode() ([]byte, error) {
	b, err := encode(passFile{a.Silo + 1, a.Fingerprint, a.secret[:]})
	return append([]byte(passMagic), b...), err
}

// ReadPass reads the file of a pass.
func ReadPass(file []byte) (Pass, error) {
	b, err := cutMagic(passMagic, file)
	if err != nil {
		return Pass{}, err
	}
	var f passFile
	if err := strictjson.DecodeKnown(b, MaxKey, &f); err != nil {
		return Pass{}, formatf("not a pass: %w", err)
	}
	if f.Silo < 1 || len(f.Secret) != 32 || len(f.Fingerprint) != 2*sha256.Size {
		return Pass{}, formatf("not a pass: silo, shuffler or secret is none")
	}
	return Pass{f.Silo - 1, f.Fingerprint, [32]byte(f.Secret)}, nil
}

// code proves to the shuffler that reports are of the pass's silo.
func (a Pass) code(info, reports []byte) []byte {
	h := hmac.New(sha256.New, a.secret[:])
	fmt.Fprintf(h, "%d ", len(info))
	h.Write(info)
	h.Write(reports)
	return h.Sum(nil)
}

// NewShufflerKey draws a key from the system's generator.
func NewShufflerKey() (ShufflerKey, error) {
	k, err := sealKEM.GenerateKey()
	return ShufflerKey{k}, err
}

// Encode returns the file of the secret key.
func (k ShufflerKey) Encode() ([]byte, error) {
	if k.key == nil {
		return nil, errNoKey
	}
	b, err := k.key.Bytes()
	return keyFile(secretMagic, b), err
}

// ReadShufflerKey reads the file of a secret key.
func ReadShufflerKey(file []byte) (ShufflerKey, error) {
	b, err := readKeyFile(secretMagic, file)
	if err != nil {
		return ShufflerKey{}, err
	}
	k, err := sealKEM.NewPrivateKey(b)
	if err != nil {
		return ShufflerKey{}, formatf("not a secret key: %w", err)
	}
	return ShufflerKey{k}, nil
}

// Public returns the public key.
func (k ShufflerKey) Public() SealKey {
	if k.key == nil {
		return SealKey{}
	}
	p := k.key.PublicKey()
	return SealKey{p, keyFile(publicMagic, p.Bytes())}
}

// ReadSealKey reads the file of a public key. Its fingerprint alone tells whose it is, and must
// come another way than the file: by a Pass.
func ReadSealKey(file []byte) (SealKey, error) {
	b, err := readKeyFile(publicMagic, file)
	if err != nil {
		return SealKey{}, err
	}
	p, err := sealKEM.NewPublicKey(b)
	if err != nil {
		return SealKey{}, formatf("not a public key: %w", err)
	}
	return SealKey{p, keyFile(publicMagic, p.Bytes())}, nil
}

// Encode returns the file of the key.
func (k SealKey) Encode() []byte { return bytes.Clone(k.file) }

// Fingerprint names the key: the SHA-256 of its file, 64 hexadecimal digits.
func (k SealKey) Fingerprint() string {
	h := sha256.Sum256(k.file)
	return hex.EncodeToString(h[:])
}

// cutMagic returns what follows the line that a file of its kind begins with.
func cutMagic(magic string, file []byte) ([]byte, error) {
	rest, ok := bytes.CutPrefix(file, []byte(magic))
	if !ok {
		return nil, formatf("it does not begin with %q", strings.TrimSpace(magic))
	}
	return rest, nil
}

func keyFile(magic string, key []byte) []byte {
	return []byte(magic + base64.StdEncoding.EncodeToString(key) + "\n")
}

func readKeyFile(magic string, file []byte) ([]byte, error) {
	text, err := cutMagic(magic, file)
	if err != nil {
		return nil, err
	}
	b, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(string(text), "\n"))
	if err != nil {
		return nil, formatf("no key: not base64")
	}
	return b, nil
}

// sealInfo returns the plan, question and silo to which a seal is bound.
func (p *Run) sealInfo(r *Round, silo int) []byte {
	question := p.question(r)
	return fmt.Appendf(nil, "%s%x %x %d", sealedMagic, p.digest, question, silo)
}

// Seal returns the file of a silo's reports so that nobody but the shuffler can read it, with the
// code of the silo's pass. It refuses a key that is not the pass's. Two seals of one file differ.
func (p *Run) Seal(k SealKey, a Pass, r *Round, reports []byte) ([]byte, error) {
	if k.Fingerprint() != a.Fingerprint {
		return nil, formatf("its fingerprint is %s, but the shuffler's is %s: nothing is sealed to a "+
			"stranger's key", k.Fingerprint(), a.Fingerprint)
	}
	info := p.sealInfo(r, a.Silo)
	sealed, err := hpke.Seal(k.key, sealKDF, sealAEAD, info, append(a.code(info, reports), reports...))
	return append([]byte(sealedMagic), sealed...), err
}

// Unseal returns the file of a silo's reports. It refuses a seal of another plan, round or silo, to
// another key, without the silo's pass, and one that was changed.
func (p *Run) Unseal(k ShufflerKey, r *Round, silo int, file []byte) ([]byte, error) {
	sealed, err := cutMagic(sealedMagic, file)
	if err != nil {
		return nil, err
	}
	info := p.sealInfo(r, silo)
	b, err := hpke.Open(k.key, sealKDF, sealAEAD, info, sealed)
	if err != nil || len(b) < sha256.Size {
		return nil, formatf("it is not sealed to this shuffler for round %d and silo %d, or was changed",
			r.Round, silo+1)
	}
	pass, err := k.Pass(silo)
	if err != nil {
		return nil, err
	}
	if reports := b[sha256.Size:]; hmac.Equal(b[:sha256.Size], pass.code(info, reports)) {
		return reports, nil
	}
	return nil, formatf("it is not from silo %d: who sealed it does not have the silo's pass", silo+1)
}

// MaxSealed returns the most bytes that sealed reports have.
func (p *Run) MaxSealed() int64 { return handle.Made(p).MaxReports() + sealRoom }
