package gamma

import (
	"context"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/internal/num"
)

// ½(B(K-l)-B(l)) in exact rationals.
func TestWeightsAgainstExactBinomial(t *testing.T) {
	for _, k := range []int{1, 2, 3, 8, 11, 40} {
		for _, mu := range []float64{math.Nextafter(0.5, 1), 0.625, 0.75, 0.85, math.Nextafter(1, 0)} {
			got, err := Weights(k, mu)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != (k+1)/2 {
				t.Fatalf("K=%d: %d weights", k, len(got))
			}
			p := new(big.Rat).SetFloat64(mu)
			q := new(big.Rat).Sub(big.NewRat(1, 1), p)
			law := func(l int) *big.Rat {
				x := new(big.Rat).SetInt(new(big.Int).Binomial(int64(k), int64(l)))
				for i := range k {
					if i < l {
						x.Mul(x, p)
					} else {
						x.Mul(x, q)
					}
				}
				return x
			}
			for l, w := range got {
				high := law(k - l)
				x := new(big.Rat).Sub(high, law(l))
				want, _ := x.Mul(x, big.NewRat(1, 2)).Float64()
				size, _ := high.Float64() // the difference may cancel
				if math.Abs(w-want) > 4e-16*size || w < 0 {
					t.Errorf("K=%d μ=%v: weight(%d) = %v, want %v", k, mu, l, w, want)
				}
			}
		}
	}
}

func TestWeightsRefuse(t *testing.T) {
	for _, c := range []struct {
		k  int
		mu float64
	}{{0, 0.75}, {constraints.MaxTeachers + 1, 0.75}, {11, 0.5}, {11, 1}, {11, 0.2}, {11, math.NaN()},
		{11, math.Inf(1)}} {
		var pe *constraints.ParameterError
		if _, err := Weights(c.k, c.mu); !errors.As(err, &pe) {
			t.Errorf("K=%d μ=%v: %v", c.k, c.mu, err)
		}
	}
}

func TestCountWeightsRefuse(t *testing.T) {
	for name, c := range map[string]struct {
		counts []float64
		want   string
	}{
		"ties only":  {[]float64{0, 0, 5, 0, 0}, "ties only"},
		"nothing":    {make([]float64, 5), "sum of counts"},
		"negative":   {[]float64{1, -1, 1}, "count of 1 votes"},
		"infinite":   {[]float64{1, 1, math.Inf(1)}, "count of 2 votes"},
		"overflows":  {[]float64{math.MaxFloat64, 0, 0, math.MaxFloat64}, "sum of counts"},
		"no teacher": {[]float64{1}, "1 counts"},
	} {
		if w, err := countWeights(c.counts); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v; want %q", name, w, err, c.want)
		}
	}
}

// simulate runs the mechanism over all 2^K votes: the probability that it says 1,
// and that the plain majority with a fair coin for ties does.
func simulate(f Func, p []float64) (released, majority float64) {
	k := len(p)
	for votes := range 1 << k {
		pr, ones := 1.0, 0
		for i, x := range p {
			if votes>>i&1 == 1 {
				pr *= x
				ones++
			} else {
				pr *= 1 - x
			}
		}
		win := 0.5
		switch {
		case 2*ones > k:
			win = 1
		case 2*ones < k:
			win = 0
		}
		majority += pr * win
		released += pr * (f.At(ones)*win + (1-f.At(ones))/2)
	}
	return released, majority
}

// The worst error is that of the worst votes, by the mechanism itself: it may be at any count.
func TestWorstErrorAgainstTheMechanism(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 7).Draw(t, "K")
		f, err := FromFree(k, drawFree(t, k))
		if err != nil {
			t.Fatal(err)
		}
		want := 0.0
		for ones := range k + 1 {
			p := make([]float64, k)
			for i := range ones {
				p[i] = 1
			}
			released, majority := simulate(f, p)
			want = max(want, math.Abs(released-majority))
		}
		if got := WorstError(f); math.Abs(got-want) > 1e-15 {
			t.Fatalf("%v: worst error %v, by the mechanism %v", f, got, want)
		}
	})
	if f, err := Constant(5, 1); err != nil || WorstError(f) != 0 {
		t.Errorf("the majority itself is off by %v, %v", WorstError(f), err)
	}
}

// A table is of a valid objective, and of a proof for that objective.
func TestTableRefusesAnObjective(t *testing.T) {
	f, err := Constant(5, 0)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Certify(context.Background(), problem(t, 5, 2, 0.1, 0), f)
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]struct {
		o     Objective
		proof Proof
		want  string
	}{
		"two objectives": {Objective{WorstCase: true, PriorMean: 0.75, Shape: Free}, Proof{},
			"several priors"},
		"prior": {Objective{PriorMean: 0.4, Shape: Free}, Proof{}, "prior mean"},
		"weights": {Objective{PriorMean: 0.75, Shape: Free}, Proof{Weights: []float64{0.1}},
			"weights"},
	} {
		_, err := NewTable(context.Background(), c, x.o, x.proof)
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, want … %s", name, err, x.want)
		}
	}
}

func TestErrorAtAgainstTheMechanism(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 9).Draw(t, "K")
		f, err := FromFree(k, drawFree(t, k))
		if err != nil {
			t.Fatal(err)
		}
		p := rapid.SliceOfN(rapid.Float64Range(0, 1), k, k).Draw(t, "p")
		got, err := ErrorAt(f, p)
		if err != nil {
			t.Fatal(err)
		}
		released, majority := simulate(f, p)
		if want := math.Abs(released - majority); math.Abs(got-want) > 1e-14 {
			t.Fatalf("error %v, the mechanism's %v", got, want)
		}
	})
}

// Identical teachers at p = 0.75, K = 11, m = 3: the project's reference values
// to nine digits, p_const at ε = 0.1, Δ = 0, τ = K.
func TestErrorAtReference(t *testing.T) {
	sub, err := Subsampling(11, 3)
	if err != nil {
		t.Fatal(err)
	}
	double, err := DoubleSubsampling(11, 3)
	if err != nil {
		t.Fatal(err)
	}
	response, err := RandomizedResponse(problem(t, 11, 3, 0.1, 0), 11, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := make([]float64, 11)
	for i := range p {
		p[i] = 0.75
	}
	weights, err := Weights(11, 0.75)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		f    Func
		want float64
	}{{"subsampling", sub, 0.121922493}, {"double subsampling", double, 0.069188118},
		{"p_const", response, 0.327153282}} {
		got, err := ErrorAt(c.f, p)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(got-c.want) > 5e-10 {
			t.Errorf("%s: %.9f, want %.9f", c.name, got, c.want)
		}
		if expected := expectedError(c.f, weights); math.Abs(got-expected) > 1e-15 {
			t.Errorf("%s: error %v at p_i = μ, expected error %v", c.name, got, expected)
		}
	}
}

func TestErrorAtRefuses(t *testing.T) {
	f := mustFree(t, 3, 1, 0.5)
	for _, p := range [][]float64{nil, {0.5, 0.5}, {0.5, 0.5, 0.5, 0.5}, {0.5, math.NaN(), 0.5},
		{0.5, 1.5, 0.5}, {0.5, -0.1, 0.5}} {
		if _, err := ErrorAt(f, p); err == nil {
			t.Errorf("no error for p = %v", p)
		}
	}
}

// The expected error is the average of ErrorAt over independent p_i of mean μ:
// here each p_i takes one of two values in [½,1], and all 2^K combinations are
// summed. On [½,1] the error has no absolute value to lose.
func TestExpectedErrorIsTheAverage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 6).Draw(t, "K")
		f, err := FromFree(k, drawFree(t, k))
		if err != nil {
			t.Fatal(err)
		}
		low := rapid.Float64Range(0.5, 0.7).Draw(t, "low")
		high := rapid.Float64Range(0.8, 1).Draw(t, "high")
		share := rapid.Float64Range(0.1, 0.9).Draw(t, "share of high")
		weights, err := Weights(k, low+share*(high-low))
		if err != nil {
			t.Fatal(err)
		}
		average := 0.0
		p := make([]float64, k)
		for choice := range 1 << k {
			pr := 1.0
			for i := range p {
				if choice>>i&1 == 1 {
					p[i] = high
					pr *= share
				} else {
					p[i] = low
					pr *= 1 - share
				}
			}
			e, err := ErrorAt(f, p)
			if err != nil {
				t.Fatal(err)
			}
			average += pr * e
		}
		if got := expectedError(f, weights); math.Abs(got-average) > 1e-13 || got < 0 || got > 1 {
			t.Fatalf("expected error %v, average %v", got, average)
		}
	})
}

func TestExpectedErrorOfForeignWeights(t *testing.T) {
	f := mustFree(t, 3, 1, 0.5)
	if e, err := ExpectedError(f, []float64{1}); err == nil {
		t.Errorf("%v, and no error", e)
	}
	weights := []float64{0.25, 0.25}
	if e, err := ExpectedError(f, weights); err != nil || e != expectedError(f, weights) {
		t.Errorf("%v, %v", e, err)
	}
}

// Means and counts are the decimals that people write: how far the weights are from those of the
// decimals is within the bound that proofs of optimality subtract, and not far below it.
func TestWeightsErrorCoversTheWeights(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 42))
	largest := 0.0
	check := func(got []float64, exact func(l int) *big.Rat, k int) {
		t.Helper()
		off := new(big.Rat)
		for l, w := range got {
			d := new(big.Rat).SetFloat64(w)
			off.Add(off, d.Sub(d, exact(l)).Abs(d))
		}
		if off.Cmp(new(big.Rat).SetFloat64(weightsError(k))) > 0 {
			t.Errorf("K = %d: the weights are off by %s, the bound is %g", k, off.FloatString(25),
				weightsError(k))
		}
		f, _ := off.Float64()
		largest = max(largest, f/weightsError(k))
	}
	half := big.NewRat(1, 2)
	for range 60 {
		k := 1 + rng.IntN(12)
		if rng.IntN(10) == 0 {
			k = 61
		}
		mu := math.Round(1e6*(0.5+0.4999*rng.Float64()+2e-6)) / 1e6
		p := num.Decimal(mu)
		q := new(big.Rat).Sub(big.NewRat(1, 1), p)
		law := func(l int) *big.Rat {
			x := new(big.Rat).SetInt(new(big.Int).Binomial(int64(k), int64(l)))
			for range l {
				x.Mul(x, p)
			}
			for range k - l {
				x.Mul(x, q)
			}
			return x
		}
		got, err := Weights(k, mu)
		if err != nil {
			t.Fatal(err)
		}
		check(got, func(l int) *big.Rat { x := law(k - l); x.Sub(x, law(l)); return x.Mul(x, half) }, k)

		counts, total := make([]float64, k+1), new(big.Rat)
		for l := range counts {
			counts[l] = math.Round(1e4*rng.Float64())*math.Pow(10, float64(-rng.IntN(8))) + 1e-9
			total.Add(total, num.Decimal(counts[l]))
		}
		if got, err = countWeights(counts); err != nil {
			t.Fatal(err)
		}
		check(got, func(l int) *big.Rat {
			x := num.Decimal(counts[l])
			x.Add(x, num.Decimal(counts[k-l]))
			return x.Mul(x.Quo(x, total), half)
		}, k)
	}
	if t.Logf("at most %.3f of the bound", largest); largest < 0.02 {
		t.Error("the bound is idle")
	}
}
