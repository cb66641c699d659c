package stream

import (
	"math"
	"math/rand/v2"
)

// Normals draws from the standard normal distribution. Restart it before the first draw.
type Normals struct {
	coins Coins
	rng   rand.ChaCha8
}

// Normals returns a sampler of the coins' normals.
func (c Coins) Normals() *Normals { return &Normals{coins: c} }

// Restart goes on with the stream of a purpose and round.
func (s *Normals) Restart(purpose string, round int) { s.coins.Restart(&s.rng, purpose, round) }

// Fill sets z to independent standard normals. Those of a release are each half the sum of
// four: one normal's low bits can betray from which generator output it was made, and so what
// was added to it; of four that were added up they do not. Holohan and Braghin, Secure Random
// Sampling in Differential Privacy (2021), Section 4.
func (s *Normals) Fill(z []float64) {
	rng := &s.rng
	if !s.coins.secret {
		for j := range z {
			z[j] = ziggurat(rng)
		}
		return
	}
	for j := range z {
		z[j] = (ziggurat(rng) + ziggurat(rng) + ziggurat(rng) + ziggurat(rng)) / 2
	}
}

// The ziggurat has 256 layers of equal area under e^{-x²/2}, the lowest with the tail
// beyond r. Marsaglia and Tsang, The Ziggurat Method for Generating Random Variables
// (2000); here with 53 bits in a layer in place of 24, and bits of their own for layer and
// sign (Doornik, An Improved Ziggurat Method, 2005).
const (
	zigLayers = 256
	zigRight  = 3.6541528853610088     // r
	zigArea   = 0.00492867323397465524 // of a layer
)

// zig holds for layer i its width over 2⁵³, the largest integer that certainly lies under
// the curve, and the curve's height at its right end.
var zig = func() (t struct {
	width  [zigLayers]float64
	inside [zigLayers]uint64
	height [zigLayers + 1]float64
}) {
	f := func(x float64) float64 { return math.Exp(-x * x / 2) }
	right := make([]float64, zigLayers+1)
	right[0], right[1] = zigArea/f(zigRight), zigRight
	for i := 1; i < zigLayers-1; i++ {
		right[i+1] = math.Sqrt(-2 * math.Log(zigArea/right[i]+f(right[i])))
	}
	right[zigLayers] = 0
	for i := range zigLayers {
		t.width[i] = right[i] / (1 << 53)
		t.inside[i] = uint64(right[i+1] / right[i] * (1 << 53))
		t.height[i] = f(right[i])
	}
	t.height[zigLayers] = 1
	return t
}()

// ziggurat returns one standard normal.
func ziggurat(rng *rand.ChaCha8) float64 {
	for {
		u := rng.Uint64()
		i, m := u&(zigLayers-1), u>>11 // layer; sign is bit 8; position in the layer
		x := float64(m) * zig.width[i]
		if m >= zig.inside[i] {
			if i == 0 {
				x = zigguratTail(rng)
			} else if zig.height[i]+(zig.height[i+1]-zig.height[i])*unit(rng) >= math.Exp(-x*x/2) {
				continue
			}
		}
		// The sign without a branch, which no processor could predict.
		return math.Float64frombits(math.Float64bits(x) | u<<55&(1<<63))
	}
}

// zigguratTail returns a normal beyond r. Marsaglia, Generating a Variable from the Tail
// of the Normal Distribution (1964).
func zigguratTail(rng *rand.ChaCha8) float64 {
	for {
		x := -math.Log(unit(rng)) / zigRight
		if y := -math.Log(unit(rng)); y+y > x*x {
			return zigRight + x
		}
	}
}

// unit returns a number uniform in (0, 1], the centre of one of 2⁵³ cells, rounded.
func unit(rng *rand.ChaCha8) float64 {
	return (float64(rng.Uint64()>>11) + 0.5) * 0x1p-53
}
