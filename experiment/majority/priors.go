package majority

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/poissonbinom"
)

// priorParameters: noise functions made for teachers of one kind, used with others.
type priorParameters struct {
	solve Solver

	Teachers     int                 `json:"teachers"`
	Epsilon      float64             `json:"epsilon"`
	TeacherDelta float64             `json:"teacher_delta"`
	Allowances   []float64           `json:"allowances"`
	UniformMean  float64             `json:"uniform_mean"` // prior mean of γ_opt
	ClearMean    float64             `json:"clear_mean"`   // prior mean of "γ_opt, clear prior"
	Methods      []experiment.Method `json:"methods"`
	Actual       []actual            `json:"actual"`
	Claims       []priorClaim        `json:"claims,omitempty"`
}

// priorClaim is a claim about one m and one kind of teachers: each of Better has a smaller
// value of the measure than each of Worse. It is tested.
type priorClaim struct {
	Allowance float64             `json:"m"`
	Actual    string              `json:"actual"` // its title
	Measure   measure             `json:"measure"`
	Better    []experiment.Method `json:"better"`
	Worse     []experiment.Method `json:"worse"`
}

// measure is a way to score a noise function.
type measure string

const (
	// E|Pr[label = 1] - Pr[majority = 1]|, the source's metric as written
	measureError   measure = "error"
	measureDiffers measure = "differs" // Pr[label ≠ majority of the same votes]
)

// actual is the true law of the teachers' votes: each answers 1 with a probability of its own,
// uniform on [Low, High].
type actual struct {
	Title string  `json:"title"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

func (p *priorParameters) Validate() error {
	if err := check.Each("methods", p.Methods,
		check.Among([]experiment.Method{methodOpt, methodOptClear, methodAgree, methodSub, methodDouble,
			methodConst, methodTight})); err != nil {
		return err
	}
	for _, m := range []experiment.Method{methodOpt, methodOptClear} {
		if !slices.Contains(p.Methods, m) {
			return check.Wantf("methods", fmt.Sprintf("%q", p.Methods), "with %q", m)
		}
	}
	titles := make([]string, len(p.Actual))
	for i, a := range p.Actual {
		if titles[i] = a.Title; a.Title == "" {
			return check.Want("title of an actual", `""`, "given")
		}
		if err := cmp.Or(check.Probability("low", a.Low), check.Probability("high", a.High)); err != nil {
			return err
		}
		if a.Low > a.High {
			return check.Wantf("low", a.Low, "at most high = %v", a.High)
		}
	}
	if err := cmp.Or(check.PriorMean(p.UniformMean), check.PriorMean(p.ClearMean),
		check.Some("actual", len(titles))); err != nil {
		return err
	}
	for _, c := range p.Claims {
		err := cmp.Or(
			check.Among(p.Allowances)("m of a claim", c.Allowance),
			check.Among(titles)("actual of a claim", c.Actual),
			check.Among([]measure{measureError, measureDiffers})("measure", c.Measure),
			experiment.CheckOrdering(c.Better, c.Worse, p.Methods),
		)
		if err != nil {
			return err
		}
	}
	_, err := p.gammas().promises()
	return err
}

// gammas returns the parameters of noise functions.
func (p *priorParameters) gammas() *gammaParameters {
	return &gammaParameters{Teachers: p.Teachers, Epsilon: p.Epsilon, TeacherDelta: p.TeacherDelta,
		Allowances: p.Allowances, PriorMean: p.UniformMean}
}

func (p *priorParameters) Steps() int { return len(p.Allowances) * (1 + len(p.Actual)) }

// score holds the errors of a noise function with actual teachers.
type score struct {
	Method experiment.Method `json:"method"`
	// Error is E|Pr[label = 1] - Pr[majority = 1]|, and the standard error of its
	// estimate: see gamma.UniformError.
	Error         float64 `json:"error"`
	StandardError float64 `json:"standard_error"`
	// Disagreement is Pr[label ≠ majority of the same votes], exactly.
	Disagreement float64 `json:"disagreement"`
}

func (s score) by(m measure) float64 {
	if m == measureError {
		return s.Error
	}
	return s.Disagreement
}

func (p *priorParameters) Run(r *experiment.Run) error {
	promises, err := p.gammas().promises()
	if err != nil {
		return err
	}
	curves := r.TableOf("gamma", nil)
	errors := r.TableOf("errors", nil)
	var panels []experiment.Panel
	for i, pr := range promises {
		functions, err := experiment.Step(r, fmt.Sprintf("promise-%d", i+1),
			[]any{pr.problem, pr.subsample, p.Methods, p.UniformMean, p.ClearMean},
			func() ([]function, error) {
				return p.functions(r, pr)
			})
		if err != nil {
			return err
		}
		laws := []experiment.Panel{{Title: pr.label, X: "l, votes for 1", Y: "γ(l)",
			YRange: [2]float64{0, 1.04}}}
		for _, f := range functions {
			line := experiment.Series{Method: f.Method}
			for l, v := range f.Gamma {
				curves.Add(pr.problem.Allowance(), string(f.Method), l, v)
				line.Add(float64(l), v)
			}
			laws[0].Series = append(laws[0].Series, line)
		}
		differs := []experiment.Panel{{}}
		for j, a := range p.Actual {
			scores, err := experiment.Step(r, fmt.Sprintf("actual-%d-%d", i+1, j+1), []any{functions, a},
				func() ([]score, error) { return a.scores(p.Teachers, functions) })
			if err != nil {
				return err
			}
			law := experiment.Panel{Title: "error, " + a.Title, Bars: true}
			differ := experiment.Panel{Title: "Pr[label ≠ majority], " + a.Title, Bars: true}
			for _, s := range scores {
				var se any
				if s.StandardError > 0 {
					se = s.StandardError
				}
				errors.Add(pr.problem.Allowance(), a.Title, string(s.Method), s.Error, se, s.Disagreement)
				law.Series = append(law.Series, experiment.Series{Method: s.Method, Y: []float64{s.Error},
					Spread: []float64{s.StandardError}})
				differ.Series = append(differ.Series, experiment.Series{Method: s.Method,
					Y: []float64{s.Disagreement}})
			}
			laws, differs = append(laws, law), append(differs, differ)
			p.judge(r, pr, a, scores)
		}
		panels = append(append(panels, laws...), differs...)
	}
	r.Table(errors)
	r.Table(curves)
	r.Note("At p = 0.5 for all teachers the majority is a fair coin and so is every label, so the " +
		"distance ℰ of their laws is 0 for every γ. What changes there is how often the label differs " +
		"from the majority of the same votes; that is shown beside ℰ.")
	return r.Figure("priors",
		"For each m the noise functions, and for each kind of teachers the error (the distance ℰ of "+
			"the laws) and, below it, how often the label differs from the majority.", 1+len(p.Actual),
		panels)
}

// functions solves a promise for every prior and adds the baselines.
func (p *priorParameters) functions(r *experiment.Run, pr promise) ([]function, error) {
	// The votes of teachers with p uniform on [0, 1] are fair coins.
	fair := poissonbinom.Binomial(p.Teachers, 0.5)
	priors := map[experiment.Method]solve.Options{methodOptClear: {PriorMean: p.ClearMean},
		methodAgree: {Counts: fair, Shape: gamma.Any}}
	baselines := slices.DeleteFunc(slices.Clone(p.Methods), func(m experiment.Method) bool {
		_, other := priors[m]
		return other
	})
	o, err := p.solve.optimise(r, pr, baselines, solve.Options{PriorMean: p.UniformMean})
	if err != nil {
		return nil, err
	}
	out := o.Functions
	for _, m := range p.Methods {
		if prior, other := priors[m]; other {
			o, err := p.solve.optimise(r, pr, []experiment.Method{methodOpt}, prior)
			if err != nil {
				return nil, err
			}
			f := o.Functions[0]
			f.Method = m
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b function) int {
		return slices.Index(p.Methods, a.Method) - slices.Index(p.Methods, b.Method)
	})
	return out, nil
}

// scores works out how the functions do with such teachers.
//
// The law of the votes is affine in each p_i, so the disagreement, which is linear in it,
// is that of Binomial(K, mean). So is ℰ where all p_i lie on one side of ½: the sum below
// then has one sign (Hoeffding 1956 orders the tails). On both sides the absolute value
// makes a difference, and ℰ is estimated.
func (a actual) scores(k int, functions []function) ([]score, error) {
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
func (p *priorParameters) judge(r *experiment.Run, pr promise, a actual, scores []score) {
	names := map[measure]string{measureError: "ℰ", measureDiffers: "Pr[≠ majority]"}
	for _, c := range p.Claims {
		if c.Allowance != pr.problem.Allowance() || c.Actual != a.Title {
			continue
		}
		var better, worse score // the worst of the better, the best of the worse
		for _, s := range scores {
			if slices.Contains(c.Better, s.Method) && (better.Method == "" ||
				s.by(c.Measure) > better.by(c.Measure)) {
				better = s
			}
			if slices.Contains(c.Worse, s.Method) && (worse.Method == "" ||
				s.by(c.Measure) < worse.by(c.Measure)) {
				worse = s
			}
		}
		r.Sentence("better", better.by(c.Measure) < worse.by(c.Measure), map[string]any{"at": pr.label, "teachers": a.Title,
			"what": names[c.Measure], "lines": r.Titles(c.Better), "others": r.Titles(c.Worse), "value": better.by(c.Measure),
			"line": r.Title(better.Method), "second": worse.by(c.Measure), "of": r.Title(worse.Method)})
	}
}
