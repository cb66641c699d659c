package game

import (
	"math"
	"math/bits"

	"github.com/darrm/darrm/internal/check"
)

// validate checks that both laws of the pair sum to 1, in integers.
func (p Pair) validate() error {
	if len(p) == 0 || len(p) > MaxOutcomes {
		return check.Wantf("outcomes of a pair", len(p), "between 1 and %d", MaxOutcomes)
	}
	for _, o := range p {
		if o.Count < 1 || o.Count > check.MaxClasses {
			return check.Wantf("count of an outcome", o.Count, "between 1 and %d", check.MaxClasses)
		}
		for _, q := range [2]Probability{o.P, o.PPrime} {
			if q.Mass > 2*One {
				return check.Want("mass of an outcome", q.Mass, "at most 2^54")
			}
			if q.Classes < 1 || q.Classes > check.MaxClasses {
				return check.Wantf("classes of an outcome", q.Classes, "between 1 and %d", check.MaxClasses)
			}
		}
	}
	for _, second := range [2]bool{false, true} {
		if !p.sumsToOne(second) {
			return check.Want("a law's probabilities", p,
				"whole numbers of 2^-53, shared by classes, that sum to 1")
		}
	}
	return nil
}

// sumsToOne reports whether Σ Count·Mass/Classes = 2⁵³, by a common denominator below 2⁶³. Shares
// whose denominators have none that small are refused: histograms of up to check.MaxClasses classes
// have group sizes of which the sum is that small, so that the least common multiple is too.
func (p Pair) sumsToOne(second bool) bool {
	common := uint64(1)
	for _, o := range p {
		m := uint64(o.law(second).Classes)
		high, low := bits.Mul64(common/gcd(common, m), m)
		if high != 0 || low >= 1<<63 {
			return false
		}
		common = low
	}
	var high, low uint64
	for _, o := range p {
		q := o.law(second)
		share := uint64(o.Count) * q.Mass // below 2⁶⁴
		if share > One*uint64(q.Classes) {
			return false // and each term below is at most 2¹¹⁶, so that 2000 fit 128 bits
		}
		h, l := bits.Mul64(share, common/uint64(q.Classes))
		var carry uint64
		low, carry = bits.Add64(low, l, 0)
		high, _ = bits.Add64(high, h, carry)
	}
	h, l := bits.Mul64(One, common)
	return high == h && low == l
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func (o *Outcome) law(second bool) Probability {
	if second {
		return o.PPrime
	}
	return o.P
}

// float returns the probability, correctly rounded.
func (p Probability) float() float64 {
	return float64(float64(p.Mass) / float64(p.Classes) / One)
}

// mass returns Count·P of the first law, rounded up.
func (o *Outcome) mass(second bool) float64 {
	q := o.law(second)
	return float64(float64(uint64(o.Count)*q.Mass) / float64(q.Classes) / One * dearer)
}

// ratio returns P'/P, rounded down, for P > 0: the second law's probability over the first's. The
// products are below 2⁶⁴.
func (o *Outcome) ratio(second bool) float64 {
	p, q := o.law(second), o.law(!second)
	return float64(float64(q.Mass*uint64(p.Classes)) / float64(p.Mass*uint64(q.Classes)) * cheaper)
}

// dearer and cheaper move the result of up to six correctly rounded operations past its exact
// value.
const (
	dearer  = 1 + 0x1p-50
	cheaper = 1 - 0x1p-50
)

// shape returns Σ(√P - √P')² and a number that grows with the skewness of the loss; the other order
// has the opposite. Both use exactly rounded operations alone, so that lattice and groups are the
// same everywhere: to the second order the loss is 2u, u = (P-P')/(P+P').
func (p Pair) shape() (hellinger, skewness float64) {
	var square, cube float64
	for i := range p {
		o := &p[i]
		n, a, b := float64(o.Count), o.P.float(), o.PPrime.float()
		if a == b {
			continue
		}
		d := math.Sqrt(a) - math.Sqrt(b)
		hellinger += float64(n * float64(d*d))
		w, u := n*(a+b), (a-b)/(a+b)
		uu := float64(w * float64(u*u))
		square += uu
		cube += float64(uu * u)
	}
	if square > 0 {
		skewness = cube / (square * math.Sqrt(square))
	}
	return hellinger, skewness
}
