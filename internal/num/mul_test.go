package num

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// Mul returns the interval of the general rule, to the last bit of both ends, on every side of
// zero, and for ends of the full 320 bits.
func TestMulIsTheGeneralRule(t *testing.T) {
	end := func(t *rapid.T, name string) *big.Rat {
		// Zero and small whole numbers often: ends that are equal, touch 0 or cross it.
		if rapid.Bool().Draw(t, name+" is small") {
			return big.NewRat(rapid.Int64Range(-2, 4).Draw(t, name), 1)
		}
		x := big.NewRat(rapid.Int64Range(-1<<20, 1<<40).Draw(t, name),
			rapid.Int64Range(1, 1<<40).Draw(t, name+" denominator"))
		power := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1),
			uint(rapid.IntRange(0, 2000).Draw(t, name+" power"))))
		if rapid.Bool().Draw(t, name+" is tiny") {
			return x.Quo(x, power)
		}
		return x.Mul(x, power)
	}
	interval := func(t *rapid.T, name string) Interval {
		return FromRat(end(t, name)).Hull(FromRat(end(t, name+"'s other end")))
	}
	fast := 0
	rapid.Check(t, func(t *rapid.T) {
		x, y := interval(t, "x"), interval(t, "y")
		if x.lo.Sign() >= 0 && y.lo.Sign() >= 0 {
			fast++
		}
		got, want := x.Mul(y), x.mulAny(y)
		if got.lo.Cmp(want.lo) != 0 || got.hi.Cmp(want.hi) != 0 {
			t.Fatalf("[%v, %v]·[%v, %v] = [%v, %v], want [%v, %v]", x.lo, x.hi, y.lo, y.hi, got.lo, got.hi,
				want.lo, want.hi)
		}
		for i, e := range []*big.Float{got.lo, got.hi} {
			if mode := []big.RoundingMode{big.ToNegativeInf, big.ToPositiveInf}[i]; e.Prec() != precision ||
				e.Mode() != mode {
				t.Fatalf("an end has %d bits and rounds %v, want %d and %v", e.Prec(), e.Mode(), precision,
					mode)
			}
		}
	})
	if fast == 0 {
		t.Error("no product of non-negative intervals was tried")
	}
}

// BenchmarkMul compares the common case with the general rule on the same numbers.
func BenchmarkMul(b *testing.B) {
	x, y := FromRat(big.NewRat(1, 3)), FromRat(big.NewRat(5, 7))
	b.Run("non-negative", func(b *testing.B) {
		for b.Loop() {
			x.Mul(y)
		}
	})
	b.Run("general", func(b *testing.B) {
		for b.Loop() {
			x.mulAny(y)
		}
	})
}
