package votes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
)

// A Fact is one finding, statement or question of a survey.
type Fact struct{ Title, Text string }

func (f Fact) String() string { return f.Title + ": " + f.Text }

// Facts describes the files, and lists the questions about them. known holds the statements about
// them. name gives a parameter its name in a front end; nil leaves that of this package.
func (s *Survey) Facts(known Known, name func(parameter string) string) (facts []Fact) {
	s = handle.Made(s)
	add := func(title, format string, args ...any) {
		text := check.Named(format, args...).By(func(p check.Parameter) string {
			if name == nil {
				return string(p)
			}
			return name(string(p))
		})
		facts = append(facts, Fact{title, text})
	}
	add("found", "%s", s)
	switch {
	case len(s.Values) == 0 && s.Columns.Layout == LayoutCounts.String():
	case len(s.Values) == 0:
		add("values", "no votes")
	case known.Classes:
		add("values", "%s, of the classes that you state", joined(s.Values))
	case slices.ContainsFunc(s.Readings, func(r *Reading) bool { return len(r.Options.Labels) > 0 }):
		add("values", "%s, FOR YOUR EYES ONLY: the votes may lack a label. Confirm them by the task: "+
			"%s names all labels that a cell can have or, where a cell is one class, %s all classes", joined(s.Values),
			pLabels, pClasses)
	default:
		add("values", "%s, FOR YOUR EYES ONLY: the votes may lack a class. Confirm them by the task: "+
			"%s names all that a vote can be", joined(s.Values), pClasses)
	}
	n := int64(0)
	for _, m := range s.Missing {
		n += m.Votes
	}
	if n > 0 {
		text := fmt.Sprintf("%d votes are missing", n)
		if n == 1 {
			text = "1 vote is missing"
		}
		if !known.Classes {
			text += ": " + joined(s.Missing)
		}
		if known.Missing {
			add("gaps", "%s", text)
		} else {
			add("gaps", "%s; %s abstain takes them for no answer", text, pMissing)
		}
	}
	if s.Columns.Truth != "" {
		text := fmt.Sprintf("known for %d of %d queries", s.Labelled, s.Queries)
		if len(s.Truth) > 0 {
			text += ": " + joined(s.Truth)
		}
		add("truth", "%s; a release reads none", text)
	}
	for _, told := range s.Told {
		add("told", "%s", told)
	}
	switch {
	case len(s.Readings) == 0:
		add("told", "%s names what a vote can be; no command is proposed", pClasses)
	case s.Readings[0].Options.Layout == LayoutLong && (s.Readings[0].Options.K == 0 ||
		s.Readings[0].Options.QueryIDs == nil):
		add("told", "%s is the number of teachers, %s the file of all queries", pK, pQueryIDs)
	}
	for _, asked := range s.Asked {
		add("asked", "%s", asked)
	}
	return facts
}

// Consequence describes what a reading presumes, and what follows from it.
func (r *Reading) Consequence() string {
	r = handle.Made(r)
	if popular := handle.Made(r.Description).Popular(); popular != "" {
		return r.Answer + ": then " + popular
	}
	return r.Answer
}

func joined[T fmt.Stringer](of []T) string {
	var parts []string
	for _, x := range of {
		parts = append(parts, x.String())
	}
	return strings.Join(parts, ", ")
}

// String tells the size of the files, and their columns.
func (s *Survey) String() string {
	s = handle.Made(s)
	text := fmt.Sprintf("%d queries, K = %d teachers; %s", s.Queries, s.K, s.Columns)
	if s.FirstID != "" {
		text += "; first id: " + quoteUnlessPlain(s.FirstID)
	}
	return text
}

func shownMissing(s spelling) string {
	if s.text == "" {
		return "blank"
	}
	return s.text
}

// String shows a value with its number, and its spellings where there are others.
func (v Value) String() string {
	text := quoteUnlessPlain(v.Value)
	switch {
	case len(v.Spellings) == 1:
		return fmt.Sprintf("%s (%d, spelled %s)", text, v.Votes, quoteUnlessPlain(v.Spellings[0].Text))
	case len(v.Spellings) > 1:
		var parts []string
		for _, s := range v.Spellings {
			parts = append(parts, fmt.Sprintf("%d spelled %s", s.Votes, quoteUnlessPlain(s.Text)))
		}
		return fmt.Sprintf("%s (%d: %s)", text, v.Votes, strings.Join(parts, ", "))
	}
	return fmt.Sprintf("%s (%d)", text, v.Votes)
}

// String shows a spelling with its number.
func (s Spelled) String() string { return fmt.Sprintf("%s (%d)", quoteUnlessPlain(s.Text), s.Votes) }
