package convex

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/train"
)

// SufficientStatistics is least squares of two noised sums, X'X and X'Y (Wang, Revisiting Differentially
// Private Linear Regression, 2018, whose AdaSSP this is but for the price, the noise and the ridge). The
// records are read once, and one release of both sums is all that is paid for.
//
// The response of a record is a vector y of norm at most Y: of loss.LeastSquares the number itself, cut to
// ±Clip; of loss.Logistic ±1; and of loss.Softmax the corner e_k - (1/K, …, 1/K) of a simplex, since adding one
// vector to all responses moves all scores alike. The noise of X'X is symmetric, and off the diagonal it has half
// the variance of the diagonal, so that it covers the Frobenius norm. Where a record is replaced,
//
//	μ = (2s₁² + s₂²)/(√2·s₁) where s₂² ≤ 2s₁², else 2s₂;   s₁ = R²/σ₁, s₂ = R·Y/σ₂,
//
// and μ² = s₁² + s₂² where one is added, removed or blanked. The proof is in docs/convex.md.
//
// Cost: n·d·(d/2+K) operations, d³ for the solution; memory for up to four matrices of d². There is no bound on
// the risk.
type SufficientStatistics struct {
	Setting
	// Lambda is λ of the regulariser (λ/2)‖w‖² beside half the mean squared error; 0 takes it from the noise.
	Lambda float64
}

// mostFeatures bounds the matrices, of which a solution takes some.
const mostFeatures = 2000

// The constants were chosen on the tables of the experiment "choice" that judge nothing.
const (
	// statisticsShare is s₂²/s₁², how the price is divided between X'Y and X'X.
	statisticsShare = 1.0
	// edgeShare is the floor of eigenvalues in parts of the largest that noise alone has.
	edgeShare = 0.6
	// logits makes the slope of a link that of probabilities on the whole: the s of least mean of
	// |1/(1+e^-2sz) - (1+z)/2|² for z in [-1,1].
	logits = 1.23
)

// statisticsPlan is a priced SufficientStatistics.
type statisticsPlan struct {
	task
	length     float64 // Y
	sigma1     float64 // of the diagonal of X'X
	sigma2     float64 // of X'Y
	ridge      float64 // stated, n·λ; 0 is for the noise to say
	price      train.Price
	regression bool
}

// Plan prices the method for n records of dimension d.
func (c SufficientStatistics) Plan(n, d int) (Plan, error) { return train.PlanOf(c.plan(n, d)) }

func (c SufficientStatistics) plan(n, d int) (*statisticsPlan, error) {
	p := &statisticsPlan{}
	p.task = task{Setting: c.Setting, n: n, d: d, classes: 1}
	switch l := c.Loss.(type) {
	case loss.LeastSquares:
		// At w = 0 the slope is the response: its bound is the one on slopes.
		if err := train.CheckScale("clip", c.Clip,
			": a public bound on responses that are numbers; larger ones are cut to it"); err != nil {
			return nil, err
		}
		p.length, p.regression = c.Clip, true
	case loss.Logistic:
		p.length = 1
	case loss.Softmax:
		p.classes = l.Classes()
		if err := check.Whole("number of classes", p.classes, 3, loss.MaxClasses); err != nil {
			return nil, err
		}
		p.length = math.Sqrt(1-1/float64(p.classes)) * (1 + slack)
	default:
		name := "none"
		if l != nil {
			name = l.Name()
		}
		return nil, check.Want("task", name, "ridge, logistic or softmax:K for sufficient-statistics")
	}
	if !p.regression && c.Clip != 0 {
		return nil, check.Want("clip", c.Clip, "0 for sufficient-statistics of classes, which have no slopes")
	}
	if err := cmp.Or(p.bounded(p.length), check.Whole("dimension", d, 1, mostFeatures),
		train.CheckScaleOr0("lambda", c.Lambda, "0")); err != nil {
		return nil, err
	}
	p.Neighbours = cmp.Or(p.Neighbours, accountant.ReplaceOne)
	p.ridge = c.Lambda * float64(n)
	return p, p.calibrate()
}

// statisticsMu returns μ of the two sums together, rounded up, for s₁ and s₂.
func statisticsMu(relation accountant.Relation, s1, s2 float64) float64 {
	mu := 2 * s2
	switch {
	case relation != accountant.ReplaceOne:
		mu = math.Hypot(s1, s2)
	case s2*s2 <= 2*s1*s1:
		mu = (2*s1*s1 + s2*s2) / (math.Sqrt2 * s1)
	}
	return mu * (1 + slack)
}

// calibrate sets the noise and the price. Both sums are one normal vector, which neighbours move by μ at most
// in units of its noise, whatever the records are.
func (p *statisticsPlan) calibrate() error {
	noise, err := train.NoiseFor(p.Target)
	if err != nil {
		return err
	}
	root := math.Sqrt(statisticsShare)
	s1 := 1 / (noise * statisticsMu(p.Neighbours, 1, root))
	s2 := s1 * root
	square := p.Radius * p.Radius * (1 + slack)
	product := p.Radius * p.length * (1 + slack)
	p.sigma1, p.sigma2 = square/s1, product/s2
	multiplier := 1 / statisticsMu(p.Neighbours, square/p.sigma1, product/p.sigma2) * (1 - slack)
	moved1, moved2 := square, product
	if p.Neighbours == accountant.ReplaceOne {
		moved1, moved2 = math.Sqrt2*square*(1+slack), 2*product
	}
	p.price = train.Price{Method: "sufficient-statistics", Records: p.n, Dim: p.classes * p.d, Relation: p.Neighbours,
		Blocks: []train.Block{
			{Name: "X'X", To: p.n, Releases: 1, Sensitivity: moved1, Deviation: p.sigma1},
			{Name: "X'Y", To: p.n, Releases: 1, Sensitivity: moved2, Deviation: p.sigma2},
		},
		Notes: []string{fmt.Sprintf("both sums are one normal noise of multiplier %.6g: no record moves both as far "+
			"as it can move each", multiplier)}}
	if p.classes > 1 {
		p.price.Notes = append(p.price.Notes, fmt.Sprintf("one release for all %d classes", p.classes))
	}
	event, err := accountant.Compose(accountant.Charge{Event: accountant.Gaussian{
		NoiseMultiplier: min(multiplier, accountant.MaxNoise), Neighbours: p.Neighbours}, Count: 1})
	if err != nil {
		return err
	}
	return p.price.Settle(event, accountant.MethodGaussian, p.Target, true)
}

// Plan returns the plan for others.
func (p *statisticsPlan) Plan() Plan {
	return Plan{Price: p.price.Clone(), Rows: p.Compare, Train: p.Train}
}

// Compare has the price of both sums as one, and what they cost if each moved as far as it can.
func (p *statisticsPlan) Compare() ([]train.PriceRow, error) {
	a, b := p.price.Blocks[0], p.price.Blocks[1]
	apart := math.Hypot(a.Sensitivity/a.Deviation, b.Sensitivity/b.Deviation)
	row := train.PriceRow{Noise: Calibrated, Reading: "each sum by itself", Sensitivity: a.Sensitivity,
		Deviation: a.Deviation, Holds: true}
	var err error
	if row.Epsilon, err = accountant.GaussianEpsilon(1/apart*(1-slack), p.Target.Delta); err != nil {
		return nil, err
	}
	used := row
	used.Reading, used.Epsilon, used.InUse = "both sums together", p.price.Cost.Epsilon, true
	return []train.PriceRow{row, used}, nil
}

// Train returns the method on these records, of any number where that is private.
func (p *statisticsPlan) Train(r *data.Records) (train.Algorithm, error) {
	own, err := p.take(r, p.Neighbours == accountant.AddOrRemoveOne)
	if err != nil {
		return train.Algorithm{}, err
	}
	if !own.HasResponses() {
		return train.Algorithm{}, errors.New("sufficient-statistics needs records with responses")
	}
	a := p.algorithm(p.price, 1, train.DigestOf(own.Digest(), "darrm convex sufficient-statistics v1\n%q %v %v\n%v %v %v %v\n",
		p.Loss.Name(), p.Radius, p.length, p.n, p.ridge, p.sigma1, p.sigma2))
	a.Digest = train.DigestOf(a.Digest, "%v", p.Neighbours)
	// The least that the noise of X'Y leaves on a coordinate, for the longest records.
	a.NoiseScale = p.sigma2 / (float64(p.n)*p.Radius*p.Radius + p.ridge + math.Sqrt(float64(p.d))*p.sigma1)
	a.Start = func(coins train.Coins) train.Run {
		return &statisticsRun{p: p, rows: own, count: own.Len(), noise: coins.Normals(),
			w: make([]float64, p.classes*p.d)}
	}
	return a, nil
}
