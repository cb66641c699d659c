package release

import (
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/ledger"
)

// Usable returns what can still be charged in a state of the ledger: what the ledger has left or,
// unless a total that protects nobody is accepted, what is left below such a total, whichever is
// less. It is rounded down.
func (o *Online) Usable(now ledger.State) ledger.Cost {
	s := o.made().options.Charge.strength()
	if s.accept {
		return now.Remaining
	}
	most := ensemble.MostWorth(s.records)
	limit, err := ledger.NewBudget(most.Epsilon, most.Delta)
	if err != nil {
		return ledger.Cost{} // the limit is one of a ledger, which has no smaller amounts
	}
	return Least(now.Remaining, limit.Cost().Minus(now.Spent))
}

// Least returns the smaller ε and the smaller δ of two costs.
func Least(a, b ledger.Cost) ledger.Cost { return a.Minus(a.Minus(b)) }
