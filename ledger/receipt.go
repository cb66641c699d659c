package ledger

import (
	"fmt"
	"sync/atomic"

	"github.com/darrm/darrm/internal/handle"
)

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
