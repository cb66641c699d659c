// Package stream is the shared randomness of package sketch: SplitMix64 streams that
// clients and server derive from one root, so that no random matrix is ever sent.
//
// The streams are a wire standard. A client in any language must produce the same bits;
// docs/mean.md gives the definition and test vectors. They are not
// cryptographic and protect nothing: privacy noise never comes from here.
//
// A stream is named by a root and labels, in package sketch (root, purpose, round, client):
//
//	fin(z)                   the finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014)
//	New(root, v1, v2, …)     h = root; h = fin(h + G) ⊕ v for each label v; state = fin(h + G)
//	Uint64                   state += G; fin(state)
//
// with G = 0x9E3779B97F4A7C15 and arithmetic modulo 2⁶⁴.
//
// Values of its types are safe for concurrent use while nobody writes to their fields, but for
// those whose comments say otherwise.
package stream

import (
	"math"
	"math/bits"
	"slices"
)

// The purposes of streams, their first label. Each purpose has streams of its own, so that
// what one draws never changes another.
const (
	SRHTSigns     uint64 = 1  // the signs D of a client's SRHT
	SRHTRows      uint64 = 2  // the rows E of a client's SRHT
	Dense         uint64 = 3  // entries of Gaussian matrices and Count Sketch
	RandK         uint64 = 4  // the coordinates of Rand-k
	WangniCoins   uint64 = 5  // the coins of Rand-k(Wangni)
	InducedSubset uint64 = 6  // the coordinates of Induced's Rand-k
	MonteCarlo    uint64 = 7  // draws for β
	DataSplit     uint64 = 8  // splits of data in experiments
	Synthetic     uint64 = 9  // synthetic data and starts of tasks
	MessageTag    uint64 = 10 // the tag of a message
	Rounding      uint64 = 11 // stochastic rounding and rotation of quantised payloads
	Direction     uint64 = 12 // the directions of a local report (learn/federated/randomiser)
	Projection    uint64 = 13 // the rows of its projection
)

const golden = 0x9E3779B97F4A7C15

// Stream is one stream. Its zero value is the stream of state 0; New makes named ones. It is for
// one goroutine at a time.
type Stream struct{ state uint64 }

// New returns the stream of a root and labels.
func New(root uint64, labels ...uint64) Stream {
	h := root
	for _, v := range labels {
		h = finish(h+golden) ^ v
	}
	return Stream{finish(h + golden)}
}

// From returns the stream of a state, which is SplitMix64 as others have it under that seed.
func From(state uint64) Stream { return Stream{state} }

func finish(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// Uint64 returns the next 64 bits. It makes a *Stream a source of math/rand/v2.
func (s *Stream) Uint64() uint64 {
	s.state += golden
	return finish(s.state)
}

// Bound returns a uniform number below m, which must be positive. Words below 2⁶⁴ mod m are
// drawn again, so that no remainder is more likely than another.
func (s *Stream) Bound(m uint64) uint64 {
	for {
		if x := s.Uint64(); x >= m || x >= -m%m { // 2⁶⁴ mod m is below m, and a division is slow
			return x % m
		}
	}
}

// Float64 returns a uniform number in [0,1), a multiple of 2⁻⁵³.
func (s *Stream) Float64() float64 { return float64(s.Uint64()>>11) / (1 << 53) }

// Normal returns a standard normal number by Box and Muller, one per two words. Its last bit
// depends on the platform's logarithm and cosine.
func (s *Stream) Normal() float64 {
	u := 1 - s.Float64() // in (0,1]
	v := s.Float64()
	return math.Sqrt(-2*math.Log(u)) * math.Cos(2*math.Pi*v)
}

// Flip multiplies a by random signs: bit b of the word for each block of 64 coordinates is 1
// where coordinate b of the block changes its sign. It draws ⌈len(a)/64⌉ words.
func (s *Stream) Flip(a []float64) { s.FlipTo(a, a) }

// FlipTo sets dst to src with random signs, as Flip has them. dst must be as long as src.
func (s *Stream) FlipTo(dst, src []float64) {
	dst = dst[:len(src)]
	for len(src) >= 64 {
		to, from, w := (*[64]float64)(dst), (*[64]float64)(src), s.Uint64()
		for j := range 64 {
			to[j] = math.Float64frombits(math.Float64bits(from[j]) ^ w<<63)
			w >>= 1
		}
		dst, src = dst[64:], src[64:]
	}
	if len(src) > 0 {
		w := s.Uint64()
		for j, v := range src {
			dst[j] = math.Float64frombits(math.Float64bits(v) ^ w<<63)
			w >>= 1
		}
	}
}

// AddFlipped adds src with random signs to dst, as Flip has them. dst must be as long as src.
func (s *Stream) AddFlipped(dst, src []float64) {
	dst = dst[:len(src)]
	for len(src) >= 64 {
		to, from, w := (*[64]float64)(dst), (*[64]float64)(src), s.Uint64()
		for j := range 64 {
			to[j] += math.Float64frombits(math.Float64bits(from[j]) ^ w<<63)
			w >>= 1
		}
		dst, src = dst[64:], src[64:]
	}
	if len(src) > 0 {
		w := s.Uint64()
		for j, v := range src {
			dst[j] += math.Float64frombits(math.Float64bits(v) ^ w<<63)
			w >>= 1
		}
	}
}

// Shuffle puts a into a random order by Fisher-Yates from the end: place i changes with place
// Bound(i+1).
func (s *Stream) Shuffle(a []int) {
	for i := len(a) - 1; i > 0; i-- {
		j := s.Bound(uint64(i + 1))
		a[i], a[j] = a[j], a[i]
	}
}

// Subset returns k distinct numbers below d, ascending, all sets equally likely: the first
// k places of a Fisher-Yates shuffle, place a changing with place a + Bound(d-a).
// 0 ≤ k ≤ d < 2³¹ is required. Memory is O(k) for small k, O(d) otherwise.
func (s *Stream) Subset(d, k int) []int {
	if k > d/64 {
		return s.manyOf(d, k)
	}
	out := make([]int, k)
	moved := make(map[int]int, 2*k) // the places of the shuffle that do not hold their own number
	at := func(j int) int {
		if v, ok := moved[j]; ok {
			return v
		}
		return j
	}
	for a := range k {
		b := a + int(s.Bound(uint64(d-a)))
		out[a], moved[b] = at(b), at(a)
	}
	slices.Sort(out)
	return out
}

// manyOf shuffles an array, and sorts by a bit for each of the d numbers.
func (s *Stream) manyOf(d, k int) []int {
	all := make([]int32, d)
	for j := range all {
		all[j] = int32(j)
	}
	chosen := make([]uint64, (d+63)/64)
	for a := range k {
		b := a + int(s.Bound(uint64(d-a)))
		v := all[b]
		all[b] = all[a]
		chosen[v/64] |= 1 << (v % 64)
	}
	out := make([]int, 0, k)
	for i, w := range chosen {
		for ; w != 0; w &= w - 1 {
			out = append(out, 64*i+bits.TrailingZeros64(w))
		}
	}
	return out
}
