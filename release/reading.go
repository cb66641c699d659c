package release

import (
	"fmt"

	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/votes"
)

// A Reading is one passage through the votes. A release that is paid for reads them twice:
// once to check and count them, which settles the price, and once to answer them. What is
// answered must be what was paid for, so the second Reading is held against the first.
type Reading struct {
	queries    int
	hash       *ledger.VoteHash // nil where the ledger does not need to recognise the votes
	checkpoint *Checkpoint      // nil where the release cannot be resumed
	paid       *Reading         // the first reading; nil in the first
}

// Hashed returns the options of a passage whose votes are hashed, if hash is not nil: the votes
// of each teacher are kept, where the layout has them.
func Hashed(o votes.Options, hash *ledger.VoteHash) votes.Options {
	o.KeepVotes = hash != nil && o.Layout != votes.LayoutCounts
	return o
}

// NewReading starts the first passage. hash may be nil; it comes from the ledger where
// fresh teachers' votes are charged, and then the votes are read with the options of
// [Hashed]. checkpoint may be nil.
func NewReading(hash *ledger.VoteHash, checkpoint *Checkpoint) *Reading {
	if checkpoint != nil {
		checkpoint.begin()
	}
	return &Reading{hash: hash, checkpoint: checkpoint}
}

// Again starts the second passage, against r.
func (r *Reading) Again() *Reading {
	var hash *ledger.VoteHash
	if r.hash != nil {
		hash = r.hash.New()
	}
	next := NewReading(hash, r.checkpoint)
	next.paid = r
	return next
}

// Digest works out the batch's part of the digest; nil where nobody asked for it. It comes
// before the batch is answered, which may give missing votes a class, and may be called
// by several goroutines at once.
func (r *Reading) Digest(b *votes.Batch) *ledger.VoteHash {
	if r.hash == nil {
		return nil
	}
	h := r.hash.New()
	// The same votes have one digest in whatever order the classes are listed.
	rank := b.ClassRanks()
	votes, counts := make([]int, b.K), make([]int, b.Classes)
	for i := range b.Len() {
		if b.Votes != nil {
			for teacher, class := range b.Votes[i*b.K : (i+1)*b.K] {
				if votes[teacher] = class; class >= 0 {
					votes[teacher] = rank[class]
				}
			}
			h.Add(votes)
			continue
		}
		for class, n := range b.Row(i) {
			counts[rank[class]] = n
		}
		h.AddCounts(counts) // the file has no more
	}
	return h
}

// Add takes a batch with its Digest, in the order of the votes and before its answers can
// be seen. It fails as soon as there are more queries than were paid for.
func (r *Reading) Add(b *votes.Batch, digest *ledger.VoteHash) error {
	r.queries += b.Len()
	if r.paid != nil && r.queries > r.paid.queries {
		return InputError{fmt.Errorf("the votes changed while they were read: %d queries were paid for, and there are more", r.paid.queries)}
	}
	if r.checkpoint != nil {
		r.checkpoint.add(b)
	}
	if r.hash != nil {
		r.hash.Merge(digest)
	}
	return nil
}

// End ends the passage. The second fails, and nothing may be published, unless it read the
// very votes of the first.
func (r *Reading) End() error {
	if r.paid == nil {
		return nil
	}
	if r.queries != r.paid.queries {
		return InputError{fmt.Errorf("the votes changed while they were read: %d queries were paid for, and there are %d", r.paid.queries, r.queries)}
	}
	if r.hash != nil && r.Votes() != r.paid.Votes() {
		return InputError{fmt.Errorf("the votes changed while they were read: those that were paid for are others")}
	}
	return nil
}

// Queries returns how many queries were read.
func (r *Reading) Queries() int { return r.queries }

// Votes returns the keyed digest of what was read; zero where nobody asked for it.
func (r *Reading) Votes() ledger.Digest {
	if r.hash == nil {
		return ledger.Digest{}
	}
	return r.hash.Sum()
}

// Part returns what another process adds to its digest with VoteHash.MergePart; nil where
// nobody asked for a digest.
func (r *Reading) Part() []byte {
	if r.hash == nil {
		return nil
	}
	return r.hash.Part()
}
