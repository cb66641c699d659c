package teachers

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/shuffled"
	"github.com/darrm/darrm/learn/shuffled/iteration"
	"github.com/darrm/darrm/learn/train"
	"github.com/darrm/darrm/poissonbinom"
)

// clients are n records of d features with labels that depend on their sum.
func clients(t testing.TB, n, d int, seed uint64) *data.Records {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	x, y := make([]float64, 0, n*d), make([]float64, n)
	for i := range n {
		s := 0.0
		for range d {
			v := rng.NormFloat64()
			x, s = append(x, v), s+v
		}
		if s+0.5*rng.NormFloat64() > 0 {
			y[i] = 1
		}
	}
	return must.Get(data.NewRecords(n, d, x, y))(t)
}

// replaced returns the records with record i replaced by one far away.
func replaced(t testing.TB, r *data.Records, i int) *data.Records {
	t.Helper()
	var x, y []float64
	for k := range r.Len() {
		x, y = append(x, r.Row(k)...), append(y, r.Response(k))
	}
	for j := range r.Dim() {
		x[i*r.Dim()+j] = 3 - x[i*r.Dim()+j]
	}
	y[i] = 1 - y[i]
	return must.Get(data.NewRecords(r.Len(), r.Dim(), x, y))(t)
}

func teacherConfig(eps float64) shuffled.Config {
	return shuffled.Config{
		Task: loss.Logistic{}, Regularizer: geometry.L2{Lambda: 0.01}, Method: shuffled.DPShuffleG,
		Epochs: 3,
		Order:  iteration.Reshuffled, StepSize: 0.05, Clip: 1,
		Target: accountant.Cost{Epsilon: eps, Delta: 1e-6},
	}
}

func mustPlan(t testing.TB, c Config, private, public *data.Records) *Plan {
	t.Helper()
	return must.Get(NewPlan(t.Context(), c, private, public))(t)
}

// Disjoint parts hold every record once, and nearly equally many.
func TestDisjointParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 40).Draw(t, "K")
		n := rapid.IntRange(k, 500).Draw(t, "n")
		p, err := DisjointParts(n, k)
		if err != nil {
			t.Fatal(err)
		}
		seen := make([]int, n)
		small, large := n, 0
		for j := range k {
			small, large = min(small, len(p.Of(j))), max(large, len(p.Of(j)))
			for _, i := range p.Of(j) {
				seen[i]++
			}
		}
		if slices.Min(seen) != 1 || slices.Max(seen) != 1 || large-small > 1 || p.Affected() != 1 ||
			p.K() != k || p.Records() != n {
			t.Fatalf("parts of %d records for %d teachers: each in %d to %d, sizes %d to %d, affected %d", n,
				k, slices.Min(seen), slices.Max(seen), small, large, p.Affected())
		}
	})
}

// Affected is the largest number of teachers that share one record.
func TestOverlappingParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 20).Draw(t, "K")
		n := rapid.IntRange(1, 60).Draw(t, "n")
		size := rapid.IntRange(1, n).Draw(t, "size")
		seed := rapid.Uint64().Draw(t, "seed")
		p, err := OverlappingParts(n, k, size, seed)
		if err != nil {
			t.Fatal(err)
		}
		most := 0
		for i := range n {
			count := 0
			for j := range k {
				if len(p.Of(j)) != size {
					t.Fatalf("part %d has %d records, want %d", j, len(p.Of(j)), size)
				}
				if slices.Contains(p.Of(j), i) {
					count++
				}
			}
			most = max(most, count)
		}
		if p.Affected() != most {
			t.Fatalf("affected = %d, but a record is in %d parts", p.Affected(), most)
		}
		if size == n && p.Affected() != k {
			t.Fatalf("every teacher has all records, but affected = %d of %d", p.Affected(), k)
		}
		again, err := OverlappingParts(n, k, size, seed)
		if err != nil || !reflect.DeepEqual(p, again) {
			t.Fatalf("the same seed gives other parts: %v", err)
		}
	})
}

func TestPartsRefuse(t *testing.T) {
	for name, f := range map[string]func() (Parts, error){
		"number of teachers": func() (Parts, error) { return DisjointParts(10, 0) },
		"part of teacher 4":  func() (Parts, error) { return DisjointParts(3, 4) },
		"number of records":  func() (Parts, error) { return DisjointParts(0, 4) },
		"size of a part":     func() (Parts, error) { return OverlappingParts(10, 3, 11, 1) },
	} {
		if _, err := f(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v; want an error with %q", err, name)
		}
	}
	p := must.Get(DisjointParts(3, 2))(t)
	p.Of(0)[0] = 1
	if !slices.Equal(p.Of(0), []int{0, 2}) {
		t.Errorf("parts changed from outside: %v", p.Of(0))
	}
}

// What affected promises: on the same noise, a replaced record changes the models of
// exactly the teachers that it was given to, at most affected of them, and no other's. This
// is what makes the assignment one that does not look at records.
func TestOneRecordReachesItsTeachersOnly(t *testing.T) {
	const n, k = 24, 4
	private := clients(t, n, 3, 1)
	for name, parts := range map[string]Parts{
		"disjoint":    must.Get(DisjointParts(n, k))(t),
		"overlapping": must.Get(OverlappingParts(n, k, 10, 7))(t),
		"all":         must.Get(OverlappingParts(n, k, n, 7))(t),
	} {
		c := Config{Teacher: teacherConfig(4), Parts: parts}
		simulate := func(r *data.Records) [][]float64 {
			s, err := mustPlan(t, c, r, nil).Simulate(t.Context(), 5)
			if err != nil {
				t.Fatal(err)
			}
			return s.Models()
		}
		before, most := simulate(private), 0
		for i := range n {
			after, changed := simulate(replaced(t, private, i)), 0
			for j := range k {
				has, differs := slices.Contains(parts.Of(j), i), !slices.Equal(before[j], after[j])
				if has != differs {
					t.Errorf("%s: record %d, teacher %d: has it %t, model changes %t", name, i, j, has, differs)
				}
				if differs {
					changed++
				}
			}
			most = max(most, changed)
		}
		if most != parts.Affected() {
			t.Errorf("%s: one record changes %d models, affected = %d", name, most, parts.Affected())
		}
	}
}

// The total of all teachers against the exact privacy of their models: one record each, the
// same one, one step of mean estimation, so each model is a normal variate moved by at most
// 2G at noise σ, and the K of them together are one with K times the squared distance. The
// planted mistake, affected = 1, promises what is not so.
func TestTotalCoversTheModels(t *testing.T) {
	raced.Sequential(t)
	one, err := data.NewRecords(1, 1, []float64{3}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, eps := range []float64{0.1, 1, 5} {
		for _, k := range []int{1, 3, 11} {
			parts := must.Get(OverlappingParts(1, k, 1, 0))(t)
			c := shuffled.Config{
				Task: loss.MeanEstimation{}, Method: shuffled.DPShuffleG, Epochs: 1,
				Order: iteration.FixedOrder, StepSize: 1, Clip: 2,
				Target: accountant.Cost{Epsilon: eps, Delta: 1e-6},
			}
			p := mustPlan(t, Config{Teacher: c, Parts: parts,
				Vote: func(m, _ []float64) bool { return m[0] > 0 }}, one, nil)
			// per unit of sensitivity, all together
			sigma := p.Report(0).Noise / (2 * c.Clip) / math.Sqrt(float64(k))
			exact := func(cost accountant.Cost) float64 {
				return must.Get(accountant.GaussianDelta(sigma, cost.Epsilon))(t)
			}
			for _, slack := range []float64{0, 1e-6} {
				total, err := p.Total(slack)
				if err != nil {
					t.Fatal(err)
				}
				if total.Epsilon < p.Teacher().Epsilon || total.Epsilon > float64(k)*p.Teacher().Epsilon*
					(1+1e-12) {
					t.Errorf("K = %d: total %v of teachers %v", k, total, p.Teacher())
				}
				if d := exact(total); d > total.Delta {
					t.Errorf("K = %d, ε = %g, slack %g: total %v, but exactly δ = %g", k, eps, slack, total, d)
				}
			}
			if k == 1 {
				continue
			}
			mutant := p.Answers(2, p.Teacher())
			mutant.Affected = 1
			total, err := mutant.Total()
			if err != nil {
				t.Fatal(err)
			}
			if d := exact(total.Cost); d <= total.Cost.Delta {
				t.Errorf("K = %d, ε = %g: affected = 1 gives %v, which the exact δ = %g does not refute: the "+
					"oracle is blunt", k, eps, total.Cost, d)
			}
		}
	}
}

// twoAnswers returns the law of the number of ones among two answers of the mechanism to
// queries on which K teachers, trained once, vote alike, each 1 with probability p.
func twoAnswers(t testing.TB, m *ensemble.Mechanism, p float64) [3]float64 {
	t.Helper()
	var law [3]float64
	k := m.Setting().K
	for l, w := range poissonbinom.Binomial(k, p) {
		answers, err := m.Probabilities([]int{k - l, l})
		if err != nil {
			t.Fatal(err)
		}
		q := answers[1]
		law[0] += w * (1 - q) * (1 - q)
		law[1] += w * 2 * q * (1 - q)
		law[2] += w * q * q
	}
	return law
}

// Two answers of teachers that were trained once, exactly: the release's total covers them.
func TestFrozenTeachersAreChargedAsFrozen(t *testing.T) {
	const k = 5
	parts := must.Get(OverlappingParts(20, k, 20, 0))(t)
	p := mustPlan(t, Config{Teacher: teacherConfig(0.5), Parts: parts}, clients(t, 20, 2, 1), nil)
	problem, err := p.Problem(1)
	if err != nil {
		t.Fatal(err)
	}
	all, err := gamma.Constant(k, 1)
	if err != nil {
		t.Fatal(err)
	}
	certified, err := gamma.CertifyShrunk(t.Context(), problem, all)
	if err != nil {
		t.Fatal(err)
	}
	m, err := ensemble.DaRRM(certified, accountant.ReplaceOne)
	if err != nil {
		t.Fatal(err)
	}
	// worst is the largest exact δ at that ε over teachers who keep their own promise.
	worst := func(eps float64) float64 {
		each, top := p.Teacher(), 0.0
		for i := range 1000 {
			q := (float64(i) + 0.5) / 1000
			// The farthest a vote may move up.
			moved := min(math.Exp(each.Epsilon)*q, 1-math.Exp(-each.Epsilon)*(1-q))
			a, b := twoAnswers(t, m, q), twoAnswers(t, m, moved)
			up, down := 0.0, 0.0
			for y := range a {
				up += max(0, b[y]-math.Exp(eps)*a[y])
				down += max(0, a[y]-math.Exp(eps)*b[y])
			}
			top = max(top, up, down)
		}
		return top
	}
	total, err := p.Answers(2, m.PerAnswer()).Total()
	if err != nil {
		t.Fatal(err)
	}
	if d := worst(total.Cost.Epsilon); d > total.Cost.Delta {
		t.Errorf("total %v, but exactly δ = %g", total.Cost, d)
	}
	// However many queries: the teachers are all there is to reveal.
	many := p.Answers(1000, m.PerAnswer())
	if c, err := many.Total(); err != nil || c.Cost != total.Cost {
		t.Errorf("1000 answers cost %v (%v), two %v", c.Cost, err, total.Cost)
	}
	if c, err := p.Total(0); err != nil || c != total.Cost {
		t.Errorf("everything costs %v (%v), two answers %v", c, err, total.Cost)
	}
}

// A teacher learns a bit y of a record by randomised response, which keeps its promise, and
// draws a coin r. It votes r on one query and y ⊕ r on another. Either vote alone is a fair
// coin, so an answer costs next to nothing; together they are y. The planted mistake,
// answers that are charged as if teachers were fresh, promises what is not so.
func TestFreshTotalsAreRefuted(t *testing.T) {
	p := mustPlan(t, Config{Teacher: teacherConfig(1), Parts: must.Get(DisjointParts(9, 1))(t)},
		clients(t, 9, 2, 1), nil)
	truth := 1 / (1 + math.Exp(-p.Teacher().Epsilon)) // Pr[y is the record's bit]
	exact := func(eps float64) float64 {
		d := 0.0
		for a1 := range 2 {
			for a2 := range 2 {
				here, there := (1-truth)/2, truth/2 // for a record with bit 0, with bit 1
				if a1 == a2 {
					here, there = there, here
				}
				d += max(0, there-math.Exp(eps)*here)
			}
		}
		return d
	}
	r := p.Answers(2, accountant.Cost{Epsilon: 1e-9})
	total, err := r.Total()
	if err != nil {
		t.Fatal(err)
	}
	if d := exact(total.Cost.Epsilon); d > total.Cost.Delta {
		t.Errorf("total %v, but exactly δ = %g", total.Cost, d)
	}
	r.Randomness = ensemble.FreshTeachers
	mutant, err := r.Total()
	if err != nil {
		t.Fatal(err)
	}
	if d := exact(mutant.Cost.Epsilon); d <= mutant.Cost.Delta {
		t.Errorf("charged as fresh %v, which the exact δ = %g does not refute: the oracle is blunt",
			mutant.Cost, d)
	}
}

// Disjoint parts: everything that can be made of the teachers costs what one of them does,
// and the majority needs no noise.
func TestDisjointTeachersCostOne(t *testing.T) {
	p := mustPlan(t, Config{Teacher: teacherConfig(2), Parts: must.Get(DisjointParts(55, 5))(t)},
		clients(t, 55, 3, 1), nil)
	want := accountant.Cost{Epsilon: 2, Delta: 1e-6}
	if p.Teacher() != want {
		t.Errorf("a teacher costs %v, want the target %v", p.Teacher(), want)
	}
	if got, err := p.Total(0); err != nil || got != want {
		t.Errorf("all cost %v (%v), want %v", got, err, want)
	}
	problem, err := p.Problem(1)
	if err != nil {
		t.Fatal(err)
	}
	if problem.Affected != 1 || !problem.PostProcessing() {
		t.Errorf("%+v: the plain majority is post-processing", problem)
	}
	if s := p.Setting(); s.Validate() != nil || s.Affected != 1 ||
		s.Neighbours != accountant.ReplaceOne {
		t.Errorf("setting %+v", s)
	}
	// Uneven parts: the promise is the weakest teacher's.
	c := Config{Teacher: teacherConfig(2),
		Parts: must.Get(newParts(55, [][]int{{0, 1}, {2, 3, 4, 5, 6, 7, 8, 9}}))(t)}
	c.Teacher.Method, c.Teacher.Fraction, c.Teacher.Noise, c.Teacher.Radius = shuffled.Interleaved,
		0.5, 3, 2
	c.Teacher.Target.Epsilon = 1e6 // of no meaning where the noise is given
	q := mustPlan(t, c, clients(t, 55, 3, 1), clients(t, 55, 3, 2))
	if a, b := q.Report(0).Cost.Epsilon, q.Report(1).Cost.Epsilon; a == b ||
		q.Teacher().Epsilon != max(a, b) {
		t.Errorf("teachers cost ε = %g and %g, the plan says %v", a, b, q.Teacher())
	}
}

// A plan promises at least what each teacher's own report says, whatever is asked for.
func TestTeacherCostIsThePlans(t *testing.T) {
	raced.Sequential(t)
	records, public := clients(t, 60, 2, 9), clients(t, 60, 2, 10)
	rapid.Check(t, func(t *rapid.T) {
		c := teacherConfig(rapid.Float64Range(0.1, 10).Draw(t, "ε"))
		c.Method = rapid.SampledFrom([]shuffled.Scheme{shuffled.DPShuffleG, shuffled.PrivPub,
			shuffled.PubPriv, shuffled.Interleaved}).Draw(t, "method")
		c.Fraction, c.Radius, c.Mode = 0.5, 3, iteration.Paper // quick to calibrate
		k := rapid.IntRange(1, 7).Draw(t, "K")
		parts, err := DisjointParts(60, k)
		if err != nil {
			t.Fatal(err)
		}
		p, err := NewPlan(t.Context(), Config{Teacher: c, Parts: parts}, records, public)
		if err != nil {
			t.Fatal(err)
		}
		for j := range k {
			if r := p.Report(j); r.Cost.Epsilon > p.Teacher().Epsilon || r.Cost.Delta > p.Teacher().Delta {
				t.Fatalf("teacher %d costs %v, more than %v", j, r.Cost, p.Teacher())
			}
		}
		if p.Teacher() != c.Target {
			t.Fatalf("%v, asked for %v", p.Teacher(), c.Target)
		}
	})
}

// Teachers are accounted by the best mode unless another is stated, each as its own plan
// says, with less noise than the source's mode needs.
func TestTeachersAreAccountedByTheBestMode(t *testing.T) {
	records := clients(t, 60, 2, 9)
	c := teacherConfig(2)
	c.Radius = 3
	noise := map[iteration.Mode]float64{}
	for _, mode := range []iteration.Mode{"", iteration.Paper} {
		c.Mode = mode
		p := mustPlan(t, Config{Teacher: c, Parts: must.Get(DisjointParts(60, 3))(t)}, records, nil)
		for j := range p.K() {
			if r := p.Report(j); r.Cost.Epsilon > 2 || (mode == "") != (r.Mode == iteration.RRMixture) {
				t.Errorf("%q: %+v", mode, r)
			}
		}
		noise[mode] = p.Report(0).Noise
	}
	if !(noise[""] < 0.6*noise[iteration.Paper]) { // 5.12 against 9.42; the next best mode needs 8.25
		t.Errorf("noise %v", noise)
	}
}

// From training to a private label, charged once, before.
func TestTrain(t *testing.T) {
	private, queries := clients(t, 90, 3, 1), clients(t, 40, 3, 2)
	c := Config{Teacher: teacherConfig(50), Parts: must.Get(DisjointParts(90, 3))(t)}
	c.Teacher.Epochs, c.Teacher.StepSize = 20, 0.02
	var ids []string
	teachers, err := Train(t.Context(), c, private, nil, func(id string, total accountant.Cost) error {
		ids = append(ids, id)
		if total != (accountant.Cost{Epsilon: 50, Delta: 1e-6}) {
			t.Errorf("charged %v", total)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(ids) != 1 || len(ids[0]) != 32 {
		t.Errorf("charged as %q", ids)
	}
	rows, err := teachers.Votes(queries)
	if err != nil {
		t.Fatal(err)
	}
	right := 0
	for i := range queries.Len() {
		counts, err := teachers.Counts(queries.Row(i))
		if err != nil {
			t.Fatal(err)
		}
		ones := 0
		for _, m := range teachers.Models() {
			if halfSpace(m, queries.Row(i)) {
				ones++
			}
		}
		if !slices.Equal(rows[i], counts) || counts[1] != ones || counts[0] != 3-ones {
			t.Errorf("query %d: votes %v, counts %v, models say %d", i, rows[i], counts, ones)
		}
		if (2*ones > 3) == (queries.Response(i) == 1) {
			right++
		}
	}
	// Noise is small beside the signal: about 35 of 40. Chance is 20; below 26 is less
	// likely than 1e-6 for teachers that are right on 85 %.
	if right < 26 {
		t.Errorf("the majority is right on %d of 40", right)
	}
	problem, err := teachers.Plan().Problem(1)
	if err != nil {
		t.Fatal(err)
	}
	all, err := gamma.Constant(3, 1)
	if err != nil {
		t.Fatal(err)
	}
	certified, err := gamma.Certify(t.Context(), problem, all)
	if err != nil {
		t.Fatal(err)
	}
	m, err := ensemble.DaRRM(certified, accountant.ReplaceOne)
	if err != nil {
		t.Fatal(err)
	}
	for i, counts := range rows {
		if class, err := m.Answer(randsrc.SystemCoins(), "", counts); err != nil || class != 0 &&
			class != 1 {
			t.Errorf("query %d: %d, %v", i, class, err)
		}
	}

	full := errors.New("the budget is spent")
	if _, err := Train(t.Context(), c, private, nil,
		func(string, accountant.Cost) error { return full }); !errors.Is(err, full) {
		t.Errorf("a refused charge: %v", err)
	}
	c.Teacher.Method = shuffled.ShuffleG
	if _, err := Train(t.Context(), c, private, nil, func(string, accountant.Cost) error {
		t.Error("charged")
		return nil
	}); err == nil {
		t.Error("teachers without privacy are released")
	}
}

// A training is one, however often it is run or interrupted; two are two.
func TestTrainingIsOne(t *testing.T) {
	p := mustPlan(t, Config{Teacher: teacherConfig(2), Parts: must.Get(DisjointParts(30, 3))(t)},
		clients(t, 30, 3, 1), nil)
	begin := func() *Training {
		return must.Get(p.NewTraining())(t)
	}
	a, b := begin(), begin()
	if a.ID() == b.ID() {
		t.Errorf("two trainings are both called %s", a.ID())
	}
	name := a.ID()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.Run(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	models := func(n *Training) [][]float64 {
		x, err := n.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return x.Models()
	}
	first := models(a)
	if !reflect.DeepEqual(first, models(a)) || a.ID() != name {
		t.Error("a second run of one training gives other teachers, or another name")
	}
	if reflect.DeepEqual(first, models(b)) {
		t.Error("two trainings give the same teachers")
	}
	for i := range first { // randomness of their own, or votes would not be independent
		for j := range i {
			if slices.Equal(first[i], first[j]) {
				t.Errorf("teachers %d and %d are the same", i, j)
			}
		}
	}
}

// Teachers with the same records must not share noise either.
func TestTeachersAreIndependent(t *testing.T) {
	p := mustPlan(t, Config{Teacher: teacherConfig(2),
		Parts: must.Get(OverlappingParts(10, 4, 10, 0))(t)}, clients(t, 10, 3, 1), nil)
	n, err := p.NewTraining()
	if err != nil {
		t.Fatal(err)
	}
	released, err := n.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	simulated, err := p.Simulate(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	for what, models := range map[string][][]float64{"released": released.Models(),
		"simulated": simulated.Models()} {
		for i := range models {
			for j := range i {
				if slices.Equal(models[i], models[j]) {
					t.Errorf("%s teachers %d and %d share their noise", what, i, j)
				}
			}
		}
	}
}

func TestSimulated(t *testing.T) {
	private, queries := clients(t, 60, 3, 1), clients(t, 25, 3, 2)
	c := Config{Teacher: teacherConfig(5), Parts: must.Get(DisjointParts(60, 5))(t)}
	var first []int
	for _, workers := range []int{0, 1, 2, 9} {
		c.Workers = workers
		s, err := mustPlan(t, c, private, nil).Simulate(t.Context(), 3)
		if err != nil {
			t.Fatal(err)
		}
		ones, err := s.Ones(queries)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = ones
		}
		if !slices.Equal(ones, first) {
			t.Errorf("%d workers: votes %v, want %v", workers, ones, first)
		}
		b, err := s.Ballots(queries)
		if err != nil {
			t.Fatal(err)
		}
		right := 0.0
		for i, n := range ones {
			if (2*n > 5) == (queries.Response(i) == 1) {
				right++
			}
		}
		if score := b.Plain(); b.Len() != 25 || score.Labels != 25 ||
			math.Abs(score.Accuracy-right/25) > 1e-12 {
			t.Errorf("ballots of %d, score %+v, %v right", b.Len(), score, right)
		}
	}
}

func TestNewPlanRefuses(t *testing.T) {
	private := clients(t, 20, 3, 1)
	good := Config{Teacher: teacherConfig(1), Parts: must.Get(DisjointParts(20, 4))(t)}
	for want, change := range map[string]func(*Config) *data.Records{
		"no parts":                  func(c *Config) *data.Records { c.Parts = Parts{}; return private },
		"no private records":        func(*Config) *data.Records { return nil },
		"number of private records": func(c *Config) *data.Records { return clients(t, 21, 3, 1) },
		"workers":                   func(c *Config) *data.Records { c.Workers = -1; return private },
		"vote": func(c *Config) *data.Records {
			c.Teacher.Task = loss.LeastSquares{}
			return private
		},
		"teacher 1: step size": func(c *Config) *data.Records {
			c.Teacher.StepSize = -1
			return private
		},
		"teacher 1: target epsilon": func(c *Config) *data.Records {
			c.Teacher.Target.Epsilon = 0
			return private
		},
	} {
		c := good
		records := change(&c)
		if _, err := NewPlan(t.Context(), c, records, nil); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v; want an error with %q", err, want)
		}
	}
	p := mustPlan(t, good, private, nil)
	s, err := p.Simulate(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Ones(clients(t, 2, 4, 1)); err == nil ||
		!strings.Contains(err.Error(), "dimension") {
		t.Errorf("queries of another dimension: %v", err)
	}
	if _, err := s.Ones(nil); err == nil {
		t.Error("no queries")
	}
	// Without privacy there is no total, no training, and no m.
	good.Teacher.Method = shuffled.ShuffleG
	p = mustPlan(t, good, private, nil)
	if !math.IsInf(p.Teacher().Epsilon, 1) || p.Teacher().Delta != 0 {
		t.Errorf("teachers without noise cost %v", p.Teacher())
	}
	if _, err := p.Total(0); err == nil {
		t.Error("teachers without noise have a total")
	}
	var parameter *constraints.ParameterError
	if _, err := p.Problem(1); !errors.As(err, &parameter) {
		t.Errorf("teachers without noise have an m: %v", err)
	}
	if _, err := p.NewTraining(); err == nil {
		t.Error("teachers without noise are trained for release")
	}
	// Their noisy answers still add up, by the answers' own noise.
	if total, err := p.Answers(10, accountant.Cost{Epsilon: 0.1, Delta: 0}).Total(); err != nil ||
		math.Abs(total.Cost.Epsilon-1) > 1e-9 {
		t.Errorf("ten noisy answers: %v, %v", total, err)
	}
	// A step so large that every teacher diverges.
	good.Teacher.Regularizer, good.Teacher.Task, good.Teacher.StepSize, good.Teacher.Clip = nil,
		loss.MeanEstimation{}, 1e40, math.Inf(1)
	good.Vote = func(m, _ []float64) bool { return m[0] > 0 }
	if _, err := mustPlan(t, good, private, nil).Simulate(t.Context(), 1); !errors.Is(err,
		train.ErrDiverged) || !strings.Contains(err.Error(), "teacher 1") {
		t.Errorf("diverging teachers: %v", err)
	}
}

// The zero Plan costs nothing, since it has no teachers: nothing is trained by it.
func TestZeroPlanIsNotTrained(t *testing.T) {
	if training, err := (&Plan{}).NewTraining(); err == nil {
		t.Errorf("%v", training)
	}
}
