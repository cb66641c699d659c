package mechanisms

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/sweep"
)

// The axis is the parameter with the most values, every other one that varies by itself tells
// curves apart, and what follows from the others does not.
func TestPlanSweepPicture(t *testing.T) {
	for _, c := range []struct {
		k        []int
		m, eps   []float64
		affected []int
		x        string
		curves   []string
	}{
		{[]int{11}, []float64{1, 2, 3}, []float64{0.1}, []int{sweep.All}, "m", []string{""}},
		// t = K follows from K
		{[]int{5, 7, 9}, []float64{1, 2}, []float64{0.1}, []int{sweep.All}, "K",
			[]string{"m = 1", "m = 2"}},
		{[]int{5, 11}, []float64{1, 2, 3}, []float64{0.1}, []int{1, sweep.All}, "m",
			[]string{"K = 5, affected = 1", "K = 5, affected = 5", "K = 11, affected = 1",
				"K = 11, affected = 11"}},
		{[]int{11}, []float64{1, 2}, []float64{0.1, 0.2, 0.3}, []int{sweep.All}, "eps",
			[]string{"m = 1", "m = 2"}},
		{[]int{11}, []float64{1}, []float64{0.1}, []int{sweep.All}, "", nil},
		// nine curves
		{[]int{5, 6, 7, 8, 9, 10, 11, 12, 13}, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, []float64{0.1},
			[]int{sweep.All}, "", nil},
	} {
		points, invalid, err := sweep.Grid{K: c.k, M: c.m, Epsilon: c.eps, TeacherDelta: []float64{1e-5},
			Affected: c.affected}.Points(context.Background())
		if err != nil || len(invalid) > 0 {
			t.Fatal(err, invalid)
		}
		plan, err := planSweepPicture(noiseSweep(points, gamma.Objective{}).axes)
		if (err != nil) != (c.x == "") {
			t.Errorf("K %v, m %v, affected %v: %v", c.k, c.m, c.affected, err)
		}
		if err == nil && (plan.x.name != c.x || !slices.Equal(plan.curves, c.curves)) {
			t.Errorf("K %v, m %v, affected %v: %s against %q, want %s against %q", c.k, c.m, c.affected,
				plan.x.name, plan.curves, c.x, c.curves)
		}
		if err != nil {
			continue
		}
		// No curve has two errors at one place.
		type place struct {
			curve int
			x     float64
		}
		seen := map[place]bool{}
		for row := range points {
			at := place{plan.rows[row], plan.x.at[row]}
			if seen[at] {
				t.Errorf("curve %q has two points at %g", plan.curves[at.curve], at.x)
			}
			seen[at] = true
		}
	}
}

// The picture of a sweep has a curve for the optimum and one for each baseline, or one for each
// combination.
func TestSweepPicture(t *testing.T) {
	for _, c := range []struct {
		k    []int
		want []string
	}{
		{[]int{5}, []string{"optimal-teachers", "randomised-response", "subsampling", "m, allowance"}},
		{[]int{5, 7}, []string{"K = 5", "K = 7", "m, allowance"}},
	} {
		s, rows, _ := testSweep(t, c.k, []float64{1, 2, 3}, []int{sweep.All}, 1, nil)
		plan, err := planSweepPicture(s.axes)
		if err != nil {
			t.Fatal(err)
		}
		sheet, err := s.picture(plan, rows)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := sheet.Encode(&b, "svg"); err != nil {
			t.Fatal(err)
		}
		for _, text := range c.want {
			if !strings.Contains(b.String(), ">"+text+"</text>") {
				t.Errorf("K %v: the picture has no %q", c.k, text)
			}
		}
		if strings.Contains(b.String(), "NaN") {
			t.Errorf("K %v: NaN in the picture", c.k)
		}
	}
}

// The picture of a noise function reaches down to where γ is below 0, and otherwise to 0.
func TestGammaPictureShowsAllOfGamma(t *testing.T) {
	p, err := constraints.NewProblem(3, 4, 0.5, 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	for least, want := range map[float64]float64{-0.5: -0.52, 0.25: 0} {
		certified, err := gamma.Certify(t.Context(), p,
			must.Get(gamma.New([]float64{1, least, least, 1}))(t))
		if err != nil {
			t.Fatal(err)
		}
		table := must.Get(gamma.NewTable(t.Context(), certified,
			gamma.Objective{PriorMean: 0.75, Shape: gamma.Any}, gamma.Proof{}))(t)
		sheet := must.Get(gammaPicture(table))(t)
		if y := sheet.Charts[0][0].Y; y.Min != want || y.Max != 1.04 {
			t.Errorf("γ from %v to 1 is drawn from %v to %v", least, y.Min, y.Max)
		}
	}
}

// Where the labels are told apart, the picture has the probability of label 1, at a tie too.
func TestGammaPictureOfLabelsByName(t *testing.T) {
	p := must.Get(constraints.NewProblem(4, 4, 0.5, 1e-5))(t)
	certified := must.Get(gamma.Certify(t.Context(), p, must.Get(gamma.NewByName([]float64{1, .5, -.5, .25, 1}))(t)))(t)
	table := must.Get(gamma.NewTable(t.Context(), certified,
		gamma.Objective{Counts: []float64{5, 4, 3, 2, 1}, Shape: gamma.ByName}, gamma.Proof{}))(t)
	var svg bytes.Buffer
	sheet := must.Get(gammaPicture(table))(t)
	if err := sheet.Encode(&svg, "svg"); err != nil {
		t.Fatal(err)
	}
	y := sheet.Charts[0][0].Y
	if y.Label.Text != "Pr[label = 1]" || y.Min != 0 || !strings.Contains(svg.String(), "Pr[label = 1]") {
		t.Errorf("axis %q from %v", y.Label.Text, y.Min)
	}
}
