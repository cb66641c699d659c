package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
)

// Digest is a SHA-256.
type Digest [sha256.Size]byte

// String returns 64 lower-case hexadecimal digits.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// MarshalText returns what String does.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what String writes.
func (d *Digest) UnmarshalText(text []byte) (err error) {
	d = handle.Made(d)
	*d, err = parseDigest(text)
	return err
}

// Kind names what an [Entry] records.
type Kind string

const (
	KindCharge Kind = "charge" // budget spent
	KindResult Kind = "result" // the digest of what is released; spends nothing
)

// An Entry is one record of the ledger.
type Entry struct {
	Seq    uint64 // position, from 1
	Commit uint64 // the write it came with, from 1; ChargeAll writes several entries at once
	Kind   Kind
	ID     string    // the request's
	Time   time.Time // UTC, by the clock of the machine that charged; not to be relied on

	Relation Relation        // charge: neighbouring relation of Unit
	Count    uint64          // charge: releases paid for
	Unit     Cost            // charge: cost of each
	PaidBy   string          // charge: id of the earlier charge that covers this one, at no cost
	Client   string          // charge: who asked, "" for nobody
	Event    json.RawMessage // charge: what is released, canonical JSON

	Ensemble       string // charge: who answers, "" for none
	EnsembleDigest string // charge: what the user stated of them, "" for nothing
	Draw           *Draw  // charge: the votes that are answered; nil for others
	Quota          *Quota // charge: the answers that it pays for or takes; nil for others

	Result Digest // result: SHA-256 of what is released, seen or about to be

	Previous Digest // hash of the entry before, or of the genesis record
	Hash     Digest // hash of this entry; not stored in it
}

// Total returns the cost that the entry spends: Count·Unit, and zero for a result.
func (e Entry) Total() Cost {
	if e.Kind != KindCharge {
		return Cost{}
	}
	return e.Unit.Times(e.Count)
}

// Takes returns the number of answers that the entry takes of the quota of its PaidBy, 0 for an
// entry that takes none.
func (e *Entry) Takes() uint64 {
	e = handle.Made(e)
	if e.Quota == nil || e.PaidBy == "" {
		return 0
	}
	return e.Count
}

// The tags keep hashes of different kinds of record apart.
const (
	genesisTag = "darrm ledger genesis 1\n"
	entryTag   = "darrm ledger entry 1\n"
)

// entryHash chains an entry to the one before:
//
//	SHA-256(tag ‖ previous hash ‖ canonical encoding)
func entryHash(previous Digest, encoded []byte) Digest {
	var room [1024]byte // more than most have, and not on the heap
	return sha256.Sum256(append(append(append(room[:0], entryTag...), previous[:]...), encoded...))
}

type costJSON struct {
	Epsilon string `json:"epsilon"` // units of 10⁻¹²
	Delta   string `json:"delta"`   // units of 10⁻²⁴
}

func (c Cost) json() costJSON { return costJSON{c.epsilon.String(), c.delta.String()} }

func (c costJSON) cost() (Cost, error) {
	e, err := parseAmount([]byte(c.Epsilon))
	if err != nil {
		return Cost{}, fmt.Errorf("epsilon: %w", err)
	}
	d, err := parseAmount([]byte(c.Delta))
	if err != nil {
		return Cost{}, fmt.Errorf("delta: %w", err)
	}
	return Cost{e, d}, nil
}

type entryJSON struct {
	Seq      uint64          `json:"seq"`
	Commit   uint64          `json:"commit"`
	Kind     Kind            `json:"kind"`
	ID       string          `json:"id"`
	Time     string          `json:"time"`
	Relation Relation        `json:"neighbours,omitempty"`
	Count    uint64          `json:"count,omitempty"`
	Unit     *costJSON       `json:"unit,omitempty"`
	PaidBy   string          `json:"paid_by,omitempty"`
	Client   string          `json:"client,omitempty"`
	Ensemble string          `json:"ensemble,omitempty"`
	Teachers string          `json:"ensemble_digest,omitempty"`
	Draw     *Draw           `json:"draw,omitempty"`
	Quota    *Quota          `json:"quota,omitempty"`
	Event    json.RawMessage `json:"event,omitempty"`
	SHA256   *Digest         `json:"sha256,omitempty"`
	Previous Digest          `json:"previous"`
}

// encode returns the canonical encoding of e, which holds everything but Hash.
func (e *Entry) encode() ([]byte, error) {
	j := entryJSON{Seq: e.Seq, Commit: e.Commit, Kind: e.Kind, ID: e.ID,
		Time: e.Time.Format(time.RFC3339Nano), Previous: e.Previous}
	switch e.Kind {
	case KindCharge:
		unit := e.Unit.json()
		j.Relation, j.Count, j.Unit, j.PaidBy, j.Event = e.Relation, e.Count, &unit, e.PaidBy, e.Event
		j.Client = e.Client
		j.Ensemble, j.Teachers, j.Draw, j.Quota = e.Ensemble, e.EnsembleDigest, e.Draw, e.Quota
	case KindResult:
		j.SHA256 = &e.Result
	default:
		return nil, fmt.Errorf("kind %q is neither %q nor %q", e.Kind, KindCharge, KindResult)
	}
	return marshal(j)
}

// strictJSON decodes one object whose fields are all known.
func strictJSON(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

// Relation is a neighbouring relation. A cost is a promise about neighbours, so costs add up only
// where all are for the same relation: a ledger has one, for ever.
type Relation = accountant.Relation

// The relations that a ledger may have.
const (
	ReplaceOne     = accountant.ReplaceOne     // one record of the two datasets differs
	AddOrRemoveOne = accountant.AddOrRemoveOne // one of the two datasets has one record more
)

// checkRelation fails for what is not one of them.
func checkRelation(r Relation) error {
	if r == ReplaceOne || r == AddOrRemoveOne {
		return nil
	}
	return check.Wantf("neighbours", fmt.Sprintf("%q", r.Name()), "%q or %q", ReplaceOne.Name(),
		AddOrRemoveOne.Name())
}

// A Receipt proves that a charge is on disk. Only [Ledger.Charge] and [Ledger.ChargeAll] issue one
// that can be redeemed; the zero value is not valid.
//
// Whoever draws calls [Receipt.Redeem] first, and draws only if that succeeds, as package release
// does. A receipt lives in the memory of one process: after a crash the
// budget is spent and the right to release is gone. What is left is a [Replay]'s, which
// is used up and good for [Ledger.RecordResult] only.
type Receipt struct {
	entry Entry
	used  *atomic.Bool // shared by copies of the receipt; nil if it was not issued
}

func newReceipt(e Entry) *Receipt { return &Receipt{entry: e, used: new(atomic.Bool)} }

// spentReceipt is of a charge that was made before.
func spentReceipt(e Entry) *Receipt {
	r := newReceipt(e)
	r.used.Store(true) // who charged may have answered
	return r
}

func (r *Receipt) issued() bool { return r != nil && r.used != nil }

// Entry returns what was charged.
func (r *Receipt) Entry() Entry { return handle.Deep(handle.Made(r).entry) }

// Redeem uses the receipt up: it succeeds once, for the Count releases of cost
// Unit that were paid. Every other call is an [ErrReceipt].
func (r *Receipt) Redeem() error {
	if !r.issued() {
		return fmt.Errorf("%w: it was not issued by a charge", ErrReceipt)
	}
	if r.used.Swap(true) {
		return fmt.Errorf("%w: the one of request %q is used up", ErrReceipt, r.entry.ID)
	}
	return nil
}
