package votes

import (
	"errors"
	"strings"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/votes/format"
)

// columns returns the names of the columns of labels.
func (o *LabelOptions) columns() ([]string, error) {
	mark := ""
	if o.Simulated {
		mark = "simulated_"
	}
	switch {
	case len(o.Labels) == 0 && o.Sets:
		return nil, check.Namedf("sets go with %s", pLabels)
	case len(o.Labels) == 0:
		return []string{mark + "label"}, nil
	}
	if err := CheckLabels(o.Labels, 0, nil); err != nil {
		return nil, err
	}
	if o.Sets {
		if len(o.Classes) > 2 {
			return nil, errors.New("an answer that abstains is in no set: want columns")
		}
		return []string{mark + "labels"}, checkSeparator((&Options{Separator: o.Separator}).separator(), o.Labels)
	}
	columns := make([]string, len(o.Labels))
	for i, name := range o.Labels {
		columns[i] = mark + name
		// encodings of typed columns have such names for themselves
		if o.Format.row().start != nil && (strings.Contains(name, ",") || name == "-") {
			return nil, check.Namedf("%s: %s is no name of a column in the format %s", pLabels, quote(name), o.Format)
		}
	}
	return columns, nil
}

// setsOf returns the encoder of sets for that of one column.
func setsOf(enc format.Encoder, o LabelOptions) (format.Encoder, error) {
	switch e := enc.(type) {
	case *csvLabels:
		separator := (&Options{Separator: o.Separator}).separator()
		return setEncoder{enc, o.Labels, func(id []byte, names []string) error {
			return e.write(string(id), strings.Join(names, separator))
		}}, nil
	case *jsonLabels:
		return setEncoder{enc, o.Labels, e.set}, nil
	}
	return nil, check.Namedf("sets are written as CSV, TSV or JSON Lines, not in the format %s (%s)", o.Format,
		pLabelFormat)
}

// setEncoder writes the names of the labels that a question has in one cell.
type setEncoder struct {
	format.Encoder
	labels []string
	write  func(id []byte, names []string) error
}

// Row writes the labels whose class is the second.
func (e setEncoder) Row(id []byte, classes []int) error {
	var names []string
	for l, class := range classes {
		if class == 1 {
			names = append(names, e.labels[l])
		}
	}
	return e.write(id, names)
}
