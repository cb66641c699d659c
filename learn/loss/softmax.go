package loss

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/vec"
)

// Softmax is the loss of a class y of K under scores z_k = ⟨a,x_k⟩,
//
//	f(x; a, y) = ln Σ_k e^{z_k} - z_y,
//
// for models x of K·d numbers: the weights of class 0, then those of class 1 and so on. Its gradient is
// (p - e_y) aᵀ with p the probabilities of the classes, and ‖p - e_y‖ ≤ √2. The zero value has no classes;
// make it with NewSoftmax.
type Softmax struct{ classes int }

// MaxClasses is the most classes of a Softmax.
const MaxClasses = 1000

// NewSoftmax returns the loss of K classes, 3 to MaxClasses: two are Logistic.
func NewSoftmax(classes int) (Softmax, error) {
	return Softmax{classes}, check.Whole("number of classes", classes, 3, MaxClasses)
}

// parseSoftmax returns the loss of a name "softmax:K"; found is false for other names.
func parseSoftmax(name string) (l Softmax, found bool, err error) {
	number, found := strings.CutPrefix(name, "softmax:")
	if !found {
		return l, false, nil
	}
	k, err := strconv.Atoi(number)
	if err != nil {
		return l, true, check.Want("task", strconv.Quote(name), "softmax: and how many classes, such as softmax:10")
	}
	l, err = NewSoftmax(k)
	return l, true, err
}

// Classes returns K.
func (s Softmax) Classes() int { return s.classes }

// Name returns "softmax:K".
func (s Softmax) Name() string { return fmt.Sprintf("softmax:%d", s.classes) }

// Check refuses a response that is no class, a whole number from 0 to K-1.
func (s Softmax) Check(_ []float64, y float64) error {
	return check.Class(y, s.classes)
}

// ModelDim returns K·d.
func (s Softmax) ModelDim(features int) int { return s.classes * features }

// Start sets x to 0, where all classes are alike.
func (Softmax) Start(x []float64, _ int, _ *rand.Rand) { clear(x) }

// Chances replaces scores by the probabilities of the classes.
func Chances(scores []float64) {
	if len(scores) == 0 {
		return
	}
	top, sum := floats.Max(scores), 0.0
	for k, z := range scores {
		scores[k] = math.Exp(z - top)
		sum += scores[k]
	}
	for k := range scores {
		scores[k] /= sum
	}
}

// ChancesOfQuad is Chances of four records, whose scores of class k are in scores[k], by vec.Exp: the same bits on
// every processor.
func ChancesOfQuad(scores [][vec.Quad]float64) {
	if len(scores) == 0 {
		return
	}
	top, sum := scores[0], [vec.Quad]float64{}
	for k := range scores {
		for q, z := range &scores[k] {
			if z > top[q] || z != z {
				top[q] = z
			}
		}
	}
	for k := range scores {
		for q := range top {
			scores[k][q] -= top[q]
		}
		vec.Exps(&scores[k])
		for q, e := range &scores[k] {
			sum[q] += e
		}
	}
	for k := range scores {
		for q := range sum {
			scores[k][q] /= sum[q]
		}
	}
}

// Loss returns ln Σ_k e^{z_k} - z_y.
func (s Softmax) Loss(x, a []float64, y float64) float64 {
	top, at := math.Inf(-1), 0.0
	z := make([]float64, s.classes)
	for k := range z {
		z[k] = floats.Dot(x[k*len(a):(k+1)*len(a)], a)
		top = max(top, z[k])
		if float64(k) == y {
			at = z[k]
		}
	}
	sum := 0.0
	for _, v := range z {
		sum += math.Exp(v - top)
	}
	return math.Log(sum) + top - at
}

// Gradient sets g to (p - e_y) aᵀ.
func (s Softmax) Gradient(g, x, a []float64, y float64) {
	if s.classes < 1 {
		return
	}
	z := make([]float64, s.classes)
	for k := range z {
		z[k] = floats.Dot(x[k*len(a):(k+1)*len(a)], a)
	}
	Chances(z)
	z[int(y)]--
	for k, v := range z {
		floats.ScaleTo(g[k*len(a):(k+1)*len(a)], v, a)
	}
}

// Smoothness returns R²/2, rounded up: the matrix diag(p) - ppᵀ has no eigenvalue above ½.
func (Softmax) Smoothness(radius float64) float64 { return timesSquare(0.5, radius) }

// Convex returns true.
func (Softmax) Convex() bool { return true }

// ClipKeepsContraction returns false: a clipped softmax gradient need not be one of a convex loss.
func (Softmax) ClipKeepsContraction() bool { return false }
