package program

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/internal/atomicfile"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/release"
)

// NewMan writes the manual. Generators of others read the texts as Markdown, in which our
// lists would run together.
func NewMan(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "man FOLDER",
		Short: "Write the manual pages",
		Long: `Write a manual page for each command into a folder that is there, such as
darrm-solve.1. The pages are the texts of --help-all; their date is that of
$SOURCE_DATE_EPOCH, in seconds since 1970, or none.`,
		Example: `  darrm man /usr/local/share/man/man1`,
		Args:    cobra.ExactArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(c *cobra.Command, args []string) error {
			date := ""
			if text := os.Getenv("SOURCE_DATE_EPOCH"); text != "" {
				seconds, err := strconv.ParseInt(text, 10, 64)
				if err != nil {
					return cli.Usagef("SOURCE_DATE_EPOCH = %q, but it must be a whole number of seconds since "+
						"1970",
						text)
				}
				date = time.Unix(seconds, 0).UTC().Format(time.DateOnly)
			}
			files := []string{}
			var write func(*cobra.Command) error
			write = func(c *cobra.Command) error {
				path := filepath.Join(args[0], manName(c)+".1")
				if err := atomicfile.Write(path, 0o644, func(w io.Writer) error {
					return writeMan(w, c, date)
				}); err != nil {
					return &release.OutputError{Err: err}
				}
				files = append(files, path)
				for _, sub := range c.Commands() {
					if sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() {
						if err := write(sub); err != nil {
							return err
						}
					}
				}
				return nil
			}
			if info, err := os.Stat(args[0]); err != nil || !info.IsDir() {
				return &release.OutputError{Err: fmt.Errorf("there is no folder %q", args[0])}
			}
			if err := write(c.Root()); err != nil {
				return err
			}
			return a.Show(files, func(w *terminal.Page) error {
				w.Text("  ", fmt.Sprintf("%d pages in %s", len(files), args[0]))
				return nil
			})
		},
	}
}

// manName returns the name of a command's page.
func manName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// troff escapes a text for troff: what would be a request, an escape or a hyphen.
func troff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}

// writeMan writes a command's page.
func writeMan(w io.Writer, c *cobra.Command, date string) error {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line(`.TH "%s" 1 "%s" "darrm %s" "User Commands"`, strings.ToUpper(troff(manName(c))), date,
		cli.Version)
	line(".SH NAME\n%s \\- %s", troff(manName(c)), troff(c.Short))
	if c.Runnable() {
		line(".SH SYNOPSIS\n.B %s", troff(c.UseLine()))
	}
	line(".SH DESCRIPTION")
	lines := false // without filling
	for _, b := range cli.BlocksOf(c.Long) {
		if b.Line != lines && b.Text != "" {
			line(map[bool]string{true: ".RS\n.nf", false: ".fi\n.RE"}[b.Line])
			lines = b.Line
		}
		switch {
		case b.Text == "":
			line(".PP")
		case b.Term != "":
			line(".TP\n%s\n%s", troff(strings.TrimSpace(b.Term)), troff(b.Text))
		default:
			line("%s", troff(b.Text))
		}
	}
	if lines {
		line(".fi\n.RE")
	}
	if c.Runnable() {
		line(".SH OPTIONS")
		for _, g := range cli.FlagGroups(c) {
			line(".SS %s", g.Title)
			for usage := range strings.Lines(g.Flags.FlagUsages()) {
				m := cli.ListItem.FindStringSubmatch(strings.TrimRight(usage, "\n"))
				line(".TP\n.B %s\n%s", troff(strings.TrimSpace(m[1])), troff(m[2]))
			}
		}
	}
	if c.HasExample() {
		line(".SH EXAMPLES\n.nf\n%s\n.fi", troffLines(c.Example))
	}
	var also []string
	if c.HasParent() {
		also = append(also, manName(c.Parent()))
	}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() {
			also = append(also, manName(sub))
		}
	}
	if c.Runnable() {
		also = append(also, "darrm-exit-codes")
	}
	line(".SH SEE ALSO")
	for i, name := range also {
		comma := ","
		if i == len(also)-1 {
			comma = ""
		}
		line(".BR %s (1)%s", troff(name), comma)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// troffLines escapes a text that is not filled, line by line.
func troffLines(text string) string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, troff(line))
	}
	return strings.Join(lines, "\n")
}
