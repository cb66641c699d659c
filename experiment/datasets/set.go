package datasets

import (
	"math"
	"math/rand/v2"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/train"
)

// Set is a data set of the experiments with its task.
type Set struct {
	Name    string
	Standin bool   // generated, not the real data
	Source  string // for people
	Private *data.Records
	Public  *data.Records

	Task        loss.Loss
	Regularizer geometry.Regularizer
	Start       []float64 // x_1
}

// The data sets.
const (
	MNIST69    = "mnist-69"
	CIFAR10    = "cifar-10"
	Crime      = "crime"
	COMPAS     = "compas"
	CreditCard = "credit-card"
)

// Names returns the names of all data sets.
func Names() []string { return []string{MNIST69, CIFAR10, Crime, COMPAS, CreditCard} }

func unknown(name string) error {
	return check.Wantf("data set", name, "one of %v", Names())
}

// finish adds the task of the data set's name to its records: mean estimation within a
// ball of radius 10, ridge regression with λ = 0.1, or logistic regression with λ‖x‖₁,
// λ = 0.1, from a start that is 0 or, for the last, one draw of N(0, I) for all runs: its
// optimum is so near to 0 that from there the smallest steps are always best.
func (s Set) finish(start *rand.Rand) Set {
	switch s.Name {
	case MNIST69:
		s.Task, s.Regularizer = loss.MeanEstimation{}, geometry.Ball{Radius: 10}
	case CIFAR10, Crime:
		s.Task, s.Regularizer = loss.LeastSquares{}, geometry.L2{Lambda: 0.1}
	default:
		s.Task, s.Regularizer = loss.Logistic{}, geometry.L1{Lambda: 0.1}
	}
	s.Start = make([]float64, s.Private.Dim())
	if _, ok := s.Task.(loss.Logistic); ok {
		for j := range s.Start {
			s.Start[j] = start.NormFloat64()
		}
	}
	return s
}

// generator returns a generator of data, apart from those of runs.
func generator(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x6461746173657473)) }

// startGenerator returns a generator of starts, which so do not depend on how many numbers
// the data took.
func startGenerator(seed uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, 0x7374617274))
}

// Summary holds the printed figures of a data set. On real private data it is a secret of them.
type Summary struct {
	N, PublicN, Dim   int
	PrivateSmoothness float64 // L*
	PublicSmoothness  float64 // L̃*
	PrivateRate       float64 // share of responses 1; NaN where responses are not labels
	PublicRate        float64
	MeanGap           float64 // ‖m_D-m_P‖
	StartExcess       float64 // G(x_1)-G*
	Degenerate        bool    // StartExcess below 0.01: there is nothing to learn
}

// Problem returns the minimisation that the set's private records pose.
func (s Set) Problem() train.Problem {
	return train.Problem{Loss: s.Task, Regularizer: s.Regularizer, Records: s.Private}
}

// DescribeAt summarises the data set, whose optimum is o.
func (s Set) DescribeAt(o train.Optimum) Summary {
	d := Summary{
		N: s.Private.Len(), PublicN: s.Public.Len(), Dim: s.Private.Dim(),
		PrivateSmoothness: s.Task.Smoothness(s.Private.MaxNorm()),
		PublicSmoothness:  s.Task.Smoothness(s.Public.MaxNorm()),
		PrivateRate:       rate(s.Private), PublicRate: rate(s.Public),
		StartExcess: s.Problem().Objective(s.Start) - o.Value,
	}
	p := s.Public.Mean()
	for j, m := range s.Private.Mean() {
		d.MeanGap += (m - p[j]) * (m - p[j])
	}
	d.MeanGap = math.Sqrt(d.MeanGap)
	d.Degenerate = d.StartExcess < 0.01
	return d
}

func rate(r *data.Records) float64 {
	ones := 0.0
	for i := range r.Len() {
		switch r.Response(i) {
		case 0:
		case 1:
			ones++
		default:
			return math.NaN()
		}
	}
	if !r.HasResponses() {
		return math.NaN()
	}
	return ones / float64(r.Len())
}
