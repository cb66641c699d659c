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

	// The indexes: a key → seq of the first entry that has it (Entry.keys).
	bucketIDs       = "ids"       // request id, of its charge
	bucketResults   = "results"   // request id, of its result
	bucketDraws     = "draws"     // name of a draw, of an answer to it
	bucketCovers    = "covers"    // name of a draw, of a charge that covers it
	bucketVotes     = "votes"     // digest of votes, of any charge of a draw
	bucketEnsembles = "ensembles" // name of an ensemble, of a charge that states its digest

	keyGenesis = "genesis"
	keyHead    = "head"
)

// indexes are the buckets that are made from the entries.
func (g *genesis) indexes() []string {
	all := []string{bucketIDs, bucketResults, bucketDraws, bucketCovers, bucketVotes, bucketEnsembles}
	if g.format == oldFormat {
		return all[:2]
	}
	return all
}

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
	if want := 2 + len(s.genesis.indexes()); err == nil && (seen != 2 || len(s.file.buckets) != want) {
		err = damaged("%d records in %d buckets, but there must be 2 in %d", seen, len(s.file.buckets), want)
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
// numbers, sums, neighbouring relation. visit may be nil.
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
			if e.Kind == KindCharge && e.Relation != s.genesis.relation {
				return damaged("entry %d is for neighbours = %q, but the ledger for %q", e.Seq, e.Relation, s.genesis.relation)
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
	seen := book{}
	err := s.follow(ctx, s.start(), func(e *Entry) error {
		if err := seen.verify(e); err != nil {
			return damaged("entry %d: %w", e.Seq, err)
		}
		seen.add(e)
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
	if err := s.verifyIndexes(seen); err != nil {
		return err
	}
	return asDamage(s.file.checkComplete())
}

// verify checks an entry by those before it: whatever is in a file could have been charged.
func (b book) verify(e *Entry) error {
	if k := e.keys()[0]; b[k] != nil {
		return fmt.Errorf("entry %d is already the %s of request %q", b[k].seq, e.Kind, e.ID)
	}
	if e.Kind == KindResult {
		if b[indexKey{bucketIDs, e.ID}] == nil {
			return fmt.Errorf("it is the result of request %q, which was not charged", e.ID)
		}
		return nil
	}
	c := e.charged()
	if err := c.sameTeachers(b); err != nil {
		return err
	}
	same, err := c.obey(b)
	if err != nil {
		return err
	}
	if (same == nil) != (e.SameVotesAs == nil) || same != nil && *same != *e.SameVotesAs {
		return errors.New("it does not name the earlier draw with the same votes")
	}
	return nil
}

// verifyIndexes checks that the indexes hold exactly what the entries say.
func (s *snapshot) verifyIndexes(want book) error {
	n := 0
	for _, index := range s.genesis.indexes() {
		err := s.file.walk(index, nil, func(key, value []byte) error {
			n++
			seq, err := parseSeq(value)
			if first := want[indexKey{index, string(key)}]; err != nil || first == nil || first.seq != seq {
				return damaged("index %s: %.80q does not point to its entry", index, key)
			}
			return nil
		})
		if err != nil {
			return asDamage(err)
		}
	}
	if n != len(want) {
		return damaged("the indexes have %d places, the entries %d", n, len(want))
	}
	return nil
}
