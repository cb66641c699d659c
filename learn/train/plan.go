package train

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/memo"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/learn/data"
)

// Plan is a method whose parameters and cost are fixed, for a number of records and a dimension and
// before any record is read. It is safe for concurrent use while nobody writes to its fields; what is
// written to them changes neither what is trained nor what it costs.
type Plan struct {
	Price Price // of a model, and its derivation
	// Theory is for Bound; nil is none.
	Theory func() *Bound
	// Rows is for Compare; nil is none.
	Rows func() ([]PriceRow, error)
	// Train returns the method on these records, of which longer ones than the stated radius are
	// shortened, each by itself. It refuses records that the loss cannot use, and another number
	// of them, or of columns, than was priced.
	Train func(records *data.Records) (Algorithm, error)
	// TrainSparse is Train for records without their zeros, of methods whose steps cost what the
	// features that are not 0 do; nil for others.
	TrainSparse func(records *data.Sparse) (Algorithm, error)
}

// Compare prices other ways to account for the method, or other noise, beside the one in use.
func (p Plan) Compare() ([]PriceRow, error) {
	if p.Rows == nil {
		return nil, nil
	}
	return p.Rows()
}

// Bound returns the bound of the plan's models, nil where the theory says nothing of them.
func (p Plan) Bound() *Bound {
	if p.Theory == nil {
		return nil
	}
	return p.Theory()
}

// PlanOf returns the Plan of a package's own plan, or the error of making that.
func PlanOf[P interface{ Plan() Plan }](own P, err error) (Plan, error) {
	if err != nil {
		return Plan{}, err
	}
	return own.Plan(), nil
}

// chosenTuning is Tuning for a price that covers a choice among candidates.
const chosenTuning = "the choice among these candidates is paid for; any other by " +
	"figures of private records is not"

// Tuning returns the sentence on tuning that the price does not cover.
func (p Price) Tuning() string {
	if p.Chosen {
		return chosenTuning
	}
	return Tuning
}

// Noise names the rule that sets a method's noise.
type Noise string

// The noises.
const (
	Calibrated Noise = "calibrated" // what the target needs by the exact account; the default
	Printed    Noise = "printed"    // what the source prints
)

// Tuning names a cost outside every Price. It goes with every figure that could guide a choice.
const Tuning = "tuning on the private data is not covered: a choice by figures of private " +
	"records is not paid for"

// Price is the privacy cost of a plan, with its derivation. Nothing in it depends on records.
// Settle is for one goroutine at a time, and before anybody else reads the Price.
type Price struct {
	Method       string
	Records, Dim int
	Relation     accountant.Relation
	// Event is the whole run for an Accountant; nil where the method is not private.
	Event accountant.Event
	// Cost is the privacy cost of the model, by the rule Bound. ε is +Inf where the method is not
	// private.
	Cost  accountant.Cost
	Bound accountant.Method
	// Blocks are the parts of the data with their sensitivities and noise, in order. Each
	// record is in one of them, or in none.
	Blocks []Block
	Notes  []string
	// Chosen is true where the run includes a choice among candidates, which Cost covers.
	Chosen bool
}

// PriceRow is one account of one amount of noise.
type PriceRow struct {
	Noise       Noise   `json:"noise"`
	Reading     string  `json:"account"`     // of the sensitivity: what is taken as proved
	Sensitivity float64 `json:"sensitivity"` // in the block that costs most
	Deviation   float64 `json:"deviation"`   // of the noise there
	Epsilon     float64 `json:"epsilon"`     // at the target's δ; +Inf where none is proved
	InUse       bool    `json:"in_use"`      // Cost is of this row
	Holds       bool    `json:"proved"`      // the reading is proved: its ε is a promise
}

// Block is a part of the data and the noise that it gets.
type Block struct {
	Name        string
	From, To    int // records From to To-1, from 0
	Releases    int // of noisy vectors
	StepSize    float64
	Sensitivity float64 // ℓ2, of one release
	Deviation   float64 // of its noise, per coordinate
}

// Slack is by how much, relatively, products of a few factors are rounded to the private side.
const Slack = 0x1p-40

// Multiplier returns the block's noise per sensitivity, rounded down.
func (b Block) Multiplier() float64 { return b.Deviation / b.Sensitivity * (1 - Slack) }

// leastNoise is the least noise of a phase in units of the size of models.
const leastNoise = 0x1p-40

// Phases returns blocks of n/2, n/4, … records, fewest or more, with step sizes of a quarter, a sixteenth, … of eta
// and one release each. set sets what is moved and the noise of phase k, from 0. Phases end before noise that is 2⁻⁴⁰
// of size: it would be lost in the rounding of float64, and with it their privacy. They move the model by less than
// their noise.
func Phases(n, fewest int, eta, size float64, set func(k int, b *Block) error) (blocks []Block, err error) {
	from := 0
	for k := 1; n>>k >= max(1, fewest); k++ {
		b := Block{Name: fmt.Sprintf("phase %d", k), From: from, To: from + n>>k, Releases: 1,
			StepSize: eta / math.Pow(4, float64(k))}
		if err := set(k-1, &b); err != nil {
			return nil, err
		}
		if b.Deviation < leastNoise*size {
			break
		}
		blocks, from = append(blocks, b), b.To
	}
	return blocks, nil
}

// Used returns the row of the noise that the plan has, for the block where the run costs most.
func (p Price) Used(noise Noise, reading string, b Block) PriceRow {
	return PriceRow{Noise: noise, Reading: reading, Sensitivity: b.Sensitivity, Deviation: b.Deviation,
		Epsilon: p.Cost.Epsilon, InUse: true, Holds: true}
}

// Clone copies a price, so that a plan stays as it is.
func (p Price) Clone() Price {
	if p.Event == nil { // of a method without privacy, or of a plan that nobody made
		p.Cost.Epsilon = math.Inf(1)
	}
	p.Blocks, p.Notes = slices.Clone(p.Blocks), slices.Clone(p.Notes)
	return p
}

// NoiseFor returns the noise multiplier for a target, rounded up beyond what Multiplier rounds
// down.
func NoiseFor(target accountant.Cost) (float64, error) {
	return noises.Get(target, func() (float64, error) {
		m, err := accountant.GaussianNoise(target)
		return m * (1 + 4*Slack), err
	})
}

// noises remembers answers of NoiseFor: the candidates of a grid, and the phases of a plan, ask for
// one target again and again, and each answer takes milliseconds of exact arithmetic.
var noises memo.Of[accountant.Cost, float64]

// LeastEpsilon returns the least ε of an event at a δ, by any of the rules.
func LeastEpsilon(
	event accountant.Event, relation accountant.Relation, delta float64, methods ...accountant.Method,
) (accountant.Bound, error) {
	return least(event, relation, func(a accountant.Accountant) (accountant.Report, error) {
		return a.AtDelta(delta, methods...)
	})
}

// LeastDelta returns the least δ of an event at an ε, by any of the rules.
func LeastDelta(
	event accountant.Event, relation accountant.Relation, epsilon float64,
	methods ...accountant.Method,
) (accountant.Bound, error) {
	return least(event, relation, func(a accountant.Accountant) (accountant.Report, error) {
		return a.AtEpsilon(epsilon, methods...)
	})
}

// least returns the best bound of a report on one event.
func least(
	event accountant.Event, relation accountant.Relation,
	report func(accountant.Accountant) (accountant.Report, error),
) (accountant.Bound, error) {
	a, err := accountant.New(relation)
	if err == nil {
		a, err = a.Charge(event, 1)
	}
	if err != nil {
		return accountant.Bound{}, err
	}
	r, err := report(a)
	if err != nil {
		return accountant.Bound{}, err
	}
	if best, ok := r.Best(); ok {
		return best, nil
	}
	return accountant.Bound{}, r.Refused[0].Err // a method without a bound is refused
}

// Settle sets Event, Bound and Cost to what an event costs by a rule, at the target's δ. Noise
// that was calibrated costs its target, which is checked. It refuses an event that costs more.
func (p *Price) Settle(event accountant.Event, bound accountant.Method, target accountant.Cost,
	calibrated bool) error {
	p = handle.Made(p)
	p.Event, p.Bound, p.Cost = event, bound, target
	if calibrated {
		at, err := LeastDelta(event, p.Relation, target.Epsilon, bound)
		if err != nil {
			return fmt.Errorf("%s: %w", p.Method, err)
		}
		if at.Cost.Delta > target.Delta {
			// cannot happen
			return fmt.Errorf("%s: the noise ended at delta = %g above the target %g", p.Method,
				at.Cost.Delta, target.Delta)
		}
		return nil
	}
	best, err := LeastEpsilon(event, p.Relation, target.Delta, bound)
	if err != nil {
		return fmt.Errorf("%s: %w", p.Method, err)
	}
	p.Cost = best.Cost
	return p.Within(target)
}

// SettleGaussian is Settle for blocks of normal noise. Blocks are fixed by the records' numbers, so that
// neighbours differ in one of them, and nothing but noised vectors passes between them: the run
// costs at most what its worst block does, as in parallel composition. Normal noise with the least
// multiplier dominates all others. The releases of a block compose to one with the multiplier over
// √releases.
func (p *Price) SettleGaussian(target accountant.Cost, calibrated bool) error {
	p = handle.Made(p)
	if len(p.Blocks) == 0 {
		return fmt.Errorf("%s: no blocks to price", p.Method)
	}
	worst := slices.MinFunc(p.Blocks, func(a, b Block) int {
		m, n := a.Multiplier(), b.Multiplier()
		return cmp.Compare(m*m/float64(a.Releases), n*n/float64(b.Releases))
	})
	event, err := accountant.Compose(accountant.Charge{
		Event: accountant.Gaussian{NoiseMultiplier: min(worst.Multiplier(), accountant.MaxNoise),
			Neighbours: p.Relation}, Count: worst.Releases})
	if err != nil {
		return err
	}
	return p.Settle(event, accountant.MethodGaussian, target, calibrated)
}

// Within refuses a price above its target.
func (p *Price) Within(target accountant.Cost) error {
	p = handle.Made(p)
	if p.Cost.Epsilon <= target.Epsilon {
		return nil
	}
	return check.Wantf("epsilon", num.Outward(p.Cost.Epsilon, 6, true),
		"not above the target %g at delta = %g", target.Epsilon, target.Delta)
}

// Bound states what is proved of a plan's models for records that are drawn independently of one
// law, in expectation over them and over the noise. It is worked out from the plan's own schedule
// and noise, so that it depends on no record, and it is for the loss with clipped slopes.
type Bound struct {
	Of      Measure `json:"of"`
	Value   float64 `json:"bound"`          // at most this
	Nothing float64 `json:"of_every_model"` // a Value that is not below it says nothing
	// Printed is the source's closed form, for the source's noise and by the source's constants;
	// 0 where it prints none.
	Printed float64 `json:"printed,omitempty"`
	Rate    float64 `json:"rate,omitempty"` // the source's order of magnitude, constants left out; 0 where it has none
	Theorem string  `json:"theorem"`        // the source's theorem that it follows
}

// Says reports whether the bound says more of a model than that it is in the set.
func (b Bound) Says() bool { return b.Value < b.Nothing }

// Measure names the quantity that a Bound bounds.
type Measure string

// The measures. F is the mean loss over the law of the records, W the set, D its diameter.
const (
	ExcessRisk      Measure = "excess risk"      // F(w) - min_W F
	StationarityGap Measure = "stationarity gap" // max_{v∈W} ⟨∇F(w), w - v⟩
	// ‖prox(w) - w‖ for prox(w) = argmin_W F(v) + ρ‖v - w‖², which is stationary to within 2ρD times
	// it
	ProximalDistance Measure = "distance to a nearly stationary model"
)
