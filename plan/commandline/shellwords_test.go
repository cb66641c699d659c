package commandline

import (
	"slices"
	"testing"
)

// A shell splits the printed words into the same arguments again.
func TestShellWords(t *testing.T) {
	got := ShellWords([]string{"darrm", "my votes.csv", "part-*.parquet", "it's", "--eps", "inf", "",
		"$HOME", "a,b"})
	want := []string{"darrm", "'my votes.csv'", "'part-*.parquet'", `'it'\''s'`, "--eps", "inf", "''",
		"'$HOME'", "a,b"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}
