package main

import (
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/lp"
)

func newVersion(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the program's version and its LP solver's",
		Long:  "Print the program's version and its LP solver's.",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return a.deliverVersion() },
	}
}

func (a *app) deliverVersion() error {
	if a.json {
		return a.deliverJSON("", map[string]string{"version": version, "solver": lp.Backend(),
			"go": runtime.Version()})
	}
	return a.deliver("", func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "darrm %s\nLP solver: %s\n%s %s/%s\n", version, lp.Backend(),
			runtime.Version(), runtime.GOOS, runtime.GOARCH)
		return err
	})
}
