package experiment

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
)

// Result holds the results of an experiment. It depends on the definition, the seed, the data and
// the program, and on nothing else.
type Result struct {
	Name    string   `json:"name"`
	Kind    string   `json:"kind"`
	Title   string   `json:"title"`
	Source  string   `json:"source"`
	About   string   `json:"about"`
	Quick   bool     `json:"quick"`
	Tables  []Table  `json:"tables"`
	Figures []Figure `json:"figures"`
	Claims  []Claim  `json:"claims"`
	Notes   []string `json:"notes"` // what a reader must know to read the numbers
}

// Claim is a statement about the numbers that was tested.
type Claim struct {
	Text     string `json:"text"`
	Holds    bool   `json:"holds"`
	Evidence string `json:"evidence"`
}

// Failed returns the claims that do not hold.
func (r Result) Failed() []Claim {
	var out []Claim
	for _, c := range r.Claims {
		if !c.Holds {
			out = append(out, c)
		}
	}
	return out
}

// Table is numbers with a name. Its CSV file has one line per row and the columns' names
// as header.
type Table struct {
	Name    string   `json:"name"` // also the name of the CSV file
	Caption string   `json:"caption"`
	Columns []Column `json:"columns"`
	Rows    [][]any  `json:"rows"` // cells are numbers, strings or nil (nothing to say)
	// Long is true for a table that a report shows folded up.
	Long bool `json:"long,omitempty"`
}

// Column is one quantity.
type Column struct {
	Name  string `json:"name"`  // in the CSV
	Title string `json:"title"` // for people
	// how people see its numbers, as in fmt; the CSV has nine digits
	Format string `json:"format,omitempty"`
}

// Figure is one picture, kept as Name.svg and Name.png.
type Figure struct {
	Name    string `json:"name"`
	Caption string `json:"caption"`
}

// Add appends a row: a number, a string or nil for each column.
func (t *Table) Add(cells ...any) {
	if len(cells) != len(t.Columns) {
		panic(fmt.Sprintf("experiment: %d cells for %d columns of table %s", len(cells), len(t.Columns),
			t.Name))
	}
	t.Rows = append(t.Rows, cells)
}

// writeCSV writes the table with numbers in nine significant digits: enough for every
// comparison, and short of the last ones, which may differ between processors.
func (t Table) writeCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	line := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		line[i] = c.Name
	}
	if err := out.Write(line); err != nil {
		return err
	}
	for _, row := range t.Rows {
		for i, cell := range row {
			line[i] = cellCSV(cell)
		}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func cellCSV(cell any) string {
	switch c := cell.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(c, 'g', 9, 64)
	}
	return fmt.Sprint(cell)
}

// text returns a cell as people see it.
func (c Column) text(cell any) string {
	switch v := cell.(type) {
	case nil:
		return ""
	case float64:
		if c.Format != "" {
			return fmt.Sprintf(c.Format, v)
		}
		return strconv.FormatFloat(v, 'g', 6, 64)
	}
	return fmt.Sprint(cell)
}
