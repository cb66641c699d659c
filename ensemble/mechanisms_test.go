package ensemble

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/testing/must"
)

// Names are stable: they stand in ledgers, commands and files. One that goes, or changes, is
// another mechanism to all of them.
func TestMechanismNames(t *testing.T) {
	var names []string
	for _, d := range Mechanisms() {
		names = append(names, d.Name)
		if !regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`).MatchString(d.Name) || d.About == "" {
			t.Errorf("%q is %q", d.Name, d.About)
		}
	}
	want := []string{
		"optimal-teachers", "optimal-counts", "many-answers", "randomised-response", "randomised-response-tight",
		"subsampling",
		"double-subsampling",
		"gnmax-label", "gnmax-renyi", "gnmax", "confident-gnmax", "lnmax", "permute-and-flip",
	}
	if !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
}

// A row's needs are those of the mechanism that it makes: with a δ or without, with a check or
// without, for any number of classes, under the row's name, at no more than the promise.
func TestRowsMakeWhatTheyDescribe(t *testing.T) {
	for _, d := range Mechanisms() {
		found, ok := Describe(d.Name)
		if !ok || found.Name != d.Name {
			t.Errorf("%s is described as %+v", d.Name, found)
		}
		kind, baseline := d.Baseline()
		if baseline != (d.Teachers && d.Table == NoTable) || baseline && kind.Name != d.Name {
			t.Errorf("%s is the baseline %q, %t", d.Name, kind.Name, baseline)
		}
		if d.Calibrated() == (d.Table != NoTable || baseline) {
			t.Errorf("%s is made in two ways or none", d.Name)
		}
		if !d.Calibrated() {
			if _, err := Calibrated(d.Name, Setting{}, accountant.Cost{}, Check{}); err == nil {
				t.Errorf("%s is calibrated", d.Name)
			}
			continue
		}
		for _, classes := range []int{2, 5} {
			s := Setting{K: 9, Classes: classes, Affected: 1, Neighbours: accountant.ReplaceOne}
			target := accountant.Cost{Epsilon: 1, Delta: 1e-4}
			m := must.Get(Calibrated(d.Name, s, target, Check{Ratio: CheckRatio}))(t)
			cost := m.PerAnswer()
			if m.Name() != d.Name || m.Setting() != s || cost.Epsilon != 1 || (cost.Delta > 0) != d.Delta ||
				m.Abstains() != d.Check {
				t.Errorf("%s, %d classes: %+v makes %+v of %v", d.Name, classes, d, m, cost)
			}
			if m.Parameters() == "" {
				t.Errorf("%s: nothing tells noise from noise", d.Name)
			}
			if _, err := Calibrated(d.Name, s, accountant.Cost{Epsilon: 1},
				Check{Ratio: CheckRatio}); (err != nil) != d.Delta {
				t.Errorf("%s without δ: %v", d.Name, err)
			}
		}
	}
}

// What Mechanisms returns is the caller's: nothing that is done to it reaches the table, nor makes
// a mechanism under another name.
func TestNoRowFromOutside(t *testing.T) {
	before := Mechanisms()
	all := Mechanisms()
	for i := range all {
		all[i].Name, all[i].Delta = "mine", false
	}
	for i, d := range Mechanisms() {
		if d.Name != before[i].Name || d.Delta != before[i].Delta {
			t.Errorf("%s became %s", before[i].Name, d.Name)
		}
	}
	s := Setting{K: 9, Classes: 2, Affected: 1, Neighbours: accountant.ReplaceOne}
	if _, err := Calibrated("mine", s, accountant.Cost{Epsilon: 1}, Check{}); err == nil {
		t.Error("a name from outside makes a mechanism")
	}
	if _, ok := Describe("mine"); ok {
		t.Error("a name from outside is described")
	}
	var mine Description
	if _, ok := mine.GuessEpsilon(accountant.Cost{Epsilon: 1}, 1, 0); ok || mine.Serves(s) {
		t.Error("the zero Description serves")
	}
	if kind, ok := mine.Baseline(); ok {
		t.Errorf("the zero Description is %s", kind.Name)
	}
	if kind, ok := before[3].Baseline(); !ok || kind.Name != gamma.BaselineKinds()[0].Name {
		t.Errorf("%s is %s", before[3].Name, kind.Name)
	}
}

// For every Setting a plan tries one of two mechanisms that add the same noise, and all others.
func TestPlansServeEachSettingOnce(t *testing.T) {
	for _, s := range []Setting{{K: 9, Classes: 2, Affected: 3}, {K: 9, Classes: 3, Affected: 1},
		{K: 9, Classes: 3, Affected: 2}} {
		law := func(d Description) string { return strings.TrimSuffix(d.Name, "-renyi") }
		tried := map[string]int{}
		for _, d := range Mechanisms() {
			if d.Serves(s) {
				tried[law(d)]++
			}
		}
		for _, d := range Mechanisms() {
			if want := map[bool]int{true: 1}[d.Calibrated()]; tried[law(d)] != want {
				t.Errorf("%+v: %d of %s are tried", s, tried[law(d)], d.Name)
			}
		}
	}
}
