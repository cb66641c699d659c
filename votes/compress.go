package votes

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/votes/format"
)

// A Compression wraps a file of a text format or of FormatNPY. A program that reads or writes them
// imports votes/compress.
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
	compressions        = check.Enum[Compression]{Name: "compression", Names: []string{"auto", "none", "gzip", "zstd"}}
	compressionOfEnding = map[string]Compression{"gz": CompressionGzip, "zst": CompressionZstd,
		"zstd": CompressionZstd}
)

// Compressions returns all of them.
func Compressions() []Compression { return compressions.Values() }

// String returns "auto", "none", "gzip" or "zstd".
func (c Compression) String() string { return compressions.String(c) }

// UnmarshalText reads the name.
func (c *Compression) UnmarshalText(name []byte) error { return compressions.Unmarshal(c, name) }

// FileEndings returns the endings of the names of files of votes, without the dot, for shells
// that complete them.
func FileEndings() []string {
	var endings []string
	for _, row := range formats() {
		endings = append(endings, row.Endings...)
	}
	return append(endings, slices.Sorted(maps.Keys(compressionOfEnding))...)
}

// linked returns what packs and unpacks, nil for CompressionNone.
func (c Compression) linked() (*format.Compression, error) {
	if c <= CompressionNone {
		return nil, nil
	}
	if linked := format.FindCompression(c.String()); linked != nil {
		return linked, nil
	}
	return nil, fmt.Errorf("files inside %s are neither read nor written by this program: a program "+
		"that does imports votes/compress", c)
}

// decompress wraps raw. Faults of the data are [*ParseError]s without a line;
// errors of raw are passed on.
func decompress(info *fileInfo, raw *countingReader, c Compression) (io.Reader, error) {
	linked, err := c.linked()
	if err != nil {
		return nil, &ParseError{File: info.name, Rule: err.Error()}
	}
	if linked == nil {
		return raw, nil
	}
	d := &decompressor{info: info, raw: raw, kind: linked}
	if d.r, err = linked.NewReader(bufio.NewReaderSize(raw, 64<<10)); err != nil {
		return nil, d.fault(err)
	}
	return d, nil
}

type decompressor struct {
	info *fileInfo
	raw  *countingReader
	r    io.Reader
	kind *format.Compression
}

func (d *decompressor) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	if err != nil && err != io.EOF {
		err = d.fault(err)
	}
	return n, err
}

// fault returns the error of the source where that failed, and otherwise the error of damaged data.
func (d *decompressor) fault(err error) error {
	if e := d.raw.err; e != nil && e != io.EOF {
		return e
	}
	rule := d.kind.Fault(err)
	switch {
	case rule != "":
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		rule = fmt.Sprintf("the %s data are cut off", d.kind.Name)
	default:
		rule = fmt.Sprintf("the %s data are damaged", d.kind.Name)
	}
	return &ParseError{File: d.info.name, Rule: rule, Err: err}
}
