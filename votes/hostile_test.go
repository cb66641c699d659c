package votes

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/darrm/darrm/internal/npy"
	"github.com/darrm/darrm/internal/testing/raced"
)

const childEnv = "VOTES_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		child(os.Args[1:])
		return
	}
	os.Exit(m.Run())
}

// child reads a file in a process of its own, whose peak memory can be told, and
// writes a label for every query: args are the layout, the input and the output.
func child(args []string) {
	err := func() error {
		var o Options
		if err := o.Layout.UnmarshalText([]byte(args[0])); err != nil {
			return err
		}
		r, err := Open(context.Background(), o, args[1])
		if err != nil {
			return err
		}
		defer r.Close()
		out, err := CreateLabels(args[2], LabelOptions{})
		if err != nil {
			return err
		}
		defer out.Abort()
		err = Process(r, ProcessOptions{}, func(_ context.Context, b *Batch) ([]int, error) {
			return make([]int, b.Len()), nil
		}, out.WriteBatch)
		if err != nil {
			return err
		}
		return out.Commit()
	}()
	// Not the parent's rusage: that counts the moment before exec as well, when the
	// child still shares the parent's memory.
	status, e := os.ReadFile("/proc/self/status")
	if e != nil {
		fmt.Println("no /proc")
	} else {
		for line := range strings.Lines(string(status)) {
			if kb, ok := strings.CutPrefix(line, "VmHWM:"); ok {
				fmt.Println(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(kb), "kB")))
			}
		}
	}
	if err == nil {
		fmt.Println("no error")
		return
	}
	var p *ParseError
	fmt.Printf("%t %v\n", errors.As(err, &p), err)
	os.Exit(1)
}

// numbered is a header of k teachers.
func numbered(k int) string {
	names := make([]string, k)
	for i := range names {
		names[i] = fmt.Sprintf("t%d", i+1)
	}
	return strings.Join(names, ",") + "\n"
}

// Every hostile file gives a clear error that names file, place and rule, takes
// less than 64 MiB of memory in all, and leaves nothing written.
func TestHostileFiles(t *testing.T) {
	raced.Elsewhere(t, "TestWorkers")
	if raced.Enabled {
		t.Skip("memory is measured; the tables of refused files run the same code")
	}
	row := "0,1,0,1,1,0,1,0,0,1,1\n"
	manyRows := strings.Repeat(row, 12<<20/len(row))
	goodParquet := (&data{classes: IntegerClasses(2), votes: [][]int{{0, 1}, {1, 1}}}).writeParquet(
		parquetOptions{version: 1, codec: &parquet.Uncompressed, kind: "int64", pageSize: 1 << 10,
			group: 10})
	head := func(descr string, shape ...int64) []byte { return npy.Head("'"+descr+"'", shape...) }
	tests := []struct {
		file, layout string
		data         func() []byte
		want         string // a part of the message
	}{
		{"rows.npy", "wide", func() []byte { return append(head("|u1", 1<<60, 11), 0, 1, 0) },
			"claims 1152921504606846976 × 11 elements"},
		{"rows8.npy", "wide", func() []byte { return append(head("<i8", 1<<62, 11), 0, 1, 0) },
			"more than any disk holds"},
		{"rows.npy.gz", "wide", func() []byte {
			return gzipped(append(head("|u1", 1<<40, 11), manyRows...))
		}, "claims 1099511627776 × 11 elements"},
		{"short.npy.gz", "wide", func() []byte {
			return gzipped(append(head("|u1", 1<<40, 11), make([]byte, 11<<20)...))
		}, "but there are 11534336"},
		{"columns.npy.gz", "teachers", func() []byte {
			return gzipped(append(head("|u1", 11, 1<<40), make([]byte, 11<<20)...))
		}, "claims 11 × 1099511627776 elements"},
		{"columns.npy", "teachers", func() []byte { return append(head("|u1", 11, 1<<60), 1) },
			"claims 11 × 1152921504606846976"},
		{"header.npy", "wide", func() []byte {
			return append([]byte(npy.Magic+"\x02\x00\xff\xff\xff\xff"), row...)
		}, "4294967295 bytes long, want at most 10000"},
		{"object.npy", "wide", func() []byte { return append(head("|O", 2, 2), "\x80\x04\x95"...) },
			"Python objects, stored as a pickle"},
		{"pickle.npy", "wide", func() []byte {
			return []byte("\x80\x04\x95\x0e\x00\x00\x00cos\nsystem\n.")
		}, "is a Python pickle, which is a program"},
		{"noarray.npz", "wide", func() []byte {
			return []byte("\x80\x04\x95\x0e\x00\x00\x00cos\nsystem\n.")
		}, "not an archive of arrays"},
		{"pickled.npz", "wide", func() []byte {
			return archiveOf(t, "votes.npy", append(head("|O", 2, 2), "\x80\x04\x95"...))
		}, `array "votes": the elements are Python objects`},
		{"twice.npz", "wide", func() []byte {
			return archiveOf(t, "votes.npy", append(head("|u1", 1, 2), 0, 1), "votes.npy",
				append(head("|u1", 1, 2), 1, 1))
		}, `has the array "votes" twice`},
		{"window.csv.zst", "wide", func() []byte {
			var b bytes.Buffer
			w, err := zstd.NewWriter(&b, zstd.WithWindowSize(64<<20), zstd.WithEncoderConcurrency(1))
			if err != nil {
				t.Fatal(err)
			}
			io.WriteString(w, manyRows)
			w.Flush()
			io.WriteString(w, manyRows)
			w.Close()
			return b.Bytes()
		}, "need a window above 8 MiB"},
		{"line.csv", "wide", func() []byte { return bytes.Repeat([]byte("0,"), 50<<20) },
			":1: record longer than 1048576 bytes"},
		{"cell.csv", "wide", func() []byte {
			return append([]byte("query,t1\n1,0\n2,"), bytes.Repeat([]byte("x"), 100<<20)...)
		}, ":3: record longer than 1048576 bytes"},
		{"quote.csv", "wide", func() []byte {
			return append([]byte("query,t1\n1,0\n2,\""), bytes.Repeat([]byte("0,1\n"), 25<<20)...)
		}, "record longer than 1048576 bytes (a quote that is never closed?)"},
		{"line.jsonl", "wide", func() []byte {
			return append([]byte(`{"votes":[0`), bytes.Repeat([]byte(",0"), 50<<20)...)
		}, ":1: record longer than 1048576 bytes"},
		{"later.jsonl", "wide", func() []byte {
			return append([]byte("{\"votes\":[0]}\n{\"votes\":["), bytes.Repeat([]byte(" "), 100<<20)...)
		}, ":2: record longer than 1048576 bytes"},
		{"deep.jsonl", "wide", func() []byte {
			return []byte(`{"votes":` + strings.Repeat("[", 300_000) + strings.Repeat("]", 300_000) + "}\n")
		}, ":1: the line is not JSON: jsontext: exceeded max depth"},
		{"keys.jsonl", "wide", func() []byte {
			return []byte("{\"t1\":0,\"t2\":1}\n{\"t1\":0,\"t1\":1,\"t2\":0}\n")
		}, `:2: the key "t1" appears twice`},
		{"mixed.csv", "wide", func() []byte {
			return []byte(numbered(11) + manyRows + "0,1,0,1,1,0,1,0,0,1,1\r\n" + row)
		}, ":571952: the line ends with CRLF, but the lines before end with LF"},
		{"mixed.jsonl", "wide", func() []byte { return []byte("{\"votes\":[0]}\r\n{\"votes\":[0]}\n") },
			":2: the line ends with LF, but the lines before end with CRLF"},
		{"mac.csv", "wide", func() []byte {
			return []byte("0,1\r1,1\r")
		}, ":1: carriage return without line feed"},
		{"utf16.csv", "wide", func() []byte { return []byte("\xff\xfe0\x00,\x001\x00\n\x00") },
			":1: the file is in UTF-16"},
		{"utf16.jsonl", "wide", func() []byte {
			return []byte("\xfe\xff\x00{")
		}, ":1: the file is in UTF-16"},
		{"bom.csv", "wide", func() []byte { return []byte(numbered(11) + manyRows + "\ufeff" + row) },
			":571952: byte order mark behind the beginning"},
		{"bom.jsonl", "wide", func() []byte {
			return []byte("\ufeff{\"votes\":[0]}\n\ufeff{\"votes\":[0]}\n")
		}, ":2: byte order mark behind the beginning"},
		{"nul.csv", "wide", func() []byte { return []byte(numbered(11) + manyRows + "0,1,0,1,1,0\x00") },
			":571952: NUL byte"},
		{"nul.jsonl", "wide", func() []byte { return []byte("{\"votes\":[0]}\n{\"votes\":[\x00]}\n") },
			":2: NUL byte"},
		{"cut.csv.gz", "wide", func() []byte {
			d := gzipped([]byte(numbered(11) + manyRows + numbers(1<<16)))
			return d[:len(d)-100]
		}, "the gzip data are cut off"},
		{"cut.csv.zst", "wide", func() []byte {
			d := zstded([]byte(numbered(11) + manyRows + numbers(1<<16)))
			return d[:len(d)-100]
		}, "the zstd data are cut off"},
		{"damaged.csv.gz", "wide", func() []byte {
			d := gzipped([]byte(numbered(11) + manyRows))
			d[len(d)-8] ^= 1
			return d
		}, "the gzip data are damaged"},
		{"plain.csv.gz", "wide", func() []byte { return []byte(row) }, "the data are not in gzip format"},
		{"packed.csv", "wide", func() []byte {
			return gzipped([]byte(row))
		}, ":1: the file is compressed with gzip"},
		{"twice.csv", "wide", func() []byte {
			return []byte("a,b,a\n0,1,0\n")
		}, `:1: column 3 ("a"): the file has the name "a" twice`},
		{"twice.parquet", "wide", func() []byte {
			return twiceParquet(t, goodParquet)
		}, `the file has the name "t000" twice`},
		{"types.parquet", "wide", func() []byte {
			type r struct {
				A int64 `parquet:"t1"`
				B int64 `parquet:"t2,decimal(2:10)"`
			}
			return parquetOf(t, []r{{0, 1}})
		}, `column "t2" has the type INT64 (DECIMAL`},
		{"list.parquet", "wide", func() []byte {
			type r struct {
				Votes []int64 `parquet:"votes"`
			}
			return parquetOf(t, []r{{[]int64{0, 1}}, {[]int64{0}}})
		}, `row 1: column 1 ("votes"): 1 votes, but the first row has 2`},
		{"nested.parquet", "wide", func() []byte {
			type in struct {
				A int64 `parquet:"a"`
			}
			type r struct {
				V in `parquet:"t1"`
			}
			return parquetOf(t, []r{{in{1}}})
		}, `column "t1" is nested`},
		{"text.parquet", "wide", func() []byte {
			type r struct {
				A string `parquet:"t1"`
				B int64  `parquet:"t2"`
			}
			return parquetOf(t, []r{{"0", 1}, {"1", 0}, {"yes", 1}})
		}, `row 2: column 1 ("t1"): vote "yes" is not 0 or 1`},
		{"float.parquet", "wide", func() []byte {
			type r struct {
				A float64 `parquet:"t1"`
			}
			return parquetOf(t, []r{{1}, {0.5}})
		}, `row 1: column 1 ("t1"): vote 0.5 is not 0 or 1`},
		{"footer.parquet", "wide", func() []byte {
			return binary.LittleEndian.AppendUint32([]byte("PAR1PAR1"), 1<<31)[:12]
		}, "does not end as a Parquet file does"},
		{"length.parquet", "wide", func() []byte {
			return append(binary.LittleEndian.AppendUint32([]byte("PAR1PAR1"), 1<<31), "PAR1"...)
		}, "the metadata claim 2147483648 bytes"},
		{"values.parquet", "wide", func() []byte {
			return editParquet(t, goodParquet, func(m *format.FileMetaData, body []byte) []byte {
				return replacePage(t, m, body, func(h *format.PageHeader) {
					h.DataPageHeader.V.NumValues = 1<<31 - 1
				})
			})
		}, "page header declares 2147483647 values"},
		{"more.parquet", "wide", func() []byte {
			return editParquet(t, goodParquet, func(m *format.FileMetaData, body []byte) []byte {
				return replacePage(t, m, body, func(h *format.PageHeader) {
					h.DataPageHeader.V.NumValues = 1 << 20
				})
			})
		}, "page header declares 1048576 values"},
		{"claims.parquet", "wide", func() []byte {
			return editParquet(t, goodParquet, func(m *format.FileMetaData, body []byte) []byte {
				m.NumRows, m.RowGroups[0].NumRows = 1<<60, 1<<60
				for i := range m.RowGroups[0].Columns {
					m.RowGroups[0].Columns[i].MetaData.NumValues = 1 << 60
				}
				return body
			})
		}, "the Parquet file is damaged: row group 0, column \"t000\": unexpected EOF"},
	}
	dir := t.TempDir()
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			path, out := filepath.Join(dir, tt.file), filepath.Join(dir, tt.file+".out.csv")
			if err := os.WriteFile(path, tt.data(), 0o600); err != nil {
				t.Fatal(err)
			}
			defer os.Remove(path)
			cmd := exec.Command(os.Args[0], tt.layout, path, out)
			tmp := t.TempDir()
			cmd.Env = append(os.Environ(), childEnv+"=1", "TMPDIR="+tmp)
			got, err := cmd.CombinedOutput()
			peak, message, _ := strings.Cut(strings.TrimSpace(string(got)), "\n")
			if err == nil || !strings.Contains(message, tt.want) ||
				!strings.HasPrefix(message, "true "+path) {
				t.Errorf("got %v: %s\nwant a *ParseError with %q", err, message, tt.want)
			}
			if len(message) > 700 {
				t.Errorf("message of %d bytes", len(message))
			}
			if kb, err := strconv.Atoi(peak); runtime.GOOS == "linux" && (err != nil || kb > 64<<10) {
				t.Errorf("peak memory %q kB, want at most 64 MiB", peak)
			} else {
				t.Logf("peak memory %d MiB", kb>>10)
			}
			if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("output: %v, want none", err)
			}
			if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
				t.Errorf("temporary files: %v, %v", left, err)
			}
		})
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// numbers are n rows that compress badly.
func numbers(n int) string {
	var b strings.Builder
	x := uint32(1)
	for range n {
		x = x*1664525 + 1013904223
		for i := range 11 {
			b.WriteByte('0' + byte(x>>(20+i)&1))
			b.WriteByte(",\n"[i/10])
		}
	}
	return b.String()
}

func archiveOf(t *testing.T, pairs ...any) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(pairs); i += 2 {
		w, err := z.Create(pairs[i].(string))
		if err != nil {
			t.Fatal(err)
		}
		w.Write(pairs[i+1].([]byte))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func parquetOf[T any](t *testing.T, rows []T) []byte {
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// editParquet changes the metadata of a file, and what stands before them.
func editParquet(t *testing.T, file []byte, edit func(m *format.FileMetaData,
	body []byte) []byte) []byte {
	n := int(binary.LittleEndian.Uint32(file[len(file)-8:]))
	at := len(file) - 8 - n
	var m format.FileMetaData
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), file[at:at+n], &m); err != nil {
		t.Fatal(err)
	}
	body := edit(&m, bytes.Clone(file[:at]))
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), &m)
	if err != nil {
		t.Fatal(err)
	}
	out := append(body, footer...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(footer)))
	return append(out, "PAR1"...)
}

// replacePage appends a changed copy of the first column's first page to the body
// and lets the metadata point to it.
func replacePage(t *testing.T, m *format.FileMetaData, body []byte,
	edit func(*format.PageHeader)) []byte {
	c := &m.RowGroups[0].Columns[0].MetaData
	var header format.PageHeader
	r := bytes.NewReader(body[c.DataPageOffset:])
	if err := thrift.NewDecoder(new(thrift.CompactProtocol).NewReader(r)).Decode(&header); err != nil {
		t.Fatal(err)
	}
	offset := len(body) - r.Len()
	content := body[offset : offset+int(header.CompressedPageSize)]
	edit(&header)
	head, err := thrift.Marshal(new(thrift.CompactProtocol), &header)
	if err != nil {
		t.Fatal(err)
	}
	c.DataPageOffset, c.DictionaryPageOffset = int64(len(body)), 0
	c.TotalCompressedSize = int64(len(head) + len(content))
	return append(append(body, head...), content...)
}

func twiceParquet(t *testing.T, file []byte) []byte {
	return editParquet(t, file, func(m *format.FileMetaData, body []byte) []byte {
		m.Schema[2].Name = m.Schema[1].Name
		for i := range m.RowGroups {
			m.RowGroups[i].Columns[1].MetaData.PathInSchema = []string{m.Schema[1].Name}
		}
		return body
	})
}
