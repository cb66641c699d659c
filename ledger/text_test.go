package ledger

import "testing"

// Text in which every character is escaped, or outside ASCII, is what it was when it was charged.
func TestTextOfEscapesAlone(t *testing.T) {
	for _, id := range []string{`\`, `\\`, "é", "é\\ü"} {
		l := create(t, 10, 0)
		r := plainRequest(0)
		r.ID = id
		mustCharge(t, l, r)
		again, err := Open(t.Context(), l.Path())
		if err != nil {
			t.Errorf("%q: %v", id, err)
			continue
		}
		history, err := again.History(t.Context())
		if err != nil || len(history) != 1 || history[0].ID != id {
			t.Errorf("%q: %+v, %v", id, history, err)
		}
	}
}

// The scheme of a location is that of a URL, of whatever case; all else is a path.
func TestSchemeOf(t *testing.T) {
	for location, want := range map[string]string{
		"postgres://h/d": "postgres", "PostgreS://h": "postgres", "z://h": "z", "A://h": "a",
		"a9+-.z://h": "a9+-.z", "9a://h": "", "+a://h": "", "a_b://h": "", "[a://h": "", "{://h": "",
		"@a://h": "", "`a://h": "", "://h": "", "a:/h": "", "./a://h": "", "a": "", "": "",
	} {
		if got := schemeOf(location); got != want || IsFile(location) != (want == "") {
			t.Errorf("%q: %q, want %q", location, got, want)
		}
	}
}

// What is written out of a cost is exact, and the same in all forms.
func TestCostIsWrittenExactly(t *testing.T) {
	c := mustCost(t, 0.13577, 1e-5)
	epsilon, delta := c.Decimals()
	if epsilon != "0.13577" || delta != "1e-5" || c.String() != "("+epsilon+", "+delta+")" {
		t.Errorf("%s, %s, %v", epsilon, delta, c)
	}
}
