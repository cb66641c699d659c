package ledger

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/darrm/darrm/internal/check"
)

// A Ledger is a handle on a ledger's files. Make one with [Create] or [Open]. All
// methods are safe for any number of goroutines; any number of processes may
// have the same ledger open. No file stays open between calls. A copy is the same handle. What nobody
// opened has no ID and no budget, and every call is an [ErrBroken].
type Ledger struct{ *held }

// held is what copies of a handle share.
type held struct {
	location string // as it was given, for Reopen
	store    Store
	genesis  genesis

	turn   chan struct{} // holds one token; a mutex that a context can give up
	queue  queue         // of those who want to write
	clock  clock
	chain  *chain // what was read so far
	broken error  // set by the first failure that leaves the state open
}

// Create makes a new ledger at a location, which must not have one, and opens it. All costs that
// are ever charged to it are for the neighbouring relation. At a path, the ledger is the file
// there, the anchor at path + ".anchor", the secret at path + ".secret". An anchor without a
// ledger is refused: a deleted ledger must not come back with a fresh budget.
// After an error the ledger may be there, whole and empty. What earlier calls for the same
// directory left behind when they were killed is removed.
func Create(ctx context.Context, location string, budget Budget,
	relation Relation) (*Ledger, error) {
	return CreateAbout(ctx, location, budget, relation, About{})
}

// checkNew checks what a new ledger is for.
func checkNew(budget Budget, relation Relation) error {
	if budget == (Budget{}) {
		return check.Want("budget", budget, "made by NewBudget")
	}
	return checkRelation(relation)
}

// newGenesis returns the genesis record of a new ledger, and makes the secret that it names.
func newGenesis(store Store, budget Budget, relation Relation, about About) ([]byte, error) {
	g := genesis{created: time.Now().UTC().Round(0), relation: relation, budget: budget,
		about: about}
	rand.Read(g.id[:]) // never fails: crypto/rand ends the program instead
	path, err := store.SecretPath()
	if err != nil {
		return nil, err
	}
	s, err := ensureSecret(path)
	if err != nil {
		return nil, writeError(err)
	}
	g.secret = s.fingerprint()
	line, err := g.encode()
	return append(line, '\n'), err
}

// Open opens the ledger at a location and verifies all of it, as [Ledger.Verify] does:
// the cost grows with the number of entries. A location is the path of a file, or a URL whose
// scheme has a store ([Register]). It needs to read only.
// What a crash left behind is no error. Damage is an [ErrDamaged], an exchanged
// older file an [ErrRolledBack]. It waits for the lock as long as ctx allows.
func Open(ctx context.Context, location string) (*Ledger, error) {
	store, err := openStore(location)
	if err != nil {
		return nil, fmt.Errorf("open ledger: %w", err)
	}
	return open(ctx, location, store)
}

func open(ctx context.Context, location string, store Store) (*Ledger, error) {
	l := &Ledger{&held{location: location, store: store, turn: make(chan struct{}, 1),
		clock: clock{start: time.Now()}}}
	l.turn <- struct{}{}
	s, err := l.begin(ctx, false)
	if err != nil {
		return nil, fmt.Errorf("open ledger: %w", err)
	}
	l.genesis, l.chain = s.genesis, s.chain
	return l, s.end()
}

// Adopt makes a new anchor for a ledger whose anchor is lost or damaged. It
// needs a head that was kept elsewhere, and verifies that the ledger is whole and
// contains it. A ledger that was rolled back further than pinned cannot be adopted, nor one whose
// anchor is whole and knows of later entries.
// Whether entries after pinned are all there is not known any more, so pin the latest
// head that was ever seen.
func Adopt(ctx context.Context, location string, pinned Head) (*Ledger, error) {
	store, err := openStore(location)
	if err != nil {
		return nil, fmt.Errorf("adopt ledger: %w", err)
	}
	if err := adopt(ctx, store, pinned); err != nil {
		return nil, fmt.Errorf("adopt ledger %s: %w", store.Location(), err)
	}
	return open(ctx, location, store)
}

func adopt(ctx context.Context, store Store, pinned Head) error {
	tx, err := store.Begin(ctx, true)
	if err != nil {
		return err
	}
	defer tx.Close()
	// The anchor must not be ahead of what is on disk.
	if err := tx.Sync(); err != nil {
		return err
	}
	s := &session{tx: tx}
	c, err := s.verify(ctx, []Head{pinned}, nil)
	if err != nil {
		return err
	}
	if c.rest != nil && pinned != c.now.head {
		// Without an anchor only the pin could tell that nothing more was acknowledged.
		return damaged("after entry %d: %w", c.now.head.Seq, c.rest)
	}
	line, err := tx.Anchor()
	if err != nil {
		return err
	}
	if line != nil {
		// An anchor that is whole and knows more than the ledger is neither lost nor damaged: the
		// ledger is an older copy, and what was charged since would be spent again.
		a, err := decodeAnchor(line)
		if err == nil && a.id == c.genesis.id && a.commit >= c.now.commit {
			if err := c.checkAnchor(&a, tx.Atomic()); err != nil {
				return err
			}
		}
	}
	s.chain = c
	return tx.SetAnchor(s.anchorOf(c.now))
}

// Path returns where the ledger is: the file, links resolved, or the location without its
// password; "" of a ledger that nobody opened.
func (l *Ledger) Path() string {
	if l.unmade() {
		return ""
	}
	return l.store.Location()
}

// unmade reports whether nobody opened the ledger.
func (l *Ledger) unmade() bool { return l == nil || l.held == nil }

// about returns the ledger's first record; that of the zero Ledger is zero.
func (l *Ledger) about() genesis {
	if l.unmade() {
		return genesis{}
	}
	return l.genesis
}

// Budget returns what the ledger was created with.
func (l *Ledger) Budget() Budget { return l.about().budget }

// Relation returns the neighbouring relation of all costs.
func (l *Ledger) Relation() Relation { return l.about().relation }

// CheckRelation refuses a neighbouring relation that the ledger is not for, with an [ErrRelation].
// Charge does, too; call this before work on a request that may be refused.
func (l *Ledger) CheckRelation(r Relation) error {
	if l.unmade() {
		return errUnmade
	}
	return l.genesis.checkRelation(r)
}

func (g *genesis) checkRelation(r Relation) error {
	if r != g.relation {
		return check.Namedf("%w: it is for neighbours = %q, the ledger for %q (%s)",
			ErrRelation, r.Name(), g.relation.Name(), check.Parameter("neighbours"))
	}
	return nil
}

// Simulated reports whether the ledger is one to try things out, which is forgotten when its
// program ends (package memory). What it pays for is no release.
func (l *Ledger) Simulated() bool {
	if l.unmade() {
		return false
	}
	s, ok := l.store.(interface{ Simulated() bool })
	return ok && s.Simulated()
}

// do runs fn with the ledger locked.
func (l *Ledger) do(ctx context.Context, exclusive bool, fn func(*session) error) error {
	return l.inTurn(ctx, func() error { return l.locked(ctx, exclusive, fn) })
}

// inTurn runs fn when it is the caller's turn to use the store.
func (l *Ledger) inTurn(ctx context.Context, fn func() error) error {
	if l.unmade() {
		return errUnmade
	}
	select {
	case <-l.turn:
		defer func() { l.turn <- struct{}{} }()
		return fn()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// locked is do for a caller who has the turn.
func (l *Ledger) locked(ctx context.Context, exclusive bool, fn func(*session) error) error {
	if l.broken != nil {
		return fmt.Errorf("%w (%w)", ErrBroken, l.broken)
	}
	s, err := l.begin(ctx, exclusive)
	if err == nil {
		err = func() error {
			defer s.end()
			return fn(s)
		}()
	}
	// After a failed sync the next one may succeed without having written anything.
	if errors.Is(err, ErrDamaged) || errors.Is(err, ErrWrite) {
		l.broken = err
	}
	return err
}

// Charge pays for one request. When it returns a receipt, the charge is on disk
// and survives any crash; with every error there is no receipt and nothing may be
// released. Errors:
//
//   - an [ErrRefused], which is one of [ErrExceeded], [ErrAnswers], [ErrShare], [ErrReplayed],
//     [ErrConflict], [ErrUnpaid], [ErrRelation], [ErrEnsemble], [ErrDraw], [ErrDrawn] and [ErrSameVotes]:
//     nothing was consumed. A [ReplayedError] has a receipt that is used up,
//     for [Ledger.RecordResult] only;
//   - a *constraints.ParameterError or a JSON error for a request out of its ranges; also nothing;
//   - the error of [Request].Judge; also nothing;
//   - the error of ctx, while waiting for its turn; also nothing;
//   - [ErrDamaged] or [ErrRolledBack], and [ErrWrite] with an error of the system: the
//     budget may be spent, and the handle is [ErrBroken] from then on.
//
// The rules for draws and for who pays are checked in this order, on all that was charged
// before:
//
//   - Relation is the ledger's, or an [ErrRelation];
//   - EnsembleDigest is the one that the ensemble was charged with, or an [ErrEnsemble];
//   - an ID that was charged before is an [ErrReplayed], or an [ErrConflict] for another
//     request. How the request states its digest, and whether it states that its votes were cast
//     anew, does not make it another;
//   - a draw has the votes that it had before, or an [ErrDraw];
//   - the first answer to a draw pays for itself; a second one is an [ErrDrawn] unless
//     PaidBy names a charge that covers the draw;
//   - PaidBy names a charge that pays for this, or an [ErrUnpaid]; where it opened a quota, Count
//     answers of it are left, or a [QuotaError];
//   - the votes of a draw that is new equal those of no draw of another name, queries aside, or
//     an [ErrSameVotes] unless they are stated to be cast anew. That takes about a microsecond for
//     each draw of the ledger. Whether any is equal leaves no trace;
//   - Count answers are left of the client's share of the quota, or a [QuotaError].
func (l *Ledger) Charge(ctx context.Context, r Request) (*Receipt, error) {
	receipts, err := l.ChargeAll(ctx, []Request{r})
	if err != nil {
		return nil, err
	}
	return receipts[0], nil
}

// ChargeAll pays for several requests at once, all or none, with one write; the
// receipts are in the order of the requests. It takes 1 to [MaxRequests] requests
// with different ids. If some were charged before, all are refused, and the
// [ReplayedError] lists those. Each may name those before it as who paid, and the rules
// hold among them. Otherwise it is like [Ledger.Charge].
func (l *Ledger) ChargeAll(ctx context.Context, requests []Request) ([]*Receipt, error) {
	requests, err := checkAll(requests)
	if err != nil {
		return nil, err
	}
	entries, _, err := l.submit(ctx, idsOf(requests),
		func(s *session) ([]*Entry, error) { return s.admit(requests) })
	if err != nil {
		return nil, err
	}
	// Only now, with ledger and anchor forced to disk.
	receipts := make([]*Receipt, len(entries))
	for i, e := range entries {
		receipts[i] = newReceipt(*e)
	}
	return receipts, nil
}

// write commits entries.
func (l *Ledger) write(s *session, entries []*Entry) error {
	err := s.commit(entries)
	if err == nil || errors.Is(err, ErrRetry) || errors.Is(err, ErrUnavailable) {
		return err // nothing was stored
	}
	return writeError(fmt.Errorf("%s: nothing may be released on its account: %w", l.Path(), err))
}

// admit returns the entries of the requests. It fails if they may not be charged after what is on
// disk and what the group has.
func (s *session) admit(requests []Request) ([]*Entry, error) {
	now := time.Now().UTC().Round(0)
	entries := make([]*Entry, len(requests))
	call := newRecent()
	earlier := pasts{s.book, s.group.recent, call}
	var replays []Replay
	asked := Cost{}
	for i := range requests {
		r := &requests[i]
		e := &located{Entry: r.entry(Entry{Time: now})}
		replay, err := s.admitOne(earlier, r, e)
		if err != nil {
			return nil, err
		}
		if replay != nil {
			replays = append(replays, *replay)
		} else {
			call.add(e)
		}
		entries[i] = &e.Entry
		asked = asked.Plus(r.total())
	}
	if replays != nil {
		return nil, &ReplayedError{replays}
	}
	if err := s.withinShares(requests, entries); err != nil {
		return nil, err
	}
	if spent := s.now.spent.Plus(s.group.spent); !spent.Plus(asked).Within(s.genesis.budget) {
		return nil, &ExceededError{s.genesis.budget, spent, asked}
	}
	if err := judge(requests, s.now.spent.Plus(s.group.spent), asked); err != nil {
		return nil, err
	}
	return entries, nil
}

// judge asks the requests' own judges of what would be spent in all.
func judge(requests []Request, spent, asked Cost) error {
	if asked == (Cost{}) {
		return nil
	}
	for i := range requests {
		if r := &requests[i]; r.Judge != nil {
			if err := r.Judge(spent.Plus(asked)); err != nil {
				return fmt.Errorf("request %q: %w", r.ID, err)
			}
		}
	}
	return nil
}

// admitOne checks what does not depend on the sums, for r as the entry c.
func (s *session) admitOne(earlier past, r *Request, c *located) (*Replay, error) {
	if err := s.genesis.checkRelation(r.Relation); err != nil {
		return nil, fmt.Errorf("request %q: %w", r.ID, err)
	}
	if err := c.sameTeachers(earlier); err != nil {
		return nil, fmt.Errorf("request %q: %w", r.ID, err)
	}
	replay, err := s.earlier(r)
	if err != nil || replay != nil {
		return replay, err
	}
	if err = c.obey(earlier); err == nil {
		err = r.sameVotes(earlier)
	}
	if err == nil {
		err = r.withinQuotaShare(earlier)
	}
	if err != nil {
		return nil, fmt.Errorf("request %q: %w", r.ID, err)
	}
	return nil, nil
}

// earlier returns the charge with the id of r, nil if there is none, and an
// error if it is a different request.
func (s *session) earlier(r *Request) (*Replay, error) {
	e, err := s.lookup(key{byID, "", r.ID})
	if e == nil || err != nil {
		return nil, err
	}
	replay := &Replay{Charge: *e}
	result, err := s.lookup(key{byIDResult, "", r.ID})
	if err != nil {
		return nil, err
	}
	if result != nil {
		replay.Result = &result.Result
	}
	for _, c := range []struct {
		differs bool
		what    string
	}{
		{e.Count != r.Count, "count"},
		{e.Unit != r.Unit, "unit cost"},
		{e.PaidBy != r.PaidBy, "who paid"},
		{e.Client != r.Client, "client"},
		{e.Ensemble != r.Ensemble, "ensemble"},
		{!sameDraw(e.Draw, r.Draw), "draw"},
		{e.Draw != nil && r.Draw != nil && e.Draw.Votes != r.Draw.Votes, "series of votes"},
		{!sameQuota(e.Quota, r.Quota), "quota"},
		// Last, so that a conflict about the event implies that all else is the same.
		{string(e.Event) != string(r.Event), "event"},
	} {
		if c.differs {
			return nil, &ConflictError{ID: r.ID, Seq: e.Seq, What: c.what, Earlier: replay}
		}
	}
	replay.Receipt = spentReceipt(*e)
	return replay, nil
}

// sameDraw reports whether two requests name one draw and ask the same of it, an answer or a cover.
func sameDraw(a, b *Draw) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Name == b.Name && a.Covers == b.Covers
}

// Find returns the charge with an id, nil if there is none.
func (l *Ledger) Find(ctx context.Context, id string) (e *Entry, err error) {
	err = l.do(ctx, false, func(s *session) (err error) {
		e, err = s.lookup(key{byID, "", id})
		return err
	})
	return e, err
}

// Drawn returns the charge that first answered a draw of an ensemble, and the first that
// covers the draw; each is nil if there is none.
func (l *Ledger) Drawn(ctx context.Context, ensemble,
	name string) (first, cover *Entry, err error) {
	err = l.do(ctx, false, func(s *session) (err error) {
		if first, err = s.lookup(key{byDraw, ensemble, name}); err == nil {
			cover, err = s.lookup(key{byDrawCover, ensemble, name})
		}
		return err
	})
	return first, cover, err
}

// RecordResult stores the digest of what is about to be released for a receipt: call it
// when the answers are complete and before they can be seen, and show them only if it
// succeeds. A later [ReplayedError] then knows whatever can be seen, so that a stored
// result can be read again and recognised. A crash between the two leaves the digest of
// what nobody saw, which is paid for.
//
// It spends nothing, is optional, and takes a receipt that is used up, also a
// [Replay]'s. One request has one result: the same digest again is no error, another is
// an [ErrConflict], and what has it must not be released: it would be a second release.
//
// The state is the ledger's after the write that stored the digest, or, where it was there
// already, when that was found.
func (l *Ledger) RecordResult(ctx context.Context, r *Receipt, result Digest) (State, error) {
	if !r.issued() {
		return State{}, fmt.Errorf("%w: it was not issued by a charge", ErrReceipt)
	}
	_, after, err := l.submit(ctx, []string{r.entry.ID}, func(s *session) ([]*Entry, error) {
		return s.admitResult(r, result)
	})
	return after, err
}

// admitResult returns the entry of a result, none where it is there already.
func (s *session) admitResult(r *Receipt, result Digest) ([]*Entry, error) {
	charge, err := s.lookup(key{byID, "", r.entry.ID})
	if err != nil {
		return nil, err
	}
	if charge == nil || charge.Hash != r.entry.Hash {
		return nil, fmt.Errorf("%w: the one of request %q is from another ledger", ErrReceipt, r.entry.ID)
	}
	before, err := s.lookup(key{byIDResult, "", r.entry.ID})
	switch {
	case err != nil:
		return nil, err
	case before == nil:
		return []*Entry{{Kind: KindResult, ID: r.entry.ID, Time: time.Now().UTC().Round(0),
			Result: result}}, nil
	case before.Result != result:
		return nil, &ConflictError{ID: r.entry.ID, Seq: before.Seq, What: "result"}
	}
	return nil, nil
}

// State is a snapshot of a ledger's totals.
type State struct {
	Spent     Cost // what was charged by all processes, under basic composition: Σ Count·Unit
	Remaining Cost // what can still be charged: the budget less Spent
	Head      Head // the last entry's number and hash, to be kept elsewhere
}

// State reads the ledger once, so that its sums and its head are those of the same entries.
func (l *Ledger) State(ctx context.Context) (out State, err error) {
	err = l.do(ctx, false, func(s *session) error {
		out = s.state()
		return nil
	})
	return out, err
}

// state returns the ledger's totals now.
func (c *chain) state() State {
	return State{c.now.spent, c.genesis.budget.limit.Minus(c.now.spent), c.now.head}
}

// Spent returns the Spent of [Ledger.State].
func (l *Ledger) Spent(ctx context.Context) (Cost, error) {
	now, err := l.State(ctx)
	return now.Spent, err
}

// Remaining returns the Remaining of [Ledger.State].
func (l *Ledger) Remaining(ctx context.Context) (Cost, error) {
	now, err := l.State(ctx)
	return now.Remaining, err
}

// Head returns the head of [Ledger.State].
func (l *Ledger) Head(ctx context.Context) (Head, error) {
	now, err := l.State(ctx)
	return now.Head, err
}

// History verifies the ledger, as [Ledger.Verify] does, and returns all entries in order.
func (l *Ledger) History(ctx context.Context) (entries []Entry, err error) {
	err = l.do(ctx, false, func(s *session) error {
		_, err := s.verify(ctx, []Head{s.now.head}, func(e *Entry) { entries = append(entries, *e) })
		return err
	})
	if err != nil {
		return nil, err
	}
	return entries, nil
}

// Verify reads the whole ledger again: the chain of hashes, the sums, the rules and the anchor.
// The chain must go through each of the pinned heads.
func (l *Ledger) Verify(ctx context.Context, pinned ...Head) error {
	return l.do(ctx, false, func(s *session) error {
		_, err := s.verify(ctx, append([]Head{s.now.head}, pinned...), nil)
		return err
	})
}

// verify reads everything, and fails unless the ledger goes through all pinned heads.
func (s *session) verify(ctx context.Context, pinned []Head, visit func(*Entry)) (*chain, error) {
	missing := map[Head]bool{}
	for _, h := range pinned {
		missing[h] = true
	}
	c, err := readChain(ctx, s.tx, func(e *Entry) error {
		delete(missing, Head{e.Seq, e.Hash})
		if visit != nil {
			visit(e)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	delete(missing, Head{0, c.start})
	for h := range missing {
		if c.rest != nil {
			return nil, damaged("after entry %d: %w", c.now.head.Seq, c.rest)
		}
		return nil, rolledBack("the ledger ends at %v and does not contain %v", c.now.head, h)
	}
	return c, nil
}
