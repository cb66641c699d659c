package format

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// The first row decides, and what stands in quotes does not count.
func TestSeparator(t *testing.T) {
	for text, want := range map[string]byte{
		"":                         ',',
		"a":                        ',',
		"a,b\n":                    ',',
		"a;b\n":                    ';',
		"a\tb\n":                   '\t',
		"a;b,c\n":                  ',',
		"a\tb;c\n":                 ';',
		"\"a,b\";c\n":              ';',
		"\"a\n,\"\"b\";c\n":        ';',
		"\ufeffa;b\r\n1,0\n":       ';',
		"a\n1,0\n":                 ',',
		"a\tb":                     '\t',
		strings.Repeat("a", 70000): ',',
	} {
		if got := Separator([]byte(text)); got != want {
			t.Errorf("%.20q: %q, want %q", text, got, want)
		}
		// However the text arrives, nothing of it is lost, and no later row is waited for.
		for _, r := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text)),
			iotest.DataErrReader(strings.NewReader(text))} {
			same, got := PeekSeparator(r)
			if all, err := io.ReadAll(same); byte(got) != want || string(all) != text || err != nil {
				t.Errorf("%.20q: %q, want %q; %.20q, error %v", text, got, want, all, err)
			}
		}
	}
}

// onePiece has one piece of text and must not be asked for more.
type onePiece struct {
	t    *testing.T
	text string
}

func (p *onePiece) Read(b []byte) (n int, err error) {
	if p.text == "" {
		p.t.Error("read beyond the first row")
		return 0, io.EOF
	}
	n = copy(b, p.text)
	p.text = p.text[n:]
	return n, nil
}

// A stream that goes on is read no further than its first row.
func TestPeekSeparatorWaitsForOneRow(t *testing.T) {
	if _, got := PeekSeparator(&onePiece{t, "a;b\n"}); got != ';' {
		t.Errorf("%q", got)
	}
}
