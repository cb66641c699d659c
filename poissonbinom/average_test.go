package poissonbinom

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

func TestAverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for n := 1; n <= 23; n++ { // every remainder of the unrolled loop
		psi := make([]float64, n)
		for i := range psi {
			psi[i] = 2*rng.Float64() - 1
		}
		p := rng.Float64()
		want := make([]float64, n-1)
		for l := range want {
			want[l] = float64((1-p)*psi[l]) + float64(p*psi[l+1])
		}
		same := func(name string, got, want []float64) {
			if len(got) != len(want) {
				t.Fatalf("%s, n = %d: length %d, want %d", name, n, len(got), len(want))
			}
			for l := range want {
				if got[l] != want[l] {
					t.Fatalf("%s, n = %d: element %d is %g, want %g", name, n, l, got[l], want[l])
				}
			}
		}
		dst := make([]float64, n+2)
		dst[n-1] = 42
		same("into dst", Average(dst, psi, 1-p, p), want)
		if dst[n-1] != 42 {
			t.Errorf("n = %d: writes past the result", n)
		}
		same("nil", Average(nil, psi, 1-p, p), want)
		same("T_0", Average(nil, psi, 1, 0), psi[:n-1])
		same("T_1", Average(nil, psi, 0, 1), psi[1:])
		same("in place", Average(psi, psi, 1-p, p), want)
	}
	if got := Average(nil, nil, 1, 0); len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
	mustPanic(t, "short dst", func() { Average(make([]float64, 1), make([]float64, 3), 1, 0) })
	v := make([]float64, 100)
	if allocs := testing.AllocsPerRun(100, func() { Average(v, v, 0.5, 0.5) }); allocs != 0 {
		t.Errorf("Average into dst allocates %g times", allocs)
	}
}

// fraction is an exact probability num/den and its correctly rounded values.
type fraction struct {
	num, den int64
	p, q     float64
}

func newFraction(num, den int64) fraction {
	p, _ := big.NewRat(num, den).Float64()
	q, _ := big.NewRat(den-num, den).Float64()
	return fraction{num, den, p, q}
}

func randomFraction(rng *rand.Rand) fraction {
	den := 2 + rng.Int64N(1<<30)
	return newFraction(rng.Int64N(den+1), den)
}

// exactChain follows a chain of averaging operators in integers: element l is
// num[l]/den.
type exactChain struct {
	num []*big.Int
	den *big.Int
}

func newExactChain(psi []float64) *exactChain {
	const bits = 1074 // every float64 in [-1,1] is an integer times 2⁻¹⁰⁷⁴
	c := &exactChain{den: new(big.Int).Lsh(big.NewInt(1), bits)}
	for _, x := range psi {
		f := new(big.Float).SetFloat64(x)
		n, _ := f.SetMantExp(f, bits).Int(nil)
		c.num = append(c.num, n)
	}
	return c
}

func (c *exactChain) step(f fraction) {
	zero, one := big.NewInt(f.den-f.num), big.NewInt(f.num)
	t := new(big.Int)
	for l := range c.num[1:] {
		c.num[l].Mul(c.num[l], zero)
		c.num[l].Add(c.num[l], t.Mul(c.num[l+1], one))
	}
	c.num = c.num[:len(c.num)-1]
	c.den.Mul(c.den, big.NewInt(f.den))
}

// worst returns max |got - exact|, with relative error below 2⁻²⁰⁰ before the last rounding.
func (c *exactChain) worst(got []float64) float64 {
	worst := 0.0
	den := new(big.Float).SetInt(c.den)
	for l, g := range got {
		exact := new(big.Float).SetPrec(1400).Quo(new(big.Float).SetInt(c.num[l]), den)
		diff, _ := exact.Sub(new(big.Float).SetFloat64(g), exact).Float64()
		worst = max(worst, math.Abs(diff))
	}
	return worst
}

// fusedAverage is Average as a compiler for a machine with fused multiply-add could
// translate it without the explicit conversions.
func fusedAverage(psi []float64, q, p float64) []float64 {
	for l := range psi[1:] {
		psi[l] = math.FMA(q, psi[l], p*psi[l+1])
	}
	return psi[:len(psi)-1]
}

func TestAverageError(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	const steps = 100
	vectors := map[string]func(l int) float64{
		"ones":          func(int) float64 { return 1 },
		"below one":     func(int) float64 { return 1 - 0x1p-53 },
		"alternating":   func(l int) float64 { return float64(1 - 2*(l%2)) },
		"random":        func(int) float64 { return 2*rng.Float64() - 1 },
		"majority":      func(l int) float64 { return math.Copysign(1, float64(l)-steps/2-0.5) },
		"ramp":          func(l int) float64 { return float64(2*l-steps) / steps },
		"subnormal":     func(l int) float64 { return float64(l-steps/2) * math.SmallestNonzeroFloat64 },
		"random powers": func(int) float64 { return math.Ldexp(1-2*rng.Float64(), -rng.IntN(1074)) },
	}
	chains := map[string]func(k int) fraction{
		"random":   func(int) fraction { return randomFraction(rng) },
		"thirds":   func(k int) fraction { return newFraction(int64(1+k%2), 3) },
		"tenths":   func(k int) fraction { return newFraction(int64(k%11), 10) },
		"tiny":     func(int) fraction { return newFraction(1, 1+rng.Int64N(1<<60)) },
		"near one": func(int) fraction { den := 1 + rng.Int64N(1<<60); return newFraction(den-1, den) },
	}
	overall := 0.0
	for vname, vector := range vectors {
		for cname, chain := range chains {
			psi := make([]float64, steps+1)
			for l := range psi {
				psi[l] = vector(l)
			}
			exact := newExactChain(psi)
			plain, fused := psi, append([]float64(nil), psi...)
			for k := 1; k <= steps; k++ {
				f := chain(k)
				exact.step(f)
				plain = Average(plain, plain, f.q, f.p)
				fused = fusedAverage(fused, f.q, f.p)
				if k > 3 && k%25 != 0 {
					continue
				}
				bound := AverageError(k)
				for kind, got := range map[string][]float64{"plain": plain, "fused": fused} {
					worst := exact.worst(got)
					overall = max(overall, worst/bound)
					if worst > bound {
						t.Fatalf("%s vector, %s chain, %s: error %g after %d steps, bound %g", vname, cname, kind,
							worst, k, bound)
					}
				}
			}
		}
	}
	t.Logf("largest error, as a share of the bound: %.3f", overall)
}

// An adversary who picks each p from many so as to lower a constant
// vector as far as possible: roundings that would cancel by chance all point one
// way. The exact value does not change, so the drift is the error.
func TestAverageErrorAdversary(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	const steps, choices = 300, 3000
	candidates := make([]fraction, choices)
	for i := range candidates {
		candidates[i] = randomFraction(rng)
	}
	one := func(x float64, f fraction) float64 { return Average(nil, []float64{x, x}, f.q, f.p)[0] }
	for _, direction := range []float64{-1, 1} {
		// Not from 1 itself: the rounded q and p of most fractions sum to 1 exactly, so that
		// averages of ones stay ones.
		const start = 1 - 0x1p-40
		x := float64(start)
		for range steps {
			best := x
			for _, f := range candidates {
				if y := one(x, f); direction*(y-best) > 0 {
					best = y
				}
			}
			x = best
		}
		drift, bound := math.Abs(x-start), AverageError(steps)
		t.Logf("direction %+g: drift %.2f u per step, bound %.2f u per step", direction, drift/unit/steps,
			bound/unit/steps)
		if drift > bound {
			t.Errorf("drift %g exceeds the bound %g", drift, bound)
		}
		// The bound is not idle, and mutants of it that forget the
		// roundings but one would be caught.
		if drift*10 < bound {
			t.Errorf("drift %g is below a tenth of the bound %g", drift, bound)
		}
		if mutant := unit * steps / 2; drift < mutant {
			t.Errorf("drift %g would not reveal the mutant bound %g", drift, mutant)
		}
	}
}

// The float64 result is not below nu·(1+nu), computed exactly.
func TestAverageErrorRoundedUp(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 18))
	for i := range 2000 {
		steps := int(rng.Int64N(1<<uint(1+i%40))) + 1
		nu := new(big.Rat).SetFrac(big.NewInt(3*int64(steps)), new(big.Int).Lsh(big.NewInt(1), 53))
		want := new(big.Rat).Add(big.NewRat(1, 1), nu)
		want.Mul(want, nu)
		if got := new(big.Rat).SetFloat64(AverageError(steps)); got.Cmp(want) < 0 {
			t.Fatalf("AverageError(%d) = %g is rounded down", steps, AverageError(steps))
		}
	}
	if AverageError(0) != 0 || !math.IsInf(AverageError(maxSteps+1), 1) {
		t.Errorf("AverageError(0) = %g, AverageError(2⁴⁰+1) = %g", AverageError(0),
			AverageError(maxSteps+1))
	}
	mustPanic(t, "AverageError(-1)", func() { AverageError(-1) })
}
