package parquet

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	parquetformat "github.com/parquet-go/parquet-go/format"

	"github.com/darrm/darrm/votes/format"
)

// next returns the next n values of the row group, one for each row.
func (c *column) next(n int) ([]parquet.Value, error) {
	values := make([]parquet.Value, 0, n)
	for len(values) < n {
		if len(c.pending) == 0 {
			if err := c.more(n - len(values)); err == io.EOF {
				return nil, io.ErrUnexpectedEOF
			} else if err != nil {
				return nil, err
			}
		}
		got := min(n-len(values), len(c.pending))
		values, c.pending = append(values, c.pending[:got]...), c.pending[got:]
	}
	return values, nil
}

// more reads at most n values of the row group into pending, io.EOF at its end.
func (c *column) more(n int) error {
	for {
		if c.values == nil {
			page, err := c.pages.ReadPage()
			if err != nil {
				return err
			}
			c.values = page.Values() // the page is not released: its values are still to be read
		}
		values := make([]parquet.Value, n)
		got, err := c.values.ReadValues(values)
		if err == io.EOF || got == 0 {
			c.values = nil
		} else if err != nil {
			return err
		}
		if got > 0 {
			c.pending = values[:got]
			return nil
		}
	}
}

// mostItems is the largest number of items of a list.
const mostItems = 1 << 16

// nextLists returns the items of the next n rows. A null list has none, as an empty one.
func (c *column) nextLists(n int) ([][]parquet.Value, error) {
	rows := make([][]parquet.Value, 0, n)
	for {
		for i, v := range c.pending {
			switch {
			case v.RepetitionLevel() > 0 && len(rows) == 0:
				return nil, errors.New("a list continues before it begins")
			case v.RepetitionLevel() == 0 && len(rows) == n:
				c.pending = c.pending[i:]
				return rows, nil
			case v.RepetitionLevel() == 0:
				rows = append(rows, nil)
			}
			if last := len(rows) - 1; v.DefinitionLevel() >= c.item {
				if rows[last] = append(rows[last], v); len(rows[last]) > mostItems {
					return nil, fmt.Errorf("a list has more than %d items", mostItems)
				}
			}
		}
		c.pending = nil
		switch err := c.more(1024); {
		case err == io.EOF && len(rows) == n:
			return rows, nil
		case err == io.EOF:
			return nil, io.ErrUnexpectedEOF
		case err != nil:
			return nil, err
		}
	}
}

// atEnd makes sure that the row group has no values beyond its rows.
func (c *column) atEnd() error {
	if len(c.pending) == 0 {
		if err := c.more(1024); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
	return fmt.Errorf("%d values more than rows", len(c.pending))
}

// chunk is some rows, column by column.
type chunk struct {
	columns []column
	values  [][]parquet.Value   // of columns without lists
	lists   [][][]parquet.Value // of columns of lists
}

func (c *chunk) Value(at, row int) format.Value {
	return c.columns[at].value(&c.values[at][row])
}

func (c *chunk) Items(at, row int) []format.Value {
	items := make([]format.Value, len(c.lists[at][row]))
	for i := range items {
		items[i] = c.columns[at].value(&c.lists[at][row][i])
	}
	return items
}

func (c *column) value(v *parquet.Value) format.Value {
	switch {
	case v.IsNull():
		return format.Value{}
	case c.text != nil:
		return format.Value{Kind: format.Text, Text: []byte(c.text(v))}
	case c.kind == parquetformat.Boolean:
		if v.Boolean() {
			return format.Value{Kind: format.Boolean, Int: 1}
		}
		return format.Value{Kind: format.Boolean}
	case c.kind == parquetformat.Int32 && c.unsigned:
		return format.Value{Kind: format.Unsigned, Int: int64(v.Uint32())}
	case c.kind == parquetformat.Int32:
		return format.Value{Kind: format.Integer, Int: int64(v.Int32())}
	case c.kind == parquetformat.Int64 && c.unsigned:
		return format.Value{Kind: format.Unsigned, Int: v.Int64()}
	case c.kind == parquetformat.Int64:
		return format.Value{Kind: format.Integer, Int: v.Int64()}
	case c.kind == parquetformat.Float:
		return format.Value{Kind: format.Float, Float: float64(v.Float())}
	case c.kind == parquetformat.Double:
		return format.Value{Kind: format.Float, Float: v.Double()}
	}
	return format.Value{Kind: format.Text, Text: v.ByteArray()}
}

// timeText returns what writes the dates or timestamps of a column, nil if it has none.
func timeText(kind parquetformat.Type, e *parquetformat.SchemaElement) func(*parquet.Value) string {
	date := func(v *parquet.Value) string {
		return format.Date(int64(v.Int32()))
	}
	stamp := func(unit time.Duration, zone string) func(*parquet.Value) string {
		return func(v *parquet.Value) string { return format.Stamp(v.Int64(), unit) + zone }
	}
	old := e.ConvertedType
	switch t := e.LogicalType.Value.(type) {
	case *parquetformat.DateType:
		if kind == parquetformat.Int32 {
			return date
		}
	case *parquetformat.TimestampType:
		if kind == parquetformat.Int64 && t.Unit.Value != nil {
			zone := ""
			if t.IsAdjustedToUTC {
				zone = "Z"
			}
			return stamp(t.Unit.Value.Duration(), zone)
		}
	case nil:
		switch {
		case !old.Valid:
		case old.V == deprecated.Date && kind == parquetformat.Int32:
			return date
		case old.V == deprecated.TimestampMillis && kind == parquetformat.Int64:
			return stamp(time.Millisecond, "Z")
		case old.V == deprecated.TimestampMicros && kind == parquetformat.Int64:
			return stamp(time.Microsecond, "Z")
		}
	}
	return nil
}

// int96Text writes a timestamp of older writers: the nanoseconds of a day, and its Julian number.
func int96Text(v *parquet.Value) string {
	const epoch = 2440588 // the Julian number of 1970-01-01
	t := v.Int96()
	nanos := int64(t[0]) | int64(t[1])<<32
	return time.Unix((int64(t[2])-epoch)*86400, nanos).UTC().Format(format.StampLayout)
}

// uuidText writes a UUID as RFC 9562 does.
func uuidText(v *parquet.Value) string {
	h := hex.EncodeToString(v.ByteArray())
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}
