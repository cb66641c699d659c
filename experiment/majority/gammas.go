package majority

import (
	"fmt"
	"math"
	"slices"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/check"
)

// GammaParameters: the shapes and expected errors of noise functions under one promise.
// Exactly one of Allowances and Subsamples is given.
type GammaParameters struct {
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
	Written bool     `json:"written,omitempty"`
	Methods []Method `json:"methods"`
	// Printed is what the source prints about each of Subsamples, in its digits.
	Printed []PrintedPromise `json:"printed,omitempty"`
}

// PrintedPromise is a column of the source's Table B.1.
type PrintedPromise struct {
	Allowance string `json:"m"`
	Tau       string `json:"tau"`
	Lambda    string `json:"lambda"`
	Epsilon   string `json:"epsilon"`
	Delta     string `json:"delta"`
}

func (p *GammaParameters) validate() error {
	if (len(p.Allowances) == 0) == (len(p.Subsamples) == 0) {
		return &check.Error{Name: "allowances and subsamples", Value: fmt.Sprintf("%d and %d values", len(p.Allowances), len(p.Subsamples)), Rule: "exactly one of them given"}
	}
	if err := checkMethods(p.Methods, MethodOpt, MethodSub, MethodDouble, MethodConst, MethodTight); err != nil {
		return err
	}
	if !slices.Contains(p.Methods, MethodOpt) {
		return &check.Error{Name: "methods", Value: fmt.Sprintf("%q", p.Methods), Rule: `with "opt", which the others are compared with`}
	}
	if len(p.Subsamples) == 0 && p.Slack != 0 {
		return &check.Error{Name: "slack", Value: p.Slack, Rule: "left out without subsamples"}
	}
	if len(p.Printed) != 0 && len(p.Printed) != len(p.Subsamples) {
		return &check.Error{Name: "printed", Value: fmt.Sprintf("%d entries", len(p.Printed)), Rule: fmt.Sprintf("one per subsample, %d", len(p.Subsamples))}
	}
	if err := check.PriorMean(p.PriorMean); err != nil {
		return err
	}
	_, err := p.promises()
	return err
}

func (p *GammaParameters) steps() int { return len(p.Allowances) + len(p.Subsamples) }

// promise is one point of the experiment.
type promise struct {
	label       string // in titles: "m = 3"
	problem     constraints.Problem
	subsample   int     // M teachers that γ_Sub asks; 0 if m < 1
	tau, lambda float64 // of γ_const
}

func (p *GammaParameters) promises() ([]promise, error) {
	affected := p.Affected
	if affected == 0 {
		affected = p.Teachers
	}
	var out []promise
	for i, m := range p.Allowances {
		if slices.Contains(p.Allowances[:i], m) {
			return nil, &check.Error{Name: "allowances", Value: fmt.Sprintf("%v twice", m), Rule: "different"}
		}
		problem := constraints.Problem{K: p.Teachers, M: m, Epsilon: p.Epsilon, TeacherDelta: p.TeacherDelta, Delta: p.TeacherDelta, Affected: affected}
		if err := problem.Validate(); err != nil {
			return nil, err
		}
		problem.Delta = problem.DefaultDelta()
		out = append(out, promise{
			label: fmt.Sprintf("m = %v", m), problem: problem, subsample: min(int(math.Floor(m)), p.Teachers),
			tau: float64(affected), lambda: min(1, float64(affected)*p.TeacherDelta),
		})
	}
	for i, m := range p.Subsamples {
		if slices.Contains(p.Subsamples[:i], m) {
			return nil, &check.Error{Name: "subsamples", Value: fmt.Sprintf("%v twice", m), Rule: "different"}
		}
		if m < 1 || m > p.Teachers {
			return nil, &check.Error{Name: "subsamples", Value: m, Rule: fmt.Sprintf("between 1 and K = %d", p.Teachers)}
		}
		teacher := accountant.Cost{Epsilon: p.Epsilon, Delta: p.TeacherDelta}
		total, err := accountant.General(m, teacher, p.Slack)
		if err != nil {
			return nil, err
		}
		all, err := accountant.General(affected, teacher, p.Slack)
		if err != nil {
			return nil, err
		}
		problem := constraints.Problem{K: p.Teachers, TotalEpsilon: total.Epsilon, Epsilon: p.Epsilon, TeacherDelta: p.TeacherDelta, Delta: total.Delta, Affected: affected}
		if err := problem.Validate(); err != nil {
			return nil, err
		}
		out = append(out, promise{
			label: fmt.Sprintf("M = %d, m = %.4f", m, total.Epsilon/p.Epsilon), problem: problem, subsample: m,
			tau: all.Epsilon / p.Epsilon, lambda: all.Delta,
		})
	}
	return out, nil
}

// function is a noise function with what was found about it.
type function struct {
	Method Method    `json:"method"`
	Gamma  []float64 `json:"gamma"` // γ(0) … γ(K)
	Error  float64   `json:"error"` // expected, under the prior
	// Written is the source's metric as it is written, where it is asked for.
	Written float64 `json:"written,omitempty"`
	// Scaled is by which factor the function had to be shrunk to be private; 1 for one
	// that its own theorem proves private.
	Scaled float64 `json:"scaled"`
}

// optimum is what solving one promise gave.
type optimum struct {
	Functions   []function `json:"functions"`
	Gap         float64    `json:"gap"`
	Constraints string     `json:"constraints"`
}

func (o optimum) of(m Method) function {
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
func (p promise) candidate(m Method) (gamma.Func, error) {
	switch m {
	case MethodSub:
		return gamma.Subsampling(p.problem.K, p.subsample)
	case MethodDouble:
		return gamma.DoubleSubsampling(p.problem.K, p.subsample)
	case MethodConst:
		return gamma.RandomizedResponse(p.problem, p.tau, p.lambda)
	case MethodTight:
		return gamma.Constant(p.problem.K, 1)
	}
	return gamma.Func{}, fmt.Errorf("method %q has no noise function", m)
}

// optimise solves the promise and certifies the methods that it is compared with.
func (r *run) optimise(p promise, methods []Method, prior solve.Options) (optimum, error) {
	prior.Version = r.Version
	table, err := r.Solve(r, p.problem, prior)
	if err != nil {
		return optimum{}, err
	}
	best, least := table.Certified, table.ExpectedError
	// The solver leaves values of γ open whose weight is below its tolerances, such as
	// γ(0) at K = 101. A baseline that is even better within them is as optimal, and is
	// what can be shown.
	for _, b := range table.Baselines {
		if e := table.BaselineError(b); e < least && table.ExpectedError-e <= exactly {
			best, least = b.Certified, e
		}
	}
	o := optimum{Gap: table.Gap, Constraints: table.Certificate().Constraints.String()}
	for _, m := range methods {
		if m == MethodOpt {
			o.Functions = append(o.Functions, function{Method: m, Gamma: best.Func().Values(), Error: least, Scaled: 1})
			continue
		}
		if (m == MethodSub || m == MethodDouble) && p.subsample < 1 {
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
		o.Functions = append(o.Functions, function{Method: m, Gamma: certified.Func().Values(), Error: table.Error(certified.Func()), Scaled: scaled})
	}
	return o, nil
}

// exactly is the largest error that is shown, and meant, as 0: what rounding and the
// solver's tolerances leave. It is far below what can be seen in a picture.
const exactly = 1e-10

func (p *GammaParameters) run(r *run) error {
	promises, err := p.promises()
	if err != nil {
		return err
	}
	curves := Table{Name: "gamma", Caption: "The noise functions: with probability γ(l) the majority is released, otherwise a fair coin.", Long: true, Columns: []Column{
		{Name: "m", Title: "m"}, {Name: "method", Title: "method"}, {Name: "l", Title: "l, votes for 1"}, {Name: "gamma", Title: "γ(l)", Format: "%.6f"}}}
	errors := Table{Name: "errors", Caption: "Expected error of each method: by how much Pr[label = 1] differs from Pr[majority = 1].", Columns: []Column{
		{Name: "m", Title: "m"}, {Name: "subsample", Title: "M"}, {Name: "epsilon", Title: "mε"}, {Name: "delta", Title: "δ", Format: "%.4g"},
		{Name: "method", Title: "method"}, {Name: "expected_error", Title: "expected error", Format: "%.6g"}, {Name: "scaled", Title: "scaled by", Format: "%.4f"}}}
	if p.Written {
		errors.Caption += " Beside it the source's metric as it is written, with every p uniform on [0, 1] and the absolute value inside the mean."
		errors.Columns = append(errors.Columns, Column{Name: "written_error", Title: "metric as written", Format: "%.4g"})
	}
	var shapes, bars []panel
	for i, pr := range promises {
		o, err := step(r, fmt.Sprintf("promise-%d", i+1), []any{pr.problem, pr.subsample, pr.tau, pr.lambda, p.Methods, p.PriorMean, p.Written}, func() (optimum, error) {
			o, err := r.optimise(pr, p.Methods, solve.Options{PriorMean: p.PriorMean})
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
		shape := panel{title: pr.label, x: "l, votes for 1", y: "γ(l)", yMin: 0, yMax: 1.04, fixedY: true}
		bar := panel{title: "expected error, " + pr.label, bars: true}
		for _, f := range o.Functions {
			line := series{method: f.Method, plain: len(f.Gamma) > 40}
			for l, v := range f.Gamma {
				curves.add(m, string(f.Method), l, v)
				line.add(float64(l), v)
			}
			row := []any{m, pr.subsample, total, delta, string(f.Method), f.Error, f.Scaled}
			if p.Written {
				row = append(row, f.Written)
			}
			errors.add(row...)
			shape.series = append(shape.series, line)
			bar.series = append(bar.series, series{method: f.Method, y: []float64{f.Error}})
		}
		shapes, bars = append(shapes, shape), append(bars, bar)
		p.judge(r, pr, m, o)
	}
	r.table(errors)
	if len(p.Subsamples) > 0 {
		if err := p.parameterTable(r, promises); err != nil {
			return err
		}
	}
	r.table(curves)
	// Up to four columns; below each row of shapes the errors.
	columns := len(promises)
	if columns > 4 {
		columns = 3
	}
	var panels []panel
	for i := 0; i < len(shapes); i += columns {
		for _, list := range [][]panel{shapes, bars} {
			row := make([]panel, columns)
			copy(row, list[i:min(i+columns, len(list))])
			panels = append(panels, row...)
		}
	}
	return r.figure("gamma", "The noise functions γ, and below each its expected error.", columns, panels)
}

// judge tests what the source, or theory, says about the functions of one promise.
func (p *GammaParameters) judge(r *run, pr promise, m float64, o optimum) {
	opt := o.of(MethodOpt)
	pure := p.TeacherDelta == 0 && pr.problem.Delta == 0
	exact := len(p.Allowances) > 0 && pr.problem.Affected == p.Teachers
	if exact && m == 1 && slices.Contains(p.Methods, MethodSub) {
		far := 0.0
		for l, v := range o.of(MethodSub).Gamma {
			far = max(far, math.Abs(v-opt.Gamma[l]))
		}
		// γ at m = 1 is 1-2l/K up to what δ buys, which is of the order of Δ.
		r.claim(far <= 1e-9+4*p.TeacherDelta, fmt.Sprintf("%s: γ_opt = γ_Sub", pr.label), "largest difference %.2g", far)
	}
	if exact && pure && 2*m >= float64(p.Teachers+1) {
		r.claim(opt.Error <= exactly, fmt.Sprintf("%s ≥ (K+1)/2 without δ: no noise is needed, the error is 0", pr.label), "error %.2g", opt.Error)
	}
	if m > 1 {
		for _, f := range o.Functions {
			if f.Method == MethodOpt {
				continue
			}
			holds := opt.Error < f.Error || opt.Error <= exactly && f.Error <= exactly
			r.claim(holds, fmt.Sprintf("%s: the error of γ_opt is below that of %s, or both are 0", pr.label, f.Method.Title()), "%.6g against %.6g", opt.Error, f.Error)
		}
	}
	r.claim(o.Gap <= exactly, fmt.Sprintf("%s: γ_opt is private by certificate and optimal by proof", pr.label), "all %s constraints hold; the error is at most %.2g above the least possible", o.Constraints, o.Gap)
	if p.Written && m > 1 {
		p.judgeAsWritten(r, pr, o)
	}
	if slices.Contains(p.Methods, MethodDouble) && pr.subsample >= 1 {
		if s := o.of(MethodDouble).Scaled; s < 1-1e-9 {
			r.note("%s: γ_DSub is private only for teachers that answer alike; for any teachers it had to be scaled by %.4f, and that is what is shown.", pr.label, s)
		} else {
			r.note("%s: γ_DSub, which the source proves private for teachers that answer alike, is certified here for any teachers.", pr.label)
		}
	}
}

// judgeAsWritten compares all methods by the metric as written, for which γ_opt is not
// optimal: the source's own baselines are worse by it too, the largest private constant may
// be better.
func (p *GammaParameters) judgeAsWritten(r *run, pr promise, o optimum) {
	opt := o.of(MethodOpt)
	for _, f := range o.Functions {
		switch f.Method {
		case MethodSub, MethodConst:
			r.claim(opt.Written < f.Written || opt.Written <= exactly && f.Written <= exactly, fmt.Sprintf("%s: by the metric as written too, γ_opt is better than %s, or both are 0", pr.label, f.Method.Title()), "%.4g against %.4g", opt.Written, f.Written)
		case MethodTight, MethodDouble:
			if f.Written < opt.Written {
				r.note("%s: by the metric as written, %s (%.4g) is better than γ_opt (%.4g). γ_opt is optimal for teachers whose p lies above ½.", pr.label, f.Method.Title(), f.Written, opt.Written)
			}
		}
	}
}

// parameterTable is the source's Table B.1.
func (p *GammaParameters) parameterTable(r *run, promises []promise) error {
	t := Table{Name: "parameters", Caption: "What M subsampled teachers promise by general composition (the source's Table B.1), as computed and as printed.", Columns: []Column{
		{Name: "subsample", Title: "M"},
		{Name: "m", Title: "m", Format: "%.4f"}, {Name: "tau", Title: "τ", Format: "%.4f"}, {Name: "lambda", Title: "λ", Format: "%.4f"},
		{Name: "epsilon", Title: "mε", Format: "%.4f"}, {Name: "delta", Title: "δ", Format: "%.4f"}, {Name: "printed", Title: "source prints"}}}
	same, digits := 0, 0
	for i, pr := range promises {
		total, delta := pr.problem.Total()
		values := []float64{total / p.Epsilon, pr.tau, pr.lambda, total, delta}
		var printed any
		if len(p.Printed) > 0 {
			c := p.Printed[i]
			list := []string{c.Allowance, c.Tau, c.Lambda, c.Epsilon, c.Delta}
			for j, s := range list {
				digits++
				if agrees(values[j], s) {
					same++
				}
			}
			printed = fmt.Sprint(list)
		}
		t.add(pr.subsample, values[0], values[1], values[2], values[3], values[4], printed)
	}
	r.table(t)
	if digits > 0 {
		r.claim(same == digits, "every printed digit of the source's table is met", "%d of %d numbers", same, digits)
	}
	return nil
}
