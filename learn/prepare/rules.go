package prepare

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/learn/data"
)

// Rules are a person's public statements on a table, before its columns are known. With the names
// of the columns they make a Map. Add is for one goroutine at a time.
type Rules struct {
	// Response is the column of the responses, by its name or, without a header, by its number from
	// 1; "" is none. NAME_above:NUMBER is 1 where NAME is above NUMBER, and 0 elsewhere.
	Response string
	// Weight is the column of the weights, "" for none.
	Weight string
	// Only names the columns of the features, in their order, where a response with a rule in Columns
	// is passed over; nil takes all columns but the response and AllBut.
	Only []string
	// AllBut names columns that are no features.
	AllBut []string
	// Center is Column.Center of all features whose scale has 0 in it; "" leaves each its own.
	Center string
	// Columns are the rules of single columns, each of them a feature or the response.
	Columns []Column
}

// Map returns the map of a table. It refuses a rule for a column that is not read, and takes no
// column with the name of an identifier unless Only names it.
func (r Rules) Map(t *data.Table) (*Map, error) {
	if t == nil || t.Columns == nil {
		return nil, errors.New("no records")
	}
	m := &Map{}
	var err error
	if m.Response, err = r.response(t); err != nil {
		return nil, err
	}
	if m.Weight = r.Weight; m.Weight != "" && !slices.Contains(t.Columns, m.Weight) {
		return nil, missingColumn(t, "weight column", m.Weight)
	}
	names := r.Only
	if names == nil {
		if names, err = r.rest(t, m.Response); err != nil {
			return nil, err
		}
	}
	ruled := func(c Column) bool { return m.Response != nil && c.Name == m.Response.Name }
	for _, name := range names {
		if m.Response != nil && name == m.Response.Name && slices.ContainsFunc(r.Columns, ruled) {
			continue // a file of rules lists the response too
		}
		m.Features = append(m.Features, Column{Name: name})
	}
	for _, c := range r.Columns {
		if i := slices.IndexFunc(m.Features, func(f Column) bool { return f.Name == c.Name }); i >= 0 {
			m.Features[i] = c
			continue
		}
		if m.Response != nil && m.Response.Name == c.Name {
			m.Response.Column = c
			continue
		}
		if !slices.Contains(t.Columns, c.Name) {
			return nil, missingColumn(t, "column", c.Name)
		}
		return nil, fmt.Errorf("column %q has a rule, but it is no feature and not the response", c.Name)
	}
	for i, c := range m.Features {
		if c.Scale != nil && c.Scale.hasZero() && r.Center != "" {
			m.Features[i].Center = r.Center
		}
	}
	return m, m.Check()
}

// Stated returns the map of tables that are not at hand: Only names all their features. A response
// NAME_above:NUMBER is of the column NAME. It refuses what Map refuses.
func (r Rules) Stated() (*Map, error) {
	if len(r.Only) == 0 {
		return nil, check.Want("columns", "none", "all that are features, since no table is read")
	}
	t := &data.Table{Columns: slices.Clone(r.Only), Named: true}
	name := r.Response
	if base, number, ok := cutLast(name, "_above:"); ok {
		if _, err := data.ParseNumber(number); err == nil {
			name = base
		}
	}
	if name != "" && !slices.Contains(t.Columns, name) {
		t.Columns = append(t.Columns, name)
	}
	return r.Map(t)
}

// response returns the response without the rules of its column.
func (r Rules) response(t *data.Table) (*Response, error) {
	if r.Response == "" {
		return nil, nil
	}
	if slices.Contains(t.Columns, r.Response) {
		return &Response{Column: Column{Name: r.Response}}, nil
	}
	if name, number, ok := cutLast(r.Response, "_above:"); ok && slices.Contains(t.Columns, name) {
		above, err := data.ParseNumber(number)
		if err != nil {
			return nil, fmt.Errorf("response %q: %w", r.Response, err)
		}
		return &Response{Column: Column{Name: name}, Above: &above}, nil
	}
	return nil, missingColumn(t, "response column", r.Response)
}

// rest returns the columns but the response and AllBut. Whether a column is an identifier is judged
// by its name: a rule that looked at the values would tell of them.
func (r Rules) rest(t *data.Table, response *Response) ([]string, error) {
	for _, name := range r.AllBut {
		if !slices.Contains(t.Columns, name) {
			return nil, missingColumn(t, "column", name)
		}
	}
	var names []string
	for _, name := range t.Columns {
		if slices.Contains(r.AllBut, name) || response != nil && response.Name == name ||
			r.Weight != "" && r.Weight == name {
			continue
		}
		if t.Named && Identifier(name) {
			return nil, check.SettledBy(fmt.Errorf("column %q has the name of an identifier, which is no "+
				"feature: leave it out, or list all columns that are features", name), leftOut(name), "columns")
		}
		names = append(names, name)
	}
	if names == nil {
		return nil, errNoFeatures
	}
	return names, nil
}

// leftOut is the parameter that leaves a column out, with its value where the column has no name.
func leftOut(name string) string {
	if name == "" {
		return "left out columns=''"
	}
	return "left out columns"
}

// Identifier reports whether a column's name is one of those that number rows or persons: id,
// index, whatever ends in _id, and what programs call a column without a name.
func Identifier(name string) bool {
	name = strings.ToLower(strings.TrimSpace(name))
	return name == "" || name == "id" || name == "index" || strings.HasSuffix(name, "_id") ||
		strings.HasPrefix(name, "unnamed: ")
}

// cutLast cuts s around the last sep.
func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// Add adds a rule for a column: set sets one that was not set before, and reports whether it was.
func (r *Rules) Add(name string, set func(c *Column) (twice bool)) error {
	r = handle.Made(r)
	if set == nil {
		return errors.New("rule must be given")
	}
	i := slices.IndexFunc(r.Columns, func(c Column) bool { return c.Name == name })
	if i < 0 {
		i, r.Columns = len(r.Columns), append(slices.Clone(r.Columns), Column{Name: name})
	}
	if set(&r.Columns[i]) {
		return fmt.Errorf("column %q has the rule twice", name)
	}
	return nil
}

// ended returns the error of a table's last row, nil at its end.
func ended(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}
