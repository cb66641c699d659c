package program

import (
	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
)

// NewVersion makes the command that prints the version.
func NewVersion(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the program's version and its LP solver's",
		Long:  "Print the program's version and its LP solver's.",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return a.DeliverVersion() },
	}
}
