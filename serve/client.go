package serve

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"

	"golang.org/x/time/rate"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/ledger"
)

// Client is a person or a program that may ask. The toml names are those of a table "client" of the
// configuration.
type Client struct {
	// Name names the client in the ledger and in logs: letters, digits, ".", "_" and "-".
	Name string `toml:"name"`
	// TokenSHA256 are the SHA-256 of the client's tokens, in hexadecimal digits. Each opens: a new
	// token stands beside the old one until nobody has that any more.
	TokenSHA256 []string `toml:"token_sha256"`
	// Certificate is the common name of the client's certificate. One of the two is required.
	Certificate string `toml:"certificate"`
	// Epsilon and Delta are the client's share of the budget. Both or none are given; without
	// them the client may spend all.
	Epsilon *float64 `toml:"epsilon"`
	Delta   *float64 `toml:"delta"`
	// Answers is the client's share of a table for many answers, each of which costs nothing more.
	Answers *uint64 `toml:"answers"`
	// Rate is the most answers a second over time, and Burst the most at once. Rate 0 sets no
	// limit; Burst defaults to Rate, rounded up.
	Rate  float64 `toml:"rate"`
	Burst int     `toml:"burst"`
	// May lists the client's rights: "answer", and "look" at the budget, the mechanism, the metrics
	// and the page. It defaults to both.
	May []string `toml:"may"`
}

// What a client may do.
const (
	mayAnswer = "answer"
	mayLook   = "look"
)

// tokenPrefix begins a token, so that one that got lost is recognised.
const tokenPrefix = "darrm_"

// NewToken returns a token of 256 random bits, and its SHA-256 as Client.TokenSHA256.
func NewToken() (token, hash string) {
	var b [32]byte
	rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	token = tokenPrefix + base64.RawURLEncoding.EncodeToString(b[:])
	sum := sha256.Sum256([]byte(token))
	return token, hex.EncodeToString(sum[:])
}

// member is a client that was checked.
type member struct {
	Client
	hashes  [][sha256.Size]byte // of the tokens; none with a certificate
	share   *ledger.Budget      // nil for none
	limiter *rate.Limiter
	room    chan struct{} // one token for each request of the client; nil for no bound
}

// anybody is the client of every request where no clients are configured.
var anybody = &member{limiter: rate.NewLimiter(rate.Inf, 0),
	Client: Client{May: []string{mayAnswer, mayLook}}}

var clientName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

func newMember(c Client) (*member, error) {
	m := &member{Client: c, limiter: rate.NewLimiter(rate.Inf, 0)}
	if !clientName.MatchString(c.Name) {
		return nil, check.Want("name", fmt.Sprintf("%.64q", c.Name), `1 to 64 letters, digits, ".", "_" and "-"`)
	}
	if (len(c.TokenSHA256) == 0) == (c.Certificate == "") {
		return nil, errors.New("token_sha256 or certificate must be given, and not both")
	}
	for _, digits := range c.TokenSHA256 {
		hash, err := hex.DecodeString(digits)
		if err != nil || len(hash) != sha256.Size {
			return nil, errors.New(
				"token_sha256 must be a list of 64 hexadecimal digits each, as darrm serve token prints them")
		}
		if [sha256.Size]byte(hash) == sha256.Sum256(nil) { // of a variable that was not set, say
			return nil, errors.New("token_sha256 is that of an empty token, which anybody has")
		}
		m.hashes = append(m.hashes, [sha256.Size]byte(hash))
	}
	if (c.Epsilon == nil) != (c.Delta == nil) {
		return nil, errors.New("epsilon and delta of a share must be given together")
	}
	if c.Epsilon != nil {
		share, err := ledger.NewBudget(*c.Epsilon, *c.Delta)
		if err != nil {
			return nil, err
		}
		m.share = &share
	}
	switch {
	case !(c.Rate >= 0 && c.Rate <= 1e9):
		return nil, check.Want("rate", c.Rate, "between 0 and 1e9 answers a second, 0 for no limit")
	case c.Burst < 0 || c.Burst > 0 && c.Rate == 0:
		return nil, check.Want("burst", c.Burst, "at least 1, beside a rate")
	case c.Rate > 0:
		if m.Burst == 0 {
			m.Burst = int(math.Ceil(c.Rate))
		}
		m.limiter = rate.NewLimiter(rate.Limit(c.Rate), m.Burst)
	}
	if c.May == nil {
		m.May = []string{mayAnswer, mayLook}
	}
	for _, what := range m.May {
		if what != mayAnswer && what != mayLook {
			return nil, check.Want("may", fmt.Sprintf("%q", what), `"answer" or "look"`)
		}
	}
	return m, nil
}

// has reports whether a hash is that of a token of the client. It compares all, each in constant
// time.
func (m *member) has(sum [sha256.Size]byte) bool {
	found := 0
	for _, hash := range m.hashes {
		found |= subtle.ConstantTimeCompare(sum[:], hash[:])
	}
	return found == 1
}

func (m *member) may(what string) bool { return slices.Contains(m.May, what) }

// members are all clients.
type members []*member

// newMembers checks clients. Those that stay as they were keep how much of their rate is used up,
// and all keep the requests that are under way.
func newMembers(clients []Client, before members) (members, error) {
	var all members
	for i, c := range clients {
		m, err := newMember(c)
		if err != nil {
			return nil, fmt.Errorf("client %d (%.64q): %w", i+1, c.Name, err)
		}
		for _, other := range all {
			switch {
			case other.Name == m.Name:
				return nil, fmt.Errorf("client %q appears twice", m.Name)
			case slices.ContainsFunc(m.hashes, other.has):
				return nil, fmt.Errorf("clients %q and %q have the same token", other.Name, m.Name)
			case m.Certificate != "" && other.Certificate == m.Certificate:
				return nil, fmt.Errorf("clients %q and %q have the same certificate", other.Name, m.Name)
			}
		}
		for _, old := range before {
			if old.Name == m.Name {
				m.room = old.room
			}
			if old.Name == m.Name && old.Rate == m.Rate && old.Burst == m.Burst {
				m.limiter = old.limiter
			}
		}
		all = append(all, m)
	}
	return all, nil
}
