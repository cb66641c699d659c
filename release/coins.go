package release

import (
	"bytes"
	"context"
	"crypto/hmac"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/votes"
)

// keyedCoins let a release of labels that was paid for, and interrupted, be done again
// without being a second release: its coins come from a secret key, so each query has the
// same answer ([randsrc.KeyedCoins]). The key, and a keyed hash of the votes and
// the mechanism that answers them, are the release's [secret].
type keyedCoins struct {
	*secret
	key *randsrc.Key
	pin []byte // of what the key answers; nil until it is known
	// budget is the budget of all labels of the release, resolved; nil where none is stated
	budget *accountant.Cost
	now    hash.Hash // of the votes that are read
}

// coinsMagic begins the state: then the key's fingerprint, the pin, the budget, the key.
const coinsMagic = "darrm resume 5\n"

// maxCoinsFile is more than such a state has.
const maxCoinsFile = 4 << 10

// openCoins reads the key of a release from the file at path, or makes a new one where there is none;
// nil for "". A file without a key is an [InputError].
func openCoins(ctx context.Context, path string, of owner) (*keyedCoins, error) {
	s, b, err := openSecret(ctx, path, of, maxCoinsFile)
	if s == nil || err != nil {
		return nil, err
	}
	c := &keyedCoins{secret: s}
	s.state = c.file
	if !s.resumed {
		c.key, err = randsrc.NewKey()
		return c, err
	}
	rest, ok := bytes.CutPrefix(b, []byte(coinsMagic))
	if !ok || len(rest) < 64+budgetSize {
		return nil, &InputError{fmt.Errorf("%q is not a checkpoint of aggregate", path)}
	}
	c.key, err = randsrc.ReadKey(bytes.NewReader(rest[64+budgetSize:]), [32]byte(rest[:32]))
	if err != nil {
		return nil, &InputError{fmt.Errorf("%q: %w", path, err)}
	}
	c.pin, c.budget = rest[32:64], parseBudget(rest[64:])
	return c, nil
}

// file returns the state of the secret.
func (c *keyedCoins) file() []byte {
	fingerprint := c.key.Fingerprint()
	b := bytes.NewBufferString(coinsMagic)
	b.Write(fingerprint[:])
	b.Write(c.pin)
	b.Write(appendBudget(nil, c.budget))
	_ = c.key.Send(b) // a buffer takes everything
	return b.Bytes()
}

// fingerprint names the key and gives nothing of it away; "" without a key.
func (c *keyedCoins) fingerprint() string {
	if c == nil {
		return ""
	}
	fingerprint := c.key.Fingerprint()
	return hex.EncodeToString(fingerprint[:])
}

// begin starts to read the votes.
func (c *keyedCoins) begin() { c.now = c.key.Pin() }

// PinVotes takes the votes of a batch into a keyed hash, in their order, by which another reading of them is compared.
// True labels are no part of them: they do not enter an answer.
func PinVotes(h hash.Hash, b *votes.Batch) {
	if h == nil || b == nil {
		return
	}
	var row []byte
	for i := range b.Len() {
		id := b.ID(i)
		row = binary.AppendUvarint(row[:0], uint64(len(id)))
		row = append(row, id...)
		for _, n := range b.Row(i) {
			row = binary.AppendUvarint(row, uint64(n))
		}
		h.Write(row)
	}
}

// end compares the votes that were read, and the mechanism that answers them, with those
// that the key was made for. One key gives one series of answers, whatever request and
// ledger it is used for: where two noise functions, or tables, share their coins, answers
// that differ tell the votes, though both were paid for. The first time it keeps them for the
// file. Other votes are an [InputError].
func (c *keyedCoins) end(plan Plan) error {
	table := plan.tableDigest()
	c.now.Write(table[:])
	sum := c.now.Sum(nil)
	if c.pin == nil {
		c.pin = sum
	}
	if !hmac.Equal(sum, c.pin) {
		return &InputError{fmt.Errorf("the votes, or the mechanism, are not those that %q was made for: "+
			"an answer would be another release", c.path)}
	}
	return nil
}

// coins are the key's for the release of this name; without a key, the operating system's.
func (c *keyedCoins) coins(release string) randsrc.Coins {
	if c == nil {
		return randsrc.SystemCoins()
	}
	return randsrc.KeyedCoins(c.key, release)
}

// onlineScope identifies the ledger and the mechanism to which the coins of an on-line release
// belong. Answers of two scopes share no coin: where they did, two that differ would tell the
// votes.
type onlineScope struct {
	Ledger     string // its id
	Mechanism  string // its name
	Parameters string // its noise, exactly: its title has four digits, which two mechanisms may share
	Setting    ensemble.Setting
	PerAnswer  accountant.Cost
	Table      []byte // the mechanism's tableDigest, where it has a table
}

// scopeOf returns what answers by plan for this ledger belong to.
func scopeOf(ledger string, plan Plan) onlineScope {
	m := plan.mechanism
	s := onlineScope{
		Ledger: ledger, Mechanism: m.Name(), Parameters: m.Parameters(), Setting: m.Setting(),
		PerAnswer: m.PerAnswer(),
	}
	if plan.tabled() {
		table := plan.tableDigest()
		s.Table = table[:]
	}
	return s
}

// parts lists every field after its name, in this order, which must stay: other bytes are other
// coins, and a server that draws other coins can repeat no answer of before. Numbers are 8 bytes,
// big endian, floats by their bits; [serviceKey.digest] keeps the parts apart.
func (s onlineScope) parts() (parts [][]byte) {
	text := func(name, value string) { parts = append(parts, []byte(name), []byte(value)) }
	number := func(name string, value uint64) {
		parts = append(parts, []byte(name), binary.BigEndian.AppendUint64(nil, value))
	}
	text("ledger", s.Ledger)
	text("mechanism", s.Mechanism)
	text("parameters", s.Parameters)
	number("teachers", uint64(s.Setting.K))
	number("classes", uint64(s.Setting.Classes))
	number("affected", uint64(s.Setting.Affected))
	number("neighbours", uint64(s.Setting.Neighbours))
	number("epsilon", math.Float64bits(s.PerAnswer.Epsilon))
	number("delta", math.Float64bits(s.PerAnswer.Delta))
	text("table", string(s.Table))
	if s.Setting.Missing {
		number("missing", 1)
	}
	return parts
}
