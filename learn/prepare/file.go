package prepare

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/votes/format"
)

// MaxFile is the most bytes that a file of rules may have.
const MaxFile = 16 << 20

// file is a file of rules in TOML.
type file struct {
	Response string       `toml:"response"`
	Column   []fileColumn `toml:"column"`
}

type fileColumn struct {
	Name       string    `toml:"name"`
	Use        *bool     `toml:"use"` // false of a column that is no feature
	Scale      []float64 `toml:"scale"`
	Categories []string  `toml:"categories"`
	Fill       any       `toml:"fill"` // text or a number
}

// ParseFile reads a file of rules as Describe writes it. Its columns are the features, in their
// order, but those with use = false and the response. A key that is not known is an error.
func ParseFile(b []byte) (Rules, error) {
	var f file
	meta, err := toml.NewDecoder(bytes.NewReader(b)).Decode(&f)
	var parse toml.ParseError
	if errors.As(err, &parse) {
		return Rules{}, fmt.Errorf("line %d is no TOML: %s", parse.Position.Line, parse.Message)
	}
	if err != nil {
		return Rules{}, err
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return Rules{}, fmt.Errorf("%q is not known; a file has response and column, and a column name, "+
			"use, scale, categories and fill", unknown[0].String())
	}
	r := Rules{Response: f.Response, Only: []string{}}
	for _, c := range f.Column {
		if slices.ContainsFunc(r.Columns, func(o Column) bool { return o.Name == c.Name }) ||
			slices.Contains(r.AllBut, c.Name) {
			return r, fmt.Errorf("column %q is given twice", c.Name)
		}
		if c.Use != nil && !*c.Use {
			r.AllBut = append(r.AllBut, c.Name)
			continue
		}
		column := Column{Name: c.Name, Categories: c.Categories}
		if c.Scale != nil {
			if len(c.Scale) != 2 {
				return r, fmt.Errorf("column %q: %w", c.Name, check.Want("scale", c.Scale,
					"two numbers, low and high"))
			}
			column.Scale = &Range{c.Scale[0], c.Scale[1]}
		}
		if c.Fill != nil {
			fill := fmt.Sprint(c.Fill)
			column.Fill = &fill
		}
		r.Columns = append(r.Columns, column)
		r.Only = append(r.Only, c.Name)
	}
	return r, nil
}

// Schema has the names of a table's columns and, where its format declares them, their types: all
// that is public of it before a cell is read.
type Schema []SchemaColumn

// SchemaColumn is a column of a Schema.
type SchemaColumn struct {
	Name string `json:"name"`
	Type Type   `json:"type,omitempty"`
}

// MarshalJSON adds identifier, which is true where the name is an Identifier.
func (c SchemaColumn) MarshalJSON() ([]byte, error) {
	type column SchemaColumn
	return json.Marshal(struct {
		column
		Identifier bool `json:"identifier,omitempty"`
	}{column(c), Identifier(c.Name)})
}

// Type is the declared type of a column.
type Type string

// The types of columns.
const (
	Undeclared Type = "" // of formats of text
	Number     Type = "number"
	Boolean    Type = "boolean"
	Text       Type = "text"
)

// TypeOf returns the type of a column that a format declares.
func TypeOf(k format.Kind) Type {
	switch k {
	case format.Boolean:
		return Boolean
	case format.Integer, format.Unsigned, format.Float:
		return Number
	case format.Text:
		return Text
	}
	return Undeclared
}

// Describe writes a file of rules to be filled in, with an entry for each column. It rests on the
// schema alone, so the file tells nothing of the cells. Columns with the names of identifiers are
// left out of the features. response is the name of the response's column, "" for none.
func Describe(w io.Writer, s Schema, response string) error {
	if w == nil {
		return errors.New("writer must be given")
	}
	var b strings.Builder
	b.WriteString(`# How a row becomes a record. Fill in what is public knowledge: take no range and no word from the
# data, since a model shows them.
#   use = false                            the column is no feature
#   scale = [0, 120]                       range of a number, which is cut to it and mapped to [-1,1]
#   categories = ["one", "another"]        a feature for each word; other words have none of them
#   fill = "missing", 40 or "one"          for blank cells: a feature of their own, or what stands in

`)
	if response == "" {
		b.WriteString("# response = \"…\" # name, or name_above:number for 1 above the number and 0 else\n")
	} else {
		b.WriteString("response = " + quote(response) + "\n")
	}
	for _, c := range s {
		b.WriteString("\n[[column]]\nname = " + quote(c.Name) + "\n")
		number, words := "# scale = [low, high]\n", "# categories = [\"one\", \"another\"]\n"
		switch {
		case Identifier(c.Name) && c.Name != response:
			b.WriteString("use = false # the name of an identifier\n")
		case c.Type == Boolean && c.Name == response: // it is 0 or 1 already
		case c.Type == Boolean:
			b.WriteString("scale = [0, 1] # false, true\n")
		case c.Type == Number:
			b.WriteString(number)
		case c.Type == Text:
			b.WriteString(words)
		default:
			b.WriteString(number + words)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// quote returns s as text of TOML.
func quote(s string) string {
	var b bytes.Buffer
	if err := toml.NewEncoder(&b).Encode(map[string]string{"s": s}); err != nil {
		panic(err) // text has an encoding
	}
	return strings.TrimSuffix(strings.TrimPrefix(b.String(), "s = "), "\n")
}
