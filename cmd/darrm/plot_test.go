package main

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
)

// The axis is the parameter with the most values, every other one that varies by itself tells
// curves apart, and what follows from the others does not.
func TestPlanSweepPicture(t *testing.T) {
	for _, c := range []struct {
		k, m, eps, affected string
		x                   string
		curves              []string
	}{
		{"11", "1:5", "0.1", "all", "m", []string{""}},
		{"5:11", "1:2", "0.1", "all", "K", []string{"m = 1", "m = 2"}}, // t = K follows from K
		{"5,11", "1:3", "0.1", "1,all", "m", []string{"K = 5, affected = 1", "K = 5, affected = 5", "K = 11, affected = 1", "K = 11, affected = 11"}},
		{"11", "1,2", "0.1:0.3:0.1", "all", "eps", []string{"m = 1", "m = 2"}},
		{"11", "1", "0.1", "all", "", nil},
		{"5:13", "1:10", "0.1", "all", "", nil}, // nine curves
	} {
		points, invalid, err := testGrid(t, c.k, c.m, c.eps, "1e-5", c.affected).points(context.Background())
		if err != nil || len(invalid) > 0 {
			t.Fatal(err, invalid)
		}
		plan, err := planSweepPicture(points)
		if (err != nil) != (c.x == "") {
			t.Errorf("K %s, m %s, affected %s: %v", c.k, c.m, c.affected, err)
		}
		if err == nil && (plan.x.name != c.x || !slices.Equal(plan.curves, c.curves)) {
			t.Errorf("K %s, m %s, affected %s: %s against %q, want %s against %q", c.k, c.m, c.affected, plan.x.name, plan.curves, c.x, c.curves)
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
		for row, p := range points {
			at := place{plan.rows[row], plan.x.of(p.problem)}
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
	for k, want := range map[string][]string{
		"5":   {"optimal", "randomised response", "subsampling", "m, allowance"},
		"5,7": {"K = 5", "K = 7", "m, allowance"},
	} {
		s := testSweep(t, k, "1:3", "all", 1, nil)
		plan, err := planSweepPicture(s.points)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.solve(context.Background()); err != nil {
			t.Fatal(err)
		}
		sheet, err := s.picture(plan)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := sheet.Encode(&b, "svg"); err != nil {
			t.Fatal(err)
		}
		for _, text := range want {
			if !strings.Contains(b.String(), ">"+text+"</text>") {
				t.Errorf("K %s: the picture has no %q", k, text)
			}
		}
		if strings.Contains(b.String(), "NaN") {
			t.Errorf("K %s: NaN in the picture", k)
		}
	}
}
