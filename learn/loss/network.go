package loss

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/internal/check"
)

// Network is the squared error of a network with one hidden layer of h softplus units,
//
//	f(x; a, y) = (o - y)²,   o = c + Σ_k w_k·s(⟨W_k,a⟩ + b_k),   s(z) = ln(1+e^z).
//
// A model is the rows of W, unit by unit, then b, w and c: h(p+2)+1 numbers for p features. It is
// not convex, and has no bound on its smoothness. The zero value has no units; make it with
// NewNetwork.
type Network struct{ hidden int }

// maxHidden bounds h, so that a model's length is a number.
const maxHidden = 1 << 20

// NewNetwork returns the loss of a network with h hidden units.
func NewNetwork(hidden int) (Network, error) {
	return Network{hidden}, check.Whole("hidden units", hidden, 1, maxHidden)
}

// ParseSized returns the loss of a name: one of Parse's, or "network:h" or "softmax:K", whose models
// have another length than a record and which only some methods train.
func ParseSized(name string) (Loss, error) {
	if s, found, err := parseSoftmax(name); found {
		return s, err
	}
	if hidden, ok := strings.CutPrefix(name, "network:"); ok {
		h, err := strconv.Atoi(hidden)
		if err != nil {
			return nil, check.Want("task", strconv.Quote(name),
				"network:h with the number h of hidden units, such as network:10")
		}
		return NewNetwork(h)
	}
	return Parse(name)
}

// Features returns the features p of the records of a model with the given number of weights, h(p+2)+1; false
// where no p ≥ 1 has that many.
func (n Network) Features(dim int) (int, bool) {
	if n.hidden < 1 {
		return 0, false
	}
	p := (dim-1)/n.hidden - 2
	return p, p >= 1 && n.ModelDim(p) == dim
}

// Sized is a loss whose model has another length than a record.
type Sized interface {
	Loss
	// ModelDim returns the length of a model for records of that many features.
	ModelDim(features int) int
	// Start sets x to a model to start from, drawn without knowledge of any record.
	Start(x []float64, features int, rng *rand.Rand)
}

// ModelDim returns the length of a loss's model for records of that many features: their number,
// unless the loss says otherwise.
func ModelDim(l Loss, features int) int {
	if s, ok := l.(Sized); ok {
		return s.ModelDim(features)
	}
	return features
}

// Name returns "network:h".
func (n Network) Name() string { return fmt.Sprintf("network:%d", n.hidden) }

// ModelDim returns h(p+2)+1.
func (n Network) ModelDim(features int) int { return n.hidden*(features+2) + 1 }

// Start draws W and b uniformly between ±1/√p, and w and c between ±1/√h.
func (n Network) Start(x []float64, features int, rng *rand.Rand) {
	inner := n.hidden * (features + 1)
	for j := range x {
		fanIn := features
		if j >= inner {
			fanIn = n.hidden
		}
		x[j] = (2*rng.Float64() - 1) / math.Sqrt(float64(fanIn))
	}
}

// Check refuses samples without a response.
func (Network) Check(_ []float64, y float64) error {
	if math.IsNaN(y) {
		return errors.New("no response, but the task needs one")
	}
	return nil
}

// parts returns W, b and w of a model, or of a gradient; c is the last number.
func (n Network) parts(x []float64, features int) (inner, bias, outer []float64) {
	h := n.hidden
	return x[:h*features], x[h*features : h*(features+1)], x[h*(features+1) : h*(features+2)]
}

// Predict returns the network's output o, 0 of an empty model.
func (n Network) Predict(x, a []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	inner, bias, outer := n.parts(x, len(a))
	o := x[len(x)-1]
	for k, w := range outer {
		s, _ := softplus(floats.Dot(inner[k*len(a):(k+1)*len(a)], a) + bias[k])
		o += w * s
	}
	return o
}

// Loss returns (o-y)².
func (n Network) Loss(x, a []float64, y float64) float64 {
	r := n.Predict(x, a) - y
	return r * r
}

// Gradient sets g to the gradient, by back-propagation. It allocates nothing: the units' outputs
// and slopes wait in those parts of g that they come to.
func (n Network) Gradient(g, x, a []float64, y float64) {
	if len(x) == 0 {
		return
	}
	p := len(a)
	inner, bias, outer := n.parts(x, p)
	gInner, gBias, gOuter := n.parts(g, p)
	o := x[len(x)-1]
	for k, w := range outer {
		gOuter[k], gBias[k] = softplus(floats.Dot(inner[k*p:(k+1)*p], a) + bias[k])
		o += w * gOuter[k]
	}
	r := 2 * (o - y)
	g[len(x)-1] = r
	for k, w := range outer {
		gOuter[k] *= r
		gBias[k] *= r * w
		row := gInner[k*p : (k+1)*p]
		for j, v := range a {
			row[j] = gBias[k] * v
		}
	}
}

// softplus returns ln(1+e^z) and its slope 1/(1+e^-z), without overflow.
func softplus(z float64) (value, slope float64) {
	e := math.Exp(-math.Abs(z))
	value, slope = math.Log1p(e), 1/(1+e)
	if z > 0 {
		return value + z, slope
	}
	return value, e * slope
}

// Smoothness returns +Inf.
func (Network) Smoothness(float64) float64 { return math.Inf(1) }

// Convex returns false.
func (Network) Convex() bool { return false }

// ClipKeepsContraction returns false.
func (Network) ClipKeepsContraction() bool { return false }
