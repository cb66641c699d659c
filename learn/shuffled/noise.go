package shuffled

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/darrm/darrm/internal/randsrc"
)

// key is all randomness of a run: every stream is derived from it, so a run can be
// continued from any epoch and is the same run.
type key [32]byte

// secureKey draws a key for a release from the operating system's generator: five times 53
// bits, hashed.
func secureKey(src *randsrc.Secure) (key, error) {
	b := []byte("darrm shuffleg release key v1")
	for range 5 {
		u, err := src.Uint53()
		if err != nil {
			return key{}, err
		}
		b = binary.LittleEndian.AppendUint64(b, u)
	}
	k := key(sha256.Sum256(b))
	clear(b)
	return k, nil
}

// seededKey is the key of a simulation. No release has such a key but with probability
// 2⁻²⁵⁶ or so.
func seededKey(seed uint64) key {
	b := []byte("darrm shuffleg simulation key v1")
	return key(sha256.Sum256(binary.LittleEndian.AppendUint64(b, seed)))
}

// The streams of a key are apart, so that methods can be compared on common randomness.
const (
	streamOrder = "order"
	streamNoise = "noise"
)

// stream returns the generator of a purpose and epoch. ChaCha8 is a cryptographically
// strong generator: without the key its output cannot be told from uniform, so that noise
// made of it gives the (ε, δ) of true noise against anyone who cannot break it.
func (k key) stream(purpose string, epoch int) *rand.ChaCha8 {
	rng := new(rand.ChaCha8)
	k.restart(rng, purpose, epoch)
	return rng
}

// restart turns rng into the stream of a purpose and epoch.
func (k key) restart(rng *rand.ChaCha8, purpose string, epoch int) {
	var array [128]byte
	b := append(array[:0], "darrm shuffleg stream v1 "...)
	b = append(b, k[:]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(epoch))
	rng.Seed(sha256.Sum256(append(b, purpose...)))
}

// normals draws from the standard normal distribution.
type normals struct {
	rng *rand.ChaCha8
	// four makes each normal half the sum of four. One normal's low bits can betray from
	// which generator output it was made, and so what was added to it; of four that were
	// added up they do not. Holohan and Braghin (2021), Section 4.
	four bool
}

// fill sets z to independent standard normals.
func (s *normals) fill(z []float64) {
	if !s.four {
		for j := range z {
			z[j] = ziggurat(s.rng)
		}
		return
	}
	for j := range z {
		z[j] = (ziggurat(s.rng) + ziggurat(s.rng) + ziggurat(s.rng) + ziggurat(s.rng)) / 2
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

// permute shuffles perm uniformly: Fisher and Yates, with unbiased indices.
func permute(rng *rand.ChaCha8, perm []int) {
	for i := len(perm) - 1; i > 0; i-- {
		j := below(rng, uint64(i+1))
		perm[i], perm[j] = perm[j], perm[i]
	}
}

// below returns an integer uniform on {0, …, n-1}: outputs beyond the largest multiple of
// n are drawn again.
func below(rng *rand.ChaCha8, n uint64) uint64 {
	last := math.MaxUint64 - math.MaxUint64%n - 1 // a multiple of n outputs lie in [0, last]
	for {
		if u := rng.Uint64(); u <= last {
			return u % n
		}
	}
}

// identity sets perm to 0, 1, ….
func identity(perm []int) {
	for i := range perm {
		perm[i] = i
	}
}

// isPermutation says whether perm holds 0, …, n-1 once each.
func isPermutation(perm []int) bool {
	sorted := slices.Clone(perm)
	slices.Sort(sorted)
	for i, v := range sorted {
		if v != i {
			return false
		}
	}
	return true
}
