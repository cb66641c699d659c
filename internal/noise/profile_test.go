package noise

import (
	"math"
	"math/big"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
)

func mustGaussian(t testing.TB, num, den uint64) Gaussian {
	t.Helper()
	return must.Get(NewGaussian(ratio(num, den)))(t)
}

// positivePart returns Σ max(0, p - e^ε·q) over the outcomes, as an interval.
func positivePart(outcomes [][2]num.Interval, epsilon *big.Rat) num.Interval {
	e, sum, zero := num.Exp(epsilon), num.FromInt(0), num.FromInt(0)
	for _, o := range outcomes {
		if d := o[0].Sub(e.Mul(o[1])); d.Cmp(zero) > 0 {
			sum = sum.Add(d)
		}
	}
	return sum
}

// δ(ε) from the definition: over all pairs of noises of the two counts that votes move
// between, in either direction.
func TestVotesDeltaByDefinition(t *testing.T) {
	for _, c := range []struct {
		num, den uint64
		votes    int
	}{{1, 9, 1}, {7, 2, 1}, {1, 4, 2}, {5, 1, 2}, {6, 1, 3}} {
		g := mustGaussian(t, c.num, c.den)
		reach := 5 + int(9*math.Sqrt(float64(c.num)/float64(c.den)))
		law := g.Law(reach + c.votes)
		var up, down [][2]num.Interval
		for y := -reach; y <= reach; y++ {
			for z := -reach; z <= reach; z++ {
				p, q := law.Mass(y).Mul(law.Mass(z)), law.Mass(y-c.votes).Mul(law.Mass(z+c.votes))
				up, down = append(up, [2]num.Interval{p, q}), append(down, [2]num.Interval{q, p})
			}
		}
		for _, eps := range []*big.Rat{new(big.Rat), big.NewRat(2, 7), big.NewRat(3, 1)} {
			got, err := g.VotesDelta(c.votes, eps)
			if err != nil {
				t.Fatal(err)
			}
			for _, outcomes := range [][][2]num.Interval{up, down} {
				if want := positivePart(outcomes, eps); math.Abs(got.Nearest()-want.Nearest()) > 1e-13*
					want.Nearest()+1e-15 {
					t.Errorf("%+v, ε = %v: δ = %.17g, by definition %.17g", c, eps, got.Nearest(), want.Nearest())
				}
			}
			if got.Upper() < got.Lower() || got.Upper()-got.Lower() > 1e-15 {
				t.Errorf("%+v: δ is only known to be in [%v, %v]", c, got.Lower(), got.Upper())
			}
			for fewer := 1; fewer < c.votes; fewer++ {
				if less, err := g.VotesDelta(fewer, eps); err != nil || less.Upper() > got.Lower() {
					t.Errorf("%+v, ε = %v: %d votes reveal %v, more than %v", c, eps, fewer, less.Upper(),
						got.Lower())
				}
			}
		}
	}
}

// The same with a check of the largest count before: all triples of noises, and every
// shift that the largest count may have.
func TestCheckedDeltaByDefinition(t *testing.T) {
	raced.Sequential(t)
	for _, c := range []struct {
		first, noise *big.Rat
		votes        int
	}{
		{big.NewRat(4, 1), big.NewRat(1, 1), 1}, {big.NewRat(1, 2), big.NewRat(3, 2), 1},
		{big.NewRat(3, 1), big.NewRat(3, 2), 2},
	} {
		first, err := NewGaussian(c.first)
		if err != nil {
			t.Fatal(err)
		}
		g, err := NewGaussian(c.noise)
		if err != nil {
			t.Fatal(err)
		}
		const reach = 16
		firstLaw, law := first.Law(reach+2), g.Law(reach+2)
		// The counts' loss depends on z - y alone: add up what has the same.
		p, q := map[int]num.Interval{}, map[int]num.Interval{}
		for y := -reach; y <= reach; y++ {
			for z := -reach; z <= reach; z++ {
				if _, ok := p[z-y]; !ok {
					p[z-y], q[z-y] = num.FromInt(0), num.FromInt(0)
				}
				p[z-y] = p[z-y].Add(law.Mass(y).Mul(law.Mass(z)))
				q[z-y] = q[z-y].Add(law.Mass(y - c.votes).Mul(law.Mass(z + c.votes)))
			}
		}
		for _, eps := range []*big.Rat{big.NewRat(1, 2), big.NewRat(2, 1)} {
			got, err := g.CheckedDelta(first, c.votes, eps)
			if err != nil {
				t.Fatal(err)
			}
			for shift := -c.votes; shift <= c.votes; shift++ {
				var outcomes [][2]num.Interval
				for x := -reach; x <= reach; x++ {
					for d := range p {
						outcomes = append(outcomes, [2]num.Interval{firstLaw.Mass(x).Mul(p[d]),
							firstLaw.Mass(x - shift).Mul(q[d])})
					}
				}
				want := positivePart(outcomes, eps).Nearest()
				if shift != c.votes && shift != -c.votes {
					if want > got.Upper() {
						t.Errorf("%+v: a shift of %d of the largest count reveals %v, more than %v", c, shift, want,
							got.Upper())
					}
				} else if math.Abs(got.Nearest()-want) > 1e-11*want+1e-13 {
					t.Errorf("%+v, ε = %v, shift %d: δ = %.17g, by definition %.17g", c, eps, shift, got.Nearest(),
						want)
				}
			}
		}
	}
}

// A discrete Gaussian is not a continuous one: the same σ may have a larger δ, so that
// figures for normal noise must not be claimed for it. With σ large they agree.
func TestDiscreteIsNotContinuous(t *testing.T) {
	larger := 0
	for _, c := range []struct {
		sigma   float64
		epsilon float64
	}{{0.5, 1}, {0.7, 2.5}, {1, 0.4}, {1, 1.3}, {1.5, 0.7}, {2, 0.3}, {2, 1.1}, {150, 0.01},
		{150, 0.02}} {
		g, err := NewGaussian(num.Decimal(c.sigma * c.sigma))
		if err != nil {
			t.Fatal(err)
		}
		d, err := g.VotesDelta(1, num.Decimal(c.epsilon))
		if err != nil {
			t.Fatal(err)
		}
		continuous, err := accountant.GaussianDelta(c.sigma/math.Sqrt2, c.epsilon)
		if err != nil {
			t.Fatal(err)
		}
		if d.Lower() > continuous*1.0001 {
			larger++
		}
		if c.sigma > 100 && math.Abs(d.Nearest()/continuous-1) > 1e-3 {
			t.Errorf("σ = %v, ε = %v: discrete δ = %v, continuous %v", c.sigma, c.epsilon, d.Nearest(),
				continuous)
		}
	}
	if larger == 0 {
		t.Error("nowhere is the discrete δ above the continuous one")
	}
}

// δ down to the smallest that a float64 holds, at any size of ε, stays an upper bound
// that is not NaN.
func TestProfileExtremes(t *testing.T) {
	for _, v := range [][2]uint64{{1, 1 << 20}, {1, 1}, {1 << 12, 1}} {
		g := mustGaussian(t, v[0], v[1])
		for _, eps := range []*big.Rat{new(big.Rat), big.NewRat(1, 1<<40), big.NewRat(7, 1),
			big.NewRat(700, 1)} {
			d, err := g.VotesDelta(1, eps)
			if err != nil || !(d.Upper() >= 0 && d.Upper() <= 1+1e-9) {
				t.Errorf("σ² = %v, ε = %v: %v, %v", g.Variance(), eps, d.Upper(), err)
			}
		}
	}
	// Known digits: δ(0) is the total variation distance Pr[Z = 0] + Pr[Z = 1] - …, for
	// σ → 0 it is 1.
	d, err := mustGaussian(t, 1, 1<<20).VotesDelta(1, new(big.Rat))
	if err != nil || d.Lower() < 1-1e-15 {
		t.Errorf("almost no noise: δ(0) = %v, %v", d.Lower(), err)
	}
}

// δ is positive at every ε, and what is beyond the numbers that are summed counts as well.
// Its upper end is never below what a few outcomes far out contribute by themselves.
func TestUpperEndsCountWhatIsLeftOut(t *testing.T) {
	for _, eps := range []int64{100, 300, 700} {
		d, err := mustGaussian(t, 1, 1).VotesDelta(1, big.NewRat(eps, 1))
		if err != nil || !(d.Hi().Sign() > 0) || !(d.Upper() > 0) {
			t.Errorf("ε = %d: δ ≤ %v, %v", eps, d.Upper(), err)
		}
	}
	// σ₁ = 1, σ = 4, ε = 30: the outcomes that matter most have a check of -27, beyond the 22
	// that its law is summed to, and e^-400 in all.
	first, g, eps := mustGaussian(t, 1, 1), mustGaussian(t, 16, 1), big.NewRat(30, 1)
	const x, votes = -27, 1
	if reach := len(first.Law(0).mass) - 1; reach >= -x {
		t.Fatalf("the check's law is summed to %d: this tests nothing", reach)
	}
	firstLaw, law := first.Law(40), g.Law(250)
	of := func(z int) num.Interval { // Pr[Z = z] of two draws
		sum := num.FromInt(0)
		for y := -120; y <= 120; y++ {
			sum = sum.Add(law.Mass(y).Mul(law.Mass(z + y)))
		}
		return sum
	}
	var outcomes [][2]num.Interval
	for z := 40; z <= 70; z++ {
		outcomes = append(outcomes, [2]num.Interval{firstLaw.Mass(x).Mul(of(z)),
			firstLaw.Mass(x - votes).Mul(of(z + 2*votes))})
	}
	least := positivePart(outcomes, eps)
	got, err := g.CheckedDelta(first, votes, eps)
	if err != nil {
		t.Fatal(err)
	}
	if !(least.Lower() > 1e-200) || got.Upper() < least.Lower() {
		t.Errorf("δ is at most %v, but a few outcomes alone have %v", got.Upper(), least.Lower())
	}
}

// What follows in a sequence whose ratios fall: at least nothing, at most the geometric
// series, which it is where the ratios stay the same.
func TestRestHoldsWhatFollows(t *testing.T) {
	half, third := num.FromRat(big.NewRat(1, 2)), num.FromRat(big.NewRat(1, 3))
	same := &decay{num.FromInt(5), half, num.FromInt(1)}
	if r := same.rest(); r.Upper() < 5 || r.Upper() > 5*(1+1e-15) || r.Lower() != 0 {
		t.Errorf("5/2 + 5/4 + … is in [%v, %v]", r.Lower(), r.Upper())
	}
	falling := &decay{num.FromInt(5), half, third}
	sum := 5. / 2 * (1 + 1./6*(1+1./18*(1+1./54*(1+1./162))))
	if r := falling.rest(); r.Upper() < sum || r.Upper() > 5*(1+1e-15) || r.Lower() > sum {
		t.Errorf("%v is in [%v, %v]", sum, r.Lower(), r.Upper())
	}
}

// Reference digits from mpmath 1.3 at 60 digits: the sum of max(0, p - e^ε·q) over all
// pairs of noises within 14σ, each exponential by itself.
func TestVotesDeltaKnownDigits(t *testing.T) {
	for _, c := range []struct {
		num, den uint64
		epsilon  *big.Rat
		want     float64
	}{
		{9, 2, big.NewRat(1, 1), 0.03156124724022325564},
		{90, 1, big.NewRat(2676, 10000), 0.0024541217542439149489},
		{1, 4, big.NewRat(3, 1), 0.5836062857677383749},
		{21, 1, big.NewRat(1, 2), 0.0087449284821084593513},
	} {
		d, err := mustGaussian(t, c.num, c.den).VotesDelta(1, c.epsilon)
		if err != nil || d.Nearest() != c.want || d.Lower() > c.want || d.Upper() < c.want {
			t.Errorf("σ² = %d/%d, ε = %v: %.20g, %v; want %.20g", c.num, c.den, c.epsilon, d.Nearest(), err,
				c.want)
		}
	}
}
