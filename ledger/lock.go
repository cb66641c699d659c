package ledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/darrm/darrm/internal/filelock"
)

// lock opens the ledger's file and locks it, exclusively or shared, waiting as long as
// ctx allows.
func lock(ctx context.Context, path string, exclusive bool) (*os.File, error) {
	flag := os.O_RDONLY
	if exclusive {
		flag = os.O_RDWR
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f, err := openRegular(path, flag)
		switch {
		case exclusive && !errors.Is(err, fs.ErrNotExist):
			err = writeError(err)
		case errors.Is(err, errNotRegular):
			err = fmt.Errorf("%w: %w", ErrNotLedger, err)
		}
		if err != nil {
			return nil, err
		}
		if err := filelock.Lock(ctx, f, exclusive); err != nil {
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		// While this waited, another file may have taken the name. Its lock
		// would be another one.
		same, err := sameFile(f, path)
		if err == nil && same {
			return f, nil
		}
		filelock.Unlock(f)
		if err != nil {
			return nil, err
		}
	}
}

func sameFile(f *os.File, path string) (bool, error) {
	a, err := f.Stat()
	if err != nil {
		return false, err
	}
	b, err := os.Stat(path)
	if err != nil {
		return false, err
	}
	return os.SameFile(a, b), nil
}
