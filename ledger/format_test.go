package ledger

import (
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// format4Head is the head of testdata/format4.ledger, worked out by the Python program
// that wrote its last entries, with hashlib.
const format4Head = "24:03f33bcded6e782e777bfcd5ebb14873d31ff7e9c032d7095e68dfb36fc71037"

// A ledger that an earlier build of this format wrote is read, and the rules know what it has: a
// change of the format that its number does not tell fails here.
func TestFormat4(t *testing.T) {
	f := readFiles(t, filepath.Join("testdata", "format4.ledger"))
	path := filepath.Join(t.TempDir(), "ledger")
	f.write(t, path)
	key, err := os.ReadFile(filepath.Join("testdata", "format4.ledger"+SecretSuffix))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+SecretSuffix, key, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	head, err := ParseHead(format4Head)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Verify(t.Context(), head); err != nil {
		t.Error(err)
	}
	entries, err := l.History(t.Context())
	if err != nil || len(entries) != 24 || entries[5].ID != "may" || entries[5].Draw == nil ||
		*entries[5].Draw != (Draw{Name: "may", Votes: entries[5].Draw.Votes}) {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	if spent, err := l.Spent(t.Context()); err != nil ||
		spent.String() != "(6.819941228774, 0.1467445901582968050002)" {
		t.Errorf("%v is spent, %v", spent, err)
	}
	votes, err := l.VoteHash()
	if err != nil {
		t.Fatal(err)
	}
	votes.Add([]int{1, 1, 0})
	votes.Add([]int{0, 0, 0})
	again := Request{Relation: ReplaceOne, ID: "new", Count: 1, Unit: unitOfOne,
		Draw: votes.Draw("", "march")}
	if err := l.Check(t.Context(), again); !errors.Is(err, ErrDrawn) {
		t.Errorf("a second answer: %v", err)
	}
	again.Draw = votes.Draw("", "november")
	if err := l.Check(t.Context(), again); !errors.Is(err, ErrSameVotes) {
		t.Errorf("the same votes: %v", err)
	}
	again.Ensemble, again.EnsembleDigest, again.Draw = "wards é", "v2",
		votes.Draw("wards é", "november")
	if err := l.Check(t.Context(), again); !errors.Is(err, ErrEnsemble) {
		t.Errorf("other teachers: %v", err)
	}
	table := Digest(sha256.Sum256([]byte("table")))
	mustUse(t, "run:summer", "ward 3", 4, 3, l)
	answers := Request{Relation: ReplaceOne, ID: "new", Count: 97, PaidBy: "run:summer",
		Ensemble: "nurses", Quota: &Quota{Table: table}}
	if err := l.Check(t.Context(), answers); !errors.Is(err, ErrAnswers) {
		t.Errorf("97 of 96 answers: %v", err)
	}
	answers.Count = 96
	mustCharge(t, l, answers)
	mustCharge(t, l, plainRequest(1000))
}

// A ledger of another format is named as one, and nothing of it is believed.
func TestOtherFormats(t *testing.T) {
	f := readFiles(t, filepath.Join("testdata", "format4.ledger"))
	for _, format := range []string{"1", "2", "3", "40"} {
		path := filepath.Join(t.TempDir(), "ledger")
		files{[]byte(strings.Replace(string(f.db), `"format":4`, `"format":`+format, 1)),
			f.anchor}.write(t, path)
		if _, err := Open(t.Context(), path); !errors.Is(err, ErrDamaged) ||
			!strings.Contains(err.Error(), "ledger format "+format+
				", but this program reads format 4 alone") {
			t.Errorf("%v", err)
		}
	}
}
