package experiment_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/internal/testing/must"
)

// told returns a run of a kind whose sentences are the values that claims are about.
func told(t *testing.T, means bool) *experiment.Run {
	t.Helper()
	c := experiment.New(experiment.Field{Looks: map[experiment.Method]experiment.Look{"m": {}},
		Kinds: []experiment.Kind{{Name: "toy",
			New: func() experiment.Parameters { return &leibniz{} },
			Spec: &experiment.Spec{Means: means,
				Measures: map[string]string{"default": "risk", "": "a {unit}", "auc": "AUC"},
				Claims: map[string][2]string{
					"range":            {"{at}: {what} of {line} in [{low}, {high}]{published}", "{value:%.2f}"},
					"range above":      {"{line} above {low}", "{value}"},
					"range of auc":     {"{what}", "{value}"},
					"factor":           {"{line} by {of} in [{low}, {high}]", "{ratio}"},
					"order":            {"{lines}", "{values:%.1f|; }"},
					"slope":            {"{line}: {low} to {high}", "{value:%.3f}"},
					"difference above": {"{line} minus {of}", "{mean:%.1f} [{from:%.1f}, {to:%.1f}]"},
					"within":           {"{line} near {of}: {within}", "{mean:%.1f}"},
				}}}}})
	d := must.Get(c.Parse([]byte(
		`{"format_version": 1, "name": "toy", "kind": "toy", "title": "t", "parameters": {"terms": [1]}}`)))(t)
	return d.NewRun(t.Context(), experiment.Options{})
}

// measured has two lines at n = 10 and 100: a falls as 1/n, in b a repeat is far from the other.
func measured() *experiment.Found {
	f := &experiment.Found{Places: []experiment.Place{{Name: "n = 10", At: map[string]float64{"n": 10}},
		{Name: "n = 100", At: map[string]float64{"n": 100}}},
		Lines: []experiment.Line{{Name: "a", Title: "A", Look: "m"}, {Name: "b", Look: "m"}}}
	f.Add(0, 0, "risk", 1, 1)
	f.Add(0, 1, "risk", 2, 6)
	f.Add(1, 0, "risk", .1, .1)
	f.Add(1, 1, "risk", math.NaN(), 1)
	f.Add(0, 0, "auc", .75)
	return f
}

// Each predicate holds on one side of what was measured, fails on the other, and states the numbers.
func TestStatements(t *testing.T) {
	for _, c := range []struct{ claim, want string }{
		{`{"line": "a", "at": {"n": 10}, "range": [1, 2]}`, "true n = 10: a loss of A in [1, 2] (1.00)"},
		{`{"line": "a", "at": {"n": 10}, "range": [1.5, 2], "published": "1.7"}`,
			"false n = 10: a loss of A in [1.5, 2] (published: 1.7) (1.00)"},
		{`{"line": "a", "at": {"n": 10}, "range": [null, 0.9]}`,
			"false n = 10: a loss of A is at most 0.9 (1.0000)"},
		// What is no number is above all.
		{`{"line": "b", "at": {"n": 100}, "range": [3, null]}`, "true b above 3 (NaN)"},
		{`{"line": "b", "at": {"n": 100}, "range": [0, 3]}`,
			"false n = 100: a loss of b in [0, 3] (NaN)"},
		{`{"line": "a", "at": {"n": 10}, "measure": "auc", "range": [0.7, 0.8]}`, "true AUC (0.75)"},
		{`{"line": "a", "at": {"n": 10}, "of": "b", "factor": [null, 0.25]}`, "true n = 10: a loss of A is at most 0.25 times that of b (1 and 4)"},
		{`{"line": "a", "at": {"n": 10}, "of": "b", "factor": [0.3, 0.5]}`, "false A by b in [0.3, 0.5] (0.25)"},
		{`{"line": "a", "at": {"n": 10}, "order": ["b"]}`, "true A, b (1.0; 4.0)"},
		{`{"line": "b", "at": {"n": 10}, "order": ["a"]}`, "false b, A (4.0; 1.0)"},
		{`{"line": "a", "slope": [-1.1, -0.9]}`, "true A: -1.1 to -0.9 (-1.000)"},
		{`{"line": "a", "slope": [-0.9, 0]}`, "false A: -0.9 to 0 (-1.000)"},
		// The mean is 3 above, and the interval reaches below 0.
		{`{"line": "b", "at": {"n": 10}, "of": "a", "difference": [0, null]}`,
			"false b minus A (3.0 [-22.4, 28.4])"},
		{`{"line": "b", "at": {"n": 10}, "of": "a", "difference": [-23, null]}`,
			"true b minus A (3.0 [-22.4, 28.4])"},
		{`{"line": "b", "at": {"n": 10}, "of": "a", "difference": [null, 28]}`,
			"false n = 10: a loss of b minus that of A is below 28, with 95 % confidence (+3.0000 " +
				"[-22.4124, +28.4124])"},
		{`{"line": "b", "at": {"n": 10}, "of": "a", "within": 3}`, "true b near A: 3 (3.0)"},
		{`{"line": "b", "at": {"n": 10}, "of": "a", "within": 2.9}`, "false b near A: 2.9 (3.0)"},
	} {
		var s experiment.Statement
		if err := json.Unmarshal([]byte(c.claim), &s); err != nil {
			t.Fatalf("%s: %v", c.claim, err)
		}
		r, f := told(t, false), measured()
		if err := experiment.CheckStatements([]experiment.Statement{s}, f, "", "auc"); err != nil {
			t.Errorf("%s: %v", c.claim, err)
		}
		r.State(f, []experiment.Statement{s}, map[string]any{"unit": "loss"})
		got := r.Result.Claims[0]
		if text := experiment.Fill("{holds} {text} ({evidence})", map[string]any{"holds": got.Holds,
			"text": got.Text, "evidence": got.Evidence}); text != c.want || len(r.Result.Claims) != 1 {
			t.Errorf("%s: %s, want %s", c.claim, text, c.want)
		}
		var again experiment.Statement
		text := must.Get(json.Marshal(s))(t)
		if err := json.Unmarshal(text, &again); err != nil || string(must.Get(json.Marshal(again))(t)) !=
			string(text) {
			t.Errorf("%s is not read back: %v", text, err)
		}
	}
	// Where repeats are no pairs, means are compared.
	r := told(t, true)
	r.State(measured(), []experiment.Statement{{Line: "b", At: map[string]float64{"n": 10}, Of: "a",
		Difference: &experiment.Bounds{Low: 3, High: 3}}}, map[string]any{"unit": ""})
	if c := r.Result.Claims[0]; !c.Holds {
		t.Errorf("%+v", c)
	}
}

func TestStatementsAreChecked(t *testing.T) {
	one := &experiment.Bounds{High: 1}
	for want, c := range map[string]experiment.Statement{
		"lines of a claim": {Line: "c", Range: one},
		"measure":          {Line: "a", Measure: "loss", Range: one},
		"another line":     {Line: "a", Of: "b", Range: one},
		"must have one of": {Line: "a", Range: one, Slope: one},
		"no such place":    {Line: "a", At: map[string]float64{"n": 11}, Range: one},
	} {
		if err := experiment.CheckStatements([]experiment.Statement{c}, measured(), ""); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", c, err, want)
		}
	}
	if err := experiment.CheckStatements([]experiment.Statement{{Line: "a", Factor: one}}, measured(),
		""); err == nil {
		t.Error("a factor of nothing")
	}
}

// The statistics of a column, by hand: 2 and 6 have the mean 4 and the deviation √8, and Student's t
// with one degree of freedom is 12.706.
func TestStatistics(t *testing.T) {
	f := measured()
	for column, want := range map[string]float64{"risk": 4, "risk_sd": math.Sqrt(8), "risk_se": 2,
		"risk_low": 4 - 25.412, "risk_high": 4 + 25.412, "risk_half": 25.412} {
		if got := f.Stat(0, 1, column); math.Abs(got-want) > 1e-3 {
			t.Errorf("%s = %g, want %g", column, got, want)
		}
	}
	for _, column := range []string{"auc", "risk_best", "x"} {
		if got := f.Stat(0, 1, column); !math.IsNaN(got) {
			t.Errorf("%s = %g", column, got)
		}
	}
}

func TestFillWantsItsValues(t *testing.T) {
	if got := experiment.Fill("{a} and {b:%.1f}: {c:%g|, }", map[string]any{"a": 1, "b": .25,
		"c": []float64{1, 2}}); got != "1 and 0.2: 1, 2" {
		t.Error(got)
	}
	defer func() {
		if recover() == nil {
			t.Error("a hole without a value")
		}
	}()
	experiment.Fill("{a}", nil)
}
