package ensemble

import (
	"context"
	"math"
	"math/bits"
	"slices"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
)

// A baseline as a mechanism answers as its name says, and promises what DaRRM does under
// the same problem. Subsampling is played: the majority of each subset of the votes.
func TestBaselineMechanisms(t *testing.T) {
	const k = 7
	p, err := constraints.NewProblem(k, 2.5, 0.5, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	// majority of n of the votes, of which ones are 1: all subsets, half a point for each tie.
	subsets := func(n, ones int) float64 {
		points, all := 0.0, 0.0
		for s := range uint(1) << k {
			if bits.OnesCount(s) != n {
				continue
			}
			all++
			switch c := bits.OnesCount(s & (1<<ones - 1)); {
			case 2*c > n:
				points++
			case 2*c == n:
				points += 0.5
			}
		}
		return points / all
	}
	constant := func(f func() (gamma.Func, error)) func(int) float64 {
		return func(ones int) float64 {
			g, err := f()
			if err != nil {
				t.Fatal(err)
			}
			return (1 + g.Phi()[ones]) / 2
		}
	}
	want := map[string]func(ones int) float64{
		"randomised-response": constant(func() (gamma.Func, error) {
			return gamma.RandomizedResponse(p, k, k*1e-6)
		}),
		"randomised-response-tight": constant(func() (gamma.Func, error) {
			one, err := gamma.Constant(k, 1)
			if err != nil {
				return one, err
			}
			c, err := gamma.CertifyShrunk(context.Background(), p, one)
			return c.Func(), err
		}),
		"subsampling":        func(ones int) float64 { return subsets(2, ones) },
		"double-subsampling": func(ones int) float64 { return subsets(3, ones) },
	}
	for _, kind := range gamma.BaselineKinds() {
		b, err := kind.Certify(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		a, err := Baseline(b, accountant.AddOrRemoveOne)
		if err != nil {
			t.Fatal(err)
		}
		plain, err := DaRRM(b.Certified, accountant.AddOrRemoveOne)
		if err != nil {
			t.Fatal(err)
		}
		if a.Name() != kind.Name || a.Title() != b.Title() || plain.Name() != OtherTable {
			t.Errorf("%s: name %q, title %q", kind.Name, a.Name(), a.Title())
		}
		if a.PerAnswer() != plain.PerAnswer() || a.Event() != plain.Event() ||
			a.Setting() != plain.Setting() || !slices.Equal(a.Assumptions(), plain.Assumptions()) {
			t.Errorf("%s promises %v, DaRRM with its γ %v", kind.Name, a.PerAnswer(), plain.PerAnswer())
		}
		for ones := range k + 1 {
			got, err := a.Probabilities([]int{k - ones, ones})
			if w := want[kind.Name](ones); err != nil || math.Abs(got[1]-w) > 1e-9 {
				t.Errorf("%s: Pr[1 | %d ones] = %v, %v; want %v", kind.Name, ones, got, err, w)
			}
		}
	}
	if _, err := Baseline(gamma.Named{Name: "none"}, accountant.ReplaceOne); err == nil {
		t.Error("a mechanism without a certificate")
	}
}

// A noise function that nobody certified promises nothing.
func TestDaRRMRefusesTheZeroCertified(t *testing.T) {
	if m, err := DaRRM(&gamma.Certified{}, accountant.ReplaceOne); err == nil {
		t.Errorf("%+v", m)
	}
}
