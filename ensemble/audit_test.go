package ensemble

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/noise"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/testing/must"
)

// votesOf yields every vector of counts of k votes over the classes.
func votesOf(k, classes int, yield func(counts []int)) {
	counts := make([]int, classes)
	var place func(c, left int)
	place = func(c, left int) {
		if c == classes-1 {
			counts[c] = left
			yield(counts)
			return
		}
		for n := range left + 1 {
			counts[c] = n
			place(c+1, left-n)
		}
	}
	place(0, k)
}

// neighboursOf yields every vector that at most t changed votes make of counts.
func neighboursOf(counts []int, t int, yield func(other []int)) {
	k := 0
	for _, n := range counts {
		k += n
	}
	votesOf(k, len(counts), func(other []int) {
		moved := 0
		for c, n := range other {
			moved += max(0, n-counts[c])
		}
		if moved <= t {
			yield(other)
		}
	})
}

// votesIn yields the counts of all votes of a Setting.
func votesIn(s Setting, yield func(counts []int)) {
	if !s.Missing {
		votesOf(s.K, s.Classes, yield)
		return
	}
	votesOf(s.K, s.Classes+1, func(all []int) { yield(all[:s.Classes]) }) // the last are none
}

// neighboursIn yields the counts of all votes that at most t of a Setting's K votes make of counts.
func neighboursIn(s Setting, counts []int, yield func(other []int)) {
	if !s.Missing {
		neighboursOf(counts, s.Affected, yield)
		return
	}
	all := append(slices.Clone(counts), s.K)
	for _, n := range counts {
		all[s.Classes] -= n
	}
	neighboursOf(all, s.Affected, func(other []int) { yield(other[:s.Classes]) })
}

// audited is a mechanism with its law by brute force.
type audited struct {
	a     *Mechanism
	brute func(counts []int) []float64
	tight float64 // the true ε at the claimed δ is no less than the claimed one by more than this
}

// bruteMax adds every noise vector within reach to the counts.
func bruteMax(law noise.Law, reach int) func(counts []int) []float64 {
	mass := make([]float64, 2*reach+1)
	for i := range mass {
		mass[i] = law.Mass(i - reach).Nearest()
	}
	return func(counts []int) []float64 {
		out := make([]float64, len(counts))
		values := make([]int, len(counts))
		var place func(c int, p float64)
		place = func(c int, p float64) {
			if c < len(counts) {
				for i, q := range mass {
					values[c] = counts[c] + i - reach
					place(c+1, p*q)
				}
				return
			}
			for c, share := range plainMajority(values) {
				out[c] += p * share
			}
		}
		place(0, 1)
		return out
	}
}

// bruteConfident checks with every noise of the check.
func bruteConfident(first noise.Law, reach, threshold int,
	then func(counts []int) []float64) func(counts []int) []float64 {
	return func(counts []int) []float64 {
		pass := 0.0
		for y := -reach; y <= reach; y++ {
			if largest(counts)+y >= threshold {
				pass += first.Mass(y).Nearest()
			}
		}
		out := then(counts)
		for c := range out {
			out[c] *= pass
		}
		return append(out, 1-pass)
	}
}

// bruteFlip goes through every order of the classes.
func bruteFlip(rate float64) func(counts []int) []float64 {
	return func(counts []int) []float64 {
		out := make([]float64, len(counts))
		orders := 0.0
		var permute func(order, left []int)
		permute = func(order, left []int) {
			if len(left) == 0 {
				orders++
				reached := 1.0
				for _, c := range order {
					p := math.Exp(-rate * float64(largest(counts)-counts[c]))
					out[c] += reached * p
					reached *= 1 - p
				}
				return
			}
			for i := range left {
				rest := append(append([]int{}, left[:i]...), left[i+1:]...)
				permute(append(order[:len(order):len(order)], left[i]), rest)
			}
		}
		all := make([]int, len(counts))
		for c := range all {
			all[c] = c
		}
		permute(nil, all)
		for c := range out {
			out[c] /= orders
		}
		return out
	}
}

func discrete(t testing.TB, sigma float64, reach int) noise.Law {
	t.Helper()
	v := num.Decimal(sigma)
	g, err := noise.NewGaussian(v.Mul(v, v))
	if err != nil {
		t.Fatal(err)
	}
	return g.Law(reach)
}

// countCases are the mechanisms whose promise holds for any votes, at a promise for which
// the noise is small enough to go through.
func countCases(t testing.TB, s Setting) []audited {
	t.Helper()
	must := func(a *Mechanism, err error) *Mechanism {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	const eps, delta = 3.5, 0.02
	target := accountant.Cost{Epsilon: eps * float64(s.Affected), Delta: delta}
	threshold := (s.K + 2) / 2
	reach := map[int]int{2: 30, 3: 18}[s.Classes]
	var out []audited
	for _, how := range []Calibration{Renyi, Exact} {
		sigma, err := SigmaForGNMax(s, target, how)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, audited{a: must(GNMax(s, target, sigma)),
			brute: bruteMax(discrete(t, sigma, reach), reach)})
		for _, ratio := range []float64{0.5, 2} {
			first, sigma, err := sigmasForConfidentGNMax(s, target, how, ratio)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, audited{
				a: must(ConfidentGNMax(s, target, threshold, first, sigma)),
				brute: bruteConfident(discrete(t, first, 60), 60, threshold,
					bruteMax(discrete(t, sigma, reach), reach)),
			})
		}
	}
	b, err := noise.NewLaplace(4, 7) // 2t/ε = 2/3.5
	if err != nil {
		t.Fatal(err)
	}
	out = append(out, audited{a: must(LNMax(s, target.Epsilon)), brute: bruteMax(b.Law(reach), reach)})
	// Claims above e^8 say more about rounding to 2⁻⁵³ than about mechanisms.
	comparable := s.Affected <= 2
	flip := audited{a: must(PermuteAndFlip(s, target.Epsilon)), brute: bruteFlip(eps / 2)}
	if s.Classes == 2 && comparable && 2*s.Affected <= s.K { // t votes can move without a new majority
		flip.tight = 1e-6
	}
	out = append(out, flip)
	if s.Classes == 2 && !s.Missing {
		p := constraints.Problem{K: s.K, TotalEpsilon: target.Epsilon, Epsilon: math.Inf(1), Delta: delta,
			Affected: s.Affected}
		table, err := solve.Optimal(context.Background(), p, solve.Options{})
		if err != nil {
			t.Fatal(err)
		}
		best := audited{a: must(DaRRM(table.Certified, s.Neighbours)), brute: bruteGamma(table.Func())}
		if comparable {
			best.tight = 1e-6
		}
		out = append(out, best)
	}
	return out
}

// bruteGamma is DaRRM from γ as a real number.
func bruteGamma(f gamma.Func) func(counts []int) []float64 {
	return func(counts []int) []float64 {
		g := f.At(counts[1])
		p := plainMajority(counts)
		return []float64{g*p[0] + (1-g)/2, g*p[1] + (1-g)/2}
	}
}

// Pr[answer | votes] of every mechanism by going through all of its noise, for all votes
// of K ≤ 9 teachers; and the true δ at the claimed ε, over all pairs of votes that t
// changed votes tell apart, is no more than claimed. All answers together are one
// mechanism: δ = Σ max(0, Pr[y|D] - e^ε·Pr[y|D']). Permute-and-flip over two classes and
// the optimal DaRRM reach their claim within 1e-6. The others promise it for their noisy
// counts, of which they release less.
func TestExactAudit(t *testing.T) {
	settings := []Setting{
		{9, 2, 1, accountant.ReplaceOne, false}, {8, 2, 1, accountant.AddOrRemoveOne, false},
		{9, 2, 2, accountant.ReplaceOne, false},
		{5, 3, 1, accountant.ReplaceOne, false},
		{6, 2, 1, accountant.ReplaceOne, true}, {5, 2, 2, accountant.AddOrRemoveOne, true},
		{4, 3, 1, accountant.ReplaceOne, true},
	}
	if os.Getenv("DARRM_LONG") == "1" {
		for k := 1; k <= 9; k++ {
			for affected := 1; affected <= k; affected++ {
				settings = append(settings, Setting{k, 2, affected, accountant.ReplaceOne, false},
					Setting{k, 2, affected, accountant.ReplaceOne, true})
			}
			settings = append(settings, Setting{k, 3, 1, accountant.AddOrRemoveOne, false})
		}
	}
	for _, s := range settings {
		for _, c := range countCases(t, s) {
			name := fmt.Sprintf("%+v, %s", s, c.a.Title())
			laws := map[string][]float64{}
			votesIn(s, func(counts []int) {
				got, err := c.a.Probabilities(counts)
				if err != nil {
					t.Fatal(err)
				}
				laws[fmt.Sprint(counts)] = got
				want := c.brute(counts)
				if len(got) != len(want) || c.a.Abstains() != (len(got) > s.Classes) {
					t.Fatalf("%s: %d probabilities, want %d", name, len(got), len(want))
				}
				for y := range want {
					if math.Abs(got[y]-want[y]) > 1e-10 {
						t.Fatalf("%s, %v: Pr[%d] = %.15g, by enumeration %.15g", name, counts, y, got[y], want[y])
					}
				}
			})
			cost := c.a.PerAnswer()
			worst := 0.0
			votesIn(s, func(counts []int) {
				p := laws[fmt.Sprint(counts)]
				neighboursIn(s, counts, func(other []int) {
					worst = max(worst, trueEpsilon(p, laws[fmt.Sprint(other)], cost.Delta))
				})
			})
			// 1e-9 of a logarithm is more than the 1e-11 of the probabilities here.
			if worst > cost.Epsilon+1e-9 {
				t.Errorf("%s: claims %v, but ε is %v", name, cost, worst)
			}
			if c.tight > 0 && worst < cost.Epsilon-c.tight {
				t.Errorf("%s: claims %v, but ε is only %v", name, cost, worst)
			}
		}
	}
}

// Mechanisms that hide too little are seen by the audit: its worst ε is above the claim.
func TestExactAuditKillsMutants(t *testing.T) {
	s := Setting{9, 2, 1, accountant.ReplaceOne, false}
	const eps = 1.2
	half, err := noise.NewLaplace(5, 6) // t/ε in the place of 2t/ε
	if err != nil {
		t.Fatal(err)
	}
	table, err := solve.Optimal(context.Background(),
		constraints.Problem{K: 9, TotalEpsilon: eps, Epsilon: math.Inf(1), Affected: 1}, solve.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g := bruteGamma(table.Func())
	one := bruteMax(discrete(t, 1.1, 40), 40)
	flip := bruteFlip(eps / 2)
	for name, law := range map[string]func(counts []int) []float64{
		"laplace scale t/ε":            bruteMax(half.Law(60), 60),
		"permute-and-flip at ε/t":      bruteFlip(eps),
		"permute-and-flip, 1e-6 above": bruteFlip(eps / 2 * (1 + 1e-6)),
		"permute-and-flip in order": func(counts []int) []float64 {
			if counts[0] >= counts[1] {
				return []float64{1, 0}
			}
			p := math.Exp(-eps / 2 * float64(counts[1]-counts[0]))
			return []float64{p, 1 - p}
		},
		"γ louder by 1e-6": func(counts []int) []float64 {
			p := g(counts)
			d := 1e-6 * (p[0] - p[1])
			return []float64{p[0] + d, p[1] - d}
		},
		"noise below what δ = 0 allows": one,
		"no noise":                      plainMajority,
	} {
		worst := 0.0
		votesOf(s.K, s.Classes, func(counts []int) {
			p := law(counts)
			neighboursOf(counts, s.Affected, func(other []int) {
				worst = max(worst, trueEpsilon(p, law(other), 0))
			})
		})
		if worst <= eps+1e-9 {
			t.Errorf("%s: ε is %v, and the audit allows %v", name, worst, eps)
		}
	}
	if law := flip([]int{4, 5}); math.Abs(law[0]+law[1]-1) > 1e-15 {
		t.Errorf("the law that the mutants are made of: %v", law)
	}
}

// trueEpsilon returns the smallest ε ≥ 0 with Σ max(0, p - e^ε·q) ≤ delta: with the
// outcomes by falling ratio p/q, the sum over the first n of them is p_n - e^ε·q_n.
func trueEpsilon(p, q []float64, delta float64) float64 {
	at := func(eps float64) float64 {
		sum := 0.0
		for y := range p {
			sum += max(0, p[y]-math.Exp(eps)*q[y])
		}
		return sum
	}
	if at(0) <= delta {
		return 0
	}
	worst := 0.0
	for subset := 1; subset < 1<<len(p); subset++ { // few outcomes: all sets of them
		a, b := 0.0, 0.0
		for y := range p {
			if subset>>y&1 == 1 {
				a, b = a+p[y], b+q[y]
			}
		}
		if a > delta {
			worst = max(worst, math.Log((a-delta)/b))
		}
	}
	return worst
}

// DaRRM of private teachers, from the definition: over all multisets of corners that
// the teachers of two neighbours may sit at, the release's true ε at its δ is no more
// than claimed, and for optimal γ and tight randomised response within 1e-6 of it.
func TestExactAuditOfPrivateTeachers(t *testing.T) {
	for _, p := range []constraints.Problem{
		{K: 9, M: 3, Epsilon: 0.1, TeacherDelta: 1e-5, Delta: 3e-5, Affected: 9},
		{K: 9, M: 1, Epsilon: 0.5, Affected: 9},
		{K: 8, M: 2, Epsilon: 0.3, Affected: 8},
		{K: 7, M: 1.5, Epsilon: 0.4, TeacherDelta: 1e-3, Delta: 2e-3, Affected: 3},
	} {
		table, err := solve.Optimal(context.Background(), p, solve.Options{})
		if err != nil {
			t.Fatal(err)
		}
		baselines, err := gamma.Baselines(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		all := []audited{{a: mustDaRRM(t, table.Certified), brute: bruteGamma(table.Func()), tight: 1e-6}}
		for _, b := range baselines {
			c := audited{a: mustDaRRM(t, b.Certified), brute: bruteGamma(b.Certified.Func())}
			if b.Name == "randomised-response-tight" {
				c.tight = 1e-6
			}
			all = append(all, c)
		}
		for i, c := range all {
			one := make([]float64, p.K+1)
			for l := range one {
				got, err := c.a.Probabilities([]int{p.K - l, l})
				if err != nil {
					t.Fatal(err)
				}
				if want := c.brute([]int{p.K - l, l}); math.Abs(got[0]-want[0]) > 1e-15 ||
					math.Abs(got[1]-want[1]) > 1e-15 {
					t.Errorf("%+v, mechanism %d, %d votes: %v, want %v", p, i, l, got, want)
				}
				one[l] = got[1]
			}
			worst := worstEpsilon(p, one)
			cost := c.a.PerAnswer()
			if worst > cost.Epsilon+1e-10 {
				t.Errorf("%+v, mechanism %d: claims %v, but ε is %.12g", p, i, cost, worst)
			}
			if c.tight > 0 && worst < cost.Epsilon-c.tight {
				t.Errorf("%+v, mechanism %d: claims %v, but ε is only %.12g", p, i, cost, worst)
			}
			if n, ok := c.a.Noise(); ok || n.Event != nil {
				t.Errorf("%+v, mechanism %d: its promise rests on the teachers, but it claims noise of its own",
					p, i)
			}
		}
	}
}

func mustDaRRM(t testing.TB, c *gamma.Certified) *Mechanism {
	t.Helper()
	return must.Get(DaRRM(c, accountant.ReplaceOne))(t)
}

// worstEpsilon returns the largest true ε at p's δ of a release with the given
// probabilities, over all multisets of corners.
func worstEpsilon(p constraints.Problem, one []float64) float64 {
	e := math.Exp(p.Epsilon)
	d := p.TeacherDelta
	a, b := (e+d)/(e+1), (1-d)/(e+1)
	same := [][2]float64{{0, 0}, {1, 1}}
	moved := [][2]float64{{a, b}, {b, a}}
	if d > 0 {
		moved = append(moved, [2]float64{d, 0}, [2]float64{0, d}, [2]float64{1, 1 - d},
			[2]float64{1 - d, 1})
	}
	corners := append(same, moved...)
	worst := 0.0
	var place func(c, left, affected int, law, law2 []float64)
	place = func(c, left, affected int, law, law2 []float64) {
		if left == 0 {
			y, y2 := 0.0, 0.0
			for l := range law {
				y += law[l] * one[l]
				y2 += law2[l] * one[l]
			}
			worst = max(worst, trueEpsilon([]float64{y, 1 - y}, []float64{y2, 1 - y2}, p.Delta))
			return
		}
		if c == len(corners) {
			return
		}
		place(c+1, left, affected, law, law2)
		if c >= len(same) {
			if affected++; affected > p.Affected {
				return
			}
		}
		place(c, left-1, affected, convolve(law, corners[c][0]), convolve(law2, corners[c][1]))
	}
	place(0, p.K, 0, []float64{1}, []float64{1})
	return worst
}
