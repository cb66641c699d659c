package ledger

import (
	"errors"
	"fmt"
)

// Callers tell these apart with [errors.Is]; the typed errors below carry the
// details.
var (
	// ErrExceeded: the charge does not fit what remains. Nothing was consumed.
	ErrExceeded = errors.New("privacy budget exceeded")
	// ErrReplayed: this request was charged before. Nothing more was consumed,
	// and no answer may be drawn: a new one would be a second release.
	ErrReplayed = errors.New("request was charged before")
	// ErrConflict: the request id stands for something else. Nothing was consumed.
	ErrConflict = errors.New("request id was used for something else")
	// ErrUnpaid: no earlier charge that spent something itself has the id that is
	// said to have paid. Nothing was consumed.
	ErrUnpaid = errors.New("no charge paid for it")
	// ErrDamaged: the files are not what this package wrote.
	ErrDamaged = errors.New("ledger is damaged")
	// ErrRolledBack: one of the two files is older than the other, or than what
	// was known before. It is a kind of ErrDamaged.
	ErrRolledBack = fmt.Errorf("%w: rolled back", ErrDamaged)
	// ErrBroken: a write failed earlier through this handle, so its state is not
	// known. Open the ledger again, which verifies it.
	ErrBroken = errors.New("ledger handle is unusable after a failure; open the ledger again")
	// ErrReceipt: the receipt is not of a charge, or is used up.
	ErrReceipt = errors.New("no valid receipt")
)

// ExceededError is an [ErrExceeded].
type ExceededError struct {
	Budget Budget
	Spent  Cost // before the charge, and still
	Asked  Cost // the whole charge, all counts included
}

func (e *ExceededError) Error() string {
	return fmt.Sprintf("%v: the charge asks for (ε, δ) = %v, %v of %v is spent", ErrExceeded, e.Asked, e.Spent, e.Budget)
}

// Is makes errors.Is(err, ErrExceeded) true.
func (e *ExceededError) Is(target error) bool { return target == ErrExceeded }

// ReplayedError is an [ErrReplayed]. It says what may be read again: results
// stored earlier, and only if they have the recorded digest.
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
		result = fmt.Sprintf("its result has SHA-256 %v", d)
	}
	if n := len(e.Replays) - 1; n > 0 {
		more = fmt.Sprintf(", and %d more", n)
	}
	return fmt.Sprintf("%v: id %q is entry %d, %s%s; a stored result may be read again, a new one must not be released", ErrReplayed, first.ID, first.Seq, result, more)
}

// Is makes errors.Is(err, ErrReplayed) true.
func (e *ReplayedError) Is(target error) bool { return target == ErrReplayed }

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

// Is makes errors.Is(err, ErrConflict) true.
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }

// damaged returns an ErrDamaged that says what is wrong.
func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrDamaged, fmt.Errorf(format, args...))
}

func rolledBack(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrRolledBack, fmt.Errorf(format, args...))
}

// UnpaidError is an [ErrUnpaid].
type UnpaidError struct{ PaidBy string }

func (e *UnpaidError) Error() string {
	return fmt.Sprintf("no charge of its own has the id %q that should have paid", e.PaidBy)
}

// Is makes errors.Is(err, ErrUnpaid) true.
func (e *UnpaidError) Is(target error) bool { return target == ErrUnpaid }
