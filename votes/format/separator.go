package format

import (
	"bufio"
	"io"
	"strings"
)

// Separator returns what stands between the cells of a CSV whose text begins so: a comma where the
// first row has one, else a semicolon, as where the comma is decimal, else a tab. A row that has
// none of them, outside of quotes, is of one cell.
func Separator(text []byte) byte {
	quoted, found := false, byte(0)
	for _, c := range text {
		switch {
		case c == '"':
			quoted = !quoted // a doubled quote changes it twice
		case quoted:
		case c == ',':
			return ','
		case c == ';', c == '\t' && found == 0:
			found = c
		case c == '\n':
			if found != 0 {
				return found
			}
			return ','
		}
	}
	if found != 0 {
		return found
	}
	return ','
}

// PeekSeparator returns the text of r and its [Separator], for which it waits for the first row or
// its first 64 KiB.
func PeekSeparator(r io.Reader) (text io.Reader, separator rune) {
	if r == nil {
		return strings.NewReader(""), ','
	}
	b := bufio.NewReaderSize(r, 1<<16)
	for seen, quoted := 0, false; ; {
		b.Peek(seen + 1) // waits for more; its error is that of a later read
		head, _ := b.Peek(b.Buffered())
		more := len(head) > seen
		for ; seen < len(head); seen++ {
			if head[seen] == '"' {
				quoted = !quoted
			} else if head[seen] == '\n' && !quoted {
				more = false
				break
			}
		}
		if !more {
			return b, rune(Separator(head))
		}
	}
}
