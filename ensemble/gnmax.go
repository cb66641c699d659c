package ensemble

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"sync"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/noise"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/randsrc"
)

// GNMax returns the mechanism that adds discrete Gaussian noise of parameter sigma to
// each vote count and releases the largest, ties broken evenly. It promises claim, and
// returns an ErrTooLittleNoise unless that can be proved for the Setting by one of
//
//	Rényi    σ² ≥ t²·(√L + √(L+ε))²/ε²,  L = ln(1/δ)      GNMaxNoise
//	exact    δ(ε) ≤ δ of t moved votes                    noise.Gaussian.VotesDelta
//
// The second serves t = 1 or two classes: among more, several votes may move in several ways, of
// which none is known to be the worst. The first holds because t votes move the counts by an
// integer vector of length at most t√2, for which the discrete law has a Rényi divergence of at
// most αt²/σ², like the normal law (Canonne, Kamath and Steinke, The Discrete Gaussian for
// Differential Privacy, 2020, Proposition 5). SigmaForGNMax gives a σ that suffices.
//
// Source of the mechanism: Papernot et al., Scalable Private Learning with PATE (2018),
// Section 4.1.
func GNMax(s Setting, claim accountant.Cost, sigma float64) (*Mechanism, error) {
	if err := checkClaim(s, claim); err != nil {
		return nil, err
	}
	return normalMax(s, claim, Figures{Sigma: sigma})
}

// ConfidentGNMax returns GNMax with a check before: the largest count plus discrete
// Gaussian noise of parameter checkSigma must reach threshold, otherwise the answer is
// Abstained. It promises claim, and returns an ErrTooLittleNoise unless that can be proved
// like GNMax's, with
//
//	Rényi    1/σ² + 1/(2σ₁²)  in place of 1/σ²            (t votes move the largest count by at most t)
//	exact    noise.Gaussian.CheckedDelta in place of VotesDelta
//
// Calibrated gives noise that suffices. The threshold must not be chosen by
// the votes.
//
// Source: Papernot et al. (2018), Algorithm 1.
func ConfidentGNMax(s Setting, claim accountant.Cost, threshold int, checkSigma,
	sigma float64) (*Mechanism, error) {
	if err := checkClaim(s, claim); err != nil {
		return nil, err
	}
	if threshold < 1 || threshold > s.K {
		return nil, check.Wantf("threshold", threshold, "between 1 and K = %d", s.K)
	}
	return normalMax(s, claim, Figures{Threshold: threshold, CheckSigma: checkSigma, Sigma: sigma})
}

// normalMax returns GNMax or, with a Threshold, ConfidentGNMax, of a claim that was checked.
func normalMax(s Setting, claim accountant.Cost, f Figures) (*Mechanism, error) {
	var first *noise.Gaussian // of the check
	if f.Threshold > 0 {
		g, err := gaussian("sigma of the check", f.CheckSigma)
		if err != nil {
			return nil, err
		}
		first = &g
	}
	g, err := gaussian("sigma", f.Sigma)
	if err != nil {
		return nil, err
	}
	basis, err := prove(s, claim, g, first)
	if err != nil {
		return nil, err
	}
	a := countMechanism(s, claim, gaussianMax(g), basis)
	a.name, a.figures, a.gnmax = gnMax, f, &g
	if first != nil {
		a.name, a.abstains, a.gnmax = confidentGNMax, true, nil
		a.rule = confidentMax{gaussianMax(g), f.Threshold, *first, sync.OnceValue(first.Table)}
	}
	if s.oneWay() {
		event, err := twoCounts(f.Sigma, s)
		if err == nil && first != nil {
			one := accountant.DiscreteGaussian{Sigma: f.CheckSigma, Sensitivity: s.Affected, Neighbours: s.Neighbours}
			event, err = accountant.Compose(accountant.Charge{Event: one, Count: 1}, accountant.Charge{Event: event, Count: 1})
		}
		if err != nil {
			return nil, err
		}
		a.event = known(event)
	}
	return a, nil
}

// ErrTooLittleNoise is the error where a promise cannot be proved for the noise that was given.
var ErrTooLittleNoise = errors.New("too little noise")

// checkClaim validates what a mechanism with normal noise is asked to promise.
func checkClaim(s Setting, claim accountant.Cost) error {
	if err := s.Validate(); err != nil {
		return err
	}
	return checkNormal(claim)
}

func checkNormal(claim accountant.Cost) error {
	if err := checkPromise(claim); err != nil {
		return err
	}
	if claim.Delta == 0 {
		return check.Want("delta", claim.Delta, "above 0: normal noise has no pure guarantee")
	}
	return nil
}

func checkPromise(target accountant.Cost) error {
	return cmp.Or(check.LabelEpsilon(target.Epsilon), check.Delta("delta", target.Delta))
}

func checkTarget(s Setting, target accountant.Cost) error {
	if err := s.Validate(); err != nil {
		return err
	}
	return checkPromise(target)
}

// gaussian returns the noise of parameter sigma.
func gaussian(name string, sigma float64) (noise.Gaussian, error) {
	if !(sigma > 0) || math.IsInf(sigma, 1) {
		return noise.Gaussian{}, check.Want(name, sigma, "a finite number > 0")
	}
	square := num.Decimal(sigma)
	g, err := noise.NewGaussian(square.Mul(square, square))
	if err != nil {
		return g, fmt.Errorf("%s = %v: %w", name, sigma, err)
	}
	return g, nil
}

// prove proves that noise g, after a check with noise first if there is one, keeps the claim. It
// returns a description of the proof, or ErrTooLittleNoise where it finds none.
func prove(s Setting, claim accountant.Cost, g noise.Gaussian,
	first *noise.Gaussian) (basis string, err error) {
	if proved, err := proveRenyi(s, claim, g, first); proved || err != nil {
		return "the Rényi divergence of its discrete noise, at the best order", err
	}
	if s.oneWay() {
		if proved, err := proveExact(s.Affected, claim, g, first); proved || err != nil {
			return "the exact δ(ε) of its discrete noise", err
		}
	}
	sigma, _ := g.Variance().Float64()
	return "", fmt.Errorf(
		"noise of sigma = %.6g is not shown to be %v-differentially private where %s: %w",
		math.Sqrt(sigma), claim, s.affectedInWords(), ErrTooLittleNoise)
}

// proveRenyi decides t²·(1/σ² + 1/(2σ₁²))·n² ≤ 1 in fractions, n being the σ that GNMax
// needs for one moved vote.
func proveRenyi(s Setting, claim accountant.Cost, g noise.Gaussian,
	first *noise.Gaussian) (bool, error) {
	needed, err := GNMaxNoise(claim) // rounded up
	if err != nil {
		return false, err
	}
	n := num.Decimal(needed)
	n.Mul(n, big.NewRat(int64(s.Affected), 1))
	sum := new(big.Rat).Inv(g.Variance())
	if first != nil {
		double := new(big.Rat).Add(first.Variance(), first.Variance())
		sum.Add(sum, double.Inv(double))
	}
	return sum.Mul(sum, n.Mul(n, n)).Cmp(big.NewRat(1, 1)) <= 0, nil
}

// oneWay reports whether all changes that t votes can make are known to be no worse than
// t votes from one class to one other.
func (s Setting) oneWay() bool { return s.Affected == 1 || s.Classes == 2 }

// proveExact decides δ(ε) ≤ δ for t votes that move from one class to another. Noise
// beyond the range of the exact law is not proved.
func proveExact(t int, claim accountant.Cost, g noise.Gaussian,
	first *noise.Gaussian) (bool, error) {
	eps := num.Decimal(claim.Epsilon)
	var d num.Interval
	var err error
	if first == nil {
		d, err = g.VotesDelta(t, eps)
	} else {
		d, err = g.CheckedDelta(*first, t, eps)
	}
	var outside *check.Error
	if errors.As(err, &outside) {
		return false, nil
	}
	return err == nil && d.DecimalUp() <= claim.Delta, err
}

// countMechanism returns the Mechanism of a rule whose promise holds for any votes.
func countMechanism(s Setting, cost accountant.Cost, r rule, basis string) *Mechanism {
	return &Mechanism{
		setting: s, cost: cost, rule: r, anyVotes: true, basis: basis,
		event:   known(accountant.ApproxDP{Cost: cost, Neighbours: s.Neighbours}),
		assumes: []string{"the teachers need no privacy of their own", s.affectedInWords()},
	}
}

// noisyMax adds noise to each count and takes the largest.
type noisyMax struct {
	parameters string
	sample     func(src randsrc.Source) (int64, error)
	argMax     func(counts []int) []float64 // its law
}

// smooth is the σ from which the law of integers is that of normal noise to within 0.01/σ⁴.
const smooth = 16

// gaussianMax is discrete normal noise. To break ties evenly is to add to each integer a
// uniform number from -1/2 to 1/2, of variance 1/12. For large σ the sums are normal in all but
// name; for small σ the integers are gone through.
func gaussianMax(g noise.Gaussian) noisyMax {
	parameters := "σ² = " + g.Variance().RatString()
	variance, _ := g.Variance().Float64()
	if variance < smooth*smooth {
		return tableMax(parameters, g.Sample, g.Table)
	}
	sigma := math.Sqrt(variance + 1./12)
	return noisyMax{parameters, g.Sample, func(counts []int) []float64 {
		return normalLaw(counts, sigma)
	}}
}

// tableMax is noise whose law is a table, made on first use.
func tableMax(parameters string, sample func(randsrc.Source) (int64, error),
	table func() noise.Table) noisyMax {
	once := sync.OnceValue(table)
	return noisyMax{parameters, sample, func(counts []int) []float64 { return once().ArgMax(counts) }}
}

func (m noisyMax) draw(src randsrc.Source, counts []int) (int, error) {
	noisy := make([]int64, len(counts))
	for c, n := range counts {
		y, err := m.sample(src)
		if err != nil {
			return 0, err
		}
		noisy[c] = int64(n) + y
	}
	return noise.ArgMax(src, noisy)
}

func (m noisyMax) exact() string { return m.parameters }

func (m noisyMax) law(counts []int) []float64 { return m.argMax(counts) }

// confidentMax is noisyMax if the largest count, with noise, reaches the threshold.
type confidentMax struct {
	max       noisyMax
	threshold int
	check     noise.Gaussian
	table     func() noise.Table
}

func (m confidentMax) draw(src randsrc.Source, counts []int) (int, error) {
	y, err := m.check.Sample(src)
	if err != nil {
		return 0, err
	}
	// Drawn whatever the check says, so that an abstention does not show in the number of
	// draws.
	class, err := m.max.draw(src, counts)
	if err != nil {
		return 0, err
	}
	if int64(largest(counts))+y < int64(m.threshold) {
		return Abstained, nil
	}
	return class, nil
}

func (m confidentMax) exact() string {
	return fmt.Sprintf("%s, threshold %d, σ² = %s of the check", m.max.exact(), m.threshold,
		m.check.Variance().RatString())
}

func (m confidentMax) law(counts []int) []float64 {
	gap := m.threshold - largest(counts)
	pass, fail := m.table().AtLeast(gap), m.table().AtLeast(1-gap) // Y < gap is as likely as Y > -gap
	p := m.max.law(counts)
	for c := range p {
		p[c] *= pass
	}
	return append(p, fail)
}

func largest(counts []int) int {
	n := counts[0]
	for _, m := range counts {
		n = max(n, m)
	}
	return n
}

// fourDigits formats a parameter for people.
func fourDigits(x float64) string { return fmt.Sprintf("%.4g", x) }

// normalLaw returns the probability that each count is the largest once independent normal
// noise of deviation σ was added to each: see noise.NormalMax. Votes may be missing.
func normalLaw(counts []int, sigma float64) []float64 {
	runs := noise.RunsOf(counts)
	return noise.Spread(counts, runs, noise.NormalMax(runs, sigma))
}
