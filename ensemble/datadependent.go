package ensemble

import (
	"errors"
	"math"
	"math/big"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
)

// likelyAnswers are answers of one mechanism whose votes make one outcome likely.
type likelyAnswers struct {
	logQ  float64 // ln of an upper bound on the probability of any other outcome, finite and ≤ 0
	count int     // how many answers have this bound, ≥ 1
}

// DataDependent is the cost of a series of answers at the very votes that were cast. It is computed
// from private votes: the figure itself reveals something of them, and it is not sanitised.
// Therefore it is no Cost and no Event, and nothing can be charged with it.
type DataDependent struct {
	Answers  int     `json:"queries"`
	Delta    float64 `json:"delta"`
	Epsilon  float64 `json:"epsilon"`              // at these votes, rounded up; never above AnyVotes
	AnyVotes float64 `json:"epsilon_at_any_votes"` // ε of the same answers whatever the votes, by the same Rényi divergences
	Order    float64 `json:"order"`                // λ of Epsilon
	Cheaper  int     `json:"cheaper"`              // how many of them cost less at that order than they would at other votes
}

// checkLikely bounds ρ so that no product below overflows or underflows.
func checkLikely(rho float64, a likelyAnswers) error {
	switch {
	case !(rho >= 1e-17 && rho <= 1e17):
		return check.Want("rho", rho, "between 1e-17 and 1e17")
	case !(a.logQ <= 0) || math.IsInf(a.logQ, -1):
		return check.Want("ln q", a.logQ, "finite and at most 0")
	case a.count < 1 || a.count > math.MaxInt32:
		return check.Wantf("count", a.count, "between 1 and %d", math.MaxInt32)
	}
	return nil
}

// likelyRDP bounds what one answer of a ρ-zCDP mechanism costs at the votes that
// were cast: its Rényi divergence of order λ from the answer on every neighbouring dataset,
//
//	D_λ(M(D) ‖ M(D')) ≤ β = ln( (1-q)·A^{λ-1} + q·B^{λ-1} )/(λ-1)
//	A = (1-q)/(1 - (q·e^{ε₂})^{(μ₂-1)/μ₂}),   B = e^{ε₁}/q^{1/(μ₁-1)},   ε_i = μ_i·ρ
//
// where q = e^{-l} bounds the probability, at D, of all outcomes but one. It returns β
// where all conditions hold,
//
//	μ₁ ≥ λ,   μ₂ > 1,   q·e^{ε₂} < 1,   q ≤ e^{(μ₂-1)ε₂} / (μ₁/(μ₁-1)·μ₂/(μ₂-1))^{μ₂}
//
// and at most λρ, which holds for any votes. The last condition makes β rise with q, so
// that an upper bound of q will do. GNMax with noise σ where one record changes t votes has
// ρ = t²/σ²: the theorem uses nothing else of the noise, so t > 1 only scales ρ.
//
// μ₂ = √(ln(1/q)/ρ) and μ₁ = μ₂ + 1 are the best choice: the exponents μ₁ρ + ln(1/q)/(μ₁-1)
// of B and μ₂ρ - ρ + ln(1/q)·(1/μ₂ - 1) of A are smallest there. For λ > μ₁ no choice
// helps: B then rises with μ₁, and q·B^{λ-1} at μ₁ = λ is e^{(λ-1)λρ} already.
//
// The bound is one-sided. It does not bound D_λ(M(D') ‖ M(D)), so it is a statement about
// D, not differential privacy. It takes λ > 1 and what checkLikely passes: ρ in [1e-17, 1e17] and
// finite l ≥ 0. It is rounded up.
//
// Sources: Papernot et al., Scalable Private Learning with PATE (2018), Theorem 6 and
// Proposition 10; Jiang (2025), Algorithm 11, whose line 7 should read
// exp((μ₂-1)·ε₂) and whose line 11 lacks the logarithm.
func likelyRDP(lambda, rho, l float64) float64 {
	anyVotes := lambda * rho * (1 + num.SumMargin)
	mu2 := math.Sqrt(l / rho)
	mu1 := mu2 + 1
	if !(mu1 >= lambda && mu2 > 1) {
		return anyVotes
	}
	// Each condition is decided with a margin for rounding: a doubtful one does not hold.
	left, right := l+(mu2-1)*mu2*rho, mu2*(math.Log1p(1/mu2)+math.Log1p(1/(mu2-1)))
	gap := l - mu2*rho - 4*0x1p-52*(l+mu2*rho) // ln(1/(q·e^{ε₂})), rounded down
	if !(left*(1-num.Margin) >= right && gap > 0) {
		return anyVotes
	}
	// ln A and ln B, rounded up. ln A is the difference of two numbers that may be alike.
	grown := -log1mExp(gap * ((mu2 - 1) / mu2) * (1 - num.Margin))
	logA := grown*(1+num.Margin) + log1mExp(l)*(1-num.Margin) + num.Tiny
	logB := (mu1*rho + l/mu2) * (1 + num.Margin)
	// ln( (1-q)·A^{λ-1} + q·B^{λ-1} ). The exponents are off by a few units in the last place
	// of their size.
	a, b := (lambda-1)*logA*(1+num.Margin), (lambda-1)*logB*(1+num.Margin)
	first, second := a+log1mExp(l), b-l+num.Margin*(b+l)
	var log float64
	if high, low := max(first, second), min(first, second); high > 1 {
		log = high + math.Log1p(math.Exp(low-high)) + num.Margin*(1+a+l)
	} else {
		// The sum less 1, without its cancellation.
		q := math.Exp(-l)
		rise := math.Exp(second) - q
		if b < 1 {
			rise = q * math.Expm1(b)
		}
		log = math.Log1p((-math.Expm1(-l)*math.Expm1(a)+rise)*(1+num.SumMargin) + num.Tiny)
	}
	beta := log / (lambda - 1) * (1 + num.SumMargin)
	if !(beta < anyVotes) { // NaN too: an exponent was infinite
		return anyVotes
	}
	return beta + num.Tiny
}

// log1mExp returns ln(1 - e^{-x}) for x > 0, to a few units in the last place.
func log1mExp(x float64) float64 {
	if x > math.Ln2 {
		return math.Log1p(-math.Exp(-x))
	}
	return math.Log(-math.Expm1(-x))
}

// costAtVotes bounds what answers of a ρ-zCDP mechanism, each with randomness of its own, cost
// together at the votes that were cast: their likelyRDP added up, and converted to
// the smallest ε at δ in (0,1) over all orders. The queries must be fixed beforehand, not
// chosen by earlier answers: the votes on other queries would be others. It is not differential
// privacy; see likelyRDP. Cost: tens of microseconds for each of answers.
func costAtVotes(rho float64, answers []likelyAnswers, delta float64) (DataDependent, error) {
	out := DataDependent{Delta: delta}
	if err := check.Within("delta", delta); err != nil {
		return out, err
	}
	if len(answers) == 0 {
		return out, check.Want("answers", 0, "at least 1")
	}
	for _, a := range answers {
		if err := checkLikely(rho, a); err != nil {
			return out, err
		}
		if out.Answers += a.count; out.Answers > math.MaxInt32 {
			return out, check.Wantf("answers", out.Answers, "at most %d", math.MaxInt32)
		}
	}
	margin := 1 + 1e-15*float64(len(answers)+1)
	n := float64(out.Answers)
	_, out.AnyVotes = num.BestOrder(1e10, func(lambda float64) float64 {
		return epsilonAt(lambda, n*lambda*rho*(1+num.SumMargin)*margin, delta)
	})
	out.Order, out.Epsilon = num.BestOrder(1e10, func(lambda float64) float64 {
		sum := 0.0
		for _, a := range answers {
			sum += float64(a.count) * likelyRDP(lambda, rho, -a.logQ)
		}
		return epsilonAt(lambda, sum*margin, delta)
	})
	out.Epsilon = min(out.Epsilon, out.AnyVotes) // both searches stop near their minimum
	for _, a := range answers {
		if likelyRDP(out.Order, rho, -a.logQ) < out.Order*rho {
			out.Cheaper += a.count
		}
	}
	return out, nil
}

// epsilonAt is accountant.EpsilonFromRDP, and +Inf for what that does not take.
func epsilonAt(lambda, rho, delta float64) float64 {
	epsilon, err := accountant.EpsilonFromRDP(lambda, rho, delta)
	if err != nil {
		return math.Inf(1)
	}
	return epsilon
}

// atVotes bounds what GNMax's answers to all queries of b cost together at these very
// votes, δ in (0,1) for all of them, by costAtVotes:
//
//	ρ = t²/σ²,   q ≤ Σ_{i≠i*} (Pr[Z > n_{i*}-n_i] + ½·Pr[Z = n_{i*}-n_i])
//
// Z being the difference of two draws of the discrete noise. It is computed from private
// votes, is not sanitised and can be charged to nothing; the queries must not be chosen by
// earlier answers. Noise with σ ≥ 2048 leaves so little agreement that the votes say nothing.
// Other mechanisms have no such bound: nil.
//
// Source: Papernot et al., Scalable Private Learning with PATE (2018), Theorem 6; the
// bound on q, there for normal noise, is that of the noise drawn here.
func (m *Mechanism) atVotes(b *Ballots, delta float64) (*DataDependent, error) {
	if m.gnmax == nil {
		return nil, nil
	}
	if err := m.checkBallots(b); err != nil {
		return nil, err
	}
	overtaking, err := m.gnmax.Overtaking(m.setting.K)
	var outside *check.Error
	if err != nil && !errors.As(err, &outside) {
		return nil, err
	}
	answers := make([]likelyAnswers, len(b.kinds))
	for i, kind := range b.kinds {
		answers[i] = likelyAnswers{logMiss(overtaking, kind.counts), kind.queries}
	}
	t := int64(m.setting.Affected)
	rho := new(big.Rat).Quo(big.NewRat(t*t, 1), m.gnmax.Variance())
	d, err := costAtVotes(num.FromRat(rho).DecimalUp(), answers, delta)
	return &d, err
}

// logMiss returns ln of a bound on the probability that the largest count is not the one
// released, rounded up and at most 0. Without overtaking it is 0.
func logMiss(overtaking []num.Interval, counts []int) float64 {
	if overtaking == nil {
		return 0
	}
	most, winner := largest(counts), true
	sum := num.FromInt(0)
	for _, n := range counts {
		if n == most && winner {
			winner = false // one of those that tie
			continue
		}
		sum = sum.Add(overtaking[most-n])
	}
	const smallest = -1 << 20 // 2 to this power; ln of what is below takes long to work out
	if sum.Hi().MantExp(nil) < smallest {
		return smallest * math.Ln2 * (1 - 1e-9)
	}
	q, _ := sum.Hi().Rat(nil)
	return min(0, num.Log(num.FromRat(q)).Upper())
}
