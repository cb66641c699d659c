package problem

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/release"
)

// CheckedTable is a table of any kind that was certified.
type CheckedTable struct{ release.Table }

// Encode writes the table as its file.
func (t CheckedTable) Encode(w io.Writer) error {
	switch {
	case t.Answers != nil:
		return t.Answers.Encode(w)
	case t.Plurality != nil:
		return t.Plurality.Encode(w)
	}
	return t.Gamma.Encode(w)
}

// ReadAnyTable reads and certifies a table file within the time limit.
func (f *TimeoutFlag) ReadAnyTable(c *cobra.Command, a *cli.App,
	path string) (CheckedTable, error) {
	ctx, cancel := f.Limit(c.Context())
	defer cancel()
	bar := cli.NewProgress(a)
	bar.Wait("checking the table")
	t, err := checkTable(ctx, a, path)
	bar.Stop()
	if errors.Is(err, context.DeadlineExceeded) {
		err = context.DeadlineExceeded // not an error of reading, which it may be wrapped in
	}
	return t, f.Late("check "+path, err)
}

func checkTable(ctx context.Context, a *cli.App, path string) (t CheckedTable, err error) {
	r, err := a.Open(ctx, path, release.MaxTableBytes)
	if err != nil {
		return t, err
	}
	defer r.Close()
	if t.Table, err = release.ReadTable(ctx, r); err != nil {
		return t, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}
