package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Head names the state of a ledger: the last entry and its hash, which covers
// everything before it. Keep it where the ledger's files cannot be reached, and
// give it to [Ledger.Verify] later.
type Head struct {
	Seq  uint64 // 0 for a ledger without entries
	Hash Digest
}

// String returns the form that [ParseHead] reads: seq, colon, hash in hexadecimal.
func (h Head) String() string { return fmt.Sprintf("%d:%s", h.Seq, h.Hash) }

// ParseHead reads what [Head.String] writes.
func ParseHead(s string) (Head, error) {
	number, digest, _ := strings.Cut(s, ":")
	seq, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return Head{}, fmt.Errorf("head %.100q: %w", s, err)
	}
	hash, err := parseDigest([]byte(digest))
	if err != nil {
		return Head{}, fmt.Errorf("head %.100q: %w", s, err)
	}
	h := Head{seq, hash}
	if h.String() != s {
		return Head{}, fmt.Errorf("head %.100q is not in the form %v", s, h)
	}
	return h, nil
}

// ledgerID is random and tells one ledger's files from another's.
type ledgerID [16]byte

func (id ledgerID) String() string { return hex.EncodeToString(id[:]) }

func parseLedgerID(s string) (id ledgerID, err error) {
	if len(s) == hex.EncodedLen(len(id)) {
		_, err = hex.Decode(id[:], []byte(s))
	}
	if err != nil || id.String() != s {
		return id, fmt.Errorf("ledger id %.40q is not 32 lower-case hexadecimal digits", s)
	}
	return id, nil
}

// genesis is the first link of the chain.
type genesis struct {
	id       ledgerID
	created  time.Time
	relation Relation
	secret   Digest // SHA-256 of the secret file
	budget   Budget
	about    About
}

// formatVersion is the format of ledgers, and no other is read.
const formatVersion = 4

type genesisJSON struct {
	Format       int      `json:"format"`
	Ledger       string   `json:"ledger"`
	Created      string   `json:"created"`
	EpsilonUnit  string   `json:"epsilon_unit"`
	DeltaUnit    string   `json:"delta_unit"`
	Composition  string   `json:"composition"`
	Neighbours   Relation `json:"neighbours"`
	SecretSHA256 Digest   `json:"secret_sha256"`
	BudgetLimits costJSON `json:"budget"`
	About        *About   `json:"about,omitempty"`
}

func (g *genesis) encode() ([]byte, error) {
	j := genesisJSON{
		Format: formatVersion, Ledger: g.id.String(), Created: g.created.Format(time.RFC3339Nano),
		EpsilonUnit: "1e-12", DeltaUnit: "1e-24", Composition: "basic",
		Neighbours: g.relation, SecretSHA256: g.secret, BudgetLimits: g.budget.limit.json(),
	}
	if g.about != (About{}) {
		j.About = &g.about
	}
	return marshal(j)
}

func decodeGenesis(b []byte) (genesis, error) {
	var j genesisJSON
	if err := strictJSON(b, &j); err != nil {
		return genesis{}, err
	}
	if j.Format != formatVersion {
		return genesis{}, fmt.Errorf(
			"ledger format %d, but this program reads format %d alone: the program that made it shows it; "+
				"charge a new one (darrm budget init)", j.Format, formatVersion)
	}
	g := genesis{relation: j.Neighbours, secret: j.SecretSHA256}
	err := checkRelation(g.relation)
	if err != nil {
		return genesis{}, err
	}
	if g.id, err = parseLedgerID(j.Ledger); err != nil {
		return genesis{}, err
	}
	if g.created, err = parseTime(j.Created); err != nil {
		return genesis{}, err
	}
	if g.budget.limit, err = j.BudgetLimits.cost(); err != nil {
		return genesis{}, fmt.Errorf("budget: %w", err)
	}
	if j.About != nil {
		g.about = *j.About
	}
	if err := g.about.check(); err != nil {
		return genesis{}, fmt.Errorf("about: %w", err)
	}
	if again, err := g.encode(); err != nil || !bytes.Equal(again, b) {
		return genesis{}, errors.New("genesis record is not in canonical form")
	}
	return g, nil
}

// startsAsLedger reports whether a line begins the file of a ledger of any format.
func startsAsLedger(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte(`{"format":`))
	after := bytes.TrimLeft(rest, "0123456789")
	return ok && len(after) < len(rest) && bytes.HasPrefix(after, []byte(`,"ledger":"`))
}

func genesisHash(encoded []byte) Digest {
	return sha256.Sum256(append([]byte(genesisTag), encoded...))
}

// state holds a ledger's totals after a commit. The file and the anchor each record it.
type state struct {
	commit uint64 // writes so far; entries carry the number of theirs
	head   Head
	spent  Cost
}

// headBegins begins every head record, and no entry.
const headBegins = `{"commit":`

// appendTo appends the head record, the line that closes a commit.
func (s *state) appendTo(b []byte) []byte {
	b = strconv.AppendUint(append(b, headBegins...), s.commit, 10)
	b = strconv.AppendUint(append(b, `,"seq":`...), s.head.Seq, 10)
	b = hex.AppendEncode(append(b, `,"hash":"`...), s.head.Hash[:])
	b = s.spent.epsilon.appendTo(append(b, `","spent":{"epsilon":"`...))
	b = s.spent.delta.appendTo(append(b, `","delta":"`...))
	return append(b, `"}}`...)
}

// follow returns the state after e, or an error if e cannot come next.
func (s state) follow(e *Entry) (state, error) {
	switch {
	case e.Seq != s.head.Seq+1:
		return s, fmt.Errorf("entry %d follows entry %d", e.Seq, s.head.Seq)
	case e.Previous != s.head.Hash:
		return s, fmt.Errorf("entry %d does not continue the hash chain", e.Seq)
	case e.Commit != s.commit && e.Commit != s.commit+1 || e.Commit == 0:
		return s, fmt.Errorf("entry %d of commit %d follows commit %d", e.Seq, e.Commit, s.commit)
	}
	return state{e.Commit, Head{e.Seq, e.Hash}, s.spent.Plus(e.Total())}, nil
}
