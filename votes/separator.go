package votes

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// separatorLine returns what a first line "sep=;" says is between the cells, as spreadsheets write
// it, and the length of that line; 0 where there is none.
func separatorLine(text []byte) (separator byte, length int) {
	line, _, whole := bytes.Cut(text, newline)
	if !whole {
		return 0, 0
	}
	length = len(line) + 1
	line = bytes.TrimSuffix(line, []byte{'\r'})
	if len(line) != len("sep=;") || !bytes.EqualFold(line[:4], []byte("sep=")) ||
		!strings.ContainsRune(",;\t|:", rune(line[4])) {
		return 0, 0
	}
	return line[4], length
}

// skipSeparatorLine reads the next chunk where ch begins with a line that says what is between the
// cells.
func (d *csvDecoder) skipSeparatorLine(ch chunk) (chunk, error) {
	separator, length := separatorLine(ch.Data)
	if length == 0 {
		return ch, nil
	}
	d.stated, d.comma = true, separator
	d.told = append(d.told, fmt.Sprintf("cells are separated by %q, as the first line says", separator))
	d.lines.Unread(ch, length)
	return d.lines.next()
}

// rowsRule returns the rule that a file breaks whose first row is one cell. Either some later row has
// several: then what is before it is a title, or a comment. Or each row is one cell with something between
// what may be cells: a sign or blanks, as many in each row. "" where neither is so, or where the second
// row is a vote as it stands.
func (r *rowReader) rowsRule() string {
	rows := r.rows(r.ch)
	var cells []string
	for len(cells) < sampled {
		row, err := rows.read()
		if err != nil || len(row) == 0 {
			break
		}
		if len(row) > 1 {
			return fmt.Sprintf("the row has one cell, but that on line %d has %d: are the lines before it a title or "+
				"a comment? Leave them out", rows.cellLine(0), len(row))
		}
		cells = append(cells, row[0])
	}
	if r.comma != ',' || r.stated || len(cells) < 2 || r.classes.of(cells[1]) >= 0 ||
		r.classes.isMissingText(cells[1]) {
		return ""
	}
	for _, s := range []struct{ between, name string }{{"|", "'|'"}, {" ", "blanks"}, {":", "':'"}} {
		n := parts(cells[0], s.between)
		if n > 1 && !slices.ContainsFunc(cells, func(text string) bool { return parts(text, s.between) != n }) {
			return fmt.Sprintf("one column only; are cells separated by %s? Write commas, semicolons or tabs "+
				"between them", s.name)
		}
	}
	return ""
}

// parts returns how many cells a text is, if a separator, or any number of blanks, stands between them.
func parts(text, separator string) int {
	if separator == " " {
		return len(strings.Fields(text))
	}
	return strings.Count(text, separator) + 1
}
