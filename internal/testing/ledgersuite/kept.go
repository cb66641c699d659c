package ledgersuite

import (
	"errors"
	"testing"

	"github.com/darrm/darrm/ledger"
)

// kept: what is kept under a name stays, and is there when the ledger is opened again.
func kept(t *testing.T, newLocation func(t *testing.T) string) {
	location := newLocation(t)
	l := Create(t, location, 1)
	one, two := ledger.Digest{1}, ledger.Digest{2}
	if _, err := l.Kept(t.Context(), one); !errors.Is(err, ledger.ErrKept) {
		t.Errorf("nothing is kept: %v", err)
	}
	for _, content := range []string{"first\x00", "second"} {
		if err := l.Keep(t.Context(), one, []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	again := must(ledger.Open(t.Context(), location))(t)
	if got, err := again.Kept(t.Context(), one); string(got) != "first\x00" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := again.Kept(t.Context(), two); !errors.Is(err, ledger.ErrKept) {
		t.Errorf("another name: %v", err)
	}
	MustSpend(t, again, 0)
}
