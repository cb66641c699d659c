package votes

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// One vote has one reading in all formats that can hold its spelling, fast and slow. -1 stands for a
// missing vote here, and -2 for one that is refused.
func TestSpellings(t *testing.T) {
	const missing, refused = -1, -2
	composed, decomposed := "d\u00e9faut", "de\u0301faut"
	minus, words := []string{"-1", "1"}, []string{"ok", composed}
	for _, tt := range []struct {
		classes []string
		same    []Spelling
		text    string
		want    int
	}{
		{nil, nil, "1", 1}, {nil, nil, "1.0", 1}, {nil, nil, "1e0", 1}, {nil, nil, "0.0", 0},
		{nil, nil, "-0", 0}, {nil, nil, " 1", 1}, {nil, nil, "1 ", 1},
		{nil, nil, "0.000000000000000000e+00", 0}, {nil, nil, "10e-1", 1},
		{nil, nil, "01", refused}, {nil, nil, "+1", refused}, {nil, nil, "1,0", refused},
		{nil, nil, "1.", refused}, {nil, nil, "1e", refused}, {nil, nil, "1e400", refused},
		{nil, nil, "TRUE", refused}, {nil, nil, "1.5", refused}, {nil, nil, "0x1", refused},
		{nil, nil, "-1", missing}, {nil, nil, "-1.0", missing}, {nil, nil, "nan", missing},
		{nil, nil, "<NA>", missing}, {nil, nil, "#N/A", missing}, {nil, nil, "NaT", missing},
		{nil, nil, "-2", refused}, {nil, nil, "-2.0", refused}, {nil, nil, "-10", refused},
		{nil, nil, "none", missing}, {nil, nil, " ? ", missing}, {nil, nil, "", missing},
		{minus, nil, "-1", 0}, {minus, nil, "-1.0", 0}, {minus, nil, "0", missing},
		{minus, nil, "0.0", missing}, {[]string{"-1", "1", "2"}, nil, "0", refused},
		{[]string{"1", "2"}, nil, "0", refused}, {[]string{"-1", "0", "1"}, nil, "0", 1},
		{[]string{"1.1", "1.10"}, nil, "1.10", 1}, {[]string{"1.1", "1.10"}, nil, "1.1", 0},
		{[]string{"1.0", "2.0"}, nil, "2", 1}, {[]string{"01", "1"}, nil, "1.0", 1},
		{[]string{"01", "1"}, nil, "01", 0}, {[]string{"BW", "NA"}, nil, "NA", 1},
		{[]string{"BW", "NA"}, nil, "na", missing}, {[]string{"BW", "NA"}, nil, "", missing},
		{words, nil, composed, 1}, {words, nil, decomposed, 1}, {words, nil, " " + decomposed, 1},
		{[]string{"ok", decomposed}, nil, composed, 1}, {words, nil, "OK", refused},
		{nil, []Spelling{{"1", "TRUE"}}, "TRUE", 1}, {nil, []Spelling{{"1", "TRUE"}}, "True", refused},
		{nil, []Spelling{{"1", "01"}}, "01", 1}, {nil, []Spelling{{"1", "1,0"}}, "1,0", 1},
		{nil, []Spelling{{"1", "NA"}}, "NA", 1}, {nil, []Spelling{{"1", "-1"}}, "-1.0", 1},
		{nil, []Spelling{{"0", "2"}}, "2", 0}, {nil, []Spelling{{"0", "="}}, "=", 0},
	} {
		quoted, _ := json.Marshal(tt.text)
		files := map[string]struct {
			format Format
			text   string
		}{
			"CSV":        {FormatCSV, fmt.Sprintf("t1,t2\n%q,%q\n", tt.text, tt.text)},
			"JSON Lines": {FormatJSONL, fmt.Sprintf(`{"votes":[%s,%s]}`, quoted, quoted)},
		}
		if !strings.ContainsAny(tt.text, ",=") {
			files["plain CSV"] = struct {
				format Format
				text   string
			}{FormatCSV, fmt.Sprintf("t1,t2\n%s,%s\n", tt.text, tt.text)}
		}
		if json.Valid([]byte(tt.text)) && strings.ContainsAny(tt.text, "0123456789") {
			files["JSON number"] = struct {
				format Format
				text   string
			}{FormatJSONL, fmt.Sprintf(`{"t1":%s,"t2":%s}`, tt.text, tt.text)}
		}
		for name, f := range files {
			for _, slow := range []bool{false, true} {
				r, err := NewReader(t.Context(), strings.NewReader(f.text), Options{Format: f.format,
					Classes: tt.classes, Same: tt.same, Header: HeaderYes, Missing: MissingAbstain, KeepVotes: true,
					slow: slow})
				got := refused
				if err == nil {
					b, err := r.Next()
					if err == nil {
						got = b.Votes[1]
					}
					r.Close()
				}
				if got != tt.want {
					t.Errorf("%s, classes %q, same %v: %q is %d, want %d", name, tt.classes, tt.same, tt.text, got,
						tt.want)
				}
			}
		}
	}
}

func TestSpellingsThatAreRefused(t *testing.T) {
	for _, tt := range []struct {
		classes []string
		same    []Spelling
		want    string
	}{
		{[]string{"0", "1", "1.0"}, nil, `both are "1" in one of its spellings`},
		{[]string{"d\u00e9faut", "de\u0301faut"}, nil, "in one of its spellings"},
		{nil, []Spelling{{"2", "two"}}, `"2" is not one of the classes`},
		{nil, []Spelling{{"1.0", "one"}}, `"1.0" is not one of the classes`},
		{nil, []Spelling{{"1", ""}}, "want a spelling"},
		{nil, []Spelling{{"1", "0"}}, `"0" is a spelling of class "0"`},
		{nil, []Spelling{{"1", "0.0"}}, `"0.0" is a spelling of class "0"`},
		{nil, []Spelling{{"1", "yes"}, {"0", "yes"}}, `"yes" is a spelling of class "1"`},
		{nil, []Spelling{{"1", "yes"}, {"yes", "ja"}}, `"yes" is not one of the classes`},
	} {
		if _, err := newClassList(tt.classes, tt.same); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("classes %q, same %v: %v, want %q", tt.classes, tt.same, err, tt.want)
		}
	}
	if s, err := ParseSpelling("1=a=b"); err != nil || s != (Spelling{"1", "a=b"}) {
		t.Errorf("1=a=b is %v, %v", s, err)
	}
	if _, err := ParseSpelling("1"); err == nil {
		t.Error("1 is taken for CLASS=SPELLING")
	}
}

// The ledger knows votes by the ranks of their classes: equal votes are equal however the classes
// are spelled.
func TestRanksAreOfCanonicalNames(t *testing.T) {
	for _, lists := range [][2][]string{
		{{"2", "10.0", "1"}, {"2.0", "10", "1"}}, {{"e\u0301", "f"}, {"\u00e9", "f"}},
	} {
		a, err := newClassList(lists[0], nil)
		if err != nil {
			t.Fatal(err)
		}
		b, err := newClassList(lists[1], nil)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(a.ranks, b.ranks) {
			t.Errorf("%q has ranks %v, %q %v", lists[0], a.ranks, lists[1], b.ranks)
		}
	}
}

// A boolean is the class of its number, beside every spelling of that number.
func TestBooleansAreTheirNumbers(t *testing.T) {
	for yes, number := range map[bool]string{false: "0", true: "1"} {
		var boolean, text cell
		boolean.setBool(yes)
		text.setText(textCell, number+".0")
		a, _ := spellingOf(&boolean)
		b, _ := spellingOf(&text)
		if a.value != number || b.value != number || a.missing || a.blank {
			t.Errorf("%t is %+v beside %+v", yes, a, b)
		}
	}
}
