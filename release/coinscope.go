package release

import (
	"encoding/binary"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
)

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
