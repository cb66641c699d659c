package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Digest is a SHA-256.
type Digest [sha256.Size]byte

// String returns 64 lower-case hexadecimal digits.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

func parseDigest(s string) (Digest, error) {
	var d Digest
	if len(s) != hex.EncodedLen(len(d)) {
		return d, fmt.Errorf("digest %.80q is not 64 hexadecimal digits", s)
	}
	if _, err := hex.Decode(d[:], []byte(s)); err != nil || d.String() != s {
		return d, fmt.Errorf("digest %q is not 64 lower-case hexadecimal digits", s)
	}
	return d, nil
}

// Kind tells what an [Entry] records.
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

	Relation Relation        // charge: neighbouring relation of Unit; "" in format 1
	Count    uint64          // charge: releases paid for
	Unit     Cost            // charge: cost of each
	PaidBy   string          // charge: id of the earlier charge that covers this one, at no cost
	Event    json.RawMessage // charge: what is released, canonical JSON

	Ensemble       string    // charge: who answers, "" for none
	EnsembleDigest string    // charge: what the user stated of them, "" for nothing
	Draw           *Draw     // charge: the votes that are answered; nil for others
	SameVotesAs    *DrawName // charge: an earlier draw with the same votes; the user stated that they were cast anew

	Result Digest // result: SHA-256 of what is released, seen or about to be

	Previous Digest // hash of the entry before, or of the genesis record
	Hash     Digest // hash of this entry; not stored in it
}

// Total is what the entry spends: Count·Unit, and nothing for a result.
func (e *Entry) Total() Cost {
	if e.Kind != KindCharge {
		return Cost{}
	}
	return e.Unit.Times(e.Count)
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
	h := sha256.New()
	h.Write([]byte(entryTag))
	h.Write(previous[:])
	h.Write(encoded)
	return Digest(h.Sum(nil))
}

type costJSON struct {
	Epsilon string `json:"epsilon"` // units of 10⁻¹²
	Delta   string `json:"delta"`   // units of 10⁻²⁴
}

func (c Cost) json() costJSON { return costJSON{c.epsilon.String(), c.delta.String()} }

func (c costJSON) cost() (Cost, error) {
	e, err := parseAmount(c.Epsilon)
	if err != nil {
		return Cost{}, fmt.Errorf("epsilon: %w", err)
	}
	d, err := parseAmount(c.Delta)
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
	Ensemble string          `json:"ensemble,omitempty"`
	Teachers string          `json:"ensemble_digest,omitempty"`
	Draw     *drawJSON       `json:"draw,omitempty"`
	Event    json.RawMessage `json:"event,omitempty"`
	SHA256   string          `json:"sha256,omitempty"`
	Previous string          `json:"previous"`
}

type drawJSON struct {
	Name        string    `json:"name"`
	Votes       string    `json:"votes"`
	Stated      bool      `json:"stated,omitempty"`
	Covers      bool      `json:"covers,omitempty"`
	SameVotesAs *DrawName `json:"same_votes_as,omitempty"`
}

func newDrawJSON(d *Draw, same *DrawName) *drawJSON {
	if d == nil {
		return nil
	}
	return &drawJSON{d.Name, d.Votes.String(), d.Stated, d.Covers, same}
}

// draw leaves the rules to [Request.checked] and to whoever knows the earlier entries.
func (j *drawJSON) draw() (*Draw, error) {
	if j == nil {
		return nil, nil
	}
	votes, err := parseDigest(j.Votes)
	if err != nil {
		return nil, fmt.Errorf("votes of the draw: %w", err)
	}
	return &Draw{j.Name, votes, j.Stated, j.Covers}, nil
}

// encode returns the canonical encoding of e, which holds everything but Hash.
func (e *Entry) encode() ([]byte, error) {
	j := entryJSON{Seq: e.Seq, Commit: e.Commit, Kind: e.Kind, ID: e.ID, Time: e.Time.Format(time.RFC3339Nano), Previous: e.Previous.String()}
	switch e.Kind {
	case KindCharge:
		unit := e.Unit.json()
		j.Relation, j.Count, j.Unit, j.PaidBy, j.Event = e.Relation, e.Count, &unit, e.PaidBy, e.Event
		j.Ensemble, j.Teachers, j.Draw = e.Ensemble, e.EnsembleDigest, newDrawJSON(e.Draw, e.SameVotesAs)
	case KindResult:
		j.SHA256 = e.Result.String()
	default:
		return nil, fmt.Errorf("kind %q is neither %q nor %q", e.Kind, KindCharge, KindResult)
	}
	return marshal(j)
}

// decodeEntry accepts exactly what encode produces for a valid entry, byte for
// byte, and fills in Hash.
func decodeEntry(b []byte) (Entry, error) {
	var j entryJSON
	if err := strictJSON(b, &j); err != nil {
		return Entry{}, err
	}
	e := Entry{Seq: j.Seq, Commit: j.Commit, Kind: j.Kind, ID: j.ID}
	var err error
	if e.Time, err = parseTime(j.Time); err != nil {
		return Entry{}, err
	}
	if e.Previous, err = parseDigest(j.Previous); err != nil {
		return Entry{}, fmt.Errorf("previous: %w", err)
	}
	if e.Seq == 0 || e.Commit == 0 || e.Commit > e.Seq {
		return Entry{}, fmt.Errorf("seq %d with commit %d: each starts at 1, and every commit has an entry", e.Seq, e.Commit)
	}
	if err := checkID("request id", e.ID); err != nil {
		return Entry{}, err
	}
	switch e.Kind {
	case KindCharge:
		if j.Unit == nil {
			return Entry{}, errors.New("charge without a unit cost")
		}
		if e.Unit, err = j.Unit.cost(); err != nil {
			return Entry{}, fmt.Errorf("unit: %w", err)
		}
		// The same rules as for a request, so that a file cannot hold what
		// could not have been asked for.
		draw, err := j.Draw.draw()
		if err != nil {
			return Entry{}, err
		}
		r, err := Request{
			ID: e.ID, Count: j.Count, Unit: e.Unit, PaidBy: j.PaidBy, Event: j.Event,
			Relation: j.Relation, Ensemble: j.Ensemble, EnsembleDigest: j.Teachers, Draw: draw,
		}.checked()
		if err != nil {
			return Entry{}, err
		}
		if r.Relation == "" && (r.Ensemble != "" || r.Draw != nil) {
			return Entry{}, errors.New("an ensemble or a draw in an entry of format 1")
		}
		e = r.entry(e)
		if j.Draw != nil {
			e.SameVotesAs = j.Draw.SameVotesAs
		}
	case KindResult:
		if e.Result, err = parseDigest(j.SHA256); err != nil {
			return Entry{}, fmt.Errorf("sha256: %w", err)
		}
	}
	again, err := e.encode()
	if err != nil {
		return Entry{}, err
	}
	if !bytes.Equal(again, b) {
		return Entry{}, errors.New("entry is not in canonical form")
	}
	e.Hash = entryHash(e.Previous, b)
	return e, nil
}

// strictJSON decodes one object whose fields are all known.
func strictJSON(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

func parseTime(s string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return t, fmt.Errorf("time: %w", err)
	}
	return t.UTC(), nil
}

// seqKey is the key of an entry: big-endian, so that keys sort like numbers.
func seqKey(seq uint64) []byte { return binary.BigEndian.AppendUint64(nil, seq) }

func parseSeq(key []byte) (uint64, error) {
	if len(key) != 8 {
		return 0, fmt.Errorf("number of an entry has %d bytes, not 8", len(key))
	}
	return binary.BigEndian.Uint64(key), nil
}
