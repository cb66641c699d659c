package experiment

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
)

// Spec states how a kind reports its results: the sentences of its claims, and its tables. Its
// sentences have holes, {name} or {name:%.3f}, which Fill fills.
type Spec struct {
	// Claims are the sentences of claims by their predicate, each with its evidence.
	Claims map[string][2]string `json:"claims"`
	// Measures are the titles of what is measured, the first one's default under "".
	Measures map[string]string `json:"measures"`
	// Means compares lines by their means, where repeats are no pairs.
	Means  bool                 `json:"means"`
	Tables map[string]tableSpec `json:"tables"`
}

// tableSpec is a table with a row for each line at each place.
type tableSpec struct {
	Caption string       `json:"caption"`
	Long    bool         `json:"long"`
	ByLine  bool         `json:"by_line"` // its rows, else by place
	Columns []columnSpec `json:"columns"`
}

// columnSpec is a column, of which no cell is 0 where it is blank, and which an optional one has only
// where a cell has something to say.
type columnSpec struct {
	Column
	Blank    bool `json:"blank"`
	Optional bool `json:"optional"`
}

// ReadField returns the field that field.json describes: the names of its definitions in the order of
// the source, the looks of its methods under a prefix, and the specs of its kinds. A file that cannot
// be read is a mistake of a program and panics.
func ReadField(files fs.FS, kinds ...Kind) Field {
	var f struct {
		Paper  string          `json:"paper"`
		Prefix Method          `json:"prefix"`
		Names  []string        `json:"names"`
		Looks  map[Method]Look `json:"looks"`
		Kinds  map[string]Spec `json:"kinds"`
	}
	text, err := fs.ReadFile(files, "field.json")
	if err == nil {
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		err = d.Decode(&f)
	}
	if err != nil {
		panic(fmt.Sprintf("experiment: field.json: %v", err))
	}
	out := Field{Paper: f.Paper, Kinds: kinds, Looks: map[Method]Look{}, Files: files, Names: f.Names}
	for m, l := range f.Looks {
		out.Looks[f.Prefix+m] = l
	}
	for i, k := range out.Kinds {
		if k.Spec == nil {
			spec := f.Kinds[k.Name]
			out.Kinds[i].Spec = &spec
		}
	}
	return out
}

var hole = regexp.MustCompile(`\{(\w+)(?::([^}|]*))?(?:\|([^}]*))?\}`)

// Fill fills the holes of a sentence: {name} by the value in its usual form, {name:%.3f} in another,
// and {name:%.3f|, } by a list of numbers with what is between them. A name without a value is a
// mistake of a program and panics.
func Fill(sentence string, values map[string]any) string {
	return hole.ReplaceAllStringFunc(sentence, func(h string) string {
		part := hole.FindStringSubmatch(h)
		v, ok := values[part[1]]
		if !ok {
			panic(fmt.Sprintf("experiment: no value for %s in %q", h, sentence))
		}
		format := part[2]
		if format == "" {
			format = "%v"
		}
		if list, ok := v.([]float64); ok {
			words := make([]string, len(list))
			for i, x := range list {
				words[i] = fmt.Sprintf(format, x)
			}
			return strings.Join(words, part[3])
		}
		return fmt.Sprintf(format, v)
	})
}

// TableOf returns the table of that name in the kind's spec, without rows, for cells that are no tidy
// rows.
func (r *Run) TableOf(name string, values map[string]any) Table {
	spec := r.spec().Tables[name]
	t := Table{Name: name, Caption: Fill(spec.Caption, values), Long: spec.Long}
	for _, c := range spec.Columns {
		c.Name, c.Title = Fill(c.Name, values), Fill(c.Title, values)
		t.Columns = append(t.Columns, c.Column)
	}
	return t
}

// Grid adds the table of that name in the kind's spec, with a row for each line that was measured at a
// place.
func (r *Run) Grid(name string, values map[string]any, found ...*Found) {
	spec := r.spec().Tables[name]
	t := r.TableOf(name, values)
	columns := t.Columns
	t.Columns = nil
	var rows []tableRow
	for _, f := range found {
		rows = append(rows, f.rows(spec.ByLine)...)
	}
	cells := make([][]any, len(rows))
	for i, column := range columns {
		c := spec.Columns[i]
		list, some := make([]any, len(rows)), false
		for k, row := range rows {
			if list[k] = row.text(row.place, row.line, column.Name); c.Blank && list[k] == 0. {
				list[k] = nil
			}
			some = some || list[k] != nil
		}
		if c.Optional && !some {
			continue
		}
		t.Columns = append(t.Columns, column)
		for k, v := range list {
			cells[k] = append(cells[k], v)
		}
	}
	for _, row := range cells {
		t.Add(row...)
	}
	r.Table(t)
}

// tableRow is a line at a place.
type tableRow struct {
	*Found
	place, line int
}

// rows returns the lines that were measured, by place or by line.
func (f *Found) rows(byLine bool) []tableRow {
	rows := map[tableRow]bool{}
	for at := range f.values {
		rows[tableRow{f, at.place, at.line}] = true
	}
	return slices.SortedFunc(maps.Keys(rows), func(a, b tableRow) int {
		if byLine {
			return cmp.Or(a.line-b.line, a.place-b.place)
		}
		return cmp.Or(a.place-b.place, a.line-b.line)
	})
}

func (r *Run) spec() *Spec { return r.def.catalog.kinds[r.def.Kind].Spec }

// Curves adds to a panel a line for each that has the measure y at some of the places, or all if nil, over
// their coordinate x. The columns spread and band have its error bars and
// shades; "" is none.
func (r *Run) Curves(f *Found, p Panel, places []int, x, y, spread, band string) Panel {
	for j, l := range f.Lines {
		s := Series{Method: l.Look, Plain: l.Plain}
		if l.Name != string(l.Look) { // a line of its own, not the method
			s.Name, s.Dashed = l.Name, r.def.catalog.looks[l.Look].Dashes != nil
		}
		for i := range f.Places {
			if places != nil && !slices.Contains(places, i) {
				continue
			}
			if f.Values(i, j, y) == nil {
				continue
			}
			s.Add(f.Places[i].At[x], f.Stat(i, j, y))
			if spread != "" {
				s.Spread = append(s.Spread, f.Stat(i, j, spread))
			}
			if v := f.Stat(i, j, band); band != "" && !math.IsNaN(v) {
				s.Band = append(s.Band, v)
			}
		}
		if s.X != nil {
			p.Series = append(p.Series, s)
		}
	}
	return p
}

// with returns the values of both.
func with(values, more map[string]any) map[string]any {
	out := maps.Clone(values)
	if out == nil {
		out = map[string]any{}
	}
	maps.Copy(out, more)
	return out
}
