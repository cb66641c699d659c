package accountant

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/memo"
	"github.com/darrm/darrm/internal/num"
)

// Method is a way of bounding what the charges cost together.
type Method string

// The methods, from the simplest to the most general.
const (
	MethodBasic    Method = "basic"    // BasicHeterogeneous, for (ε, δ)-DP events
	MethodGeneral  Method = "general"  // General, for (ε, δ)-DP events
	MethodOptimal  Method = "optimal"  // Optimal, for (ε, δ)-DP events
	MethodGaussian Method = "gaussian" // GaussianDelta of the summed noise, for Gaussian events
	MethodZCDP     Method = "zcdp"     // EpsilonFromZCDP
	MethodRDP      Method = "rdp"      // EpsilonFromRDP at the best order
	MethodPLD      Method = "pld"      // privacy loss distribution, for any mixture
)

// method is one row of the table.
type method struct {
	name Method
	pure bool // it may give an ε at δ = 0
	take func([]Charge) (composition, error)
}

// composition is a method applied to charges. Its functions return a figure that is rounded up, and
// a note for people on the method's choice, such as an order.
type composition struct {
	epsilon func(delta float64) (eps float64, note string, err error)
	delta   func(epsilon float64) (delta float64, note string, err error)
}

// methods is the table of all methods, the simplest first. Each takes what it needs from
// factsOf, and refuses events of which that is not known.
var methods = []method{
	{MethodBasic, true, takeBasic},
	{MethodGeneral, true, takeGeneral},
	{MethodOptimal, true, takeOptimal},
	{MethodGaussian, false, takeGaussian},
	{MethodZCDP, false, takeZCDP},
	{MethodRDP, false, takeRDP},
	{MethodPLD, false, takePLD},
}

// Methods returns all of them, the simplest first.
func Methods() []Method {
	names := make([]Method, len(methods))
	for i, m := range methods {
		names[i] = m.name
	}
	return names
}

// row returns the method's row of the table.
func (m Method) row() (method, error) {
	i := slices.IndexFunc(methods, func(row method) bool { return row.name == m })
	if i < 0 {
		return method{}, check.Wantf("method", m, "one of %v", Methods())
	}
	return methods[i], nil
}

// epsilonBy returns the method's ε at a δ in [0,1).
func (a Accountant) epsilonBy(m Method, delta float64) (eps float64, note string, err error) {
	row, err := m.row()
	switch {
	case err != nil:
		return 0, "", err
	case len(a.charges) == 0:
		return 0, nothingCharged, nil
	case delta == 0 && !row.pure:
		return 0, "", fmt.Errorf("delta = 0: %w", ErrDeltaTooSmall)
	}
	c, err := row.take(a.charges)
	if err != nil {
		return 0, "", err
	}
	return c.epsilon(delta)
}

// deltaBy returns the method's δ at a finite ε ≥ 0.
func (a Accountant) deltaBy(m Method, epsilon float64) (delta float64, note string, err error) {
	row, err := m.row()
	switch {
	case err != nil:
		return 0, "", err
	case len(a.charges) == 0:
		return 0, nothingCharged, nil
	}
	c, err := row.take(a.charges)
	if err != nil {
		return 0, "", err
	}
	return c.delta(epsilon)
}

const nothingCharged = "nothing charged"

func takeBasic(charges []Charge) (composition, error) {
	parts, err := guarantees(charges)
	if err != nil {
		return composition{}, err
	}
	total, err := BasicHeterogeneous(parts)
	return composition{
		epsilon: func(delta float64) (float64, string, error) {
			if total.Delta > delta {
				return 0, "", fmt.Errorf("the events' own delta is %g: %w", total.Delta, ErrDeltaTooSmall)
			}
			return total.Epsilon, "", nil
		},
		delta: func(epsilon float64) (float64, string, error) {
			if total.Epsilon > epsilon {
				return 0, "", fmt.Errorf("epsilon = %g, but the events' own add up to %g: %w", epsilon,
					total.Epsilon, ErrUnsupported)
			}
			return total.Delta, "", nil
		},
	}, err
}

func takeGeneral(charges []Charge) (composition, error) {
	parts, err := guarantees(charges)
	return composition{
		epsilon: func(delta float64) (float64, string, error) { return generalEpsilon(parts, delta) },
		delta:   func(epsilon float64) (float64, string, error) { return generalDelta(parts, epsilon) },
	}, err
}

func takeOptimal(charges []Charge) (composition, error) {
	parts, err := guarantees(charges)
	if err != nil {
		return composition{}, err
	}
	o, err := optimalOf(parts)
	if err != nil {
		return composition{}, err
	}
	return noted(o.note(), o.epsilon, o.delta), nil
}

// noted is a composition whose note does not depend on what is asked.
func noted(note string, epsilon, delta func(float64) (float64, error)) composition {
	by := func(f func(float64) (float64, error)) func(float64) (float64, string, error) {
		return func(x float64) (float64, string, error) {
			y, err := f(x)
			return y, note, err
		}
	}
	return composition{by(epsilon), by(delta)}
}

func takeGaussian(charges []Charge) (composition, error) {
	sigma, err := summedNoise(charges)
	return noted(fmt.Sprintf("as one release with noise %.6g", sigma),
		func(delta float64) (float64, error) {
			return gaussianEpsilon(sigma, delta)
		}, func(epsilon float64) (float64, error) {
			if err := pureRange(epsilon); err != nil {
				return 0, err
			}
			return gaussianDelta(num.Decimal(sigma), num.Decimal(epsilon)), nil
		}), err
}

// summedNoise returns the noise multiplier of the one Gaussian release that Gaussian
// releases amount to, 1/√(Σ 1/σ²), rounded down: the sum of their privacy losses is
// normal too. It may be below the range of an event's noise: the formulas do not end there.
// Dong, Roth and Su, Gaussian Differential Privacy (2022), Corollary 3.3.
func summedNoise(charges []Charge) (float64, error) {
	sum := new(big.Rat)
	for _, c := range charges {
		f, err := factsOf(c.Event)
		if err != nil {
			return 0, err
		}
		if !f.gaussian {
			return 0, fmt.Errorf("%v is not plain gaussian noise: %w", c.Event, ErrUnsupported)
		}
		sum.Add(sum, f.twoRho.Mul(f.twoRho, big.NewRat(int64(c.Count), 1)))
	}
	return num.Sqrt(num.FromRat(sum.Inv(sum))).DecimalDown(), nil
}

func takeZCDP(charges []Charge) (composition, error) {
	rho, err := zcdp(charges)
	return noted(fmt.Sprintf("rho %.6g", rho), func(delta float64) (float64, error) {
		return EpsilonFromZCDP(rho, delta)
	}, func(epsilon float64) (float64, error) {
		return zcdpDelta(rho, epsilon), nil
	}), err
}

func takeRDP(charges []Charge) (composition, error) {
	sum, err := newRDPSum(charges)
	return composition{
		epsilon: func(delta float64) (float64, string, error) {
			eps, order, err := sum.epsilon(delta)
			return eps, fmt.Sprintf("order %.6g", order), err
		},
		delta: func(epsilon float64) (float64, string, error) {
			delta, order := sum.delta(epsilon)
			return delta, fmt.Sprintf("order %.6g", order), nil
		},
	}, err
}

// lossQuestion is what an ε by privacy loss distributions depends on, where there are few charges.
type lossQuestion struct {
	charges [3]Charge
	delta   float64
	bits    int
}

// lossAnswers remembers them: a plan, the check of its command and the release ask for the same ε.
var lossAnswers memo.Of[lossQuestion, float64]

func takePLD(charges []Charge) (composition, error) {
	bits := bitsFor(charges)
	return noted(lossNote(charges, bits), func(delta float64) (float64, error) {
		work := func() (float64, error) { return lossEpsilon(charges, delta, bits) }
		q := lossQuestion{delta: delta, bits: bits}
		if copy(q.charges[:], charges) < len(charges) {
			return work()
		}
		return lossAnswers.Get(q, work)
	}, func(epsilon float64) (float64, error) {
		return lossDelta(charges, epsilon, bits)
	}), nil
}
