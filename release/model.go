package release

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ledger"
)

// Model is a release of something that is drawn as a whole, such as a trained model. It knows
// no trainer: Begin makes one.
type Model struct {
	// Event is the event of the ledger entry, without Release.
	Event ModelEvent
	// Relation is the neighbouring relation of the model's cost. Required with Ledger.
	Relation accountant.Relation
	// Ledger is the path of a ledger on a disk of this machine. "" charges none.
	Ledger string `flag:"ledger" help:"charge this ledger (darrm budget init) before the first step"`
	// RequestID names the model in the ledger. Defaults to a name of its own.
	RequestID string `flag:"request-id" help:"name of this training in the ledger (default: a name of its own)"`
	// PartOf names a run of which this is one answer of several. The first charges the ledger what
	// all of them cost together, the training's Cost, and each is then noted at no cost. An
	// answer needs a RequestID and a ledger, which answers it once. "" is a model of its own.
	PartOf string
	// Records is the number of records that the model is trained on, if that is public; 0 if unknown.
	// What is spent in all must have a δ below one over it.
	Records int
	// AcceptWeak lets what is spent in all be worth nothing (ensemble.Worthless), which is refused
	// else. It stands in the ledger's entry.
	AcceptWeak bool
	Output     FileOutput
	// Checkpoint is the file of the secret state, from which an interrupted training goes on
	// and is charged no more. It is removed when the model is out. "" keeps none.
	Checkpoint string `flag:"checkpoint" help:"keep the secret state here after each epoch, and go on from it if it is there"`
	// StateSize is the most bytes that a state has.
	StateSize int64
	// Force replaces a file at Output, by a simulation too, and never one that the ledger knows as a
	// request's result.
	Force bool `flag:"force" help:"replace the file at $out, and never one that the $ledger knows as the result of a request; without $ledger nobody accounts for two draws"`
	// Simulated marks a model that is drawn from a seed. It releases nothing and goes without a
	// ledger.
	Simulated bool
	// Reads are the files that the training reads, so that nothing is written there.
	Reads []File
	// Begin begins a training or, where state is not nil, goes on with one.
	Begin func(state []byte) (Training, error)
}

// Training is one draw of a model's randomness.
type Training struct {
	// ID names the randomness and tells nothing of it. It stays when the training goes on
	// from a state.
	ID   string
	Cost accountant.Cost
	// State returns the secret state.
	State func() []byte
	// Run trains, and calls save whenever the state may be kept. encode gives the model: the
	// same bytes whenever it is called.
	Run func(ctx context.Context, save func() error) (encode func(io.Writer) error, err error)
}

// Check refuses settings that contradict each other, and files that would replace another.
// It reads and writes nothing, and Begin may still be missing. The error is a [UsageError].
// [Model.Run] and [Model.Quote] begin with it.
func (m Model) Check() error {
	switch {
	case m.Simulated && m.Ledger != "":
		return usagef("%s and %s exclude each other: a simulation releases nothing "+
			"and pays for nothing", pSeed, pLedger)
	case m.PartOf != "" && (m.RequestID == "" || m.Ledger == ""):
		return usagef("an answer of a run needs a ledger, which remembers what was answered: "+
			"give %s", pLedger)
	case m.RequestID != "" && m.Ledger == "":
		return usagef("%s goes with %s", pRequestID, pLedger)
	case shared(m.RequestID) != nil:
		return &UsageError{shared(m.RequestID)}
	case m.Records < 0:
		return CheckRecords(m.Records)
	}
	return CheckPaths(m.Output.Path, m.Checkpoint, m.Ledger, m.Reads...)
}

// CheckRelation refuses a ledger that is for another neighbouring relation than the model's cost.
// Run does, too, once the cost is known, which may take seconds to find.
func (m Model) CheckRelation(ctx context.Context) error {
	l, err := openLedger(ctx, m.Ledger)
	if err != nil || l == nil {
		return err
	}
	return l.CheckRelation(m.Relation)
}

// Run releases the model. The error may come with an outcome that is done, as
// [Transaction.Run] says.
func (m Model) Run(ctx context.Context) (Outcome, error) {
	t, training, err := m.begin(ctx)
	if err != nil {
		return Outcome{}, err
	}
	if m.Ledger == "" && !t.secret.isResumed() {
		if err := checkOverwrite(m.Output.Path, m.Force, m.Simulated); err != nil {
			return Outcome{}, err
		}
	}
	t.Draw = func(ctx context.Context, _ *ledger.Receipt) (func(io.Writer) error, error) {
		return training.Run(ctx, t.secret.save)
	}
	return t.Run(ctx)
}

// Quote returns nil if the model would be released, and otherwise the error that would refuse it.
// It does not train or charge. A release that was paid for before, and goes on, would be released.
func (m Model) Quote(ctx context.Context) error {
	t, _, err := m.begin(ctx)
	if err != nil || t.Bill == nil {
		return err
	}
	if _, err = t.Bill.Check(ctx, t.Ledger); t.secret.isResumed() && paidFor(err) {
		return nil
	}
	return err
}

// begin opens what the release needs.
func (m Model) begin(ctx context.Context) (t *Transaction, training Training, err error) {
	if err = m.Check(); err != nil {
		return nil, training, err
	}
	if m.Begin == nil {
		return nil, training, usagef("begin must be given: it begins the training")
	}
	t = &Transaction{Output: m.Output, Force: m.Force}
	if t.Ledger, err = openLedger(ctx, m.Ledger); err != nil {
		return nil, training, err
	}
	var state []byte
	of := owner{t.Ledger.ID(), m.RequestID}
	if t.secret, state, err = openSecret(ctx, m.Checkpoint, of, m.StateSize); err != nil {
		return nil, training, err
	}
	if training, err = m.Begin(state); err != nil {
		return nil, training, err
	}
	if c := training.Cost; !m.Simulated && !(c.Epsilon >= 0 && c.Epsilon <= math.MaxFloat64 &&
		c.Delta >= 0 && c.Delta < 1) {
		return nil, training,
			fmt.Errorf("the model promises %v-DP, which is no guarantee: it is not released", c)
	}
	if m.Ledger == "" && !m.Simulated {
		if err = CheckModel(training.Cost, m.Records, m.AcceptWeak); err != nil {
			return nil, training, err
		}
	}
	if t.secret != nil {
		t.secret.state = training.State
	}
	if t.Ledger != nil {
		t.Bill, err = m.bill(training)
	}
	return t, training, err
}

func (m Model) bill(training Training) (*Bill, error) {
	if training.ID == "" {
		return nil, errors.New("a model needs an ID, which tells its randomness from another's")
	}
	m.Event.Release, m.Event.AcceptWeak = training.ID, m.AcceptWeak
	released := m.Event
	if m.PartOf != "" {
		released.Assumes = "" // the run's charge has it
	}
	request, err := costing(cmp.Or(m.RequestID, "training:"+training.ID), training.Cost, released, m.Relation)
	b := &Bill{release: request, coins: "release"}
	if m.PartOf == "" || err != nil {
		return b.judged(m.strength()), err
	}
	run := b.release
	run.ID = runPrefix + m.PartOf
	m.Event.Release, m.Event.Part, m.Event.AcceptWeak = "", "", false
	run.Event, err = json.Marshal(m.Event)
	b.training = &run
	b.release.PaidBy, b.release.Unit = run.ID, ledger.Cost{}
	return b.judged(m.strength()), err
}
