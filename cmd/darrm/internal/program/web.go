package program

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/web/host"
)

// NewWeb makes the command that serves the page of web to a browser on this machine.
func NewWeb(a *cli.App) *cobra.Command {
	var port int
	c := &cobra.Command{
		Use:   "web FOLDER",
		Short: "Serve the page that plans in a browser, to this machine alone",
		Long: `Serve the page that plans in a browser: FOLDER is what "make web" made, or a zip
archive of it. The page works out everything by itself, in the browser, and the
server's policy forbids it to send anything anywhere. Nobody but this machine can ask
the server. It ends with Ctrl-C. A browser also opens index.html of the folder as it is.

docs/web.md describes the page.`,
		Example: `  darrm web dist/web
  darrm web darrm-web.zip --port 8390`,
		Args: cobra.ExactArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"zip"}, cobra.ShellCompDirectiveFilterFileExt
		},
		RunE: func(c *cobra.Command, args []string) error {
			files, closer, err := host.Open(args[0])
			if err != nil {
				return &release.InputError{Err: err}
			}
			defer closer.Close()
			l, err := host.Listen(c.Context(), port)
			if err != nil {
				return &release.UsageError{Err: err}
			}
			url := "http://" + l.Addr().String() + "/"
			if a.JSON {
				err = a.DeliverJSON("", map[string]string{"url": url})
			} else {
				a.Say("darrm: open %s in a browser; Ctrl-C ends the server", url)
			}
			if err != nil {
				return errors.Join(err, l.Close())
			}
			return host.Serve(c.Context(), l, files)
		},
	}
	c.Flags().IntVar(&port, "port", 0, "TCP port of 127.0.0.1 (default: one that is free)")
	return c
}
