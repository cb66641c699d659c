package choose

import (
	"context"
	"errors"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/plan"
	"github.com/darrm/darrm/plurality"
	pluralitysolve "github.com/darrm/darrm/plurality/solve"
)

// Many holds the objective of the optimum of many classes. Noise.PriorCounts belongs to it too, and
// serves two classes as well.
type Many struct {
	Accuracy      *float64 // see plurality.Objective
	Concentration *float64 // the same, instead
	Abstain       *float64 // what no class is worth as an answer; not stated, there is always a class
	Gap           *float64 // within which of the optimum's value is enough
}

// Objective returns what is stated, without the histograms where priorCounts names a file.
func (m Many) Objective(priorCounts string, classes int) (o plurality.Objective, err error) {
	switch {
	case priorCounts == UniformCounts || priorCounts == BinomialCounts:
		return o, usagef("prior-counts = %q goes with two classes: give a file of histograms, %s "+
			"or %s", priorCounts, pConcentration, pAccuracy)
	case priorCounts != "" && m.Accuracy != nil:
		return o, exclude(pAccuracy, pPriorCounts)
	case priorCounts != "" && m.Concentration != nil:
		return o, exclude(pConcentration, pPriorCounts)
	case m.Accuracy != nil && m.Concentration != nil:
		return o, exclude(pAccuracy, pConcentration)
	// Checked here, since a 0 that was stated would be none to plurality.
	case m.Accuracy != nil:
		o.Accuracy, err = *m.Accuracy, plurality.CheckAccuracy(*m.Accuracy, classes)
	case m.Concentration != nil:
		o.Concentration, err = *m.Concentration, plurality.CheckConcentration(*m.Concentration)
	case priorCounts == "":
		o = plurality.DefaultObjective(classes)
	}
	if err == nil && m.Abstain != nil {
		o.AbstainValue, err = *m.Abstain, plurality.CheckAbstainValue(*m.Abstain)
	}
	return o, err
}

func exclude(a, b check.Parameter) error { return usagef("%s and %s exclude each other", a, b) }

// WithCounts returns the objective for k teachers with the histograms of priorCounts, which read
// reads if that names a file.
func (m Many) WithCounts(
	ctx context.Context, priorCounts string, k, classes int, read ReadHistograms,
) (plurality.Objective, error) {
	o, err := m.Objective(priorCounts, classes)
	if err == nil && priorCounts != "" {
		o.Counts, err = read(ctx, priorCounts, k, classes)
	}
	return o, err
}

// TooLong returns the error that an optimal table is too large, or took too long, nil for other
// errors.
func TooLong(err error) error {
	var limit *pluralitysolve.LimitError
	var size *plurality.SizeError
	late := plan.ByClock(err)
	switch {
	case late != nil:
		return late
	case errors.As(err, &limit):
		return check.Namedf("%w; a table that was solved for apart may answer (%s)", limit, pTable)
	case errors.As(err, &size):
		return size
	}
	return nil
}
