package cli

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/sweep"
)

func anyInt(int) error       { return nil }
func anyFloat(float64) error { return nil }

func TestLists(t *testing.T) {
	tests := []struct {
		text string
		want []float64
	}{
		{"3", []float64{3}},
		{"1:4", []float64{1, 2, 3, 4}},
		{"2:2", []float64{2}},
		{"1:3:0.5", []float64{1, 1.5, 2, 2.5, 3}},
		{"0.5:3", []float64{0.5, 1.5, 2.5}},
		{"1:10:4", []float64{1, 5, 9}},
		{"1:1.9", []float64{1}},
		{"1:3,5", []float64{1, 2, 3, 5}},
		{"5,1:3", []float64{5, 1, 2, 3}}, // as typed, not sorted
		{" 1 , 2 : 3 ", []float64{1, 2, 3}},
		{"0.1:0.3:0.1", []float64{0.1, 0.2, 0.3}},
		{"1e-5:3e-5:1e-5", []float64{1e-5, 2e-5, 3e-5}},
		{"1E2,+4,.5,5.", []float64{100, 4, 0.5, 5}},
		{"-1:1", []float64{-1, 0, 1}},
		// the shortest decimal of its float64, though it has 17 digits
		{"0.30000000000000004", []float64{0.1 + 0.2 + 4e-17}},
		{"1e-300,1e300", []float64{1e-300, 1e300}},
		{"1e0000001", []float64{10}},
	}
	for _, tt := range tests {
		got, err := FloatList(anyFloat)(tt.text)
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%q: %v, %v, want %v", tt.text, got, err, tt.want)
		}
	}
}

func TestListErrors(t *testing.T) {
	const float, integer, affected, epsilon = "float", "int", "affected", "eps"
	tests := []struct{ kind, text, want string }{
		{float, "", `"", but it must be a decimal number`},
		{float, "1,,2", `"", but it must be a decimal number`},
		{float, "1,", `"", but`},
		{float, "x", `"x", but`},
		{float, "NaN", `"NaN", but`},
		{float, "Inf", `"Inf", but`},
		{float, "1/3", `"1/3", but`},
		{float, "0x1p-2", `"0x1p-2", but`},
		{float, "1_0", `"1_0", but`},
		{float, ".", `".", but`},
		{float, "1e", `"1e", but`},
		// no number with ten thousand digits is made
		{float, "1e9999", `"1e9999", but`},
		{float, strings.Repeat("1", 101), `but it must be a decimal`}, // nor one that is written out
		{float, "1:2:3:4", `"1:2:3:4", but a range must be first:last or first:last:step`},
		{float, "1:", `"", but`},
		{float, ":3", `"", but`},
		{float, "1:2:", `"", but`},
		{float, "3:1", `range "3:1" ends before it begins`},
		{float, "1:2:0", `step 0 of range "1:2:0", but it must be > 0`},
		{float, "2:1:-1", `step -1 of range "2:1:-1", but it must be > 0`},
		{float, "0:1:1e-5", `range "0:1:1e-5" has more than 100000 values`},
		{float, "1:1e300:1e-300", `has more than 100000 values`},
		{float, "1:99999,1:99999", `the list has more than 100000 values`},
		{float, "0.10000000000000000001",
			"0.10000000000000000001, but it must be a decimal that a float64 keeps"},
		{float, "1e-999", "but it must be a decimal that a float64 keeps"}, // not 0
		{float, "1e999", "but it must be a decimal that a float64 keeps"},
		{float, "0:1:0.123456789012345678",
			"0.123456789012345678, but it must be a decimal that a float64 keeps"},
		{integer, "1.5", "1.5, but it must be a whole number"},
		{integer, "1:3:0.5", "1.5, but it must be a whole number"},
		{integer, "1e30", "but it must be smaller"},
		{integer, "all", `"all", but`},
		{affected, "every", `"every", but`},
		{affected, "1:all", `"all", but`},
		{epsilon, "1:inf", `"inf", but it must be a decimal number`},
		{epsilon, "Inf", `"Inf", but`},
		{epsilon, "-inf", `"-inf", but`},
	}
	for _, tt := range tests {
		var err error
		switch tt.kind {
		case float:
			_, err = FloatList(anyFloat)(tt.text)
		case integer:
			_, err = IntList(anyInt)(tt.text)
		case epsilon:
			_, err = EpsilonList(anyFloat)(tt.text)
		default:
			_, err = AffectedList(anyInt)(tt.text)
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %.40q: %v, want %q", tt.kind, tt.text, err, tt.want)
		}
	}
	rule := errors.New("the rule")
	if _, err := IntList(func(n int) error {
		if n == 3 {
			return rule
		}
		return nil
	})("1:4"); !errors.Is(err, rule) {
		t.Errorf("a value of a range that breaks the rule: %v", err)
	}
	if got, err := FloatList(anyFloat)("1:100000"); len(got) != sweep.MaxPoints || err != nil {
		t.Errorf("the longest list has %d values, %v", len(got), err)
	}
	if got, err := EpsilonList(anyFloat)("0.1,inf"); !slices.Equal(got, []float64{0.1, math.Inf(1)}) ||
		err != nil {
		t.Errorf("eps: %v, %v", got, err)
	}
	if got, err := AffectedList(anyInt)("1,all,3:4"); !slices.Equal(got, []int{1, sweep.All, 3, 4}) ||
		err != nil {
		t.Errorf("affected: %v, %v", got, err)
	}
}

// A range has the numbers that integers scaled by a power of ten give, written as
// decimals and read by strconv.
func TestRangesStepExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		digits := rapid.IntRange(0, 9).Draw(t, "digits")
		first := rapid.IntRange(0, 1e6).Draw(t, "first")
		step := rapid.IntRange(1, 1e5).Draw(t, "step")
		n := rapid.IntRange(1, 50).Draw(t, "n")
		beyond := rapid.IntRange(0, step-1).Draw(t, "beyond")
		write := func(x int) string {
			s := fmt.Sprintf("%0*d", digits+1, x)
			return s[:len(s)-digits] + "." + s[len(s)-digits:]
		}
		text := fmt.Sprintf("%s:%s:%s", write(first), write(first+(n-1)*step+beyond), write(step))
		got, err := FloatList(anyFloat)(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		var want []float64
		for i := range n {
			x, err := strconv.ParseFloat(write(first+i*step), 64)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, x)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%s: %v, want %v", text, got, want)
		}
	})
}

// Whatever parses is a list of finite numbers, keeps the rule, and says the same
// when it is written out. A single number is never rounded.
func FuzzLists(f *testing.F) {
	for _, s := range []string{"1", "1:3", "1:3:0.5,7", "0.1:0.3:0.1", "all", "1e-5", "1:2:0", "1e400",
		"-0", "1:1e9", "0.1000000000000000055511151231257827", " 1 ,2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		notNegative := func(x float64) error { return check.Epsilon("x", x) }
		if got, err := FloatList(notNegative)(text); err == nil {
			if len(got) == 0 || len(got) > sweep.MaxPoints {
				t.Fatalf("%q: %d values", text, len(got))
			}
			var again []string
			for _, x := range got {
				if !(x >= 0) || math.IsInf(x, 0) {
					t.Fatalf("%q: %v", text, x)
				}
				again = append(again, num.Shortest(x))
			}
			if back, err := FloatList(notNegative)(strings.Join(again, ",")); err != nil ||
				!slices.Equal(back, got) {
				t.Fatalf("%q: %v, written out %v, %v", text, got, back, err)
			}
			if !strings.ContainsAny(text, ",:") {
				exact, ok := new(big.Rat).SetString(strings.TrimSpace(text))
				if kept, _ := new(big.Rat).SetString(again[0]); !ok || exact.Cmp(kept) != 0 {
					t.Fatalf("%q became %s", text, again[0])
				}
			}
		}
		for kind, parse := range map[string]func(string) ([]int, error){"K": IntList(check.Teachers),
			"affected": AffectedList(anyInt)} {
			got, err := parse(text)
			if err != nil {
				continue
			}
			for _, n := range got {
				if kind == "K" && check.Teachers(n) != nil {
					t.Fatalf("%q: K = %d", text, n)
				}
			}
		}
	})
}

// Repeated flags add up; the first one replaces the default.
func TestListFlag(t *testing.T) {
	l := NewList("1:2", IntList(anyInt))
	if !slices.Equal(l.Values, []int{1, 2}) || l.String() != "1:2" {
		t.Errorf("default: %v, %q", l.Values, l.String())
	}
	for _, s := range []string{"5", "7:8"} {
		if err := l.Set(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Set("x"); err == nil {
		t.Error("x was taken")
	}
	if !slices.Equal(l.Values, []int{5, 7, 8}) || l.String() != "5,7:8" {
		t.Errorf("%v, %q", l.Values, l.String())
	}
}
