package votes

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/darrm/darrm/internal/check"
)

// A Spelling states that a text is a vote for a class, or for none where Class is "": then it is one
// more spelling of a missing vote, or of an unknown truth.
type Spelling struct{ Class, Text string }

// String returns what [ParseSpelling] reads.
func (s Spelling) String() string { return s.Class + "=" + s.Text }

// ParseSpelling reads CLASS=SPELLING, divided at the first sign of equality.
func ParseSpelling(text string) (Spelling, error) {
	class, spelling, ok := strings.Cut(text, "=")
	if !ok {
		return Spelling{}, check.Want(string(pSame), quote(text), "CLASS=SPELLING, or =SPELLING of a missing vote")
	}
	return Spelling{class, spelling}, nil
}

// canonical returns the text that all spellings of one vote share which are one without a
// statement: without blanks around it, composed (Unicode's NFC), and of a whole number its digits.
// The same votes in other spellings have the same canonical texts in all formats.
func canonical(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return text
	}
	if c := text[0]; c == '-' || '0' <= c && c <= '9' {
		if n, ok := wholeText(text); ok {
			return strconv.FormatInt(n, 10)
		}
		return text
	}
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return norm.NFC.String(text)
		}
	}
	return text
}

// wholeText returns the whole number that a text in the notation of JSON stands for, as 1, -1.0
// and 1e0. Neither 01 nor +1 is in that notation.
func wholeText(text string) (int64, bool) {
	if text == "" || text[0] != '-' && (text[0] < '0' || text[0] > '9') || !json.Valid([]byte(text)) {
		return 0, false
	}
	return decimalInt(text)
}

// spell adds the spellings that are no class's exact name: those that are stated, and the
// canonical text of each.
func (c *classList) spell(same []Spelling) error {
	for i, name := range c.names {
		of := canonical(name)
		if other, ok := c.canonical[of]; ok {
			return check.Wantf("class", quote(name),
				"another class than %s: both are %s in one of its spellings", quote(c.names[other]), quote(of))
		}
		c.canonical[of] = i
	}
	for _, s := range same {
		wrong := func(format string, args ...any) error {
			return check.Namedf("%s %s: %s", pSame, quote(s.String()), fmt.Sprintf(format, args...))
		}
		class, ok := c.byName[s.Class]
		text := strings.TrimSpace(s.Text)
		other, known := c.byName[text]
		if !known {
			other, known = c.canonical[canonical(text)]
		}
		switch {
		case text == "" || len(text) > maxClassBytes || !utf8.ValidString(text):
			return wrong("want a spelling of 1 to %d bytes", maxClassBytes)
		case s.Class != "" && (!ok || class >= len(c.names) || c.names[class] != s.Class):
			return wrong("%s is not one of the classes", quote(s.Class))
		case known && (s.Class == "" || other != class):
			return wrong("%s is a spelling of class %s", quote(text), quote(c.names[other]))
		case s.Class == "":
			c.absent[text], c.absent[canonical(text)] = true, true
			continue
		case c.absent[text] || c.absent[canonical(text)]:
			return wrong("%s is a spelling of a missing vote", quote(text))
		}
		c.byName[text], c.canonical[canonical(text)] = class, class
	}
	for _, spellings := range []map[string]int{c.canonical, c.byName} {
		for text, i := range spellings {
			if len(text) == 1 {
				c.byByte[text[0]] = int16(i)
			}
		}
	}
	for name, i := range c.canonical {
		if v, ok := canonicalInt(name); ok {
			c.byInt[v] = i
			if v >= 0 && v < int64(len(c.small)) {
				c.small[v] = int16(i)
			}
		}
	}
	_, minus := c.byInt[-1]
	_, plus := c.byInt[1]
	_, zero := c.byInt[0]
	c.zeroMissing = minus && plus && !zero && len(c.names) == 2
	return nil
}

// Vocabulary reads votes that stand in no file, by the rules of those that do. It is safe for
// concurrent use.
type Vocabulary struct{ list *classList }

// NewVocabulary returns that of these classes. The error is that of [CheckClasses].
func NewVocabulary(classes []string, same []Spelling) (*Vocabulary, error) {
	list, err := newClassList(classes, same)
	if err != nil {
		return nil, err
	}
	return &Vocabulary{list}, nil
}

// Class returns the class that a text spells, -1 for a missing vote. It is false for a text
// that is neither.
func (v *Vocabulary) Class(text string) (class int, ok bool) {
	if v == nil || v.list == nil {
		return -1, false
	}
	if class = v.list.of(strings.TrimSpace(text)); class < 0 {
		return -1, v.list.isMissingText(text)
	}
	return class, true
}

// isMissing reports whether a cell that names no class stands for a missing vote: by the table of
// package format, by -1, by 0 between the classes -1 and 1, or as stated.
func (c *classList) isMissing(v *cell) bool {
	if v.missing() {
		return true
	}
	if n, ok := v.whole(); c.zeroMissing && ok && n == 0 {
		return true
	}
	if len(c.absent) == 0 || v.kind == otherCell || v.kind == brokenCell {
		return false
	}
	text := strings.TrimSpace(v.plain())
	return c.absent[text] || c.absent[canonical(text)]
}

// isMissingText is isMissing of text.
func (c *classList) isMissingText(text string) bool { return c.isMissing(&cell{text: text}) }

// A MissingPolicy is the treatment of a missing vote.
//
// # What the privacy proof allows
//
// The mechanisms take K votes of which each, as a random variable, is (ε,Δ)-DP
// and independent of the others. A missing vote must therefore be turned into a
// vote without breaking either.
//
//   - None, as one more kind of vote that a teacher may cast, which counts for no class. K is still
//     the number of teachers, and one record still changes at most t of the K votes, a vote that
//     comes or goes among them. Mechanisms for such votes are priced for these neighbours: see
//     ensemble.Setting.Missing. How many votes there are is as private as the votes, and nothing is
//     chosen by it. This is MissingAbstain.
//   - A coin of its own, uniform over the classes, for every missing vote. If
//     the teacher's answer over the classes and "no answer" is (ε,Δ)-DP, the
//     completed vote is a function of that answer and of a coin that knows no
//     data, hence (ε,Δ)-DP too (post-processing). The same holds where votes
//     are missing for a reason that does not depend on private data (a teacher
//     that was not asked): the vote is then uniform whatever the data are. This
//     is MissingCoin.
//   - A third kind of vote worth one half to each class is not allowed: the
//     noise function is defined, and certified, for whole numbers of ones.
//   - Leaving the teacher or the query out is not allowed: K, or the list of
//     answers, would then tell without noise who was silent.
//   - If a teacher is silent because of a record and its (ε,Δ) does not cover
//     that, no mechanism that rests on its promise helps: a vote that is certain on one dataset and
//     a coin on its neighbour differs by the factor 2. The file cannot tell; so the default is an
//     error, and MissingCoin is a statement by the user. MissingAbstain rests on no teacher's
//     promise, and states nothing.
//
// Source: the post-processing property of differential privacy, applied to one
// teacher at a time; the certificate's set of pairs (p, p') holds (½, ½). Proved by machine:
// coins_private and coined_private in proofs/Missing.v.
type MissingPolicy int

const (
	// MissingError refuses a file in which a vote is missing.
	MissingError MissingPolicy = iota
	// MissingCoin reports missing votes in Batch.Missing. Whoever answers gives each a class
	// of its own drawing. Reading itself draws nothing, so that what is read does not depend
	// on chance.
	MissingCoin
	// MissingAbstain reports missing votes in Batch.Missing too, and they stay none.
	MissingAbstain
	// MissingNo counts a blank as no to every label. It goes with Options.Labels: a teacher's blank is a
	// vote like another, so nothing is presumed.
	MissingNo
)

var missingPolicies = check.Enum[MissingPolicy]{Name: "missing", Names: []string{"error", "coin", "abstain", "no"}}

// MissingPolicies returns all of them.
func MissingPolicies() []MissingPolicy { return missingPolicies.Values() }

// String returns "error", "coin", "abstain" or "no".
func (m MissingPolicy) String() string { return missingPolicies.String(m) }

// UnmarshalText reads the name.
func (m *MissingPolicy) UnmarshalText(name []byte) error { return missingPolicies.Unmarshal(m, name) }
