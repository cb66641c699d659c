package experiment

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/randsrc"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// answerer is a mechanism at work, in simulation.
type answerer struct {
	method  Method
	private bool                                                    // asks the private teachers
	one     func(ones int) float64                                  // Pr[answer 1] at so many votes for 1
	draw    func(seed uint64) (func(ones int) (bool, error), error) // answers, from a seed
}

// answered is what one mechanism did over all draws of the queries.
type answered struct {
	Method   Method      `json:"method"`
	Drawn    [][]float64 `json:"drawn"`    // accuracy by Queries and draw, with labels drawn
	Expected [][]float64 `json:"expected"` // the same averaged over the mechanism's randomness, exactly
	All      float64     `json:"all"`      // expected accuracy over all test images
}

// evaluation is what was found for one allowance m.
type evaluation struct {
	Query    accountant.Cost `json:"query"`    // of one answer, for every private method
	Sigma    float64         `json:"sigma"`    // GNMax's, by the source's bound
	Exact    float64         `json:"exact"`    // by the exact formula
	Gamma    []float64       `json:"gamma"`    // γ_opt
	VoteOpt  []float64       `json:"vote_opt"` // the best mechanism over the plain teachers' votes
	Disjoint []float64       `json:"disjoint"` // γ_opt at t = 1
	Answered []answered      `json:"answered"`
}

func (e evaluation) of(m Method) answered {
	return e.Answered[slices.IndexFunc(e.Answered, func(a answered) bool { return a.Method == m })]
}

// evaluate lets all mechanisms answer at the same cost per query.
func (p *ImageParameters) evaluate(r *run, teacher accountant.Cost, m int, private, plain ensembleVotes) (evaluation, error) {
	var e evaluation
	problem, err := constraints.NewProblem(p.Teachers, float64(m), teacher.Epsilon, teacher.Delta)
	if err != nil {
		return e, err
	}
	e.Query.Epsilon, e.Query.Delta = problem.Total()
	noisy, err := p.gnmax(MethodGNMax, e.Query, ensemble.Renyi, &e.Sigma)
	if err != nil {
		return e, err
	}
	exact, err := p.gnmax(MethodGNExact, e.Query, ensemble.Exact, &e.Exact)
	if err != nil {
		return e, err
	}

	options := solve.Options{PriorMean: solve.DefaultPriorMean, Version: r.Version}
	optimum := func(q constraints.Problem) (*gamma.Certified, error) {
		t, err := r.Solve(r, q, options)
		if err != nil {
			return nil, err
		}
		return t.Certified, nil
	}
	opt, err := optimum(problem)
	if err != nil {
		return e, err
	}
	disjointProblem := problem
	disjointProblem.Affected = 1
	disjoint, err := optimum(disjointProblem)
	if err != nil {
		return e, err
	}
	votes, err := optimum(constraints.Problem{K: p.Teachers, TotalEpsilon: e.Query.Epsilon, Epsilon: math.Inf(1), Delta: e.Query.Delta, Affected: 1})
	if err != nil {
		return e, err
	}
	subsampling, err := gamma.Subsampling(p.Teachers, m)
	if err != nil {
		return e, err
	}
	sub, err := gamma.CertifyShrunk(r, problem, subsampling)
	if err != nil {
		return e, err
	}
	e.Gamma, e.Disjoint, e.VoteOpt = opt.Func().Values(), disjoint.Func().Values(), votes.Func().Values()
	answerers := []answerer{
		noisy,
		exact,
		darrm(MethodVoteOpt, votes, false),
		darrm(MethodSub, sub, true),
		darrm(MethodOpt, opt, true),
		darrm(MethodDisjoint, disjoint, true),
		majority(MethodMajority, p.Teachers, false),
	}
	for i, a := range answerers {
		v := plain
		if a.private {
			v = private
		}
		// The number of the mechanism's randomness: other for every m and method.
		answers, err := p.ask(r, a, v, streamAnswers+uint64(m)<<12+uint64(i)<<32)
		if err != nil {
			return e, err
		}
		e.Answered = append(e.Answered, answers)
	}
	return e, nil
}

// darrm is the mechanism of a certified noise function.
func darrm(method Method, c *gamma.Certified, private bool) answerer {
	phi := c.Func().Phi()
	return answerer{method, private,
		func(ones int) float64 { return (1 + phi[ones]) / 2 },
		func(seed uint64) (func(int) (bool, error), error) {
			mechanism, err := ensemble.DaRRM(c, accountant.AddOrRemoveOne)
			return simulate(mechanism, seed), err
		}}
}

// simulate returns the mechanism of two classes as a function of the votes for 1, with the
// stream of coins that the published figures were drawn with.
func simulate(m *ensemble.Mechanism, seed uint64) func(ones int) (bool, error) {
	coins := ensemble.SeededSequence(seed)
	return func(ones int) (bool, error) {
		class, err := m.Answer(coins, "", []int{m.Setting().K - ones, ones})
		return class == 1, err
	}
}

// majority is no mechanism: the plain majority.
func majority(method Method, teachers int, private bool) answerer {
	return answerer{method, private,
		func(ones int) float64 {
			if 2*ones > teachers {
				return 1
			}
			return 0
		},
		func(uint64) (func(int) (bool, error), error) {
			return func(ones int) (bool, error) { return 2*ones > teachers, nil }, nil
		}}
}

// voteSetting is what the source assumes for GNMax: one record reaches one teacher.
func (p *ImageParameters) voteSetting() ensemble.Setting {
	return ensemble.Setting{K: p.Teachers, Classes: 2, Affected: 1, Neighbours: accountant.AddOrRemoveOne}
}

// gnmax is GNMax with noise for the target; sigma gets the noise's parameter.
func (p *ImageParameters) gnmax(method Method, target accountant.Cost, how ensemble.Calibration, sigma *float64) (answerer, error) {
	setting := p.voteSetting()
	var err error
	if *sigma, err = ensemble.SigmaForGNMax(setting, target, how); err != nil {
		return answerer{}, err
	}
	mechanism, err := ensemble.GNMax(setting, target, *sigma)
	if err != nil {
		return answerer{}, err
	}
	// Once for every count: the law is a convolution.
	law := make([]float64, p.Teachers+1)
	for ones := range law {
		probabilities, err := mechanism.Probabilities([]int{p.Teachers - ones, ones})
		if err != nil {
			return answerer{}, err
		}
		law[ones] = probabilities[1]
	}
	return answerer{method, false,
		func(ones int) float64 { return law[ones] },
		func(seed uint64) (func(int) (bool, error), error) { return simulate(mechanism, seed), nil }}, nil
}

// ask draws the queries, the same for every mechanism, and lets it answer them.
func (p *ImageParameters) ask(r *run, a answerer, v ensembleVotes, stream uint64) (answered, error) {
	ones := v.ones()
	right := make([]float64, len(ones)) // Pr[the answer is right]
	out := answered{Method: a.method}
	for i, l := range ones {
		if right[i] = a.one(l); v.Truth[i] == '0' {
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
			chosen := rand.New(words{randsrc.NewSeededStream(r.Seed, streamQueries+number)}).Perm(len(ones))[:q]
			seed, err := randsrc.NewSeededStream(r.Seed, stream+number<<40).Uint53()
			if err != nil {
				return out, err
			}
			draw, err := a.draw(seed)
			if err != nil {
				return out, err
			}
			for _, i := range chosen {
				answer, err := draw(ones[i])
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

// difference is a mean with its 95 % confidence interval by Student's t.
type difference struct{ mean, low, high float64 }

// paired compares two accuracies over the same draws.
func paired(a, b []float64) difference {
	d := make([]float64, len(a))
	for i := range d {
		d[i] = a[i] - b[i]
	}
	mean, sd := stat.MeanStdDev(d, nil)
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(len(d) - 1)}.Quantile(0.975)
	half := t * sd / math.Sqrt(float64(len(d)))
	return difference{mean, mean - half, mean + half}
}

func (p *ImageParameters) run(r *run) error {
	teacher, err := step(r, "teacher-cost", []any{p.Private, p.TeacherDelta}, func() (accountant.Cost, error) {
		return p.Private.cost(p.TeacherDelta)
	})
	if err != nil {
		return err
	}
	shared := []any{p.Data, p.Classes, p.TrainPerClass, p.Teachers, p.Pool, r.Seed, r.record.Inputs}
	private, err := step(r, "private-teachers", append([]any{p.Private}, shared...), func() (ensembleVotes, error) {
		return p.teach(r, p.Private, streamPrivate)
	})
	if err != nil {
		return err
	}
	plain, err := step(r, "plain-teachers", append([]any{p.Plain}, shared...), func() (ensembleVotes, error) {
		return p.teach(r, p.Plain, streamPlain)
	})
	if err != nil {
		return err
	}
	if private.Truth != plain.Truth {
		return fmt.Errorf("the two ensembles were asked about different images")
	}
	found := make([]evaluation, len(p.Allowances))
	totals := make([][][]total, len(p.Allowances))
	for i, m := range p.Allowances {
		key := []any{m, teacher, p.Teachers, p.Queries, p.Draws, r.Seed, private, plain}
		found[i], err = step(r, fmt.Sprintf("m-%d", m), key, func() (evaluation, error) { return p.evaluate(r, teacher, m, private, plain) })
		if err != nil {
			return err
		}
		query, sigma := found[i].Query, found[i].Sigma
		totals[i], err = step(r, fmt.Sprintf("totals-%d", m), []any{query, sigma, teacher, p.Teachers, p.Slack, p.totalQueries()}, func() ([][]total, error) {
			return p.totals(query, sigma, teacher)
		})
		if err != nil {
			return err
		}
	}
	p.votesFile(r, "votes-private", private)
	p.votesFile(r, "votes-plain", plain)
	return p.tell(r, teacher, private, plain, found, totals)
}

// votesFile writes the votes in the form that package votes reads.
func (p *ImageParameters) votesFile(r *run, name string, v ensembleVotes) {
	var b []byte
	b = append(b, "query"...)
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
	r.files[name+".csv"] = b
}
