package randomiser_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/learn/federated/randomiser"
)

func coins(seed uint64) *rand.ChaCha8 {
	var key [32]byte
	for i := range 8 {
		key[i] = byte(seed >> (8 * i))
	}
	return rand.NewChaCha8(key)
}

func oneBit(t testing.TB, d int, epsilon float64) *randomiser.OneBit {
	t.Helper()
	return must.Get(randomiser.NewOneBit(d, epsilon))(t)
}

// Acceptance 1: the constants of the specification's table, and both formulas for Scale.
func TestScale(t *testing.T) {
	for _, v := range []struct {
		d      int
		scales [4]float64 // ε₀ = 0.5, 1, 2, 4
	}{
		{1, [4]float64{4.082988165, 2.163953414, 1.313035285, 1.037314721}},
		{2, [4]float64{6.413542812, 3.399130074, 2.062511003, 1.629410153}},
		{3, [4]float64{8.16597633, 4.327906827, 2.626070571, 2.074629441}},
		{10, [4]float64{15.78332801, 8.365046666, 5.075710672, 4.009876549}},
		{101, [4]float64{51.30075748, 27.18902059, 16.49764879, 13.03335419}},
		{1000, [4]float64{161.781734, 85.7431179, 52.02687755, 41.10190073}},
		{10000, [4]float64{511.713886, 271.2045604, 164.5604545, 130.0048703}},
	} {
		for i, eps := range []float64{0.5, 1, 2, 4} {
			must.Near(t, "scale", oneBit(t, v.d, eps).Scale(1), v.scales[i], 1e-9)
		}
	}
	for d := 1; d <= 1000; d++ {
		a, _ := math.Lgamma(float64(d+1) / 2)
		b, _ := math.Lgamma(float64(d) / 2)
		kappa := math.Tanh(0.35)
		// The second form differs in Γ(d/2+1) = (d/2)·Γ(d/2).
		c, _ := math.Lgamma(float64(d)/2 + 1)
		second := math.Sqrt(math.Pi) / 2 * float64(d) * math.Exp(a-c) / kappa
		must.Near(t, "first form", oneBit(t, d, 0.7).Scale(3), 3/kappa*math.Sqrt(math.Pi)*math.Exp(a-b),
			1e-12)
		must.Near(t, "second form", oneBit(t, d, 0.7).Scale(3), 3*second, 1e-12)
	}
	must.Near(t, "beyond the recursion", oneBit(t, 1<<21, 1).Scale(1),
		math.Sqrt(math.Pi/2*(1<<21))/math.Tanh(0.5)*(1-0.25/(1<<21)), 1e-12)
}

// Acceptance 2: the mean of 200,000 reports. Its squared error has mean 3.47e-4; 1.2e-3 is 3.5
// times that, which ten normal coordinates exceed with probability below 1e-4. The
// variance is the variance of 2·10⁶ numbers, so 3 % is 20 standard errors.
func TestUnbiased(t *testing.T) {
	const n = 200_000
	x := []float64{0.5, -0.3, 0.2, 0, 0, 0.1, 0, 0, 0, -0.4}
	r, c := oneBit(t, 10, 1), coins(1)
	sum, one := make([]float64, 10), make([]float64, 10)
	square, message := 0.0, []byte(nil)
	for range n {
		var err error
		if message, err = r.Append(message[:0], x, 1, c); err != nil {
			t.Fatal(err)
		}
		clear(one)
		if err := r.Add(one, message, 1); err != nil {
			t.Fatal(err)
		}
		if norm := floats.Norm(one, 2); math.Abs(norm/r.Scale(1)-1) > 1e-12 {
			t.Fatalf("norm %.15g, want %.15g", norm, r.Scale(1))
		}
		floats.Add(sum, one)
		square += math.Pow(floats.Distance(one, x, 2), 2)
	}
	floats.Scale(1./n, sum)
	if e := math.Pow(floats.Distance(sum, x, 2), 2); e > 1.2e-3 {
		t.Errorf("squared error %g", e)
	}
	must.Near(t, "variance", square/n, 69.97400572-0.55, 0.03)
}

// Acceptance 4: a seed and a bit give the server what d numbers do, bit for bit.
func TestFloatsAreTheSame(t *testing.T) {
	for _, d := range []int{1, 2, 3, 101, 1000} {
		r := oneBit(t, d, 0.58)
		f := randomiser.Floats{OneBit: r}
		if r.Size() != 9 || f.Size() != 4*d {
			t.Errorf("sizes %d, %d", r.Size(), f.Size())
		}
		a, b, rng := coins(7), coins(7), rand.New(coins(8))
		short, long := make([]float64, d), make([]float64, d)
		for i := range 50 {
			x := make([]float64, d)
			for j := range x {
				x[j] = rng.NormFloat64()
			}
			bound := floats.Norm(x, 2) * (1 + float64(i%3))
			m, err := r.Append(nil, x, bound, a)
			if err != nil {
				t.Fatal(err)
			}
			n, err := f.Append(nil, x, bound, b)
			if err != nil {
				t.Fatal(err)
			}
			if len(m) != r.Size() || len(n) != f.Size() {
				t.Fatalf("%d and %d bytes", len(m), len(n))
			}
			if err := r.Add(short, m, bound); err != nil {
				t.Fatal(err)
			}
			if err := f.Add(long, n, bound); err != nil {
				t.Fatal(err)
			}
		}
		for j := range short {
			if short[j] != long[j] {
				t.Fatalf("d = %d: %x and %x", d, short[j], long[j])
			}
		}
	}
}

// What is not a message is refused, and leaves the sum alone.
func TestRefusals(t *testing.T) {
	r, c := oneBit(t, 3, 1), coins(1)
	inf, nan := math.Inf(1), math.NaN()
	for _, x := range [][]float64{{1, 0}, {1, 1, 1}, {nan, 0, 0}, {inf, 0, 0}, {-inf, 0, 0}, nil} {
		if m, err := r.Append([]byte("x"), x, 1, c); err == nil || string(m) != "x" {
			t.Errorf("%v: %q, %v", x, m, err)
		}
	}
	for _, bound := range []float64{0, -1, inf, nan} {
		if _, err := r.Append(nil, make([]float64, 3), bound, c); err == nil {
			t.Errorf("bound %g", bound)
		}
		if r.Add(make([]float64, 3), make([]byte, 9), bound) == nil {
			t.Errorf("bound %g", bound)
		}
	}
	for _, eps := range []float64{0, -1, 1e-7, 33, inf, nan} {
		if _, err := randomiser.NewOneBit(3, eps); err == nil {
			t.Errorf("epsilon %g", eps)
		}
	}
	for _, m := range [][]byte{nil, make([]byte, 8), make([]byte, 10), bytes.Repeat([]byte{2}, 9)} {
		sum := make([]float64, 3)
		if r.Add(sum, m, 1) == nil || floats.Norm(sum, 2) != 0 {
			t.Errorf("%x: %v", m, sum)
		}
	}
}
