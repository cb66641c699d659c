package cli

import (
	"slices"
	"testing"

	"github.com/spf13/cobra"
)

// The one command that is named is made, also behind flags that take no value. All are made where
// none is named, or one that is about all.
func TestNeeded(t *testing.T) {
	made := func(*App) *cobra.Command { return nil }
	groups := []Group{{"g", "G", []Command{{"a", made, false}, {"b", made, false}}},
		{"h", "H", []Command{{"man", made, true}}}}
	all := []string{"a", "b", "man"}
	for _, c := range []struct{ args, want []string }{
		{[]string{"a"}, []string{"a"}},
		{[]string{"b", "a"}, []string{"b"}},
		{[]string{"--json", "-q", "b", "x"}, []string{"b"}},
		{[]string{"man"}, all}, {[]string{"help", "a"}, all}, {[]string{"c"}, all}, {nil, all},
		{[]string{"--json"}, all}, {[]string{"--progress", "json", "a"}, all},
		{[]string{"__complete", "a"}, all}, {[]string{"__complete", "a", ""}, []string{"a"}},
		{[]string{"__complete", "--m", "a"}, all}, {[]string{"__completeNoDesc", "man", ""}, all},
	} {
		var got []string
		for _, g := range Needed(groups, c.args) {
			for _, command := range g.Commands {
				got = append(got, command.Name)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.args, got, c.want)
		}
	}
}
