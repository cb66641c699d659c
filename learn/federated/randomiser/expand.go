package randomiser

import (
	"math"
	"sync"

	"github.com/darrm/darrm/sketch/stream"
)

// normals sets z to the normal numbers of a seed: what the messages' standard calls g. They
// have 24 significant bits, two to a word of the stream, by a ziggurat of 256 layers
// (Marsaglia and Tsang, 2000) with bits of their own for layer, sign and position. Positions
// are centres of 2²³ cells, so that the law is symmetric and never 0. Their law differs from the
// normal one by about 2⁻²³ in relative terms; that is how far a report's mean may be off.
// Rejections compare with math.Exp, whose last bit is the platform's: with
// probability about 2⁻⁴⁵ a word two platforms go on with different numbers, which costs one report.
func normals(z []float64, seed, purpose, row uint64) {
	s := stream.New(seed, purpose, row) // a value, which stays in a register
	for ; len(z) >= 2; z = z[2:] {
		u := s.Uint64()
		a, b := uint32(u), uint32(u>>32)
		x, outside := position(a)
		if outside {
			x, a, s = edge(a, s)
		}
		z[0] = signed(x, a)
		if x, outside = position(b); outside {
			x, b, s = edge(b, s)
		}
		z[1] = signed(x, b)
	}
	if len(z) == 1 {
		w := uint32(s.Uint64())
		x, outside := position(w)
		if outside {
			x, w, _ = edge(w, s)
		}
		z[0] = signed(x, w)
	}
}

// The bits of a word: 8 of the layer, one sign, 23 of the position.
const (
	layers   = 256
	cells    = 1 << 23
	right    = 3.6541528853610088     // where the tail begins
	areaEach = 0.00492867323397465524 // of a layer
)

// ziggurat holds for each layer the width of a cell, the first cell that does not certainly
// lie under the curve, and the curve's height at its right end.
var ziggurat = func() (t struct {
	width  [layers]float32
	inside [layers]uint32
	height [layers + 1]float64
}) {
	f := func(x float64) float64 { return math.Exp(-x * x / 2) }
	ends := make([]float64, layers+1)
	ends[0], ends[1] = areaEach/f(right), right
	for i := 1; i < layers-1; i++ {
		ends[i+1] = math.Sqrt(-2 * math.Log(areaEach/ends[i]+f(ends[i])))
	}
	for i := range layers {
		t.width[i] = float32(ends[i] / cells)
		t.inside[i] = uint32(ends[i+1] / ends[i] * cells)
		t.height[i] = f(ends[i])
	}
	t.height[layers] = 1
	return t
}()

// position returns a word's place in its layer. outside is false if it is surely under the curve.
func position(w uint32) (x float32, outside bool) {
	i, m := w&(layers-1), w>>9
	return (float32(m) + 0.5) * ziggurat.width[i], m >= ziggurat.inside[i]
}

// signed gives x the sign of its word, bit 8, without a branch that no processor could predict.
func signed(x float32, w uint32) float64 {
	return float64(math.Float32frombits(math.Float32bits(x) | w<<23&(1<<31)))
}

// edge decides what position leaves open, once in a hundred words. It returns the size of the
// number and the word that has its sign.
func edge(w uint32, s stream.Stream) (float32, uint32, stream.Stream) {
	for {
		x, outside := position(w)
		i := w & (layers - 1)
		switch {
		case !outside:
			return x, w, s
		case i == 0:
			x = tail(&s)
			return x, w, s
		case ziggurat.height[i]+(ziggurat.height[i+1]-ziggurat.height[i])*
			s.Float64() < math.Exp(-float64(x)*float64(x)/2):
			return x, w, s
		}
		w = uint32(s.Uint64())
	}
}

// tail returns a normal number beyond right: Marsaglia, Generating a Variable from the Tail
// of the Normal Distribution (1964).
func tail(s *stream.Stream) float32 {
	for {
		x := -math.Log(1-s.Float64()) / right
		if y := -math.Log(1 - s.Float64()); y+y > x*x {
			return float32(right + x)
		}
	}
}

// scratch lends buffers, so that a report allocates nothing.
var scratch = sync.Pool{New: func() any { return new([]float64) }}

func borrow(n int) *[]float64 {
	b := scratch.Get().(*[]float64)
	if cap(*b) < n {
		*b = make([]float64, n)
	}
	*b = (*b)[:n]
	return b
}
