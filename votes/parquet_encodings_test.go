package votes

import (
	"bytes"
	"context"
	"fmt"
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
		{"int64", &parquet.Lz4Raw, format.Plain},
		{"text", &parquet.Lz4Raw, format.DeltaLengthByteArray},
		{"dict", &parquet.Brotli, format.RLEDictionary},
		{"double", &parquet.Brotli, format.Plain},
	} {
		for version := 1; version <= 2; version++ {
			t.Run(fmt.Sprintf("%s-%s-v%d", tt.kind, tt.codec, version), func(t *testing.T) {
				for _, size := range []int{64, 1 << 18} {
					for _, group := range []int64{7, 1000} {
						file := d.writeParquet(parquetOptions{version: version, codec: tt.codec, optional: true, kind: tt.kind, pageSize: size, group: group})
						f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
						if err != nil {
							t.Fatal(err)
						}
						if c := f.Metadata().RowGroups[0].Columns[2].MetaData; !slices.Contains(c.Encoding, tt.encoding) || c.Codec != tt.codec.CompressionCodec() {
							t.Fatalf("written in %v, %v", c.Encoding, c.Codec)
						}
						for _, chunk := range []int{0, 10} {
							r, err := NewReader(context.Background(), bytes.NewReader(file), pq(Options{Classes: d.classes, IDColumn: "a_query", Missing: MissingCoin, KeepVotes: true, chunkBytes: chunk}))
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
