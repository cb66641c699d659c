package npy

import (
	"bytes"
	"testing"
)

func FuzzRows(f *testing.F) {
	f.Add(append(Head(`[('a', '<f8'), ("b'\n", '|b1')]`, 1), make([]byte, 9)...))
	f.Add(append(Head("'<f4'", 1, 2), make([]byte, 8)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		rows, err := NewRows(bytes.NewReader(b))
		if err != nil {
			return
		}
		x := make([]float64, len(rows.Fields))
		for n := 0; n < 3; n++ {
			block, err := rows.Next(2)
			if err != nil {
				return
			}
			for i := range rows.Len(block) {
				rows.Row(x, block, i)
			}
		}
	})
}
