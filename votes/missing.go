package votes

import "github.com/darrm/darrm/internal/check"

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
