package poissonbinom

import (
	"fmt"
	"math"
	"math/big"
	"math/cmplx"
	"math/rand/v2"
)

// enumerate returns the exact pmf by going through all 2^n outcomes.
func enumerate(p []float64) []*big.Rat {
	pmf := zeros(len(p) + 1)
	var visit func(i, ones int, weight *big.Rat)
	visit = func(i, ones int, weight *big.Rat) {
		if i == len(p) {
			pmf[ones].Add(pmf[ones], weight)
			return
		}
		x := new(big.Rat).SetFloat64(p[i])
		visit(i+1, ones+1, new(big.Rat).Mul(weight, x))
		x.Sub(big.NewRat(1, 1), x)
		visit(i+1, ones, x.Mul(x, weight))
	}
	visit(0, 0, big.NewRat(1, 1))
	return pmf
}

// exactPMF returns the exact pmf by the rational dynamic programme.
func exactPMF(p []float64) []*big.Rat {
	pmf := zeros(len(p) + 1)
	pmf[0].SetInt64(1)
	for i, x := range p {
		one := new(big.Rat).SetFloat64(x)
		zero := new(big.Rat).Sub(big.NewRat(1, 1), one)
		for l := i + 1; l >= 0; l-- {
			pmf[l].Mul(pmf[l], zero)
			if l > 0 {
				pmf[l].Add(pmf[l], new(big.Rat).Mul(pmf[l-1], one))
			}
		}
	}
	return pmf
}

func zeros(n int) []*big.Rat {
	v := make([]*big.Rat, n)
	for i := range v {
		v[i] = new(big.Rat)
	}
	return v
}

// bigPMF returns the pmf with 300 bits, relative error below 3n·2⁻³⁰⁰ and no
// underflow: exact for the purpose of judging a float64.
func bigPMF(p []float64) []*big.Float {
	const bits = 300
	pmf := make([]*big.Float, len(p)+1)
	for i := range pmf {
		pmf[i] = new(big.Float).SetPrec(bits)
	}
	pmf[0].SetInt64(1)
	t := new(big.Float).SetPrec(bits)
	for i, x := range p {
		one := new(big.Float).SetPrec(bits).SetFloat64(x)
		zero := new(big.Float).SetPrec(bits).Sub(big.NewFloat(1), one)
		for l := i + 1; l >= 0; l-- {
			pmf[l].Mul(pmf[l], zero)
			if l > 0 {
				pmf[l].Add(pmf[l], t.Mul(pmf[l-1], one))
			}
		}
	}
	return pmf
}

// bigBinomial returns the pmf of the binomial law with 300 bits, term by term
// from integer binomial coefficients.
func bigBinomial(n int, p float64) []*big.Float {
	const bits = 300
	one := new(big.Float).SetPrec(bits).SetFloat64(p)
	// 1-p needs up to 1074 bits to be exact; 1400 have room for every float64.
	zero := new(big.Float).SetPrec(1400).SetFloat64(p)
	zero.Sub(big.NewFloat(1), zero).SetPrec(bits)
	pmf := make([]*big.Float, n+1)
	power := new(big.Float).SetPrec(bits).SetInt64(1)
	coefficient := big.NewInt(1)
	for k := range pmf {
		pmf[k] = new(big.Float).SetPrec(bits).SetInt(coefficient)
		pmf[k].Mul(pmf[k], power)
		power.Mul(power, one)
		coefficient.Mul(coefficient, big.NewInt(int64(n-k)))
		coefficient.Quo(coefficient, big.NewInt(int64(k+1)))
	}
	power.SetInt64(1)
	for k := n; k >= 0; k-- {
		pmf[k].Mul(pmf[k], power)
		power.Mul(power, zero)
	}
	return pmf
}

// fourierPMF inverts the characteristic function (Hong 2013, DFT-CF), an
// independent method with absolute error of about n·1e-16.
func fourierPMF(p []float64) []float64 {
	n := len(p)
	chi := make([]complex128, n+1)
	for t := range chi {
		z := cmplx.Rect(1, 2*math.Pi*float64(t)/float64(n+1))
		chi[t] = 1
		for _, x := range p {
			chi[t] *= complex(1-x, 0) + complex(x, 0)*z
		}
	}
	pmf := make([]float64, n+1)
	for l := range pmf {
		sum := complex(0, 0)
		for t, c := range chi {
			// l·t is reduced first, so that the angle is accurate.
			sum += c * cmplx.Rect(1, -2*math.Pi*float64(l*t%(n+1))/float64(n+1))
		}
		pmf[l] = real(sum) / float64(n+1)
	}
	return pmf
}

// outside returns an error if some |got - exact| > rel·exact + abs, judged in
// exact arithmetic.
func outside(got []float64, exact []*big.Rat, rel, abs float64) error {
	if len(got) != len(exact) {
		return fmt.Errorf("length %d, want %d", len(got), len(exact))
	}
	for l, g := range got {
		if math.IsNaN(g) || math.IsInf(g, 0) {
			return fmt.Errorf("element %d is %g", l, g)
		}
		diff := new(big.Rat).SetFloat64(g)
		diff.Sub(diff, exact[l]).Abs(diff)
		room := new(big.Rat).SetFloat64(rel)
		room.Mul(room, exact[l]).Add(room, new(big.Rat).SetFloat64(abs))
		if diff.Cmp(room) > 0 {
			want, _ := exact[l].Float64()
			return fmt.Errorf("element %d is %g, want %g within relative %g", l, g, want, rel)
		}
	}
	return nil
}

// worstRelative returns the largest |got-exact|/exact over the elements that are
// at least floor, in units of 2⁻⁵³, and the number of elements judged.
func worstRelative(got []float64, exact []*big.Float, floor float64) (units float64, judged int) {
	for l, g := range got {
		if exact[l].Sign() == 0 || exact[l].Cmp(big.NewFloat(floor)) < 0 {
			continue
		}
		judged++
		diff := new(big.Float).SetPrec(300).SetFloat64(g)
		diff.Sub(diff, exact[l]).Abs(diff).Quo(diff, exact[l])
		d, _ := diff.Float64()
		units = max(units, d/unit)
	}
	return units, judged
}

// probabilityCases are lists of n probabilities of different character.
func probabilityCases(rng *rand.Rand, n int) map[string][]float64 {
	cases := map[string][]float64{}
	fill := func(name string, f func(i int) float64) {
		p := make([]float64, n)
		for i := range p {
			p[i] = f(i)
		}
		cases[name] = p
	}
	fill("uniform", func(int) float64 { return rng.Float64() })
	fill("half", func(int) float64 { return 0.5 })
	fill("zeros and ones", func(i int) float64 { return float64(i % 2) })
	fill("some certain", func(i int) float64 { return []float64{0, 1, rng.Float64()}[i%3] })
	fill("tiny", func(i int) float64 { return math.Ldexp(rng.Float64(), -20-3*i) })
	fill("near one", func(int) float64 { return 1 - math.Ldexp(rng.Float64(), -30) })
	fill("randomised response corners", func(i int) float64 {
		return []float64{0.5249791874789399, 0.4750208125210601, 1e-5, 1 - 1e-5}[i%4]
	})
	return cases
}
