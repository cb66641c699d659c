package rounds

import (
	"bytes"
	"errors"
	"testing"

	"github.com/darrm/darrm/internal/must"
)

// The shuffler reads what a silo sealed, and nobody else does. A seal of another round, silo or
// plan, without the silo's pass, to another key, or changed in any byte, is refused.
func TestSeal(t *testing.T) {
	p := newPlan(t, nil)
	r := p.First()
	key, other := must.Get(NewShufflerKey())(t), must.Get(NewShufflerKey())(t)
	key = must.Get(ReadShufflerKey(must.Get(key.Encode())(t)))(t)
	public := must.Get(ReadSealKey(key.Public().Encode()))(t)
	pass := must.Get(ReadPass(must.Get(must.Get(key.Pass(1))(t).Encode())(t)))(t)
	if again := must.Get(key.Pass(1))(t); pass != again || pass.Silo != 1 {
		t.Errorf("pass %v, then %v", pass, again)
	}
	reports := bytes.Repeat([]byte("reports of a silo "), 40)
	sealed := must.Get(p.Seal(public, pass, r, reports))(t)
	if got := must.Get(p.Unseal(key, r, 1, sealed))(t); !bytes.Equal(got, reports) {
		t.Errorf("unsealed %q", got)
	}
	if bytes.Contains(sealed, reports[:18]) || len(sealed) > len(reports)+sealRoom {
		t.Errorf("sealed in %d bytes: %q", len(sealed), sealed)
	}
	if bytes.Equal(sealed, must.Get(p.Seal(public, pass, r, reports))(t)) {
		t.Error("two seals are the same")
	}
	if _, err := p.Seal(other.Public(), pass, r, reports); !errors.Is(err, ErrFormat) {
		t.Errorf("sealed to a stranger's key: %v", err)
	}
	next := *r
	next.Round = 1
	// Another silo has a pass of its own, and may claim to be silo 1.
	impostor := must.Get(key.Pass(2))(t)
	impostor.Silo = 1
	for name, unseal := range map[string]func() ([]byte, error){
		"another silo":  func() ([]byte, error) { return p.Unseal(key, r, 0, sealed) },
		"another round": func() ([]byte, error) { return p.Unseal(key, &next, 1, sealed) },
		"another plan":  func() ([]byte, error) { return newPlan(t, nil).Unseal(key, r, 1, sealed) },
		"another key":   func() ([]byte, error) { return p.Unseal(other, r, 1, sealed) },
		"no seal":       func() ([]byte, error) { return p.Unseal(key, r, 1, reports) },
		"empty":         func() ([]byte, error) { return p.Unseal(key, r, 1, nil) },
		"another pass": func() ([]byte, error) {
			return p.Unseal(key, r, 1, must.Get(p.Seal(public, impostor, r, reports))(t))
		},
	} {
		if b, err := unseal(); !errors.Is(err, ErrFormat) || b != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for i := range sealed {
		changed := bytes.Clone(sealed)
		changed[i] ^= 1
		if _, err := p.Unseal(key, r, 1, changed[:]); !errors.Is(err, ErrFormat) {
			t.Fatalf("byte %d changed: %v", i, err)
		}
	}
}

// Keys and passes of strangers are refused.
func TestReadKeys(t *testing.T) {
	key := must.Get(NewShufflerKey())(t)
	secret, public := must.Get(key.Encode())(t), key.Public().Encode()
	pass := must.Get(must.Get(key.Pass(0))(t).Encode())(t)
	if len(secret) > MaxKey || len(public) > MaxKey || len(pass) > MaxKey {
		t.Errorf("keys of %d, %d and %d bytes", len(secret), len(public), len(pass))
	}
	for _, b := range [][]byte{nil, secret, public, pass, public[:len(public)-9], secret[:len(secret)-9],
		[]byte(passMagic), []byte(passMagic + `{"silo": 0}`), []byte(secretMagic + "?"),
		[]byte(publicMagic)} {
		if _, err := ReadShufflerKey(b); !bytes.Equal(b, secret) && !errors.Is(err, ErrFormat) {
			t.Errorf("%.60q is a secret key: %v", b, err)
		}
		if _, err := ReadSealKey(b); !bytes.Equal(b, public) && !errors.Is(err, ErrFormat) {
			t.Errorf("%.60q is a public key: %v", b, err)
		}
		if _, err := ReadPass(b); !bytes.Equal(b, pass) && !errors.Is(err, ErrFormat) {
			t.Errorf("%.60q is a pass: %v", b, err)
		}
	}
}
