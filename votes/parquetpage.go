package votes

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// The pages of a column chunk are read here and not by parquet-go, which gives
// us the metadata: it makes room for whatever size a page's header claims, lets a
// page decompress to any length and a run of ten bytes decode to 2³¹ values. Here
// every length is bounded before memory is taken. Columns of votes are flat, so
// little of the format is needed: data pages V1 and V2, the encodings PLAIN,
// dictionary, RLE, DELTA_BINARY_PACKED and DELTA_LENGTH_BYTE_ARRAY. Source: the
// Apache Parquet format, version 2.11, README.md, Encodings.md and
// parquet.thrift.

const (
	maxPageBytes  = 16 << 20 // writers aim at 1 MiB
	maxPageValues = 1 << 22
	maxPageHeader = 64 << 10 // it can hold the smallest and largest value
)

// plainDictionary is what old writers call both the dictionary's encoding and that
// of indices.
const plainDictionary format.Encoding = 2

// pageRef is where a page is and what it holds.
type pageRef struct {
	offset int64 // of the data
	head   format.PageHeader
	first  int64 // row of the row group
	rows   int
}

// pageValues are a page's values: one of the slices is used, by the column's
// type, and index where they are numbers of dictionary entries.
type pageValues struct {
	null    []bool // per row; nil if none is null
	index   []uint32
	packed  []byte // the indices as they stand in the page, until unpackIndex
	indexed bool   // packed holds the values
	width   int    // bits of an index
	bools   []bool
	ints    []int64
	floats  []float64
	bytes   [][]byte
}

// readPageHeader reads the header at off; limit is where the chunk ends.
func readPageHeader(r io.ReaderAt, off, limit int64, buf []byte) (pageRef, error) {
	for size := min(int64(256), limit-off); ; size = min(8*size, maxPageHeader, limit-off) {
		buf = buf[:size]
		if n, err := r.ReadAt(buf, off); n < len(buf) {
			return pageRef{}, err
		}
		n, err := boundThrift(buf, 64<<10)
		if err == errThriftCut && size < min(maxPageHeader, limit-off) {
			continue
		}
		if err != nil {
			return pageRef{}, fmt.Errorf("page header: %w", err)
		}
		p := pageRef{offset: off + int64(n)}
		if err := thrift.Unmarshal(new(thrift.CompactProtocol), buf[:n], &p.head); err != nil {
			return pageRef{}, fmt.Errorf("page header: %w", err)
		}
		return p, p.check(limit)
	}
}

// check bounds what the header claims.
func (p *pageRef) check(limit int64) error {
	h := &p.head
	values := int32(0)
	switch h.Type {
	case format.DictionaryPage:
		values = h.DictionaryPageHeader.V.NumValues
	case format.DataPage:
		values = h.DataPageHeader.V.NumValues
	case format.DataPageV2:
		v2 := &h.DataPageHeaderV2.V
		values = v2.NumValues
		if v2.RepetitionLevelsByteLength != 0 {
			return errors.New("page with repetition levels in a flat column")
		}
		if v2.DefinitionLevelsByteLength < 0 || v2.DefinitionLevelsByteLength > min(h.CompressedPageSize, h.UncompressedPageSize) {
			return fmt.Errorf("page of %d bytes claims %d bytes of definition levels", h.CompressedPageSize, v2.DefinitionLevelsByteLength)
		}
	}
	if h.CompressedPageSize < 0 || int64(h.CompressedPageSize) > limit-p.offset {
		return fmt.Errorf("page claims %d bytes, but the column chunk has %d", h.CompressedPageSize, limit-p.offset)
	}
	if h.CompressedPageSize > maxPageBytes || h.UncompressedPageSize < 0 || h.UncompressedPageSize > maxPageBytes {
		return fmt.Errorf("page claims %d bytes, %d uncompressed, want at most %d", h.CompressedPageSize, h.UncompressedPageSize, maxPageBytes)
	}
	if values < 0 || values > maxPageValues {
		return fmt.Errorf("page claims %d values, want at most %d", values, maxPageValues)
	}
	p.rows = int(values)
	return nil
}

// pageReader reads pages of one column chunk. It is for one goroutine.
type pageReader struct {
	r      io.ReaderAt
	codec  format.CompressionCodec
	column *parquetColumn
	raw    []byte
	plain  []byte
}

// data returns a page's bytes: its levels, where they stand apart (V2), and the
// rest, decompressed. They are valid until the next call.
func (pr *pageReader) data(p *pageRef) (levels, values []byte, err error) {
	h := &p.head
	if cap(pr.raw) < int(h.CompressedPageSize) {
		pr.raw = make([]byte, h.CompressedPageSize)
	}
	raw := pr.raw[:h.CompressedPageSize]
	if n, err := pr.r.ReadAt(raw, p.offset); n < len(raw) {
		return nil, nil, err
	}
	if h.CRC != 0 && crc32.ChecksumIEEE(raw) != uint32(h.CRC) { // 0 stands for none
		return nil, nil, errors.New("checksum of a page does not match")
	}
	size := int(h.UncompressedPageSize)
	compressed := pr.codec != format.Uncompressed
	if h.Type == format.DataPageV2 {
		v2 := &h.DataPageHeaderV2.V
		n := int(v2.DefinitionLevelsByteLength)
		levels, raw = raw[:n], raw[n:]
		size -= n
		compressed = compressed && (!v2.IsCompressed.Valid || v2.IsCompressed.V)
	}
	if !compressed {
		if len(raw) != size {
			return nil, nil, fmt.Errorf("page of %d bytes claims %d", len(raw), size)
		}
		return levels, raw, nil
	}
	if len(raw) == 0 && size == 0 {
		return levels, nil, nil
	}
	if cap(pr.plain) < size {
		pr.plain = make([]byte, size)
	}
	values = pr.plain[:size]
	return levels, values, expandPage(pr.codec, values, raw)
}

var zstdPages = sync.Pool{New: func() any {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxPageBytes))
	if err != nil {
		panic(err) // the options are constants
	}
	return d
}}

var gzipPages = sync.Pool{New: func() any { return new(gzip.Reader) }}

// expandPage decompresses raw into dst, which it must fill exactly.
func expandPage(codec format.CompressionCodec, dst, raw []byte) error {
	switch codec {
	case format.Snappy:
		if n, err := snappy.DecodedLen(raw); err != nil {
			return err
		} else if n != len(dst) {
			return fmt.Errorf("page decompresses to %d bytes, but its header claims %d", n, len(dst))
		}
		_, err := snappy.Decode(dst, raw)
		return err
	case format.Gzip:
		z := gzipPages.Get().(*gzip.Reader)
		defer gzipPages.Put(z)
		if err := z.Reset(bytes.NewReader(raw)); err != nil {
			return err
		}
		return fillPage(dst, z)
	case format.Zstd:
		z := zstdPages.Get().(*zstd.Decoder)
		defer zstdPages.Put(z)
		if err := z.Reset(bytes.NewReader(raw)); err != nil {
			return err
		}
		return fillPage(dst, z)
	}
	return rulef("pages are compressed with %s, want none, snappy, gzip or zstd", codec)
}

func fillPage(dst []byte, r io.Reader) error {
	if _, err := io.ReadFull(r, dst); err != nil {
		return fmt.Errorf("page does not decompress to the %d bytes that its header claims: %w", len(dst), err)
	}
	var more [1]byte
	if n, err := readFull(r, more[:]); n > 0 {
		return fmt.Errorf("page decompresses to more than the %d bytes that its header claims", len(dst))
	} else if err != io.EOF {
		return err
	}
	return nil
}

// dictionary reads a dictionary page.
func (pr *pageReader) dictionary(p *pageRef) (*pageValues, error) {
	switch e := p.head.DictionaryPageHeader.V.Encoding; e {
	case format.Plain, plainDictionary:
	default:
		return nil, fmt.Errorf("dictionary in encoding %s, want PLAIN", e)
	}
	_, data, err := pr.data(p)
	if err != nil {
		return nil, err
	}
	v := new(pageValues)
	return v, v.plain(pr.column.kind, bytes.Clone(data), p.rows)
}

// values reads a data page.
func (pr *pageReader) values(p *pageRef, v *pageValues) error {
	v.packed, v.indexed = nil, false
	v.null, v.index, v.bools, v.ints, v.floats, v.bytes = nil, v.index[:0], v.bools[:0], v.ints[:0], v.floats[:0], v.bytes[:0]
	levels, data, err := pr.data(p)
	if err != nil {
		return err
	}
	encoding := p.head.DataPageHeaderV2.V.Encoding
	if p.head.Type == format.DataPage {
		encoding = p.head.DataPageHeader.V.Encoding
		if pr.column.optional {
			if e := p.head.DataPageHeader.V.DefinitionLevelEncoding; e != format.RLE {
				return fmt.Errorf("definition levels in encoding %s, want RLE", e)
			}
			if levels, data, err = lengthPrefixed(data); err != nil {
				return err
			}
		}
	}
	n := p.rows
	if pr.column.optional {
		present, err := v.levels(levels, n)
		if err != nil {
			return err
		}
		n = present
	}
	switch encoding {
	case format.Plain:
		return v.plain(pr.column.kind, data, n)
	case format.RLEDictionary, plainDictionary:
		if n == 0 {
			return nil
		}
		if len(data) == 0 || data[0] > 32 {
			return errors.New("indices of a dictionary without their width")
		}
		v.packed, v.indexed, v.width = data[1:], true, int(data[0])
		return nil
	case format.RLE:
		if pr.column.kind != format.Boolean {
			break
		}
		data, _, err := lengthPrefixed(data)
		if err != nil {
			return err
		}
		v.index = resize(v.index, n)
		if err := decodeHybrid(v.index, data, 1); err != nil {
			return err
		}
		v.bools = resize(v.bools, n)
		for i, b := range v.index {
			v.bools[i] = b == 1
		}
		v.index = v.index[:0]
		return nil
	case format.DeltaBinaryPacked:
		if pr.column.kind != format.Int32 && pr.column.kind != format.Int64 {
			break
		}
		v.ints = resize(v.ints, n)
		_, err := decodeDelta(v.ints, data)
		if pr.column.kind == format.Int32 {
			for i, x := range v.ints {
				v.ints[i] = int64(int32(x)) // the arithmetic is modulo 2³²
			}
		}
		return err
	case format.DeltaLengthByteArray:
		if pr.column.kind != format.ByteArray {
			break
		}
		v.ints = resize(v.ints, n)
		rest, err := decodeDelta(v.ints, data)
		if err != nil {
			return err
		}
		for _, length := range v.ints {
			if length < 0 || length > int64(len(rest)) {
				return errPageCut
			}
			v.bytes = append(v.bytes, rest[:length])
			rest = rest[length:]
		}
		return nil
	}
	return rulef("values of type %s in encoding %s, which is not read here", pr.column.kind, encoding)
}

// unpackIndex turns packed into n indices.
func (v *pageValues) unpackIndex(n int) error {
	v.index = resize(v.index, n)
	return decodeHybrid(v.index, v.packed, v.width)
}

var errPageCut = errors.New("page has fewer values than its header claims")

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// lengthPrefixed cuts data behind a part with its length in front.
func lengthPrefixed(data []byte) (part, rest []byte, err error) {
	if len(data) < 4 || uint64(binary.LittleEndian.Uint32(data)) > uint64(len(data)-4) {
		return nil, nil, errPageCut
	}
	n := 4 + int(binary.LittleEndian.Uint32(data))
	return data[4:n], data[n:], nil
}

// levels reads which of n values are present, and how many.
func (v *pageValues) levels(data []byte, n int) (present int, err error) {
	if n == 0 {
		return 0, nil
	}
	// The usual page without nulls is one run of ones.
	if h, k := binary.Uvarint(data); k > 0 && h&1 == 0 && h>>1 == uint64(n) && k < len(data) && data[k] == 1 {
		return n, nil
	}
	v.index = resize(v.index, n)
	if err := decodeHybrid(v.index, data, 1); err != nil {
		return 0, err
	}
	v.null = make([]bool, n)
	for i, level := range v.index {
		v.null[i] = level == 0
		present += int(level)
	}
	v.index = v.index[:0]
	if present == n {
		v.null = nil
	}
	return present, nil
}

// plain reads n values in the encoding PLAIN. Text points into data.
func (v *pageValues) plain(kind format.Type, data []byte, n int) error {
	size := map[format.Type]int{format.Int32: 4, format.Float: 4, format.Int64: 8, format.Double: 8}[kind]
	if size*n > len(data) {
		return errPageCut
	}
	switch kind {
	case format.Boolean:
		if (n+7)/8 > len(data) {
			return errPageCut
		}
		v.bools = resize(v.bools, n)
		for i := range v.bools {
			v.bools[i] = data[i/8]>>(i%8)&1 == 1
		}
	case format.Int32:
		v.ints = resize(v.ints, n)
		for i := range v.ints {
			v.ints[i] = int64(int32(binary.LittleEndian.Uint32(data[4*i:])))
		}
	case format.Int64:
		v.ints = resize(v.ints, n)
		for i := range v.ints {
			v.ints[i] = int64(binary.LittleEndian.Uint64(data[8*i:]))
		}
	case format.Float:
		v.floats = resize(v.floats, n)
		for i := range v.floats {
			v.floats[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])))
		}
	case format.Double:
		v.floats = resize(v.floats, n)
		for i := range v.floats {
			v.floats[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
		}
	case format.ByteArray:
		if 4*n > len(data) {
			return errPageCut
		}
		v.bytes = v.bytes[:0]
		for range n {
			part, rest, err := lengthPrefixed(data)
			if err != nil {
				return err
			}
			v.bytes = append(v.bytes, part)
			data = rest
		}
	default:
		return fmt.Errorf("values of type %s", kind)
	}
	return nil
}

// decodeHybrid fills dst from runs and bit-packed groups of numbers of the given
// width (Encodings.md, RLE). What stands behind the last number is not read.
func decodeHybrid(dst []uint32, src []byte, width int) error {
	bytes := (width + 7) / 8
	for len(dst) > 0 {
		head, n := binary.Uvarint(src)
		if n <= 0 || head>>1 == 0 {
			return errPageCut
		}
		src = src[n:]
		if head&1 == 0 { // a run of one number
			if len(src) < bytes {
				return errPageCut
			}
			var value uint32
			for i := range bytes {
				value |= uint32(src[i]) << (8 * i)
			}
			if width < 32 && value>>width != 0 {
				return fmt.Errorf("number %d in a run of %d bits", value, width)
			}
			src = src[bytes:]
			count := int(min(head>>1, uint64(len(dst))))
			for i := range dst[:count] {
				dst[i] = value
			}
			dst = dst[count:]
			continue
		}
		// head>>1 groups of 8 numbers; only the last may go beyond dst.
		count := len(dst)
		if g := head >> 1; g < uint64(len(dst)+7)/8 {
			count = int(8 * g)
		}
		need := (count*width + 7) / 8
		if len(src) < need {
			return errPageCut
		}
		unpack(dst[:count], src, width)
		dst = dst[count:]
		src = src[min(need, len(src)):]
	}
	return nil
}

// addHybrid reads numbers of one bit: it passes over the first skip and adds, for
// each of the others, one of two terms to a sum. It is decodeHybrid for the most
// common page of votes, without numbers in between.
func addHybrid(sums []uint32, skip int, src []byte, terms [2]uint32) error {
	step := terms[1] - terms[0]
	for len(sums) > 0 {
		head, n := binary.Uvarint(src)
		if n <= 0 || head>>1 == 0 || len(src) == n {
			return errPageCut
		}
		src = src[n:]
		if head&1 == 0 { // a run of one number
			if src[0] > 1 {
				return fmt.Errorf("number %d in a run of 1 bits", src[0])
			}
			term := terms[src[0]]
			src = src[1:]
			count := int(min(head>>1, uint64(skip+len(sums))))
			if skip >= count {
				skip -= count
				continue
			}
			run := sums[:count-skip]
			for i := range run {
				run[i] += term
			}
			sums, skip = sums[count-skip:], 0
			continue
		}
		bytes := int(min(head>>1, uint64(skip+len(sums)+7)/8))
		if skip >= 8*bytes {
			if len(src) < bytes {
				return errPageCut
			}
			src = src[bytes:]
			skip -= 8 * bytes
			continue
		}
		count := min(8*bytes-skip, len(sums))
		if len(src) < (skip+count+7)/8 {
			return errPageCut
		}
		run := sums[:count]
		at := skip
		for ; len(run) > 0 && at&7 != 0; at++ {
			run[0] += terms[0] + step*uint32(src[at>>3]>>(at&7)&1)
			run = run[1:]
		}
		for ; len(run) >= 8; run, at = run[8:], at+8 {
			x := uint32(src[at>>3])
			d := (*[8]uint32)(run)
			d[0] += terms[0] + step*(x&1)
			d[1] += terms[0] + step*(x>>1&1)
			d[2] += terms[0] + step*(x>>2&1)
			d[3] += terms[0] + step*(x>>3&1)
			d[4] += terms[0] + step*(x>>4&1)
			d[5] += terms[0] + step*(x>>5&1)
			d[6] += terms[0] + step*(x>>6&1)
			d[7] += terms[0] + step*(x>>7)
		}
		for i := range run {
			run[i] += terms[0] + step*uint32(src[at>>3]>>(at&7)&1)
			at++
		}
		src = src[min(bytes, len(src)):]
		sums, skip = sums[count:], 0
	}
	return nil
}

// unpack reads numbers that are packed from the lowest bit on.
func unpack(dst []uint32, src []byte, width int) {
	if width == 1 {
		for ; len(dst) >= 8; dst = dst[8:] {
			x := uint32(src[0])
			src = src[1:]
			d := (*[8]uint32)(dst)
			d[0], d[1], d[2], d[3] = x&1, x>>1&1, x>>2&1, x>>3&1
			d[4], d[5], d[6], d[7] = x>>4&1, x>>5&1, x>>6&1, x>>7&1
		}
		for i := range dst {
			dst[i] = uint32(src[0]>>i) & 1
		}
		return
	}
	var acc uint64
	have := 0
	mask := uint64(1)<<width - 1
	for i := range dst {
		for have < width {
			acc |= uint64(src[0]) << have
			src = src[1:]
			have += 8
		}
		dst[i] = uint32(acc & mask)
		acc >>= width
		have -= width
	}
}

// decodeDelta fills dst from DELTA_BINARY_PACKED and returns what stands behind.
func decodeDelta(dst []int64, src []byte) (rest []byte, err error) {
	var head [3]uint64 // block size, miniblocks in a block, values
	for i := range head {
		v, n := binary.Uvarint(src)
		if n <= 0 {
			return nil, errPageCut
		}
		head[i], src = v, src[n:]
	}
	value, n := binary.Varint(src)
	if n <= 0 {
		return nil, errPageCut
	}
	src = src[n:]
	block, minis := head[0], head[1]
	if head[2] != uint64(len(dst)) || block == 0 || block > 1<<20 || minis == 0 || minis > block || block%minis != 0 || block/minis%8 != 0 {
		return nil, fmt.Errorf("deltas of %d values in blocks of %d and %d miniblocks, the header claims %d values", head[2], block, minis, len(dst))
	}
	if len(dst) == 0 {
		return src, nil
	}
	dst[0] = value
	dst = dst[1:]
	per := int(block / minis)
	for len(dst) > 0 {
		least, n := binary.Varint(src)
		if n <= 0 || len(src) < n+int(minis) {
			return nil, errPageCut
		}
		widths := src[n : n+int(minis)]
		src = src[n+int(minis):]
		for _, width := range widths {
			if len(dst) == 0 {
				break // widths of miniblocks that are not there
			}
			w := int(width)
			size := per / 8 * w
			if w > 64 || len(src) < size {
				return nil, errPageCut
			}
			mini := src[:size]
			src = src[size:]
			for i := range min(per, len(dst)) {
				value += least + int64(bitsAt(mini, i*w, w))
				dst[i] = value
			}
			dst = dst[min(per, len(dst)):]
		}
	}
	return src, nil
}

// bitsAt returns width bits from bit at on.
func bitsAt(src []byte, at, width int) (v uint64) {
	for got := 0; got < width; {
		shift := (at + got) % 8
		v |= uint64(src[(at+got)/8]>>shift) << got
		got += 8 - shift
	}
	if width < 64 {
		v &= 1<<width - 1
	}
	return v
}
