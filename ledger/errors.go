package ledger

import (
	"errors"
	"fmt"
)

// Callers tell these apart with [errors.Is]; the typed errors below carry the details.
var (
	// ErrRefused: the rules do not allow it. Nothing was consumed, and the handle is good.
	// The errors below are kinds of it, down to ErrSameVotes.
	ErrRefused = errors.New("refused by the ledger")
	// ErrExceeded: the charge does not fit what remains of the budget.
	ErrExceeded error = refusal("privacy budget exceeded")
	// ErrAnswers: too few are left of the answers that another charge paid for.
	ErrAnswers error = refusal("too few labels left of a charge")
	// ErrShare: the charge does not fit what remains of its client's share of either.
	ErrShare error = refusal("the client's share of the budget is spent")
	// ErrReplayed: this request was charged before, and no answer may be drawn: a new one
	// would be a second release.
	ErrReplayed error = refusal("request was charged before")
	// ErrConflict: the request id stands for something else.
	ErrConflict error = refusal("request id was used for something else")
	// ErrUnpaid: the charge that is said to have paid is not there, or does not pay for this.
	ErrUnpaid error = refusal("no charge paid for it")
	// ErrRelation: the request is for another neighbouring relation than the ledger.
	ErrRelation error = refusal("another neighbouring relation")
	// ErrEnsemble: the ensemble was charged with another digest.
	ErrEnsemble error = refusal("another digest of the ensemble")
	// ErrDraw: the draw was charged with other votes.
	ErrDraw error = refusal("other votes under the same draw")
	// ErrDrawn: the draw was answered before, or is covered.
	ErrDrawn error = refusal("draw was answered before")
	// ErrSameVotes: an earlier draw of another name has the same votes.
	ErrSameVotes error = refusal("votes of an earlier draw")

	// ErrNotLedger: the file is no ledger at all.
	ErrNotLedger = errors.New("not a ledger")
	// ErrDamaged: the files are not what this package wrote.
	ErrDamaged = errors.New("ledger is damaged")
	// ErrRolledBack: one of the two files is older than the other, or than what
	// was known before. It is a kind of ErrDamaged.
	ErrRolledBack = fmt.Errorf("%w: rolled back", ErrDamaged)
	// ErrWrite: the system did not write the ledger: a full disk, a file that may only be
	// read. Budget may be spent, and nothing may be released.
	ErrWrite = errors.New("ledger could not be written")
	// ErrBroken: a write failed earlier through this handle, so its state is not
	// known. Open the ledger again ([Ledger.Reopen]), which verifies it.
	ErrBroken = errors.New("ledger handle is unusable after a failure; open the ledger again")
	// ErrBudget: the ledger was made with another budget than the stated one.
	ErrBudget = errors.New("another budget")
	// ErrSecret: the secret beside the ledger is missing, is not the ledger's, or may be
	// read by others.
	ErrSecret = errors.New("no usable secret")
	// ErrReceipt: the receipt is not of a charge, or is used up.
	ErrReceipt = errors.New("no valid receipt")
)

// refusal is a kind of ErrRefused.
type refusal string

func (r refusal) Error() string { return string(r) }

// Is makes errors.Is(err, ErrRefused) true.
func (r refusal) Is(target error) bool { return target == ErrRefused }

// ExceededError is an [ErrExceeded].
type ExceededError struct {
	Budget Budget
	Spent  Cost // before the charge, and still
	Asked  Cost // the whole charge, all counts included
}

func (e *ExceededError) Error() string {
	return fmt.Sprintf("%v: the charge asks for (ε, δ) = %v, %v of %v is spent", ErrExceeded, e.Asked,
		e.Spent, e.Budget)
}

// Unwrap returns [ErrExceeded].
func (e *ExceededError) Unwrap() error { return ErrExceeded }

// ReplayedError is an [ErrReplayed]. It lists the results stored earlier that may be read again, if
// they have the recorded digest.
type ReplayedError struct{ Replays []Replay }

// Replay is one request that was charged before.
type Replay struct {
	Charge Entry
	Result *Digest // what [Ledger.RecordResult] stored, or nil
	// Receipt is of that charge, and used up: it admits no answer. Whoever kept the coins
	// of the first answers, and so repeats no more than those, notes their digest with it.
	Receipt *Receipt
}

func (e *ReplayedError) Error() string {
	if len(e.Replays) == 0 {
		return ErrReplayed.Error()
	}
	first, result, more := e.Replays[0].Charge, "no result of it is noted", ""
	if d := e.Replays[0].Result; d != nil {
		result = fmt.Sprintf("its result has SHA-256 %.8v…", d)
	}
	if n := len(e.Replays) - 1; n > 0 {
		more = fmt.Sprintf(", and %d more", n)
	}
	return fmt.Sprintf("%v: id %q is entry %d, %s%s; a stored result may be read again, a new one "+
		"must not be released", ErrReplayed, first.ID, first.Seq, result, more)
}

// Unwrap returns [ErrReplayed].
func (e *ReplayedError) Unwrap() error { return ErrReplayed }

// ConflictError is an [ErrConflict].
type ConflictError struct {
	ID   string
	Seq  uint64 // the entry that has the id; 0 if the id is twice in one call
	What string // what differs
	// Earlier is the charge that has the id, without a receipt; nil if the id is twice in
	// one call, or a result differs.
	Earlier *Replay
}

func (e *ConflictError) Error() string {
	if e.Seq == 0 {
		return fmt.Sprintf("%v: id %q occurs twice in one call", ErrConflict, e.ID)
	}
	return fmt.Sprintf("%v: id %q is entry %d, which has another %s", ErrConflict, e.ID, e.Seq, e.What)
}

// Unwrap returns [ErrConflict].
func (e *ConflictError) Unwrap() error { return ErrConflict }

// damaged returns an ErrDamaged with a description of the damage.
func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrDamaged, fmt.Errorf(format, args...))
}

func rolledBack(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrRolledBack, fmt.Errorf(format, args...))
}

// writeError marks an error of the system, or nil, as an [ErrWrite].
func writeError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrWrite, err)
}
