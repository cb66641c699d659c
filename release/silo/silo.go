// Package silo lets a holder of records answer the rounds of a federated run: once each, paid for
// by the ledger of its records before the answer leaves.
//
// The first answer charges what all rounds cost a record together (rounds.Run.Cost), because the
// rounds' costs do not add up one by one: their sum in the ledger would be many times what they
// cost together. Who leaves after one round has paid for all; nothing is given back. The cost is
// for the plan's least number of reports, below which the shuffler releases nothing: how many
// really come is known only afterwards. Each answer is an entry of its own, at no cost, whose id is
// the plan's digest, the silo and the round: a round asked again, with whatever model, is refused.
//
// Values of its types are safe for concurrent use while nobody writes to their fields, but for
// those whose comments say otherwise.
//
// # Order
//
// That of package release: the coins' key is kept in the checkpoint, the ledger is charged, the
// answer is worked out, its digest is noted, its file gets its name at once, the key is removed. A
// silo that dies anywhere gives the same bytes when it is asked again, or, without a checkpoint,
// nothing.
package silo

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/federated"
	"github.com/darrm/darrm/learn/federated/rounds"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
)

// Answer is one silo's answer to one round.
type Answer struct {
	Plan    *rounds.Run
	Round   *rounds.Round
	Silo    int // from 0
	Records *data.Records
	// Ledger is the path of the ledger of these records. Required: it is what refuses a second answer.
	Ledger string
	// Checkpoint is the file of the coins' secret key while the answer is not out. "" keeps none.
	Checkpoint string
	// AcceptWeak is that of release.Model. The records are those of all silos together.
	AcceptWeak bool
	Output     release.FileOutput
	Reads      []release.File
}

// Check refuses settings that contradict each other, before any file is read. It needs no Records.
func (a Answer) Check() error {
	if err := a.ready(); err != nil {
		return err
	}
	if err := a.Plan.Asks(a.Round, a.Silo); err != nil {
		return &release.UsageError{Err: err}
	}
	return a.model().Check()
}

// Run releases the answer. The error may come with an outcome that is done, as that of
// release.Model. A round that was answered before is an *AnsweredError.
func (a Answer) Run(ctx context.Context) (release.Outcome, error) {
	if err := a.ready(); err != nil {
		return release.Outcome{}, err
	}
	out, err := a.model().Run(ctx)
	return out, a.answered(err)
}

// Quote returns nil if the answer would be released, without charging.
func (a Answer) Quote(ctx context.Context) error {
	if err := a.ready(); err != nil {
		return err
	}
	return a.answered(a.model().Quote(ctx))
}

// ready refuses an answer to nothing.
func (a Answer) ready() error {
	if a.Plan.Loss() == nil || a.Round == nil {
		return &release.UsageError{Err: errors.New("plan and round must be given")}
	}
	return nil
}

// AnsweredError is the error for a round that a silo has answered before.
type AnsweredError struct {
	Silo, Round int // the silo from 0
	Err         error
}

func (e *AnsweredError) Error() string {
	return fmt.Sprintf("silo %d answered round %d before: %v", e.Silo+1, e.Round, e.Err)
}
func (e *AnsweredError) Unwrap() error { return e.Err }

func (a Answer) answered(err error) error {
	if errors.Is(err, ledger.ErrReplayed) || errors.Is(err, ledger.ErrConflict) {
		return &AnsweredError{a.Silo, a.Round.Round, err}
	}
	return err
}

func (a Answer) model() release.Model {
	price := a.Plan.Price()
	run := fmt.Sprintf("federated %.16s silo %d", a.Plan.Digest(), a.Silo+1)
	a.Output.Private = a.Round.Local == nil // reports are for the shuffler alone
	kind := "reports"
	if a.Round.Local != nil {
		kind = "local steps"
	}
	return release.Model{
		Event: release.ModelEvent{
			Mechanism: federated.Mechanism, Method: price.Method, Task: a.Plan.Loss().Name(),
			Epochs: a.Plan.Rounds(), Unit: "rounds", Mode: string(price.Bound), Assumes: trustedShuffler,
			Run: a.Plan.FullDigest(), Part: fmt.Sprintf("%s to question %s", kind, a.Plan.Question(a.Round)),
		},
		Relation: price.Relation, Ledger: a.Ledger, PartOf: run,
		Records: a.Plan.Records(), AcceptWeak: a.AcceptWeak,
		RequestID: fmt.Sprintf("%s round %d %s", run, a.Round.Round, kind),
		Output:    a.Output, Checkpoint: a.Checkpoint, StateSize: int64(stateSize), Reads: a.Reads,
		Begin: a.begin,
	}
}

// trustedShuffler is the assumption of amplification by shuffling.
const trustedShuffler = "The shuffler that took the reports is trusted: it gave them on in a random order, " +
	"without their senders, once, and in no smaller number than the cost is for."

const (
	stateMagic = "darrm silo answer 1\n"
	stateSize  = len(stateMagic) + 32 + sha256.Size
)

// begin draws the coins of the answer, or takes those of a state.
func (a Answer) begin(state []byte) (out release.Training, err error) {
	if err := a.Plan.Fits(a.Silo, a.Records); err != nil {
		return out, &release.InputError{Err: err} // before anything is paid
	}
	coins, err := a.coins(state)
	if err != nil {
		return out, err
	}
	key := coins.Key()
	id := sha256.Sum256(append([]byte("darrm silo answer coins 1\n"), key[:]...))
	run := func(ctx context.Context, _ func() error) (func(io.Writer) error, error) {
		file, err := a.Plan.Answer(ctx, a.Round, a.Silo, a.Records, coins)
		return func(w io.Writer) error { _, err := w.Write(file); return err }, err
	}
	return release.Training{
		ID: hex.EncodeToString(id[:16]), Cost: a.Plan.Cost(), Run: run,
		State: func() []byte { return append(append([]byte(stateMagic), key[:]...), a.pin(key)...) },
	}, nil
}

// coins are new or, of an answer that was begun before, the same: then question and records must
// be, too.
func (a Answer) coins(state []byte) (stream.Coins, error) {
	if state == nil {
		return stream.Secret()
	}
	if len(state) != stateSize || string(state[:len(stateMagic)]) != stateMagic {
		return stream.Coins{}, &release.InputError{Err: fmt.Errorf("%q is not a checkpoint of an answer",
			a.Checkpoint)}
	}
	key := [32]byte(state[len(stateMagic):])
	if !hmac.Equal(state[len(stateMagic)+32:], a.pin(key)) {
		return stream.Coins{},
			&release.InputError{Err: errors.New("the round, the silo or its records are not those that " +
				a.Checkpoint + " was made for: with the same coins the two answers would reveal their " +
				"difference")}
	}
	return stream.Restore(key, true), nil
}

// pin names what the key's coins are for, and tells nobody without the key anything of the records.
func (a Answer) pin(key [32]byte) []byte {
	h := hmac.New(sha256.New, key[:])
	records := a.Records.Digest()
	fmt.Fprintf(h, "darrm silo answer pin 1\n%s %s\n", a.Plan.Digest(), a.Plan.Question(a.Round))
	h.Write(binary.LittleEndian.AppendUint64(records[:], uint64(a.Silo)))
	return h.Sum(nil)
}
