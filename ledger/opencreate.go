package ledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
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
