package folder

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/federated/rounds"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/release/silo"
)

// Silo answers the rounds of a run by its records, paid for by their ledger. It is for one
// goroutine at a time.
type Silo struct {
	Place
	Run     *rounds.Run
	Pass    rounds.Pass // which silo it is, and the shuffler's key
	Records *data.Records
	// Ledger and AcceptWeak are those of silo.Answer.
	Ledger     string
	AcceptWeak bool

	at   int
	key  *rounds.SealKey
	lost map[string]bool // questions that were answered before, whose answer is gone
}

// publicKey reads the shuffler's public key, and refuses another than the pass's before anything is
// paid. It is nil where none is there yet.
func (s *Silo) publicKey(ctx context.Context) (*rounds.SealKey, error) {
	path := s.shared(KeyName)
	b, err := read(ctx, path, rounds.MaxKey)
	if b == nil || err != nil {
		return nil, err
	}
	k, err := rounds.ReadSealKey(b)
	if err != nil {
		return nil, fault(path, err)
	}
	if got := k.Fingerprint(); got != s.Pass.Fingerprint {
		return nil, &release.InputError{Err: fmt.Errorf("%s: fingerprint = %s, but it must be the "+
			"shuffler's, %s: nothing is sealed to a stranger's key", path, got, s.Pass.Fingerprint)}
	}
	return &k, nil
}

// Step does what the files allow. An answer is charged and noted as silo.Answer does it.
func (s *Silo) Step(ctx context.Context) (out State, err error) {
	s = handle.Made(s)
	if err := s.meets(s.Run); err != nil {
		return out, err
	}
	if n := len(s.Run.Silos()); s.Pass.Silo < 0 || s.Pass.Silo >= n {
		return out, &release.UsageError{Err: check.Wantf("silo", s.Pass.Silo+1, "between 1 and %d", n)}
	}
	if err := s.claim(fmt.Sprintf("silo %d of plan %s", s.Pass.Silo+1, s.Run.Digest())); err != nil {
		return out, err
	}
	out = State{Rounds: s.Run.Rounds(), Waits: ForRound}
	if s.key == nil {
		if s.key, err = s.publicKey(ctx); err != nil || s.key == nil {
			return out, err
		}
	}
	r, err := s.newest(ctx, s.Run, s.at)
	if err != nil || r == nil {
		return out, err
	}
	s.forget(r.Round)
	out.Round = r.Round
	question := s.Run.Question(r)
	switch {
	case s.Run.Finished(r):
		out.Finished, out.Waits = true, ""
		return out, nil
	case r.Local != nil && r.Local.Silo != s.Pass.Silo, s.lost[question]:
		return out, nil
	}
	place, over := sealedName(r.Round, s.Pass.Silo), "shuffled"
	if r.Local != nil {
		place, over = name(r.Round, "reply"), "reply"
	}
	if exists(s.shared(place)) || exists(s.shared(name(r.Round, over))) {
		return out, nil
	}
	file, err := s.answer(ctx, r)
	var before *silo.AnsweredError
	if errors.As(err, &before) {
		if s.lost == nil {
			s.lost = map[string]bool{}
		}
		s.lost[question] = true
		out.Did = SatOut
		out.Faults = []error{fmt.Errorf("%w, and the answer is not in %s: the round is sat out", err,
			s.Secrets)}
		return out, nil
	}
	if err == nil {
		err = writeOnce(s.shared(place), file)
	}
	if err == nil {
		out.Did = Answered
	}
	return out, err
}

// answer returns the file for the shared folder: sealed reports, or local steps as they are. What
// was sealed is kept until the next round, so that the same bytes come again.
func (s *Silo) answer(ctx context.Context, r *rounds.Round) ([]byte, error) {
	plain, sealed := s.secret(name(r.Round, "answer")), s.secret(name(r.Round, "sealed"))
	coins := "coins"
	limit := max(s.Run.MaxSealed(), s.Run.MaxRound())
	if r.Local != nil {
		plain, coins = s.secret(name(r.Round, "reply")), "reply-coins"
	} else if b, err := read(ctx, sealed, limit); b != nil || err != nil {
		return b, err
	}
	a := silo.Answer{Plan: s.Run, Round: r, Silo: s.Pass.Silo, Records: s.Records, Ledger: s.Ledger,
		Checkpoint: s.secret(name(r.Round, coins)), AcceptWeak: s.AcceptWeak,
		Output: release.FileOutput{Path: plain, Name: "answer"}}
	if err := a.Check(); err != nil {
		return nil, err
	}
	if out, err := a.Run(ctx); err != nil && !out.Done() {
		return nil, err
	}
	file, err := read(ctx, plain, limit)
	if err != nil || r.Local != nil {
		return file, err
	}
	if file, err = s.Run.Seal(*s.key, s.Pass, r, file); err != nil {
		return nil, err
	}
	if err := writeNew(sealed, 0o600, file); err != nil {
		return nil, err
	}
	return file, os.Remove(plain) // the shuffler alone can read what is left
}

// forget removes what is left of answers to older rounds, which nobody asks for any more.
func (s *Silo) forget(round int) {
	for ; s.at < round; s.at++ {
		for _, what := range []string{"answer", "sealed", "reply", "coins", "reply-coins"} {
			_ = os.Remove(s.secret(name(s.at, what))) // mostly it is not there
		}
	}
}
