package pipeline

import (
	"fmt"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble/teachers"
	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/shuffled"
)

// price returns the cost of the answers, and the noise function that gives them.
func price(plan *teachers.Plan, way aggregate) (pipelined, *gamma.Certified, error) {
	out := pipelined{Method: way.method, Teacher: plan.Teacher(), Affected: plan.Affected(),
		Answers: way.answers}
	var certified *gamma.Certified
	if way.certify != nil {
		var err error
		if certified, err = way.certify(plan); err != nil {
			return out, nil, err
		}
		out.Gamma = certified.Func().Values()
	}
	if math.IsInf(out.Teacher.Epsilon, 1) {
		out.Teacher, out.Rule = accountant.Cost{}, "not private"
		return out, certified, nil
	}
	out.Private = true
	if way.answers == 0 {
		var err error
		if out.Total, err = plan.Total(0); err != nil {
			return out, nil, err
		}
		out.Rule = fmt.Sprintf("all that one record reaches: %d of %d", plan.Affected(), plan.K())
		return out, certified, nil
	}
	epsilon, delta := certified.Problem().Total()
	total, err := plan.Answers(way.answers, accountant.Cost{Epsilon: epsilon, Delta: delta}).Total()
	out.Total, out.Rule = total.Cost, total.Rule
	return out, certified, err
}

// rightShare returns the share of right answers, expected over the randomness of the noise
// function, or of the plain majority without one.
func rightShare(certified *gamma.Certified, k int, ones []int, queries *data.Records) float64 {
	var phi []float64
	if certified != nil {
		phi = certified.Func().Phi()
	}
	s := 0.0
	for i, l := range ones {
		one := 0.0
		switch {
		case phi != nil:
			one = (1 + phi[l]) / 2
		case 2*l > k:
			one = 1
		}
		if queries.Response(i) == 0 {
			one = 1 - one
		}
		s += one
	}
	return s / float64(len(ones))
}

// references are the ways that do not depend on ε.
func (p *pipelineParameters) references(r *experiment.Run, w workshop) ([]pipelined, error) {
	var out []pipelined
	for i, v := range []struct {
		method experiment.Method
		train  shuffled.Scheme
		parts  teachers.Parts
	}{{methodMajority, shuffled.ShuffleG, w.disjoint}, {methodSinglePlain, shuffled.ShuffleG, w.whole},
		{methodPublicModel, shuffled.PublicOnly, w.whole}} {
		c := p.config(w, v.train, accountant.Cost{Delta: p.Delta})
		found, err := p.trainEveryStepSize(r, w, c, v.parts, uint64(i), []aggregate{{method: v.method}})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", v.method, err)
		}
		if v.method == methodPublicModel {
			found[0].Private, found[0].Teacher, found[0].Total, found[0].Rule = false, accountant.Cost{},
				accountant.Cost{}, "no private data"
		}
		out = append(out, found...)
	}
	return out, nil
}

// runFor runs everything for one trainer and total.
func (p *pipelineParameters) runFor(r *experiment.Run, w workshop, m shuffled.Scheme, eps float64,
	use uint64) ([]pipelined, error) {
	target := accountant.Cost{Epsilon: eps, Delta: p.Delta}
	optimum := func(allowance int) func(*teachers.Plan) (*gamma.Certified, error) {
		return func(plan *teachers.Plan) (*gamma.Certified, error) {
			problem, err := plan.Problem(float64(allowance))
			if err != nil {
				return nil, err
			}
			t, err := p.solve(r, problem, solve.Options{PriorMean: solve.DefaultPriorMean,
				Version: r.Version})
			if err != nil {
				return nil, err
			}
			return t.Certified, nil
		}
	}
	subsampled := func(plan *teachers.Plan) (*gamma.Certified, error) {
		problem, err := plan.Problem(1)
		if err != nil {
			return nil, err
		}
		f, err := gamma.Subsampling(plan.K(), 1)
		if err != nil {
			return nil, err
		}
		return gamma.CertifyShrunk(r, problem, f)
	}
	each := accountant.Cost{Epsilon: eps / float64(p.Allowance), Delta: p.Delta / float64(p.Allowance)}
	var out []pipelined
	for i, v := range []struct {
		target accountant.Cost
		parts  teachers.Parts
		ways   []aggregate
	}{
		{target, w.disjoint, []aggregate{{method: methodPrivate}, {methodDisjoint, 0, optimum(1)},
			{methodSub, 0, subsampled}}},
		{target, w.whole, []aggregate{{method: methodSingle}}},
		{each, w.shared, []aggregate{{methodOpt, 1, optimum(p.Allowance)}}},
	} {
		found, err := p.trainEveryStepSize(r, w, p.config(w, m, v.target), v.parts, use<<8+uint64(i),
			v.ways)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}
