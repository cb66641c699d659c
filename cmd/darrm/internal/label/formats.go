package label

import (
	"strings"

	"github.com/darrm/darrm/votes"
)

// formats returns the formats in which votes are read, or labels are written.
func formats(labels bool) (list []votes.Format) {
	for _, f := range votes.Formats() {
		if f.Labels || !labels {
			list = append(list, f.Name)
		}
	}
	return list
}

// formatsSentence lists the formats of files of votes for a command's help.
func formatsSentence() string {
	var titles []string
	for _, f := range votes.Formats() {
		titles = append(titles, f.Title)
	}
	return "Files are " + enumerate(titles, "or") + ", plain or compressed; arrays need --layout."
}

// enumerate joins two or more words as a sentence does: "a, b or c".
func enumerate(words []string, or string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " " + or + " " + words[last]
}
