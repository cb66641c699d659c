package votes

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"sync"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

const (
	maxParquetFooter = 64 << 20
	// maxParquetPages bounds the pages of a row group, some 300 bytes each.
	maxParquetPages = 1 << 17
	// parquetTaskCells is how many counts a task fills, more than of other formats: a
	// page is read again by every task that needs rows of it, and a page can have a
	// million rows.
	parquetTaskCells = 1 << 18
)

// parquetColumn is a column of the file, which holds one cell per row.
type parquetColumn struct {
	name     string
	kind     format.Type
	unsigned bool
	optional bool
	role     parquetRole
	index    int // of the teacher or the class
}

type parquetRole int

const (
	parquetVote parquetRole = iota
	parquetCount
	parquetLabel
	parquetID
	parquetUnused
)

// parquetDecoder cuts the row groups into tasks.
type parquetDecoder struct {
	*fileInfo
	src     *source
	at      io.ReaderAt
	meta    format.FileMetaData
	columns []parquetColumn
	k       int
	ids     bool
	labels  bool
	roles   Roles
	perTask int64

	group int
	pages *parquetGroup // of the group
	row   int64         // next, in the group
	done  int64         // rows of the groups before
}

// parquetGroup lists the pages of one row group.
type parquetGroup struct {
	rows  int64
	dicts []*pageRef // per column; nil if there is none
	pages [][]pageRef
}

func openParquet(ctx context.Context, info *fileInfo, s *source, pool *batchPool) (decoder, error) {
	info.rows = true
	at, size, err := s.seekable(ctx, info)
	if err != nil {
		return nil, err
	}
	d := &parquetDecoder{fileInfo: info, src: s, at: at}
	if err := d.readFooter(size); err != nil {
		return nil, err
	}
	if err := d.readSchema(); err != nil {
		return nil, err
	}
	if err := d.checkGroups(size); err != nil {
		return nil, err
	}
	if err := d.resolveRoles(); err != nil {
		return nil, err
	}
	per := d.classes.len()
	if d.opts.KeepVotes {
		per += d.k
	}
	d.perTask = int64(max(1, parquetTaskCells/per))
	if d.opts.chunkBytes > 0 { // of tests
		d.perTask = min(d.perTask, int64(max(1, d.opts.chunkBytes/len(d.columns))))
	}
	if d.layout == LayoutCounts {
		if err := d.firstK(); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// readFooter reads the metadata at the end of the file.
func (d *parquetDecoder) readFooter(size int64) error {
	var head, tail [8]byte
	if size < 12 {
		return d.errorf("%d bytes are too few for a Parquet file", size)
	}
	if n, err := d.at.ReadAt(head[:4], 0); n < 4 {
		return d.sourceError(err, 0)
	}
	if n, err := d.at.ReadAt(tail[:], size-8); n < 8 {
		return d.sourceError(err, 0)
	}
	magic := string(tail[4:])
	switch rule := FormatParquet.beginning(head[:4]); {
	case magic == "PARE":
		return d.errorf("the Parquet file is encrypted")
	case rule != "":
		return d.errorf("%s", rule)
	case magic != "PAR1":
		return d.errorf("the file does not end as a Parquet file does: %s, want \"PAR1\"; is it cut off?", quote(magic))
	}
	length := int64(binary.LittleEndian.Uint32(tail[:4]))
	if length > size-12 || length > maxParquetFooter {
		return d.errorf("the metadata claim %d bytes, but the file has %d, and %d are allowed", length, size, maxParquetFooter)
	}
	footer := make([]byte, length)
	if n, err := d.at.ReadAt(footer, size-8-length); n < len(footer) {
		return d.sourceError(err, 0)
	}
	// A real column chunk takes some 60 bytes, a tenth of what it takes in memory.
	n, err := boundThrift(footer, 16<<20+16*len(footer))
	if err == nil && n != len(footer) {
		err = errThriftCut
	}
	if err == nil {
		err = recovered(func() error { return thrift.Unmarshal(new(thrift.CompactProtocol), footer, &d.meta) })
	}
	if err != nil {
		return d.damaged(err)
	}
	return nil
}

// recovered turns a panic of a library into an error. What it reads has been
// bounded, but not everything that it takes for granted.
func recovered(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the metadata make no sense: %v", p)
		}
	}()
	return f()
}

// damaged is a file that contradicts itself, or uses what is not read here.
func (d *parquetDecoder) damaged(err error) error {
	var rule *ruleError
	if errors.As(err, &rule) {
		return d.errorf("%v", err)
	}
	return &ParseError{File: d.name, Rule: fmt.Sprintf("the Parquet file is damaged: %v", err), Err: err}
}

// readSchema takes the columns: the schema must be flat.
func (d *parquetDecoder) readSchema() error {
	schema := d.meta.Schema
	if len(schema) == 0 {
		return d.damaged(errors.New("there is no schema"))
	}
	if n := len(schema) - 1; n > MaxColumns {
		return d.errorf("%d columns, want at most %d", n, MaxColumns)
	}
	seen := make(map[string]int)
	for i, e := range schema[1:] {
		if e.NumChildren.V > 0 || !e.Type.Valid {
			return d.errorf("column %s is nested: want one flat column for each teacher", quote(e.Name))
		}
		if first, ok := seen[e.Name]; ok {
			return d.errorf("column %d: the file has the column %s twice, first as column %d", i+1, quote(e.Name), first+1)
		}
		seen[e.Name] = i
		if !utf8.ValidString(e.Name) {
			return d.errorf("column %d: its name is not valid UTF-8", i+1)
		}
		c := parquetColumn{name: e.Name, kind: e.Type.V}
		switch r := e.RepetitionType; {
		case r.Valid && r.V == format.Repeated:
			return d.errorf("column %s holds a list in every row: want one flat column for each teacher", quote(e.Name))
		case r.Valid && r.V == format.Optional:
			c.optional = true
		}
		what := c.kind.String()
		ok := c.kind == format.Boolean || c.kind == format.Float || c.kind == format.Double
		logical := e.LogicalType.Value
		old := e.ConvertedType
		if logical != nil {
			what += " (" + logical.String() + ")"
		} else if old.Valid {
			what += fmt.Sprintf(" (converted type %d)", old.V)
		}
		switch c.kind {
		case format.Int32, format.Int64:
			if t, isInt := logical.(*format.IntType); isInt {
				ok, c.unsigned = true, !t.IsSigned
			} else if logical == nil {
				switch {
				case !old.Valid, old.V >= deprecated.Int8 && old.V <= deprecated.Int64:
					ok = true
				case old.V >= deprecated.Uint8 && old.V <= deprecated.Uint64:
					ok, c.unsigned = true, true
				}
			}
		case format.ByteArray:
			switch logical.(type) {
			case *format.StringType, *format.EnumType:
				ok = true
			case nil:
				ok = !old.Valid || old.V == deprecated.UTF8 || old.V == deprecated.Enum
			}
		}
		if !ok {
			return d.errorf("column %s has the type %s: want booleans, integers, floats or text", quote(e.Name), what)
		}
		d.columns = append(d.columns, c)
	}
	if int(schema[0].NumChildren.V) != len(d.columns) {
		return d.damaged(errors.New("the schema does not add up"))
	}
	return nil
}

// checkGroups checks that the row groups have the schema's columns.
func (d *parquetDecoder) checkGroups(size int64) error {
	sum := int64(0)
	for i := range d.meta.RowGroups {
		g := &d.meta.RowGroups[i]
		if g.NumRows < 0 || g.NumRows > d.meta.NumRows-sum {
			return d.damaged(fmt.Errorf("row group %d claims %d rows of the file's %d", i, g.NumRows, d.meta.NumRows))
		}
		sum += g.NumRows
		if len(g.Columns) != len(d.columns) {
			return d.damaged(fmt.Errorf("row group %d has %d columns, the schema %d", i, len(g.Columns), len(d.columns)))
		}
		for j := range g.Columns {
			c, m := &g.Columns[j], &g.Columns[j].MetaData
			if c.FilePath != "" {
				return d.errorf("column %s is in another file, %s", quote(d.columns[j].name), quote(c.FilePath))
			}
			if len(c.EncryptedColumnMetadata) > 0 || c.CryptoMetadata.Value != nil {
				return d.errorf("column %s is encrypted", quote(d.columns[j].name))
			}
			if len(m.PathInSchema) != 1 || m.PathInSchema[0] != d.columns[j].name || m.Type != d.columns[j].kind {
				return d.damaged(fmt.Errorf("row group %d does not have the schema's columns", i))
			}
			start := chunkStart(m)
			if start < 4 || m.TotalCompressedSize < 0 || m.TotalCompressedSize > size-start {
				return d.damaged(fmt.Errorf("row group %d: column %s claims the bytes from %d to %d of %d", i, quote(d.columns[j].name), start, start+m.TotalCompressedSize, size))
			}
			if m.NumValues != g.NumRows {
				return d.damaged(fmt.Errorf("row group %d: column %s has %d values in %d rows", i, quote(d.columns[j].name), m.NumValues, g.NumRows))
			}
		}
	}
	if sum != d.meta.NumRows {
		return d.damaged(fmt.Errorf("the row groups have %d rows, the file claims %d", sum, d.meta.NumRows))
	}
	if sum == 0 {
		return d.errorf("the file has no rows")
	}
	return nil
}

func chunkStart(m *format.ColumnMetaData) int64 {
	if o := m.DictionaryPageOffset; o > 0 && o < m.DataPageOffset {
		return o
	}
	return m.DataPageOffset
}

// resolveRoles says which column holds what.
func (d *parquetDecoder) resolveRoles() error {
	set := &columnSet{what: "column", n: len(d.columns), names: make([]string, len(d.columns))}
	for i := range d.columns {
		set.names[i] = d.columns[i].name
		d.columns[i].role = parquetUnused
	}
	cols, fault := d.assign(set)
	if fault != nil {
		e := &ParseError{File: d.name, Rule: fault.rule}
		if fault.at >= 0 {
			e.Column, e.ColumnName = fault.at+1, set.names[fault.at]
		}
		return e
	}
	d.roles = set.roles(d.fileInfo, cols)
	d.ids, d.labels = cols.id >= 0, cols.label >= 0
	if d.ids {
		c := &d.columns[cols.id]
		c.role = parquetID
		d.idColumn, d.idName = cols.id, c.name
		if c.kind == format.Boolean || c.kind == format.Float || c.kind == format.Double {
			return d.errorf("column %s: query ids have the type %s, want integers or text", quote(c.name), c.kind)
		}
	}
	if d.labels {
		d.columns[cols.label].role = parquetLabel
	}
	role := parquetVote
	if d.layout == LayoutCounts {
		role = parquetCount
	} else {
		d.k = len(cols.votes)
	}
	for i, at := range cols.votes {
		c := &d.columns[at]
		c.role, c.index = role, i
		if role == parquetCount && (c.kind == format.ByteArray || c.kind == format.Boolean) {
			return d.errorf("column %s: counts have the type %s, want integers", quote(c.name), c.kind)
		}
	}
	return nil
}

// firstK sums the counts of the first row.
func (d *parquetDecoder) firstK() error {
	t, err := d.next()
	if err != nil {
		return err
	}
	d.k = 0
	b := new(Batch)
	err = t(b) // fails on the wrong sum, or later
	if b.n == 0 {
		return err
	}
	for _, n := range b.Row(0) {
		d.k += n
	}
	d.row = 0
	if rule := d.kRule(d.k, fmt.Sprintf("%s sum to %d", countsName(d.classes), d.k)); rule != "" {
		return d.errorf("%s", rule)
	}
	return nil
}

func (d *parquetDecoder) about() about {
	return about{k: d.k, ids: d.ids, labels: d.labels, rows: d.meta.NumRows, roles: d.roles}
}

func (d *parquetDecoder) close() error { return nil }

func (d *parquetDecoder) next() (task, error) {
	for d.pages == nil || d.row == d.pages.rows {
		if d.pages != nil {
			d.done += d.pages.rows
			d.group++
			d.row = 0
		}
		if d.group == len(d.meta.RowGroups) {
			return nil, io.EOF
		}
		var err error
		if d.pages, err = d.listPages(d.group); err != nil {
			return nil, err
		}
	}
	g, group, first := d.pages, d.group, d.row
	rows := int(min(d.perTask, g.rows-first))
	at := d.done + first // in the file
	d.row += int64(rows)
	if d.src.size >= 0 {
		d.src.read.Store(int64(float64(d.src.size) * float64(at+int64(rows)) / float64(d.meta.NumRows)))
	}
	return func(b *Batch) error { return d.read(g, group, first, at, rows, b) }, nil
}

// listPages reads the headers of a row group's pages.
func (d *parquetDecoder) listPages(group int) (*parquetGroup, error) {
	meta := &d.meta.RowGroups[group]
	g := &parquetGroup{rows: meta.NumRows, dicts: make([]*pageRef, len(d.columns)), pages: make([][]pageRef, len(d.columns))}
	buf := make([]byte, maxPageHeader)
	total := 0
	for j := range d.columns {
		m := &meta.Columns[j].MetaData
		off := chunkStart(m)
		end := off + m.TotalCompressedSize
		fail := func(err error) error {
			return d.damaged(fmt.Errorf("row group %d, column %s: %w", group, quote(d.columns[j].name), err))
		}
		first := int64(0)
		for first < g.rows {
			var p pageRef
			err := errPageCut
			if off < end {
				err = recovered(func() (err error) { p, err = readPageHeader(d.at, off, end, buf); return err })
			}
			if err != nil {
				return nil, fail(err)
			}
			if total++; total > maxParquetPages {
				return nil, fail(fmt.Errorf("the row group has more than %d pages", maxParquetPages))
			}
			off = p.offset + int64(p.head.CompressedPageSize)
			switch p.head.Type {
			case format.DictionaryPage:
				if g.dicts[j] != nil || first > 0 {
					return nil, fail(errors.New("a dictionary that is not the first page"))
				}
				g.dicts[j] = &p
			case format.DataPage, format.DataPageV2:
				p.first = first
				first += int64(p.rows)
				if first > g.rows {
					return nil, fail(fmt.Errorf("the pages have more than %d rows", g.rows))
				}
				// The statistics in the header would be kept for every page.
				p.head.DataPageHeader.V.Statistics = format.Statistics{}
				p.head.DataPageHeaderV2.V.Statistics = format.Statistics{}
				g.pages[j] = append(g.pages[j], p)
			case format.IndexPage:
			default:
				return nil, fail(fmt.Errorf("page of unknown type %d", p.head.Type))
			}
		}
	}
	return g, nil
}

// fault is the first fault of a column's rows.
type fault struct {
	row  int // of the batch
	rule string
}

// read reads rows of a row group, column by column; at is the first row's number
// in the file. The fault that is reported is the first by row, and within a row
// by column, whatever tasks and pages are.
func (d *parquetDecoder) read(g *parquetGroup, group int, first, at int64, rows int, b *Batch) error {
	b.reset(d.k, d.classes.len())
	b.file = d.fileInfo
	b.line = int(at)
	b.addRows(rows)
	if d.opts.KeepVotes {
		b.Votes = growZero(b.Votes, rows*d.k)
	}
	if d.labels {
		b.Labels = resize(b.labels, rows)
	}
	if d.ids {
		b.IDs = resize(b.ids, rows)
	}
	worst := fault{row: rows}
	column := 0
	cells := cellReaders.Get().(*cellReader)
	defer cellReaders.Put(cells)
	cells.pairs = cells.pairs[:0]
	if d.classes.len() == 2 && d.layout != LayoutCounts && d.k <= 0xffff {
		cells.pairs = resize(cells.pairs, rows)
		clear(cells.pairs)
	}
	// In a row, votes come before the label and the id, as in the other formats.
	for role := parquetVote; role <= parquetID; role++ {
		for j := range d.columns {
			c := &d.columns[j]
			if c.role != role {
				continue
			}
			f, err := d.readColumn(g, group, j, first, rows, b, cells)
			if err != nil {
				b.cut(0)
				return d.damaged(fmt.Errorf("row group %d, column %s: %w", group, quote(c.name), err))
			}
			if f.row < worst.row {
				worst, column = f, j
			}
		}
	}
	cells.flush(b)
	if d.layout == LayoutCounts && d.k != 0 {
		for i := range min(worst.row, rows) {
			k := 0
			for _, n := range b.Row(i) {
				k += n
			}
			if k != d.k {
				rule := fmt.Sprintf("%s sum to K = %d, but to K = %d in row 0", countsName(d.classes), k, d.k)
				if k == 0 {
					rule = countsName(d.classes) + " are all 0: there are no votes"
				}
				worst, column = fault{i, rule}, -1
				break
			}
		}
	}
	if worst.row == rows {
		return nil
	}
	b.cut(worst.row)
	e := &ParseError{File: d.name, Row: at + int64(worst.row), HasRow: true, Rule: worst.rule}
	if column >= 0 {
		e.Column, e.ColumnName = column+1, d.columns[column].name
	}
	return e
}

// cellReader keeps memory from page to page.
type cellReader struct {
	pages  pageReader
	values pageValues
	class  []int // of the dictionary's entries
	// classes are those of a page's cells.
	classes []int
	// pairs counts two classes in a quarter of the memory that Counts takes, so that
	// all columns' passes over it stay in the cache: the first class in the low half,
	// the second in the high half. nil if there are more classes or teachers.
	pairs []uint32
}

var cellReaders = sync.Pool{New: func() any { return new(cellReader) }}

// flush adds the pairs to the counts.
func (c *cellReader) flush(b *Batch) {
	for i, p := range c.pairs {
		b.Counts[2*i] += int(p & 0xffff)
		b.Counts[2*i+1] += int(p >> 16)
	}
}

// readColumn adds one column's cells of the rows to b.
func (d *parquetDecoder) readColumn(g *parquetGroup, group, j int, first int64, rows int, b *Batch, cells *cellReader) (fault, error) {
	c := &d.columns[j]
	pr := &cells.pages
	pr.r, pr.codec, pr.column = d.at, d.meta.RowGroups[group].Columns[j].MetaData.Codec, c
	worst := fault{row: rows}
	var dict *pageValues
	for i := range g.pages[j] {
		p := &g.pages[j][i]
		if p.first+int64(p.rows) <= first {
			continue
		}
		if p.first >= first+int64(rows) {
			break
		}
		if ref := g.dicts[j]; dict == nil && ref != nil { // before the page, which takes its memory
			var err error
			if dict, err = pr.dictionary(ref); err != nil {
				return worst, err
			}
			cells.class = cells.class[:0] // of another column
		}
		v := &cells.values
		if err := pr.values(p, v); err != nil {
			return worst, err
		}
		present := p.rows
		for _, null := range v.null {
			if null {
				present--
			}
		}
		from := v
		if v.indexed {
			if dict == nil {
				return worst, errors.New("indices without a dictionary")
			}
			from = dict
			if done, err := d.addPacked(c, p, v, dict, first, rows, cells.pairs); err != nil {
				return worst, err
			} else if done {
				continue
			}
			if err := v.unpackIndex(present); err != nil {
				return worst, err
			}
			n := uint32(dict.len(c.kind))
			most := uint32(0)
			if uint64(n) < 1<<v.width { // otherwise every number is an index
				for _, at := range v.index {
					most = max(most, at)
				}
			}
			if most >= n {
				return worst, fmt.Errorf("index %d in a dictionary of %d entries", most, n)
			}
		} else if v.len(c.kind) < present {
			return worst, errPageCut
		}
		f := d.addCells(c, p, v, from, first, rows, b, cells)
		if f.row < worst.row {
			return f, nil // the first of this column
		}
	}
	return worst, nil
}

// len returns how many values of a type there are.
func (v *pageValues) len(kind format.Type) int {
	switch kind {
	case format.Boolean:
		return len(v.bools)
	case format.Int32, format.Int64:
		return len(v.ints)
	case format.Float, format.Double:
		return len(v.floats)
	}
	return len(v.bytes)
}

// addCells adds the page's cells that are in the rows. from holds the values, v
// the nulls and indices.
func (d *parquetDecoder) addCells(c *parquetColumn, p *pageRef, v, from *pageValues, first int64, rows int, b *Batch, cells *cellReader) fault {
	if v.null == nil && c.role == parquetVote && !d.opts.KeepVotes && d.addVotes(c, p, v, from, first, rows, b, cells) {
		return fault{row: rows}
	}
	at := 0 // value of the next present row
	for i := range p.rows {
		null := v.null != nil && v.null[i]
		value := at
		if !null {
			at++
			if len(v.index) > 0 {
				value = int(v.index[value])
			}
		}
		row := int(p.first-first) + i
		if row < 0 {
			continue
		}
		if row >= rows {
			break
		}
		if rule := d.addCell(c, from, value, null, row, len(v.index) > 0, b, cells); rule != "" {
			return fault{row, rule}
		}
	}
	return fault{row: rows}
}

// addPacked is addVotes for indices of one bit. It says whether it could.
func (d *parquetDecoder) addPacked(c *parquetColumn, p *pageRef, v, dict *pageValues, first int64, rows int, pairs []uint32) (bool, error) {
	if c.role != parquetVote || len(pairs) == 0 || v.null != nil || d.opts.KeepVotes || v.width != 1 || dict.len(c.kind) != 2 {
		return false, nil
	}
	var terms [2]uint32
	for i := range terms {
		class := d.classOf(c, dict, i)
		if class < 0 {
			return false, nil
		}
		terms[i] = 1 << (16 * class)
	}
	lo := int(max(0, first-p.first))
	hi := int(min(int64(p.rows), first+int64(rows)-p.first))
	return true, addHybrid(pairs[int(p.first-first)+lo:][:hi-lo], lo, v.packed, terms)
}

// addVotes is addCells for a page of votes without nulls, as most are. If a cell
// is no vote it returns false and has changed nothing.
func (d *parquetDecoder) addVotes(c *parquetColumn, p *pageRef, v, from *pageValues, first int64, rows int, b *Batch, cells *cellReader) bool {
	lo := int(max(0, first-p.first))
	hi := int(min(int64(p.rows), first+int64(rows)-p.first))
	at := int(p.first-first) + lo // row of the batch
	counts := b.Counts[at*b.Classes:]
	pairs := cells.pairs
	switch {
	case len(v.index) > 0:
		n := from.len(c.kind)
		if n > 1<<12 {
			return false
		}
		class := make([]int, n)
		for i := range class {
			if class[i] = d.classOf(c, from, i); class[i] < 0 {
				return false
			}
		}
		if len(pairs) > 0 {
			one := make([]uint32, n)
			for i := range one {
				one[i] = 1 << (16 * class[i])
			}
			pairs = pairs[at:][:hi-lo]
			for i, entry := range v.index[lo:hi] {
				pairs[i] += one[entry]
			}
			break
		}
		for i, entry := range v.index[lo:hi] {
			counts[i*b.Classes+class[entry]]++
		}
	case (c.kind == format.Int32 || c.kind == format.Int64) && !c.unsigned:
		values := v.ints[lo:hi]
		for _, x := range values {
			if d.classes.ofInt(x) < 0 {
				return false
			}
		}
		if len(pairs) > 0 {
			pairs = pairs[at:][:len(values)]
			for i, x := range values {
				pairs[i] += 1 << (16 * d.classes.ofInt(x))
			}
			break
		}
		for i, x := range values {
			counts[i*b.Classes+d.classes.ofInt(x)]++
		}
	case c.kind == format.Boolean:
		class := [2]int{d.classes.ofInt(0), d.classes.ofInt(1)}
		if class[0] < 0 || class[1] < 0 {
			return false
		}
		for i, x := range v.bools[lo:hi] {
			if x {
				counts[i*b.Classes+class[1]]++
			} else {
				counts[i*b.Classes+class[0]]++
			}
		}
	default:
		class := resize(cells.classes, hi-lo)
		cells.classes = class
		for i := range class {
			if class[i] = d.classOf(c, from, lo+i); class[i] < 0 {
				return false
			}
		}
		for i, x := range class {
			counts[i*b.Classes+x]++
		}
	}
	return true
}

// addCell adds one cell, or says what is wrong with it. Entries of a dictionary
// are looked up once.
func (d *parquetDecoder) addCell(c *parquetColumn, v *pageValues, i int, null bool, row int, entry bool, b *Batch, cells *cellReader) string {
	switch c.role {
	case parquetVote, parquetLabel:
		class := -1
		switch {
		case null:
		case entry && i < len(cells.class) && cells.class[i] >= 0:
			class = cells.class[i]
		default:
			class = d.classOf(c, v, i)
			if entry {
				for len(cells.class) <= i && i < 1<<10 {
					cells.class = append(cells.class, -1)
				}
				if i < len(cells.class) {
					cells.class[i] = class
				}
			}
		}
		if c.role == parquetLabel {
			if class < 0 {
				return "label " + d.describe(c, v, i, null) + " " + d.classes.rule()
			}
			b.Labels[row] = class
			return ""
		}
		if class < 0 {
			gone := null
			text := "null"
			if !null {
				text = d.cellText(c, v, i)
				gone = (c.kind == format.ByteArray || c.kind == format.Float || c.kind == format.Double) && isMissing(text)
			}
			switch {
			case gone && d.opts.Missing == MissingCoin:
				b.addMissing(row)
			case gone:
				return voteRule(text, d.classes)
			default:
				return "vote " + d.describe(c, v, i, null) + " " + d.classes.rule()
			}
		} else {
			b.Counts[row*b.Classes+class]++
		}
		if d.opts.KeepVotes {
			b.Votes[row*d.k+c.index] = class
		}
	case parquetCount:
		if null {
			return "the count is missing"
		}
		n, ok := int64(0), false
		if c.kind == format.Int32 || c.kind == format.Int64 {
			n, ok = v.ints[i], true
		} else {
			n, ok = wholeNumber(v.floats[i])
		}
		if !ok || n < 0 {
			return "count " + d.describe(c, v, i, null) + " is not a whole number ≥ 0"
		}
		if n > MaxTeachers {
			return fmt.Sprintf("count %d, want at most %d", n, MaxTeachers)
		}
		b.Counts[row*b.Classes+c.index] = int(n)
	case parquetID:
		if null {
			return "the query id is missing (null)"
		}
		id := d.cellText(c, v, i)
		if rule := idRule(id); rule != "" {
			return rule
		}
		if err := checkID(id); err != nil {
			return err.Error()
		}
		b.IDs[row] = id
	}
	return ""
}

func (d *parquetDecoder) classOf(c *parquetColumn, v *pageValues, i int) int {
	switch c.kind {
	case format.Boolean:
		n := int64(0)
		if v.bools[i] {
			n = 1
		}
		return d.classes.ofInt(n)
	case format.Int32, format.Int64:
		n := v.ints[i]
		if c.unsigned {
			if c.kind == format.Int32 {
				n = int64(uint32(n))
			} else if n < 0 { // above 2⁶³
				return -1
			}
		}
		return d.classes.ofInt(n)
	case format.Float, format.Double:
		return d.classes.ofFloat(v.floats[i])
	}
	return d.classes.ofBytes(v.bytes[i])
}

// cellText is the text that a value stands for.
func (d *parquetDecoder) cellText(c *parquetColumn, v *pageValues, i int) string {
	switch c.kind {
	case format.Boolean:
		return strconv.FormatBool(v.bools[i])
	case format.Int32, format.Int64:
		switch n := v.ints[i]; {
		case c.unsigned && c.kind == format.Int32:
			return strconv.FormatUint(uint64(uint32(n)), 10)
		case c.unsigned:
			return strconv.FormatUint(uint64(n), 10)
		default:
			return strconv.FormatInt(n, 10)
		}
	case format.Float, format.Double:
		f := v.floats[i]
		if math.IsNaN(f) {
			return "NaN"
		}
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return string(v.bytes[i])
}

func (d *parquetDecoder) describe(c *parquetColumn, v *pageValues, i int, null bool) string {
	if null {
		return "null"
	}
	text := d.cellText(c, v, i)
	if c.kind == format.ByteArray {
		return quote(text)
	}
	return text
}
