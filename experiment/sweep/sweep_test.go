package sweep

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/learn/train"
)

// A line is scored in every repeat with that repeat's sample, one whose repeats are alike once, and
// one without a model never.
func TestMeasure(t *testing.T) {
	trial := Trial[int]{
		Lines: []Line{{Name: "all"}, {Name: "once"}, {Name: "none"}}, Repeats: 4,
		Plan:   func(line int) (train.Plan, float64, error) { return train.Plan{}, float64(line), nil },
		Sample: func(repeat int) (int, error) { return 10 * repeat, nil },
		Score: func(_ context.Context, line int, _ train.Plan, s, repeat int) (map[string]float64,
			error) {
			if line == 1 && repeat > 0 {
				t.Error("a line whose repeats are alike is trained again")
			}
			if line == 2 {
				return nil, nil
			}
			return map[string]float64{"": float64(s + line)}, nil
		},
		Once: func(line int) bool { return line == 1 },
	}
	got, err := trial.Measure(&experiment.Run{Context: t.Context()})
	if err != nil || !slices.Equal(got[0].By[""], []float64{0, 10, 20, 30}) ||
		!slices.Equal(got[1].By[""], []float64{1, 1, 1, 1}) || got[2].By != nil || got[2].Epsilon != 2 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestCheckLines(t *testing.T) {
	looks := map[experiment.Method]experiment.Look{"f-a": {}, "f-b": {}}
	for want, lines := range map[string][]Line{
		"":                 {{Name: "1", Method: "a"}, {Name: "2", Method: "c", Look: "b"}},
		"between 1 and 12": nil,
		`no look "f-c"`:    {{Name: "1", Method: "c"}},
		`line ""`:          {{Method: "a"}},
		"lines":            {{Name: "1", Method: "a"}, {Name: "1", Method: "b"}},
	} {
		if err := CheckLines(lines, "f-", looks); (err == nil) != (want == "") || err != nil &&
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", lines, err, want)
		}
	}
}
