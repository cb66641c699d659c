package commandline

import (
	"strings"

	"github.com/darrm/darrm/votes"
)

// A Flag is one of a command, without the dashes.
type Flag struct{ Name, Value string }

// Reading returns the flags that state the options o for reading files of votes, in their order, less those that are
// stated already: these are the options in stated, and known says whether classes and missing votes are among them.
func Reading(o, stated votes.Options, known votes.Known) (flags []Flag) {
	add := func(name, value string) { flags = append(flags, Flag{name, value}) }
	for _, x := range []struct{ flag, value, stated string }{
		{"layout", o.Layout.String(), stated.Layout.String()}, {"id-column", o.IDColumn, stated.IDColumn},
		{"label-column", o.LabelColumn, stated.LabelColumn}, {"votes-column", o.VotesColumn, stated.VotesColumn},
		{"teacher-column", o.TeacherColumn, stated.TeacherColumn}, {"vote-column", o.VoteColumn, stated.VoteColumn},
		{"vote-columns", votes.FormatColumns(o.VoteColumns), votes.FormatColumns(stated.VoteColumns)},
		{"header", o.Header.String(), stated.Header.String()}, {"format", o.Format.String(), stated.Format.String()},
		{"compression", o.Compression.String(), stated.Compression.String()},
	} {
		if x.value != x.stated {
			add(x.flag, x.value)
		}
	}
	switch {
	case len(o.Labels) > 0 && len(stated.Labels) == 0:
		add("labels", votes.FormatColumns(o.Labels))
		if o.Separator != "" {
			add("separator", o.Separator)
		}
	case len(o.Labels) == 0 && !known.Classes:
		flags = append(flags, classFlags(o.Classes)...)
	}
	for _, s := range o.Same[min(len(stated.Same), len(o.Same)):] {
		add("same", s.String())
	}
	if o.Missing != stated.Missing && !known.Missing {
		add("missing", o.Missing.String())
	}
	return flags
}

// classFlags returns the flags that state classes: one by one where a name has a comma.
func classFlags(classes []string) (flags []Flag) {
	list := strings.Join(classes, ",")
	if strings.Count(list, ",") == len(classes)-1 {
		return []Flag{{"classes", list}}
	}
	for _, class := range classes {
		flags = append(flags, Flag{"class", class})
	}
	return flags
}

// AddFlags appends flags to the words of a command.
func AddFlags(words []string, flags []Flag) []string {
	for _, f := range flags {
		words = AddFlag(words, f.Name, f.Value)
	}
	return words
}
