package votes

import (
	"bytes"
	"fmt"
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
	separator, length := separatorLine(ch.data)
	if length == 0 {
		return ch, nil
	}
	d.stated, d.comma = true, separator
	d.told = append(d.told, fmt.Sprintf("cells are separated by %q, as the first line says", separator))
	d.lines.unread(ch, length)
	return d.lines.next()
}

// oneColumnRule returns the rule that a file breaks whose rows are one cell each, with something
// between what may be cells: a sign or blanks, as many in each row. "" where that is not so, or
// where the second row is a vote as it stands.
func (r *rowReader) oneColumnRule(first string) string {
	rows := r.rows(r.ch)
	var cells []string
	for len(cells) < sampled {
		row, err := rows.read()
		if err != nil || len(row) != 1 {
			break
		}
		cells = append(cells, row[0])
	}
	if len(cells) < 2 || r.classes.of(cells[1]) >= 0 || r.classes.isMissingText(cells[1]) {
		return ""
	}
	for _, s := range []struct{ between, name string }{{"|", "'|'"}, {" ", "blanks"}, {":", "':'"}} {
		parts := func(text string) int {
			if s.between == " " {
				return len(strings.Fields(text))
			}
			return strings.Count(text, s.between) + 1
		}
		n, same := parts(first), true
		for _, text := range cells {
			same = same && parts(text) == n
		}
		if n > 1 && same {
			return fmt.Sprintf("one column only; are cells separated by %s? Write commas, semicolons or tabs "+
				"between them", s.name)
		}
	}
	return ""
}
