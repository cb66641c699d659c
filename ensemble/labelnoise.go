package ensemble

import (
	"context"
	"fmt"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/accountant/noisymax"
	"github.com/darrm/darrm/internal/check"
)

// CanPriceLabels reports whether NoiseOfAnswers serves the setting: t = 1, or two classes.
func CanPriceLabels(s Setting) bool { return s.oneWay() }

// NoiseOfAnswers returns discrete Gaussian noise on each vote count, of which the label alone is
// priced, for up to the given number of answers, which cost (ε, δ) together, with about the least noise that keeps
// the promise (noisymax.Sigma). It serves any number of teachers and classes at t = 1, or two classes
// at any t, and votes that may be none. The errors are those of noisymax.Sigma. Cost: some seconds of
// a processor for more than two classes.
func NoiseOfAnswers(ctx context.Context, s Setting, all accountant.Cost, answers int) (*Mechanism, error) {
	p, err := labelNoise(s, all, answers)
	if err != nil {
		return nil, err
	}
	n, err := noisymax.Sigma(ctx, p)
	if err != nil {
		return nil, err
	}
	return ofLabelNoise(s, all, answers, n.Sigma)
}

// noiseOfAnswersAt is NoiseOfAnswers with noise that was stated, which is priced.
func noiseOfAnswersAt(ctx context.Context, s Setting, all accountant.Cost, answers int, sigma,
	step float64) (*Mechanism, error) {
	p, err := labelNoise(s, all, answers)
	if err != nil {
		return nil, err
	}
	delta, err := noisymax.Price(ctx, p, sigma, step)
	if err != nil {
		return nil, err
	}
	if !(delta <= all.Delta) { // NaN too
		return nil, fmt.Errorf("noise of sigma = %v costs delta = %.6g for %d labels, above %v: %w", sigma,
			delta, answers, all.Delta, ErrTooLittleNoise)
	}
	return ofLabelNoise(s, all, answers, sigma)
}

func labelNoise(s Setting, all accountant.Cost, answers int) (noisymax.Problem, error) {
	p := noisymax.Problem{Teachers: s.K, Classes: s.Classes, Missing: s.Missing,
		Affected: s.Affected, Answers: answers, Epsilon: all.Epsilon, Delta: all.Delta}
	if err := s.Validate(); err != nil {
		return p, err
	}
	return p, p.Validate()
}

func ofLabelNoise(s Setting, all accountant.Cost, answers int, sigma float64) (*Mechanism, error) {
	g, err := gaussian("sigma", sigma)
	if err != nil {
		return nil, err
	}
	m := countMechanism(s, all, labelMax{gaussianMax(g), sigma, answers}, fmt.Sprintf("the price of the "+
		"label of up to %d answers over all counts, of its discrete noise", answers))
	m.name, m.figures = LabelNoise, Figures{Answers: answers, Sigma: sigma}
	m.together = answers
	return m, nil
}

// labelMax is noisyMax that is priced for a number of answers together.
type labelMax struct {
	noisyMax
	sigma   float64
	answers int
}

const labelNoiseText = "σ = %v, up to %d labels"

func (m labelMax) exact() string { return fmt.Sprintf(labelNoiseText, m.sigma, m.answers) }

// LabelNoiseOf returns the mechanism of NoiseOfAnswers that has these Parameters, priced again; it is
// an error where the noise does not keep the promise.
func LabelNoiseOf(ctx context.Context, s Setting, all accountant.Cost, parameters string) (*Mechanism, error) {
	var sigma float64
	var answers int
	if _, err := fmt.Sscanf(parameters, labelNoiseText, &sigma, &answers); err != nil ||
		parameters != fmt.Sprintf(labelNoiseText, sigma, answers) {
		return nil, check.Want("parameters of noise", parameters, "those of labels that are priced together")
	}
	return noiseOfAnswersAt(ctx, s, all, answers, sigma, 0)
}
