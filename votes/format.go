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
	// .npy, .npz, .parquet or .pq, before .gz, .zst or .zstd. Any other name,
	// and stdin and stdout, mean CSV.
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

// byName replaces the two automatic choices by what the file's name says.
func byName(path string, f Format, c Compression) (Format, Compression, error) {
	ext := strings.ToLower(filepath.Ext(path))
	if path == "-" {
		ext = ""
	}
	guess := CompressionNone
	switch ext {
	case ".gz":
		guess = CompressionGzip
	case ".zst", ".zstd":
		guess = CompressionZstd
	}
	if guess != CompressionNone {
		ext = strings.ToLower(filepath.Ext(path[:len(path)-len(ext)]))
	}
	if c == CompressionAuto {
		c = guess
	}
	if f == FormatAuto {
		switch ext {
		case ".tsv", ".tab":
			f = FormatTSV
		case ".jsonl", ".ndjson":
			f = FormatJSONL
		case ".npy":
			f = FormatNPY
		case ".npz":
			f = FormatNPZ
		case ".parquet", ".pq":
			f = FormatParquet
		default:
			f = FormatCSV
		}
	}
	if c != CompressionNone && !f.isText() && f != FormatNPY {
		return 0, 0, fmt.Errorf("%s: a %s file is compressed inside, it cannot be wrapped in %s", shownName(path), f, c)
	}
	return f, c, nil
}
