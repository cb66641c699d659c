package randomiser_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/learn/federated/randomiser"
)

// With one bit and no projection the codebook is OneBit: the same messages and the same Scale.
func TestOnePairIsOneBit(t *testing.T) {
	for _, d := range []int{1, 2, 3, 10, 101, 5000} {
		r, err := randomiser.NewPrivUnit(d, 0.8, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		o := oneBit(t, d, 0.8)
		if r.Epsilon() != o.Epsilon() {
			t.Errorf("epsilons %g, %g", r.Epsilon(), o.Epsilon())
		}
		must.Near(t, fmt.Sprintf("scale, d = %d", d), r.Scale(2), o.Scale(2), 1e-10)
	}
}

// Codebooks are unbiased and have the variance that Scale says, for long and short vectors. The
// mean of n reports has squared error (Scale²-‖x‖²)/n, the sum of d normal numbers' squares: five
// times that is exceeded with probability below 1e-5 for d = 6. Squared norms are averaged to 3 %.
// A constant that is off by 3 % moves ‖x‖ = 1 by 0.03, ten times the error.
func TestCodebooksAreUnbiased(t *testing.T) {
	raced.Sequential(t)
	const n = 40_000
	for _, v := range []struct {
		d, bits, projection int
		epsilon, length     float64
	}{{6, 3, 0, 4, 1}, {6, 5, 0, 6, 0.4}, {6, 4, 2, 5, 1}, {6, 1, 1, 4, 1}, {6, 6, 6, 5, 0.7},
		{1, 4, 1, 3, 0.5}} {
		r, err := randomiser.NewPrivUnit(v.d, v.epsilon, v.bits, v.projection)
		if err != nil {
			t.Fatal(err)
		}
		c, rng := coins(5), rand.New(coins(6))
		x := make([]float64, v.d)
		for j := range x {
			x[j] = rng.NormFloat64()
		}
		const bound = 3
		floats.Scale(bound*v.length/floats.Norm(x, 2), x)
		sum, one := make([]float64, v.d), make([]float64, v.d)
		square, m := 0.0, []byte(nil)
		for range n {
			if m, err = r.Append(m[:0], x, bound, c); err != nil {
				t.Fatal(err)
			}
			clear(one)
			if err := r.Add(one, m, bound); err != nil {
				t.Fatal(err)
			}
			floats.Add(sum, one)
			square += floats.Dot(one, one) / n
		}
		floats.Scale(1./n, sum)
		scale := r.Scale(bound)
		if e := math.Pow(floats.Distance(sum, x, 2), 2); e > 5*scale*scale/n {
			t.Errorf("%+v: squared error %g, expected %g", v, e, scale*scale/n)
		}
		must.Near(t, fmt.Sprintf("%+v: mean square", v), square, scale*scale, 0.03)
	}
}

// The cap that is chosen has the smallest Scale of all caps of its size: PrivUnit beats one bit, by
// nothing at small ε₀ and by a factor that grows: at d = 101 its squared Scale is 1.16 times less
// at ε₀ = 1, 3.8 times at 4 and 10 times at 8. A projection to half of the dimensions costs little.
func TestPrivUnitGains(t *testing.T) {
	raced.Sequential(t)
	for _, v := range []struct{ epsilon, atLeast, atMost float64 }{{0.1, 1, 1.01}, {1, 1.1, 1.2},
		{4, 3.5, 4}, {8, 9.5, 11}} {
		p, err := randomiser.NewPrivUnit(101, v.epsilon, 8, 0)
		if err != nil {
			t.Fatal(err)
		}
		q, err := randomiser.NewPrivUnit(101, v.epsilon, 8, 50)
		if err != nil {
			t.Fatal(err)
		}
		one := oneBit(t, 101, v.epsilon).Scale(1)
		gain := math.Pow(one/p.Scale(1), 2)
		near, all := p.Cap()
		t.Logf("epsilon %g: cap %d of %d, variance %.3g times less, projected %.3g", v.epsilon, near, all,
			gain, math.Pow(one/q.Scale(1), 2))
		if gain < v.atLeast-1e-9 || gain > v.atMost || q.Scale(1) < p.Scale(1)*0.999 ||
			q.Scale(1) > p.Scale(1)*1.05 {
			t.Errorf("epsilon %g: gain %g, scales %g and %g", v.epsilon, gain, p.Scale(1), q.Scale(1))
		}
	}
}

func TestPrivUnitRefusals(t *testing.T) {
	for _, v := range [][2]int{{0, 0}, {9, 0}, {4, -1}, {4, 6}} {
		if _, err := randomiser.NewPrivUnit(5, 1, v[0], v[1]); err == nil {
			t.Errorf("%v accepted", v)
		}
	}
	r, err := randomiser.NewPrivUnit(5, 1, 4, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, last := range []byte{16, 255} {
		if r.Add(make([]float64, 5), append(make([]byte, 8), last), 1) == nil {
			t.Errorf("index %d accepted", last)
		}
	}
}

// Any bytes are decoded or refused: never a panic, never a sum that is not finite, and a report
// never longer than Scale (with a projection: than what its normal numbers allow).
func FuzzAdd(f *testing.F) {
	f.Add([]byte("12345678\x01"), uint8(3))
	f.Add(make([]byte, 12), uint8(3))
	f.Add([]byte{0, 0, 0x80, 0x7f, 0, 0, 0xc0, 0x7f, 1, 2, 3, 4}, uint8(3))
	var all [41][]randomiser.Randomizer // by dimension
	for d := 1; d < len(all); d++ {
		one, err := randomiser.NewOneBit(d, 1)
		if err != nil {
			f.Fatal(err)
		}
		cap4, err := randomiser.NewPrivUnit(d, 3, 2, 0)
		if err != nil {
			f.Fatal(err)
		}
		projected, err := randomiser.NewPrivUnit(d, 3, 2, 1)
		if err != nil {
			f.Fatal(err)
		}
		all[d] = []randomiser.Randomizer{one, cap4, randomiser.Floats{OneBit: one}, randK(f, d, (d+1)/2, 1),
			projected}
	}
	f.Fuzz(func(t *testing.T, message []byte, size uint8) {
		d := 1 + int(size)%40
		for i, r := range all[d] {
			sum := make([]float64, d)
			err := r.Add(sum, message, 2)
			norm := floats.Norm(sum, 2)
			if err != nil && norm != 0 || math.IsNaN(norm) || math.IsInf(norm, 0) {
				t.Errorf("%T: %v, %v", r, sum, err)
			}
			if i < 4 && norm > r.Scale(2)*(1+1e-12) {
				t.Errorf("%T: a report of norm %g, Scale is %g", r, norm, r.Scale(2))
			}
		}
	})
}
