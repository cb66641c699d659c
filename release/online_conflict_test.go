package release

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/darrm/darrm/ledger"
)

// Replay keys of two askers.
const (
	myKey    = "00112233445566778899aabbccddeeff"
	otherKey = "10112233445566778899aabbccddeeff"
)

// Whoever asks under an id that was used before hears the same whether or not he guessed the votes:
// without a replay key or with another one, under the client's name, another's or none. Only who
// shows all of it again is answered again.
func TestConflictsTellNoVotes(t *testing.T) {
	for name, w := range ways(t) {
		o, options := newOnline(t, w.plan, w.charge, 1e3)
		alice := Query{ID: "a", ReplayKey: myKey, Votes: w.votes, Client: "alice"}
		mustAnswer(t, o, alice)
		counts := countsOf(w.votes, w.plan.mechanism.Setting().Classes)
		var said []string
		for _, server := range []*Online{o, openOnline(t, options)} {
			for _, client := range []string{"alice", "bob", ""} {
				for _, key := range []string{myKey, otherKey, "", myKey + "0"} {
					for _, q := range []Query{{Votes: w.votes}, {Votes: w.more}, {Counts: counts},
						{Votes: w.votes, Share: shareOf(t, 100)}, {Votes: w.more, Share: shareOf(t, 0.1)}} {
						q.ID, q.Client, q.ReplayKey = "a", client, key
						if q.Share != nil && name == "together" { // shares of it are in answers
							q.Share, q.AnswersShare = nil, new(uint64(1))
						}
						if client == "" {
							q.Share, q.AnswersShare = nil, nil
						}
						if client == alice.Client && key == myKey && q.Votes != nil && &q.Votes[0] == &w.votes[0] {
							continue
						}
						a, err := server.Answer(t.Context(), q)
						if a != nil || !errors.Is(err, ledger.ErrRefused) {
							t.Fatalf("%s: %+v: %+v, %v", name, q, a, err)
						}
						if said = append(said, err.Error()); err.Error() != said[0] {
							t.Errorf("%s: %q, then %q", name, said[0], err)
						}
					}
				}
			}
			if a := mustAnswer(t, server, alice); !a.Replayed {
				t.Errorf("%s: not replayed", name)
			}
		}
		checkSpent(t, o.book, w.cost(1))
	}
}

// A query without a replay key is answered once: the same one again is refused, at every server, in
// the words for other votes.
func TestWithoutReplayKeyOnce(t *testing.T) {
	for name, w := range ways(t) {
		o, options := newOnline(t, w.plan, w.charge, 1e3)
		mustAnswer(t, o, Query{ID: "a", Votes: w.votes})
		said := map[string]bool{}
		for _, server := range []*Online{o, openOnline(t, options)} {
			for _, q := range []Query{{Votes: w.votes}, {Votes: w.more}, {ReplayKey: myKey, Votes: w.votes},
				{ReplayKey: myKey, Votes: w.more}} {
				q.ID = "a"
				a, err := server.Answer(t.Context(), q)
				if a != nil || !errors.Is(err, ledger.ErrRefused) {
					t.Fatalf("%s: %+v: %+v, %v", name, q, a, err)
				}
				said[err.Error()] = true
			}
		}
		if len(said) != 1 {
			t.Errorf("%s: %v", name, said)
		}
		checkSpent(t, o.book, w.cost(1))
	}
}

// A replay key that cannot have 128 random bits is refused before anything is charged, and not
// quoted.
func TestReplayKeyRefused(t *testing.T) {
	w := ways(t)["none"]
	o, _ := newOnline(t, w.plan, w.charge, 1e3)
	for _, key := range []string{myKey[1:], strings.Repeat(myKey, 2) + "0", strings.ToUpper(myKey),
		"x" + myKey, myKey + " ", "5f3c6d8e-0b1a-4c2d-9e8f-1a2b3c4d5e6f"} {
		a, err := o.Answer(t.Context(), Query{ID: "a", ReplayKey: key, Votes: w.votes})
		var input *InputError
		if a != nil || !errors.As(err, &input) || strings.Contains(err.Error(), key) {
			t.Errorf("%s: %+v, %v", key, a, err)
		}
	}
	if h, err := o.book.History(t.Context()); err != nil || len(h) != 0 {
		t.Errorf("%d entries, %v", len(h), err)
	}
	mustAnswer(t, o, Query{ID: "a", ReplayKey: strings.Repeat(myKey, 2), Votes: w.votes})
}

// No file of the ledger has the replay key, or a hash of it that needs no secret.
func TestReplayKeyIsInNoFile(t *testing.T) {
	for name, w := range ways(t) {
		o, options := newOnline(t, w.plan, w.charge, 1e3)
		mustAnswer(t, o, Query{ID: "a", ReplayKey: myKey, Votes: w.votes, Client: "alice"})
		raw, err := hex.DecodeString(myKey)
		if err != nil {
			t.Fatal(err)
		}
		text, bits := sha256.Sum256([]byte(myKey)), sha256.Sum256(raw)
		files, err := filepath.Glob(options.Charge.Ledger + "*")
		if err != nil || len(files) < 3 {
			t.Fatal(files, err)
		}
		for _, f := range append(files, options.Key) {
			if strings.HasSuffix(f, ledger.KeptSuffix) { // a folder of what is public
				continue
			}
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, secret := range [][]byte{[]byte(myKey), raw, text[:], bits[:],
				[]byte(hex.EncodeToString(text[:])), []byte(hex.EncodeToString(bits[:]))} {
				if bytes.Contains(b, secret) {
					t.Errorf("%s: %s has %x", name, filepath.Base(f), secret)
				}
			}
		}
	}
}
