package votes

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// A list has two names or more; a number alone, which could be meant as one name or as that
// many classes, is neither, and what to write is said.
func TestParseClasses(t *testing.T) {
	for list, want := range map[string][]string{"0,1": {"0", "1"}, "dog,cat": {"dog", "cat"},
		"4,2": {"4", "2"}} {
		if got, err := ParseClasses(list); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v, want %q", list, got, err, want)
		}
	}
	for list, want := range map[string]string{
		"4": ", write 0,1,2,3", "20": ",18,19", "21": "up to 20: seq -s, 0 20 prints",
		"1000": "up to 999", "1": "commas", "1001": "commas", "-4": "commas", "cat": "commas",
		"": "commas",
	} {
		names, err := ParseClasses(list)
		if err == nil || names != nil || !strings.Contains(err.Error(), want) || want == "commas" &&
			!strings.HasSuffix(err.Error(), want) {
			t.Errorf("%q: %q, %v, want an error with %q", list, names, err, want)
		}
	}
}

// A whole number is one that a float64 holds beside both its neighbours: 2⁵³+1 is none.
func TestWholeNumbers(t *testing.T) {
	for v, want := range map[float64]bool{
		0: true, -3: true, 1 << 53: true, -(1 << 53): true, 1<<53 + 2: false, -(1<<53 + 2): false,
		1 << 54: false,
		0.5:     false, math.Inf(1): false, math.Inf(-1): false, math.NaN(): false,
	} {
		if n, ok := wholeNumber(v); ok != want || ok && float64(n) != v {
			t.Errorf("%v is %d, %v", v, n, ok)
		}
	}
}

// Ones of three classes would be the second one's votes, which K does not complete.
func TestOnesAreOfTwoClasses(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	(&Batch{K: 2, Classes: 3, Counts: []int{1, 1, 0}, places: make([]int, 1)}).Ones(0)
}

// A vote that is no class is refused with the first eight classes and how many there are.
func TestRuleNamesTheClasses(t *testing.T) {
	for list, want := range map[string]string{
		"cat,dog":           "is not one of the classes \"cat\", \"dog\"",
		"a,b,c,d,e,f,g,h":   "is not one of the classes \"a\", \"b\", \"c\", \"d\", \"e\", \"f\", \"g\", \"h\"",
		"a,b,c,d,e,f,g,h,i": "\"g\", \"h\" … (9 classes)",
	} {
		_, err := ReadCSV(strings.NewReader("t1,t2\ndog,x\n"),
			Options{Format: FormatCSV, Classes: strings.Split(list, ",")})
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v, want … %s", list, err, want)
		}
	}
}
