package poissonbinom

import (
	"math"
	"math/big"
	"testing"
)

func TestHypergeometric(t *testing.T) {
	check := func(K, l, m int) {
		got := Hypergeometric(K, l, m)
		if len(got) != m+1 {
			t.Fatalf("Hypergeometric(%d, %d, %d): length %d", K, l, m, len(got))
		}
		var a, b big.Int
		total := new(big.Int).Binomial(int64(K), int64(m))
		for j, x := range got {
			want := 0.0
			if j <= l && m-j <= K-l {
				a.Binomial(int64(l), int64(j))
				b.Binomial(int64(K-l), int64(m-j))
				want, _ = new(big.Rat).SetFrac(a.Mul(&a, &b), total).Float64()
			}
			if x != want {
				t.Fatalf("Hypergeometric(%d, %d, %d)[%d] = %g, want %g", K, l, m, j, x, want)
			}
		}
	}
	for _, K := range []int{0, 1, 2, 5, 13, 22} {
		for l := 0; l <= K; l++ {
			for m := 0; m <= K; m++ {
				check(K, l, m)
			}
		}
	}
	check(101, 40, 35)
	check(2000, 1000, 60)
	check(2000, 3, 1999)
	check(1500, 1100, 700) // first elements impossible, then subnormal or zero
	mustPanic(t, "l > K", func() { Hypergeometric(3, 4, 1) })
	mustPanic(t, "m > K", func() { Hypergeometric(3, 1, 4) })
	mustPanic(t, "l < 0", func() { Hypergeometric(3, -1, 1) })
}

// Subsampling 3 of 11: γ(l) = 1 - 2·Pr[at least 2 ones], l < 11/2. The rationals
// are C(l,2)·(11-l) + C(l,3) over C(11,3) = 165, by hand.
func TestHypergeometricSubsampling(t *testing.T) {
	for l, ones := range []float64{0, 0, 9, 25, 46, 70} {
		want := 1 - 2*ones/165
		law := Hypergeometric(11, l, 3)
		if got := 1 - 2*(law[2]+law[3]); math.Abs(got-want) > 1e-15 {
			t.Errorf("γ(%d) = %g, want %g", l, got, want)
		}
	}
}

// Ties and subnormal results are rounded as exact arithmetic rounds them.
func TestRoundRatio(t *testing.T) {
	pow := func(e uint) *big.Int { return new(big.Int).Lsh(big.NewInt(1), e) }
	plus := func(x *big.Int, d int64) *big.Int { return new(big.Int).Add(x, big.NewInt(d)) }
	for _, c := range []struct{ num, den *big.Int }{
		{plus(pow(54), 1), pow(54)},   // below a tie
		{plus(pow(53), 1), pow(53)},   // a tie, to even: down
		{plus(pow(53), 3), pow(53)},   // a tie, to even: up
		{plus(pow(200), 3), pow(200)}, // far below
		{plus(pow(153), 1+1<<60), plus(pow(153), 0)},
		{big.NewInt(1), big.NewInt(3)},
		{big.NewInt(3), pow(1075)}, // subnormal ties
		{big.NewInt(1), pow(1075)},
		{plus(pow(100), 1), pow(1175)},
		{big.NewInt(1), pow(3000)},
	} {
		want, _ := new(big.Rat).SetFrac(c.num, c.den).Float64()
		if got := roundRatio(c.num, c.den); got != want {
			t.Errorf("%v / %v = %g, want %g", c.num, c.den, got, want)
		}
	}
}
