package prepare

import (
	"crypto/sha256"
	"encoding/binary"
	"math"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/data"
)

// HoldOut splits records into those that a model learns from and those that it is evaluated on. The
// side of a record tells nothing of another. What decides it has to fit the neighbours of the
// promise: where a record is replaced, its row's number, so that the other rows stay where they
// are and the number of rows to learn from is that of every neighbour; where a record is added or
// removed, its content, since every row below it gets another number.
type HoldOut struct {
	Share     float64 `json:"share"`      // expected share of the records held out, in (0,1)
	ByContent bool    `json:"by_content"` // false: by the row's number
}

// Check refuses a share that leaves one part without records.
func (h HoldOut) Check() error { return check.Open("hold-out", h.Share, 0, 1) }

// Split returns the records to learn from and those held out, which are few where the share or
// the number of records is; either may be nil, for none.
func (h HoldOut) Split(r *data.Records) (learn, held *data.Records, err error) {
	if err := h.Check(); err != nil {
		return nil, nil, err
	}
	var parts [2][]int
	for i := range r.Len() {
		part := 0
		if h.holds(r, i) {
			part = 1
		}
		parts[part] = append(parts[part], i)
	}
	for i, out := range []**data.Records{&learn, &held} {
		if len(parts[i]) == 0 {
			continue
		}
		if *out, err = r.Select(parts[i]); err != nil {
			return nil, nil, err
		}
	}
	return learn, held, nil
}

// holds reports whether record i is held out: whether the first 53 bits of a hash are a number
// below the share.
func (h HoldOut) holds(r *data.Records, i int) bool {
	b := []byte("darrm hold-out v1\n")
	if h.ByContent {
		for _, v := range append(r.Row(i), r.Response(i)) {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
	} else {
		b = binary.LittleEndian.AppendUint64(b, uint64(i))
	}
	sum := sha256.Sum256(b)
	return float64(binary.LittleEndian.Uint64(sum[:])>>11)*0x1p-53 < h.Share
}
