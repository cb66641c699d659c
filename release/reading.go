package release

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/votes"
)

// A reading is one passage through the votes. A release that is paid for reads them twice:
// once to check and count them, which settles the price, and once to answer them. What is
// answered must be what was paid for, so the second reading is held against the first.
type reading struct {
	queries int
	hash    *ledger.VoteHash // nil where the ledger does not need to recognise the votes
	coins   *keyedCoins      // nil where the release cannot be resumed
	paid    *reading         // the first reading; nil in the first
	free    bool             // the first reading was for a plan alone: no ledger pays
}

// Hashed returns the options of reading votes for [HashVotes], if hash is not nil: the votes
// of each teacher are kept, where the layout has them.
func Hashed(o votes.Options, hash *ledger.VoteHash) votes.Options {
	o.KeepVotes = hash != nil && o.Layout != votes.LayoutCounts
	return o
}

// newReading starts the first passage. hash may be nil; it comes from the ledger where
// fresh teachers' votes are charged. coins may be nil.
func newReading(hash *ledger.VoteHash, coins *keyedCoins) *reading {
	if coins != nil {
		coins.begin()
	}
	return &reading{hash: hash, coins: coins}
}

// again starts the second passage, against r.
func (r *reading) again() *reading {
	var hash *ledger.VoteHash
	if r.hash != nil {
		hash = r.hash.New()
	}
	next := newReading(hash, r.coins)
	next.paid = r
	return next
}

// digest works out the batch's part of the digest; nil where nobody asked for it. It comes
// before the batch is answered, which may give missing votes a class, and may be called
// by several goroutines at once.
func (r *reading) digest(b *votes.Batch) *ledger.VoteHash {
	if r.hash == nil {
		return nil
	}
	h := r.hash.New()
	HashVotes(h, b)
	return h
}

// HashVotes adds the votes of a batch, read with the options of [Hashed] and not resolved, to
// the digest by which a ledger recognises them ([Charge.Votes]). The same votes have one
// digest in whatever order the classes are listed, and from whatever number of teachers on the answer is yes:
// public votes are none of the teachers'.
func HashVotes(h *ledger.VoteHash, b *votes.Batch) {
	if h == nil || b == nil {
		return
	}
	rank := b.ClassRanks()
	no, yes := b.Public()
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
		if no+yes > 0 { // of two classes
			counts[rank[0]], counts[rank[1]] = counts[rank[0]]-no, counts[rank[1]]-yes
		}
		h.AddCounts(counts) // the file has no more
	}
}

// add takes a batch with its digest, in the order of the votes and before its answers can
// be seen. It fails as soon as there are more queries than were paid for.
func (r *reading) add(b *votes.Batch, digest *ledger.VoteHash) error {
	r.queries += b.Len()
	if r.paid != nil && r.queries > r.paid.queries {
		return &InputError{fmt.Errorf("the votes changed while they were read: %d queries were paid "+
			"for, and there are more", r.paid.queries)}
	}
	if r.coins != nil {
		PinVotes(r.coins.now, b)
	}
	if r.hash != nil {
		r.hash.Merge(digest)
	}
	return nil
}

// end ends the passage. The second fails, and nothing may be published, unless it read the
// very votes of the first.
func (r *reading) end() error {
	switch {
	case r.paid == nil:
		return nil
	case r.queries != r.paid.queries:
		return &InputError{fmt.Errorf("the votes changed while they were read: %d queries were paid "+
			"for, and there are %d", r.paid.queries, r.queries)}
	case r.hash != nil && !bytes.Equal(r.hash.Part(), r.paid.hash.Part()):
		return &InputError{fmt.Errorf("the votes changed while they were read: they are not those that were " +
			"paid for")}
	}
	return nil
}

// errSimulated refuses coins from a seed for votes that were paid for.
var errSimulated = errors.New("answers drawn from a seed are no release")

// answer answers a batch of votes, in its order: a class each, or [ensemble.Abstained].
// Missing votes, where the reader's policy lets any be, become fair coins over the classes
// first, unless the mechanism takes missing votes. Where the votes were paid for, coins from
// a seed are an errSimulated. It stops with the context's error. On error there are no answers.
// Several goroutines may call it at once.
func (r *reading) answer(ctx context.Context, m *ensemble.Mechanism, coins randsrc.Coins,
	b *votes.Batch) ([]int, error) {
	if r.paid != nil && !r.free && !coins.Private() {
		return nil, errSimulated
	}
	coins = coins.Own()
	named := coins.Named()
	answers := make([]int, b.Len())
	each := make([]*ensemble.Mechanism, max(1, m.LabelTables())) // of the labels of a question, where each has its own
	for label := range each {
		var err error
		if each[label], err = m.OfLabel(label); err != nil {
			return nil, err
		}
	}
	for i := range answers { // a batch begins with a question, and has all labels of each, in their order
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		missing := 0
		if b.Missing != nil && !m.Setting().Missing {
			missing, b.Missing[i] = b.Missing[i], 0
		}
		name := ""
		if named { // an id that counts up is formatted, which takes as long as to draw
			name = b.ID(i)
		}
		var err error
		if answers[i], err = each[i%len(each)].AnswerMissing(coins, name, b.Row(i), missing); err != nil {
			return nil, fmt.Errorf("query %q: %w", b.ID(i), err)
		}
	}
	return answers, nil
}

// A reread reads files of votes as often as it is asked to: once to count and check them,
// once to answer them.
type reread struct {
	paths []string
	stdin io.Reader
	kept  *votes.Kept // nil where they are read once
}

// keep reads what can be read once only, stdin and pipes, to its end, so that open can open it more
// than once.
func (t *reread) keep(ctx context.Context, o votes.Options) (err error) {
	o.Stdin = t.stdin
	t.kept, err = votes.Keep(ctx, o, t.paths...)
	return Unreadable(ctx, err)
}

// open opens the votes from their beginning.
func (t *reread) open(ctx context.Context, o votes.Options) (r *votes.Reader, err error) {
	if t.kept != nil {
		r, err = t.kept.Open(ctx, o)
	} else {
		o.Stdin = t.stdin
		r, err = votes.Open(ctx, o, t.paths...)
	}
	return r, Unreadable(ctx, err)
}

func (t *reread) close() {
	if t.kept != nil {
		_ = t.kept.Close() // it was only read again
	}
}

// Unreadable marks an error of reading as an [InputError], one of the options as a [UsageError], and one of the
// spool as an [OutputError]. An interruption stays what it is.
func Unreadable(ctx context.Context, err error) error {
	var place *votes.PlaceError
	var options *votes.OptionsError
	switch {
	case err == nil || ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return err
	case errors.As(err, &options):
		return &UsageError{err}
	case errors.As(err, &place):
		return &OutputError{err}
	}
	return &InputError{err}
}
