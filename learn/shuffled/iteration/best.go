package iteration

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/memo"
)

// Trial is the result of one mode for an event whose best mode is asked for.
type Trial struct {
	Mode       Mode
	Conversion Conversion // the one with the smallest figure; "" where the mode is refused
	Epsilon    float64    // at the report's noise
	// why the mode gives no figure, ErrNotCertified where a condition fails; nil if it gives one
	Refused error
}

// inMode returns the event in another mode.
func (e Steps) inMode(m Mode, c Conversion) Steps {
	e.Mode, e.Conversion = m, c
	return e
}

// counted is a run in a mode that holds for it, and the noise m that certify lets it count.
type counted struct {
	Steps
	m float64
}

// certified returns the checked run in each mode that Best may use for it, the run itself
// where another mode was asked for. Paper holds always, so there is one.
func (e Steps) certified() ([]counted, error) {
	modes := []Mode{e.mode()}
	if e.mode() == Best {
		modes = []Mode{Paper, RRMixture, SOMixture, CrossEpoch} // GaussianExact counts what Paper does
	}
	var all []counted
	for _, mode := range modes {
		named := e.inMode(mode, e.Conversion)
		m, _, err := named.certify()
		if err != nil && e.mode() != Best {
			return nil, err
		}
		if err == nil {
			all = append(all, counted{named, m})
		}
	}
	return all, nil
}

// conversionsToTry returns the conversions that Best tries for a mode, the stated one alone
// if there is one.
func (e Steps) conversionsToTry(m Mode) []Conversion {
	switch {
	case m == GaussianExact:
		return []Conversion{ConversionExact}
	case e.Conversion != "":
		return []Conversion{e.Conversion}
	case m == Paper:
		return []Conversion{ConversionImproved} // GaussianExact is the exact one
	}
	return []Conversion{ConversionImproved, ConversionExact}
}

// bestReport is Account of checked runs in Best. The smallest figure wins,
// the first of Modes among equals. Each figure is an upper bound by itself, so
// the smallest is one too: which it is depends on the events and δ, not on records.
func bestReport(delta float64, runs []Steps) (Report, error) {
	if len(runs) > 1 {
		return newBestReport(delta, runs)
	}
	r, err := bestReports.Get(question{runs[0], accountant.Cost{Delta: delta}},
		func() (Report, error) { return newBestReport(delta, runs) })
	r.Fallback, r.Warnings, r.Trials = slices.Clone(r.Fallback), slices.Clone(r.Warnings),
		slices.Clone(r.Trials)
	return r, err
}

func newBestReport(delta float64, runs []Steps) (Report, error) {
	var best *Report
	var trials []Trial
	for _, m := range namedModes() {
		trial := Trial{Mode: m}
		for _, c := range runs[0].conversionsToTry(m) {
			named := make([]Steps, len(runs))
			for i, e := range runs {
				named[i] = e.inMode(m, c)
			}
			r, err := Account(delta, named...)
			if err != nil {
				if trial.Conversion == "" {
					trial.Refused = err
				}
				continue
			}
			if trial.Conversion == "" || r.Cost.Epsilon < trial.Epsilon {
				trial.Conversion, trial.Epsilon, trial.Refused = c, r.Cost.Epsilon, nil
			}
			if best == nil || r.Cost.Epsilon < best.Cost.Epsilon {
				best = &r
			}
		}
		trials = append(trials, trial)
	}
	if best == nil {
		return Report{}, trials[0].Refused
	}
	best.Trials = trials
	return *best, nil
}

// calibrateBest returns the smallest noise that any certified mode needs for the target.
func (e Steps) calibrateBest(ctx context.Context, target accountant.Cost) (Steps, Report, error) {
	least, err := bestNoises.Get(question{e, target}, func() (Steps, error) {
		return e.newCalibrateBest(ctx, target)
	})
	if err != nil {
		return Steps{}, Report{}, err
	}
	r, err := least.Report(target.Delta)
	if err == nil && !(r.Cost.Epsilon <= target.Epsilon) {
		// cannot happen: one mode fits
		err = fmt.Errorf("no noise found for %v: %w", target, accountant.ErrUnsupported)
	}
	return least, r, err
}

func (e Steps) newCalibrateBest(ctx context.Context, target accountant.Cost) (Steps, error) {
	var found []Steps
	var refused error
	for _, m := range namedModes() {
		for _, c := range e.conversionsToTry(m) {
			named, _, err := e.inMode(m, c).Calibrate(ctx, target)
			if ctx.Err() != nil {
				return Steps{}, ctx.Err()
			}
			if err != nil {
				refused = cmp.Or(refused, err)
				continue
			}
			found = append(found, named)
		}
	}
	if len(found) == 0 {
		return Steps{}, fmt.Errorf("mode %s: %w", Best, refused)
	}
	least := slices.MinFunc(found, func(a, b Steps) int { return cmp.Compare(a.Noise, b.Noise) })
	return least.inMode(e.Mode, e.Conversion), nil
}

// bestReports and bestNoises remember answers that take tenths of a second: teachers of equal
// parts all ask the same.
var (
	bestReports memo.Of[question, Report]
	bestNoises  memo.Of[question, Steps]
)

type question struct {
	e    Steps
	cost accountant.Cost
}
