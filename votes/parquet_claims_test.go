package votes

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/format"
)

// Rows that the file claims and its row groups do not have are missing votes: the file is refused,
// and so is one that claims fewer.
func TestParquetHasTheRowsItClaims(t *testing.T) {
	type row struct {
		A int64 `parquet:"t1"`
	}
	good := parquetOf(t, []row{{0}, {1}, {1}})
	for _, claimed := range []int64{0, 2, 4, 1 << 40} {
		file := editParquet(t, good, func(m *format.FileMetaData, body []byte) []byte {
			m.NumRows = claimed
			return body
		})
		_, err := readAll(bytes.NewReader(file), pq(Options{}))
		var p *ParseError
		if !errors.As(err, &p) || !strings.Contains(err.Error(),
			"the row groups have 3 rows, the file claims") {
			t.Errorf("three rows of %d: %v", claimed, err)
		}
	}
	for claimed, want := range map[int64]string{1: "2 values more than rows", 2: "1 values more than rows", 4: ""} {
		file := editParquet(t, good, func(m *format.FileMetaData, body []byte) []byte {
			m.NumRows, m.RowGroups[0].NumRows = claimed, claimed
			return body
		})
		_, err := readAll(bytes.NewReader(file), pq(Options{}))
		var p *ParseError
		if !errors.As(err, &p) || !strings.Contains(err.Error(), want) {
			t.Errorf("three rows in a row group of %d: %v", claimed, err)
		}
	}
}

// Whole numbers of 32 bits are read with the sign that their column states, as ids and as votes.
func TestParquetSigns(t *testing.T) {
	type unsigned struct {
		Query uint32 `parquet:"query"`
		A     uint32 `parquet:"t1"`
	}
	got, err := readAll(bytes.NewReader(parquetOf(t,
		[]unsigned{{7, 1}, {1<<31 - 1, 0}, {1 << 31, 1}, {1<<32 - 1, 0}})), pq(Options{}))
	if want := []string{"7", "2147483647", "2147483648", "4294967295"}; err != nil ||
		!slices.Equal(got.IDs, want) {
		t.Errorf("unsigned ids %q, want %q (%v)", got.IDs, want, err)
	}
	type signed struct {
		Query int32 `parquet:"query"`
		A     int32 `parquet:"t1"`
	}
	got, err = readAll(bytes.NewReader(parquetOf(t, []signed{{7, 1}, {-1, 0}})), pq(Options{}))
	if want := []string{"7", "-1"}; err != nil || !slices.Equal(got.IDs, want) {
		t.Errorf("signed ids %q, want %q (%v)", got.IDs, want, err)
	}
	if _, err := readAll(bytes.NewReader(parquetOf(t, []unsigned{{7, 1<<32 - 1}})),
		pq(Options{})); err == nil || !strings.Contains(err.Error(), "vote 4294967295 is not 0 or 1") {
		t.Errorf("a large vote: %v", err)
	}
}
