package training

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/readfile"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/prepare"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/votes/format"
)

// recordFlags hold the format of files of records.
type recordFlags struct {
	DataFormat   string `flag:"data-format" help:"tables as \"csv\", \"tsv\", \"jsonl\", \"parquet\" or \"npy\" (numbers), \"libsvm\", or \"idx\" (images, pixels over 255); auto goes by the name (.csv, .tsv, .jsonl, .parquet, .npy; .idx or -ubyte; else libsvm; with .gz or .zst too)"`
	Response     string `flag:"response" help:"column of responses: its name (or number from 1); NAME_above:NUMBER is 1 where NAME is above NUMBER, else 0"`
	NoHeader     bool   `flag:"no-header" help:"the first line of a CSV file is a record already"`
	DecimalComma bool   `flag:"decimal-comma" help:"numbers of CSV and TSV have a decimal comma, as 3,5"`
	Dim          int    `flag:"dim" help:"number of features of LIBSVM records (default: the largest index, which tells of the records)"`
	Positive     []int  `flag:"positive" help:"labels whose response is 1; all other images are kept and have 0 (default: the label is the response)"`
	weights      string // column of the weights
	prepareFlags

	early  *earlyTable  // opened for its columns, and not read yet
	mapped *prepare.Map // that the last CSV file was read by
}

func (f *recordFlags) register(c *cobra.Command) {
	f.DataFormat = "auto"
	cli.Register(c, f)
	cli.OneOf(c, "data-format", append([]string{"auto", formatLIBSVM, formatIDX}, tableFormats...)...)
}

// onlyHeaders refuses --no-header for files that never have one.
func (f *recordFlags) onlyHeaders(path string) error {
	format := f.formatOf(path)
	switch text := format == formatCSV || format == formatTSV; {
	case f.NoHeader && !text:
		return cli.Usagef("--no-header goes with CSV and TSV: %s is read as %s", path, format)
	case f.DecimalComma && !text:
		return cli.Usagef("--decimal-comma goes with CSV and TSV: %s is read as %s", path, format)
	}
	return nil
}

// The values of --data-format, besides "auto" and the names of registered formats.
const (
	formatCSV    = "csv"
	formatTSV    = "tsv"
	formatJSONL  = "jsonl"
	formatNPY    = "npy"
	formatLIBSVM = "libsvm"
	formatIDX    = "idx"
)

// tableFormats are the formats of rows and named columns.
var tableFormats = []string{formatCSV, formatTSV, formatJSONL, "parquet", formatNPY}

// formatEndings are the formats of files with an ending, without the dot.
var formatEndings = map[string]string{"csv": formatCSV, "tsv": formatTSV, "tab": formatTSV,
	"jsonl": formatJSONL, "ndjson": formatJSONL, "idx": formatIDX, "npy": formatNPY}

// compressionEndings are the compressions of files with an ending.
var compressionEndings = map[string]string{".gz": "gzip", ".zst": "zstd", ".zstd": "zstd"}

// unpacked returns the name without the ending of a compression, and the compression, "" for none.
func unpacked(path string) (name, compression string) {
	ext := filepath.Ext(path)
	if compression = compressionEndings[strings.ToLower(ext)]; compression != "" {
		path = strings.TrimSuffix(path, ext)
	}
	return path, compression
}

// formatOf returns the format of a file of records.
func (f *recordFlags) formatOf(path string) string {
	if f.DataFormat != "auto" {
		return f.DataFormat
	}
	name, _ := unpacked(strings.ToLower(path))
	ending := strings.TrimPrefix(filepath.Ext(name), ".")
	if known := formatEndings[ending]; known != "" {
		return known
	}
	if strings.HasSuffix(name, "-ubyte") {
		return formatIDX
	}
	for _, row := range format.Registered() {
		if slices.Contains(row.Endings, ending) {
			return row.Name
		}
	}
	return formatLIBSVM
}

// isTable reports whether a file is read as rows and named columns.
func (f *recordFlags) isTable(path string) bool {
	return slices.Contains(tableFormats, f.formatOf(path))
}

// table returns the table of a file's data, decompressed.
func (f *recordFlags) table(r io.Reader, path string) (*data.Table, error) {
	t, err := f.tableOf(r, path)
	if err == nil {
		t.DecimalComma = f.DecimalComma
	}
	return t, err
}

func (f *recordFlags) tableOf(r io.Reader, path string) (*data.Table, error) {
	switch name := f.formatOf(path); name {
	case formatCSV:
		return data.NewCSV(r, !f.NoHeader)
	case formatTSV:
		return data.NewTSV(r, !f.NoHeader)
	case formatJSONL:
		return data.NewJSONL(r)
	case formatNPY:
		return data.NewNPY(r)
	default:
		i := slices.IndexFunc(format.Registered(), func(row *format.Format) bool {
			return row.Name == name
		})
		if i < 0 {
			return nil, cli.Usagef("data-format = %q, but this program reads none", name)
		}
		b, err := io.ReadAll(r) // whose size is limited
		if err != nil {
			return nil, err
		}
		file, err := format.Registered()[i].Open(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return nil, err
		}
		return data.NewColumns(file)
	}
}

// openRecords opens a file of records, decompressed. IDX files are opened as they are: their reader
// knows gzip by its first bytes.
func (f *recordFlags) openRecords(c *cobra.Command, a *cli.App, path string) (io.ReadCloser,
	error) {
	in, err := a.Open(c.Context(), path, data.MaxBytes)
	if err != nil {
		return nil, err
	}
	_, compression := unpacked(path)
	if compression == "" || f.formatOf(path) == formatIDX {
		return in, nil
	}
	r, err := data.Unpack(in, compression)
	if err != nil {
		in.Close()
		return nil, release.Unreadable(c.Context(), fmt.Errorf("%s: %w", path, err))
	}
	return struct {
		io.Reader
		io.Closer
	}{readfile.Limit(c.Context(), r, path, data.MaxBytes), in}, nil
}

// statedDim refuses settings that would be read from private records and shown by a released model.
func (f *recordFlags) statedDim(path string) error {
	if f.formatOf(path) == formatLIBSVM && f.Dim == 0 {
		return cli.Usagef("--dim must be given: the largest index in %s depends on its records, and the "+
			"model would show it", path)
	}
	return nil
}

// reading holds the requirements on a file of records.
type reading struct {
	responses bool         // it must have responses
	dim       int          // its dimension, 0 for the file's own
	columns   []string     // its features, by a CSV file's header; nil for all
	prepare   *prepare.Map // of a CSV file; nil for that of the flags
}

// read reads a file of records, labels the file of their labels or "".
func (f *recordFlags) read(c *cobra.Command, a *cli.App, path, labels string,
	o reading) (*data.Records, error) {
	format := f.formatOf(path)
	if err := f.onlyHeaders(path); err != nil {
		return nil, err
	}
	if err := f.onlyTables(path); err != nil {
		return nil, err
	}
	if format != formatIDX && (labels != "" || f.Positive != nil) {
		return nil, cli.Usagef("--labels, --public-labels and --positive go with IDX: %s is read as %s",
			path,
			format)
	}
	if format != formatLIBSVM && f.Dim != 0 {
		return nil, cli.Usagef("--dim goes with LIBSVM: %s is read as %s", path, format)
	}
	var read func(io.Reader) (*data.Records, error)
	switch format {
	default:
		if f.Response == "" && o.responses && f.File == "" {
			return nil, cli.Usagef("--response must be given: %s needs a column of responses", path)
		}
		if f.early == nil || f.early.path != path {
			if _, err := f.openEarly(c, a, path, o); err != nil {
				return nil, err
			}
		}
		table, m := f.early.table, f.early.prepare
		defer f.early.close()
		f.early, f.mapped = nil, m
		records, err := prepare.Read(table, m)
		return named(c, records, path, err)
	case formatLIBSVM:
		read = func(r io.Reader) (*data.Records, error) {
			return data.ReadLIBSVM(r, cmp.Or(o.dim, f.Dim))
		}
	case formatIDX:
		if labels == "" && o.responses {
			return nil, cli.Usagef("%s needs a file of labels (--labels, --public-labels), which are its "+
				"responses", path)
		}
		read = func(r io.Reader) (*data.Records, error) { return f.images(c, a, r, labels) }
	}
	in, err := f.openRecords(c, a, path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	records, err := read(in)
	var flag *check.Error
	if format == formatIDX && errors.As(err, &flag) {
		return nil, &release.UsageError{Err: err} // of --positive; files have errors of their own
	}
	// a file of labels may have values that the task cannot use
	return named(c, records, cmp.Or(labels, path), err)
}

// named returns records with the name of their file, or the error of reading it.
func named[R interface{ From(file string) R }](c *cobra.Command, r R, path string, err error) (R, error) {
	if err != nil {
		return r, release.Unreadable(c.Context(), fmt.Errorf("%s: %w", path, err))
	}
	return r.From(path), nil
}

// readSparse reads LIBSVM records without making them dense.
func (f *recordFlags) readSparse(c *cobra.Command, a *cli.App, path string) (*data.Sparse, error) {
	in, err := f.openRecords(c, a, path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	records, err := data.ReadSparseLIBSVM(in, f.Dim)
	return named(c, records, path, err)
}

// images reads IDX images with the file of their labels, "" for none.
func (f *recordFlags) images(c *cobra.Command, a *cli.App, r io.Reader,
	labels string) (*data.Records, error) {
	if labels == "" {
		return data.ReadIDX(r, nil, f.Positive)
	}
	l, err := a.Open(c.Context(), labels, data.MaxBytes)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	return data.ReadIDX(r, l, f.Positive)
}
