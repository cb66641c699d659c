package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/release"
)

// checkedTable is a table of two classes or of many that was certified.
type checkedTable struct{ release.Table }

func (t checkedTable) encode(w io.Writer) error {
	if t.Plurality != nil {
		return t.Plurality.Encode(w)
	}
	return t.Gamma.Encode(w)
}

// readAnyTable reads and certifies a table file within the time limit.
func (f *timeoutFlag) readAnyTable(c *cobra.Command, a *app, path string) (checkedTable, error) {
	ctx, cancel := f.limit(c.Context())
	defer cancel()
	bar := newProgress(a)
	bar.wait("checking the table")
	t, err := a.checkTable(ctx, path)
	bar.stop()
	if errors.Is(err, context.DeadlineExceeded) {
		err = context.DeadlineExceeded // not an error of reading, which it may be wrapped in
	}
	return t, f.late("check "+path, err)
}

func (a *app) checkTable(ctx context.Context, path string) (t checkedTable, err error) {
	r, err := a.open(ctx, path, release.MaxTableBytes)
	if err != nil {
		return t, err
	}
	defer r.Close()
	if t.Table, err = release.ReadTable(ctx, r); err != nil {
		return t, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}
