package prepare

import (
	"bytes"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/learn/data"
)

// A table of 10,000 rows of 100 numbers of 16 digits and a class.
func BenchmarkRead(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	var text []byte
	m := &Map{Response: &Response{Column: Column{Name: "y"}}}
	for j := range 100 {
		name := "x" + strconv.Itoa(j)
		text = append(append(text, name...), ',')
		m.Features = append(m.Features, Column{Name: name, Scale: &Range{0, 10}})
	}
	text = append(text, "y\n"...)
	for range 10_000 {
		for range 100 {
			text = append(strconv.AppendFloat(text, 10*rng.Float64(), 'g', -1, 64), ',')
		}
		text = append(strconv.AppendInt(text, rng.Int64N(2), 10), '\n')
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		must.Get(Read(must.Get(data.NewCSV(bytes.NewReader(text), true))(b), m))(b)
	}
}
