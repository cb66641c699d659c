package labellaw_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/ensemble/labellaw"
)

// near fails unless got is want to the digits of want.
func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-6) {
		t.Errorf("%s = %.6f, want %.6f", what, got, want)
	}
}

// Figures that were worked out by another program (NumPy), of tables of 5 teachers for 10 labels.
func TestFigures(t *testing.T) {
	two := labellaw.Channel{Classes: 2, Agrees: .618967}
	near(t, "χ²", two.ChiSquare(labellaw.Equal(2)), .056613)
	near(t, "MI", two.Information(labellaw.Equal(2)), .028580)
	near(t, "worth", two.Worth(labellaw.Equal(2), 10), .566126)
	uneven := []float64{.9, .1}
	near(t, "χ² of uneven shares", two.ChiSquare(uneven), .021147)
	near(t, "MI of uneven shares", two.Information(uneven), .010353)
	rows := two.Posterior(uneven)
	near(t, "posterior", rows[0][0], .935980)
	near(t, "posterior", rows[0][1], .064020)
	near(t, "posterior", rows[1][0], .847103)
	near(t, "posterior", rows[1][1], .152897)

	three := labellaw.Channel{Classes: 3, Agrees: .494020}
	near(t, "other", three.Transition()[0][1], .252990)
	near(t, "χ²", three.ChiSquare(labellaw.Equal(3)), .116191)
	near(t, "MI", three.Information(labellaw.Equal(3)), .054818)
	if got := three.Worth(labellaw.Equal(3), 10); math.Abs(got-.580957) > 5e-6 { // six digits of a
		t.Errorf("worth = %v", got)
	}
	shares := []float64{.7, .2, .1}
	for y, want := range []float64{.421711, .301196, .277093} {
		near(t, "q", three.Labels(shares)[y], want)
	}
	near(t, "χ²", three.ChiSquare(shares), .078661)
	near(t, "MI", three.Information(shares), .037381)
	for c, want := range []float64{.820026, .119983, .059991} {
		near(t, "posterior", three.Posterior(shares)[0][c], want)
	}
}

// A channel with shares, drawn.
func drawn(t *rapid.T) (labellaw.Channel, []float64) {
	c := labellaw.Channel{Classes: rapid.IntRange(2, 6).Draw(t, "classes")}
	c.Agrees = rapid.Float64Range(0, 1).Draw(t, "a")
	c.Abstains = rapid.SampledFrom([]float64{0, .25, 1}).Draw(t, "n") * (1 - c.Agrees)
	shares, sum := make([]float64, c.Classes), 0.0
	for i := range shares {
		shares[i] = rapid.SampledFrom([]float64{0, .01, .5, 1}).Draw(t, "share")
		sum += shares[i]
	}
	if sum == 0 {
		return c, labellaw.Equal(c.Classes)
	}
	for i := range shares {
		shares[i] /= sum
	}
	return c, shares
}

// What holds of every channel: laws sum to 1, labels without noise are worth themselves, labels of
// noise alone are worth nothing, information is at most the shares' entropy and χ² is at least it.
func TestChannelProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, shares := drawn(t)
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		sums := func(what string, rows ...[]float64) {
			for _, row := range rows {
				sum := 0.0
				for _, p := range row {
					sum += p
				}
				if math.Abs(sum-1) > 1e-12 {
					t.Fatalf("%s sums to %v", what, sum)
				}
			}
		}
		sums("T", c.Transition()...)
		sums("q", c.Labels(shares))
		sums("the posterior", c.Posterior(shares)...)
		entropy := 0.0
		for _, p := range shares {
			if p > 0 {
				entropy -= p * math.Log(p)
			}
		}
		mi, chi := c.Information(shares), c.ChiSquare(shares)
		if mi > entropy+1e-12 || mi > chi+1e-12 {
			t.Fatalf("MI = %v, entropy %v, χ² %v", mi, entropy, chi)
		}
		equal := labellaw.Equal(c.Classes)
		if worth := c.Worth(equal, 100); worth < 0 || worth > 100+1e-9 {
			t.Fatalf("100 labels are worth %v", worth)
		}
		if c.Abstains == 0 {
			rho := (float64(c.Classes)*c.Agrees - 1) / float64(c.Classes-1)
			if got := c.Worth(equal, 100); math.Abs(got-100*rho*rho) > 1e-9 {
				t.Fatalf("worth %v, ρ² %v", got, 100*rho*rho)
			}
		}
		guess := labellaw.Channel{Classes: c.Classes, Agrees: 1 / float64(c.Classes)}
		if got := guess.Worth(shares, 100); got > 1e-12 {
			t.Fatalf("guesses are worth %v", got)
		}
		clear := labellaw.Channel{Classes: c.Classes, Agrees: 1}
		if got := clear.Worth(equal, 100); math.Abs(got-100) > 1e-9 {
			t.Fatalf("100 labels without noise are worth %v", got)
		}
	})
}

// An abstention tells nothing where all classes abstain alike: of labels of which half are missing half
// the worth is left.
func TestAbstentionsTellNothing(t *testing.T) {
	whole := labellaw.Channel{Classes: 3, Agrees: .6}
	half := labellaw.Channel{Classes: 3, Agrees: .3, Abstains: .5}
	near(t, "worth", half.Worth(labellaw.Equal(3), 100), whole.Worth(labellaw.Equal(3), 100)/2)
	for c, share := range []float64{.7, .2, .1} {
		near(t, "posterior of an abstention", half.Posterior([]float64{.7, .2, .1})[3][c], share)
	}
}

func TestChannelRules(t *testing.T) {
	for _, c := range []labellaw.Channel{{}, {Classes: 1}, {Classes: 2, Agrees: -.1}, {Classes: 2, Agrees: 1.1},
		{Classes: 2, Agrees: math.NaN()}, {Classes: 2, Agrees: .6, Abstains: .5},
		{Classes: 2, Agrees: .6, Abstains: -.1}} {
		if c.Validate() == nil {
			t.Errorf("%+v is one", c)
		}
	}
}
