package format

import "strings"

// missing are the spellings of a missing value, in small letters. It is the one table for all
// formats of votes and of tables to learn from. Votes and truth have -1 besides.
var missing = []string{"", "?", "na", "n/a", "nan", "-nan", "nat", "null", "none", "<na>", "#n/a", "#na"}

// longestMissing is the length of the longest of them.
const longestMissing = 4

// IsMissing reports whether text stands for a missing value, in any case and with blanks around it.
func IsMissing(text string) bool {
	text = strings.TrimSpace(text)
	if len(text) > longestMissing {
		return false
	}
	for _, m := range missing {
		if strings.EqualFold(text, m) {
			return true
		}
	}
	return false
}
