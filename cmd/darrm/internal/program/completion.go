package program

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/internal/check"
)

// shells are the shells that cobra writes completions for.
var shells = []struct {
	name  string
	write func(root *cobra.Command, w io.Writer) error
}{
	{"bash", func(root *cobra.Command, w io.Writer) error {
		return root.GenBashCompletionV2(w, true)
	}},
	{"zsh", (*cobra.Command).GenZshCompletion},
	{"fish", func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) }},
	{"powershell", (*cobra.Command).GenPowerShellCompletionWithDesc},
}

// NewCompletion replaces cobra's own command, which answers an unknown shell with help and
// success.
func NewCompletion(a *cli.App) *cobra.Command {
	var names []string
	for _, s := range shells {
		names = append(names, s.name)
	}
	return &cobra.Command{
		Use:   "completion " + strings.Join(names, "|"),
		Short: "Print a shell's completion of commands, flags and their values",
		Long: `Print a script that completes commands, flags, the values of flags and names of files.

  bash        source <(darrm completion bash)
  zsh         darrm completion zsh > "${fpath[1]}/_darrm"
  fish        darrm completion fish > ~/.config/fish/completions/darrm.fish
  powershell  darrm completion powershell | Out-String | Invoke-Expression`,
		Args:      cobra.ExactArgs(1),
		ValidArgs: names,
		RunE: func(c *cobra.Command, args []string) error {
			i := slices.Index(names, args[0])
			if i < 0 {
				return cli.Usagef("unknown shell %q: it must be %s%s", args[0], check.Alternatives(names),
					cli.DidYouMean("", cli.Similar(args[0], names)))
			}
			return a.Deliver("", func(w io.Writer) error { return shells[i].write(c.Root(), w) })
		},
	}
}
