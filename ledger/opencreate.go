package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/darrm/darrm/internal/check"
)

// OpenOrCreate opens the ledger at a location and, where there is none, makes one. created reports
// that it did: where the ledger should have been there, nothing is known of what was spent before.
// A ledger of another budget is an [ErrBudget], one of another relation an [ErrRelation]. An anchor
// or a secret without its ledger is refused with an fs.ErrExist: it was left by a ledger that is
// lost, or by a [Create] that was cut short, and somebody has to say which. Of several processes
// that make the ledger at once one does. Other errors, and the cost, are those of [Open] and
// [Create].
func OpenOrCreate(ctx context.Context, location string, budget Budget,
	relation Relation) (l *Ledger, created bool, err error) {
	if err := checkNew(budget, relation); err != nil {
		return nil, false, err
	}
	for range createTries {
		if l, err = Open(ctx, location); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		if l, err = createOver(ctx, location, budget, relation); err == nil {
			return l, true, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, false, err
		}
		// Another process may be between its secret and its ledger.
		select {
		case <-time.After(createPause):
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	}
	switch {
	case err != nil:
		return nil, false, err
	case l.Relation() != relation:
		return nil, false, fmt.Errorf("%s: %w: it is for neighbours = %q, not for %q", l.Path(),
			ErrRelation, l.Relation().Name(), relation.Name())
	case l.Budget() != budget:
		return nil, false, fmt.Errorf("%s: %w: it was made with (ε, δ) = %v, not with %v", l.Path(),
			ErrBudget, l.Budget(), budget)
	}
	return l, false, nil
}

// createOver is [Create] where nothing is left of an earlier ledger.
func createOver(ctx context.Context, location string, budget Budget,
	relation Relation) (*Ledger, error) {
	left, err := leftSecret(location)
	if err != nil {
		return nil, fmt.Errorf("create ledger: %w", err)
	}
	if left != "" {
		return nil, fmt.Errorf("create ledger %s: the secret of an earlier ledger is there, %s, so the "+
			"ledger is missing: put it back, or remove the secret: %w", Display(location), left,
			fs.ErrExist)
	}
	return Create(ctx, location, budget, relation)
}

// OpenOrCreate tries so often, because another process that makes the same ledger has to force one
// small file to disk.
const (
	createTries = 10
	createPause = 50 * time.Millisecond
)

// leftSecret returns the path of the secret that is there for the ledger at a location, "" where
// none is.
func leftSecret(location string) (string, error) {
	store, err := openStore(location)
	if err != nil {
		return "", err
	}
	path, err := store.SecretPath()
	if err != nil || path == "" {
		return "", err
	}
	if _, err = os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return path, err
}

// Reopen opens the ledger again, for who got an [ErrBroken]: everything that this handle saw must
// still be there, as it is in no other ledger; else it is an [ErrRolledBack]. A new [Open] would
// take a copy from before for the ledger, and what was spent since could be spent again. Other
// errors are those of Open.
func (l *Ledger) Reopen(ctx context.Context) (*Ledger, error) {
	var seen Head
	if err := l.inTurn(ctx, func() error { seen = l.chain.now.head; return nil }); err != nil {
		return nil, err
	}
	again, err := Open(ctx, l.location)
	if err != nil {
		return nil, err
	}
	if err := again.Contains(ctx, seen); err != nil {
		return nil, fmt.Errorf("open ledger: %w", err)
	}
	return again, nil
}

// Contains fails with an [ErrRolledBack] unless the ledger goes through a head that was seen
// before. It reads one entry, where [Ledger.Verify] reads all; the rest was verified when it was
// read.
func (l *Ledger) Contains(ctx context.Context, seen Head) error {
	err := l.do(ctx, false, func(s *session) error { return s.contains(seen) })
	if err != nil {
		return fmt.Errorf("%s: %w", l.Path(), err)
	}
	return nil
}

// contains fails unless the chain of hashes goes through h.
func (s *session) contains(h Head) error {
	here := h == Head{0, s.start}
	if 0 < h.Seq && h.Seq <= s.now.head.Seq {
		e, err := entryAt(s.tx, s.book.at(h.Seq))
		if err != nil {
			return err
		}
		here = e.Hash == h.Hash
	}
	if !here {
		return rolledBack("the ledger ends at %v and does not contain %v, which was seen before",
			s.now.head, h)
	}
	return nil
}

// About tells people what a ledger is for. It stands in the first record, whose hash all others
// rest on: nobody changes it later. All of it may be left out.
type About struct {
	// at most MaxID bytes, as an id; likewise of the next two
	Purpose   string `json:"purpose,omitempty" help:"what is released, and what for, in words"`
	Custodian string `json:"custodian,omitempty" help:"who answers for the data"`
	DataSet   string `json:"data_set,omitempty" help:"name of the data set, in words"`
	From      string `json:"from,omitempty" help:"first day of the data, such as 2025-01-01"`
	Until     string `json:"until,omitempty" help:"last day of the data, likewise"` // not before From
}

// check checks the parts that are stated.
func (a About) check() error {
	texts := []struct{ name, text string }{{"purpose", a.Purpose}, {"custodian", a.Custodian},
		{"data set", a.DataSet}}
	for _, t := range texts {
		if t.text != "" {
			if err := checkID(t.name, t.text); err != nil {
				return err
			}
		}
	}
	return cmp.Or(checkDay("from", a.From), checkDay("until", a.Until), a.checkOrder())
}

func checkDay(name, day string) error {
	if day == "" {
		return nil
	}
	if t, err := time.Parse(time.DateOnly, day); err != nil || t.Format(time.DateOnly) != day {
		return check.Want(name, fmt.Sprintf("%q", day), "a day such as 2026-03-31")
	}
	return nil
}

// checkOrder compares days, whose text sorts as they do.
func (a About) checkOrder() error {
	if a.From != "" && a.Until != "" && a.Until < a.From {
		return check.Want("until", fmt.Sprintf("%q", a.Until), "at or after from, "+a.From)
	}
	return nil
}

// About returns what the ledger was said to be for when it was made.
func (l *Ledger) About() About { return l.about().about }

// CreateAbout is [Create] with what people should know of the ledger, for ever.
func CreateAbout(ctx context.Context, location string, budget Budget, relation Relation,
	about About) (*Ledger, error) {
	if err := cmp.Or(checkNew(budget, relation), about.check()); err != nil {
		return nil, err
	}
	store, err := openStore(location)
	if err != nil {
		return nil, fmt.Errorf("create ledger: %w", err)
	}
	err = store.Create(ctx, func() ([]byte, error) {
		return newGenesis(store, budget, relation, about)
	})
	if err != nil {
		return nil, fmt.Errorf("create ledger %s: %w", store.Location(), err)
	}
	l, err := open(ctx, location, store)
	if err == nil {
		err = l.settle(ctx)
	}
	if err != nil {
		return nil, err
	}
	return l, nil
}
