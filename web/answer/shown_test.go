package answer

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/testing/must"
)

// A command states what was stated, and nothing of fields that are empty.
func TestCommandOfStatedFields(t *testing.T) {
	s := Stated{"K": "200", "budget-eps": "2", "affected": "", "teachers": ""}
	const want = "darrm plan --K 200 --budget-eps 2"
	if got := PlanCommand(s); got != want || TooLarge(s).Command != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// What an axis needs and nobody stated is 0, which is refused by its name.
func TestAxisOfWhatIsNotStated(t *testing.T) {
	for over, want := range map[string]string{"K": "K = 0, but it must be in (0, 150]", "queries": "queries = 0, but it must be in (0, 10000]",
		"budget-eps": "budget-eps = 0, but it must be in (0, "} {
		if _, err := Axis(Stated{}, over); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", over, err)
		}
	}
}

// Of teachers the curve marks the least number from which on every known point agrees as often as is wanted.
func TestMarkOfTeachersThatReach(t *testing.T) {
	s := Stated{"K": "20", "agreement": "0.9"}
	agree := func(values ...float64) (points []Point) {
		for i, x := range []float64{5, 10, 20, 30, 40}[:len(values)] {
			p := Point{X: x}
			if values[i] > 0 {
				p.Agreement = &values[i]
			}
			points = append(points, p)
		}
		return points
	}
	for _, tt := range []struct {
		points []Point
		want   string
	}{
		{agree(.5, .8, .9, .95, .99), ""}, // 20, which is stated
		{agree(.5, .91, .92, .95, .99), "reached at 10"},
		{agree(.95, .91, .8, .95, .99), "reached at 30"},
		{agree(.95, .96, .97, .95, .99), "reached at 5"},
		{agree(.95, .96, 0, 0, .99), "reached at 40"}, // nothing fits between
		{agree(.95, .96, .97, .98, .8), ""}, {nil, ""},
	} {
		svg, err := DrawCurve(s, "K", tt.points, 0)
		if err != nil || !strings.Contains(svg, ">stated<") || strings.Contains(svg, "reached at ") != (tt.want != "") ||
			!strings.Contains(svg, tt.want+"<") && tt.want != "" {
			t.Errorf("%+v: %v, want %q: %s", tt.points, err, tt.want, svg)
		}
	}
}

// A line has a name once there is something of it to see: a point of the best mechanism, two of a bound.
func TestNamesOfWhatIsDrawn(t *testing.T) {
	s := Stated{"K": "20", "queries": "10", "budget-eps": "2"}
	axis := must.Get(Axis(s, "K"))(t)
	at := func(x float64) Point { return Point{X: x, Agreement: new(.8), Bound: new(.81)} }
	for points, want := range [][2]bool{{false, false}, {true, false}, {true, true}} {
		var known []Point
		for i := range points {
			known = append(known, at(axis[i]))
		}
		svg := must.Get(DrawCurve(s, "K", known, 0))(t)
		if got := [2]bool{strings.Contains(svg, "the best mechanism"), strings.Contains(svg, "no table can be above")}; got != want {
			t.Errorf("%d points: names %v, want %v", points, got, want)
		}
	}
	apart := []Point{at(axis[0]), {X: axis[1], Agreement: new(.8)}, at(axis[2])}
	if svg := must.Get(DrawCurve(s, "K", apart, 0))(t); strings.Contains(svg, "no table can be above") {
		t.Error("a bound that is nowhere a line has a name")
	}
}

// The third step of the story tells what labels cost together to four digits, at a δ of one in a million, and its
// picture begins at 0.
func TestFiguresOfTheStory(t *testing.T) {
	for queries, want := range map[string]string{
		"100": "Together the cost of 100 labels is ε = 4.775 at δ = 1e-06: less than the sum",
		"1":   "Together the cost of 1 label is ε = 0.1 at δ = 1e-06: the sum of all",
	} {
		s := must.Get(NewStep(t.Context(), Stated{"eps": "0.1", "queries": queries}, "labels"))(t)
		if !strings.Contains(s.Says, want) {
			t.Errorf("%s, want %s", s.Says, want)
		}
		if !strings.Contains(s.Picture, `class="curve c2 dashed" points="52.0,`) && queries != "1" {
			t.Errorf("no line of what labels cost that are added up: %s", s.Picture)
		}
		if !strings.Contains(s.Picture, `x="46.0" y="258.0">0</text>`) { // beside the foot of the axis, at 254
			t.Errorf("the axis begins elsewhere: %s", s.Picture)
		}
	}
}

// A long value is cut behind 200 bytes, and one of 200 is not.
func TestLongValuesAreCut(t *testing.T) {
	for n, want := range map[int]int{199: 199, 200: 200, 201: 200} {
		value := json.RawMessage("[" + strings.Repeat("1", n-2) + "]")
		got := shown(value)
		if cut, is := strings.CutSuffix(got, "…"); len(cut) != want || is != (n > 200) {
			t.Errorf("%d bytes: %q", n, got)
		}
	}
}

// A plan has the optimal noise function, and those of private teachers what their randomness says: frozen ones may
// need no noise, and fresh ones pay for each label.
func TestPlanHasTheOptimum(t *testing.T) {
	names := func(s Stated) (out []string) {
		p := must.Get(NewPlan(t.Context(), s, nil, nil))(t)
		for _, c := range p.Report.Choices {
			out = append(out, c.Mechanism)
		}
		return out
	}
	s := maps.Clone(small)
	s["budget-delta"] = "0"
	if got := names(s); !slices.Contains(got, ensemble.OptimalCounts) {
		t.Errorf("of %q none is the optimum", got)
	}
	s["eps"], s["teacher-delta"] = "0.1", "0"
	for _, teachers := range []string{"fresh", "frozen"} {
		s["teachers"] = teachers
		if p := must.Get(NewPlan(t.Context(), s, nil, nil))(t); p.Report.Teachers != teachers || p.Report.Choices[0].Mechanism == "" {
			t.Errorf("%s: %+v", teachers, p.Report)
		}
	}
	s["teachers"] = ""
	if p, err := NewPlan(t.Context(), s, nil, nil); err == nil {
		t.Errorf("nobody says how often they are trained: %+v", p.Report)
	}
}

// What is no number is refused by each step and picture that reads it, whichever field it is in.
func TestStoryAndCurveRefuseWhatIsNoNumber(t *testing.T) {
	for _, flag := range []string{"votes", "eps", "queries"} {
		if s, err := NewStep(t.Context(), Stated{flag: "x"}, "vote"); err == nil || s != nil {
			t.Errorf("%s: %+v, %v", flag, s, err)
		}
	}
	s := maps.Clone(small)
	s["agreement"] = "x"
	if svg, err := DrawCurve(s, "K", nil, 0); err == nil {
		t.Errorf("%s", svg)
	}
	for votes, want := range map[string]string{"4": "changes a vote and not the majority", "5": "The majority changes with this one record",
		"6": "changes a vote and not the majority"} {
		s := must.Get(NewStep(t.Context(), Stated{"votes": votes}, "vote"))(t)
		if !strings.Contains(s.Says, want) || !strings.Contains(s.Picture, ">20 %<") || strings.Count(s.Picture, ">100.00 %<") != map[string]int{"4": 0, "5": 1, "6": 2}[votes] {
			t.Errorf("%s votes: %s %s", votes, s.Says, s.Picture)
		}
	}
	axis := must.Get(Axis(Stated{"K": "40"}, "K"))(t)
	if axis[0] != 10 || axis[len(axis)-1] != 80 {
		t.Errorf("a quarter and twice of 40 teachers are %v", axis)
	}
}
