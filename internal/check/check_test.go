package check

import (
	"cmp"
	"math"
	"testing"
)

// Each rule takes the values up to its limits and refuses those beyond.
func TestLimits(t *testing.T) {
	together := func(k, classes, affected, answers int, epsilon, delta float64) error {
		return cmp.Or(Together(k, classes, affected, answers, epsilon), Within("budget delta", delta))
	}
	for name, err := range map[string]error{
		"epsilon":         LabelEpsilon(0.5),
		"least epsilon":   LabelEpsilon(math.SmallestNonzeroFloat64),
		"largest epsilon": LabelEpsilon(MaxTotalEpsilon),
		"profile":         ProfileEpsilon(0),
		"probability":     Probability("p", 1),
		"one answer":      together(1, 2, 1, 1, 0.5, 1e-9),
		"all answers":     together(9, 3, 9, MaxAnswers, MaxTotalEpsilon, 0.5),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, err := range map[string]error{
		"epsilon 0":        LabelEpsilon(0),
		"too much epsilon": LabelEpsilon(MaxTotalEpsilon + 1),
		"no epsilon":       LabelEpsilon(math.NaN()),
		"profile below 0":  ProfileEpsilon(-1e-9),
		"probability":      Probability("p", 1.5),
		"no teacher":       together(0, 2, 1, 1, 0.5, 1e-9),
		"one class":        together(1, 1, 1, 1, 0.5, 1e-9),
		"reach":            together(1, 2, 2, 1, 0.5, 1e-9),
		"no answer":        together(1, 2, 1, 0, 0.5, 1e-9),
		"too many answers": together(1, 2, 1, MaxAnswers+1, 0.5, 1e-9),
		"budget":           together(1, 2, 1, 1, 0, 1e-9),
		"delta 1":          together(1, 2, 1, 1, 0.5, 1),
	} {
		if err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}
