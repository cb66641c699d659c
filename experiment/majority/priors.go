package majority

import (
	"fmt"
	"slices"
	"strings"

	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/poissonbinom"
)

// PriorParameters: noise functions made for teachers of one kind, used with others.
type PriorParameters struct {
	Teachers     int          `json:"teachers"`
	Epsilon      float64      `json:"epsilon"`
	TeacherDelta float64      `json:"teacher_delta"`
	Allowances   []float64    `json:"allowances"`
	UniformMean  float64      `json:"uniform_mean"` // prior mean of γ_opt
	ClearMean    float64      `json:"clear_mean"`   // prior mean of "γ_opt, clear prior"
	Methods      []Method     `json:"methods"`
	Actual       []Actual     `json:"actual"`
	Claims       []PriorClaim `json:"claims,omitempty"`
}

// PriorClaim is a claim about one m and one kind of teachers: each of Better has a smaller
// value of the measure than each of Worse. It is tested.
type PriorClaim struct {
	Allowance float64  `json:"m"`
	Actual    string   `json:"actual"` // its title
	Measure   Measure  `json:"measure"`
	Better    []Method `json:"better"`
	Worse     []Method `json:"worse"`
}

// Measure is a way to score a noise function.
type Measure string

// The measures.
const (
	MeasureError   Measure = "error"   // E|Pr[label = 1] - Pr[majority = 1]|, the source's metric as written
	MeasureDiffers Measure = "differs" // Pr[label ≠ majority of the same votes]
)

// Actual is what the teachers are really like: each answers 1 with a probability of its
// own, uniform on [Low, High].
type Actual struct {
	Title string  `json:"title"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

func (p *PriorParameters) validate() error {
	if err := checkMethods(p.Methods, MethodOpt, MethodOptClear, MethodAgree, MethodSub, MethodDouble, MethodConst, MethodTight); err != nil {
		return err
	}
	for _, m := range []Method{MethodOpt, MethodOptClear} {
		if !slices.Contains(p.Methods, m) {
			return &check.Error{Name: "methods", Value: fmt.Sprintf("%q", p.Methods), Rule: fmt.Sprintf("with %q", m)}
		}
	}
	for _, mu := range []float64{p.UniformMean, p.ClearMean} {
		if err := check.PriorMean(mu); err != nil {
			return err
		}
	}
	if len(p.Actual) == 0 {
		return &check.Error{Name: "actual", Value: "none", Rule: "at least one"}
	}
	for _, a := range p.Actual {
		if err := check.Probability("low", a.Low); err != nil {
			return err
		}
		if err := check.Probability("high", a.High); err != nil {
			return err
		}
		if a.Low > a.High {
			return &check.Error{Name: "low", Value: a.Low, Rule: fmt.Sprintf("at most high = %v", a.High)}
		}
		if a.Title == "" {
			return &check.Error{Name: "title of an actual", Value: `""`, Rule: "given"}
		}
	}
	for _, c := range p.Claims {
		if err := p.checkClaim(c); err != nil {
			return err
		}
	}
	_, err := p.gammas().promises()
	return err
}

func (p *PriorParameters) checkClaim(c PriorClaim) error {
	if !slices.Contains(p.Allowances, c.Allowance) {
		return &check.Error{Name: "m of a claim", Value: c.Allowance, Rule: fmt.Sprintf("among %v", p.Allowances)}
	}
	if !slices.ContainsFunc(p.Actual, func(a Actual) bool { return a.Title == c.Actual }) {
		return &check.Error{Name: "actual of a claim", Value: fmt.Sprintf("%q", c.Actual), Rule: "the title of one of actual"}
	}
	if c.Measure != MeasureError && c.Measure != MeasureDiffers {
		return &check.Error{Name: "measure", Value: fmt.Sprintf("%q", c.Measure), Rule: fmt.Sprintf("%q or %q", MeasureError, MeasureDiffers)}
	}
	if len(c.Better) == 0 || len(c.Worse) == 0 {
		return &check.Error{Name: "better and worse", Value: "none", Rule: "at least one method of each"}
	}
	return checkMethods(slices.Concat(c.Better, c.Worse), p.Methods...)
}

// gammas returns the part that is about noise functions.
func (p *PriorParameters) gammas() *GammaParameters {
	return &GammaParameters{Teachers: p.Teachers, Epsilon: p.Epsilon, TeacherDelta: p.TeacherDelta, Allowances: p.Allowances, PriorMean: p.UniformMean}
}

func (p *PriorParameters) steps() int { return len(p.Allowances) * (1 + len(p.Actual)) }

// score is how a noise function does with actual teachers.
type score struct {
	Method Method `json:"method"`
	// Error is E|Pr[label = 1] - Pr[majority = 1]|, and the standard error of its
	// estimate: see gamma.UniformError.
	Error         float64 `json:"error"`
	StandardError float64 `json:"standard_error"`
	// Disagreement is Pr[label ≠ majority of the same votes], exactly.
	Disagreement float64 `json:"disagreement"`
}

func (s score) by(m Measure) float64 {
	if m == MeasureError {
		return s.Error
	}
	return s.Disagreement
}

func (p *PriorParameters) run(r *run) error {
	promises, err := p.gammas().promises()
	if err != nil {
		return err
	}
	curves := Table{Name: "gamma", Caption: "The noise functions.", Long: true, Columns: []Column{
		{Name: "m", Title: "m"}, {Name: "method", Title: "method"}, {Name: "l", Title: "l, votes for 1"}, {Name: "gamma", Title: "γ(l)", Format: "%.6f"}}}
	errors := Table{Name: "errors", Caption: "Errors of the noise functions with teachers of three kinds.", Columns: []Column{
		{Name: "m", Title: "m"}, {Name: "actual", Title: "teachers"}, {Name: "method", Title: "method"},
		{Name: "error", Title: "ℰ, the metric as written", Format: "%.6f"}, {Name: "standard_error", Title: "±", Format: "%.1g"},
		{Name: "disagreement", Title: "Pr[label ≠ majority]", Format: "%.6f"}}}
	var panels []panel
	for i, pr := range promises {
		functions, err := step(r, fmt.Sprintf("promise-%d", i+1), []any{pr.problem, pr.subsample, p.Methods, p.UniformMean, p.ClearMean}, func() ([]function, error) {
			return p.functions(r, pr)
		})
		if err != nil {
			return err
		}
		laws := []panel{{title: pr.label, x: "l, votes for 1", y: "γ(l)", yMin: 0, yMax: 1.04, fixedY: true}}
		for _, f := range functions {
			line := series{method: f.Method}
			for l, v := range f.Gamma {
				curves.add(pr.problem.Allowance(), string(f.Method), l, v)
				line.add(float64(l), v)
			}
			laws[0].series = append(laws[0].series, line)
		}
		differs := []panel{{}}
		for j, a := range p.Actual {
			scores, err := step(r, fmt.Sprintf("actual-%d-%d", i+1, j+1), []any{functions, a}, func() ([]score, error) { return a.scores(p.Teachers, functions) })
			if err != nil {
				return err
			}
			law := panel{title: "error, " + a.Title, bars: true}
			differ := panel{title: "Pr[label ≠ majority], " + a.Title, bars: true}
			for _, s := range scores {
				var se any
				if s.StandardError > 0 {
					se = s.StandardError
				}
				errors.add(pr.problem.Allowance(), a.Title, string(s.Method), s.Error, se, s.Disagreement)
				law.series = append(law.series, series{method: s.Method, y: []float64{s.Error}, spread: []float64{s.StandardError}})
				differ.series = append(differ.series, series{method: s.Method, y: []float64{s.Disagreement}})
			}
			laws, differs = append(laws, law), append(differs, differ)
			p.judge(r, pr, a, scores)
		}
		panels = append(append(panels, laws...), differs...)
	}
	r.table(errors)
	r.table(curves)
	r.note("At p = 0.5 for all teachers the majority is a fair coin and so is every label, so the distance ℰ of their laws is 0 for every γ. What changes there is how often the label differs from the majority of the same votes; that is shown beside ℰ.")
	return r.figure("priors", "For each m the noise functions, and for each kind of teachers the error (the distance ℰ of the laws) and, below it, how often the label differs from the majority.", 1+len(p.Actual), panels)
}

// functions solves a promise for every prior and adds the baselines.
func (p *PriorParameters) functions(r *run, pr promise) ([]function, error) {
	// The votes of teachers with p uniform on [0, 1] are fair coins.
	fair := poissonbinom.Binomial(p.Teachers, 0.5)
	priors := map[Method]solve.Options{MethodOptClear: {PriorMean: p.ClearMean}, MethodAgree: {Counts: fair}}
	baselines := slices.DeleteFunc(slices.Clone(p.Methods), func(m Method) bool { _, other := priors[m]; return other })
	o, err := r.optimise(pr, baselines, solve.Options{PriorMean: p.UniformMean})
	if err != nil {
		return nil, err
	}
	out := o.Functions
	for _, m := range p.Methods {
		if prior, other := priors[m]; other {
			o, err := r.optimise(pr, []Method{MethodOpt}, prior)
			if err != nil {
				return nil, err
			}
			f := o.Functions[0]
			f.Method = m
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b function) int { return slices.Index(p.Methods, a.Method) - slices.Index(p.Methods, b.Method) })
	return out, nil
}

// scores works out how the functions do with such teachers.
//
// The law of the votes is affine in each p_i, so the disagreement, which is linear in it,
// is that of Binomial(K, mean). So is ℰ where all p_i lie on one side of ½: the sum below
// then has one sign (Hoeffding 1956 orders the tails). On both sides the absolute value
// makes a difference, and ℰ is estimated.
func (a Actual) scores(k int, functions []function) ([]score, error) {
	mean := (a.Low + a.High) / 2
	b := poissonbinom.Binomial(k, mean)
	out := make([]score, len(functions))
	for i, f := range functions {
		fn, err := gamma.New(f.Gamma)
		if err != nil {
			return nil, err
		}
		out[i].Method = f.Method
		for l, v := range f.Gamma {
			out[i].Disagreement += b[l] * (1 - v) / 2
		}
		if a.High <= 0.5 || a.Low >= 0.5 {
			out[i].Error, err = gamma.ErrorAt(fn, slices.Repeat([]float64{mean}, k))
		} else {
			var e gamma.Estimate
			e, err = gamma.UniformError(fn, a.Low, a.High)
			out[i].Error, out[i].StandardError = e.Value, e.StandardError
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// judge tests the definition's claims about one m and one kind of teachers.
func (p *PriorParameters) judge(r *run, pr promise, a Actual, scores []score) {
	names := map[Measure]string{MeasureError: "ℰ", MeasureDiffers: "Pr[≠ majority]"}
	for _, c := range p.Claims {
		if c.Allowance != pr.problem.Allowance() || c.Actual != a.Title {
			continue
		}
		var better, worse score // the worst of the better, the best of the worse
		for _, s := range scores {
			if slices.Contains(c.Better, s.Method) && (better.Method == "" || s.by(c.Measure) > better.by(c.Measure)) {
				better = s
			}
			if slices.Contains(c.Worse, s.Method) && (worse.Method == "" || s.by(c.Measure) < worse.by(c.Measure)) {
				worse = s
			}
		}
		r.claim(better.by(c.Measure) < worse.by(c.Measure), fmt.Sprintf("%s, %s: by %s, %s better than %s", pr.label, a.Title, names[c.Measure], titlesOf(c.Better), titlesOf(c.Worse)),
			"%.6g (%s) against %.6g (%s)", better.by(c.Measure), better.Method.Title(), worse.by(c.Measure), worse.Method.Title())
	}
}

func titlesOf(methods []Method) string {
	names := make([]string, len(methods))
	for i, m := range methods {
		names[i] = m.Title()
	}
	return strings.Join(names, ", ")
}
