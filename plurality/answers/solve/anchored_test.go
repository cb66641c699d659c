package solve

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/lp"
	"github.com/darrm/darrm/plurality/answers"
)

// leastLoss is the largest Σ gain·p of any table of one answer, monotone or not: a linear program over the
// probability of class 1 at each number of its votes.
func leastLoss(t testing.TB, k, reach int, gain []float64, epsilon, delta float64) float64 {
	t.Helper()
	factor, program := math.Exp(epsilon), lp.Problem{}
	for _, g := range gain {
		program.Lower, program.Upper = append(program.Lower, 0), append(program.Upper, 1)
		program.C = append(program.C, -g)
	}
	solver := must.Get(lp.New(program))(t)
	defer solver.Close()
	var rows []lp.Row
	for i := range k + 1 {
		for j := range k + 1 {
			if i == j || max(i-j, j-i) > reach {
				continue
			}
			first, second := make([]float64, k+1), make([]float64, k+1)
			first[i], first[j] = 1, -factor
			second[i], second[j] = -1, factor
			rows = append(rows, lp.Row{Coef: first, RHS: delta}, lp.Row{Coef: second, RHS: factor - 1 + delta})
		}
	}
	if err := solver.AddRows(rows); err != nil {
		t.Fatal(err)
	}
	return -must.Get(solver.Solve(t.Context()))(t).Objective
}

// answerLink is the Link of one answer (ε, δ).
func answerLink(epsilon, delta float64) *answers.Link {
	factor := math.Exp(epsilon)
	return answers.NewLink(func(p, q float64) float64 {
		return q - min(factor*p+delta, 1-(1-p-delta)/factor)
	})
}

// Anchored chains are what a linear program over all tables finds, whatever each number of votes weighs, of
// both parities and at reaches up to 4.
func TestAnchoredIsTheLinearProgram(t *testing.T) {
	constants, apart := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		p := answers.Problem{K: rapid.IntRange(1, 9).Draw(rt, "K"), Classes: 2}
		p.Affected = rapid.IntRange(1, min(p.K, 4)).Draw(rt, "t")
		epsilon := rapid.SampledFrom([]float64{.1, .3, .5, 1}).Draw(rt, "epsilon")
		delta := rapid.SampledFrom([]float64{0, 1e-3, .02, .1}).Draw(rt, "delta")
		// Steep weights reach optima that are one class whatever the votes.
		share := math.Pow(rapid.Float64Range(0, 1).Draw(rt, "share"), 3)
		gain := rapid.SliceOfN(rapid.Float64Range(0, 1), p.K+1, p.K+1).Draw(rt, "gain")
		for k := range gain {
			switch {
			case 2*k < p.K:
				gain[k] *= -(1 - share)
			case 2*k == p.K:
				gain[k] = 0
			default:
				gain[k] *= share
			}
		}
		q := p.Anchored(gain, answerLink(epsilon, delta))
		value := 0.0
		for k, g := range gain {
			value += g * q[k]
			for j := max(0, k-p.Affected); j < k; j++ {
				if q[j] > q[k]+1e-12 {
					rt.Fatalf("%v falls", q)
				}
			}
		}
		want := leastLoss(t, p.K, p.Affected, gain, epsilon, delta)
		if math.Abs(value-want) > 2e-8 {
			rt.Fatalf("%+v, gains %v, (%v, %v): %.12f, the linear program %.12f", p, gain, epsilon, delta, value, want)
		}
		if q[p.K]-q[0] < 1e-9 {
			constants++
		}
		if p.Affected > 1 {
			apart++
		}
	})
	if constants < 3 || apart < 20 {
		t.Errorf("%d constant tables and %d of reaches above 1", constants, apart)
	}
}

// Figures of another implementation, solved by HiGHS and bounded by duals: the agreement of the best table
// where the second class has a share of the queries.
func TestUnevenSharesOneAnswer(t *testing.T) {
	for _, x := range []struct {
		k, t                int
		epsilon, delta      float64
		share, mean         float64
		of0, of1            float64 // costs of answering 0 and 1 where the other has the most votes
		value, constant, at float64
	}{
		{25, 1, .3, 0, .05, .75, 1, 1, .959146286, .946966597, .094955},
		{25, 1, .3, 0, .05, .8, 1, 1, .972773688, .949667857, math.NaN()},
		{25, 1, .3, 0, .1, .75, 1, 1, .943138624, .897303642, .173019},
		{25, 1, .3, 0, .3, .75, 1, 1, .913135078, .698651821, .425557},
		{25, 1, .1, 0, .1, .75, 1, 1, .897303642, .897303642, 0},
		{25, 1, 1, 0, .1, .75, 1, 1, .993648444, .897303642, .268941},
		{11, 1, .5, 0, .1, .75, 1, 1, .896771726, .872537994, .228990},
		{10, 1, .5, 0, .2, .75, 1, 1, .884176656, .799843216, .377541},
		{25, 2, .3, 0, .1, .75, 1, 1, .897303642, .897303642, 0},
		{25, 1, .3, 1e-3, .1, .75, 1, 1, .945671867, .897303642, .171150},
		{25, 3, .5, 1e-4, .2, .7, 1, 1, .815699476, .789518156, math.NaN()},
		{101, 1, .05, 0, .1, .75, 1, 1, .913485490, .899999974, .162276},
		{25, 1, .02, 0, .1, .75, 1, 1, .897303642, .897303642, 0},
		{25, 1, .3, 0, .5, .75, 9, 1, 1 - .275055089, .5, .871825},
		{25, 1, .3, 0, .1, .75, 9, 1, 1 - .177082016, 1 - .897303642, .574443},
	} {
		gain, base := make([]float64, x.k+1), 1.0
		for k := range gain {
			w := x.share*binomial(x.k, k, x.mean) + (1-x.share)*binomial(x.k, x.k-k, x.mean)
			switch {
			case 2*k > x.k:
				gain[k] = x.of0 * w
				base -= gain[k]
			case 2*k < x.k:
				gain[k] = -x.of1 * w
			}
		}
		p := answers.Problem{K: x.k, Classes: 2, Affected: x.t}
		q := p.Anchored(gain, answerLink(x.epsilon, x.delta))
		value := base
		for k, g := range gain {
			value += g * q[k]
		}
		if math.Abs(value-x.value) > 1e-8 {
			t.Errorf("%+v: value %.9f", x, value)
		}
		if anchor := q[x.k/2+1]; !math.IsNaN(x.at) && math.Abs(anchor-x.at) > 2e-6 {
			t.Errorf("%+v: the anchor is %.6f", x, anchor)
		}
	}
}

func binomial(n, k int, p float64) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return math.Exp(a - b - c + float64(k)*math.Log(p) + float64(n-k)*math.Log(1-p))
}
