package randomiser

import (
	"math"
	"math/big"

	"github.com/darrm/darrm/internal/num"
)

// choice is the private part of a message: of `all` possible values `near` are favoured, and
// one of these is sent with probability threshold/2⁶⁴.
type choice struct {
	near, all uint64
	threshold uint64
}

// newChoice takes the largest threshold whose privacy is at most epsilon:
//
//	threshold ≤ 2⁶⁴·near·e^ε/(near·e^ε + all - near)
//
// in intervals, rounded down.
func newChoice(near, all uint64, epsilon float64) choice {
	e := num.FromInt(int64(near)).Mul(num.Exp(num.Decimal(epsilon)))
	share := e.Quo(e.Add(num.FromInt(int64(all - near))))
	word := num.FromRat(new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 64)))
	t, _ := share.Mul(word).Lo().Uint64() // truncated
	return choice{near, all, t}
}

// rest is 2⁶⁴ - threshold, of 2⁶⁴; thresholds are above 0.
func (c choice) rest() uint64 { return -c.threshold }

// epsilon returns the real ε of the integer threshold, rounded up: the favoured values are
// sent with threshold/(2⁶⁴·near) each, the others with rest/(2⁶⁴·(all-near)).
func (c choice) epsilon() float64 {
	ratio := new(big.Rat).SetFrac(
		new(big.Int).Mul(new(big.Int).SetUint64(c.threshold), new(big.Int).SetUint64(c.all-c.near)),
		new(big.Int).Mul(new(big.Int).SetUint64(c.rest()), new(big.Int).SetUint64(c.near)))
	return num.Log(num.FromRat(ratio)).DecimalUp()
}

// contrast returns the probability of one favoured value less that of one other, from the
// integers, so that it is the real one's to a unit in the last place.
func (c choice) contrast() float64 {
	other := new(big.Int).SetUint64(c.all - c.near)
	near := new(big.Int).SetUint64(c.near)
	top := new(big.Int).Sub(new(big.Int).Mul(new(big.Int).SetUint64(c.threshold), other),
		new(big.Int).Mul(new(big.Int).SetUint64(c.rest()), near))
	bottom := new(big.Int).Lsh(new(big.Int).Mul(other, near), 64)
	f, _ := new(big.Rat).SetFrac(top, bottom).Float64()
	return f
}

// fromNear draws whether the value is a favoured one. It reads one word whatever comes.
func (c choice) fromNear(coins Coins) bool { return coins.Uint64() < c.threshold }

// turned draws whether a vector of relative norm n stands for itself or for its opposite, so
// that a short vector is the mean of two long ones. Privacy does not depend on it:
// the bit that it changes is randomised afterwards.
func turned(n float64, coins Coins) bool {
	return float64(coins.Uint64()>>11)*0x1p-53 >= (1+n)/2
}

// meanAbs returns E|v_1| = Γ(d/2)/(√π·Γ((d+1)/2)) for v uniform on the sphere of R^d.
func meanAbs(d int) float64 {
	if d > 1e6 {
		// The difference of two large logarithms loses digits; the series' next term is below 1e-23.
		x := 1 / float64(d)
		return math.Sqrt(2/math.Pi*x) * (1 + x/4 + x*x/32 - 5*x*x*x/128)
	}
	// Exact by E_d = (d-2)/(d-1)·E_{d-2}, from E_1 = 1 and E_2 = 2/π.
	e, k := 1.0, 1
	if d%2 == 0 {
		e, k = 2/math.Pi, 2
	}
	for ; k < d; k += 2 {
		e *= float64(k) / float64(k+1)
	}
	return e
}
