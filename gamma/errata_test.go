package gamma

import (
	"context"
	"math"
	"testing"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/poissonbinom"
)

// The counterexamples of docs/errata.md that are about noise functions and their errors.

// From (B.56) to (B.57) the source drops the absolute value. For p_i ~ Uniform[0, 1] the mean
// is then that of Binomial(K, ½), which is symmetric: 0 for every γ, so that every γ is
// optimal. The mean with the absolute value tells them apart.
func TestErratumDroppedAbsoluteValue(t *testing.T) {
	const k = 11
	sub, err := Subsampling(k, 3)
	if err != nil {
		t.Fatal(err)
	}
	b := poissonbinom.Binomial(k, 0.5) // E[α_l], exactly: α is affine in each p_i
	for name, f := range map[string]Func{"subsampling": sub,
		"a coin": mustFree(t, k, 0, 0, 0, 0, 0, 0), "middle only": mustFree(t, k, 0, 0, 0, 0, 0, 1)} {
		dropped := 0.0
		for l := (k + 1) / 2; l <= k; l++ {
			dropped += (b[l] - b[k-l]) * (1 - f.At(l)) / 2
		}
		written, err := UniformError(f, 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(dropped) > 1e-15 || written.Value < 0.09 {
			t.Errorf("%s: %g without the absolute value, %g with it", name, dropped, written.Value)
		}
	}
}

// Lemma 3.4.2 as printed: at m = 1 the error of every private algorithm is at least
// |Pr[g = 1] - mean p|, for all p. A private constant is below it for six p = 1, five p = 0,
// and its largest error over all p is below subsampling's. The proof has one p for all
// teachers, and for such p the lemma holds.
func TestErratumLowerBoundAtOneTeacher(t *testing.T) {
	const k = 11
	problem, err := constraints.NewProblem(k, 1, 0.1, 0)
	if err != nil {
		t.Fatal(err)
	}
	one, err := Constant(k, 1)
	if err != nil {
		t.Fatal(err)
	}
	c, err := CertifyShrunk(context.Background(), problem, one) // the largest private constant
	if err != nil {
		t.Fatal(err)
	}
	constant := c.Func()
	sub, err := Subsampling(k, 1)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(constant.At(0)-0.370947) > 1e-6 || math.Abs(WorstError(constant)-0.3145) > 1e-4 ||
		math.Abs(WorstError(sub)-0.4545) > 1e-4 {
		t.Errorf("γ = %g with worst error %g, subsampling %g", constant.At(0), WorstError(constant),
			WorstError(sub))
	}
	at := func(f Func, p []float64) float64 {
		return must.Get(ErrorAt(f, p))(t)
	}
	p := []float64{1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0}
	if bound := 1 - 6./k; math.Abs(at(sub, p)-bound) > 1e-12 || at(constant, p) > bound-0.1 {
		t.Errorf("six of eleven: the bound is %g, subsampling has %g, the constant %g", bound, at(sub, p),
			at(constant, p))
	}
	// What the proof shows: some p, the same for all teachers, where the bound holds.
	alike := make([]float64, k)
	for i := range alike {
		alike[i] = 0.9
	}
	if at(constant, alike) < at(sub, alike) {
		t.Errorf("p = 0.9 for all: constant %g, subsampling %g", at(constant, alike), at(sub, alike))
	}
}

// Figure B.7 compares errors ℰ at p = ½ for all teachers. ℰ is 0 there for every γ: label and
// majority are both fair coins.
func TestErratumErrorOfFairTeachers(t *testing.T) {
	half := make([]float64, 11)
	for i := range half {
		half[i] = 0.5
	}
	for _, f := range []Func{mustFree(t, 11, 0, 0, 0, 0, 0, 0),
		mustFree(t, 11, 1, 0.3, 0, 0.9, 0.2, 0.1)} {
		if e, err := ErrorAt(f, half); err != nil || e > 1e-15 {
			t.Errorf("%v: %g, %v", f, e, err)
		}
	}
}
