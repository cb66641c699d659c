package problem

import (
	"testing"

	"github.com/spf13/cobra"
)

// A record may reach all teachers unless a flag says how many.
func TestReachIsAllUnlessStated(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want int
		said bool
	}{
		{nil, 7, false}, {[]string{"--affected", "2"}, 2, true}, {[]string{"--data", "disjoint"}, 1, true},
		{[]string{"--data", "overlapping"}, 7, true},
	} {
		var f Flags
		c := &cobra.Command{Use: "x", RunE: func(*cobra.Command, []string) error { return nil }}
		f.RegisterReach(c)
		c.SetArgs(tt.args)
		if err := c.Execute(); err != nil {
			t.Fatal(tt.args, err)
		}
		if reach, said, err := f.Reach(c, 7); reach != tt.want || said != tt.said || err != nil {
			t.Errorf("%q: a record reaches %d of 7 teachers, stated %t, %v", tt.args, reach, said, err)
		}
	}
}
