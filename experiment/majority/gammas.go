package majority

import (
	"fmt"
	"math"
	"slices"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/check"
)

// gammaParameters: the shapes and expected errors of noise functions under one promise.
// Exactly one of Allowances and Subsamples is given.
type gammaParameters struct {
	solve Solver

	Teachers     int     `json:"teachers"`
	Epsilon      float64 `json:"epsilon"`
	TeacherDelta float64 `json:"teacher_delta"`
	// Allowances are the m of the promise (mε, 1-(1-Δ)^m): simple composition.
	Allowances []float64 `json:"allowances,omitempty"`
	// Subsamples are the M of the promise that M teachers keep by accountant.General
	// with Slack.
	Subsamples []int   `json:"subsamples,omitempty"`
	Slack      float64 `json:"slack,omitempty"`
	PriorMean  float64 `json:"prior_mean"`
	Affected   int     `json:"affected,omitempty"` // 0: all teachers
	// Written adds the source's metric as it is written, gamma.UniformError on [0, 1].
	Written bool                `json:"written,omitempty"`
	Methods []experiment.Method `json:"methods"`
	// Printed holds the source's figures for each of Subsamples, in its digits.
	Printed []printedPromise `json:"printed,omitempty"`
}

// printedPromise is a column of the source's Table B.1.
type printedPromise struct {
	Allowance string `json:"m"`
	Tau       string `json:"tau"`
	Lambda    string `json:"lambda"`
	Epsilon   string `json:"epsilon"`
	Delta     string `json:"delta"`
}

func (p *gammaParameters) Validate() error {
	if (len(p.Allowances) == 0) == (len(p.Subsamples) == 0) {
		return check.Want("allowances and subsamples",
			fmt.Sprintf("%d and %d values", len(p.Allowances), len(p.Subsamples)),
			"exactly one of them given")
	}
	if err := check.Each("methods", p.Methods, check.Among([]experiment.Method{methodOpt, methodSub,
		methodDouble, methodConst, methodTight})); err != nil {
		return err
	}
	if !slices.Contains(p.Methods, methodOpt) {
		return check.Want("methods", fmt.Sprintf("%q", p.Methods), `with "opt", which the others are compared with`)
	}
	if len(p.Subsamples) == 0 && p.Slack != 0 {
		return check.Want("slack", p.Slack, "left out without subsamples")
	}
	if len(p.Printed) != 0 && len(p.Printed) != len(p.Subsamples) {
		return check.Wantf("printed", fmt.Sprintf("%d entries", len(p.Printed)), "one per subsample, %d",
			len(p.Subsamples))
	}
	if err := check.PriorMean(p.PriorMean); err != nil {
		return err
	}
	_, err := p.promises()
	return err
}

func (p *gammaParameters) Steps() int { return len(p.Allowances) + len(p.Subsamples) }

// promise is one point of the experiment.
type promise struct {
	label       string // in titles: "m = 3"
	problem     constraints.Problem
	subsample   int     // M teachers that γ_Sub asks; 0 if m < 1
	tau, lambda float64 // of γ_const
}

func (p *gammaParameters) promises() ([]promise, error) {
	affected := p.Affected
	if affected == 0 {
		affected = p.Teachers
	}
	teacher := accountant.Cost{Epsilon: p.Epsilon, Delta: p.TeacherDelta}
	var out []promise
	for _, m := range p.Allowances {
		problem := constraints.Problem{K: p.Teachers, M: m, Epsilon: p.Epsilon,
			TeacherDelta: p.TeacherDelta, Delta: p.TeacherDelta, Affected: affected}
		if err := problem.Validate(); err != nil {
			return nil, err
		}
		problem.Delta = problem.DefaultDelta()
		out = append(out, promise{
			label: fmt.Sprintf("m = %v", m), problem: problem,
			subsample: min(int(math.Floor(m)), p.Teachers),
			tau:       float64(affected), lambda: min(1, float64(affected)*p.TeacherDelta),
		})
	}
	for _, m := range p.Subsamples {
		if err := check.Whole("subsamples", m, 1, p.Teachers); err != nil {
			return nil, err
		}
		total, err := accountant.General(m, teacher, p.Slack)
		if err != nil {
			return nil, err
		}
		all, err := accountant.General(affected, teacher, p.Slack)
		if err != nil {
			return nil, err
		}
		problem := constraints.Problem{K: p.Teachers, TotalEpsilon: total.Epsilon, Epsilon: p.Epsilon,
			TeacherDelta: p.TeacherDelta, Delta: total.Delta, Affected: affected}
		if err := problem.Validate(); err != nil {
			return nil, err
		}
		out = append(out, promise{
			label: fmt.Sprintf("M = %d, m = %.4f", m, total.Epsilon/p.Epsilon), problem: problem,
			subsample: m,
			tau:       all.Epsilon / p.Epsilon, lambda: all.Delta,
		})
	}
	if len(p.Allowances) > 0 {
		return out, check.Each("allowances", p.Allowances, nil)
	}
	return out, check.Each("subsamples", p.Subsamples, nil)
}

// function is a noise function with what was found about it.
type function struct {
	Method experiment.Method `json:"method"`
	Gamma  []float64         `json:"gamma"` // γ(0) … γ(K)
	Error  float64           `json:"error"` // expected, under the prior
	// Written is the source's metric as it is written, where it is asked for.
	Written float64 `json:"written,omitempty"`
	// Scaled is the factor that shrinks the function until it is private; 1 for one
	// that its own theorem proves private.
	Scaled float64 `json:"scaled"`
}

// optimum holds the results of solving one promise.
type optimum struct {
	Functions   []function `json:"functions"`
	Gap         float64    `json:"gap"`
	Constraints string     `json:"constraints"`
}

func (o optimum) of(m experiment.Method) function {
	i := slices.IndexFunc(o.Functions, func(f function) bool { return f.Method == m })
	return o.Functions[i]
}

// evaluateAsWritten works out the source's metric as it is written.
func (o optimum) evaluateAsWritten() error {
	for i, f := range o.Functions {
		fn, err := gamma.New(f.Gamma)
		if err != nil {
			return err
		}
		e, err := gamma.UniformError(fn, 0, 1)
		if err != nil {
			return err
		}
		o.Functions[i].Written = e.Value
	}
	return nil
}

// candidate returns the noise function of a method that is not the optimum.
func (p promise) candidate(m experiment.Method) (gamma.Func, error) {
	switch m {
	case methodSub:
		return gamma.Subsampling(p.problem.K, p.subsample)
	case methodDouble:
		return gamma.DoubleSubsampling(p.problem.K, p.subsample)
	case methodConst:
		return gamma.RandomizedResponse(p.problem, p.tau, p.lambda)
	case methodTight:
		return gamma.Constant(p.problem.K, 1)
	}
	return gamma.Func{}, fmt.Errorf("method %q has no noise function", m)
}

// optimise solves the promise and certifies the methods that it is compared with.
func (s Solver) optimise(r *experiment.Run, p promise, methods []experiment.Method,
	prior solve.Options) (optimum, error) {
	prior.Version = r.Version
	table, err := s(r, p.problem, prior)
	if err != nil {
		return optimum{}, err
	}
	best, least := table.Certified, table.ExpectedError
	// The solver leaves values of γ open whose weight is below its tolerances, such as
	// γ(0) at K = 101. A baseline that is even better within them is as optimal, and is
	// what can be shown.
	for _, b := range table.Baselines {
		if e := table.BaselineError(b); e < least && table.ExpectedError-e <= experiment.Negligible {
			best, least = b.Certified, e
		}
	}
	o := optimum{Gap: table.Gap, Constraints: table.Certificate().Constraints.String()}
	for _, m := range methods {
		if m == methodOpt {
			o.Functions = append(o.Functions, function{Method: m, Gamma: best.Func().Values(), Error: least,
				Scaled: 1})
			continue
		}
		if (m == methodSub || m == methodDouble) && p.subsample < 1 {
			continue // a part of one teacher cannot be asked
		}
		f, err := p.candidate(m)
		if err != nil {
			return optimum{}, err
		}
		certified, err := gamma.CertifyShrunk(r, p.problem, f)
		if err != nil {
			return optimum{}, fmt.Errorf("%s: %w", m, err)
		}
		scaled := 1.0
		if f.At(0) > 0 {
			scaled = certified.Func().At(0) / f.At(0)
		}
		o.Functions = append(o.Functions, function{Method: m, Gamma: certified.Func().Values(),
			Error: table.Error(certified.Func()), Scaled: scaled})
	}
	return o, nil
}

func (p *gammaParameters) Run(r *experiment.Run) error {
	promises, err := p.promises()
	if err != nil {
		return err
	}
	curves := r.TableOf("gamma", nil)
	table := "errors"
	if p.Written {
		table += " as written"
	}
	errors := r.TableOf(table, nil)
	errors.Name = "errors"
	var shapes, bars []experiment.Panel
	for i, pr := range promises {
		o, err := experiment.Step(r, fmt.Sprintf("promise-%d", i+1),
			[]any{pr.problem, pr.subsample, pr.tau, pr.lambda, p.Methods, p.PriorMean, p.Written},
			func() (optimum, error) {
				o, err := p.solve.optimise(r, pr, p.Methods, solve.Options{PriorMean: p.PriorMean})
				if err == nil && p.Written {
					err = o.evaluateAsWritten()
				}
				return o, err
			})
		if err != nil {
			return err
		}
		m := pr.problem.Allowance()
		total, delta := pr.problem.Total()
		shape := experiment.Panel{Title: fmt.Sprintf("K = %d, ε = %v, %s", p.Teachers, p.Epsilon, pr.label), X: "l, votes for 1", Y: "γ(l)",
			YRange: [2]float64{0, 1.04}}
		bar := experiment.Panel{Title: "expected error, " + pr.label, Bars: true}
		for _, f := range o.Functions {
			line := experiment.Series{Method: f.Method, Plain: len(f.Gamma) > 40}
			for l, v := range f.Gamma {
				curves.Add(m, string(f.Method), l, v)
				line.Add(float64(l), v)
			}
			row := []any{m, pr.subsample, total, delta, string(f.Method), f.Error, f.Scaled}
			if p.Written {
				row = append(row, f.Written)
			}
			errors.Add(row...)
			shape.Series = append(shape.Series, line)
			bar.Series = append(bar.Series, experiment.Series{Method: f.Method, Y: []float64{f.Error}})
		}
		shapes, bars = append(shapes, shape), append(bars, bar)
		p.judge(r, pr, m, o)
	}
	r.Table(errors)
	if len(p.Subsamples) > 0 {
		if err := p.parameterTable(r, promises); err != nil {
			return err
		}
	}
	r.Table(curves)
	// Up to four columns; below each row of shapes the errors.
	columns := len(promises)
	if columns > 4 {
		columns = 3
	}
	var panels []experiment.Panel
	for i := 0; i < len(shapes); i += columns {
		for _, list := range [][]experiment.Panel{shapes, bars} {
			row := make([]experiment.Panel, columns)
			copy(row, list[i:min(i+columns, len(list))])
			panels = append(panels, row...)
		}
	}
	return r.Figure("gamma", "The noise functions γ, and below each its expected error. "+gamma.WhyItDips, columns,
		panels)
}
