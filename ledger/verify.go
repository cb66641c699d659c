package ledger

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// The buckets of the database and the keys of bucket "ledger".
const (
	bucketLedger  = "ledger"
	bucketEntries = "entries" // seq → entry
	bucketIDs     = "ids"     // request id → seq of its charge
	bucketResults = "results" // request id → seq of its result

	keyGenesis = "genesis"
	keyHead    = "head"
)

// asDamage marks everything that a file's content can cause as ErrDamaged; errors
// of the system and of ctx stay what they are.
func asDamage(err error) error {
	if errors.Is(err, errPage) && !errors.Is(err, ErrDamaged) {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}

// snapshot is what every look at the ledger starts with.
type snapshot struct {
	file        *boltFile
	genesis     genesis
	genesisHash Digest
	state       state // as the head record tells it
}

// start returns the state before the first entry.
func (s *snapshot) start() state { return state{head: Head{Hash: s.genesisHash}} }

func readSnapshot(r io.ReaderAt, size int64) (*snapshot, error) {
	file, err := openBoltFile(r, size)
	if err != nil {
		return nil, asDamage(err)
	}
	s := &snapshot{file: file}
	return s, asDamage(s.readRecords())
}

func (s *snapshot) readRecords() error {
	seen := 0
	err := s.file.walk(bucketLedger, nil, func(key, value []byte) (err error) {
		seen++
		switch string(key) {
		case keyGenesis:
			s.genesis, err = decodeGenesis(value)
			s.genesisHash = genesisHash(value)
		case keyHead:
			s.state, err = decodeState(value)
		default:
			err = errors.New("unknown record")
		}
		if err != nil {
			err = damaged("record %.40q: %w", key, err)
		}
		return err
	})
	if err == nil && (seen != 2 || len(s.file.buckets) != 4) {
		err = damaged("%d records in %d buckets, but there must be 2 in 4", seen, len(s.file.buckets))
	}
	return err
}

// checkAnchor compares the database with its anchor. A charge commits to the
// database first and to the anchor second, so an honest database is level with the
// anchor or, after a crash between the two, one commit ahead. Whatever else is
// seen means that one of the files was replaced by an older copy.
func (s *snapshot) checkAnchor(a *anchor) error {
	if a == nil {
		// Create makes the database first. Nothing is spent yet.
		if s.state.commit == 0 {
			return nil
		}
		return damaged("the anchor file is missing, and the ledger has %d entries", s.state.head.Seq)
	}
	switch {
	case a.id != s.genesis.id:
		return damaged("the anchor file belongs to ledger %v, the database is ledger %v", a.id, s.genesis.id)
	case a.commit == s.state.commit:
		if a.state != s.state {
			return damaged("database and anchor disagree about commit %d: heads %v and %v", a.commit, s.state.head, a.head)
		}
		return nil
	case a.commit+1 == s.state.commit:
		return s.contains(a.head)
	case a.commit > s.state.commit:
		return rolledBack("the database is at commit %d, but its anchor was at %d", s.state.commit, a.commit)
	}
	return rolledBack("the anchor is at commit %d, but the database is at %d: a crash leaves one commit between them at most", a.commit, s.state.commit)
}

// contains checks that the chain went through h. It reads one entry, the next,
// which names the hash of the one before.
func (s *snapshot) contains(h Head) error {
	if h.Seq == 0 && h.Hash != s.genesisHash {
		return rolledBack("the ledger does not begin with hash %v", h.Hash)
	}
	if h.Seq >= s.state.head.Seq {
		if h != s.state.head {
			return rolledBack("the ledger ends at %v and does not contain %v", s.state.head, h)
		}
		return nil
	}
	found, err := s.entry(h.Seq + 1)
	if err != nil {
		return err
	}
	if found.Previous != h.Hash {
		return rolledBack("entry %d has hash %v, not %v", h.Seq, found.Previous, h.Hash)
	}
	return nil
}

// entry returns one entry, as it stands in the file.
func (s *snapshot) entry(seq uint64) (Entry, error) {
	value, err := s.file.get(bucketEntries, seqKey(seq))
	if err != nil {
		return Entry{}, asDamage(err)
	}
	if value == nil {
		return Entry{}, damaged("entry %d is missing", seq)
	}
	return decodeAt(seqKey(seq), value)
}

func decodeAt(key, value []byte) (Entry, error) {
	seq, err := parseSeq(key)
	if err != nil {
		return Entry{}, damaged("%w", err)
	}
	e, err := decodeEntry(value)
	if err == nil && e.Seq != seq {
		err = fmt.Errorf("it calls itself entry %d", e.Seq)
	}
	if err != nil {
		return Entry{}, damaged("entry %d: %w", seq, err)
	}
	return e, nil
}

// follow checks the entries after the state `from` up to the head record: chain,
// numbers, sums. visit may be nil.
func (s *snapshot) follow(ctx context.Context, from state, visit func(*Entry) error) error {
	at := from
	if at.head.Seq > s.state.head.Seq {
		return rolledBack("the ledger ends at entry %d, but entry %d was seen before", s.state.head.Seq, at.head.Seq)
	}
	if at != s.state { // they are equal where no other process wrote
		start := seqKey(at.head.Seq + 1)
		if at.head.Seq == 0 {
			start = nil // whatever sorts before entry 1 is seen, too
		}
		err := s.file.walk(bucketEntries, start, func(key, value []byte) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			e, err := decodeAt(key, value)
			if err != nil {
				return err
			}
			if at, err = at.follow(&e); err != nil {
				return damaged("%w", err)
			}
			if visit != nil {
				return visit(&e)
			}
			return nil
		})
		if err != nil {
			return asDamage(err)
		}
	}
	if at != s.state {
		return damaged("the entries end at %v with %v spent, but the head record says %v with %v spent", at.head, at.spent, s.state.head, s.state.spent)
	}
	if !s.state.spent.Within(s.genesis.budget) {
		return damaged("%v is spent of a budget of %v", s.state.spent, s.genesis.budget)
	}
	return nil
}

// verifyAll checks everything in the database, and visits all entries.
func (s *snapshot) verifyAll(ctx context.Context, visit func(*Entry) error) error {
	if err := s.file.track(); err != nil {
		return asDamage(err)
	}
	if err := s.readRecords(); err != nil {
		return asDamage(err)
	}
	charges, results := map[string]uint64{}, map[string]uint64{}
	covered := map[string]bool{} // charges that others paid
	err := s.follow(ctx, s.start(), func(e *Entry) error {
		index := charges
		if e.Kind == KindResult {
			if charges[e.ID] == 0 {
				return damaged("entry %d is the result of request %q, which was not charged", e.Seq, e.ID)
			}
			index = results
		}
		if first := index[e.ID]; first != 0 {
			return damaged("entries %d and %d are both the %s of request %q", first, e.Seq, e.Kind, e.ID)
		}
		if e.PaidBy != "" {
			if charges[e.PaidBy] == 0 || covered[e.PaidBy] {
				return damaged("entry %d: %w", e.Seq, &UnpaidError{e.PaidBy})
			}
			covered[e.ID] = true
		}
		index[e.ID] = e.Seq
		if visit != nil {
			return visit(e)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if s.state.head.Seq == 0 { // follow had nothing to read
		err = s.file.walk(bucketEntries, nil, func(key, value []byte) error {
			return damaged("there are entries, but the head record says none")
		})
		if err != nil {
			return asDamage(err)
		}
	}
	if err := s.verifyIndex(bucketIDs, charges); err != nil {
		return err
	}
	if err := s.verifyIndex(bucketResults, results); err != nil {
		return err
	}
	return asDamage(s.file.checkComplete())
}

// verifyIndex checks that a bucket holds exactly what the entries say.
func (s *snapshot) verifyIndex(bucket string, want map[string]uint64) error {
	n := 0
	err := s.file.walk(bucket, nil, func(key, value []byte) error {
		n++
		seq, err := parseSeq(value)
		if err != nil || seq == 0 || want[string(key)] != seq {
			return damaged("index %s: request %.40q does not point to its entry", bucket, key)
		}
		return nil
	})
	if err == nil && n != len(want) {
		err = damaged("index %s has %d requests, the entries have %d", bucket, n, len(want))
	}
	return asDamage(err)
}
