package ensemble

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/noise"
	"github.com/darrm/darrm/internal/num"
)

// Calibration is a method to choose the noise for a promise.
type Calibration int

// The zero Calibration is none of them and is refused.
const (
	// Renyi is the closed form that the PATE papers and Jiang (2025), Appendix B.4.1, use:
	// t times GNMaxNoise.
	Renyi Calibration = iota + 1
	// Exact is the smallest noise whose exact δ(ε) suffices, found by search and then
	// proved. It needs Affected = 1 or two classes. It takes the place of the analytic
	// Gaussian mechanism (Balle and Wang, 2018), whose formula is for continuous noise
	// and no bound for integers.
	Exact
)

// SigmaForGNMax returns a sigma with which GNMax keeps the promise target, ε in (0, 700]
// and δ in (0,1), rounded up to five digits, which is also what is sampled fastest. The error names
// what rules it out; with Exact, that is noise beyond σ = 2048 too.
func SigmaForGNMax(s Setting, target accountant.Cost, how Calibration) (float64, error) {
	return sigmaFor(s, target, how, 0)
}

// sigmaFor is SigmaForGNMax where a check with ratio times the noise comes before; 0 for none.
func sigmaFor(s Setting, target accountant.Cost, how Calibration, ratio float64) (float64, error) {
	if err := checkClaim(s, target); err != nil {
		return 0, err
	}
	switch how {
	case Renyi:
		return renyiSigma(s, target, ratio)
	case Exact:
		return exactSigma(s, target, ratio)
	}
	return 0, check.Want("calibration", int(how), "Renyi or Exact")
}

// sigmasForConfidentGNMax returns checkSigma = ratio·sigma with which ConfidentGNMax keeps
// the promise target. It takes ratio between 1/100 and 100.
func sigmasForConfidentGNMax(s Setting, target accountant.Cost, how Calibration,
	ratio float64) (checkSigma, sigma float64, err error) {
	if !(ratio >= 0.01 && ratio <= 100) {
		return 0, 0, check.Want("ratio of the check's noise", ratio, "between 0.01 and 100")
	}
	sigma, err = sigmaFor(s, target, how, ratio)
	return fiveDigits(ratio * sigma), sigma, err
}

// Check is the check that ConfidentGNMax makes before it answers. It must not be chosen by
// the votes.
type Check struct {
	Threshold int     // votes that the largest count must reach, noise included; 0 for ⌈0.6·K⌉
	Ratio     float64 // noise of the check over that of the counts, between 1/100 and 100
}

// CheckRatio is the Ratio that plans, comparisons and commands take unless another is stated.
const CheckRatio = 4

func calibratedGNMax(how Calibration) func(Setting, accountant.Cost, Check) (*Mechanism, error) {
	return func(s Setting, target accountant.Cost, _ Check) (*Mechanism, error) {
		sigma, err := SigmaForGNMax(s, target, how)
		if err != nil {
			return nil, err
		}
		return GNMax(s, target, sigma)
	}
}

// calibratedConfidentGNMax prefers the exact law's noise, which is smaller.
func calibratedConfidentGNMax(s Setting, target accountant.Cost, c Check) (*Mechanism, error) {
	if c.Threshold == 0 {
		c.Threshold = (6*s.K + 9) / 10
	}
	first, sigma, err := sigmasForConfidentGNMax(s, target, Exact, c.Ratio)
	if err != nil { // beyond the range of the exact law
		first, sigma, err = sigmasForConfidentGNMax(s, target, Renyi, c.Ratio)
	}
	if err != nil {
		return nil, err
	}
	return ConfidentGNMax(s, target, c.Threshold, first, sigma)
}

// fiveDigits returns x > 0, rounded up to five significant digits.
func fiveDigits(x float64) float64 {
	digits, exponent, _ := strings.Cut(strconv.FormatFloat(x, 'e', 4, 64), "e") // to nearest
	if r, err := strconv.ParseFloat(digits+"e"+exponent, 64); err == nil && r >= x {
		return r
	}
	n, err := strconv.Atoi(strings.Replace(digits, ".", "", 1))
	e, err2 := strconv.Atoi(exponent)
	if err != nil || err2 != nil {
		return x // infinite or no number: whoever uses it refuses it
	}
	r, _ := strconv.ParseFloat(fmt.Sprintf("%de%d", n+1, e-4), 64)
	return r
}

// renyiSigma returns t·n·√(1 + 1/(2·ratio²)), rounded up, n from GNMaxNoise,
// and without the root where there is no check (ratio = 0).
func renyiSigma(s Setting, target accountant.Cost, ratio float64) (float64, error) {
	n, err := GNMaxNoise(target)
	if err != nil {
		return 0, err
	}
	x := num.FromRat(new(big.Rat).Mul(num.Decimal(n), big.NewRat(int64(s.Affected), 1)))
	if ratio == 0 {
		return fiveDigits(x.DecimalUp()), nil
	}
	r := num.Decimal(ratio)
	r.Mul(r, r).Add(r, r)
	x = x.Mul(num.Sqrt(num.FromRat(r.Inv(r).Add(r, big.NewRat(1, 1)))))
	return fiveDigits(x.DecimalUp() * (1 + 1e-12)), nil // ratio·sigma is rounded too
}

// exactSigma searches in float64 and then goes up until the proof succeeds.
func exactSigma(s Setting, target accountant.Cost, ratio float64) (float64, error) {
	if !s.oneWay() {
		return 0, check.Want("affected", s.Affected, "1 for exact calibration with more than two classes")
	}
	sigma := noise.Suggest(s.Affected, target.Epsilon, target.Delta, ratio)
	for range 12 {
		if math.IsNaN(sigma) {
			break
		}
		sigma = fiveDigits(sigma * (1 + 1e-9))
		g, err := gaussian("sigma", sigma)
		if err != nil {
			return 0, err
		}
		var first *noise.Gaussian
		if ratio != 0 {
			c, err := gaussian("sigma of the check", fiveDigits(ratio*sigma))
			if err != nil {
				return 0, err
			}
			first = &c
		}
		proved, err := proveExact(s.Affected, target, g, first)
		if err != nil {
			return 0, err
		}
		if proved {
			return sigma, nil
		}
	}
	return 0, fmt.Errorf("exact calibration for %v finds no noise within its range: %w", target,
		accountant.ErrUnsupported)
}

// twoCounts returns the event of discrete normal noise on the counts, where all changes are known
// to be no worse than t votes from one class to one other (see oneWay): two counts move by t.
func twoCounts(sigma float64, s Setting) (accountant.Event, error) {
	return accountant.Compose(accountant.Charge{
		Event: accountant.DiscreteGaussian{Sigma: sigma, Sensitivity: s.Affected,
			Neighbours: s.Neighbours}, Count: 2,
	})
}

// GNMaxNoise returns the noise σ that GNMax, which adds N(0, σ²) to each class's vote
// count and releases the largest, needs for (ε, δ)-DP when one record changes one
// teacher's vote; where it changes t, t times as much. By Rényi differential privacy of
// order λ, with the classical conversion,
//
//	ε = λ/σ² + ln(1/δ)/(λ-1),   σ² = min over λ > 1 + ln(1/δ)/ε of λ/(ε - ln(1/δ)/(λ-1)),
//
// whose minimum is at λ = 1 + (L + √(L² + Lε))/ε, L = ln(1/δ), and is σ = (√L +
// √(L+ε))/ε, rounded up. It takes ε in (0, 700] and δ in (0,1). One vote changes two
// counts by one, an L2 sensitivity of √2: √2 times GaussianNoise is smaller, and exact,
// for normal noise. This σ serves discrete noise as well, whose Rényi bound is the same.
//
// Sources: Papernot et al., Scalable Private Learning with PATE (2018), Section 4.1;
// Jiang (2025), Appendix B.4.1.
func GNMaxNoise(target accountant.Cost) (float64, error) {
	if err := checkNormal(target); err != nil {
		return 0, err
	}
	eps := num.FromRat(num.Decimal(target.Epsilon))
	log := num.FromInt(0).Sub(num.Log(num.FromRat(num.Decimal(target.Delta))))
	return num.Sqrt(log).Add(num.Sqrt(log.Add(eps))).Quo(eps).DecimalUp(), nil
}
