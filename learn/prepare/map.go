package prepare

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/learn/data"
)

// Map makes a record of a row: the rules of all columns that are read. It is public.
type Map struct {
	Features []Column  `json:"features"` // in the order of the records' features
	Response *Response `json:"response,omitempty"`
	// Weight is the column of the weights of the records to learn from, "" for none. A prediction has none, and
	// the JSON names none.
	Weight string `json:"-"`
}

// Check refuses rules that contradict each other, a column that is read twice, and features of one
// name.
func (m *Map) Check() error {
	m = handle.Made(m)
	if len(m.Features) == 0 {
		return errNoFeatures
	}
	seen := map[string]bool{}
	for _, c := range m.Features {
		if seen[c.Name] {
			return fmt.Errorf("column %q is given twice", c.Name)
		}
		seen[c.Name] = true
		if err := c.check(); err != nil {
			return err
		}
	}
	if m.Response != nil {
		if seen[m.Response.Name] {
			return fmt.Errorf("column %q is the response, and cannot be a feature", m.Response.Name)
		}
		if err := m.Response.check(); err != nil {
			return err
		}
	}
	if m.Weight != "" && (seen[m.Weight] || m.Response != nil && m.Response.Name == m.Weight) {
		return fmt.Errorf("column %q is the weight, and can be neither a feature nor the response", m.Weight)
	}
	named := map[string]bool{}
	for _, name := range m.Names() {
		if named[name] {
			return fmt.Errorf("two features have the name %q", name)
		}
		named[name] = true
	}
	return nil
}

// Names returns the names of the features: a column's, or "column=word" for a category.
func (m *Map) Names() []string {
	m = handle.Made(m)
	var names []string
	for _, c := range m.Features {
		names = append(names, c.features()...)
	}
	return names
}

// With returns the map for other tables: without a response, or with one of that name.
func (m *Map) With(responses bool, response string) *Map {
	m = handle.Made(m)
	other := Map{Features: m.Features}
	if responses {
		var r Response
		if m.Response != nil {
			r = *m.Response
		}
		r.Name, other.Response = response, &r
	}
	return &other
}

// Plain reports whether the map has no rule: all cells are numbers, taken as they are.
func (m *Map) Plain() bool {
	m = handle.Made(m)
	ruled := func(c Column) bool { return !c.plain() }
	return m.Response.plain() && !slices.ContainsFunc(m.Features, ruled)
}

// Radius returns a bound on the ℓq norm of the features of whatever row, rounded up: each column
// with a scale or categories adds 1 at most. It is +Inf where a number has no scale.
func (m *Map) Radius(q float64) float64 {
	m = handle.Made(m)
	for _, c := range m.Features {
		if c.Scale == nil && c.Categories == nil {
			return math.Inf(1)
		}
	}
	if math.IsInf(q, 1) {
		return 1
	}
	// A power's relative error is below 2⁻⁵⁰, and a square root's below 2⁻⁵³.
	return math.Pow(float64(len(m.Features)), 1/q) * (1 + 0x1p-48)
}

// partNumbers is how many numbers there is room for in a part of a text at once, for 8 bytes a cell.
const partNumbers = 1 << 16

// Read returns the records of a table's rows, with the names of the features where the table names
// its columns, or where rules do.
func Read(t *data.Table, m *Map) (*data.Records, error) {
	m = handle.Made(m)
	type rows struct {
		n       int
		x, y, w []float64
		lines   []int
	}
	var all rows
	var parts [][]float64 // features
	numbers := 0
	err := data.Parts(t, func(part *data.Table) (r rows, err error) {
		r.x = make([]float64, 0, partNumbers)
		err = scan(part, m, func(one *row) error {
			r.n, r.x, r.lines = r.n+1, append(r.x, one.x...), append(r.lines, one.line)
			if m.Response != nil {
				r.y = append(r.y, one.y)
			}
			if m.Weight != "" {
				r.w = append(r.w, one.w)
			}
			return data.CheckSize(len(r.x))
		})
		return r, err
	}, func(r rows) error {
		if t.HasNumbers() {
			r.lines = nil // the place of a record is its number
		}
		parts, numbers = append(parts, r.x), numbers+len(r.x)
		all = rows{n: all.n + r.n, y: append(all.y, r.y...), w: append(all.w, r.w...), lines: append(all.lines, r.lines...)}
		return data.CheckSize(numbers)
	})
	if err != nil {
		return nil, err
	}
	if all.n == 0 {
		return nil, errors.New("no records")
	}
	all.x = slices.Concat(parts...)
	r, err := data.NewRecords(all.n, len(all.x)/all.n, all.x, all.y)
	if err != nil {
		return nil, err
	}
	if m.Weight != "" {
		if r, err = r.Weighted(all.w); err != nil {
			return nil, err
		}
	}
	columns, response := m.Published(t)
	return r.Named(columns, response).AtLines(all.lines), nil
}

// Published returns the names that a model of these records publishes: none where the table has
// none and the map is plain.
func (m *Map) Published(t *data.Table) (columns []string, response string) {
	m, t = handle.Made(m), handle.Made(t)
	if !t.Named && m.Plain() {
		return nil, ""
	}
	if m.Response != nil {
		response = m.Response.Name
	}
	return m.Names(), response
}

func missingColumn(t *data.Table, what, name string) error {
	rule := "one of the table's columns" + shown(t.Columns)
	if !t.Named {
		rule = fmt.Sprintf("a number between 1 and %d in a file without header", len(t.Columns))
	}
	return check.Want(what, name, rule)
}

// shown lists names for an error, the first of many.
func shown(names []string) string {
	const most = 8
	var quoted []string
	for _, name := range names[:min(most, len(names))] {
		quoted = append(quoted, data.Shorten(name))
	}
	if len(names) > most {
		quoted = append(quoted, "…")
	}
	if quoted == nil {
		return ""
	}
	return ": " + strings.Join(quoted, ", ")
}

// HoldOut splits records into those that a model learns from and those that it is evaluated on. The
// side of a record tells nothing of another. What decides it has to fit the neighbours of the
// promise: where a record is replaced, its row's number, so that the other rows stay where they
// are and the number of rows to learn from is that of every neighbour; where a record is added or
// removed, its content, since every row below it gets another number.
type HoldOut struct {
	Share     float64 `json:"share"`      // expected share of the records held out, in (0,1)
	ByContent bool    `json:"by_content"` // false: by the row's number
}

// Check refuses a share that leaves one part without records.
func (h HoldOut) Check() error { return check.Open("hold-out", h.Share, 0, 1) }

// Split returns the records to learn from and those held out, which are few where the share or
// the number of records is; either may be nil, for none.
func (h HoldOut) Split(r *data.Records) (learn, held *data.Records, err error) {
	if err := h.Check(); err != nil {
		return nil, nil, err
	}
	var parts [2][]int
	for i := range r.Len() {
		part := 0
		if h.holds(r, i) {
			part = 1
		}
		parts[part] = append(parts[part], i)
	}
	for i, out := range []**data.Records{&learn, &held} {
		if len(parts[i]) == 0 {
			continue
		}
		if *out, err = r.Select(parts[i]); err != nil {
			return nil, nil, err
		}
	}
	return learn, held, nil
}

// holds reports whether record i is held out: whether the first 53 bits of a hash are a number
// below the share.
func (h HoldOut) holds(r *data.Records, i int) bool {
	b := []byte("darrm hold-out v1\n")
	if h.ByContent {
		b, _ = binary.Append(b, binary.LittleEndian, append(r.Row(i), r.Response(i))) // numbers of one size always fit
	} else {
		b = binary.LittleEndian.AppendUint64(b, uint64(i))
	}
	sum := sha256.Sum256(b)
	return float64(binary.LittleEndian.Uint64(sum[:])>>11)*0x1p-53 < h.Share
}
