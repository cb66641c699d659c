package solve

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// v - Proj(v) is in the polar cone, Proj(v) in the cone, and both are orthogonal: these three prove
// that it is the projection (Moreau).
func TestProjectCone(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		e := 1 + rapid.SampledFrom([]float64{1e-6, 0.01, 0.1, 1, 10, 1e6}).Draw(rt, "e")*
			rapid.Float64Range(0.5, 1).Draw(rt, "part")
		n := rapid.IntRange(1, 12).Draw(rt, "n")
		v := make([]float64, n)
		size := 0.0
		for i := range v {
			v[i] = rapid.SampledFrom([]float64{1e-9, 0.1, 1, 100}).Draw(rt, "scale") * rapid.Float64Range(-1,
				1).Draw(rt, "v")
			size = max(size, math.Abs(v[i]))
		}
		if rapid.Bool().Draw(rt, "shifted") {
			for i := range v {
				v[i] += size
			}
		}
		z := append([]float64(nil), v...)
		projectCone(z, e, rapid.Float64Range(-1, 2).Draw(rt, "guess"))
		tolerance := 1e-13 * (1 + size*size) * (1 + e)
		low, high, inner, positive, negative := math.Inf(1), math.Inf(-1), 0.0, 0.0, 0.0
		for i := range v {
			u := v[i] - z[i]
			low, high = min(low, u), max(high, u)
			inner += u * z[i]
			positive += max(0, z[i])
			negative += max(0, -z[i])
		}
		if high-e*low > 1e-13*(1+size)*(1+e) {
			rt.Fatalf("v = %v, e = %g: the projection is from %g to %g", v, e, low, high)
		}
		if math.Abs(inner) > tolerance {
			rt.Fatalf("v = %v, e = %g: residual and projection have product %g", v, e, inner)
		}
		if e*positive-negative > tolerance {
			rt.Fatalf("v = %v, e = %g: the residual %v is not in the polar cone", v, e, z)
		}
	})
}

// The nearest point of the simplex: positive, of the right sum, and p = q - θτm where positive,
// q - θτm ≤ 0 elsewhere.
func TestProjectSimplex(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(rt, "n")
		q, step, m := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range q {
			q[i] = rapid.Float64Range(-3, 3).Draw(rt, "q")
			step[i] = rapid.SampledFrom([]float64{0.01, 1, 100}).Draw(rt, "step")
			m[i] = float64(rapid.IntRange(1, 9).Draw(rt, "m"))
		}
		p := append([]float64(nil), q...)
		projectSimplex(p, step, m)
		sum, theta := 0.0, math.NaN()
		for i, x := range p {
			if !(x >= 0) {
				rt.Fatalf("%v", p)
			}
			sum += m[i] * x
			if x > 0 {
				theta = (q[i] - x) / (m[i] * step[i])
			}
		}
		if math.Abs(sum-1) > 1e-10 {
			rt.Fatalf("the sum is %g", sum)
		}
		for i, x := range p {
			if want := max(0, q[i]-theta*m[i]*step[i]); math.Abs(x-want) > 1e-9 {
				rt.Fatalf("p[%d] = %g, want %g", i, x, want)
			}
		}
	})
}

func BenchmarkProjectCone(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 1))
	v := make([]float64, 7000)
	for i := range v {
		v[i] = 0.3 + 0.05*rnd.NormFloat64()
	}
	w := make([]float64, len(v))
	guesses := make([]float64, len(v)/7)
	for b.Loop() {
		copy(w, v)
		for i := 0; i < len(w); i += 7 {
			guesses[i/7] = projectCone(w[i:i+7], 1.2, guesses[i/7])
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/cone")
}
