package textrows

import (
	"testing"

	"pgregory.net/rapid"
)

func TestTrailingBlankLines(t *testing.T) {
	for text, want := range map[string]int{"": 0, "\n": 1, "\r\n": 2, "\r": 1, "a\n": 0, "a\n\n": 1,
		"a\r\n\r\n": 2, "a\n\r": 1, "a": 0, "\n\n\r\n": 4} {
		if got := TrailingBlank([]byte(text)); got != want {
			t.Errorf("%q: %d bytes, want %d", text, got, want)
		}
	}
}

// Where the last row ends, against a reading from the beginning.
func TestLastRow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOfN(rapid.SampledFrom([]byte("a\"\"\n\n\r")), 0, 20).Draw(t, "data")
		for _, quoted := range []bool{false, true} {
			want, odd := 0, false
			for i, c := range data {
				odd = odd != (quoted && c == '"')
				blank := i == 0 || data[i-1] == '\n' || data[i-1] == '\r' && (i == 1 || data[i-2] == '\n')
				if c == '\n' && !odd && !blank {
					want = i + 1
				}
			}
			if got := LastRow(data, quoted); got != want {
				t.Fatalf("%q, quotes %v: the last row ends at %d, want %d", data, quoted, got, want)
			}
		}
	})
}
