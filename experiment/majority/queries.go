package majority

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/randsrc"
)

// answered holds the accuracy of one mechanism over all draws of the queries.
type answered struct {
	Method experiment.Method `json:"method"`
	Drawn  [][]float64       `json:"drawn"` // accuracy by Queries and draw, with labels drawn
	// the same averaged over the mechanism's randomness, exactly
	Expected [][]float64 `json:"expected"`
	All      float64     `json:"all"` // expected accuracy over all test images
}

// evaluation holds the results for one allowance m.
type evaluation struct {
	Query    accountant.Cost `json:"query"`    // of one answer, for every private method
	Sigma    float64         `json:"sigma"`    // GNMax's, by the source's bound
	Exact    float64         `json:"exact"`    // by the exact formula
	Gamma    []float64       `json:"gamma"`    // γ_opt
	VoteOpt  []float64       `json:"vote_opt"` // the best mechanism over the plain teachers' votes
	Disjoint []float64       `json:"disjoint"` // γ_opt at t = 1
	Answered []answered      `json:"answered"`
}

func (e evaluation) of(m experiment.Method) answered {
	return e.Answered[slices.IndexFunc(e.Answered, func(a answered) bool { return a.Method == m })]
}

// evaluate lets all mechanisms answer at the same cost per query.
func (p *imageParameters) evaluate(r *experiment.Run, teacher accountant.Cost, m int, private,
	plain ensembleVotes) (evaluation, error) {
	var e evaluation
	problem, err := constraints.NewProblem(p.Teachers, float64(m), teacher.Epsilon, teacher.Delta)
	if err != nil {
		return e, err
	}
	e.Query.Epsilon, e.Query.Delta = problem.Total()
	disjoint := problem
	disjoint.Affected = 1
	votesAlone := constraints.Problem{K: p.Teachers, TotalEpsilon: e.Query.Epsilon,
		Epsilon: math.Inf(1), Delta: e.Query.Delta, Affected: 1}

	gnmax := func(how ensemble.Calibration, sigma *float64) func() (*ensemble.Mechanism, error) {
		return func() (mechanism *ensemble.Mechanism, err error) {
			mechanism, *sigma, err = p.gnmax(e.Query, how)
			return mechanism, err
		}
	}
	optimum := func(q constraints.Problem, values *[]float64) func() (*ensemble.Mechanism, error) {
		return func() (*ensemble.Mechanism, error) {
			t, err := p.solve(r, q, solve.Options{PriorMean: solve.DefaultPriorMean, Version: r.Version})
			if err != nil {
				return nil, err
			}
			*values = t.Certified.Func().Values()
			return ensemble.DaRRM(t.Certified, accountant.AddOrRemoveOne)
		}
	}
	subsampling := func() (*ensemble.Mechanism, error) {
		f, err := gamma.Subsampling(p.Teachers, m)
		if err != nil {
			return nil, err
		}
		c, err := gamma.CertifyShrunk(r, problem, f)
		if err != nil {
			return nil, err
		}
		return ensemble.DaRRM(c, accountant.AddOrRemoveOne)
	}
	for i, a := range []struct {
		method experiment.Method
		votes  ensembleVotes
		make   func() (*ensemble.Mechanism, error)
	}{
		{methodGNMax, plain, gnmax(ensemble.Renyi, &e.Sigma)},
		{methodGNExact, plain, gnmax(ensemble.Exact, &e.Exact)},
		{methodVoteOpt, plain, optimum(votesAlone, &e.VoteOpt)},
		{methodSub, private, subsampling},
		{methodOpt, private, optimum(problem, &e.Gamma)},
		{methodDisjoint, private, optimum(disjoint, &e.Disjoint)},
		{methodMajority, plain, func() (*ensemble.Mechanism, error) { return nil, nil }},
	} {
		mechanism, err := a.make()
		if err != nil {
			return e, fmt.Errorf("%s: %w", a.method, err)
		}
		// The number of the mechanism's randomness: other for every m and method.
		answers, err := p.answerQueries(r, mechanism, a.votes, streamAnswers+uint64(m)<<12+uint64(i)<<32)
		if err != nil {
			return e, err
		}
		answers.Method = a.method
		e.Answered = append(e.Answered, answers)
	}
	return e, nil
}

// voteSetting returns the source's assumption for GNMax: one record reaches one teacher.
func (p *imageParameters) voteSetting() ensemble.Setting {
	return ensemble.Setting{K: p.Teachers, Classes: 2, Affected: 1,
		Neighbours: accountant.AddOrRemoveOne}
}

// gnmax is GNMax with noise for the target, and the noise's parameter.
func (p *imageParameters) gnmax(target accountant.Cost,
	how ensemble.Calibration) (*ensemble.Mechanism, float64, error) {
	sigma, err := ensemble.SigmaForGNMax(p.voteSetting(), target, how)
	if err != nil {
		return nil, 0, err
	}
	mechanism, err := ensemble.GNMax(p.voteSetting(), target, sigma)
	return mechanism, sigma, err
}

// law returns Pr[answer 1] by the number of votes for 1, of the plain majority without a
// mechanism.
func (p *imageParameters) law(mechanism *ensemble.Mechanism) ([]float64, error) {
	law := make([]float64, p.Teachers+1)
	for ones := range law {
		if mechanism == nil {
			if 2*ones > p.Teachers {
				law[ones] = 1
			}
			continue
		}
		probabilities, err := mechanism.Probabilities([]int{p.Teachers - ones, ones})
		if err != nil {
			return nil, err
		}
		law[ones] = probabilities[1]
	}
	return law, nil
}

// answerQueries draws the queries, the same for every mechanism, and lets it answer them; nil is
// the plain majority.
func (p *imageParameters) answerQueries(r *experiment.Run, mechanism *ensemble.Mechanism,
	v ensembleVotes, stream uint64) (out answered, err error) {
	law, err := p.law(mechanism)
	if err != nil {
		return out, err
	}
	ones := v.ones()
	right := make([]float64, len(ones)) // Pr[the answer is right]
	for i, l := range ones {
		if right[i] = law[l]; v.Truth[i] == '0' {
			right[i] = 1 - right[i]
		}
		out.All += right[i] / float64(len(ones))
	}
	for qi, q := range p.Queries {
		if q > len(ones) {
			return out, fmt.Errorf("queries = %d, but there are only %d test images", q, len(ones))
		}
		drawn, expected := make([]float64, p.Draws), make([]float64, p.Draws)
		for d := range p.Draws {
			number := uint64(qi)<<10 + uint64(d)
			chosen := rand.New(words{randsrc.NewSeededStream(r.Seed, streamQueries+number)}).Perm(
				len(ones))[:q]
			seed, err := randsrc.NewSeededStream(r.Seed, stream+number<<40).Uint53()
			if err != nil {
				return out, err
			}
			one := func(ones int) (bool, error) { return 2*ones > p.Teachers, nil }
			if mechanism != nil {
				// The stream of coins that the published figures were drawn with.
				coins := randsrc.SeededSequence(seed)
				one = func(ones int) (bool, error) {
					class, err := mechanism.Answer(coins, "", []int{p.Teachers - ones, ones})
					return class == 1, err
				}
			}
			for _, i := range chosen {
				answer, err := one(ones[i])
				if err != nil {
					return out, err
				}
				if answer == (v.Truth[i] == '1') {
					drawn[d] += 1 / float64(q)
				}
				expected[d] += right[i] / float64(q)
			}
		}
		out.Drawn, out.Expected = append(out.Drawn, drawn), append(out.Expected, expected)
	}
	return out, nil
}

func (p *imageParameters) Run(r *experiment.Run) error {
	teacher, err := experiment.Step(r, "teacher-cost", []any{p.Private, p.TeacherDelta},
		func() (accountant.Cost, error) {
			return p.Private.cost(p.TeacherDelta)
		})
	if err != nil {
		return err
	}
	var votes [2]ensembleVotes
	for i, t := range []struct {
		step   string
		train  training
		stream uint64
	}{{"private-teachers", p.Private, streamPrivate}, {"plain-teachers", p.Plain, streamPlain}} {
		key := []any{t.train, p.Data, p.Classes, p.TrainPerClass, p.Teachers, p.Pool, r.Seed, r.Inputs}
		if votes[i], err = experiment.Step(r, t.step, key, func() (ensembleVotes, error) {
			return p.trainTeachers(r, t.train, t.stream)
		}); err != nil {
			return err
		}
	}
	private, plain := votes[0], votes[1]
	if private.Truth != plain.Truth {
		return fmt.Errorf("the two ensembles were asked about different images")
	}
	found := make([]evaluation, len(p.Allowances))
	totals := make([][][]total, len(p.Allowances))
	for i, m := range p.Allowances {
		key := []any{m, teacher, p.Teachers, p.Queries, p.Draws, r.Seed, private, plain}
		found[i], err = experiment.Step(r, fmt.Sprintf("m-%d", m), key, func() (evaluation, error) {
			return p.evaluate(r, teacher, m, private, plain)
		})
		if err != nil {
			return err
		}
		query, sigma := found[i].Query, found[i].Sigma
		totals[i], err = experiment.Step(r, fmt.Sprintf("totals-%d", m),
			[]any{query, sigma, teacher, p.Teachers, p.Slack, p.totalQueries()}, func() ([][]total, error) {
				return p.totals(query, sigma, teacher)
			})
		if err != nil {
			return err
		}
	}
	r.File("votes-private.csv", private.csv())
	r.File("votes-plain.csv", plain.csv())
	return p.report(r, teacher, private, plain, found, totals)
}

// csv returns the votes in the form that package votes reads.
func (v ensembleVotes) csv() []byte {
	b := []byte("query")
	for t := range v.Votes {
		b = fmt.Appendf(b, ",t%d", t+1)
	}
	b = append(b, ",label\n"...)
	for i := range len(v.Truth) {
		b = fmt.Append(b, i)
		for _, teacher := range v.Votes {
			b = append(b, ',', teacher[i])
		}
		b = append(b, ',', v.Truth[i], '\n')
	}
	return b
}

// Streams of an experiment's seed. Each use has its own, so that one more draw in one
// place does not change the others.
const (
	streamPartition = 2 << 20
	streamPrivate   = 3 << 20 // + teacher
	streamPlain     = 4 << 20 // + teacher
	streamQueries   = 5 << 20 // + draw
	streamAnswers   = 6 << 20 // + a number of its own for every method, m and draw
)

// words makes a seeded source one for math/rand/v2, which has normal variates and
// permutations.
type words struct{ *randsrc.Seeded }

// Uint64 returns 64 random bits. A Seeded hands out 53 at a time and does not fail.
func (w words) Uint64() uint64 {
	high, _ := w.Uint53()
	low, _ := w.Uint53()
	return high<<11 ^ low
}
