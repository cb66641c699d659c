package ledger

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
)

const (
	// epsilonDigits and deltaDigits set the units in which costs are recorded:
	// ε in 10⁻¹², δ in 10⁻²⁴. Decimal units keep the numbers people write exact.
	epsilonDigits = 12
	deltaDigits   = 24

	// maxBits bounds an amount that is read or converted. Sums saturate at
	// 2¹²⁸-1, so a budget below 2¹²⁰ can never equal a sum that overflowed.
	maxBits = 120
)

// amount is an unsigned 128-bit integer of units. Its arithmetic saturates:
// an overflow counts as more than any budget, never as less.
type amount struct{ hi, lo uint64 }

var maxAmount = amount{math.MaxUint64, math.MaxUint64}

func (a amount) add(b amount) amount {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	hi, carry := bits.Add64(a.hi, b.hi, carry)
	if carry != 0 {
		return maxAmount
	}
	return amount{hi, lo}
}

// minus returns a-b, or 0 if b is greater.
func (a amount) minus(b amount) amount {
	lo, borrow := bits.Sub64(a.lo, b.lo, 0)
	hi, borrow := bits.Sub64(a.hi, b.hi, borrow)
	if borrow != 0 {
		return amount{}
	}
	return amount{hi, lo}
}

func (a amount) times(n uint64) amount {
	carry, lo := bits.Mul64(a.lo, n)
	over, hi := bits.Mul64(a.hi, n)
	hi, c := bits.Add64(hi, carry, 0)
	if over != 0 || c != 0 {
		return maxAmount
	}
	return amount{hi, lo}
}

func (a amount) less(b amount) bool {
	return a.hi < b.hi || a.hi == b.hi && a.lo < b.lo
}

func (a amount) big() *big.Int {
	x := new(big.Int).SetUint64(a.hi)
	return x.Lsh(x, 64).Or(x, new(big.Int).SetUint64(a.lo))
}

// String returns the units as a decimal integer, the form in the file.
func (a amount) String() string { return string(a.appendTo(nil)) }

func (a amount) appendTo(b []byte) []byte {
	if a.hi == 0 {
		return strconv.AppendUint(b, a.lo, 10)
	}
	return a.big().Append(b, 10)
}

// amountOf takes 0 ≤ x < 2^maxBits.
func amountOf(x *big.Int) (amount, bool) {
	if x.Sign() < 0 || x.BitLen() > maxBits {
		return amount{}, false
	}
	return amount{new(big.Int).Rsh(x, 64).Uint64(),
		new(big.Int).And(x, new(big.Int).SetUint64(math.MaxUint64)).Uint64()}, true
}

// parseAmount reads what String writes and nothing else: no sign, no leading
// zero, no space.
func parseAmount(s []byte) (amount, error) {
	if len(s) > 0 && len(s) <= 37 && (s[0] != '0' || len(s) == 1) {
		a, digits, first := amount{}, true, min(len(s), 18)
		for _, c := range s[:first] { // below 10¹⁸
			digits = digits && '0' <= c && c <= '9'
			a.lo = 10*a.lo + uint64(c-'0')
		}
		for _, c := range s[first:] { // 37 digits are less than 2¹²⁸
			digits = digits && '0' <= c && c <= '9'
			a = a.times(10).add(amount{0, uint64(c - '0')})
		}
		if digits && a.hi < 1<<(maxBits-64) {
			return a, nil
		}
	}
	return amount{}, fmt.Errorf("amount %q is not a decimal integer below 2^%d without leading zeros",
		s, maxBits)
}

// decimal returns a·10^-digits exactly, in as few characters as %g would use.
func (a amount) decimal(digits int) string {
	s := a.String()
	if s == "0" {
		return s
	}
	mantissa := strings.TrimRight(s, "0")
	point := len(s) - digits // digits before the decimal point
	switch {
	case point > 21 || point < -3:
		exponent := strconv.Itoa(point - 1)
		if len(mantissa) > 1 {
			mantissa = mantissa[:1] + "." + mantissa[1:]
		}
		return mantissa + "e" + exponent
	case point <= 0:
		return "0." + strings.Repeat("0", -point) + mantissa
	case point >= len(mantissa):
		return mantissa + strings.Repeat("0", point-len(mantissa))
	}
	return mantissa[:point] + "." + mantissa[point:]
}

// Cost is an amount of privacy (ε, δ) in whole units of 10⁻¹² and 10⁻²⁴. Costs
// are values, compare with ==, and add exactly; the zero value is no cost.
type Cost struct{ epsilon, delta amount }

// Budget is the most that a ledger lets be spent. Its type differs from [Cost]
// because it is rounded the other way. The zero value allows nothing.
type Budget struct{ limit Cost }

// NewCost returns the cost (ε, δ), each rounded up to the next unit, so that no
// charge is smaller than what it pays for. It takes finite ε ≥ 0 and δ in [0,1);
// a float64 stands for its shortest decimal. ε of 2⁸⁰ and more does not fit.
func NewCost(epsilon, delta float64) (Cost, error) {
	if err := cmp.Or(check.Epsilon("epsilon", epsilon), check.Delta("delta", delta)); err != nil {
		return Cost{}, err
	}
	return costOf(num.Decimal(epsilon), num.Decimal(delta), true)
}

// NewBudget returns the budget (ε, δ), each rounded down to a whole unit, so
// that no ledger allows more than was granted. Ranges are those of [NewCost]; a
// positive number that rounds to 0 is an error, and so is a budget of nothing.
func NewBudget(epsilon, delta float64) (Budget, error) {
	if err := cmp.Or(check.Epsilon("budget epsilon", epsilon), check.Delta("budget delta", delta)); err != nil {
		return Budget{}, err
	}
	c, err := costOf(num.Decimal(epsilon), num.Decimal(delta), false)
	switch none := (amount{}); {
	case err != nil:
	case epsilon > 0 && c.epsilon == none: // it would be fixed for ever at what nobody granted
		err = check.Want("budget epsilon", epsilon,
			"0 or at least 1e-12, the unit of ε: less is rounded down to 0")
	case delta > 0 && c.delta == none:
		err = check.Want("budget delta", delta,
			"0 or at least 1e-24, the unit of δ: less is rounded down to 0")
	case c == (Cost{}):
		err = check.Want("budget", fmt.Sprintf("(%g, %g)", epsilon, delta),
			"at least 1e-12 in ε or 1e-24 in δ: less allows no charge")
	}
	return Budget{c}, err
}

func costOf(epsilon, delta *big.Rat, up bool) (Cost, error) {
	if delta.Cmp(big.NewRat(1, 1)) > 0 {
		return Cost{}, check.Want("delta", delta.RatString(), "in [0,1]")
	}
	e, err := unitsOf("epsilon", epsilon, epsilonDigits, up)
	if err != nil {
		return Cost{}, err
	}
	d, err := unitsOf("delta", delta, deltaDigits, up)
	if err != nil {
		return Cost{}, err
	}
	return Cost{e, d}, nil
}

// unitsOf returns x·10^digits, rounded up or down to an integer.
func unitsOf(name string, x *big.Rat, digits int64, up bool) (amount, error) {
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(digits), nil)
	q, rest := new(big.Int).QuoRem(scale.Mul(scale, x.Num()), x.Denom(), new(big.Int))
	if up && rest.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	a, ok := amountOf(q)
	if !ok || x.Sign() < 0 {
		v, _ := x.Float64()
		return amount{}, check.Wantf(name, v, "at least 0 and less than 2^%d units of 1e-%d", maxBits,
			digits)
	}
	return a, nil
}

// Plus returns c + d; a sum too large to hold stays at the largest amount.
func (c Cost) Plus(d Cost) Cost {
	return Cost{c.epsilon.add(d.epsilon), c.delta.add(d.delta)}
}

// Minus returns the difference, exactly, and 0 for what d has more of.
func (c Cost) Minus(d Cost) Cost {
	return Cost{c.epsilon.minus(d.epsilon), c.delta.minus(d.delta)}
}

// Times returns n·c: what n releases of cost c spend under basic composition.
func (c Cost) Times(n uint64) Cost {
	return Cost{c.epsilon.times(n), c.delta.times(n)}
}

// Within reports whether neither ε nor δ of c is above the budget.
func (c Cost) Within(b Budget) bool {
	return !b.limit.epsilon.less(c.epsilon) && !b.limit.delta.less(c.delta)
}

// Rat returns the cost as exact numbers.
func (c Cost) Rat() (epsilon, delta *big.Rat) {
	return c.epsilon.rat(epsilonDigits), c.delta.rat(deltaDigits)
}

func (a amount) rat(digits int64) *big.Rat {
	return new(big.Rat).SetFrac(a.big(), new(big.Int).Exp(big.NewInt(10), big.NewInt(digits), nil))
}

// Ceil returns the cost as float64s that are not below it: for what was spent.
func (c Cost) Ceil() (epsilon, delta float64) {
	e, d := c.Rat()
	return num.FromRat(e).DecimalUp(), num.FromRat(d).DecimalUp()
}

// Floor returns the cost as float64s that are not above it: for what remains.
func (c Cost) Floor() (epsilon, delta float64) {
	e, d := c.Rat()
	return num.FromRat(e).DecimalDown(), num.FromRat(d).DecimalDown()
}

// String returns the pair exactly, for example (0.13577, 1e-5).
func (c Cost) String() string {
	return "(" + c.epsilon.decimal(epsilonDigits) + ", " + c.delta.decimal(deltaDigits) + ")"
}

// Decimals returns ε and δ exactly, as decimal numbers that are also JSON numbers.
func (c Cost) Decimals() (epsilon, delta string) {
	return c.epsilon.decimal(epsilonDigits), c.delta.decimal(deltaDigits)
}

// MarshalJSON returns {"epsilon":ε,"delta":δ}, exact numbers as Decimals has them.
func (c Cost) MarshalJSON() ([]byte, error) {
	e, d := c.Decimals()
	return []byte(`{"epsilon":` + e + `,"delta":` + d + `}`), nil
}

// UnmarshalJSON returns an error: a cost that was not read must not pass for no cost.
func (c *Cost) UnmarshalJSON([]byte) error {
	return errors.New("a ledger.Cost is not read from JSON: NewCost makes one of numbers")
}

// Cost returns the whole budget as a cost.
func (b Budget) Cost() Cost { return b.limit }

// MarshalJSON is that of the budget's Cost.
func (b Budget) MarshalJSON() ([]byte, error) { return b.limit.MarshalJSON() }

// UnmarshalJSON returns an error, as that of [Cost] does.
func (b *Budget) UnmarshalJSON([]byte) error {
	return errors.New("a ledger.Budget is not read from JSON: NewBudget makes one of numbers")
}

// String returns the budget exactly.
func (b Budget) String() string { return b.limit.String() }
