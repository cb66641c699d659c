package poissonbinom

import (
	"encoding/binary"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// probabilities draws 0 to limit probabilities, among them 0, 1 and extremes.
func probabilities(limit int) *rapid.Generator[[]float64] {
	one := rapid.OneOf(
		rapid.Float64Range(0, 1),
		rapid.SampledFrom([]float64{0, 1, 0.5, 1e-5, 1 - 1e-5, 1e-300, 1 - 0x1p-53}),
	)
	return rapid.Custom(func(t *rapid.T) []float64 {
		n := rapid.IntRange(0, limit).Draw(t, "n") // or most lists would be short
		return rapid.SliceOfN(one, n, n).Draw(t, "p")
	})
}

func mustPMF(t *rapid.T, p []float64) []float64 {
	pmf, err := PMF(p)
	if err != nil {
		t.Fatalf("PMF(%v): %v", p, err)
	}
	return pmf
}

// near fails unless a and b, each within rel and abs of one exact vector, agree accordingly.
func near(t *rapid.T, what string, a, b []float64, rel, abs float64) {
	if len(a) != len(b) {
		t.Fatalf("%s: lengths %d and %d", what, len(a), len(b))
	}
	for l := range a {
		if math.Abs(a[l]-b[l]) > 2.01*rel*max(a[l], b[l])+2*abs {
			t.Fatalf("%s: element %d is %g and %g", what, l, a[l], b[l])
		}
	}
}

func TestPropertyPMF(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := probabilities(80).Draw(t, "p")
		n := len(p)
		rel, abs := PMFError(n)
		pmf := mustPMF(t, p)
		sum, mean, wantMean := 0.0, 0.0, 0.0
		for l, x := range pmf {
			if x < 0 || x > 1+rel {
				t.Fatalf("pmf[%d] = %g", l, x)
			}
			sum += x
			mean += float64(l) * x
		}
		for _, x := range p {
			wantMean += x
		}
		// The sums of this test add n roundings of their own.
		tolerance := 2*rel + 4*float64(n+1)*unit
		if math.Abs(sum-1) > tolerance {
			t.Fatalf("sum %g", sum)
		}
		if math.Abs(mean-wantMean) > tolerance*(1+wantMean) {
			t.Fatalf("mean %g, want %g", mean, wantMean)
		}

		near(t, "permuted", pmf, mustPMF(t, rapid.Permutation(p).Draw(t, "permutation")), rel, abs)

		// The complement reverses. As 1-p is rounded, the reversed law is compared
		// through groups, which exchange P and Q without loss.
		groups, swapped := make([]Group, n), make([]Group, n)
		for i, x := range p {
			groups[i] = Prob(x)
			swapped[i] = Group{P: groups[i].Q, Q: groups[i].P, N: 1}
		}
		near(t, "one group each", pmf, GroupedPMF(groups, nil), rel, abs)
		reversed := GroupedPMF(swapped, nil)
		for l := range n + 1 {
			if math.Abs(pmf[l]-reversed[n-l]) > 2.01*rel*pmf[l]+2*abs {
				t.Fatalf("reversed: element %d is %g and %g", l, pmf[l], reversed[n-l])
			}
		}
	})
}

func TestPropertyGrouped(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := probabilities(5).Draw(t, "distinct")
		var groups []Group
		var list []float64
		for _, x := range p {
			n := rapid.OneOf(rapid.IntRange(0, 30),
				rapid.SampledFrom([]int{binomialThreshold - 1, binomialThreshold})).Draw(t, "N")
			groups = append(groups, Prob(x).Times(n))
			for range n {
				list = append(list, x)
			}
		}
		rel, abs := PMFError(len(list))
		dst := make([]float64, rapid.IntRange(0, 3000).Draw(t, "room"))
		for i := range dst {
			dst[i] = math.NaN() // stale contents must not show
		}
		near(t, "grouped", mustPMF(t, list), GroupedPMF(groups, dst), rel, abs)
	})
}

func TestPropertyBinomial(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, p := rapid.IntRange(0, 150).Draw(t, "n"), rapid.Float64Range(0, 1).Draw(t, "p")
		list := make([]float64, n)
		for i := range list {
			list[i] = p
		}
		rel, abs := PMFError(n)
		near(t, "binomial", mustPMF(t, list), Binomial(n, p), rel+unit, abs)
	})
}

// E[φ(L)] = Σ α_l φ(l) = (T_{p_1} … T_{p_n} φ)(0), in any order of the operators.
func TestPropertyAverage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := probabilities(60).Draw(t, "p")
		n := len(p)
		phi := rapid.SliceOfN(rapid.Float64Range(-1, 1), n+1, n+1).Draw(t, "phi")
		chain := func(p []float64) float64 {
			v := append([]float64(nil), phi...)
			for _, x := range p {
				v = Average(v, v, 1-x, x)
			}
			return v[0]
		}
		bound := AverageError(n)
		first, second := chain(p), chain(rapid.Permutation(p).Draw(t, "permutation"))
		if math.Abs(first-second) > 2*bound {
			t.Fatalf("operators do not commute: %g and %g", first, second)
		}
		want := 0.0
		for l, a := range mustPMF(t, p) {
			want += a * phi[l]
		}
		rel, _ := PMFError(n)
		// The scalar product has n+1 products and n sums of total size 1.
		if math.Abs(first-want) > bound+rel+float64(n+2)*2*unit {
			t.Fatalf("chain %g, scalar product %g", first, want)
		}
	})
}

func TestPropertyHypergeometric(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		K := rapid.IntRange(0, 200).Draw(t, "K")
		l, m := rapid.IntRange(0, K).Draw(t, "l"), rapid.IntRange(0, K).Draw(t, "m")
		law, mirror, exchanged := Hypergeometric(K, l, m), Hypergeometric(K, K-l, m),
			Hypergeometric(K, m, l)
		sum := 0.0
		for j, x := range law {
			sum += x
			if x != mirror[m-j] {
				t.Fatalf("ones and zeros exchanged: %g and %g", x, mirror[m-j])
			}
			if j <= l && x != exchanged[j] {
				t.Fatalf("sample and ones exchanged: %g and %g", x, exchanged[j])
			}
		}
		if math.Abs(sum-1) > float64(m+2)*unit {
			t.Fatalf("sum %g", sum)
		}
	})
}

// FuzzPMF reads any bytes as float64 values: an error if and only if one is not
// a probability, otherwise a law.
func FuzzPMF(f *testing.F) {
	add := func(p ...float64) {
		var b []byte
		for _, x := range p {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
		}
		f.Add(b)
	}
	add()
	add(0, 1, 0.5)
	add(0.3, math.NaN())
	add(1, math.SmallestNonzeroFloat64, 1-0x1p-53)
	add(-0.1, 2)
	f.Fuzz(func(t *testing.T, b []byte) {
		var p []float64
		valid := true
		for ; len(b) >= 8 && len(p) < 500; b = b[8:] {
			x := math.Float64frombits(binary.LittleEndian.Uint64(b))
			p = append(p, x)
			valid = valid && 0 <= x && x <= 1
		}
		pmf, err := PMF(p)
		if (err == nil) != valid {
			t.Fatalf("PMF(%v): error %v", p, err)
		}
		if err != nil {
			return
		}
		sum := 0.0
		for _, x := range pmf {
			if !(x >= 0) {
				t.Fatalf("PMF(%v) has element %g", p, x)
			}
			sum += x
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Fatalf("PMF(%v) sums to %g", p, sum)
		}
	})
}
