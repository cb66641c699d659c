package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/gamma"
)

func newVerify(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "verify table.json",
		Short: "Check a table's privacy guarantee and its optimality from scratch",
		Long: `Check a table file from scratch: every privacy constraint is evaluated again
with rounding errors accounted for, and the proof of optimality is worked out
again. No solver is needed. A file whose figures about itself are wrong is
refused even if its noise function is private.

The file "-" is stdin.
` + exitStatus,
		Example: `  darrm solve --K 11 --m 3 --out table.json
  darrm verify table.json`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			t, err := a.readTable(c, args[0])
			if err != nil {
				return err
			}
			return a.deliver("", func(w io.Writer) error {
				if a.json {
					return t.Encode(w)
				}
				return renderTable(w, t)
			})
		},
	}
}

// readTable reads and certifies a table file.
func (a *app) readTable(c *cobra.Command, path string) (*gamma.Table, error) {
	r, err := a.open(c.Context(), path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	claim, err := gamma.ReadClaim(r)
	if err != nil {
		return nil, inputError{fmt.Errorf("%s: %w", path, err)}
	}
	t, err := claim.Certify(c.Context())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if wrong := claim.Differences(t); len(wrong) > 0 {
		return nil, mismatchError{fmt.Errorf("%s: %w", path, errors.New(strings.Join(wrong, "; ")))}
	}
	return t, nil
}
