package cli

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/release/exitcode"
)

// shortExamples is the number of examples in the short help of a command.
const shortExamples = 3

// writeHelp writes a command's help: usage and examples, then the description, then the flags. The
// short help of a command with First has its first examples, paragraph and flags, and the names of
// the others; all has everything.
func writeHelp(w *terminal.Page, c *cobra.Command, all bool) {
	if !c.Runnable() { // a topic is its text
		w.Printf("%s\n", reflow(c.Long, w.Prose()))
		return
	}
	short := !all && hasFirst(c)
	examples, text := c.Example, c.Long
	if short {
		examples = firstExamples(examples, shortExamples)
		text = firstParagraph(text)
	}
	w.Printf("Usage:\n")
	w.Hang("  ", "      ", c.UseLine())
	if c.HasAvailableSubCommands() {
		w.Printf("  %s [command]\n", c.CommandPath())
	}
	if c.HasExample() {
		w.Printf("\nExamples:\n%s\n", wrapExamples(examples, w.Width))
	}
	w.Printf("\n%s\n", reflow(text, w.Prose()))
	if groups := c.Groups(); len(groups) > 0 {
		for _, g := range groups {
			writeCommands(w, c, g.Title, g.ID)
		}
	} else if c.HasAvailableSubCommands() {
		writeCommands(w, c, "Commands", "")
	}
	groups := FlagGroups(c)
	if !short {
		for _, g := range groups {
			writeFlags(w, g.Title, g.Flags, false)
		}
		w.Printf("\nExit codes: darrm help exit-codes\n")
		return
	}
	writeFlags(w, groups[0].Title, groups[0].Flags, true)
	w.Printf("\nMore flags (--help-all explains them, and has more text):\n")
	for _, g := range groups[1:] {
		writeNames(w, g)
	}
	w.Printf("\nExit codes: darrm help exit-codes\n")
}

// firstParagraph returns the first paragraph, with the list that it announces.
func firstParagraph(text string) string {
	first, rest, _ := strings.Cut(text, "\n\n")
	if strings.HasSuffix(first, ":") {
		list, _, _ := strings.Cut(rest, "\n\n")
		return first + "\n\n" + list
	}
	return first
}

// firstExamples returns the first n commands of examples, in which "\\" continues a line.
func firstExamples(examples string, n int) string {
	lines := strings.Split(examples, "\n")
	for i, line := range lines {
		if strings.HasSuffix(line, "\\") {
			continue
		}
		if n--; n == 0 {
			return strings.Join(lines[:i+1], "\n")
		}
	}
	return examples
}

// writeCommands lists the commands of a group under its title.
func writeCommands(w *terminal.Page, c *cobra.Command, title, group string) {
	w.Printf("\n%s:\n", title)
	for _, sub := range c.Commands() {
		if sub.GroupID == group && sub.IsAvailableCommand() {
			w.Hang(fmt.Sprintf("  %-*s ", sub.NamePadding(), sub.Name()),
				strings.Repeat(" ", 3+sub.NamePadding()), sub.Short)
		}
	}
}

// sentenceEnd matches what follows the first sentence of a flag's explanation, but its default.
var sentenceEnd = regexp.MustCompile(`\. \p{Lu}.*?( \(default [^()]*\))?$`)

// writeFlags writes a group of flags, each beside its explanation or, where there is little
// room, above it. Where brief is true the explanations are their first sentences.
func writeFlags(w *terminal.Page, title string, flags *pflag.FlagSet, brief bool) {
	if !flags.HasAvailableFlags() {
		return
	}
	w.Printf("\n%s:\n", title)
	for line := range strings.Lines(flags.FlagUsages()) {
		m := ListItem.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if brief {
			m[2] = sentenceEnd.ReplaceAllString(m[2], "$1")
		}
		rest := strings.Repeat(" ", utf8.RuneCountInString(m[1]))
		const room, indent = 40, "          "
		if w.Prose()-len(rest) < room {
			w.Printf("%s\n", strings.TrimRight(m[1], " "))
			m[1], rest = indent, indent
		}
		w.Hang(m[1], rest, m[2])
	}
}

// writeNames writes the names of a group of flags.
func writeNames(w *terminal.Page, g NamedFlags) {
	var names []string
	g.Flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, "--"+f.Name)
		}
	})
	w.Hang(fmt.Sprintf("  %-9s ", strings.TrimSuffix(g.Title, " flags")), "            ",
		strings.Join(names, " "))
}

// flagValue is a flag with its value, which stay on one line.
var flagValue = regexp.MustCompile(`(\s--?[\w-]+) ([^-\s])`)

// wrapExamples breaks long commands by "\", so that a shell reads them as one line.
func wrapExamples(text string, width int) string {
	var lines []string
	for command := range strings.SplitSeq(strings.ReplaceAll(text, "\\\n", " "), "\n") {
		const space = "␠" // no break
		command = flagValue.ReplaceAllString(command, "$1"+space+"$2")
		command = strings.Join(terminal.Fold(command, width-6), " \\\n    ")
		lines = append(lines, "  "+strings.ReplaceAll(command, space, " "))
	}
	return strings.Join(lines, "\n")
}

// ListItem matches a line of a list: a term, two spaces or more, and its explanation.
var ListItem = regexp.MustCompile(`^( +\S.*?  +)(\S.*)$`)

// Block is a paragraph (an empty one is a blank line), or an item of a list.
type Block struct {
	Indent int
	Term   string // of an item, "" for none
	Text   string
	Line   bool // it is a line of its own, such as one of a file, with its spaces
}

// BlocksOf splits a text into blocks. An indented line begins an item of a list; lines that are
// indented as far as its explanation continue the item.
func BlocksOf(text string) (blocks []Block) {
	open, hanging := false, 0 // whether a block is under way, and where an item goes on
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		words := strings.TrimLeft(line, " ")
		indent := len(line) - len(words)
		switch {
		case line == "":
			blocks = append(blocks, Block{})
			open = false
			continue
		case open && indent == hanging:
			blocks[len(blocks)-1].Text += " " + words
			continue
		}
		b := Block{Indent: indent, Text: words}
		open, hanging = true, indent
		if m := ListItem.FindStringSubmatch(line); m != nil && !strings.HasPrefix(m[2], "#") {
			b.Term, b.Text = strings.TrimLeft(m[1], " "), m[2]
			hanging = utf8.RuneCountInString(m[1])
		} else if indent > 0 {
			b.Line, open = true, false
		}
		blocks = append(blocks, b)
	}
	return blocks
}

// reflow breaks paragraphs and lists anew.
func reflow(text string, width int) string {
	var lines []string
	for _, b := range BlocksOf(text) {
		if b.Line && b.Indent+utf8.RuneCountInString(b.Text) <= width {
			lines = append(lines, strings.Repeat(" ", b.Indent)+b.Text)
			continue
		}
		first := strings.Repeat(" ", b.Indent) + b.Term
		lines = append(lines,
			strings.TrimRight(terminal.Hang(width, first, strings.Repeat(" ", utf8.RuneCountInString(first)),
				b.Text), " "))
	}
	return strings.Join(lines, "\n")
}

// newHelp makes the command help, for commands and topics.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [command]",
		Short: "Show the help of a command, or a topic",
		Long:  `Show the help of a command, or a topic: "exit-codes".`,
		Args:  cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			of, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return Usagef("no help on %q: it is neither a command nor a topic (see darrm --help)",
					strings.Join(args, " "))
			}
			of.InitDefaultHelpFlag()
			return of.Help()
		},
	}
}

// newExitCodes makes the help topic of exit codes, which does not run.
func newExitCodes() *cobra.Command {
	return &cobra.Command{Use: "exit-codes", Short: "How commands end", Long: exitcode.Status}
}
