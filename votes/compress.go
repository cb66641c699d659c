package votes

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

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

var (
	compressionNames    = []string{"auto", "none", "gzip", "zstd"}
	compressionOfEnding = map[string]Compression{"gz": CompressionGzip, "zst": CompressionZstd,
		"zstd": CompressionZstd}
)

// CompressionNames returns what [ParseCompression] takes.
func CompressionNames() []string { return slices.Clone(compressionNames) }

// ParseCompression turns "auto", "none", "gzip" or "zstd" into a Compression.
func ParseCompression(s string) (Compression, error) {
	return parseName[Compression]("compression", s, compressionNames)
}

// String returns the name that ParseCompression takes.
func (c Compression) String() string { return nameOf(c, compressionNames) }

// FileEndings returns the endings of the names of files of votes, without the dot, for shells
// that complete them.
func FileEndings() []string {
	var endings []string
	for _, row := range formats() {
		endings = append(endings, row.Endings...)
	}
	return append(endings, slices.Sorted(maps.Keys(compressionOfEnding))...)
}

// maxZstdWindow is the window that RFC 8878, section 3.1.1.1.2, recommends every
// decoder to support. A frame may ask for gigabytes.
const maxZstdWindow = 8 << 20

// decompress wraps raw. Faults of the data are [*ParseError]s without a line;
// errors of raw are passed on.
func decompress(info *fileInfo, raw *countingReader, c Compression) (io.Reader, error) {
	d := &decompressor{info: info, raw: raw}
	var err error
	switch c {
	case CompressionGzip:
		d.kind = "gzip"
		d.r, err = gzip.NewReader(bufio.NewReaderSize(raw, 64<<10))
	case CompressionZstd:
		d.kind = "zstd"
		d.r, err = zstd.NewReader(bufio.NewReaderSize(raw, 64<<10),
			zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxZstdWindow))
	default:
		return raw, nil
	}
	if err != nil {
		return nil, d.fault(err)
	}
	return d, nil
}

type decompressor struct {
	info *fileInfo
	raw  *countingReader
	r    io.Reader
	kind string
}

func (d *decompressor) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	if err != nil && err != io.EOF {
		err = d.fault(err)
	}
	return n, err
}

// fault tells apart damaged data and a source that failed.
func (d *decompressor) fault(err error) error {
	if e := d.raw.err; e != nil && e != io.EOF {
		return e
	}
	rule := fmt.Sprintf("the %s data are damaged", d.kind)
	switch err {
	case io.EOF, io.ErrUnexpectedEOF:
		rule = fmt.Sprintf("the %s data are cut off", d.kind)
	case gzip.ErrHeader, zstd.ErrMagicMismatch:
		rule = fmt.Sprintf("the data are not in %s format, or something else stands behind them", d.kind)
	case zstd.ErrWindowSizeExceeded:
		rule = fmt.Sprintf("the zstd data need a window above %d MiB: compress them without --long "+
			"or --ultra", maxZstdWindow>>20)
	}
	return &ParseError{File: d.info.name, Rule: rule, Err: err}
}
