package sketch

import (
	"math"

	"github.com/darrm/darrm/sketch/fwht"
	"github.com/darrm/darrm/sketch/stream"
)

// matrix is a client's G in one round, k rows of d' columns.
type matrix interface {
	// times sets y = G x. scratch has length d' and is overwritten.
	times(y, x, scratch []float64)
	// addTransposed adds Gᵀ y to out. scratch has length d' and is overwritten.
	addTransposed(out, y, scratch []float64)
}

// matrix returns the G of a client.
func (c Config) matrix(round, client uint64) matrix {
	switch c.Ensemble {
	case RowSelect:
		return c.draw(stream.New(c.Root, stream.RandK, round, client), stream.Stream{})
	case SRHT:
		return c.draw(stream.New(c.Root, stream.SRHTSigns, round, client),
			stream.New(c.Root, stream.SRHTRows, round, client))
	}
	return c.draw(stream.New(c.Root, stream.Dense, round, client), stream.Stream{})
}

// draw makes a G from one stream; SRHT takes its rows from the second.
func (c Config) draw(s, rows stream.Stream) matrix {
	switch c.Ensemble {
	case RowSelect:
		return selection(s.Subset(c.D, c.K))
	case SRHT:
		d := c.padded()
		return &srht{signs: s, rows: rows.Subset(d, c.K), scale: 1 / math.Sqrt(float64(d))}
	case CountSketch:
		m := &countSketch{bucket: make([]int32, c.D), sign: make([]float64, c.D)}
		for j := range m.bucket {
			m.bucket[j] = int32(s.Bound(uint64(c.K)))
			m.sign[j] = 1 - 2*float64(s.Uint64()&1)
		}
		return m
	}
	g := make(dense, c.K)
	for a := range g {
		row := make([]float64, c.D)
		for j := range row {
			row[j] = s.Normal() / math.Sqrt(float64(c.D))
		}
		if c.Ensemble == GaussianRowNorm {
			norm := math.Sqrt(dot(row, row))
			for j := range row {
				row[j] /= norm
			}
		}
		if c.Ensemble == Haar {
			orthonormalise(row, g[:a])
		}
		g[a] = row
	}
	return g
}

// orthonormalise makes a row orthonormal to those before, which are so to one another. Normal rows
// have no direction, so that what comes of them is k rows of a uniformly random rotation (Stewart
// 1980). A second pass takes off what rounding left of the first.
func orthonormalise(row []float64, before dense) {
	for range 2 {
		for _, other := range before {
			p := dot(row, other)
			for j, v := range other {
				row[j] -= p * v
			}
		}
		norm := math.Sqrt(dot(row, row))
		for j := range row {
			row[j] /= norm
		}
	}
}

// selection lists the coordinates of Rand-k.
type selection []int

func (m selection) times(y, x, _ []float64) {
	for a, j := range m {
		y[a] = x[j]
	}
}

func (m selection) addTransposed(out, y, _ []float64) {
	for a, j := range m {
		out[j] += y[a]
	}
}

// srht is (1/√d') E H D. The signs D are drawn anew at each use: that is one word for 64
// coordinates, and saves n·d' bits.
type srht struct {
	signs stream.Stream
	rows  []int
	scale float64
}

func (m *srht) times(y, x, scratch []float64) {
	s := m.signs
	s.FlipTo(scratch[:len(x)], x)
	clear(scratch[len(x):]) // padding
	fwht.Transform(scratch)
	for a, r := range m.rows {
		y[a] = scratch[r] * m.scale
	}
}

func (m *srht) addTransposed(out, y, scratch []float64) {
	clear(scratch)
	for a, r := range m.rows {
		scratch[r] = y[a] * m.scale
	}
	fwht.Transform(scratch)
	s := m.signs
	s.AddFlipped(out, scratch)
}

// dense is a matrix by rows.
type dense [][]float64

func (m dense) times(y, x, _ []float64) {
	for a, row := range m {
		y[a] = dot(row, x)
	}
}

func (m dense) addTransposed(out, y, _ []float64) {
	for a, row := range m {
		for j, v := range row {
			out[j] += y[a] * v
		}
	}
}

// countSketch has one entry ±1 in each column.
type countSketch struct {
	bucket []int32
	sign   []float64
}

func (m *countSketch) times(y, x, _ []float64) {
	clear(y)
	for j, b := range m.bucket {
		y[b] += m.sign[j] * x[j]
	}
}

func (m *countSketch) addTransposed(out, y, _ []float64) {
	for j, b := range m.bucket {
		out[j] += m.sign[j] * y[b]
	}
}
