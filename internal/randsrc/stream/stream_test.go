package stream

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/darrm/darrm/internal/testing/must"
)

// The law of the normals, by fixed seeds: so each check always passes or never does. For
// a right sampler each fails with probability below 1e-6 over seeds: moments at 5 standard
// errors, and the chi-square of 64 cells of equal probability below its 1e-6 point.
func checkNormals(fill func(z []float64)) error {
	const n = 1_000_000
	z := make([]float64, n)
	fill(z)
	var m1, m2, m3, m4 float64
	cells := make([]float64, 64)
	tail := 0
	for _, v := range z {
		m1 += v / n
		m2 += v * v / n
		m3 += v * v * v / n
		m4 += v * v * v * v / n
		cells[min(63, int(64*0.5*math.Erfc(-v/math.Sqrt2)))]++
		if math.Abs(v) > zigRight {
			tail++
		}
	}
	for _, m := range []struct {
		name                 string
		got, want, deviation float64
	}{{"mean", m1, 0, 1}, {"variance", m2, 1, math.Sqrt(2)}, {"third moment", m3, 0, math.Sqrt(15)},
		{"fourth moment", m4, 3, math.Sqrt(96)}} {
		if math.Abs(m.got-m.want) > 5*m.deviation/math.Sqrt(n) {
			return fmt.Errorf("%s = %g", m.name, m.got)
		}
	}
	chi := 0.0
	for _, c := range cells {
		chi += (c - n/64.0) * (c - n/64.0) / (n / 64.0)
	}
	if chi > 131 { // the 1e-6 point with 63 degrees of freedom
		return fmt.Errorf("chi-square = %g over 64 cells", chi)
	}
	p := math.Erfc(zigRight / math.Sqrt2) // beyond the ziggurat's right end
	if math.Abs(float64(tail)-n*p) > 5*math.Sqrt(n*p) {
		return fmt.Errorf("%d of %d beyond %g, want %g", tail, n, zigRight, n*p)
	}
	// Independent neighbours: the correlation has standard error 1e-3.
	lag := 0.0
	for i := 1; i < n; i++ {
		lag += z[i] * z[i-1] / n
	}
	if math.Abs(lag) > 5e-3 {
		return fmt.Errorf("correlation of neighbours = %g", lag)
	}
	return nil
}

// noise is a sampler, of a release's normals if four.
func noise(four bool) *Normals {
	s := Restore(Seeded(1).Key(), four).Normals()
	s.Restart("noise", 0)
	return s
}

func TestNormals(t *testing.T) {
	for _, four := range []bool{false, true} {
		if err := checkNormals(noise(four).Fill); err != nil {
			t.Errorf("four = %t: %v", four, err)
		}
	}
	for name, wrong := range map[string]func(float64) float64{
		"one per cent too small": func(v float64) float64 { return 0.99 * v },
		"shifted":                func(v float64) float64 { return v + 0.01 },
		"no tail":                func(v float64) float64 { return max(-zigRight, min(zigRight, v)) },
		"one side":               math.Abs,
		"rounded":                func(v float64) float64 { return math.Round(8*v) / 8 },
	} {
		s := noise(false)
		if checkNormals(func(z []float64) {
			s.Fill(z)
			for i := range z {
				z[i] = wrong(z[i])
			}
		}) == nil {
			t.Errorf("mutant %q passes", name)
		}
	}
}

func TestZigguratTables(t *testing.T) {
	// Layers have equal areas and end at the top; the base holds the tail.
	tail := math.Sqrt(math.Pi/2) * math.Erfc(zigRight/math.Sqrt2)
	must.Near(t, "base", zigRight*zig.height[1]+tail, zigArea, 1e-10)
	for i := 1; i < zigLayers; i++ {
		must.Near(t, fmt.Sprintf("layer %d", i), zig.width[i]*(1<<53)*(zig.height[i+1]-zig.height[i]),
			zigArea, 1e-8)
		if !(zig.height[i+1] > zig.height[i]) {
			t.Errorf("heights do not grow at %d", i)
		}
	}
}

func TestStreamsDiffer(t *testing.T) {
	seen := map[uint64]string{}
	for _, k := range []Coins{Seeded(0), Seeded(1)} {
		for _, purpose := range []string{"order", "noise", "data"} {
			for epoch := range 3 {
				u := k.Stream(purpose, epoch).Uint64()
				name := fmt.Sprint(k.Key()[0], purpose, epoch)
				if other, ok := seen[u]; ok {
					t.Errorf("%s and %s begin alike", name, other)
				}
				seen[u] = name
				if k.Stream(purpose, epoch).Uint64() != u {
					t.Errorf("%s does not repeat", name)
				}
			}
		}
	}
}

func TestPermutations(t *testing.T) {
	rng := Seeded(3).Stream("order", 0)
	// All 24 permutations of 4, 48000 draws: chi-square with 23 degrees of freedom is
	// above 78 with probability 1e-7.
	count := map[string]int{}
	perm := make([]int, 4)
	for range 48_000 {
		for i := range perm {
			perm[i] = i
		}
		Shuffle(rng, perm)
		count[fmt.Sprint(perm)]++
	}
	chi := 0.0
	for _, c := range count {
		chi += float64(c-2000) * float64(c-2000) / 2000
	}
	if len(count) != 24 || chi > 78 {
		t.Errorf("%d permutations, chi-square %g", len(count), chi)
	}
	for n := uint64(1); n < 40; n++ {
		for range 100 {
			if Below(rng, n) >= n {
				t.Fatalf("Below(%d) is beyond", n)
			}
		}
	}
}

func BenchmarkNormals(b *testing.B) {
	for _, four := range []bool{false, true} {
		b.Run(fmt.Sprintf("four=%t", four), func(b *testing.B) {
			s := noise(four)
			z := make([]float64, 784)
			b.SetBytes(8 * 784)
			for b.Loop() {
				s.Fill(z)
			}
		})
	}
}

// The draws that everything is made of, output by output: integers without a preference for
// the small ones, where an unchecked remainder would prefer them in half of all outputs, and
// numbers that are never 0, of which there is a logarithm.
func TestDrawsFromAStream(t *testing.T) {
	for _, n := range []uint64{1, 3, 1 << 40, 1<<63 - 1, 1<<63 + 1, math.MaxUint64} {
		rng, same := Seeded(4).Stream("order", 0), Seeded(4).Stream("order", 0)
		for i := range 100 {
			if got, want := Below(rng, n), uint64(slowBelow(same, n)); got != want {
				t.Fatalf("n = %d: draw %d is %d, want %d", n, i, got, want)
			}
		}
	}
	rng, same := Seeded(5).Stream("noise", 0), Seeded(5).Stream("noise", 0)
	for i := range 1000 {
		cell := float64(same.Uint64() >> 11) // its centre is no float64 in the upper half
		if got, want := unit(rng), (cell+0.5)*0x1p-53; got != want || !(got > 0) {
			t.Fatalf("draw %d is %.17g, want %.17g", i, got, want)
		}
	}
}

// slowBelow returns an integer of {0 … m-1}: outputs are drawn again that would prefer small
// ones.
func slowBelow(rng *rand.ChaCha8, m uint64) int {
	for {
		if u := rng.Uint64(); u < math.MaxUint64-math.MaxUint64%m {
			return int(u % m)
		}
	}
}
