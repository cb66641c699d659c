package main

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpWidth is the width of help in columns.
const helpWidth = 80

// writeHelp writes a command's help: how it is called first, then what it does, then its
// flags.
func writeHelp(w io.Writer, c *cobra.Command) {
	if !c.Runnable() { // a topic is its text
		fmt.Fprintln(w, strings.TrimSpace(c.Long))
		return
	}
	fmt.Fprintf(w, "Usage:\n  %s\n", strings.ReplaceAll(wrap(c.UseLine(), helpWidth-6), "\n", "\n      "))
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(w, "  %s [command]\n", c.CommandPath())
	}
	if c.HasExample() {
		fmt.Fprintf(w, "\nExamples:\n%s\n", wrapExamples(c.Example))
	}
	fmt.Fprintf(w, "\n%s\n", reflow(c.Long))
	if c.HasAvailableSubCommands() {
		fmt.Fprintln(w, "\nCommands:")
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				fmt.Fprintln(w, hang(fmt.Sprintf("  %-*s ", sub.NamePadding(), sub.Name()), sub.Short))
			}
		}
	}
	writeFlags(w, "Flags", c.LocalFlags())
	writeFlags(w, "Global flags", c.InheritedFlags())
	fmt.Fprintln(w, "\nExit codes: darrm help exit-codes")
}

// writeFlags writes a group of flags.
func writeFlags(w io.Writer, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	const slop = 5 // by which pflag's lines may be longer
	fmt.Fprintf(w, "\n%s:\n%s", title, flags.FlagUsagesWrapped(helpWidth-slop))
}

// flagValue is a flag with its value, which stay on one line.
var flagValue = regexp.MustCompile(`(\s--?[\w-]+) ([^-\s])`)

// wrapExamples breaks commands that are too long, as a shell reads them.
func wrapExamples(text string) string {
	var lines []string
	for command := range strings.SplitSeq(strings.ReplaceAll(text, "\\\n", " "), "\n") {
		const space = "\x00" // no break
		command = wrap(flagValue.ReplaceAllString(command, "$1"+space+"$2"), helpWidth-6)
		lines = append(lines, "  "+strings.NewReplacer("\n", " \\\n    ", space, " ").Replace(command))
	}
	return strings.Join(lines, "\n")
}

// listItem is a line of a list: what is explained, two spaces at least, and its explanation.
var listItem = regexp.MustCompile(`^( +\S.*?  +)(\S.*)$`)

// reflow breaks paragraphs and lists anew. An indented line begins an item of a list, which
// goes on in lines that are indented as far as its explanation.
func reflow(text string) string {
	var blocks []string
	first, rest := "", "" // of the block under way: a term, and what follows
	end := func() {
		if first+rest != "" {
			blocks = append(blocks, hang(first, rest))
		}
		first, rest = "", ""
	}
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		switch {
		case line == "":
			end()
			blocks = append(blocks, "")
		case indent == 0 && first == "", strings.TrimSpace(first) != "" && indent == utf8.RuneCountInString(first):
			rest += " " + line
		default:
			end()
			if m := listItem.FindStringSubmatch(line); m != nil {
				first, rest = m[1], m[2]
			} else {
				first, rest = line[:indent], line[indent:]
			}
		}
	}
	end()
	return strings.Join(blocks, "\n")
}

// hang breaks a text behind a first word, and indents the lines that follow as far.
func hang(first, text string) string {
	indent := utf8.RuneCountInString(first)
	return first + strings.ReplaceAll(wrap(text, helpWidth-indent), "\n", "\n"+strings.Repeat(" ", indent))
}

// newHelp is the command help, which knows commands and topics.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [command]",
		Short: "Show the help of a command, or a topic",
		Long:  `Show the help of a command, or a topic: "exit-codes".`,
		Args:  cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			of, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return usagef("no help on %q: it is neither a command nor a topic (see darrm --help)", strings.Join(args, " "))
			}
			of.InitDefaultHelpFlag()
			return of.Help()
		},
	}
}

// newExitCodes is a topic of help, not a command.
func newExitCodes() *cobra.Command {
	return &cobra.Command{Use: "exit-codes", Short: "How commands end", Long: exitStatus}
}
