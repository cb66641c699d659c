// Package terminal lays text and tables out within the width of a terminal. Nothing else
// here knows how wide one is.
package terminal

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/olekukonko/tablewriter/pkg/twwidth"
	"golang.org/x/term"
)

const (
	// Standard is the width where nobody says: in a pipe, or a file.
	Standard = 80
	// least is the width below which nothing can be laid out; what is narrower counts as it.
	least = 40
	// Prose is the width up to which running text reads well. Tables may be wider.
	Prose = 100
)

// Width returns the number of columns for text written to w: $COLUMNS, or else the width of the
// terminal that w is, or else [Standard].
func Width(w io.Writer) int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return max(n, least)
	}
	if f, isFile := w.(*os.File); isFile {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return max(n, least)
		}
	}
	return Standard
}

// Is reports whether w is a terminal.
func Is(w io.Writer) bool {
	f, isFile := w.(*os.File)
	return isFile && term.IsTerminal(int(f.Fd()))
}

// Cut shortens a text to width columns, for a line that is written over and over.
func Cut(text string, width int) string {
	if twwidth.Width(text) <= width {
		return text
	}
	return twwidth.Truncate(text, width-1) + "…"
}

// Page writes text of at most Width columns. Its methods report no errors of writing: the writer
// keeps them, as a buffer or a [bufio.Writer] does.
type Page struct {
	io.Writer
	Width int
}

// Prose is the width of running text.
func (p *Page) Prose() int { return min(p.Width, Prose) }

// Printf writes as it is what cannot be broken.
func (p *Page) Printf(format string, args ...any) { fmt.Fprintf(p, format, args...) }

// Text writes a paragraph; the lines after the first begin with indent.
func (p *Page) Text(indent, text string) { p.Hang("", indent, text) }

// Hang writes a paragraph, its first line after first and the others after rest.
func (p *Page) Hang(first, rest, text string) {
	fmt.Fprintln(p, Hang(p.Prose(), first, rest, text))
}

// titleWidth is the column at which the text of a Fact begins.
const titleWidth = 12

// Fact writes a title and, beside it, a text.
func (p *Page) Fact(title, text string) {
	p.Hang(fmt.Sprintf("%-*s", titleWidth, title), strings.Repeat(" ", titleWidth), text)
}

// Hang breaks text into lines of at most width columns, the first after first, the others
// after rest.
func Hang(width int, first, rest, text string) string {
	return first + strings.Join(fold(text, width-twwidth.Width(first), width-twwidth.Width(rest)),
		"\n"+rest)
}

// Fold breaks text at spaces into lines of at most width columns. A longer word has a line of
// its own: a number or a path that is cut is another one.
func Fold(text string, width int) []string { return fold(text, width, width) }

// together matches text that is not broken although it has spaces: a pair (ε, δ), an equation, a
// number with its unit.
var together = regexp.MustCompile(`\([^\s(),]+, [^\s(),]+\)\S*|\S+ [=≤≥±] \S+|\d %`)

// hyphen matches a hyphen within a name.
var hyphen = regexp.MustCompile(`([a-z])-([a-z])`)

// foldHeader is Fold for the header of a column, which may be broken behind a hyphen too.
func foldHeader(text string, width int) []string {
	const here = "\x01" // behind a hyphen, before a space that is none
	lines := Fold(hyphen.ReplaceAllString(text, "$1-"+here+" $2"), width)
	for i, line := range lines {
		lines[i] = strings.ReplaceAll(strings.ReplaceAll(line, here+" ", ""), here, "")
	}
	return lines
}

// fold is Fold where the first line has another width than the rest.
func fold(text string, first, rest int) (lines []string) {
	const space = "\x00" // no break
	text = together.ReplaceAllStringFunc(strings.Join(strings.Fields(text), " "),
		func(s string) string {
			if twwidth.Width(s) > rest {
				return s
			}
			return strings.ReplaceAll(s, " ", space)
		})
	line, width := "", first
	for i, word := range strings.Fields(text) {
		word = strings.ReplaceAll(word, space, " ")
		switch {
		case i == 0:
			line = word
		case twwidth.Width(line)+1+twwidth.Width(word) <= width:
			line += " " + word
		default:
			lines = append(lines, line)
			line, width = word, rest
		}
	}
	return append(lines, line)
}

// Printable writes what a terminal would obey, or show in another place, as an escape:
// names of files and columns can hold anything. The result is one line.
func Printable(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		c, size := utf8.DecodeRuneInString(s)
		if strconv.IsPrint(c) && (c != utf8.RuneError || size > 1) {
			b.WriteString(s[:size])
		} else {
			quoted := strconv.Quote(s[:size])
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		s = s[size:]
	}
	return b.String()
}
