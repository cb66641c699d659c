package votes

import (
	"slices"
	"strings"
	"testing"
)

// A class has one rank, in whatever order the classes are given.
func TestClassRanks(t *testing.T) {
	for _, tt := range []struct {
		classes []string
		want    []int
	}{
		{nil, []int{0, 1}},
		{[]string{"0", "1"}, []int{0, 1}},
		{[]string{"1", "0"}, []int{1, 0}},
		{[]string{"yes", "no"}, []int{1, 0}},
		{[]string{"b", "c", "a", "B"}, []int{2, 3, 1, 0}},
	} {
		names := tt.classes
		if names == nil {
			names = []string{"0", "1"}
		}
		r, err := Open(t.Context(), Options{Classes: tt.classes,
			Stdin: strings.NewReader("t1,t2\n" + names[0] + "," + names[1] + "\n")}, "-")
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		b, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if got := b.ClassRanks(); !slices.Equal(got, tt.want) {
			t.Errorf("%q: %v, want %v", tt.classes, got, tt.want)
		}
	}
}
