package param_test

import (
	"slices"
	"testing"

	"github.com/darrm/darrm/internal/param"
)

type inner struct {
	StepFactor float64 `json:"step_factor,omitempty" for:"fast slow" help:"factor"`
}

type outer struct {
	LabelEpsilon *float64 `flag:"label-eps" default:"1"`
	M            int      `flag:"m" name:"allowance m"`
	None         int
	Within       inner
}

// A parameter is what its tags state, in the order of the fields, those of a struct in its place.
func TestTags(t *testing.T) {
	o := outer{M: 2}
	all := param.Of(&o)
	var names, flags []string
	for _, p := range all {
		names, flags = append(names, string(p.Name)), append(flags, p.Flag)
	}
	if !slices.Equal(names, []string{"label epsilon", "allowance m", "step factor"}) ||
		!slices.Equal(flags, []string{"label-eps", "m", "step-factor"}) {
		t.Errorf("%q %q", names, flags)
	}
	if all[0].Stated() || !all[1].Stated() || all[0].Default != "1" {
		t.Errorf("%+v", all)
	}
	if !all[1].IsFor("any") || all[2].IsFor("any") || !all[2].IsFor("slow") {
		t.Error("methods")
	}
	all[2].Value.SetFloat(3)
	if o.Within.StepFactor != 3 || param.Of(3) != nil || param.Lookup(o, "m").Field != "M" {
		t.Error(o)
	}
}

// Text sets a parameter, also one that is a pointer; what is no number is refused.
func TestSet(t *testing.T) {
	var o outer
	for flag, text := range map[string]string{"label-eps": "0.5", "m": "7"} {
		if err := param.Lookup(&o, flag).Set(text); err != nil {
			t.Error(err)
		}
		if param.Lookup(&outer{}, flag).Set("3x") == nil {
			t.Errorf("%s = 3x", flag)
		}
	}
	if o.LabelEpsilon == nil || *o.LabelEpsilon != 0.5 || o.M != 7 {
		t.Errorf("%+v", o)
	}
}
