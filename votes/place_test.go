package votes

import (
	"regexp"
	"strings"
	"testing"
)

// A pattern means what the regular expression does that has .* for each *.
func FuzzMatches(f *testing.F) {
	for _, c := range [][2]string{{"site_01", "site_*"}, {"a", "a*a"}, {"aa", "a*a"}, {"aba", "*b*"}, {"", "*"},
		{"a.b", "a.*"}, {"axb", "a.*"}, {"abcab", "ab*c*ab"}, {"abab", "ab*ab*ab"}, {"a\nb", "a*b"}, {"ab", "**"}} {
		f.Add(c[0], c[1])
	}
	f.Fuzz(func(t *testing.T, name, pattern string) {
		parts := strings.Split(pattern, "*")
		if len(parts) < 2 {
			return
		}
		quoted := make([]string, len(parts))
		for i, part := range parts {
			quoted[i] = regexp.QuoteMeta(part)
		}
		// A regular expression reads text, where a byte that is none is U+FFFD.
		expression, err := regexp.Compile(`(?s)\A` + strings.Join(quoted, ".*") + `\z`)
		if err != nil || strings.ToValidUTF8(name, "") != name || strings.ToValidUTF8(pattern, "") != pattern {
			return
		}
		if got, want := matches(name, parts), expression.MatchString(name); got != want {
			t.Errorf("matches(%q, %q) = %v, want %v", name, pattern, got, want)
		}
	})
}
