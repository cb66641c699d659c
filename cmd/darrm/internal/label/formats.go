package label

import (
	"fmt"
	"strings"

	"github.com/darrm/darrm/votes"
)

// labelFormats returns the names of the formats in which labels are written.
func labelFormats() []string {
	var names []string
	for _, f := range votes.Formats() {
		if f.Labels {
			names = append(names, string(f.Name))
		}
	}
	return names
}

// formatsSentence lists the formats of files of votes for a command's help.
func formatsSentence() string {
	var titles []string
	for _, f := range votes.Formats() {
		titles = append(titles, f.Title)
	}
	return "Files are " + enumerate(titles, "or") + ", plain or compressed; arrays need --layout."
}

// anyOf lists the values of a flag for its help.
func anyOf(values ...string) string {
	var quoted []string
	for _, v := range values {
		quoted = append(quoted, fmt.Sprintf("%q", v))
	}
	return enumerate(quoted, "or")
}

// enumerate joins two or more words as a sentence does: "a, b or c".
func enumerate(words []string, or string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " " + or + " " + words[last]
}
