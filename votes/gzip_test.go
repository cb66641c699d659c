package votes

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// Further members and zeros behind the last one are no fault; other bytes are one of their own, which
// is told from data that are cut off.
func TestGzipMembers(t *testing.T) {
	one, two := gzipped([]byte("t1,t2\n1,0\n")), gzipped([]byte("0,0\n"))
	empty := gzipped(nil)
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	for name, tt := range map[string]struct {
		file []byte
		rows int
		want string
	}{
		"one":               {one, 1, ""},
		"two":               {join(one, two), 2, ""},
		"an empty one":      {join(one, empty, two, empty), 2, ""},
		"many empty ones":   {join(one, bytes.Repeat(empty, 200), two), 2, ""},
		"zeros":             {join(one, make([]byte, 700)), 1, ""},
		"a zero":            {join(one, two, make([]byte, 1)), 2, ""},
		"garbage":           {join(one, []byte("garbage!")), 0, "8 bytes after the end of the gzip data"},
		"a byte":            {join(one, []byte{0x1f}), 0, "1 byte after the end of the gzip data"},
		"zeros and garbage": {join(one, make([]byte, 70000), []byte("x")), 0, "70001 bytes after the end"},
		"a member behind zeros": {join(one, make([]byte, 3), two), 0,
			"bytes after the end of the gzip data"},
		"cut off":                    {one[:len(one)-3], 0, "the gzip data are cut off"},
		"cut off in the second":      {join(one, two[:len(two)-9]), 0, "the gzip data are cut off"},
		"cut off in the next header": {join(one, two[:2]), 0, "the gzip data are cut off"},
		"a second of another checksum": {join(one, two[:len(two)-8], make([]byte, 8)), 0,
			"the gzip data are damaged"},
		"no gzip": {[]byte("t1,t2\n1,0\n1,1\n"), 0, "are not in gzip format"},
	} {
		for _, in := range []io.Reader{bytes.NewReader(tt.file), iotest.OneByteReader(bytes.NewReader(tt.file)),
			iotest.DataErrReader(bytes.NewReader(tt.file))} {
			got, err := readAll(in, Options{Compression: CompressionGzip})
			if tt.want == "" && (err != nil || got.N != tt.rows) ||
				tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%s: %+v, error %v, want %q", name, got, err, tt.want)
			}
		}
	}
}
