package ensemble

import (
	"fmt"

	"github.com/darrm/darrm/internal/check"
)

// Several says that each question has several yes/no labels: a teacher's vote on a question is a vector of
// L zeros and ones with at most τ ones, and each label is answered as a query of two classes, with
// coins of its own. The zero Several is of questions that are one query each.
//
// # What they cost
//
// One record reaches t teachers. On one question each of them changes a vector with at most τ ones into another
// such vector, so that at most min(L, 2τ) of its labels differ, and of all labels together at most
//
//	r = min(L, 2τt)
//
// have another number of yes votes, each by at most t. A label of the others has the same law under both
// neighbours, and its answer is independent of all else given the votes: it tells nothing. So a question
// is at most r answers of a table for reach t, which an adversary could also have chosen one after the
// other, knowing the answers between: Q questions cost no more than
//
//	N = r·Q
//
// answers of that table, by whatever price holds for N adaptively chosen queries. Nothing is presumed of
// the teachers, nor of which labels occur together. The vectors of all teachers are cut to τ ones one by one,
// before anything is counted: cutting them by the counts would let one teacher change others' votes.
// docs/many-answers.md has the whole proof.
type Several struct {
	Labels  int `json:"labels"`             // L ≥ 2; 0 for none
	MostYes int `json:"most_yes,omitempty"` // τ, from 1 to L; 0 for any number of ones, which is τ = L
}

// Validate checks L and τ.
func (s Several) Validate() error {
	switch {
	case s == (Several{}):
		return nil
	case s.Labels < 2 || s.Labels > check.MaxClasses:
		return check.Wantf("number of labels", s.Labels, "between 2 and %d", check.MaxClasses)
	case s.MostYes < 0 || s.MostYes > s.Labels:
		return check.Wantf("most yes", s.MostYes, "between 1 and the number of labels, %d", s.Labels)
	}
	return nil
}

// PerQuestion returns r, the number of answers that a question is charged as, of a mechanism for reach t:
// 1 where a question is one query.
func (s Several) PerQuestion(t int) int {
	most := s.MostYes
	switch {
	case s.Labels == 0:
		return 1
	case most == 0:
		most = s.Labels
	}
	return min(s.Labels, 2*most*t)
}

// Answers returns N, the number of answers that the queries are charged as, all labels of each of their
// questions among them, of a mechanism for reach t. A question of which some labels are left out counts
// as a whole.
func (s Several) Answers(queries, t int) int { return s.Questions(queries) * s.PerQuestion(t) }

// Questions returns the number of questions that hold the queries, rounded up.
func (s Several) Questions(queries int) int {
	each := max(1, s.Labels)
	return (queries + each - 1) / each
}

// String states L and τ for people; "" for none.
func (s Several) String() string {
	switch {
	case s.Labels == 0:
		return ""
	case s.MostYes == 0 || s.MostYes == s.Labels:
		return fmt.Sprintf("%d labels each", s.Labels)
	}
	return fmt.Sprintf("%d labels each, of which a teacher says yes to at most %d", s.Labels, s.MostYes)
}
