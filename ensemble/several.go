package ensemble

import (
	"fmt"
	"strconv"

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
// answers of that table, by whatever price holds for N adaptively chosen queries. Where each label has a table
// of its own (Mechanism.LabelTables), that is a price over the pairs of all labels. Nothing is presumed of
// the teachers, nor of which labels occur together. The vectors of all teachers are cut to τ ones one by one,
// before anything is counted: cutting them by the counts would let one teacher change others' votes.
// docs/many-answers.md has the whole proof.
//
// # Yes from another number of teachers on
//
// A label is yes where more than half of the teachers say so or, with YesFrom, where so many of them do. Public
// votes, all for yes or all for no, are added to each label then, so that the majority of all votes is that answer
// ([Several.Public]). Mechanisms and tables are those of all votes, public ones among them: these are the same
// under both neighbours, and one record still changes at most t votes. A query of two classes that is no label of a
// question has YesFrom alone, and its second class is yes.
type Several struct {
	Labels  int `json:"labels,omitempty"`   // L ≥ 2; 0 where each query is a question of its own
	MostYes int `json:"most_yes,omitempty"` // τ, from 1 to L; 0 for any number of ones, which is τ = L
	// YesFrom is from how many teachers on a label is yes: a number of them, or a share such as 1/3. "" is more
	// than half.
	YesFrom string `json:"yes_from,omitempty"`
	// Teachers is the number of those whom YesFrom is of; 0 without it and before they are known (Of).
	Teachers int `json:"teachers,omitempty"`
}

// Of returns s for so many teachers, with YesFrom as a number of them: a share and the number that it comes to are
// one statement, and one charge. The error is about YesFrom.
func (s Several) Of(teachers int) (Several, error) {
	if s.YesFrom == "" {
		return s, nil
	}
	s.Teachers = teachers
	from, err := s.from()
	if err == nil {
		s.YesFrom = strconv.Itoa(from)
	}
	return s, err
}

// from returns from how many teachers on a label is yes, 0 for more than half.
func (s Several) from() (int, error) { return check.YesFrom("yes from", s.YesFrom, s.Teachers) }

// From returns from how many of the teachers on a label is yes; 0 without YesFrom.
func (s Several) From() int {
	from, _ := s.from()
	return from
}

// Public returns how many public votes for no and for yes each label has beside those of the teachers.
func (s Several) Public() (no, yes int) { return check.PublicVotes(s.Teachers, s.From()) }

// Votes returns how many votes a label has: those of so many teachers, and public ones.
func (s Several) Votes(teachers int) int {
	no, yes := s.Public()
	return teachers + no + yes
}

// TeachersOf returns how many of a label's votes are teachers'.
func (s Several) TeachersOf(votes int) int {
	no, yes := s.Public()
	return votes - no - yes
}

// Validate checks L and τ.
func (s Several) Validate() error {
	switch {
	case s.Labels == 0 && s.MostYes == 0:
	case s.Labels < 2 || s.Labels > check.MaxClasses:
		return check.Wantf("number of labels", s.Labels, "between 2 and %d", check.MaxClasses)
	case s.MostYes < 0 || s.MostYes > s.Labels:
		return check.Wantf("most yes", s.MostYes, "between 1 and the number of labels, %d", s.Labels)
	}
	if s.YesFrom == "" || s.Teachers == 0 { // they are not known
		return nil
	}
	_, err := s.from()
	return err
}

// Fits refuses a number of votes of which YesFrom leaves others than its teachers.
func (s Several) Fits(votes int) error {
	if s.YesFrom != "" && (s.Teachers < 1 || s.TeachersOf(votes) != s.Teachers) {
		no, yes := s.Public()
		return check.Wantf("number of votes", votes, "%d: those of %d teachers and %d public ones, since labels are yes from %s of "+
			"them on", s.Votes(s.Teachers), s.Teachers, no+yes, s.YesFrom)
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

// String states L, τ and YesFrom for people; "" for none.
func (s Several) String() string {
	if s.Labels == 0 {
		return s.threshold()
	}
	text := fmt.Sprintf("%d labels each", s.Labels)
	if s.MostYes != 0 && s.MostYes != s.Labels {
		text += fmt.Sprintf(", of which a teacher says yes to at most %d", s.MostYes)
	}
	if s.YesFrom != "" {
		text += ", and " + s.threshold()
	}
	return text
}

// threshold states YesFrom for people; "" without it.
func (s Several) threshold() string {
	switch {
	case s.YesFrom == "":
		return ""
	case s.Teachers > 0:
		return fmt.Sprintf("yes from %d of %d teachers on", s.From(), s.Teachers)
	}
	return fmt.Sprintf("yes from %s of the teachers on", s.YesFrom)
}
