package prepare

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/data"
)

// Map makes a record of a row: the rules of all columns that are read. It is public.
type Map struct {
	Features []Column  `json:"features"` // in the order of the records' features
	Response *Response `json:"response,omitempty"`
}

// Check refuses rules that contradict each other, a column that is read twice, and features of one
// name.
func (m *Map) Check() error {
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
	var names []string
	for _, c := range m.Features {
		names = append(names, c.features()...)
	}
	return names
}

// With returns the map for other tables: without a response, or with one of that name.
func (m *Map) With(responses bool, response string) *Map {
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
	ruled := func(c Column) bool { return !c.plain() }
	return m.Response.plain() && !slices.ContainsFunc(m.Features, ruled)
}

// Radius returns a bound on the ℓq norm of the features of whatever row, rounded up: each column
// with a scale or categories adds 1 at most. It is +Inf where a number has no scale.
func (m *Map) Radius(q float64) float64 {
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

// Scan calls visit for each row of the table, in order, with the features and the response, NaN
// where the map has none. Memory is that of one row: x is good until the next. An error of a cell
// or of visit ends it and gets the line's number.
func Scan(t *data.Table, m *Map, visit func(x []float64, y float64) error) error {
	return scan(t, m, func(x []float64, y float64, _ int) error { return visit(x, y) })
}

// scan is Scan with the rows' lines.
func scan(t *data.Table, m *Map, visit func(x []float64, y float64, line int) error) error {
	if err := m.Check(); err != nil {
		return err
	}
	at := make([]int, len(m.Features))
	for i, c := range m.Features {
		if at[i] = slices.Index(t.Columns, c.Name); at[i] < 0 {
			return missingColumn(t, "column", c.Name)
		}
	}
	response := -1
	if m.Response != nil {
		if response = slices.Index(t.Columns, m.Response.Name); response < 0 {
			return missingColumn(t, "response column", m.Response.Name)
		}
	}
	var x []float64
	for {
		cells, line, err := t.Next()
		if err != nil {
			return ended(err)
		}
		inCell := func(err error) error { return fmt.Errorf("line %d, %w", line, err) } // "column …"
		x = x[:0]
		for i, c := range m.Features {
			if x, err = c.append(x, cells[at[i]]); err != nil {
				return inCell(err)
			}
		}
		y := math.NaN()
		if response >= 0 {
			if y, err = m.Response.value(cells[response]); err != nil {
				return inCell(err)
			}
		}
		if err := visit(x, y, line); err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
}

// Read returns the records of a table's rows, with the names of the features where the table names
// its columns, or where rules do.
func Read(t *data.Table, m *Map) (*data.Records, error) {
	var lines []int
	r, err := data.Collect(m.Response != nil, func(visit func([]float64, float64) error) error {
		return scan(t, m, func(x []float64, y float64, line int) error {
			lines = append(lines, line)
			return visit(x, y)
		})
	})
	if err != nil {
		return nil, err
	}
	columns, response := m.Published(t)
	return r.Named(columns, response).AtLines(lines), nil
}

// Published returns the names that a model of these records publishes: none where the table has
// none and the map is plain.
func (m *Map) Published(t *data.Table) (columns []string, response string) {
	if !t.Named && m.Plain() {
		return nil, ""
	}
	if m.Response != nil {
		response = m.Response.Name
	}
	return m.Names(), response
}

func missingColumn(t *data.Table, what, name string) error {
	rule := "one of the header"
	if !t.Named {
		rule = fmt.Sprintf("a number between 1 and %d in a file without header", len(t.Columns))
	}
	return &check.Error{Name: what, Value: name, Rule: rule}
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
		for _, v := range append(r.Row(i), r.Response(i)) {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
	} else {
		b = binary.LittleEndian.AppendUint64(b, uint64(i))
	}
	sum := sha256.Sum256(b)
	return float64(binary.LittleEndian.Uint64(sum[:])>>11)*0x1p-53 < h.Share
}
