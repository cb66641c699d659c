package release

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ledger"
)

// LabelBudget is the largest (ε, δ) of all labels of a release together.
type LabelBudget struct {
	Epsilon Part `flag:"budget-eps" help:"ε that all labels together may cost, or \"rest\": what $ledger has left"`
	Delta   Part `flag:"budget-delta" help:"δ that all labels together may cost, or \"rest\": what $ledger has left"`
}

// Part is ε or δ of a budget: a number, or what the ledger has left, rounded down, whose text is "rest". The
// rest is resolved before the charge and kept in its event and in the checkpoint, where the same request
// finds it when it is run again. Where somebody else spends of it meanwhile, the charge is refused. It is safe for concurrent use once
// UnmarshalText is done.
type Part struct {
	Number float64
	Rest   bool
}

// RestText is the text of a Part that is the ledger's rest.
const RestText = "rest"

// UnmarshalText reads a number, or RestText.
func (p *Part) UnmarshalText(text []byte) (err error) {
	if p == nil {
		return usagef("part of a budget must be given")
	}
	if p.Rest = string(text) == RestText; !p.Rest {
		p.Number, err = strconv.ParseFloat(string(text), 64)
	}
	return err
}

// MarshalText writes what UnmarshalText reads.
func (p Part) MarshalText() ([]byte, error) {
	if p.Rest {
		return []byte(RestText), nil
	}
	return strconv.AppendFloat(nil, p.Number, 'g', -1, 64), nil
}

// of returns the part in numbers, of a rest.
func (p Part) of(rest float64) float64 {
	if p.Rest {
		return rest
	}
	return p.Number
}

// Left returns the budget in numbers, for a plan. It must be within what the ledger at a location
// has left, and a part that is [RestText] is all of that. "" is no ledger. It charges nothing.
func (b LabelBudget) Left(ctx context.Context, location string) (accountant.Cost, error) {
	switch {
	case location != "":
	case b.rest():
		return accountant.Cost{}, errNoLedger()
	default:
		return b.resolve(accountant.Cost{}), nil
	}
	book, err := openLedger(ctx, location)
	if err != nil {
		return accountant.Cost{}, err
	}
	rest, err := b.left(ctx, book)
	if err != nil {
		return accountant.Cost{}, err
	}
	if b.Epsilon.Number > rest.Epsilon || b.Delta.Number > rest.Delta {
		return accountant.Cost{}, usagef("the budget of all labels is %v, but the ledger has %v left: state "+
			"no more, or take the rest", b.resolve(rest), rest)
	}
	return b.resolve(rest), nil
}

func errNoLedger() error {
	return usagef("%q is what a ledger has left: give %s, or state the budget in numbers", RestText, pLedger)
}

// left returns what the ledger has left, rounded down.
func (b LabelBudget) left(ctx context.Context, book *ledger.Ledger) (rest accountant.Cost,
	err error) {
	remaining, err := book.Remaining(ctx)
	if err != nil {
		return rest, err
	}
	rest.Epsilon, rest.Delta = remaining.Floor()
	if b.Epsilon.Rest && rest.Epsilon == 0 {
		return rest, fmt.Errorf("%w: the ledger has no ε left", ledger.ErrExceeded)
	}
	return rest, nil
}

// In returns the budget in numbers: a part that is [RestText] is what the ledger has left.
func (b LabelBudget) In(ctx context.Context, book *ledger.Ledger) (accountant.Cost, error) {
	if !b.rest() {
		return b.resolve(accountant.Cost{}), nil
	}
	rest, err := b.left(ctx, book)
	return b.resolve(rest), err
}

// rest reports whether anything is taken from what the ledger has left.
func (b LabelBudget) rest() bool { return b.Epsilon.Rest || b.Delta.Rest }

// resolve returns the budget in numbers.
func (b LabelBudget) resolve(of accountant.Cost) accountant.Cost {
	return accountant.Cost{Epsilon: b.Epsilon.of(of.Epsilon), Delta: b.Delta.of(of.Delta)}
}

// budget returns the budget of all labels: of a request that was charged or begun before the one
// that it had then.
func (r *LabelRun) budget(ctx context.Context) (accountant.Cost, error) {
	if !r.Budget.rest() {
		return r.Budget.resolve(accountant.Cost{}), nil
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
	return r.Budget.In(ctx, book)
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
