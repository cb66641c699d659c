package experiment

import (
	"fmt"
	"math"
	"slices"

	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/poissonbinom"
)

// PriorParameters: noise functions made for teachers of one kind, used with others.
type PriorParameters struct {
	Teachers     int       `json:"teachers"`
	Epsilon      float64   `json:"epsilon"`
	TeacherDelta float64   `json:"teacher_delta"`
	Allowances   []float64 `json:"allowances"`
	UniformMean  float64   `json:"uniform_mean"` // prior mean of γ_opt
	ClearMean    float64   `json:"clear_mean"`   // prior mean of "γ_opt, clear prior"
	Methods      []Method  `json:"methods"`
	Actual       []Actual  `json:"actual"`
	Samples      int       `json:"samples"` // where an expectation has no closed form
}

// Actual is what the teachers are really like: each answers 1 with a probability of its
// own, uniform on [Low, High].
type Actual struct {
	Title string  `json:"title"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

func (p *PriorParameters) validate() error {
	if err := checkMethods(p.Methods, MethodOpt, MethodOptClear, MethodSub, MethodDouble, MethodConst, MethodTight); err != nil {
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
	if p.Samples < 100 || p.Samples > 10_000_000 {
		return &check.Error{Name: "samples", Value: p.Samples, Rule: "between 100 and 10000000"}
	}
	_, err := p.gammas().promises()
	return err
}

// gammas returns the part that is about noise functions.
func (p *PriorParameters) gammas() *GammaParameters {
	return &GammaParameters{Teachers: p.Teachers, Epsilon: p.Epsilon, TeacherDelta: p.TeacherDelta, Allowances: p.Allowances, PriorMean: p.UniformMean}
}

func (p *PriorParameters) steps() int { return len(p.Allowances) * (1 + len(p.Actual)) }

// score is how a noise function does with actual teachers.
type score struct {
	Method Method `json:"method"`
	// Error is E|Pr[label = 1] - Pr[majority = 1]|, and its standard error where it was
	// sampled.
	Error         float64 `json:"error"`
	StandardError float64 `json:"standard_error"`
	// Disagreement is Pr[label ≠ majority of the same votes], exactly.
	Disagreement float64 `json:"disagreement"`
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
		{Name: "error", Title: "ℰ, distance of the laws", Format: "%.6f"}, {Name: "standard_error", Title: "± (sampled)", Format: "%.1g"},
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
			key := []any{functions, a, p.Samples, r.Seed}
			scores, err := step(r, fmt.Sprintf("actual-%d-%d", i+1, j+1), key, func() ([]score, error) {
				// One stream for each kind of teachers: all functions see the same ones.
				return a.scores(p.Teachers, functions, p.Samples, randsrc.NewSeededStream(r.Seed, streamPriors+uint64(j)))
			})
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

// functions solves a promise for both priors and adds the baselines.
func (p *PriorParameters) functions(r *run, pr promise) ([]function, error) {
	clear, err := r.optimise(pr, []Method{MethodOpt}, p.ClearMean)
	if err != nil {
		return nil, err
	}
	methods := slices.DeleteFunc(slices.Clone(p.Methods), func(m Method) bool { return m == MethodOptClear })
	uniform, err := r.optimise(pr, methods, p.UniformMean)
	if err != nil {
		return nil, err
	}
	f := clear.Functions[0]
	f.Method = MethodOptClear
	return slices.Insert(uniform.Functions, 1, f), nil
}

// scores works out how the functions do with such teachers.
//
// The law of the votes is affine in each p_i, so the disagreement, which is linear in it,
// is that of Binomial(K, mean). So is ℰ where all p_i lie on one side of ½: the sum below
// then has one sign (Hoeffding 1956 orders the tails). On both sides the absolute value
// makes a difference, and ℰ is averaged over samples.
func (a Actual) scores(k int, functions []function, samples int, src *randsrc.Seeded) ([]score, error) {
	mean := (a.Low + a.High) / 2
	b := poissonbinom.Binomial(k, mean)
	probabilities := slices.Repeat([]float64{mean}, k)
	out := make([]score, len(functions))
	fs := make([]gamma.Func, len(functions))
	for i, f := range functions {
		var err error
		if fs[i], err = gamma.New(f.Gamma); err != nil {
			return nil, err
		}
		out[i].Method = f.Method
		for l, v := range f.Gamma {
			out[i].Disagreement += b[l] * (1 - v) / 2
		}
		if out[i].Error, err = gamma.ErrorAt(fs[i], probabilities); err != nil {
			return nil, err
		}
	}
	if a.High <= 0.5 || a.Low >= 0.5 {
		return out, nil
	}
	sums, squares := make([]float64, len(fs)), make([]float64, len(fs))
	for range samples {
		for i := range probabilities {
			u, err := src.Uint53()
			if err != nil {
				return nil, err
			}
			probabilities[i] = a.Low + (a.High-a.Low)*float64(u)/float64(randsrc.One53)
		}
		for i, f := range fs {
			e, err := gamma.ErrorAt(f, probabilities)
			if err != nil {
				return nil, err
			}
			sums[i] += e
			squares[i] += e * e
		}
	}
	n := float64(samples)
	for i := range out {
		out[i].Error = sums[i] / n
		out[i].StandardError = math.Sqrt(max(0, squares[i]/n-out[i].Error*out[i].Error) / n)
	}
	return out, nil
}

// judge tests what the source says about priors: the one that is closer to the truth
// does better.
func (p *PriorParameters) judge(r *run, pr promise, a Actual, scores []score) {
	by := func(m Method) score {
		return scores[slices.IndexFunc(scores, func(s score) bool { return s.Method == m })]
	}
	uniform, clear := by(MethodOpt), by(MethodOptClear)
	if distance := math.Abs((a.Low+a.High)/2 - 0.5); distance >= p.ClearMean-0.5 {
		r.claim(clear.Disagreement <= uniform.Disagreement, fmt.Sprintf("%s, %s: the clear prior does better", pr.label, a.Title),
			"Pr[≠ majority] %.6g against %.6g", clear.Disagreement, uniform.Disagreement)
	} else {
		r.claim(uniform.Disagreement <= clear.Disagreement, fmt.Sprintf("%s, %s: the uniform prior does better", pr.label, a.Title),
			"Pr[≠ majority] %.6g against %.6g", uniform.Disagreement, clear.Disagreement)
	}
	worst := max(uniform.Disagreement, clear.Disagreement)
	for _, s := range scores {
		if s.Method == MethodSub || s.Method == MethodConst {
			r.claim(worst < s.Disagreement, fmt.Sprintf("%s, %s: both optima do better than %s", pr.label, a.Title, s.Method.Title()),
				"%.6g against %.6g", worst, s.Disagreement)
		}
	}
}
