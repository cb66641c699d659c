package federated

import (
	"cmp"
	"math"
	"slices"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/federated/rates"
)

// bounds are the published bounds on E‖∇F‖² at one setting, without their constants.
type bounds struct {
	Silos         int     `json:"silos"`
	Records       int     `json:"records"` // of a silo
	Dim           int     `json:"dim"`
	Rounds        int     `json:"rounds"`
	Steps         int     `json:"local_steps"`
	Batch         int     `json:"batch"`
	Gap           float64 `json:"gap"`
	Smoothness    float64 `json:"smoothness"`
	Gradient      float64 `json:"gradient"`
	Heterogeneity float64 `json:"tau"`
	Epsilon       float64 `json:"eps"`
	Delta         float64 `json:"delta"`
	Published     []rate  `json:"published"`
}

func (b bounds) setting(asPrinted bool) rates.Setting {
	return rates.Setting{
		Silos: b.Silos, Records: b.Records, Dim: b.Dim, Rounds: b.Rounds, Steps: b.Steps, Batch: b.Batch,
		Gap: b.Gap, Smoothness: b.Smoothness, Gradient: b.Gradient, Heterogeneity: b.Heterogeneity,
		Epsilon: b.Epsilon, AsPrinted: asPrinted,
	}
}

func (b bounds) check() error {
	return cmp.Or(b.setting(false).Check(), check.Within("delta of the rates", b.Delta))
}

// rate is one method's bounds: as printed, and as the source's own proof has it.
type rate struct {
	Method    string  `json:"method"`
	Trusted   bool    `json:"trusted_server,omitempty"`
	Full      bool    `json:"full_gradients,omitempty"`
	Printed   float64 `json:"printed"`
	Corrected float64 `json:"corrected"`
}

// rates works out the bounds of all methods.
func (b bounds) rates() ([]rate, error) {
	var out []rate
	for _, asPrinted := range []bool{true, false} {
		s := b.setting(asPrinted)
		all, err := s.Rates()
		if err != nil {
			return nil, err
		}
		spider, err := s.Spider(b.Delta)
		if err != nil {
			return nil, err
		}
		for i, r := range append(all, spider) {
			if asPrinted {
				out = append(out, rate{Method: r.Method, Trusted: r.TrustedServer, Full: r.FullGradients,
					Printed: r.Bound})
			} else {
				out[i].Corrected = r.Bound
			}
		}
	}
	return out, nil
}

func (b bounds) report(r *experiment.Run, all []rate) {
	f := &experiment.Found{Places: make([]experiment.Place, 1)}
	for j, m := range all {
		f.Lines = append(f.Lines, experiment.Line{Text: map[string]string{"method": m.Method,
			"server":    map[bool]string{true: "trusted", false: "not trusted"}[m.Trusted],
			"gradients": map[bool]string{true: "all", false: "a batch"}[m.Full]}})
		f.Add(0, j, "printed", m.Printed)
		f.Add(0, j, "corrected", m.Corrected)
		if i := slices.IndexFunc(b.Published, func(p rate) bool { return p.Method == m.Method }); i >= 0 {
			want := b.Published[i]
			off := max(math.Abs(m.Printed/want.Printed-1), math.Abs(m.Corrected/want.Corrected-1))
			r.Sentence("rate", off <= 1e-6, map[string]any{"line": m.Method, "printed": want.Printed,
				"corrected": want.Corrected, "value": m.Printed, "second": m.Corrected})
		}
	}
	r.Grid("rates", map[string]any{"silos": b.Silos, "records": b.Records, "d": b.Dim, "rounds": b.Rounds,
		"steps": b.Steps, "batch": b.Batch, "tau": b.Heterogeneity, "eps": b.Epsilon}, f)
	r.Note("A round on all gradients takes as many rounds of computing as a silo's records need; " +
		"the bounds do not count them.")
}
