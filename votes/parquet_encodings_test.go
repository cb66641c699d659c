package votes

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/format"
)

// Encodings and codecs that other writers choose. Each file is made sure to have what it
// is there for in a column of votes, and gives the votes that were written, nulls
// included, whatever the sizes of pages, row groups and chunks.
func TestParquetEncodings(t *testing.T) {
	d := &data{classes: IntegerClasses(3)}
	for i := range 100 {
		row := []int{i % 3, i * i % 3, i / 5 % 3}
		if i%7 == 0 {
			row[1] = -1
		}
		d.votes = append(d.votes, row)
		d.ids = append(d.ids, fmt.Sprintf("query-%03d", i))
	}
	for _, tt := range []struct {
		kind     string
		codec    compress.Codec
		encoding format.Encoding
	}{
		{"split", &parquet.Uncompressed, format.ByteStreamSplit},
		{"splitfloat", &parquet.Zstd, format.ByteStreamSplit},
		{"splitint", &parquet.Uncompressed, format.ByteStreamSplit},
		{"deltabytes", &parquet.Uncompressed, format.DeltaByteArray},
		{"dict", &parquet.Brotli, format.RLEDictionary},
		{"double", &parquet.Brotli, format.Plain},
	} {
		for version := 1; version <= 2; version++ {
			t.Run(fmt.Sprintf("%s-%s-v%d", tt.kind, tt.codec, version), func(t *testing.T) {
				for _, size := range []int{64, 1 << 18} {
					for _, group := range []int64{7, 1000} {
						file := d.writeParquet(parquetOptions{version: version, codec: tt.codec, optional: true,
							kind: tt.kind, pageSize: size, group: group})
						f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
						if err != nil {
							t.Fatal(err)
						}
						if c := f.Metadata().RowGroups[0].Columns[2].MetaData; !slices.Contains(c.Encoding,
							tt.encoding) || c.Codec != tt.codec.CompressionCodec() {
							t.Fatalf("written in %v, %v", c.Encoding, c.Codec)
						}
						for _, chunk := range []int{0, 10} {
							r, err := NewReader(context.Background(), bytes.NewReader(file),
								pq(Options{Classes: d.classes, IDColumn: "a_query", Missing: MissingCoin, KeepVotes: true,
									chunkBytes: chunk}))
							if err != nil {
								t.Fatal(err)
							}
							got, err := collect(r)
							same(t, "read", got, err, d.want(true), nil)
						}
					}
				}
			})
		}
	}
}

// Why LZ4_RAW is refused: parquet-go's issue 608. When this test fails, the library is
// mended, and checkGroups can let the codec pass.
func TestParquetGoReadsLZ4Wrongly(t *testing.T) {
	type row struct {
		Value []byte `parquet:"value"`
	}
	value := make([]byte, 64<<10)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 48 << 10 {
		value[i] = byte(rng.Uint32())
	}
	copy(value[48<<10:], value[:16<<10])
	var b bytes.Buffer
	if err := parquet.Write(&b, []row{{value}}, parquet.Compression(&parquet.Lz4Raw)); err != nil {
		t.Fatal(err)
	}
	got, err := parquet.Read[row](bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err == nil && len(got) == 1 && bytes.Equal(got[0].Value, value) {
		t.Error("parquet-go reads LZ4_RAW: let checkGroups take it, and test it as the other codecs")
	}
}

// Pages that do not compress, of sizes around those of parquet-go's buffers, come back
// as they were written: what a library does with its buffers can change a vote unseen.
func TestParquetKeepsEveryByte(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip,
		&parquet.Zstd, &parquet.Brotli} {
		for _, size := range []int{4096, 8192, 65536} {
			for more := -16; more <= 16; more += 4 {
				// Plain text takes 4 bytes for its length, so a page has exactly so many bytes.
				d := &data{classes: IntegerClasses(2)}
				for left := size + more; left > 0; {
					n := min(left-4, 256)
					if left-4-n < 5 {
						n = left - 4
					}
					id := make([]byte, n)
					for i := range id {
						id[i] = byte('!' + rng.IntN(90))
					}
					d.ids, d.votes = append(d.ids, string(id)), append(d.votes, []int{rng.IntN(2), rng.IntN(2)})
					left -= 4 + n
				}
				version := 1 + rng.IntN(2)
				file := d.writeParquet(parquetOptions{version: version, codec: codec, kind: "int64",
					plainIDs: true, pageSize: 1 << 20, group: 1 << 20})
				got, err := readAll(bytes.NewReader(file), pq(Options{IDColumn: "a_query"}))
				same(t, fmt.Sprintf("%s, %d bytes, page version %d", codec, size+more, version), got, err,
					d.want(false), nil)
			}
		}
	}
}
