package accountant

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
)

// Stopping is the law of K, how often a mechanism is run where only the best of its runs is
// released (BestOf). K is drawn from coins of its own, and neither K nor the other runs are ever
// told: given K = k the best of k runs would cost what k runs cost.
//
//	negative-binomial:η   Pr[K = k] ∝ (1-γ)^k·Π_{l<k} (l+η)/(l+1),  k ≥ 1: truncated at 0; η > -1
//	geometric             the same at η = 1: (1-γ)^{k-1}·γ, which is Liu and Talwar's
//	logarithmic           the same at η = 0: (1-γ)^k/(k·ln(1/γ))
//	poisson               e^-μ·μ^k/k!,  k ≥ 0
//
// The zero Stopping is none; make it with NewStopping. It is immutable.
type Stopping struct {
	poisson    bool
	eta, gamma float64
	mu         float64
}

// Bounds of NewStopping. They keep draws of K within seconds.
const (
	maxMeanRuns = 1e5
	maxEta      = 100
	leastGamma  = 1e-7
)

// StoppingNames returns the laws that NewStopping takes.
func StoppingNames() []string {
	return []string{"poisson", "logarithmic", "geometric", "negative-binomial:η"}
}

// NewStopping returns the law of a name with E[K] near mean, which is between 1 and 1e5, and above
// 1 for laws without K = 0; Mean is what it has. η is 0, or at least 1e-6 in size, in (-1, 100].
func NewStopping(name string, mean float64) (Stopping, error) {
	s := Stopping{}
	family, parameter, stated := strings.Cut(name, ":")
	switch {
	case name == "poisson":
		s.poisson, s.mu = true, mean
	case name == "logarithmic":
	case name == "geometric":
		s.eta = 1
	case family == "negative-binomial" && stated:
		eta, err := strconv.ParseFloat(parameter, 64)
		if err != nil || !(eta > -1 && eta <= maxEta) || eta != 0 && math.Abs(eta) < 1e-6 {
			return s, check.Wantf("η of the negative binomial law", parameter,
				"0, or at least 1e-6 in size, in (-1, %d]", maxEta)
		}
		s.eta = eta
	default:
		return s, check.Want("law of the number of runs", fmt.Sprintf("%q", name), "one of "+
			strings.Join(StoppingNames(), ", "))
	}
	if !(mean >= 1 && mean <= maxMeanRuns) || mean == 1 && !s.poisson {
		return s, check.Wantf("expected runs", mean,
			"between 1 and %g, and above 1 for all laws but poisson", float64(maxMeanRuns))
	}
	if s.poisson {
		return s, nil
	}
	// E[K] falls as γ rises. The last bits of γ do not matter: what is drawn and what is
	// accounted for is the law of the γ found.
	low, high := leastGamma, 1-1e-9
	for range 200 {
		mid := math.Sqrt(low * high)
		if negativeBinomialMean(s.eta, mid) > mean {
			low = mid
		} else {
			high = mid
		}
	}
	if s.gamma = high; high <= leastGamma*1.001 {
		return s, check.Wantf("expected runs", mean, "at most %.4g for %s",
			negativeBinomialMean(s.eta, leastGamma), name)
	}
	return s, nil
}

// negativeBinomialMean is E[K] without any promise.
func negativeBinomialMean(eta, gamma float64) float64 {
	if eta == 0 {
		return (1/gamma - 1) / -math.Log(gamma)
	}
	return eta * (1 - gamma) / gamma / -math.Expm1(eta*math.Log(gamma))
}

// String returns the law with its parameters.
func (s Stopping) String() string {
	switch {
	case s.poisson:
		return fmt.Sprintf("poisson, μ = %.6g", s.mu)
	case s.eta == 1:
		return fmt.Sprintf("geometric, γ = %.6g", s.gamma)
	case s.eta == 0:
		return fmt.Sprintf("logarithmic, γ = %.6g", s.gamma)
	}
	return fmt.Sprintf("negative binomial, η = %g, γ = %.6g", s.eta, s.gamma)
}

// Mean returns E[K], rounded up.
func (s Stopping) Mean() float64 {
	if s.poisson {
		return s.mu
	}
	if s.gamma == 0 { // the zero Stopping: never
		return 0
	}
	return s.mean().DecimalUp()
}

func (s Stopping) mean() num.Interval {
	gamma, one := num.FromRat(num.Decimal(s.gamma)), num.FromInt(1)
	if s.eta == 0 {
		return one.Quo(gamma).Sub(one).Quo(num.FromInt(0).Sub(num.Log(gamma)))
	}
	m := num.FromRat(new(big.Rat).Abs(num.Decimal(s.eta))).Mul(one.Sub(gamma)).Quo(gamma)
	power := num.ExpReal(num.FromRat(num.Decimal(s.eta)).Mul(num.Log(gamma))) // γ^η
	if s.eta < 0 {
		return m.Quo(power.Sub(one))
	}
	return m.Quo(one.Sub(power))
}

// Masses returns a function whose calls return Pr[K = 0], Pr[K = 1], …, in intervals.
func (s Stopping) Masses() func() num.Interval {
	if s == (Stopping{}) {
		s.poisson = true // 0 runs, for sure
	}
	if s.poisson {
		mu, k := num.FromRat(num.Decimal(s.mu)), int64(-1)
		p := num.ExpReal(num.FromInt(0).Sub(mu))
		return func() num.Interval {
			if k++; k > 0 {
				p = p.Mul(mu).Quo(num.FromInt(k))
			}
			return p
		}
	}
	gamma, one := num.FromRat(num.Decimal(s.gamma)), num.FromInt(1)
	eta, rest, k := num.FromRat(num.Decimal(s.eta)), one.Sub(gamma), int64(-1)
	// Pr[K = 1] = E[K]·γ^{η+1}: the generating function's slope at 0 against that at 1.
	p := s.mean().Mul(num.ExpReal(eta.Add(one).Mul(num.Log(gamma))))
	return func() num.Interval {
		if k++; k == 0 {
			return num.FromInt(0)
		} else if k > 1 {
			p = p.Mul(rest).Mul(num.FromInt(k - 1).Add(eta)).Quo(num.FromInt(k))
		}
		return p
	}
}

// Quantile returns the least k with Pr[K ≤ k] ≥ p, without any promise: it is for plans of work.
func (s Stopping) Quantile(p float64) int {
	next, sum := s.Masses(), 0.0
	for k := 0; ; k++ {
		if sum += next().Nearest(); sum >= p {
			return k
		}
	}
}
