package votes

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// A Format is how votes or labels stand in a file.
type Format int

const (
	// FormatAuto goes by the file's name: .csv, .tsv or .tab, .jsonl or .ndjson,
	// .npy, .npz, .parquet or .pq, before .gz, .zst or .zstd. Any other name
	// that [CheckName] takes, and stdin and stdout, mean CSV.
	FormatAuto Format = iota
	FormatCSV
	FormatTSV
	FormatJSONL
	FormatNPY
	FormatNPZ // reading only
	FormatParquet
)

var formatNames = []string{"auto", "csv", "tsv", "jsonl", "npy", "npz", "parquet"}

// FormatNames returns what [ParseFormat] takes.
func FormatNames() []string { return slices.Clone(formatNames) }

// ParseFormat turns "auto", "csv", "tsv", "jsonl", "npy", "npz" or "parquet"
// into a Format.
func ParseFormat(s string) (Format, error) { return parseName[Format]("format", s, formatNames) }

// String returns the name that ParseFormat takes.
func (f Format) String() string { return nameOf(f, formatNames) }

// isText reports whether files of the format consist of lines.
func (f Format) isText() bool { return f == FormatCSV || f == FormatTSV || f == FormatJSONL }

// A Compression wraps a file of a text format or of FormatNPY.
type Compression int

const (
	// CompressionAuto goes by the file's name: .gz, or .zst or .zstd. Any other
	// name, and stdin and stdout, mean none.
	CompressionAuto Compression = iota
	CompressionNone
	CompressionGzip
	CompressionZstd
)

var compressionNames = []string{"auto", "none", "gzip", "zstd"}

// CompressionNames returns what [ParseCompression] takes.
func CompressionNames() []string { return slices.Clone(compressionNames) }

// ParseCompression turns "auto", "none", "gzip" or "zstd" into a Compression.
func ParseCompression(s string) (Compression, error) {
	return parseName[Compression]("compression", s, compressionNames)
}

// String returns the name that ParseCompression takes.
func (c Compression) String() string { return nameOf(c, compressionNames) }

// FormatOfName returns what the ending of a file's name says: FormatAuto where it names no
// format, CompressionNone where it names none.
func FormatOfName(path string) (Format, Compression) {
	if path == "-" {
		return FormatAuto, CompressionNone
	}
	c := CompressionNone
	ext := filepath.Ext(path)
	switch strings.ToLower(ext) {
	case ".gz":
		c = CompressionGzip
	case ".zst", ".zstd":
		c = CompressionZstd
	}
	if c != CompressionNone {
		ext = filepath.Ext(strings.TrimSuffix(path, ext))
	}
	switch strings.ToLower(ext) {
	case ".csv":
		return FormatCSV, c
	case ".tsv", ".tab":
		return FormatTSV, c
	case ".jsonl", ".ndjson":
		return FormatJSONL, c
	case ".npy":
		return FormatNPY, c
	case ".npz":
		return FormatNPZ, c
	case ".parquet", ".pq":
		return FormatParquet, c
	}
	return FormatAuto, c
}

// CheckName refuses a name that ends as a form which is neither read nor written, and which would
// otherwise be taken for CSV.
func CheckName(path string) error {
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".json", ".xlsx", ".xls", ".ods", ".arrow", ".feather":
		return fmt.Errorf("%s: files that end in %s are neither read nor written: the forms are csv, tsv, jsonl, npy, npz and parquet; say which by the name, by --format or by --out-format", shownName(path), ext)
	}
	return nil
}

// byName replaces the two automatic choices by what the file's name says, CSV if it says
// nothing.
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
			return 0, 0, err
		}
		f = FormatCSV
	}
	if c != CompressionNone && !f.isText() && f != FormatNPY {
		return 0, 0, fmt.Errorf("%s: a %s file is compressed inside, it cannot be wrapped in %s", shownName(path), f, c)
	}
	return f, c, nil
}
