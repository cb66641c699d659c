package terminal

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

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
