package release

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ledger"
)

// LabelBudget is the largest (ε, δ) of all labels of a release together.
type LabelBudget struct {
	accountant.Cost
	// RestEpsilon and RestDelta take what the ledger has left, rounded down, in place of ε and δ of
	// Cost. It is resolved before the charge and kept in its event and in the checkpoint, where the
	// same request finds it when it is run again. Where somebody else spends of it meanwhile, the
	// charge is refused.
	RestEpsilon, RestDelta bool
}

// Left returns the budget in numbers, for a plan: it must be within what the ledger at a location
// has left, of which it takes the rest where that is asked for. "" is no ledger. It charges
// nothing.
func (b LabelBudget) Left(ctx context.Context, location string) (accountant.Cost, error) {
	switch {
	case location != "":
	case b.rest():
		return accountant.Cost{}, errNoLedger()
	default:
		return b.Cost, nil
	}
	book, err := openLedger(ctx, location)
	if err != nil {
		return accountant.Cost{}, err
	}
	rest, err := b.left(ctx, book)
	if err != nil {
		return accountant.Cost{}, err
	}
	if b.Epsilon > rest.Epsilon || b.Delta > rest.Delta {
		return accountant.Cost{}, usagef("the budget of all labels is %v, but the ledger has %v left: state "+
			"no more, or take the rest", b.resolve(rest), rest)
	}
	return b.resolve(rest), nil
}

func errNoLedger() error {
	return usagef("what is left is a ledger's: give %s, or state the budget in numbers", pLedger)
}

// left returns what the ledger has left, rounded down.
func (b LabelBudget) left(ctx context.Context, book *ledger.Ledger) (rest accountant.Cost,
	err error) {
	remaining, err := book.Remaining(ctx)
	if err != nil {
		return rest, err
	}
	rest.Epsilon, rest.Delta = remaining.Floor()
	if b.RestEpsilon && rest.Epsilon == 0 {
		return rest, usagef("the ledger has no ε left: its budget is spent")
	}
	return rest, nil
}

// rest reports whether anything is taken from what the ledger has left.
func (b LabelBudget) rest() bool { return b.RestEpsilon || b.RestDelta }

// resolve returns the budget in numbers.
func (b LabelBudget) resolve(of accountant.Cost) accountant.Cost {
	if !b.RestEpsilon {
		of.Epsilon = b.Epsilon
	}
	if !b.RestDelta {
		of.Delta = b.Delta
	}
	return of
}

// budget returns the budget of all labels: of a request that was charged or begun before the one
// that it had then.
func (r *labelRun) budget(ctx context.Context) (accountant.Cost, error) {
	if !r.Budget.rest() {
		return r.Budget.Cost, nil
	}
	book := r.transaction.Ledger
	earlier, err := book.Find(ctx, r.Charge.RequestID)
	if err != nil {
		return accountant.Cost{}, err
	}
	var event Event
	switch {
	case earlier != nil && json.Unmarshal(earlier.Event, &event) == nil && event.Budget != nil:
		return r.Budget.resolve(*event.Budget), nil
	case r.coins != nil && r.coins.budget != nil:
		return r.Budget.resolve(*r.coins.budget), nil
	}
	rest, err := r.Budget.left(ctx, book)
	return r.Budget.resolve(rest), err
}

// budgetSize is the length of a budget in a checkpoint.
const budgetSize = 16

// appendBudget encodes a budget, nil as zeros.
func appendBudget(b []byte, c *accountant.Cost) []byte {
	if c == nil {
		c = new(accountant.Cost)
	}
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(c.Epsilon))
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(c.Delta))
}

// parseBudget decodes what appendBudget made.
func parseBudget(b []byte) *accountant.Cost {
	c := accountant.Cost{Epsilon: math.Float64frombits(binary.LittleEndian.Uint64(b)),
		Delta: math.Float64frombits(binary.LittleEndian.Uint64(b[8:]))}
	if c == (accountant.Cost{}) {
		return nil
	}
	return &c
}
