package oddvotes

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
)

// keep adds a file, perhaps compressed.
func (m *maker) keep(name string, text []byte) {
	if binary := []string{".parquet", ".npy", ".npz"}; !slices.Contains(binary, path.Ext(name)) && m.rare("gzip") {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		must(w.Write(text))
		must(0, w.Close())
		name, text = name+".gz", b.Bytes()
	}
	m.Files = append(m.Files, File{name, text})
}

func must[T any](_ T, err error) {
	if err != nil {
		panic(err) // of a writer to memory
	}
}

// writeTexts writes a table as CSV or TSV, in one file or two. The second may have its columns in
// another order.
func (m *maker) writeTexts(t *table) {
	parts := []*table{t}
	if at := len(t.cells) / 2; m.rare("two files") {
		second := &table{t.names, t.cells[at:]}
		if m.idName != "\x00" && m.idName != "Unnamed: 0" &&
			m.idName != "" && m.IntN(2) == 0 {
			m.Rare = append(m.Rare, "two files of different orders")
			second = second.shuffled(m)
		}
		parts = []*table{{t.names, t.cells[:at]}, second}
	}
	ending, separator := "csv", one(m, ",", ",", ";", "\t")
	if separator == "\t" && m.IntN(2) == 0 {
		ending = "tsv"
	}
	m.spacious = separator != "\t" && m.rare("blanks around cells")
	stated := ending == "csv" && m.rare("a line that states the separator")
	mark, line, last := "", "\n", true
	if m.rare("a byte order mark") {
		mark = "\ufeff"
	}
	if m.rare("lines that end as on Windows") {
		line = "\r\n"
	}
	last = !m.rare("no line end at the end")
	for i, part := range parts {
		var b strings.Builder
		b.WriteString(mark)
		if stated {
			b.WriteString("sep=" + separator + line)
		}
		rows := slices.Concat([][]string{part.names}, part.cells)
		for r, row := range rows {
			for c, cell := range row {
				if c > 0 {
					b.WriteString(separator)
				}
				b.WriteString(m.cell(cell, separator))
			}
			if r < len(rows)-1 || last {
				b.WriteString(line)
			}
		}
		m.keep(fmt.Sprintf("votes-%d.%s", i+1, ending), []byte(b.String()))
	}
	m.Name += " in " + ending
}

// cell writes one cell, in quotes where it must be and sometimes where it need not.
func (m *maker) cell(text, separator string) string {
	if strings.Contains(text, separator) || strings.ContainsAny(text, "\"") || text != "" && m.IntN(20) == 0 {
		return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
	}
	if m.spacious && text != "" {
		return one(m, "", " ") + text + one(m, "", " ", "  ")
	}
	return text
}

// writeLong writes a row for each vote. Missing votes have no row, or a blank one.
func (m *maker) writeLong() {
	m.names("ticket", func(_ *maker, j int) string { return fmt.Sprintf("prompt-%d", j+1) })
	t := &table{names: []string{"ticket", one(m, "prompt", "model"), "answer"}}
	for i := range m.Votes {
		for j := range m.Teachers {
			if i > 1 && j > 0 && m.Votes[i][j] == "" && m.IntN(2) == 0 { // a query has a row at least
				continue
			}
			t.cells = append(t.cells, []string{m.IDs[i], m.Teachers[j], m.spelled[i][j]})
		}
	}
	m.Name += " in csv"
	var b strings.Builder
	for _, row := range slices.Concat([][]string{t.names}, t.cells) {
		for c, cell := range row {
			if c > 0 {
				b.WriteString(",")
			}
			b.WriteString(m.cell(cell, ","))
		}
		b.WriteString("\n")
	}
	m.keep("votes.csv", []byte(b.String()))
}

// jsonValue writes a cell as JSON: a number where it is one in that notation, null, or text.
func (m *maker) jsonValue(text string) string {
	if text == "" && m.IntN(2) == 0 {
		return "null"
	}
	if json.Valid([]byte(text)) && text != "null" && (m.Counted != nil || m.IntN(4) > 0) { // text is no count
		return text
	}
	b, err := json.Marshal(text)
	must(b, err)
	return string(b)
}

// writeLines writes a table as JSON Lines, where a blank cell may be an absent key.
func (m *maker) writeLines(t *table) {
	var b strings.Builder
	for i, row := range t.cells {
		var pairs []string
		for c, cell := range row {
			if i > 0 && cell == "" && t.names[c] != m.idName && isTruth(t.names[c]) && m.rare("a truth without its key") {
				continue
			}
			value := m.jsonValue(cell)
			if t.names[c] == m.idName && !strings.HasPrefix(cell, "18446") { // one kind of ids
				value = strconv.Quote(cell)
			}
			pairs = append(pairs, strconv.Quote(t.names[c])+": "+value)
		}
		b.WriteString("{" + strings.Join(pairs, ", ") + "}\n")
	}
	m.keep("votes.jsonl", []byte(b.String()))
	m.Name += " in JSON Lines"
}

// isTruth reports whether a truth of this name is found without a statement, so that its key may be absent.
func isTruth(name string) bool { return slices.Contains([]string{"label", "truth", "Truth"}, name) }

// writeList writes the votes of a query as one list.
func (m *maker) writeList() {
	var b strings.Builder
	key := one(m, "votes", "answers")
	if m.family.number && m.IntN(2) == 0 {
		m.writeParquetList(key)
		return
	}
	for i, row := range m.spelled {
		var items []string
		for _, cell := range row {
			items = append(items, m.jsonValue(cell))
		}
		fmt.Fprintf(&b, "{%q: %q, %q: [%s]}\n", m.idName, m.IDs[i], key, strings.Join(items, ", "))
	}
	m.keep("votes.jsonl", []byte(b.String()))
	m.Name += " in JSON Lines"
}

// writeArray writes an array of numbers, of floats where a vote is missing.
func (m *maker) writeArray() {
	m.IDs, m.Teachers, m.Sides = nil, nil, true
	floats := false
	for _, s := range m.family.spellings {
		floats = floats || s.text == ""
	}
	var data bytes.Buffer
	for _, row := range m.spelled {
		for _, cell := range row {
			n, err := strconv.Atoi(cell)
			switch {
			case floats && err != nil:
				must(0, binary.Write(&data, binary.LittleEndian, math.NaN()))
			case floats:
				must(0, binary.Write(&data, binary.LittleEndian, float64(n)))
			default:
				must(0, binary.Write(&data, binary.LittleEndian, int64(n)))
			}
		}
	}
	kind := "<i8"
	if floats {
		kind = "<f8"
	}
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d), }", kind, len(m.Votes),
		len(m.Votes[0]))
	header += strings.Repeat(" ", 63-(10+len(header))%64) + "\n"
	text := slices.Concat([]byte("\x93NUMPY\x01\x00"), binary.LittleEndian.AppendUint16(nil, uint16(len(header))),
		[]byte(header), data.Bytes())
	if m.IntN(2) == 0 {
		m.keep("votes.npy", text)
		m.Name += " in .npy"
		return
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("votes.npy")
	must(w, err)
	must(w.Write(text))
	must(0, z.Close())
	m.keep("votes.npz", b.Bytes())
	m.Name += " in .npz"
}

// writeParquet writes a table of typed columns: numbers where all are numbers.
func (m *maker) writeParquet(t *table) {
	group, number, date := parquet.Group{}, make(map[string]bool), make(map[string]bool)
	for c, name := range t.names {
		number[name], date[name] = true, false
		for _, row := range t.cells {
			_, err := strconv.Atoi(row[c])
			number[name] = number[name] && (err == nil || row[c] == "") && name != m.idName
		}
		if name == m.idName && strings.HasPrefix(t.cells[0][c], "2024-") && m.IntN(2) == 0 {
			date[name], group[name] = true, parquet.Optional(parquet.Date())
			m.Rare = append(m.Rare, "dates of Parquet")
		} else if number[name] {
			group[name] = parquet.Optional(one(m, parquet.Int(8), parquet.Int(64), parquet.Leaf(parquet.DoubleType)))
		} else {
			group[name] = parquet.Optional(parquet.String())
		}
	}
	var b bytes.Buffer
	schema := parquet.NewSchema("votes", group)
	w := parquet.NewWriter(&b, schema)
	for _, row := range t.cells {
		out := make(parquet.Row, len(t.names))
		for c, name := range t.names {
			column, _ := schema.Lookup(name)
			value, defined := parquet.NullValue(), 0
			if n, err := strconv.Atoi(row[c]); row[c] != "" {
				switch defined = 1; {
				case date[name]:
					day, err := time.Parse(time.DateOnly, row[c])
					must(day, err)
					value = parquet.ValueOf(int32(day.Unix() / (24 * 60 * 60)))
				case !number[name] || err != nil:
					value = parquet.ValueOf(row[c])
				case group[name].Type().Kind() == parquet.Double:
					value = parquet.ValueOf(float64(n))
				case group[name].Type().Kind() == parquet.Int32:
					value = parquet.ValueOf(int32(n))
				default:
					value = parquet.ValueOf(int64(n))
				}
			}
			out[column.ColumnIndex] = value.Level(0, defined, column.ColumnIndex)
		}
		must(w.WriteRows([]parquet.Row{out}))
	}
	must(0, w.Close())
	m.keep("votes.parquet", b.Bytes())
	m.Name += " in Parquet"
}

// writeParquetList writes the votes of a query as one list of numbers.
func (m *maker) writeParquetList(key string) {
	m.Rare = append(m.Rare, "lists of Parquet")
	schema := parquet.NewSchema("votes", parquet.Group{m.idName: parquet.String(),
		key: parquet.List(parquet.Optional(parquet.Int(64)))})
	id, _ := schema.Lookup(m.idName)
	list, _ := schema.Lookup(key, "list", "element")
	var b bytes.Buffer
	w := parquet.NewWriter(&b, schema)
	for i, row := range m.spelled {
		values := []parquet.Value{parquet.ValueOf(m.IDs[i]).Level(0, 0, id.ColumnIndex)}
		for j, cell := range row {
			value, defined := parquet.NullValue(), 1
			if n, err := strconv.Atoi(cell); err == nil {
				value, defined = parquet.ValueOf(int64(n)), 2
			}
			values = append(values, value.Level(min(1, j), defined, list.ColumnIndex))
		}
		slices.SortStableFunc(values, func(a, b parquet.Value) int { return a.Column() - b.Column() })
		must(w.WriteRows([]parquet.Row{values}))
	}
	must(0, w.Close())
	m.keep("votes.parquet", b.Bytes())
	m.Name += " in Parquet"
}
