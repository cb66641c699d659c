package votes

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/npy"
	"github.com/darrm/darrm/votes/format"
)

// A Format is the name of a file format of votes or labels. Formats beyond the constants come from
// packages that the program links: see package format.
type Format string

const (
	// FormatAuto goes by the file's name: see [Formats] for the endings, before .gz, .zst or
	// .zstd. Any other name that [CheckName] takes, and stdin and stdout, mean CSV.
	FormatAuto    Format = ""
	FormatCSV     Format = "csv"
	FormatTSV     Format = "tsv"
	FormatJSONL   Format = "jsonl"
	FormatNPY     Format = "npy"
	FormatNPZ     Format = "npz"     // reading only
	FormatParquet Format = "parquet" // where votes/parquet is linked
)

// String returns the name, "auto" of FormatAuto.
func (f Format) String() string { return cmp.Or(string(f), "auto") }

// UnmarshalText reads "auto", or the name of a format that the program links.
func (f *Format) UnmarshalText(name []byte) error {
	switch i := slices.Index(formatNames(), string(name)); i {
	case -1:
		return check.Unknown("format", string(name), formatNames()...)
	case 0:
		*f = FormatAuto
	default:
		*f = Format(name)
	}
	return nil
}

// FormatInfo describes a format.
type FormatInfo struct {
	Name    Format
	Title   string   // in a sentence, such as "JSON Lines"
	Endings []string // of files' names, such as "jsonl"
	Wrapped bool     // files may be inside gzip or zstd
	Labels  bool     // labels are written in it, too
}

// formatRow is a row of the table of formats. A new format is a row, here or in a package of its
// own.
type formatRow struct {
	FormatInfo
	magic string // the first bytes of a file, "" for text
	isAt  string // why a file that begins so is not text
	// what is wrong with a file's first four bytes; nil where it is not sought in
	start func(head []byte) string
	open  opener
	// nil where labels are not written
	encode func(*LabelFile, io.Writer, format.Labels) (format.Encoder, error)
}

// An opener opens a file of one format.
type opener func(context.Context, *fileInfo, *source) (decoder, error)

// ownFormats returns the formats that need no package but this one. CSV comes first: it is what
// an unknown name means.
func ownFormats() []formatRow {
	return []formatRow{
		{
			FormatInfo: FormatInfo{FormatCSV, "CSV", []string{"csv"}, true, true},
			open: text(func(info *fileInfo, r io.Reader) (decoder, error) {
				return openCSV(info, r, ',')
			}),
			encode: encodeCSV(','),
		}, {
			FormatInfo: FormatInfo{FormatTSV, "TSV", []string{"tsv", "tab"}, true, true},
			open: text(func(info *fileInfo, r io.Reader) (decoder, error) {
				return openCSV(info, r, '\t')
			}),
			encode: encodeCSV('\t'),
		}, {
			FormatInfo: FormatInfo{FormatJSONL, "JSON Lines", []string{"jsonl", "ndjson"}, true, true},
			open:       text(openJSONL),
			encode: func(_ *LabelFile, w io.Writer, l format.Labels) (format.Encoder, error) {
				return newJSONLabels(w, l), nil
			},
		}, {
			FormatInfo: FormatInfo{FormatNPY, "NumPy .npy", []string{"npy"}, true, true},
			magic:      npy.Magic[:4],
			isAt:       "the file is a NumPy array: say so by its name (.npy) or the format",
			open:       openNPY, encode: encodeNPY,
		}, {
			FormatInfo: FormatInfo{FormatNPZ, "NumPy .npz", []string{"npz"}, false, false},
			magic:      "PK\x03\x04",
			isAt: "the file is a zip archive or a spreadsheet: export it as CSV (NumPy archives are " +
				"named .npz)",
			start: npzStart, open: openNPZ,
		},
	}
}

// formats returns the table: the own formats, then those of packages that the program links.
func formats() []formatRow {
	table := ownFormats()
	for _, f := range format.Registered() {
		row := formatRow{
			FormatInfo: FormatInfo{Format(f.Name), f.Title, f.Endings, false, f.Encode != nil},
			magic:      f.Magic,
			isAt: fmt.Sprintf("the file is in the format %s: say so by its name (.%s) or the format",
				f.Title, f.Endings[0]),
			start: f.Start, open: columnar(openColumns(f)),
		}
		if f.Encode != nil {
			row.encode = func(_ *LabelFile, w io.Writer, l format.Labels) (format.Encoder, error) {
				return f.Encode(w, l), nil
			}
		}
		table = append(table, row)
	}
	return table
}

// Formats describes the formats that this program reads, CSV first.
func Formats() []FormatInfo {
	var infos []FormatInfo
	for _, row := range formats() {
		row.Endings = slices.Clone(row.Endings)
		infos = append(infos, row.FormatInfo)
	}
	return infos
}

// formatNames returns "auto" and the names of the formats that the program links.
func formatNames() []string {
	names := []string{FormatAuto.String()}
	for _, row := range formats() {
		names = append(names, string(row.Name))
	}
	return names
}

// check refuses a format that the program does not link.
func (f Format) check() error {
	if f == FormatAuto || f.row() != nil {
		return nil
	}
	return check.Unknown("format", f, formatNames()...)
}

// row returns the format's row of the table, nil if there is none.
func (f Format) row() *formatRow {
	table := formats()
	if i := slices.IndexFunc(table, func(r formatRow) bool { return r.Name == f }); i >= 0 {
		return &table[i]
	}
	return nil
}

// columnar opens a file of columns in which a row is a query.
func columnar(open opener) opener {
	return func(ctx context.Context, info *fileInfo, s *source) (decoder, error) {
		switch info.layout {
		case LayoutTeachers:
			return nil, info.errorf(
				"the layout teachers is for arrays (npy, npz): a row of a %s file is a query", s.format)
		case LayoutDefault:
			info.layout = LayoutWide
		}
		return open(ctx, info, s)
	}
}

// text opens a file of lines, decompressed.
func text(open func(*fileInfo, io.Reader) (decoder, error)) opener {
	return columnar(func(_ context.Context, info *fileInfo, s *source) (decoder, error) {
		r, err := s.stream(info)
		if err != nil {
			return nil, err
		}
		return open(info, r)
	})
}

// FormatOfName returns the format and the compression that the ending of a file's name means:
// FormatAuto where it names no format, CompressionNone where it names none.
func FormatOfName(path string) (Format, Compression) {
	if path == "-" {
		return FormatAuto, CompressionNone
	}
	ending := endingOf(path)
	c, packed := compressionOfEnding[ending]
	if packed {
		ending = endingOf(strings.TrimSuffix(path, filepath.Ext(path)))
	} else {
		c = CompressionNone
	}
	for _, row := range formats() {
		if slices.Contains(row.Endings, ending) {
			return row.Name, c
		}
	}
	return FormatAuto, c
}

// endingOf returns the ending of a file's name in small letters, without the dot.
func endingOf(path string) string {
	return strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), ".")
}

// CheckName refuses a name that ends as a format which is neither read nor written, and which
// would otherwise be taken for CSV.
func CheckName(path string) error {
	switch ending := endingOf(path); ending {
	case "json", "xlsx", "xls", "ods", "arrow", "feather", "parquet", "pq":
		if f, _ := FormatOfName(path); f == FormatAuto {
			names, hint := formatNames()[1:], ""
			switch ending {
			case "json":
				hint = ". JSON Lines have one object on each line: jq -c '.[]' makes them of a list"
			case "xlsx", "xls", "ods":
				hint = ". A spreadsheet saves a sheet as CSV, and opens CSV"
			}
			return check.Namedf("%s: files that end in .%s are neither read nor written: the forms are "+
				"%s; say which by the name, by %s or by %s%s",
				shownName(path), ending, check.Listed(names, "and"), pFormat, pLabelFormat, hint)
		}
	}
	return nil
}

// byName replaces the two automatic choices by those of the file's name, CSV if it names none.
func byName(path string, f Format, c Compression) (Format, Compression, error) {
	named, packed := FormatOfName(path)
	if c == CompressionAuto {
		c = packed
	}
	if f == FormatAuto {
		f = named
	}
	if f == FormatAuto {
		if err := CheckName(path); err != nil {
			return FormatAuto, 0, err
		}
		f = FormatCSV
	}
	if err := f.check(); err != nil {
		return FormatAuto, 0, err
	}
	if c != CompressionNone && !f.row().Wrapped {
		return FormatAuto, 0, fmt.Errorf("%s: a %s file is compressed inside, it cannot be wrapped in %s",
			shownName(path), f, c)
	}
	return f, c, nil
}

// npzStart returns what is wrong with the first four bytes of a file.
func npzStart(head []byte) string {
	if magic := string(head); magic != "PK\x03\x04" {
		return fmt.Sprintf("not an archive of arrays as numpy.savez writes it: it begins with %s",
			quote(magic))
	}
	return ""
}
