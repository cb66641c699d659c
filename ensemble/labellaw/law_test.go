package labellaw_test

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/ensemble/labellaw"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/plan"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/answers"
	"github.com/darrm/darrm/plurality/answers/solve"
)

// table returns the table of K teachers and so many classes for 10 labels within (2, 1e-5).
func table(t *testing.T, k, classes int) *ensemble.Mechanism {
	t.Helper()
	p := answers.Problem{K: k, Classes: classes, Affected: 1, Answers: 10, Epsilon: 2, Delta: 1e-5}
	solved := must.Get(solve.Best(t.Context(), p, answers.DefaultPrior(p), solve.Options{}))(t)
	return must.Get(ensemble.ManyAnswers(solved.Certified, accountant.ReplaceOne))(t)
}

func noise(t *testing.T, name string, k, classes int, epsilon float64) *ensemble.Mechanism {
	t.Helper()
	return must.Get(ensemble.Calibrated(name, ensemble.Setting{K: k, Classes: classes, Affected: 1,
		Neighbours: accountant.ReplaceOne}, accountant.Cost{Epsilon: epsilon, Delta: 1e-6},
		ensemble.Check{Ratio: ensemble.CheckRatio}))(t)
}

// The law is what going through all votes one by one gives, and no other β has a larger likelihood.
func TestAgainstBruteForce(t *testing.T) {
	for name, x := range map[string]struct {
		m          *ensemble.Mechanism
		k, classes int
	}{
		"two":        {table(t, 5, 2), 5, 2},
		"even":       {table(t, 4, 2), 4, 2},
		"three":      {table(t, 4, 3), 4, 3},
		"gnmax":      {noise(t, "gnmax", 4, 3, 1), 4, 3},
		"abstaining": {noise(t, "confident-gnmax", 5, 2, 2), 5, 2},
	} {
		const mean = .7
		prior := must.Get(plan.Prior(x.k, x.classes, mean))(t)
		l := must.Get(x.m.LabelLaw(t.Context(), prior.Histograms(), labellaw.Options{
			Prior: labellaw.Stated{Mean: mean}}))(t)
		even, none := labellaw.Equal(x.classes), make([]float64, x.classes)
		want, _, best := brute(t, x.m, even, mean, l.Beta, none)
		for c, row := range l.Transition() {
			for y, p := range row {
				if math.Abs(p-want[c][y]) > 1e-9 {
					t.Errorf("%s: T[%d][%d] = %v, want %v", name, c, y, p, want[c][y])
				}
			}
		}
		for _, factor := range []float64{.99, 1.01} {
			if _, _, other := brute(t, x.m, even, mean, factor*l.Beta, none); other >= best {
				t.Errorf("%s: β = %v has the likelihood %v, and %v times it %v", name, l.Beta, best, factor, other)
			}
		}
	}
}

// Of classes that are told apart the law has a row for each class, and no other layer has a larger likelihood. Its
// shares are the prior's unless others are stated.
func TestToldApart(t *testing.T) {
	for classes, shares := range map[int]plurality.Shares{2: {.8, .2}, 3: {.6, .3, .1}} {
		const k, mean = 5, .7
		p := answers.Problem{K: k, Classes: classes, Affected: 1, Answers: 4, Epsilon: 3, Delta: 1e-5, Named: true}
		o := answers.Prior{Objective: plurality.Objective{Accuracy: mean}, Shares: shares}
		solved := must.Get(solve.Best(t.Context(), p, o, solve.Options{}))(t)
		m := must.Get(ensemble.ManyAnswers(solved.Certified, accountant.ReplaceOne))(t)
		prior := must.Get(plan.NamedLaw(k, classes, mean, shares))(t)
		l := must.Get(m.LabelLaw(t.Context(), prior.Histograms(), labellaw.Options{
			Prior: labellaw.Stated{Mean: mean, Shares: shares}}))(t)
		want, leads, best := brute(t, m, shares, mean, l.Beta, l.Offsets)
		for c, row := range l.Transition() {
			if math.Abs(l.Shares[c]-leads[c]) > 1e-9 {
				t.Errorf("%d classes: share %d = %v, want %v", classes, c, l.Shares[c], leads[c])
			}
			for y, p := range row {
				if math.Abs(p-want[c][y]) > 1e-9 {
					t.Errorf("%d classes: T[%d][%d] = %v, want %v", classes, c, y, p, want[c][y])
				}
			}
		}
		if l.Offsets[0] != 0 || l.Beta <= 0 || l.Offsets[classes-1] >= 0 {
			t.Errorf("%d classes: β = %v, offsets %v", classes, l.Beta, l.Offsets)
		}
		for i := range classes {
			for _, by := range []float64{-.01, .01} {
				beta, offsets := l.Beta, slices.Clone(l.Offsets)
				if i == 0 {
					beta += by
				} else {
					offsets[i] += by
				}
				if _, _, other := brute(t, m, shares, mean, beta, offsets); other >= best {
					t.Errorf("%d classes: β = %v, offsets %v have the likelihood %v, others %v", classes, beta, offsets, best, other)
				}
			}
		}
		data := must.Get(l.Encode())(t)
		read := must.Get(labellaw.Decode(t.Context(), bytes.NewReader(data)))(t)
		if again := must.Get(read.Encode())(t); !bytes.Equal(again, data) {
			t.Errorf("%d classes: read and written again it is another document", classes)
		}
		for old, other := range map[string]string{`"told_apart": true`: `"told_apart": false`, `"offsets": [`: `"offset": [`,
			`"agrees": 0.`: `"agrees": 0.1`} {
			if _, err := labellaw.Decode(t.Context(), strings.NewReader(strings.Replace(string(data), old, other, 1))); err == nil {
				t.Errorf("%d classes: %s is read", classes, other)
			}
		}
		even := slices.Repeat([]float64{1 / float64(classes)}, classes)
		other := must.Get(m.LabelLaw(t.Context(), prior.Histograms(), labellaw.Options{Shares: even, Prior: labellaw.Stated{Mean: mean}}))(t)
		if !slices.Equal(other.Shares, even) || other.Agrees >= l.Agrees {
			t.Errorf("%d classes: shares %v, a = %v", classes, other.Shares, other.Agrees)
		}
	}
	m := must.Get(ensemble.ManyAnswers(must.Get(solve.Best(t.Context(), answers.Problem{K: 3, Classes: 2, Affected: 1, Answers: 2,
		Epsilon: 3, Delta: 1e-5, Named: true}, answers.Prior{Objective: plurality.Objective{Accuracy: .7}, Shares: plurality.Shares{.8, .2}},
		solve.Options{}))(t).Certified, accountant.ReplaceOne))(t)
	never := must.Get(plan.NamedOnes([]float64{3, 2, 0, 0}))(t)
	if _, err := m.LabelLaw(t.Context(), never.Histograms(), labellaw.Options{Prior: labellaw.Stated{Counts: true}}); err == nil ||
		!strings.Contains(err.Error(), "class 1 never has") {
		t.Errorf("a class that never leads: %v", err)
	}
}

// brute goes through all K votes, one by one, of teachers who are right with the given probability, class c being the
// right one in shares[c]. It returns T, how often each class leads, and the log likelihood of softmax(b·h + offsets).
func brute(t *testing.T, m *ensemble.Mechanism, shares []float64, mean, b float64, offsets []float64) (transition [][]float64,
	leads []float64, likelihood float64) {
	t.Helper()
	n, k := len(shares), m.Setting().K
	transition, leads = make([][]float64, n), make([]float64, n)
	for c := range transition {
		transition[c] = make([]float64, n+1)
	}
	counts := make([]int, n)
	var visit func(right, teacher int, weight float64)
	visit = func(right, teacher int, weight float64) {
		if teacher < k {
			for c := range n {
				p := mean
				if c != right {
					p = (1 - mean) / float64(n-1)
				}
				counts[c]++
				visit(right, teacher+1, weight*p)
				counts[c]--
			}
			return
		}
		law, norm, most := must.Get(m.Probabilities(counts))(t), 0.0, slices.Max(counts)
		tied := 0
		for c, v := range counts {
			norm += math.Exp(b*float64(v) + offsets[c])
			if v == most {
				tied++
			}
		}
		for c, v := range counts {
			likelihood += weight * law[c] * (b*float64(v) + offsets[c] - math.Log(norm))
			if v == most {
				leads[c] += weight / float64(tied)
				for y, p := range law {
					transition[c][y] += weight / float64(tied) * p
				}
			}
		}
	}
	for right, share := range shares {
		visit(right, 0, share)
	}
	for c := range transition {
		for y := range transition[c] {
			transition[c][y] /= leads[c]
		}
	}
	return transition, leads, likelihood
}

// Weights of a prior need not sum to 1, and shares of classes must.
func TestWeightsAndShares(t *testing.T) {
	prior := must.Get(plan.Prior(4, 3, .7))(t).Histograms()
	scaled := func(yield func([]int, float64) bool) {
		for counts, weight := range prior {
			if !yield(counts, 3*weight) {
				return
			}
		}
	}
	m, o := table(t, 4, 3), labellaw.Options{Prior: labellaw.Stated{Mean: .7}}
	a, b := must.Get(m.LabelLaw(t.Context(), prior, o))(t), must.Get(m.LabelLaw(t.Context(), scaled, o))(t)
	near(t, "a", b.Agrees, a.Agrees)
	near(t, "β", b.Beta, a.Beta)
	for _, shares := range [][]float64{{.5, .5}, {.5, .3, .3}, {1.2, -.1, -.1}, {math.NaN(), .5, .5}} {
		o.Shares = shares
		if _, err := m.LabelLaw(t.Context(), prior, o); err == nil {
			t.Errorf("shares %v are taken", shares)
		}
	}
}

// Known figures of a table for 10 labels of 5 teachers: its law by the votes of class 1, its β, its worth.
// The law is that of the table that was made when the figures were worked out, in NumPy.
func TestBetaOfKnownLaw(t *testing.T) {
	law := []float64{.298756, .368580, .451328, .548672, .631420, .701244}
	prior := must.Get(gamma.TwoSidedCounts(5, .75))(t)
	beta, agrees := labellaw.BetaOf(prior, law)
	near(t, "β", beta, .175082)
	near(t, "a", agrees, .618967)
}

// The worth of a table for K = 100 and ε = 1 tends to 44.907; with few teachers fewer labels are worth more.
func TestLimit(t *testing.T) {
	for _, tt := range []struct {
		k, affected   int
		epsilon, want float64
	}{{100, 1, 1, 44.907}, {100, 2, 1, 44.907 / 4}, {5, 1, 2, .484}} {
		prior := must.Get(plan.Prior(tt.k, 2, .75))(t)
		got := must.Get(labellaw.Limit(t.Context(), prior.Histograms(), tt.affected,
			accountant.Cost{Epsilon: tt.epsilon, Delta: 1e-5}))(t)
		if math.Abs(got-tt.want) > 6e-4 {
			t.Errorf("K = %d, t = %d, ε = %v: %v, want %v", tt.k, tt.affected, tt.epsilon, got, tt.want)
		}
	}
	prior := must.Get(plan.Prior(100, 2, .75))(t)
	last := 0.0
	for _, q := range []int{50, 200, 1000} {
		p := answers.Problem{K: 100, Classes: 2, Affected: 1, Answers: q, Epsilon: 1, Delta: 1e-5}
		solved := must.Get(solve.Best(t.Context(), p, answers.DefaultPrior(p), solve.Options{}))(t)
		m := must.Get(ensemble.ManyAnswers(solved.Certified, accountant.ReplaceOne))(t)
		l := must.Get(m.LabelLaw(t.Context(), prior.Histograms(), labellaw.Options{
			Prior: labellaw.Stated{Mean: .75}}))(t)
		if l.Answers != q || !(l.Worth() > last && l.Worth() < l.Limit) {
			t.Errorf("%d labels are worth %v after %v, and the limit is %v", q, l.Worth(), last, l.Limit)
		}
		last = l.Worth()
	}
}

// μ of Gaussian differential privacy, by the limit of one teacher with a lead of 2.
func TestMu(t *testing.T) {
	one := func(yield func([]int, float64) bool) { yield([]int{0, 2}, 3) }
	for epsilon, want := range map[float64]float64{1: .268051, 2: .501552, 3: .719117, 5: 1.121242} {
		got := must.Get(labellaw.Limit(t.Context(), one, 1, accountant.Cost{Epsilon: epsilon, Delta: 1e-5}))(t)
		near(t, "μ", math.Sqrt(got), want)
	}
	if _, err := labellaw.Limit(t.Context(), one, 1, accountant.Cost{Epsilon: 1}); err == nil {
		t.Error("a budget of δ = 0 has a μ")
	}
}

// Labels without noise have no β.
func TestNoNoise(t *testing.T) {
	m := noise(t, "gnmax", 3, 2, 700)
	law := must.Get(m.Probabilities([]int{1, 2}))(t)
	if l := must.Get(m.LabelLaw(t.Context(), must.Get(plan.Prior(3, 2, .75))(t).Histograms(),
		labellaw.Options{Prior: labellaw.Stated{Mean: .75}}))(t); law[0] < 1e-9 {
		if !math.IsInf(l.Beta, 1) || l.Worth() < .999 {
			t.Errorf("β = %v, worth %v", l.Beta, l.Worth())
		}
		data := must.Get(l.Encode())(t)
		if back := must.Get(labellaw.Decode(t.Context(), bytes.NewReader(data)))(t); !math.IsInf(back.Beta, 1) {
			t.Errorf("β = %v is read", back.Beta)
		}
	} else {
		t.Fatalf("a label of ε = 700 is wrong with probability %v", law[0])
	}
}

// A document is read as what was written, and one in which a figure was changed is none.
func TestDocument(t *testing.T) {
	prior := must.Get(plan.Uneven(4, 3, 1))(t)
	l := must.Get(table(t, 4, 3).LabelLaw(t.Context(), prior.Histograms(), labellaw.Options{
		Names: []string{"cat", "dog", "bird"}, Shares: []float64{.7, .2, .1},
		Prior: labellaw.Stated{Concentration: 1}}))(t)
	data := must.Get(l.Encode())(t)
	back := must.Get(labellaw.Decode(t.Context(), bytes.NewReader(data)))(t)
	if again := must.Get(back.Encode())(t); !bytes.Equal(again, data) {
		t.Errorf("%s\nis read as\n%s", data, again)
	}
	var whole map[string]any
	if err := json.Unmarshal(data, &whole); err != nil {
		t.Fatal(err)
	}
	for field, value := range map[string]any{
		"agrees": .5, "abstains": .1, "worth": 10., "information": 1., "chi_square": 1., "answers": 0.,
		"k": 0., "classes": 2., "beta": -1., "shares": []float64{.7, .2, .2}, "labels": []float64{.5, .5},
		"transition": [][]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, "posterior": [][]float64{},
		"class_names": []string{"cat", "cat", "bird"}, "kind": "answers", "format_version": 2.,
		"prior": map[string]any{}, "mechanism": "", "worth_limit": -1.,
	} {
		changed := map[string]any{}
		for f, v := range whole {
			changed[f] = v
		}
		changed[field] = value
		other := must.Get(json.Marshal(changed))(t)
		if _, err := labellaw.Decode(t.Context(), bytes.NewReader(other)); err == nil {
			t.Errorf("%s = %v is read", field, value)
		}
	}
	for _, text := range []string{"", "null", "[]", "{}", string(data) + "}", string(data[:40])} {
		if _, err := labellaw.Decode(t.Context(), strings.NewReader(text)); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"format_version":1,"kind":"label-law"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := labellaw.Decode(t.Context(), bytes.NewReader(data))
		if err != nil {
			return
		}
		must.Get(l.Encode())(t)
	})
}

// The zero Law and the zero Mechanism have no document.
func TestZero(t *testing.T) {
	if _, err := new(labellaw.Law).Encode(); err == nil {
		t.Error("the zero Law has a document")
	}
	if _, err := new(ensemble.Mechanism).LabelLaw(t.Context(), nil, labellaw.Options{}); err == nil {
		t.Error("no mechanism has a law")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	prior := must.Get(plan.Prior(5, 2, .75))(t)
	if _, err := table(t, 5, 2).LabelLaw(ended, prior.Histograms(), labellaw.Options{}); err == nil {
		t.Error("no end")
	}
}

// The label is any class with the most votes, and all that tie are counted.
func TestPlurality(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		counts := rapid.SliceOfN(rapid.IntRange(0, 3), 2, 5).Draw(t, "counts")
		law := make([]float64, len(counts))
		sum := 0.0
		for c := range law {
			law[c] = rapid.Float64Range(0, 1).Draw(t, "law")
			sum += law[c]
		}
		most, want, tied := -1, 0.0, 0.0
		for c, n := range counts {
			if n > most {
				most, want, tied = n, 0, 0
			}
			if n == most {
				want, tied = want+law[c], tied+1
			}
		}
		if got, ties := labellaw.Plurality(counts, law); math.Abs(got-want) > 1e-12 || float64(ties) != tied {
			t.Fatalf("%v of %d, want %v of %v", got, ties, want, tied)
		}
	})
}

// The package links no reader of votes, no ledger and no release: a label law is a function of what is
// public.
func TestReadsNoVotes(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, dep := range strings.Fields(string(out)) {
		for _, reader := range []string{"votes", "release", "ledger"} {
			if dep == "github.com/darrm/darrm/"+reader || strings.HasPrefix(dep, "github.com/darrm/darrm/"+reader+"/") {
				t.Errorf("it links %s", dep)
			}
		}
	}
}
