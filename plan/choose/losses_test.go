package choose

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/plan"
	"github.com/darrm/darrm/release"
)

func TestLossesAreRead(t *testing.T) {
	names := []string{"no", "yes", "a:b=c"}
	for text, want := range map[string]string{
		"0.7,0.2,0.1": "[0.7 0.2 0.1]", "a:b=c=0.1, no=0.7,yes=.2": "[0.7 0.2 0.1]", "": "[]",
	} {
		if got, err := ParseShares(text, names); err != nil || fmt.Sprint(got) != want {
			t.Errorf("shares %q: %v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"": "[]", "ordered": "[[0 1 2] [1 0 1] [2 1 0]]", "balanced": "[[0 5 10] [2 0 10] [2 5 0]]",
		"no:yes=9,yes:a:b=c=0": "[[0 9 1] [1 0 0] [1 1 0]]",
	} {
		if got, err := ParseCosts(text, names, []float64{0.5, 0.2, 0.1}); err != nil || fmt.Sprint(got) != want {
			t.Errorf("costs %q: %v, %v", text, got, err)
		}
	}
	var usage *release.UsageError
	for _, text := range []string{"0.7,0.3", "0.7,0.2,0.2", "no=0.5,no=0.5", "maybe=1", "maybe=0.7,yes=0.2,a:b=c=0.1", "x,y,z", "1,0,0", "NaN,0.5,0.5"} {
		if _, err := ParseShares(text, names); !errors.As(err, &usage) {
			t.Errorf("shares %q: %v", text, err)
		}
	}
	for _, text := range []string{"no:no=1", "no:yes", "no:yes=x", "no:maybe=1", "yes:maybe=1", "maybe:yes=1", "no:yes=-1", "no:yes=NaN", "order",
		"no:yes=1,no:yes=9"} {
		if _, err := ParseCosts(text, names, nil); !errors.As(err, &usage) {
			t.Errorf("costs %q: %v", text, err)
		}
	}
	if _, err := ParseCosts("no:yes=0,yes:no=0", names[:2], nil); !errors.As(err, &usage) {
		t.Errorf("costs that are all 0: %v", err)
	}
	commas := []string{"Toys, Games", "Books"}
	if got, err := ParseShares("Toys, Games=0.9,Books=0.1", commas); err != nil || fmt.Sprint(got) != "[0.9 0.1]" {
		t.Errorf("shares of a name with a comma: %v, %v", got, err)
	}
	if got, err := ParseCosts("Books:Toys, Games=2,Toys, Games:Books=3", commas, nil); err != nil ||
		fmt.Sprint(got) != "[[0 3] [2 0]]" {
		t.Errorf("costs of a name with a comma: %v, %v", got, err)
	}
	if _, err := ParseCosts("balanced", names, nil); !errors.As(err, &usage) {
		t.Errorf("balanced costs without shares: %v", err)
	}
}

// Shares of the names of labels, or one for each label in their order, are the labels' own shares of yes; those of the
// classes no and yes are all labels'.
func TestSharesOfLabelsAreRead(t *testing.T) {
	classes, labels := []string{"no", "yes"}, []string{"cat", "dog, small", "owl"}
	for text, want := range map[string]string{
		"cat=.1,dog, small=.2,owl=.3": "[0.1 0.2 0.3]", "owl=.3, cat=.1,dog, small=.2": "[0.1 0.2 0.3]", ".1,.2,.3": "[0.1 0.2 0.3]",
		"": "false", "no=.9,yes=.1": "false", ".9,.1": "false", "1": "false",
	} {
		yes, each, err := ParseYes(text, classes, labels)
		got := fmt.Sprint(yes)
		if !each {
			got = "false"
		}
		if err != nil || got != want {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
	var usage *release.UsageError
	for _, text := range []string{"cat=.1,owl=.3", "cat=.1,cat=.1,owl=.3", "cat=.1,dog, small=1,owl=.3", "cat=0,dog, small=.1,owl=.3", ".1,.2,NaN",
		"cat=x,dog, small=.2,owl=.3", "no=.9,owl=.1"} {
		if _, each, err := ParseYes(text, classes, labels); !each || !errors.As(err, &usage) {
			t.Errorf("%q: %t, %v", text, each, err)
		}
	}
	if _, each, err := ParseYes(".9,.1", classes, labels[:2]); each || err != nil {
		t.Errorf("two numbers are those of the classes: %t, %v", each, err)
	}
	m := Many{Labels: labels, Shares: "cat=.1,dog, small=.2,owl=.6"}
	l := must.Get(m.Losses(classes))(t)
	if fmt.Sprint(l.Yes) != "[0.1 0.2 0.6]" || math.Abs(l.ClassShares()[1]-.3) > 1e-12 || l.Shares != nil {
		t.Errorf("%+v", l)
	}
	m.Shares = ".2,.2,.2"
	if l := must.Get(m.Losses(classes))(t); l.Yes != nil || l.Shares[1] != .2 {
		t.Errorf("one share for all labels: %+v", l)
	}
	m.Shares, m.Cost = ".2,.2,.3", BalancedCosts
	if _, err := m.Losses(classes); !errors.As(err, &usage) {
		t.Errorf("balanced costs: %v", err)
	}
}

// What is stated beside a table by name is what the table is for: shares alone, costs alone, both or nothing.
func TestStatedBesideATableByName(t *testing.T) {
	names := []string{"no", "yes"}
	problem := constraints.Problem{K: 3, M: 1, Epsilon: 1, Affected: 1}
	for _, own := range []Many{{Shares: "no=0.7,yes=0.3"}, {Cost: "no:yes=9"}, {Shares: "0.7,0.3", Cost: "no:yes=9"}} {
		o := must.Get(own.CompleteNoise(t.Context(), Noise{}, problem.K, names, nil))(t)
		table := must.Get(solve.Optimal(t.Context(), problem, o))(t)
		for text, m := range map[string]Many{
			"own": own, "nothing": {}, "its shares": {Shares: own.Shares}, "its costs": {Cost: own.Cost},
			"costs of 1, which it has": {Shares: own.Shares, Cost: map[bool]string{true: "no:yes=1", false: own.Cost}[own.Cost == ""]},
		} {
			if err := m.checkTable(nil, table, names, "table.json"); err != nil {
				t.Errorf("%+v: %s: %v", own, text, err)
			}
		}
		for _, m := range []Many{{Shares: "0.6,0.4"}, {Shares: own.Shares, Cost: "no:yes=8"}, {Cost: "yes:no=9"}} {
			if err := m.checkTable(nil, table, names, "table.json"); err == nil {
				t.Errorf("%+v is a table for %+v", own, m)
			}
		}
	}
}

// Labels that tell no more than one class always does are refused, unless their price is accepted. Those of a
// larger ε tell more.
func TestLabelsThatTellNothing(t *testing.T) {
	var usage *release.UsageError
	m := Many{Shares: "no=0.95,yes=0.05"}
	for epsilon, tells := range map[float64]bool{1e-4: false, 6: true} {
		o := must.Get(m.CompleteNoise(t.Context(), Noise{}, 3, []string{"no", "yes"}, nil))(t)
		table := must.Get(solve.Optimal(t.Context(), constraints.Problem{K: 3, TotalEpsilon: epsilon,
			Epsilon: math.Inf(1), Affected: 1}, o))(t)
		if err := m.CheckTells(t.Context(), nil, table); errors.As(err, &usage) == tells {
			t.Errorf("epsilon = %v: %v", epsilon, err)
		}
		if err := (Many{AcceptConstant: true}).CheckTells(t.Context(), nil, table); err != nil {
			t.Errorf("epsilon = %v, accepted: %v", epsilon, err)
		}
	}
}

// What is stated of a plan's classes becomes its losses and its votes, and what cannot be read is an error.
func TestLossesOfAPlan(t *testing.T) {
	mean, names := 0.8, []string{"no", "yes"}
	wrong := 0.4
	for _, tt := range []struct {
		m                     Many
		several               ensemble.Several
		mean                  *float64
		fails, losses, clears bool
	}{
		{Many{}, ensemble.Several{}, nil, false, false, false}, {Many{}, ensemble.Several{}, &mean, false, false, true},
		{Many{}, ensemble.Several{}, &wrong, true, false, false}, {Many{Shares: "0.9,0.1"}, ensemble.Several{}, &mean, false, true, true},
		{Many{Shares: "0.9"}, ensemble.Several{}, nil, true, false, false}, {Many{Shares: "0.9,0.1"}, ensemble.Several{}, &wrong, true, true, false},
		{Many{}, ensemble.Several{Labels: 5, YesFrom: "1/3", Teachers: 9}, &mean, false, false, true},
		{Many{}, ensemble.Several{Labels: 5, YesFrom: "1/3", Teachers: 9}, &wrong, true, false, false},
		{Many{}, ensemble.Several{Labels: 5, YesFrom: "1/3"}, &mean, true, false, false},
	} {
		r := plan.Request{Stated: ensemble.Stated{K: 9, Classes: 2, Several: tt.several}}
		err := tt.m.State(&r, names, tt.mean)
		if (err != nil) != tt.fails || r.Losses.Stated() != tt.losses && !tt.fails || !tt.fails && r.Votes == nil ||
			!tt.fails && tt.clears && r.Votes.Mean() != mean {
			t.Errorf("%+v: %v, %+v, %+v", tt, err, r.Losses, r.Votes)
		}
	}
}
