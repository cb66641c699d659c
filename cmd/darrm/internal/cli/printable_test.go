package cli

import (
	"bytes"
	"errors"
	"testing"
)

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "Straße 1.csv": "Straße 1.csv", "a\x1b[2Jb": `a\x1b[2Jb`, "\u009b31m": `\u009b31m`,
		"\u202egnp.exe": `\u202egnp.exe`, "\x7f\r\a": `\x7f\r\a`,
		"\xff\xfe": `\xff\xfe`, "\ufffd": "\ufffd", `back\slash "quoted"`: `back\slash "quoted"`,
		"a\ndarrm: paid": `a\ndarrm: paid`, "a\tb": `a\tb`,
	} {
		if got := printable(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestTalkIsPrintable(t *testing.T) {
	var b bytes.Buffer
	a := &App{Err: &b}
	a.Say("\nread %s: %v, %d", "x\x1b[2J\ny.csv", errors.New("no \x1b]0;"), 3)
	if got, want := b.String(), "\nread x\\x1b[2J\\ny.csv: no \\x1b]0;, 3\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
