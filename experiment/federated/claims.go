package federated

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/internal/check"
)

// claim is a statement about the means of a line over its starts.
type claim struct {
	Line    string `json:"line"`
	Measure string `json:"measure,omitempty"` // "" is train; test, gradient or kept
	// Either the mean is at most AtMost, of which Published is the specification's figure,
	AtMost float64 `json:"at_most,omitempty"`
	// or at least AtLeast, or no number since runs failed,
	AtLeast   float64 `json:"at_least,omitempty"`
	Published string  `json:"published,omitempty"`
	// or at most that of the line Below, and a Slack; or within the slack of that of the line Near,
	Below string  `json:"below,omitempty"`
	Near  string  `json:"near,omitempty"`
	Slack float64 `json:"slack,omitempty"`
	// or no run passes the rule for the step size; or the loss ended below Falls times the first.
	Fails bool    `json:"fails,omitempty"`
	Falls float64 `json:"falls,omitempty"`
}

func (c claim) check(lines []string) error {
	err := cmp.Or(
		check.Among(lines)("line of a claim", c.Line),
		check.Among([]string{"", "test", "gradient", "kept"})("measure", c.Measure),
	)
	for _, other := range []string{c.Below, c.Near} {
		if other != "" {
			err = cmp.Or(err, check.Among(lines)("line of a claim", other))
		}
	}
	forms := 0
	for _, is := range []bool{c.AtMost > 0, c.AtLeast > 0, c.Below != "", c.Near != "", c.Fails,
		c.Falls > 0} {
		if is {
			forms++
		}
	}
	if err == nil && forms != 1 {
		err = &check.Error{Name: "claim about " + c.Line, Value: forms,
			Rule: "one of at_most, at_least, below, near, fails and falls"}
	}
	return err
}

// of returns a measure of a run's end; failed runs have none.
func (o outcome) of(measure string) float64 {
	last := o.Trace[len(o.Trace)-1]
	switch {
	case o.failed():
		return math.NaN()
	case measure == "test":
		return last.Test
	case measure == "gradient":
		return last.Gradient
	case measure == "kept":
		return o.Kept.Train
	}
	return last.Train
}

// mean returns a measure's mean over the starts, and its deviation; NaN where a run failed.
func (f found) mean(measure string) (mean, sd float64) {
	v := make([]float64, len(f.Runs))
	for i, o := range f.Runs {
		v[i] = o.of(measure)
	}
	return experiment.MeanDeviation(v)
}

var measureTitles = map[string]string{"": "training error", "test": "test error",
	"gradient": "squared gradient norm", "kept": "training error of the uniformly chosen iterate"}

// judge states the claims.
func (p *training) judge(r *experiment.Run, all []found) {
	at := func(name string) found {
		return all[slices.IndexFunc(p.Lines, func(l line) bool { return l.Name == name })]
	}
	for i, l := range p.Lines {
		if l.Epsilon > 0 {
			r.Claim(all[i].Epsilon > 0 && all[i].Epsilon <= l.Epsilon,
				fmt.Sprintf("%s: costs at most ε = %g", l.Name, l.Epsilon), "%.6g", all[i].Epsilon)
		}
	}
	for _, c := range p.Claims {
		f, what := at(c.Line), measureTitles[c.Measure]
		v, _ := f.mean(c.Measure)
		switch {
		case c.AtMost > 0:
			published := ""
			if c.Published != "" {
				published = " (published: " + c.Published + ")"
			}
			r.Claim(v <= c.AtMost, fmt.Sprintf("%s: %s at most %g%s", c.Line, what, c.AtMost, published),
				"%.5f", v)
		case c.AtLeast > 0:
			r.Claim(!(v < c.AtLeast), fmt.Sprintf("%s: %s at least %g, or no step size passes", c.Line, what,
				c.AtLeast), "%.5f", v)
		case c.Below != "":
			other, _ := at(c.Below).mean(c.Measure)
			r.Claim(v <= other+c.Slack, fmt.Sprintf("%s: %s at most that of %s and %g", c.Line, what,
				c.Below, c.Slack), "%.5f and %.5f", v, other)
		case c.Near != "":
			other, _ := at(c.Near).mean(c.Measure)
			r.Claim(math.Abs(v-other) <= c.Slack, fmt.Sprintf("%s: %s within %g of that of %s", c.Line, what,
				c.Slack, c.Near), "%.5f and %.5f", v, other)
		case c.Fails:
			failed := 0
			for _, o := range f.Runs {
				if o.failed() {
					failed++
				}
			}
			r.Claim(failed == len(f.Runs), fmt.Sprintf("%s: fails the rule at every step size down to %.3g",
				c.Line, p.Step.First/float64(uint64(1)<<p.Step.Halvings)), "%d of %d runs", failed, len(f.Runs))
		default:
			worst := 0.0
			for _, o := range f.Runs {
				worst = max(worst, o.Trace[len(o.Trace)-1].Train/o.Trace[0].Train)
				if o.failed() {
					worst = math.Inf(1)
				}
			}
			r.Claim(worst <= c.Falls, fmt.Sprintf("%s: the training error falls below %g times the first",
				c.Line, c.Falls), "%.4f", worst)
		}
	}
}
