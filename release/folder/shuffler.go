package folder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/learn/federated/rounds"
	"github.com/darrm/darrm/release"
)

// Key returns the shuffler's key among its secrets, and draws one where there is none.
func (p Place) Key(ctx context.Context) (rounds.ShufflerKey, error) {
	path := p.secret("key")
	if err := os.MkdirAll(p.Secrets, 0o700); err != nil {
		return rounds.ShufflerKey{}, &release.OutputError{Err: err}
	}
	b, err := read(ctx, path, rounds.MaxKey)
	if err != nil {
		return rounds.ShufflerKey{}, err
	}
	if b == nil {
		k, err := rounds.NewShufflerKey()
		if err != nil {
			return k, err
		}
		if b, err = k.Encode(); err != nil {
			return k, err
		}
		if err := writeNew(path, 0o600, b); !errors.Is(err, fs.ErrExist) {
			return k, err
		}
		if b, err = read(ctx, path, rounds.MaxKey); err != nil { // another process was first
			return k, err
		}
	}
	k, err := rounds.ReadShufflerKey(b)
	return k, fault(path, err)
}

// PublishKey puts the public key into the shared folder.
func (p Place) PublishKey(k rounds.ShufflerKey) error {
	key := k.Public().Encode()
	if p.Shared == "" || key == nil {
		return &release.UsageError{Err: errors.New("shared folder and key must be given")}
	}
	return writeOnce(p.shared(KeyName), key)
}

// Shuffler opens the silos' reports, mixes them and gives the mixture out, once in each round. It
// is for one goroutine at a time.
type Shuffler struct {
	Place
	Run *rounds.Run
	Key rounds.ShufflerKey
	// Patience is how long after a round's file was written the shuffler goes on without silos that
	// did not answer, where the price allows for that. 0 waits for all.
	Patience time.Duration

	at      int
	shuffle *rounds.Shuffle // of the round at
	in      map[int]bool
	bad     map[int]time.Time // files that do not fit, by when they were written
}

// Step does what the files allow.
func (s *Shuffler) Step(ctx context.Context) (out State, err error) {
	s = handle.Made(s)
	if err := s.meets(s.Run); err != nil {
		return out, err
	}
	if err := s.claim("shuffler of plan " + s.Run.Digest()); err != nil {
		return out, err
	}
	out = State{Rounds: s.Run.Rounds(), Waits: ForRound}
	r, err := s.newest(ctx, s.Run, s.at)
	if err != nil || r == nil {
		return out, err
	}
	out.Round = r.Round
	switch {
	case s.Run.Finished(r):
		out.Finished, out.Waits = true, ""
		return out, nil
	case r.Local != nil || exists(s.shared(name(r.Round, "shuffled"))):
		return out, nil
	}
	if s.shuffle == nil || s.at != r.Round {
		if err := s.start(r); err != nil {
			return out, fault(s.shared(name(r.Round, "round")), err)
		}
	}
	chosen, err := s.chosen(ctx, r)
	if err != nil {
		return out, err
	}
	for m := range s.Run.Silos() {
		if s.in[m] || chosen != nil && !slices.Contains(chosen, m) {
			continue
		}
		if err := s.take(ctx, r, m); err != nil {
			if !errors.Is(err, rounds.ErrFormat) {
				return out, err
			}
			out.Faults = append(out.Faults, err)
		}
	}
	out.Waits = ForReports
	for _, m := range s.shuffle.Missing() {
		out.Silos = append(out.Silos, m+1)
	}
	if chosen == nil {
		if len(out.Silos) > 0 && !s.impatient(r) || !s.shuffle.Enough() {
			return out, nil
		}
		if chosen, err = s.choose(ctx, r); err != nil {
			return out, err
		}
	}
	for _, m := range chosen {
		if !s.in[m] {
			return out, nil // it was there before the shuffler died, and has to come again
		}
	}
	return s.release(r, out)
}

// start begins to take the reports of a round.
func (s *Shuffler) start(r *rounds.Round) (err error) {
	s.at, s.in, s.bad = r.Round, map[int]bool{}, map[int]time.Time{}
	s.shuffle, err = s.Run.NewShuffle(r)
	return err
}

// take takes the reports of a silo, if they are there.
func (s *Shuffler) take(ctx context.Context, r *rounds.Round, m int) error {
	path := s.shared(sealedName(r.Round, m))
	info, err := os.Stat(path)
	if err != nil || s.bad[m].Equal(info.ModTime()) {
		return nil // not there, or looked at before
	}
	err = s.open(ctx, r, m, path)
	if errors.Is(err, rounds.ErrFormat) {
		s.bad[m] = info.ModTime()
		return fault(path, err)
	}
	return err
}

func (s *Shuffler) open(ctx context.Context, r *rounds.Round, m int, path string) error {
	sealed, err := read(ctx, path, s.Run.MaxSealed())
	if err != nil || sealed == nil {
		return err
	}
	file, err := s.Run.Unseal(s.Key, r, m, sealed)
	if err != nil {
		return err
	}
	// A stranger can seal in any silo's name: that of the reports themselves is the one that counts.
	if silo, _, err := s.Run.ReadReports(ctx, r, file); err != nil {
		return err
	} else if silo != m {
		return fmt.Errorf("%w: it has the reports of silo %d", rounds.ErrFormat, silo+1)
	}
	if _, err := s.shuffle.Add(ctx, file); err != nil {
		return err
	}
	s.in[m] = true
	return nil
}

// impatient reports whether the round has waited long enough for all silos. Whoever writes to the
// folder can make it seem so, and gains no more than a drop-out that the price allows for.
func (s *Shuffler) impatient(r *rounds.Round) bool {
	if s.Patience <= 0 {
		return false
	}
	info, err := os.Stat(s.shared(name(r.Round, "round")))
	return err == nil && time.Since(info.ModTime()) >= s.Patience
}

// choose notes whose reports are released, before anything is: a shuffler that dies then releases
// these and no others, since the book knows the round with these.
func (s *Shuffler) choose(ctx context.Context, r *rounds.Round) ([]int, error) {
	var silos []int
	for m := range s.Run.Silos() {
		if s.in[m] {
			silos = append(silos, m)
		}
	}
	b, err := json.Marshal(silos)
	if err != nil {
		return nil, err
	}
	err = writeNew(s.secret(name(r.Round, "silos")), 0o600, b)
	if errors.Is(err, fs.ErrExist) { // another process was first
		return s.chosen(ctx, r)
	}
	return silos, err
}

// chosen returns the silos of choose, nil before it.
func (s *Shuffler) chosen(ctx context.Context, r *rounds.Round) (silos []int, err error) {
	path := s.secret(name(r.Round, "silos"))
	b, err := read(ctx, path, int64(16*len(s.Run.Silos())+16))
	if b == nil || err != nil {
		return nil, err
	}
	if err := json.Unmarshal(b, &silos); err != nil {
		return nil, &release.InputError{Err: fmt.Errorf("%s: %w", path, err)}
	}
	return silos, nil
}

func (s *Shuffler) release(r *rounds.Round, out State) (State, error) {
	book := filepath.Join(s.Secrets, "book")
	if err := os.MkdirAll(book, 0o700); err != nil {
		return out, &release.OutputError{Err: err}
	}
	file, err := s.shuffle.Release(rounds.Book{Folder: book})
	if err == nil {
		err = writeOnce(s.shared(name(r.Round, "shuffled")), file)
	}
	s.shuffle = nil // whatever happened, reports are taken anew
	if err != nil {
		var wrong *rounds.BookError
		if errors.As(err, &wrong) {
			return out, &release.OutputError{Err: err}
		}
		return out, err
	}
	out.Did, out.Waits = Shuffled, ForRound
	return out, nil
}
