package votes

import (
	"fmt"
	"slices"
)

// listed finds the columns of VoteColumns.
func (s *columnSet) listed(specs []string, counts bool, classes *classList) ([]int, *fault) {
	var at []int
	for _, spec := range specs {
		role := "vote"
		if counts && len(at) < classes.len() {
			role = classes.countsOf(len(at))
		}
		one, wrong := s.at(role, spec)
		if wrong != nil {
			return nil, wrong
		}
		several := []int{one}
		if one < 0 {
			if several, wrong = s.several(spec); wrong != nil {
				return nil, wrong
			}
		}
		if several == nil {
			_, wrong = s.find(role, spec) // there is none
			return nil, wrong
		}
		for _, i := range several {
			if counts && len(at) < classes.len() {
				role = classes.countsOf(len(at))
			}
			if wrong = s.setRole(i, role); wrong != nil {
				return nil, wrong
			}
			at = append(at, i)
		}
	}
	if counts && len(at) != classes.len() {
		return nil, faultf(-1,
			"%d columns of counts are listed, want %d, one for each class in order (%s)", len(at),
			classes.len(), pVoteColumns)
	}
	return at, nil
}

// counts finds the columns of counts where nobody lists them: by the classes' names or,
// without names, in the classes' order.
func (s *columnSet) counts(k int, classes *classList) ([]int, *fault) {
	want := fmt.Sprintf("want %d, one for each class", classes.len())
	if classes.len() == 2 {
		want = "want 2, zeros and ones"
	}
	if s.names == nil {
		free := s.unassigned()
		if len(free) != classes.len() {
			return nil, faultf(-1, "%d columns besides id and label, %s; list them (%s)", len(free), want,
				pVoteColumns)
		}
		if k == 0 {
			return nil, faultf(-1,
				"the columns have no names, and nothing says that they are counts: state the number of "+
					"teachers (%s), or list them (%s)", pK, pVoteColumns)
		}
		return free, nil
	}
	at := make([]int, classes.len())
	for i, name := range classes.names {
		usual := []string{name, "n" + name}
		if classes.len() == 2 {
			usual = append(usual, [...]string{"zeros", "ones"}[i])
		}
		role := classes.countsOf(i)
		var wrong *fault
		if at[i] = slices.Index(s.names, name); at[i] >= 0 { // names that differ in case only
			wrong = s.setRole(at[i], role)
		} else {
			at[i], wrong = s.find(role, "", usual...)
		}
		if wrong != nil {
			return nil, wrong
		}
		if at[i] < 0 {
			return nil, faultf(-1,
				"there is no %s with the %s (named one of %s); list the counts in the classes' order (%s)",
				s.what, role, quoteAll(usual), pVoteColumns)
		}
	}
	if free := s.unassigned(); len(free) > 0 {
		return nil, faultf(free[0],
			"the %s is neither id, label nor the counts of a class; name the true labels (%s) and the ids "+
				"(%s), or list the counts (%s)", s.what, pLabelColumn, pIDColumn, pVoteColumns)
	}
	return at, nil
}

// countsOf returns the name of the counts of class i in messages.
func (c *classList) countsOf(i int) string {
	if c.len() == 2 {
		return [...]string{"zeros", "ones"}[i]
	}
	return "counts of class " + quote(c.names[i])
}
