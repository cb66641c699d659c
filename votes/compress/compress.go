// Package compress lets package votes read and write files inside gzip and zstd, and read .npz
// three times as fast, in a program that imports it:
//
//	import _ "github.com/darrm/darrm/votes/compress"
package compress

import (
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/darrm/darrm/votes/format"
)

// maxZstdWindow is the window that RFC 8878, section 3.1.1.1.2, recommends every decoder to
// support. A frame may ask for gigabytes.
const maxZstdWindow = 8 << 20

func init() {
	format.RegisterCompression(format.Compression{
		Name:      "gzip",
		NewReader: newGzip,
		NewWriter: func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil },
		Fault: func(err error) string {
			var behind *trailingError
			if errors.As(err, &behind) {
				return behind.Error()
			}
			return notIn("gzip", err, gzip.ErrHeader)
		},
	})
	format.RegisterCompression(format.Compression{
		Name: "zstd",
		NewReader: func(r io.Reader) (io.Reader, error) {
			return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
				zstd.WithDecoderMaxWindow(maxZstdWindow))
		},
		NewWriter: func(w io.Writer) (io.WriteCloser, error) {
			return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
		},
		Fault: func(err error) string {
			if errors.Is(err, zstd.ErrWindowSizeExceeded) {
				return fmt.Sprintf("the zstd data need a window above %d MiB: compress them without "+
					"the options long and ultra", maxZstdWindow>>20)
			}
			return notIn("zstd", err, zstd.ErrMagicMismatch)
		},
	})
}

func init() {
	// of .npz alone, which the standard library reads too
	format.RegisterCompression(format.Compression{
		Name:      "deflate",
		NewReader: func(r io.Reader) (io.Reader, error) { return flate.NewReader(r), nil },
	})
}

func notIn(name string, err, header error) string {
	if !errors.Is(err, header) {
		return ""
	}
	return fmt.Sprintf("the data are not in %s format, or something else stands behind them: a name without its "+
		"ending is read as it is", name)
}
