package program

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// An example of a file stands in a page line by line with its comments, whatever is filled around
// it; a list has its terms.
func TestManKeepsExamplesOfFiles(t *testing.T) {
	c := &cobra.Command{Use: "try", Short: "Try it", Run: func(*cobra.Command, []string) {},
		Long: "A file:\n\n  eps = 0.1                 # their promise\n  delta = 1e-5\n\n  [[client]]\n" +
			"  rate = 5                  # answers a second\n\nA list:\n\n  first   one\n  second  two,\n          and more\n"}
	var b strings.Builder
	if err := writeMan(&b, c, ""); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		".RS\n.nf\neps = 0.1                 # their promise\ndelta = 1e\\-5\n.PP\n[[client]]\n" +
			"rate = 5                  # answers a second\n.PP\n.fi\n.RE\nA list:\n",
		".TP\nfirst\none\n.TP\nsecond\ntwo, and more\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in %s", want, b.String())
		}
	}
	if strings.Count(b.String(), ".nf") != strings.Count(b.String(), ".fi") {
		t.Error(b.String())
	}
}
