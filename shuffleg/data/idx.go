package data

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/darrm/darrm/internal/check"
)

// IDX is the content of an IDX file of unsigned bytes, MNIST's format: the sizes of its
// dimensions and the bytes, the last dimension fastest.
type IDX struct {
	Sizes  []int
	Values []byte
}

// Items returns the size of the first dimension and the number of bytes of an item.
func (x IDX) Items() (n, size int) {
	n = x.Sizes[0]
	size = 1
	for _, s := range x.Sizes[1:] {
		size *= s
	}
	return n, size
}

// Item returns the bytes of item i, not to be changed.
func (x IDX) Item(i int) []byte {
	_, size := x.Items()
	return x.Values[i*size : (i+1)*size]
}

// ReadIDX reads an IDX file with 1 to 3 dimensions of unsigned bytes:
//
//	0 0 8 dims | sizes, 4 bytes each, big-endian | bytes
//
// It must end where its sizes say, and hold at most MaxValues bytes. Memory grows with
// the bytes that are there, not with those that the sizes claim.
func ReadIDX(r io.Reader) (IDX, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return IDX{}, fmt.Errorf("idx header: %w", err)
	}
	if head[0] != 0 || head[1] != 0 {
		return IDX{}, fmt.Errorf("idx header begins with % x, not 00 00", head[:2])
	}
	if head[2] != 8 {
		return IDX{}, &check.Error{Name: "idx type", Value: fmt.Sprintf("%#02x", head[2]), Rule: "0x08, unsigned bytes"}
	}
	if head[3] < 1 || head[3] > 3 {
		return IDX{}, &check.Error{Name: "idx dimensions", Value: head[3], Rule: "between 1 and 3"}
	}
	x := IDX{}
	total := 1
	for range head[3] {
		var b [4]byte
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return IDX{}, fmt.Errorf("idx sizes: %w", err)
		}
		s := binary.BigEndian.Uint32(b[:])
		if s < 1 || uint64(s) > MaxValues || total > MaxValues/int(s) {
			return IDX{}, &check.Error{Name: "idx size", Value: s, Rule: fmt.Sprintf("at least 1, and at most %d bytes in all", MaxValues)}
		}
		total *= int(s)
		x.Sizes = append(x.Sizes, int(s))
	}
	values, err := io.ReadAll(io.LimitReader(r, int64(total)+1))
	if err != nil {
		return IDX{}, fmt.Errorf("idx values: %w", err)
	}
	if len(values) != total {
		more := ""
		if len(values) > total {
			more = " or more"
		}
		return IDX{}, fmt.Errorf("idx sizes %v ask for %d bytes, but there are %d%s", x.Sizes, total, len(values), more)
	}
	x.Values = values
	return x, nil
}
