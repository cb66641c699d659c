package release

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/ledger"
)

// Told is the release, with noise, of what answers cost at the votes that were cast
// ([ensemble.Telling]). It is charged like any release, and once: a request has one figure. The
// answers themselves are charged as ever; the figure gives nothing back.
type Told struct {
	Telling *ensemble.Telling
	Ballots *ensemble.Ballots
	// Delta is the δ in (0,1) of the charge, and DrawnDelta that at which the figure's ε is told.
	Delta, DrawnDelta float64
	// Ledger and RequestID are required: without them nobody would know that it was told before.
	Ledger, RequestID string
	Records           int // whose votes the teachers' data were, if that is public; 0 if unknown
	AcceptWeak        bool
	Output            FileOutput
	Reads             []File // the files of votes, so that nothing is written there
	// Encode gives the bytes of the figure and of what it was charged; the same ones when called
	// again.
	Encode func(drawn ensemble.DrawnCost, charged accountant.Cost) func(io.Writer) error
}

// toldMechanism is the mechanism of a figure's event.
const toldMechanism = "cost at votes"

// Run charges, draws and publishes. The outcome is that of [Transaction.Run].
func (o Told) Run(ctx context.Context) (Outcome, error) {
	switch {
	case o.Ledger == "" || o.RequestID == "":
		return Outcome{}, usagef("a cost at given votes is told once and paid for: give %s and %s", pLedger,
			pRequestID)
	case shared(o.RequestID) != nil:
		return Outcome{}, &UsageError{shared(o.RequestID)}
	case o.Output.toStdout():
		return Outcome{}, usagef("a figure that is asked again is read where it was written: give a file")
	}
	if err := CheckRecords(o.Records); err != nil {
		return Outcome{}, err
	}
	if err := CheckPaths(o.Output.Path, "", o.Ledger, o.Reads...); err != nil {
		return Outcome{}, err
	}
	if err := o.Telling.Check(o.Ballots); err != nil {
		return Outcome{}, &InputError{err}
	}
	cost, err := o.Telling.Cost(o.Delta)
	if err != nil {
		return Outcome{}, &UsageError{err}
	}
	book, err := openLedger(ctx, o.Ledger)
	if err != nil {
		return Outcome{}, err
	}
	bill, err := o.bill(cost)
	if err != nil {
		return Outcome{}, err
	}
	t := Transaction{Ledger: book, Bill: bill, Output: o.Output}
	t.Draw = func(context.Context, *ledger.Receipt) (func(io.Writer) error, error) {
		drawn, err := o.Telling.Draw(randsrc.SystemCoins(), o.Ballots, o.DrawnDelta)
		return o.Encode(drawn, cost), err
	}
	return t.Run(ctx)
}

func (o Told) bill(cost accountant.Cost) (*Bill, error) {
	r, err := costing(o.RequestID, cost, Event{
		Mechanism: toldMechanism, Queries: o.Telling.Options().Queries, K: o.Telling.K(), Affected: 1,
		Key: rand.Text(), Rule: o.Telling.Rule(), AcceptWeak: o.AcceptWeak,
	}, accountant.ReplaceOne)
	b := &Bill{release: r, coins: "key"}
	return b.judged(strength{o.Records, o.AcceptWeak, labelAdvice}), err
}

// describeTold names a figure in a few words.
func describeTold(e Event) string {
	return fmt.Sprintf("what %d answers cost at their votes, told with noise", e.Queries)
}
