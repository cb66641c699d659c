package votes

import (
	"encoding"
	"fmt"
	"testing"
)

// The lists, from which flags and completion are made, hold what the types read, and their texts are
// what they read.
func TestNamesAreParsed(t *testing.T) {
	check := func(to interface {
		encoding.TextUnmarshaler
		fmt.Stringer
	}, unknown fmt.Stringer, names []string, listed int) {
		if listed != len(names) {
			t.Errorf("%T: %d are listed, want %q", to, listed, names)
		}
		for _, name := range names {
			if err := to.UnmarshalText([]byte(name)); err != nil || to.String() != name {
				t.Errorf("%T of %q: %q, %v", to, name, to, err)
			}
		}
		if err := to.UnmarshalText([]byte("xls")); err == nil || unknown.String() == "" {
			t.Errorf("%T: xls is read, or an unknown value has no text", to)
		}
	}
	check(new(Format), Format("xls"), []string{"auto", "csv", "tsv", "jsonl", "npy", "npz", "parquet"}, len(Formats())+1)
	check(new(Compression), Compression(99), []string{"auto", "none", "gzip", "zstd"}, len(Compressions()))
	check(new(HeaderMode), HeaderMode(-1), []string{"auto", "yes", "no"}, len(HeaderModes()))
	check(new(Layout), Layout(99), []string{"default", "wide", "counts", "long", "teachers"}, len(Layouts()))
	check(new(MissingPolicy), MissingPolicy(99), []string{"error", "coin", "abstain", "no"}, len(MissingPolicies()))
}
