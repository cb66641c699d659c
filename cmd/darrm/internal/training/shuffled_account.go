package training

import (
	"fmt"
	"math"
	"strings"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/learn/shuffled"
	"github.com/darrm/darrm/learn/shuffled/iteration"
)

// explain prints the account behind the cost of the last plan.
func (f *ShuffledFlags) explain(a *cli.App) bool {
	sayAccount(a, f.report)
	return true
}

// describe adds the last plan's account to a model's file.
func (f *ShuffledFlags) describe(r *modelReport) {
	basis := newCostBasis(f.report)
	r.Regularizer, r.Account, r.Price, r.Epochs, r.Rounds = f.Complete().Regularizer.Name(), &basis,
		nil, r.Rounds, 0
}

// sayAccount prints a training's cost with the account that it follows from.
func sayAccount(a *cli.App, r iteration.Report) {
	switch {
	case math.IsInf(r.Cost.Epsilon, 1):
		a.Say("NOT PRIVATE: gradients of private records without noise")
		return
	case r.Epochs == 0:
		a.Fact("cost:", "none, no private record is used")
		return
	}
	a.Fact("cost:", fmt.Sprintf("%s-DP where neighbours %s, if %s is released", r.Cost.Short(),
		r.Relation, r.Released))
	a.Fact("by:", fmt.Sprintf("%s; order of records %s", basis(r), orderName(r)))
	a.Fact("", fmt.Sprintf("noise σ = %.6g on private and %.6g on public steps, at clip %g; "+
		"amplification m = %.4g", r.Noise, r.PublicNoise, r.Clip, r.Amplification))
	a.Fact("", fmt.Sprintf("step size η = %g; %s", r.StepSize, contraction(r)))
	if len(r.Fallback) > 0 {
		a.Fact("", "noise on public steps does not count: "+strings.Join(r.Fallback, "; "))
	}
	for _, t := range r.Trials {
		a.Fact("", trialLine(t))
	}
	for _, w := range r.Warnings {
		a.Fact("warning:", w)
	}
}

// trialLine describes the result of one mode of accounting, in a search for the best mode.
func trialLine(t iteration.Trial) string {
	if t.Refused != nil {
		return t.Refused.Error()
	}
	return fmt.Sprintf("%s: ε = %s", t.Mode, num.Outward(t.Epsilon, 6, true))
}

// basis returns the mode, ρ and order of a cost, in words.
func basis(r iteration.Report) string {
	if byLosses(r) {
		return fmt.Sprintf("%s by its privacy losses", r.Mode)
	}
	s := fmt.Sprintf("%s, ρ = %s", r.Mode, num.Outward(r.Rho, 6, true))
	switch r.Conversion {
	case "":
	case iteration.ConversionExact:
		s += ", exact conversion"
	default:
		s += fmt.Sprintf(" at order α = %.4g, %s conversion", r.Alpha, r.Conversion)
	}
	return s
}

// byLosses reports whether r rests on the privacy losses of a mixture, which have no ρ.
func byLosses(r iteration.Report) bool {
	return r.Conversion == iteration.ConversionExact && r.Rho == 0
}

// contraction describes the loss's smoothness, and whether steps are known to be non-expansive.
func contraction(r iteration.Report) string {
	l := "smoothness unknown"
	if r.Smoothness > 0 && !math.IsInf(r.Smoothness, 1) {
		l = fmt.Sprintf("smoothness L = %s", num.Outward(r.Smoothness, 6, true))
	}
	if r.Contractive {
		return l + ": steps are non-expansive"
	}
	return l + ": steps are not known to be non-expansive"
}

// orderName names the order of records; DP-SGD draws each anew.
func orderName(r iteration.Report) string {
	if r.Mode == shuffled.ModeUniformSampling {
		return "none, each is drawn uniformly"
	}
	return r.Order.String()
}

// costBasis is the account that a training's cost follows from, in JSON.
type costBasis struct {
	Mode          string   `json:"mode"`
	Conversion    string   `json:"conversion"`
	Relation      string   `json:"neighbours"`
	Order         string   `json:"order"`
	Released      string   `json:"released"` // the most that may be, for the cost to hold
	Noise         float64  `json:"noise"`
	PublicNoise   float64  `json:"public_noise"`
	Clip          float64  `json:"clip"` // infinite without clipping
	Amplification float64  `json:"amplification"`
	Rho           float64  `json:"rho"`   // infinite without noise, NaN by privacy losses
	Alpha         float64  `json:"alpha"` // 0 where no order was used
	StepSize      float64  `json:"step_size"`
	Smoothness    float64  `json:"smoothness"` // not finite where unknown
	Contractive   bool     `json:"contractive"`
	Fallback      []string `json:"fallback"`
	Warnings      []string `json:"warnings"`
	Tried         []tried  `json:"tried,omitempty"` // what each mode says, with --mode best
}

// tried is the result of one mode of accounting, in JSON, in a search for the best mode.
type tried struct {
	Mode       string   `json:"mode"`
	Conversion string   `json:"conversion,omitempty"`
	Epsilon    *float64 `json:"epsilon,omitempty"`
	Refused    string   `json:"refused,omitempty"`
}

func newCostBasis(r iteration.Report) costBasis {
	b := costBasis{
		Mode: string(r.Mode), Conversion: string(r.Conversion), Relation: r.Relation.String(),
		Order: orderName(r), Released: r.Released.String(),
		Noise: r.Noise, PublicNoise: r.PublicNoise, Clip: r.Clip, Amplification: r.Amplification,
		Rho: r.Rho, Alpha: r.Alpha, StepSize: r.StepSize, Smoothness: r.Smoothness,
		Contractive: r.Contractive, Fallback: append([]string{}, r.Fallback...),
		Warnings: append([]string{}, r.Warnings...),
	}
	if !(r.Smoothness > 0) {
		b.Smoothness = math.NaN()
	}
	if byLosses(r) {
		b.Rho = math.NaN()
	}
	for _, t := range r.Trials {
		row := tried{Mode: string(t.Mode), Conversion: string(t.Conversion)}
		if t.Refused != nil {
			row.Refused = t.Refused.Error()
		} else {
			row.Epsilon = cli.Finite(t.Epsilon)
		}
		b.Tried = append(b.Tried, row)
	}
	return b
}
