package terminal

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/pkg/twwidth"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// TextTable has words to the left and numbers to the right.
type TextTable struct {
	Header []string
	Rows   [][]string
	Footer []string // nil for none; lines of a cell are separated by "\n"
	// Keys is the number of columns that identify a row: they are repeated where the table is cut
	// into several. Defaults to 1.
	Keys int
}

const (
	headerWidth = 12 // where headers are broken into lines, unless the column is wider anyway
	textWidth   = 16 // below which texts are not made narrower while there is another way
	padding     = 2  // around a cell
	indent      = "  "
)

// Table writes a table without the columns, but the keys, that are empty or "-" in all rows and in
// the footer. Where it is too wide, its texts are broken at spaces. Where it still
// is, its columns stand in several tables, one below the other, each of which begins with the
// key columns. Numbers are never cut.
func (p *Page) Table(t TextTable) error {
	var columns []column
	for i := range t.Header {
		if i < max(1, t.Keys) || !t.empty(i) {
			columns = append(columns, t.column(i))
		}
	}
	for i, part := range parts(columns, t.Keys, p.Width) {
		if i > 0 {
			fmt.Fprintln(p)
		}
		if err := p.render(t, part); err != nil {
			return err
		}
	}
	return nil
}

// empty reports whether no cell of a column says anything. A table without rows is not empty.
func (t TextTable) empty(i int) bool {
	if t.Footer != nil && strings.Trim(t.Footer[i], "-") != "" {
		return false
	}
	for _, row := range t.Rows {
		if strings.Trim(row[i], "-") != "" {
			return false
		}
	}
	return len(t.Rows) > 0
}

// column holds the measures of a column of a table.
type column struct {
	index   int
	width   int // of its cells
	least   int // at which neither a number nor a word is cut
	numeric bool
}

// readable is the least width at which texts read well. Of a column of numbers only the header is
// broken.
func (c column) readable() int {
	if c.numeric {
		return c.least
	}
	return max(c.least, min(c.width, textWidth))
}

func (t TextTable) column(i int) column {
	c := column{index: i}
	for _, row := range t.Rows {
		c.width = max(c.width, twwidth.Width(row[i]))
		c.least = max(c.least, widest(Fold(row[i], 1)))
		c.numeric = c.numeric || i > 0 && looksNumeric(row[i])
	}
	if t.Footer != nil {
		foot := widest(strings.Split(t.Footer[i], "\n"))
		c.width, c.least = max(c.width, foot), max(c.least, foot)
	}
	switch {
	case c.numeric:
		c.least = c.width
	case i == 0:
		c.least = min(c.width, c.least+len(indent))
	}
	c.least = max(c.least, widest(foldHeader(t.Header[i], 1)))
	c.width = max(c.width, widest(foldHeader(t.Header[i], max(c.width, headerWidth))))
	return c
}

func widest(lines []string) (n int) {
	for _, line := range lines {
		n = max(n, twwidth.Width(line))
	}
	return n
}

// looksNumeric reports whether a cell is a number, which a unit may follow.
func looksNumeric(cell string) bool {
	number, unit, _ := strings.Cut(strings.ReplaceAll(cell, ",", ""), " ")
	_, err := strconv.ParseFloat(number, 64)
	return err == nil && !strings.Contains(unit, " ")
}

// parts deals the columns out to tables of at most width columns, and gives them their widths.
func parts(columns []column, keys, width int) (out [][]column) {
	if narrow(columns, width, column.readable) {
		return [][]column{columns}
	}
	need := func(c column) int { return c.readable() + padding }
	// Keys that leave too little room for the rest are not repeated, but for the first.
	room, head := width-need(columns[0]), columns[:1]
	for i := 1; i < keys && room-need(columns[i]) > width/2; i++ {
		room, head = room-need(columns[i]), columns[:i+1]
	}
	part, left := slices.Clone(head), room
	for _, c := range columns[len(head):] {
		if need(c) > left && len(part) > len(head) {
			out, part, left = append(out, part), slices.Clone(head), room
		}
		part, left = append(part, c), left-need(c)
	}
	out = append(out, part)
	for _, part := range out {
		if !narrow(part, width, column.readable) {
			narrow(part, width, func(c column) int { return c.least })
		}
	}
	return out
}

// narrow makes the widest columns narrower, down to their floors, until all fit. It reports whether
// they can, and leaves them alone if not.
func narrow(columns []column, width int, floor func(column) int) bool {
	floors := make([]int, len(columns)) // of the widths that they have now
	total, least := 0, 0
	for i, c := range columns {
		floors[i] = floor(c)
		total, least = total+c.width+padding, least+floors[i]+padding
	}
	if least > width {
		return false
	}
	for ; total > width; total-- {
		best := -1
		for i, c := range columns {
			if c.width > floors[i] && (best < 0 || c.width > columns[best].width) {
				best = i
			}
		}
		columns[best].width--
	}
	return true
}

// render writes the columns as one table.
func (p *Page) render(t TextTable, columns []column) error {
	align := make(tw.Alignment, len(columns))
	for i, c := range columns {
		if align[i] = tw.AlignLeft; c.numeric {
			align[i] = tw.AlignRight
		}
	}
	cells := func(row []string, fold func(c column, cell string) string) []string {
		out := make([]string, len(columns))
		for i, c := range columns {
			out[i] = fold(c, row[c.index])
		}
		return out
	}
	broken := func(c column, cell string) string { return strings.Join(Fold(cell, c.width), "\n") }
	begins := func(c column, cell string) string {
		if c.index > 0 {
			return broken(c, cell)
		}
		return Hang(c.width, "", indent, cell) // so that one sees where a row begins
	}
	asIs := func(_ column, cell string) string { return cell }

	var b bytes.Buffer
	w := tablewriter.NewTable(&b,
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders: tw.BorderNone,
			Symbols: tw.NewSymbols(tw.StyleLight),
			Settings: tw.Settings{
				Separators: tw.Separators{BetweenColumns: tw.Off, BetweenRows: tw.Off, ShowHeader: tw.On,
					ShowFooter: tw.On},
				Lines: tw.Lines{ShowHeaderLine: tw.On, ShowFooterLine: tw.On},
			},
		})),
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithFooterAutoFormat(tw.Off),
		tablewriter.WithHeaderAutoWrap(tw.WrapNone),
		tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithFooterAutoWrap(tw.WrapNone),
		tablewriter.WithAlignment(align),
		tablewriter.WithHeaderAlignmentConfig(tw.CellAlignment{PerColumn: align}),
		tablewriter.WithFooterAlignmentConfig(tw.CellAlignment{PerColumn: align}),
	)
	w.Header(cells(t.Header, func(c column, cell string) string {
		return strings.Join(foldHeader(cell, c.width), "\n")
	}))
	for _, row := range t.Rows {
		if err := w.Append(cells(row, begins)); err != nil {
			return err
		}
	}
	if t.Footer != nil {
		w.Footer(cells(t.Footer, asIs))
	}
	if err := w.Render(); err != nil {
		return err
	}
	for line := range strings.Lines(b.String()) {
		fmt.Fprintln(p, strings.TrimRight(line, " \n"))
	}
	return nil
}
