package votes

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"pgregory.net/rapid"

	"github.com/darrm/darrm/internal/npy"
	"github.com/darrm/darrm/internal/testing/raced"
	_ "github.com/darrm/darrm/votes/compress"
	_ "github.com/darrm/darrm/votes/parquet"
)

// data is a file of votes as a table, to be written in any format.
type data struct {
	classes []string
	votes   [][]int // per query, a class or -1 per teacher
	ids     []string
	labels  []int
}

// want returns the result that reading it must give.
func (d *data) want(keep bool) *all {
	a := &all{K: len(d.votes[0]), Classes: d.classes, IDs: d.ids, Labels: d.labels, N: len(d.votes)}
	missing := false
	for _, row := range d.votes {
		counts, gone := make([]int, len(d.classes)), 0
		for _, c := range row {
			if c < 0 {
				gone++
			} else {
				counts[c]++
			}
		}
		a.Counts = append(a.Counts, counts...)
		a.Missing = append(a.Missing, gone)
		missing = missing || gone > 0
		if keep {
			a.Votes = append(a.Votes, row...)
		}
	}
	if !missing {
		a.Missing = nil
	}
	return a
}

func drawData(t *rapid.T, missing bool) *data {
	d := &data{classes: rapid.SampledFrom([][]string{{"0", "1"}, {"0", "1", "2"}, {"5", "8"},
		{"-3", "300"}, {"cat", "dog"}, {"ä", "b c", "日本"}, IntegerClasses(12)}).Draw(t, "classes")}
	k := rapid.IntRange(1, 13).Draw(t, "K")
	n := rapid.IntRange(1, 40).Draw(t, "N")
	withIDs, withLabels := rapid.Bool().Draw(t, "ids"), rapid.Bool().Draw(t, "labels")
	least := 0
	if missing {
		least = -1
	}
	for i := range n {
		d.votes = append(d.votes, rapid.SliceOfN(rapid.IntRange(least, len(d.classes)-1), k, k).Draw(t,
			"votes"))
		if withIDs {
			d.ids = append(d.ids, rapid.SampledFrom([]string{"%d", "q%d", "é %d", "0%d"}).Draw(t, "form"))
			d.ids[i] = fmt.Sprintf(d.ids[i], i)
		}
		if withLabels {
			d.labels = append(d.labels, rapid.IntRange(-1, len(d.classes)-1).Draw(t, "label"))
		}
	}
	return d
}

func (d *data) name(c int, missing string) string {
	if c < 0 {
		return missing
	}
	return d.classes[c]
}

// writeCSV writes the table with encoding/csv.
func (d *data) writeCSV(comma rune, crlf bool) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Comma, w.UseCRLF = comma, crlf
	head := []string{}
	for t := range d.votes[0] {
		head = append(head, fmt.Sprintf("t%d", t+1))
	}
	if d.ids != nil {
		head = append([]string{"query"}, head...)
	}
	if d.labels != nil {
		head = append(head, "label")
	}
	w.Write(head)
	for i, row := range d.votes {
		var cells []string
		if d.ids != nil {
			cells = append(cells, d.ids[i])
		}
		for _, c := range row {
			cells = append(cells, d.name(c, "NA")) // an empty cell could be a blank line
		}
		if d.labels != nil {
			cells = append(cells, d.name(d.labels[i], "NA"))
		}
		w.Write(cells)
	}
	w.Flush()
	return b.Bytes()
}

// writeJSON writes one object per line, with a list of votes or a key for each
// teacher. Classes that are integers are written as numbers where number says so.
func (d *data) writeJSON(list, number bool) []byte {
	value := func(c int) any {
		if c < 0 {
			return nil
		}
		if n, err := strconv.Atoi(d.classes[c]); err == nil && number {
			return n
		}
		return d.classes[c]
	}
	var b bytes.Buffer
	for i, row := range d.votes {
		m := map[string]any{}
		if d.ids != nil {
			m["query"] = d.ids[i]
		}
		if d.labels != nil && (i%2 == 0 || d.labels[i] >= 0) { // an unknown one is null, or has no key
			m["label"] = value(d.labels[i])
		}
		var votes []any
		for t, c := range row {
			votes = append(votes, value(c))
			if !list {
				m[fmt.Sprintf("t%03d", t)] = value(c)
			}
		}
		if list {
			m["votes"] = votes
		}
		line, err := json.Marshal(m) // keys in alphabetical order
		if err != nil {
			panic(err)
		}
		b.Write(append(line, '\n'))
	}
	return b.Bytes()
}

// npyElements writes elements of the given type; missing ones as NaN or "".
func npyElements(descr string, names []string) []byte {
	var b []byte
	order := binary.ByteOrder(binary.LittleEndian)
	if descr[0] == '>' {
		order = binary.BigEndian
	}
	size, err := strconv.Atoi(descr[2:])
	if err != nil {
		panic(err)
	}
	for _, name := range names {
		f := math.NaN()
		if name != "" && descr[1] != 'U' && descr[1] != 'S' {
			n, err := strconv.Atoi(name)
			if err != nil {
				panic(err)
			}
			f = float64(n)
		}
		switch descr[1] {
		case 'U':
			cell := make([]byte, 4*size)
			for i, r := range []rune(name) {
				order.PutUint32(cell[4*i:], uint32(r))
			}
			b = append(b, cell...)
		case 'S':
			cell := make([]byte, size)
			copy(cell, name)
			b = append(b, cell...)
		case 'f':
			if size == 4 {
				b = order.(binary.AppendByteOrder).AppendUint32(b, math.Float32bits(float32(f)))
			} else {
				b = order.(binary.AppendByteOrder).AppendUint64(b, math.Float64bits(f))
			}
		default:
			cell := make([]byte, 8)
			u := uint64(int64(f))
			switch size {
			case 1:
				cell[0] = byte(u)
			case 2:
				order.PutUint16(cell, uint16(u))
			case 4:
				order.PutUint32(cell, uint32(u))
			case 8:
				order.PutUint64(cell, u)
			}
			b = append(b, cell[:size]...)
		}
	}
	return b
}

func npyFile(descr string, fortran bool, elements []byte, shape ...int64) []byte {
	head := npy.Head("'"+descr+"'", shape...)
	if fortran {
		// "True " has the length of "False".
		head = bytes.Replace(head, []byte("'fortran_order': False"), []byte("'fortran_order': True "), 1)
	}
	return append(head, elements...)
}

// matrix lists the votes' names row by row, or column by column.
func (d *data) matrix(byColumn bool) []string {
	var out []string
	n, k := len(d.votes), len(d.votes[0])
	if byColumn {
		for t := range k {
			for i := range n {
				out = append(out, d.name(d.votes[i][t], ""))
			}
		}
		return out
	}
	for i := range n {
		for t := range k {
			out = append(out, d.name(d.votes[i][t], ""))
		}
	}
	return out
}

// dtypes lists element types that hold the classes, and missing votes if there
// are any.
func (d *data) dtypes() []string {
	integers, small, binary, positive, longest, missing := true, true, true, true, 1, false
	for _, name := range d.classes {
		n, err := strconv.Atoi(name)
		integers = integers && err == nil
		small = small && n >= -100 && n <= 100
		binary = binary && (name == "0" || name == "1")
		positive = positive && n >= 0
		longest = max(longest, len(name))
	}
	for _, row := range d.votes {
		missing = missing || slices.Contains(row, -1)
	}
	missing = missing || slices.Contains(d.labels, -1)
	out := []string{fmt.Sprintf("<U%d", longest), fmt.Sprintf(">U%d", longest+2),
		fmt.Sprintf("|S%d", longest)}
	if !integers {
		return out
	}
	out = append(out, "<f4", "<f8", ">f8")
	if missing {
		return out
	}
	out = append(out, "<i2", "<i4", "<i8", ">i4", ">i8")
	if positive {
		out = append(out, "<u2", "<u8", ">u2")
	}
	if small {
		out = append(out, "|i1")
	}
	if binary {
		out = append(out, "|b1", "|u1")
	}
	return out
}

// writeNPZ writes an archive with the votes in any layout.
func (d *data) writeNPZ(descr string, teachers, fortran bool, method uint16) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	add := func(name string, content []byte) {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: method})
		if err == nil {
			_, err = w.Write(content)
		}
		if err != nil {
			panic(err)
		}
	}
	add("votes", d.npy(descr, teachers, fortran))
	if d.ids != nil {
		longest := 0
		for _, id := range d.ids {
			longest = max(longest, utf8.RuneCountInString(id))
		}
		add("query", npyFile(fmt.Sprintf("<U%d", longest), false,
			npyElements(fmt.Sprintf("<U%d", longest), d.ids), int64(len(d.ids))))
	}
	if d.labels != nil {
		var names []string
		for _, c := range d.labels {
			names = append(names, d.name(c, ""))
		}
		add("label", npyFile(descr, false, npyElements(descr, names), int64(len(names))))
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func (d *data) npy(descr string, teachers, fortran bool) []byte {
	n, k := int64(len(d.votes)), int64(len(d.votes[0]))
	elements := npyElements(descr, d.matrix(teachers != fortran))
	if teachers {
		n, k = k, n
	}
	return npyFile(descr, fortran, elements, n, k)
}

// parquetOptions vary how a Parquet file is written.
type parquetOptions struct {
	version  int
	codec    compress.Codec
	optional bool
	kind     string // int64, int32, uint32, bool, double, text, delta, dict, dictint
	plainIDs bool
	pageSize int
	group    int64
}

// writeParquet writes the table with parquet-go.
func (d *data) writeParquet(o parquetOptions) []byte {
	var node parquet.Node
	switch o.kind {
	case "int64":
		node = parquet.Int(64)
	case "int32":
		node = parquet.Leaf(parquet.Int32Type)
	case "uint32":
		node = parquet.Uint(32)
	case "bool":
		node = parquet.Leaf(parquet.BooleanType)
	case "boolrle":
		node = parquet.Encoded(parquet.Leaf(parquet.BooleanType), &parquet.RLE)
	case "double":
		node = parquet.Leaf(parquet.DoubleType)
	case "text":
		node = parquet.String()
	case "textdelta":
		node = parquet.Encoded(parquet.String(), &parquet.DeltaLengthByteArray)
	case "dict":
		node = parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
	case "dictint":
		node = parquet.Encoded(parquet.Int(64), &parquet.RLEDictionary)
	case "delta":
		node = parquet.Encoded(parquet.Int(64), &parquet.DeltaBinaryPacked)
	case "split":
		node = parquet.Encoded(parquet.Leaf(parquet.DoubleType), &parquet.ByteStreamSplit)
	case "splitfloat":
		node = parquet.Encoded(parquet.Leaf(parquet.FloatType), &parquet.ByteStreamSplit)
	case "splitint":
		node = parquet.Encoded(parquet.Int(64), &parquet.ByteStreamSplit)
	case "deltabytes":
		node = parquet.Encoded(parquet.String(), &parquet.DeltaByteArray)
	case "delta32":
		node = parquet.Encoded(parquet.Int(32), &parquet.DeltaBinaryPacked)
	}
	if o.optional {
		node = parquet.Optional(node)
	}
	value := func(c int) parquet.Value {
		if c < 0 {
			return parquet.NullValue()
		}
		n, _ := strconv.Atoi(d.classes[c])
		switch o.kind {
		case "int64", "delta", "dictint", "splitint":
			return parquet.Int64Value(int64(n))
		case "int32", "uint32", "delta32":
			return parquet.Int32Value(int32(n))
		case "bool", "boolrle":
			return parquet.BooleanValue(n == 1)
		case "double", "split":
			return parquet.DoubleValue(float64(n))
		case "splitfloat":
			return parquet.FloatValue(float32(n))
		}
		return parquet.ByteArrayValue([]byte(d.classes[c]))
	}
	group := parquet.Group{}
	if d.ids != nil {
		group["a_query"] = parquet.String()
		if o.plainIDs {
			group["a_query"] = parquet.Encoded(parquet.String(), &parquet.Plain)
		}
	}
	for t := range d.votes[0] {
		group[fmt.Sprintf("t%03d", t)] = node
	}
	if d.labels != nil {
		group["truth"] = node
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[any](&b, parquet.NewSchema("votes", group),
		parquet.DataPageVersion(o.version),
		parquet.Compression(o.codec), parquet.PageBufferSize(o.pageSize),
		parquet.MaxRowsPerRowGroup(o.group))
	for i, row := range d.votes {
		var out parquet.Row
		add := func(v parquet.Value, optional bool) {
			level := 0
			if optional && !v.IsNull() {
				level = 1
			}
			out = append(out, v.Level(0, level, len(out)))
		}
		if d.ids != nil {
			add(parquet.ByteArrayValue([]byte(d.ids[i])), false)
		}
		for _, c := range row {
			add(value(c), o.optional)
		}
		if d.labels != nil {
			add(value(d.labels[i]), o.optional)
		}
		if _, err := w.WriteRows([]parquet.Row{out}); err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func gzipped(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(data)
	w.Close()
	return b.Bytes()
}

func zstded(data []byte) []byte {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	return w.EncodeAll(data, nil)
}

// variant is a file and how to read it.
type variant struct {
	name string
	data []byte
	opts Options
	bare bool // without ids and labels
}

// variants writes d in every way.
func (d *data) variants(t *rapid.T) []variant {
	integers, binary := true, true
	missing := false
	for _, name := range d.classes {
		_, err := strconv.Atoi(name)
		integers = integers && err == nil
		binary = binary && (name == "0" || name == "1")
	}
	for _, row := range d.votes {
		missing = missing || slices.Contains(row, -1)
	}
	missing = missing || slices.Contains(d.labels, -1)
	out := []variant{
		{name: "v.csv", data: d.writeCSV(',', false)},
		{name: "crlf.csv", data: d.writeCSV(',', true)},
		{name: "v.tsv", data: d.writeCSV('\t', false)},
		{name: "semicolons.csv", data: d.writeCSV(';', false)},
		{name: "tabs.csv", data: d.writeCSV('\t', true)},
		{name: "v.csv.gz", data: gzipped(d.writeCSV(',', false))},
		{name: "v.tsv.zst", data: zstded(d.writeCSV('\t', false))},
		{name: "list.jsonl", data: d.writeJSON(true, true)},
		{name: "list.jsonl.gz", data: gzipped(d.writeJSON(true, false))},
		{name: "keys.ndjson.zst", data: zstded(d.writeJSON(false, true))},
	}
	dtypes := d.dtypes()
	for i, layout := range []Layout{LayoutWide, LayoutTeachers} {
		for _, fortran := range []bool{false, true} {
			descr := rapid.SampledFrom(dtypes).Draw(t, "dtype")
			name := fmt.Sprintf("%s-%s-%t", strings.Trim(descr, "<>|"), layout, fortran)
			opts := Options{Layout: layout}
			out = append(out,
				variant{name: name + ".npy", data: d.npy(descr, i == 1, fortran), opts: opts, bare: true},
				variant{name: name + ".npy.gz", data: gzipped(d.npy(descr, i == 1, fortran)), opts: opts,
					bare: true},
				variant{name: name + ".npz", data: d.writeNPZ(descr, i == 1, fortran, zip.Store), opts: opts},
				variant{name: name + "-packed.npz", data: d.writeNPZ(descr, i == 1, fortran, zip.Deflate),
					opts: opts},
			)
		}
	}
	kinds := []string{"text", "textdelta", "deltabytes", "dict"}
	if integers {
		kinds = append(kinds, "int64", "int32", "double", "split", "splitfloat", "delta", "delta32",
			"dictint")
	}
	if binary {
		kinds = append(kinds, "bool", "boolrle", "uint32")
	}
	for range 4 {
		o := parquetOptions{
			version: rapid.IntRange(1, 2).Draw(t, "page version"),
			codec: rapid.SampledFrom([]compress.Codec{&parquet.Uncompressed, &parquet.Snappy,
				&parquet.Gzip, &parquet.Zstd, &parquet.Brotli}).Draw(t, "codec"),
			optional: missing || rapid.Bool().Draw(t, "optional"),
			kind:     rapid.SampledFrom(kinds).Draw(t, "kind"),
			pageSize: rapid.SampledFrom([]int{64, 1 << 10, 1 << 18}).Draw(t, "page size"),
			group:    rapid.SampledFrom([]int64{7, 1000}).Draw(t, "group"),
		}
		name := fmt.Sprintf("%s-v%d-%s-%t-%d.parquet", o.kind, o.version,
			strings.ToLower(o.codec.String()), o.optional, o.pageSize)
		opts := Options{}
		if d.ids != nil {
			opts.IDColumn = "a_query"
		}
		out = append(out, variant{name: name, data: d.writeParquet(o), opts: opts})
	}
	return out
}

// long reports whether tests that take minutes shall run: DARRM_LONG=1.
func long() bool { return os.Getenv("DARRM_LONG") == "1" }

// The same votes give the same counts whatever the format, the size of the
// chunks and the number of workers; from a file and from a pipe.
func TestEveryFormatTheSame(t *testing.T) {
	dir := t.TempDir()
	skip := 3
	if raced.Enabled {
		skip = 15
	}
	rapid.Check(t, func(t *rapid.T) {
		missing := rapid.Bool().Draw(t, "missing")
		d := drawData(t, missing)
		keep := rapid.Bool().Draw(t, "keep")
		for _, v := range d.variants(t) {
			if !long() && rapid.IntRange(0, skip).Draw(t, "skip") > 0 {
				continue
			}
			want := d.want(keep)
			if v.bare {
				want.IDs, want.Labels = nil, nil
			}
			v.opts.Classes = d.classes
			v.opts.KeepVotes = keep
			if missing {
				v.opts.Missing = MissingCoin
			}
			v.opts.chunkBytes = rapid.SampledFrom([]int{0, 1, 20, 200}).Draw(t, "chunk")
			v.opts.Workers = rapid.IntRange(1, 3).Draw(t, "workers")
			path := filepath.Join(dir, v.name)
			if err := os.WriteFile(path, v.data, 0o600); err != nil {
				t.Fatal(err)
			}
			r, err := Open(context.Background(), v.opts, path)
			if err != nil {
				t.Fatalf("%s: %v", v.name, err)
			}
			got, err := collect(r)
			if err != nil {
				t.Fatalf("%s: %v", v.name, err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%s: got %+v, want %+v", v.name, got, want)
			}
			if p := r.Progress(); p.Rows != int64(want.N) || p.Bytes != int64(len(v.data)) ||
				p.TotalBytes != p.Bytes || p.TotalRows != 0 && p.TotalRows != p.Rows {
				t.Fatalf("%s: progress %+v at the end of %d rows in %d bytes", v.name, p, want.N, len(v.data))
			}
			if v.opts.Format, v.opts.Compression, err = byName(path, FormatAuto, CompressionAuto); err !=
				nil {
				t.Fatal(err)
			}
			got, err = readAll(bytes.NewBuffer(v.data), v.opts)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("%s from a pipe: got %+v, %v, want %+v", v.name, got, err, want)
			}
		}
	})
}

// counts as a table, in all formats.
func TestEveryFormatTheSameCounts(t *testing.T) {
	dir := t.TempDir()
	skip := 1
	if raced.Enabled {
		skip = 7
	}
	rapid.Check(t, func(t *rapid.T) {
		classes := rapid.SampledFrom([][]string{{"0", "1"}, {"cat", "dog", "cow"},
			IntegerClasses(10)}).Draw(t, "classes")
		k := rapid.IntRange(1, 50).Draw(t, "K")
		n := rapid.IntRange(1, 30).Draw(t, "N")
		want := &all{K: k, Classes: classes, N: n}
		var lines, arrays, keyed strings.Builder
		lines.WriteString(strings.Join(func() (head []string) {
			for _, name := range classes {
				head = append(head, "n"+name)
			}
			return head
		}(), ",") + "\n")
		var elements []string
		for range n {
			left := k
			var cells []string
			obj := map[string]int{}
			for c := range classes {
				x := left
				if c < len(classes)-1 {
					x = rapid.IntRange(0, left).Draw(t, "count")
				}
				left -= x
				want.Counts = append(want.Counts, x)
				cells = append(cells, strconv.Itoa(x))
				obj[classes[c]] = x
			}
			elements = append(elements, cells...)
			lines.WriteString(strings.Join(cells, ",") + "\n")
			fmt.Fprintf(&arrays, "{\"counts\": [%s]}\n", strings.Join(cells, ", "))
			line, _ := json.Marshal(obj)
			keyed.Write(append(line, '\n'))
		}
		descr := rapid.SampledFrom([]string{"<i8", "|u1", "<f4", ">u2"}).Draw(t, "dtype")
		shape := []int64{int64(n), int64(len(classes))}
		byColumn := make([]string, 0, len(elements))
		for c := range classes {
			for i := range n {
				byColumn = append(byColumn, elements[i*len(classes)+c])
			}
		}
		group := parquet.Group{}
		for _, name := range classes {
			group[name] = parquet.Int(32)
		}
		schema := parquet.NewSchema("counts", group)
		var pq bytes.Buffer
		w := parquet.NewGenericWriter[any](&pq, schema)
		for i := range n {
			row := make(parquet.Row, len(classes))
			for j, path := range schema.Columns() {
				row[j] = parquet.Int32Value(int32(want.Counts[i*len(classes)+
					slices.Index(classes, path[0])])).Level(0, 0, j)
			}
			w.WriteRows([]parquet.Row{row})
		}
		w.Close()
		for name, data := range map[string][]byte{
			"c.csv": []byte(lines.String()), "c.jsonl": []byte(arrays.String()),
			"k.jsonl":   []byte(keyed.String()),
			"c.npy":     npyFile(descr, false, npyElements(descr, elements), shape...),
			"f.npy":     npyFile(descr, true, npyElements(descr, byColumn), shape...),
			"c.npy.z":   gzipped(npyFile(descr, false, npyElements(descr, elements), shape...)),
			"f.npy.z":   zstded(npyFile(descr, true, npyElements(descr, byColumn), shape...)),
			"c.parquet": pq.Bytes(),
		} {
			if !long() && rapid.IntRange(0, skip).Draw(t, "skip") > 0 {
				continue
			}
			opts := Options{Classes: classes, Layout: LayoutCounts,
				Workers:    rapid.IntRange(1, 3).Draw(t, "workers"),
				chunkBytes: rapid.SampledFrom([]int{0, 1, 30}).Draw(t, "chunk")}
			if strings.HasSuffix(name, ".z") {
				opts.Format, opts.Compression = FormatNPY, CompressionGzip
				if name[0] == 'f' {
					opts.Compression = CompressionZstd
				}
			}
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			r, err := Open(context.Background(), opts, path)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			got, err := collect(r)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("%s: got %+v, %v, want %+v", name, got, err, want)
			}
		}
	})
}
