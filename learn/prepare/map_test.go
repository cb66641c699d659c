package prepare

import (
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/vec"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
)

func text(s string) *string { return &s }

// Every kind of rule, worked out by hand.
func TestRules(t *testing.T) {
	const table = "id,age,income,sex,city,y\n" +
		"7,60,1000,Male,Rome,yes\n" +
		"8,0,-5,Female,,no\n" +
		"9,120,250000,Unknown,?,yes\n" +
		"9,30,NA,,Oslo,yes\n"
	rules := Rules{Response: "y", AllBut: []string{"id"}, Columns: []Column{
		{Name: "age", Scale: &Range{0, 120}},
		{Name: "income", Scale: &Range{0, 200000}, Fill: text("100000")},
		{Name: "sex", Categories: []string{"Male", "Female"}, Fill: text("Female")},
		{Name: "city", Categories: []string{"Rome", "Oslo"}, Fill: text(Missing)},
		{Name: "y", Categories: []string{"no", "yes"}},
	}}
	r, err := readBy(strings.NewReader(table), true, rules)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"age", "income", "sex=Male", "sex=Female", "city=Rome", "city=Oslo",
		"city=missing"}; !slices.Equal(r.Columns(), want) || r.ResponseName() != "y" {
		t.Errorf("%q, %q", r.Columns(), r.ResponseName())
	}
	for i, want := range [][]float64{{0, -0.99, 1, 0, 1, 0, 0, 1}, {-1, -1, 0, 1, 0, 0, 1, 0},
		{1, 1, 0, 0, 0, 0, 1, 1}, {-0.5, 0, 0, 1, 0, 1, 0, 1}} {
		if got := append(slices.Clone(r.Row(i)), r.Response(i)); !slices.Equal(got, want) {
			t.Errorf("row %d: %v, want %v", i, got, want)
		}
	}
	// A number with a feature of its blanks, and one above another as the response.
	r, err = readBy(strings.NewReader("a,b\n,10\n3,10.5\n"), true, Rules{Response: "b_above:10",
		Columns: []Column{{Name: "a", Scale: &Range{1, 3}, Fill: text(Missing)}}})
	if err != nil || !slices.Equal(r.Row(0), []float64{0, 1}) ||
		!slices.Equal(r.Row(1), []float64{1, 0}) || r.Response(0) != 0 || r.Response(1) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	// A scaled response comes back in its units.
	m := Map{Response: &Response{Column: Column{Name: "y", Scale: &Range{10, 50}}}}
	u, err := m.Response.value("20")
	if err != nil || u != -0.5 || m.Response.Value(u) != 20 || m.Response.Unit() != 20 {
		t.Errorf("%v, %v", u, err)
	}
	// A scale that leaves 0 at 0: the end that is farther from it becomes 1 or -1, and what is beyond an end becomes it.
	for _, c := range []struct {
		scale Range
		want  []float64 // of -100, -2, 0, 5 and 100
	}{{Range{-5, 10}, []float64{-0.5, -0.2, 0, 0.5, 1}}, {Range{-10, 4}, []float64{-1, -0.2, 0, 0.4, 0.4}},
		{Range{0, 10}, []float64{0, 0, 0, 0.5, 1}}, {Range{-4, 0}, []float64{-1, -0.5, 0, 0, 0}}} {
		r, err := readBy(strings.NewReader("a\n-100\n-2\n0\n5\n100\n"), true,
			Rules{Center: Zero, Columns: []Column{{Name: "a", Scale: &c.scale}}})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range c.want {
			if got := r.Row(i)[0]; got != want {
				t.Errorf("%v, row %d: %v, want %v", c.scale, i, got, want)
			}
		}
	}
	// Ranges without 0 keep their middle where the center of all is 0.
	r, err = readBy(strings.NewReader("a\n2\n"), true,
		Rules{Center: Zero, Columns: []Column{{Name: "a", Scale: &Range{1, 3}}}})
	if err != nil || r.Row(0)[0] != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	// Space around a cell is none of it, a column without a name can be the response, and the last _above: counts.
	words := Column{Name: "a", Categories: []string{"p", "q"}}
	if x, err := words.append(nil, " q\t"); err != nil || !slices.Equal(x, []float64{0, 1}) {
		t.Errorf("%v, %v", x, err)
	}
	for _, name := range []string{"", "b_above:1"} {
		r, err = readBy(strings.NewReader("\""+name+"\",a\n4,1\n2,1\n"), true,
			Rules{Response: name + "_above:3", Only: []string{"a"}})
		if err != nil || r.Response(0) != 1 || r.Response(1) != 0 {
			t.Errorf("%q: %+v, %v", name, r, err)
		}
	}
	// Columns by their numbers, in a stated order.
	r, err = readBy(strings.NewReader("1,2,3\n4,5,6\n"), false, Rules{Response: "2",
		Only: []string{"3", "1"}})
	if err != nil || !slices.Equal(r.Row(1), []float64{6, 4}) || r.Response(1) != 5 ||
		r.Columns() != nil {
		t.Errorf("%+v, %v", r, err)
	}
}

var blanks = []string{"", "?", "NA", "N/A", "NaN", "nan", "NULL", "null", "None", "none", "NaT", "<NA>", "#N/A"}

// A cell that names a category is that category, also where elsewhere it would be blank.
func TestBlankWordsThatAreCategories(t *testing.T) {
	for _, word := range blanks {
		if word == "" {
			continue // no category has no name
		}
		for _, fill := range []string{"some", Missing} {
			c := Column{Name: "c", Categories: []string{"some", word}, Fill: text(fill)}
			x, err := c.append(nil, word)
			if err != nil || x[0] != 0 || x[1] != 1 || len(x) == 3 && x[2] != 0 {
				t.Errorf("%q with the fill %q: %v, %v", word, fill, x, err)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	above := func(c Column) Rules { return Rules{Response: "y", Columns: []Column{c}} }
	for want, rules := range map[string]Rules{
		`column "a": scale = 3:3, but it must be a finite number and a larger one`: above(
			Column{Name: "a", Scale: &Range{3, 3}}),
		`column "a": scale = NaN:3`: above(Column{Name: "a", Scale: &Range{math.NaN(), 3}}),
		`column "a": scale = 0:+Inf`: above(
			Column{Name: "a", Scale: &Range{0, math.Inf(1)}}),
		`column "a": scale = 0:1, but it must be left out`: above(
			Column{Name: "a", Scale: &Range{0, 1}, Categories: []string{"x"}}),
		`column "a": categories = "x", but it must be given once`: above(
			Column{Name: "a", Categories: []string{"x", "x"}}),
		`column "a": categories = ""`: above(Column{Name: "a", Categories: []string{""}}),
		`column "a": fill = "z", but it must be one of the categories`: above(
			Column{Name: "a", Categories: []string{"x"}, Fill: text("z")}),
		`column "a": fill = "z", but it must be a number`: above(Column{Name: "a", Fill: text("z")}),
		`response "y": fill = "1"`:                        above(Column{Name: "y", Fill: text("1")}),
		`response "y": categories = ["a"]`: above(
			Column{Name: "y", Categories: []string{"a"}}),
		`column = c, but it must be one of the table's columns`: above(Column{Name: "c"}),
		`column "b" has a rule, but it is no feature`: {Response: "y", Only: []string{"a"},
			Columns: []Column{{Name: "b", Scale: &Range{0, 1}}}},
		`column "a" is given twice`:                             {Only: []string{"a", "a"}},
		`column = z, but it must be one of the table's columns`: {AllBut: []string{"z"}},
		`response column = z, but it must be one of the t`:      {Response: "z"},
		`response "a_above:x": value = "x"`:                     {Response: "a_above:x"},
		`no features`:                                           {Response: "y", AllBut: []string{"a", "b"}},
		`line 2, column "b": value = "w", but it must be a f`:   {Response: "y"},
	} {
		_, err := readBy(strings.NewReader("a,b,y\n1,w,1\n"), true, rules)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	_, err := readBy(strings.NewReader("a,y\n1,\n"), true, Rules{Response: "y"})
	if err == nil || !strings.Contains(err.Error(), `column "y": the response is blank`) {
		t.Error(err)
	}
	_, err = readBy(strings.NewReader("a,y\n1,maybe\n"), true,
		above(Column{Name: "y", Categories: []string{"no", "yes"}}))
	if err == nil || !strings.Contains(err.Error(), `"maybe", but it must be one of ["no" "yes"]`) {
		t.Error(err)
	}
}

// A rule is added once to each column, whichever had rules before.
func TestAdd(t *testing.T) {
	var r Rules
	fill := func(word string) func(c *Column) bool {
		return func(c *Column) bool {
			twice := c.Fill != nil
			c.Fill = text(word)
			return twice
		}
	}
	for _, name := range []string{"a", "b"} {
		if err := r.Add(name, fill(name)); err != nil {
			t.Error(err)
		}
	}
	if err := r.Add("a", func(c *Column) bool { c.Scale = &Range{0, 1}; return false }); err != nil {
		t.Error(err)
	}
	want := []Column{{Name: "a", Fill: text("a"), Scale: &Range{0, 1}}, {Name: "b", Fill: text("b")}}
	if !reflect.DeepEqual(r.Columns, want) {
		t.Errorf("%+v", r.Columns)
	}
	if err := r.Add("b", fill("c")); err == nil || err.Error() != `column "b" has the rule twice` {
		t.Error(err)
	}
}

// The map for another table keeps the rule of the response, under that table's name.
func TestWithKeepsTheRule(t *testing.T) {
	above := 0.5
	features := []Column{{Name: "a", Scale: &Range{0, 1}}}
	m := Map{Features: features, Response: &Response{Column: Column{Name: "y"}, Above: &above}}
	got := m.With(true, "z").Response
	if got == nil || got.Name != "z" || got.Above == nil || *got.Above != above || m.Response.Name != "y" {
		t.Errorf("%+v, of %+v", got, m.Response)
	}
	if got := m.With(false, "z").Response; got != nil {
		t.Errorf("without responses: %+v", got)
	}
	m.Response = nil
	if got := m.With(true, "z").Response; got == nil || got.Name != "z" || got.Above != nil {
		t.Errorf("of no rule: %+v", got)
	}
}

// The response is no feature, has a rule of its own, and no two features have one name.
func TestMapContradictsItself(t *testing.T) {
	number := func(name string) Column { return Column{Name: name, Scale: &Range{0, 1}} }
	for want, m := range map[string]Map{
		`column "a" is the response`: {Features: []Column{number("a")}, Response: &Response{Column: number("a")}},
		`column "b"`: {Features: []Column{number("a")},
			Response: &Response{Column: Column{Name: "b", Scale: &Range{1, 0}}}},
		`two features have the name "a=b"`: {Features: []Column{number("a=b"),
			{Name: "a", Categories: []string{"b", "c"}}}},
	} {
		if err := m.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A column with the name of an identifier is a feature only if it is named.
func TestIdentifiers(t *testing.T) {
	for _, name := range []string{"id", "ID", "patient_id", "index", "Unnamed: 0", ""} {
		table := fmt.Sprintf("%q,x,y\n1,2,3\n", name)
		_, err := readBy(strings.NewReader(table), true, Rules{Response: "y"})
		if err == nil || !slices.Contains(check.Settling(err), "columns") {
			t.Errorf("%q: %v", name, err)
		}
		for _, rules := range []Rules{{Response: "y", Only: []string{name, "x"}},
			{Response: "y", AllBut: []string{name}}} {
			if _, err := readBy(strings.NewReader(table), true, rules); err != nil {
				t.Errorf("%q: %v", name, err)
			}
		}
	}
	for _, name := range []string{"paid", "idea", "indexed", "x"} {
		if Identifier(name) {
			t.Errorf("%q is taken for an identifier", name)
		}
	}
}

// drawMap draws a map of columns a0, a1, … and a table of cells that it can read.
func drawMap(t *rapid.T) (*Map, [][]string) {
	m := &Map{Response: &Response{Column: Column{Name: "y"}}}
	var cells []*rapid.Generator[string]
	number := rapid.OneOf(rapid.Custom(func(t *rapid.T) string {
		return fmt.Sprint(rapid.Float64Range(-1e6, 1e6).Draw(t, "x"))
	}), rapid.SampledFrom([]string{"-3e6", "0", "3e6"}))
	for i := range rapid.IntRange(1, 4).Draw(t, "columns") {
		c := Column{Name: fmt.Sprint("a", i)}
		cell := number
		if rapid.Bool().Draw(t, "words") {
			c.Categories = []string{"p", "q", "r"}[:rapid.IntRange(1, 3).Draw(t, "categories")]
			cell = rapid.SampledFrom([]string{"p", "q", "r", "s", "", "12"})
			if rapid.Bool().Draw(t, "filled") {
				c.Fill = text(rapid.SampledFrom([]string{"p", Missing}).Draw(t, "fill"))
			}
		} else {
			if rapid.Bool().Draw(t, "scaled") {
				low := rapid.OneOf(rapid.Float64Range(-1e6, 1e6), rapid.Float64Range(-10, 0)).Draw(t, "low")
				c.Scale = &Range{low, low + rapid.Float64Range(1e-3, 1e6).Draw(t, "width")}
				if c.Scale.hasZero() && rapid.IntRange(0, 2).Draw(t, "centred") > 0 {
					c.Center = Zero
				}
			}
			if rapid.Bool().Draw(t, "filled") {
				c.Fill = text(rapid.SampledFrom([]string{"7", Missing}).Draw(t, "fill"))
				cell = rapid.OneOf(number, rapid.SampledFrom(blanks))
			}
		}
		m.Features, cells = append(m.Features, c), append(cells, cell)
	}
	row := rapid.Custom(func(t *rapid.T) []string {
		out := []string{fmt.Sprint(rapid.IntRange(0, 1).Draw(t, "y"))}
		for _, cell := range cells {
			out = append(out, cell.Draw(t, "cell"))
		}
		return out
	})
	return m, rapid.SliceOfN(row, 1, 12).Draw(t, "rows")
}

func readRows(t *rapid.T, m *Map, rows [][]string) *data.Records {
	var b strings.Builder
	b.WriteString("y")
	for _, c := range m.Features {
		b.WriteString("," + c.Name)
	}
	for _, row := range rows {
		b.WriteString("\n\"" + strings.Join(row, `","`) + "\"")
	}
	table, err := data.NewCSV(strings.NewReader(b.String()), true)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Read(table, m)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A record is a function of its row alone: neighbouring tables have neighbouring records. So rows
// that are exchanged, removed or replaced leave every other record as it is, bit by bit.
func TestRowsAreMappedByThemselves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, rows := drawMap(t)
		all := readRows(t, m, rows)
		same := func(i int, other *data.Records, j int) bool {
			return slices.Equal(all.Row(i), other.Row(j)) && all.Response(i) == other.Response(j)
		}
		for i, row := range rows {
			if !same(i, readRows(t, m, [][]string{row}), 0) {
				t.Fatalf("row %d depends on others", i)
			}
		}
		k := rapid.IntRange(0, len(rows)-1).Draw(t, "changed")
		changed := slices.Clone(rows)
		changed[k] = rows[rapid.IntRange(0, len(rows)-1).Draw(t, "by")]
		r := readRows(t, m, changed)
		for i := range rows {
			if i != k && !same(i, r, i) {
				t.Fatalf("row %d changed with row %d", i, k)
			}
		}
		if len(rows) > 1 {
			r = readRows(t, m, slices.Delete(slices.Clone(rows), k, k+1))
			for i := range r.Len() {
				if j := i + 1; i < k && !same(i, r, i) || i >= k && !same(j, r, i) {
					t.Fatalf("record %d changed where row %d is gone", i, k)
				}
			}
		}
	})
}

// No row has a longer record than the map's radius, and where there is none a row can be as long
// as its number. Cells beyond both ends of each kind of scale are among the rows, and are counted.
func TestRadius(t *testing.T) {
	beyond := map[string]int{}
	defer func() {
		for _, center := range []string{"", Zero} {
			for _, end := range []string{"below", "above"} {
				if n := beyond[center+end]; n < 3 {
					t.Errorf("%d cells %s a scale with the center %q", n, end, center)
				}
			}
		}
	}()
	rapid.Check(t, func(t *rapid.T) {
		m, rows := drawMap(t)
		for _, row := range rows {
			for i, c := range m.Features {
				x, err := data.ParseNumber(row[1+i])
				switch {
				case err != nil || c.Scale == nil:
				case x < c.Scale.Low():
					beyond[c.Center+"below"]++
				case x > c.Scale.High():
					beyond[c.Center+"above"]++
				}
			}
		}
		r := readRows(t, m, rows)
		radius, largest := m.Radius(2), m.Radius(math.Inf(1))
		for i := range r.Len() {
			if vec.Norm(r.Row(i)) > radius*(1+vec.Slack(r.Dim())) ||
				geometry.Norm(r.Row(i), math.Inf(1)) > largest {
				t.Fatalf("record %v is longer than %v, %v", r.Row(i), radius, largest)
			}
		}
	})
	m := Map{Features: []Column{{Name: "a", Scale: &Range{0, 1}},
		{Name: "b", Categories: []string{"x"}}}}
	if got := m.Radius(2); got < math.Sqrt2 || got > math.Sqrt2*(1+1e-14) {
		t.Errorf("radius %v of two columns", got)
	}
	m.Features[0].Scale = nil
	if !math.IsInf(m.Radius(2), 1) {
		t.Error("a number without a scale has a bound")
	}
}

// Scan gives the records of Read, and ends with the error and the line of visit.
func TestScanIsRead(t *testing.T) {
	const in = "a, y,b\n1,0,2\n-3,1,4e2\n\n5,0,6\n"
	open := func() (*data.Table, *Map) {
		table, err := data.NewCSV(strings.NewReader(in), true)
		if err != nil {
			t.Fatal(err)
		}
		m, err := Rules{Response: "y"}.Map(table)
		if err != nil {
			t.Fatal(err)
		}
		return table, m
	}
	records, err := Read(open())
	if err != nil {
		t.Fatal(err)
	}
	table, m := open()
	i := 0
	err = Scan(table, m, func(x []float64, y float64) error {
		if !slices.Equal(x, records.Row(i)) || y != records.Response(i) {
			t.Errorf("record %d is %v, %v", i+1, x, y)
		}
		i++
		return nil
	})
	if err != nil || i != records.Len() || !slices.Equal(records.Columns(), []string{"a", "b"}) {
		t.Errorf("%d records, %v", i, err)
	}
	stop := errors.New("stop")
	table, m = open()
	n := 0
	err = Scan(table, m, func([]float64, float64) error {
		if n++; n == 3 {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) || !strings.HasPrefix(err.Error(), "line 5: ") {
		t.Error(err)
	}
}

// A scan's memory does not grow with its table.
func TestScanKeepsOneRow(t *testing.T) {
	const n = 100_000
	in := io.MultiReader(strings.NewReader("a,b,y\n"),
		strings.NewReader(strings.Repeat("0.25,w,1\n", n)))
	table, err := data.NewCSV(in, true)
	if err != nil {
		t.Fatal(err)
	}
	m := &Map{Features: []Column{{Name: "a"}, {Name: "b", Categories: []string{"w"}}},
		Response: &Response{Column: Column{Name: "y"}}}
	seen := 0
	allocs := testing.AllocsPerRun(1, func() {
		if err := Scan(table, m, func([]float64, float64) error { seen++; return nil }); err != nil {
			t.Fatal(err)
		}
	})
	if seen != n || allocs > 5*n/4 { // encoding/csv makes one text for each row
		t.Errorf("%d rows, %v allocations", seen, allocs)
	}
}

// An infinite number is no word: its error says that it is not finite, and does not lead to categories. A word's does.
func TestInfiniteNumbersAreNoWords(t *testing.T) {
	for cell, word := range map[string]bool{"inf": false, "-Inf": false, "+Infinity": false, "1e999": false, " -1e400 ": false,
		"word": true, "0x": true, "1e": true} {
		_, err := Column{Name: "a", Scale: &Range{0, 1}}.append(nil, cell)
		if err == nil || !strings.Contains(err.Error(), `column "a": value = `) || !strings.Contains(err.Error(), "must be a finite number") {
			t.Fatalf("%q: %v", cell, err)
		}
		if settled := slices.Contains(check.Settling(err), "categories"); settled != word || strings.Contains(err.Error(), "words") != word {
			t.Errorf("%q: %v, settled by categories: %v", cell, err, settled)
		}
	}
}
