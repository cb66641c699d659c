package votes

import (
	"fmt"
	"strings"

	"github.com/darrm/darrm/internal/check"
)

// A MissingPolicy says what becomes of a vote that is not there.
//
// # What the privacy proof allows
//
// The mechanisms take K votes of which each, as a random variable, is (ε,Δ)-DP
// and independent of the others. A missing vote must therefore be turned into a
// vote without breaking either.
//
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
//     that, nothing helps: a vote that is certain on one dataset and a coin on
//     its neighbour differs by the factor 2. The file cannot tell; so the
//     default is an error, and MissingCoin is a statement by the user.
//
// Source: the post-processing property of differential privacy, applied to one
// teacher at a time; the certificate's set of pairs (p, p') holds (½, ½).
type MissingPolicy int

const (
	// MissingError refuses a file in which a vote is missing.
	MissingError MissingPolicy = iota
	// MissingCoin reports missing votes in Batch.Missing, where
	// Batch.ResolveMissing gives each a class of its own drawing. Reading itself
	// draws nothing, so that what is read does not depend on chance.
	MissingCoin
)

// ParseMissingPolicy turns "error" or "coin" into a MissingPolicy.
func ParseMissingPolicy(s string) (MissingPolicy, error) {
	for _, m := range []MissingPolicy{MissingError, MissingCoin} {
		if s == m.String() {
			return m, nil
		}
	}
	return 0, &check.Error{Name: "missing", Value: quote(s), Rule: "error or coin"}
}

// String returns the name that ParseMissingPolicy takes.
func (m MissingPolicy) String() string {
	switch m {
	case MissingError:
		return "error"
	case MissingCoin:
		return "coin"
	}
	return fmt.Sprintf("MissingPolicy(%d)", int(m))
}

// isMissing reports whether a cell says that there is no vote. A class of such
// a name is looked for first.
func isMissing(cell string) bool {
	switch strings.ToLower(strings.TrimSpace(cell)) {
	case "", "nan", "na", "n/a", "null", "none", "?":
		return true
	}
	return false
}

// voteRule says what is wrong with a cell that is no vote.
func voteRule(cell string, c *classList) string {
	switch {
	case strings.TrimSpace(cell) == "":
		return "the vote is missing (" + quote(cell) + "): every teacher must answer every query"
	case isMissing(cell):
		return "the vote is missing (" + quote(cell) + "), want " + c.want() + ": every teacher must answer every query"
	}
	return "vote " + quote(cell) + " " + c.rule()
}

func (c *classList) want() string {
	if c.binary {
		return "0 or 1"
	}
	return "a class"
}
