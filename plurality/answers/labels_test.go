package answers

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant/game"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/plurality"
)

// ofLabels returns a table of three labels, of which the last two are alike.
func ofLabels(t testing.TB) *Table {
	t.Helper()
	p := Problem{K: 3, Classes: 2, Affected: 1, Answers: 3, Epsilon: 1, Delta: 0.2, Named: true, Labels: 3}
	s := must.Get(NewSystem(t.Context(), p))(t)
	c := must.Get(Certify(t.Context(), s, masses(s, rare, even, even), game.Options{Step: 1. / 400}))(t)
	return must.Get(NewTable(t.Context(), c, Prior{Objective: plurality.Objective{Accuracy: .75}, Yes: []float64{.1, .4, .4}},
		Law{Name: ChainLaw, Order: 8, Moment: 0.5}, nil))(t)
}

// Probabilities of yes at 0 to 3 votes for it.
var (
	rare = []float64{.02, .03, .1, .25}
	even = []float64{.3, .4, .6, .7}
)

// masses returns those of labels with such probabilities of yes.
func masses(s *System, yes ...[]float64) (all []uint64) {
	for _, own := range yes {
		p := make([]float64, 0, 2*len(own))
		for h := range s.space.Histograms() {
			q := own[s.space.Histogram(h)[1]]
			p = append(p, 1-q, q)
		}
		all = append(all, s.space.Masses(p)...)
	}
	return all
}

// The price of labels with tables of their own is that of all transcripts in which every answer may be to any label:
// each label's pairs are in it, each once, and it is above the price of every label alone.
func TestPriceOfLabelsIsThatOfTheirPairs(t *testing.T) {
	p := Problem{K: 3, Classes: 2, Affected: 1, Answers: 3, Epsilon: 0.5, Delta: 0.9, Named: true, Labels: 3}
	s := must.Get(NewSystem(t.Context(), p))(t)
	// A pair of seldom yes and one of mostly yes: an adversary who may change between them gains from it.
	low, high := []float64{.04, .25, .26, .26}, []float64{.42, .79, .8, .8}
	for _, yes := range [][][]float64{{low, even, high}, {high, low, even}, {even, high, low}, {even, rare, even}} {
		all := masses(s, yes...)
		pairs, alone := map[string][2][]float64{}, 0.0
		for _, own := range yes {
			of := map[string][2][]float64{}
			for k := range p.K {
				a, b := []float64{1 - own[k], own[k]}, []float64{1 - own[k+1], own[k+1]}
				of[pairOf(a, b)], of[pairOf(b, a)] = [2][]float64{a, b}, [2][]float64{b, a}
			}
			for key, pair := range of {
				pairs[key] = pair
			}
			alone = max(alone, bruteDelta(of, p.Answers, math.Exp(p.Epsilon)))
		}
		want := bruteDelta(pairs, p.Answers, math.Exp(p.Epsilon))
		got, _, err := s.Price(t.Context(), all, game.Options{Step: 1. / 400})
		if err != nil || got < want*(1-1e-9) || got > want*1.01+1e-3 {
			t.Errorf("%v: the price is %v, of all transcripts %v: %v", yes, got, want, err)
		}
		if slices.ContainsFunc(yes, func(own []float64) bool { return &own[0] == &low[0] }) && want < alone*1.03 {
			t.Errorf("%v: mixing labels costs %v, one label alone %v: the test shows nothing", yes, want, alone)
		}
		listed := 0
		for _, err := range s.Laws(t.Context(), all) {
			if err != nil {
				t.Fatal(err)
			}
			listed++
		}
		different := len(slices.CompactFunc(slices.Clone(yes), func(a, b []float64) bool { return &a[0] == &b[0] }))
		if &yes[0][0] == &yes[2][0] {
			different = 2
		}
		if listed != different*p.K {
			t.Errorf("%v: %d pairs are priced, want %d", yes, listed, different*p.K)
		}
	}
}

// A label whose answer is the same whatever its votes costs the others nothing: its two laws are equal, and an
// adversary who asks it learns nothing. So the price of as many answers is the same to the last bit, with it and
// without, wherever it stands.
func TestConstantLabelCostsNothing(t *testing.T) {
	never, always, coin := []float64{0, 0, 0, 0}, []float64{1, 1, 1, 1}, []float64{.3, .3, .3, .3}
	price := func(yes ...[]float64) float64 {
		p := Problem{K: 3, Classes: 2, Affected: 1, Answers: 4, Epsilon: 0.5, Delta: 0.9, Named: true, Labels: len(yes)}
		s := must.Get(NewSystem(t.Context(), p))(t)
		got, _, err := s.Price(t.Context(), masses(s, yes...), game.Options{Step: 1. / 400})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	want := price(rare, even)
	for _, yes := range [][][]float64{{rare, even, never}, {never, rare, even}, {rare, always, even}, {rare, coin, even, never}} {
		if got := price(yes...); got != want || got == 0 {
			t.Errorf("%v: the price is %v, of the labels that are not constant %v", yes, got, want)
		}
	}
	// A label that is hardly not constant is priced: the test can fail.
	if got := price(rare, even, []float64{0, 0, 0, .6}); got <= want {
		t.Errorf("with a label that tells three votes apart the price is %v, without %v", got, want)
	}
}

// The value is the mean of the labels' values, and the bound of their bounds. Each label's table is one of its own, as
// private as all, and the whole says of no law which label it is.
func TestTablesOfLabels(t *testing.T) {
	ctx := t.Context()
	table := ofLabels(t)
	sum, bounds := 0.0, 0.0
	for label, yes := range [][]float64{rare, even, even} {
		one := must.Get(table.OfLabel(ctx, label))(t)
		for votes, want := range yes {
			if law := must.Get(one.Certified.Law([]int{3 - votes, votes}))(t); math.Abs(law[1]-want) > 1e-12 {
				t.Errorf("label %d, %d votes: yes is answered in %v, want %v", label, votes, law[1], want)
			}
		}
		if p := one.Problem(); p.Labels != 0 || !p.Named || p.Answers != 3 || one.Certificate().Pairs != 6 {
			t.Errorf("label %d is of %+v with %d pairs", label, p, one.Certificate().Pairs)
		}
		alone := must.Get(NewTable(ctx, one.Certified, one.Prior, table.Law, nil))(t)
		if alone.Value != one.Value {
			t.Errorf("label %d is worth %v, alone %v", label, one.Value, alone.Value)
		}
		sum, bounds = sum+one.Value/3, bounds+alone.UpperBound/3
	}
	if math.Abs(table.Value-sum) > 1e-14 || table.Value > sum+1e-15 || math.Abs(table.UpperBound-bounds) > 1e-12 {
		t.Errorf("value %v and bound %v, of the labels %v and %v", table.Value, table.UpperBound, sum, bounds)
	}
	if table.Certificate().Pairs != 18 {
		t.Errorf("%d pairs", table.Certificate().Pairs)
	}
	if _, err := table.Certified.Law([]int{2, 1}); !errors.Is(err, errWhichLabel) {
		t.Errorf("all labels have one law: %v", err)
	}
	if _, err := table.Certified.Masses([]int{2, 1}); !errors.Is(err, errWhichLabel) {
		t.Errorf("all labels have the same masses: %v", err)
	}
	for _, label := range []int{-1, 3} {
		if _, err := table.Certified.OfLabel(label); err == nil || !strings.HasPrefix(err.Error(), "label = ") {
			t.Errorf("label %d: %v", label, err)
		}
	}
	// A table that treats the classes alike is worth the same whatever the shares. So another label than the first is rare here.
	p := table.Problem()
	p.Labels = 2
	s := must.Get(NewSystem(ctx, p))(t)
	c := must.Get(Certify(ctx, s, masses(s, even, rare), game.Options{Step: 1. / 400}))(t)
	later := must.Get(NewTable(ctx, c, Prior{Objective: plurality.Objective{Accuracy: .75}, Yes: []float64{.4, .1}}, table.Law, nil))(t)
	sum = 0
	for label := range p.Labels {
		sum += must.Get(later.OfLabel(ctx, label))(t).Value / 2
	}
	if math.Abs(later.Value-sum) > 1e-14 {
		t.Errorf("value %v, of the labels %v", later.Value, sum)
	}
	by := must.Get(table.ByClass(ctx))(t)
	if by.Constant != 0 || by.Perfect != 1 || by.Leads[0]+by.Leads[1] < 1-1e-12 || !(by.Recall[1] < by.Recall[0]) {
		t.Errorf("by class %+v", by)
	}
}

// Which masses are of which label is part of a table's name: in another order they are another mechanism, whose answers
// may not share a charge or coins.
func TestOrderOfLabelsIsHashed(t *testing.T) {
	p := Problem{K: 3, Classes: 2, Affected: 1, Answers: 3, Epsilon: 1, Delta: 0.2, Named: true, Labels: 2}
	s := must.Get(NewSystem(t.Context(), p))(t)
	hashes := map[string]bool{}
	for _, yes := range [][][]float64{{rare, even}, {even, rare}, {even, even}} {
		c := must.Get(Certify(t.Context(), s, masses(s, yes...), game.Options{}))(t)
		hashes[c.Hash()] = true
		one := must.Get(c.OfLabel(0))(t)
		hashes[one.Hash()] = true
	}
	if len(hashes) != 5 { // of two tables the first label is the same
		t.Errorf("%d different names", len(hashes))
	}
	bad := masses(s, rare, even)
	bad[len(bad)-1]++
	if _, err := Certify(t.Context(), s, bad, game.Options{}); err == nil || !strings.Contains(err.Error(), "sum of masses of") {
		t.Errorf("masses of the last label need not sum to one: %v", err)
	}
	if _, err := Certify(t.Context(), s, masses(s, rare), game.Options{}); err == nil {
		t.Error("masses of one label serve two")
	}
}

// A file of labels is read as it stands or not at all.
func TestFilesOfLabels(t *testing.T) {
	text := string(encode(t, ofLabels(t)))
	var price *PriceError
	var mismatch *MismatchError
	var format *FormatError
	for name, x := range map[string]struct {
		old, new string
		want     any
	}{
		"no label":                {`"labels":3,`, ``, &format},
		"fewer labels":            {`"labels":3,`, `"labels":2,`, &format},
		"one label":               {`"labels":3,`, `"labels":1,`, &format},
		"labels below none":       {`"labels":3,`, `"labels":-3,`, &format},
		"very many labels":        {`"labels":3,`, `"labels":100000,`, &format},
		"labels that are alike":   {`"named":true,`, ``, &format},
		"a share left out":        {`"yes_shares":[0.1,0.4,0.4]`, `"yes_shares":[0.1,0.4]`, &format},
		"no shares":               {`"yes_shares":[0.1,0.4,0.4],`, ``, &format},
		"a share of 1":            {`"yes_shares":[0.1,0.4,0.4]`, `"yes_shares":[1,0.4,0.4]`, &format},
		"shares of classes":       {`"yes_shares":[0.1,0.4,0.4]`, `"shares":[0.1,0.9]`, &format},
		"two kinds of shares":     {`"yes_shares":`, `"shares":[0.1,0.9],"yes_shares":`, &format},
		"other shares":            {`"yes_shares":[0.1,0.4,0.4]`, `"yes_shares":[0.4,0.4,0.1]`, &mismatch},
		"another label's masses":  {`{"label":0,"votes":[0,3]`, `{"label":1,"votes":[0,3]`, &format},
		"masses of no label":      {`{"label":0,"votes":[0,3]`, `{"votes":[0,3]`, &format},
		"more answers":            {`"answers":3`, `"answers":90`, &price},
		"a smaller epsilon":       {`"total_epsilon":1`, `"total_epsilon":0.1`, &price},
		"a label without its own": {`,{"label":2,`, `,{"label":1,`, &format},
	} {
		if strings.Count(text, x.old) < 1 {
			t.Fatalf("%s: no %s in %s", name, x.old, text)
		}
		claim, err := ReadClaim(t.Context(), strings.NewReader(strings.Replace(text, x.old, x.new, 1)))
		if err == nil {
			_, err = claim.Verify(t.Context())
		}
		if !errors.As(err, x.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Decode(context.Background(), bytes.NewReader([]byte(text))); err != nil {
		t.Error(err)
	}
}

func TestLabelsAreValidated(t *testing.T) {
	good := Problem{K: 5, Classes: 2, Affected: 1, Answers: 10, Epsilon: 1, Delta: 1e-5, Named: true, Labels: 4}
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Problem){
		"labels with masses of their own = 4 ":    func(p *Problem) { p.Named = false },
		"labels with masses of their own = 4, ":   func(p *Problem) { p.Classes = 3 },
		"labels with masses of their own = 1001":  func(p *Problem) { p.Labels = 1001 },
		"labels with masses of their own = 1, ":   func(p *Problem) { p.Labels = 1 },
		"teachers and labels = 1000 and 66":       func(p *Problem) { p.K, p.Labels = 1000, 66 },
		"teachers, classes and affected = 200, 2": func(p *Problem) { p.K, p.Affected, p.Labels = 200, 200, 60 },
	} {
		p := good
		change(&p)
		if _, err := NewSystem(t.Context(), p); err == nil || !strings.HasPrefix(strings.Replace(err.Error(), ",", " ", 1), strings.Replace(name, ",", " ", 1)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	prior := Prior{Objective: plurality.Objective{Accuracy: .75}, Yes: []float64{.1, .2, .3, .4}}
	if err := prior.Validate(good); err != nil {
		t.Error(err)
	}
	for _, yes := range [][]float64{nil, {.1}, {.1, .2, .3, 0}, {.1, .2, .3, 1}, {.1, .2, .3, math.NaN()}, {.1, .2, .3, .4, .5}} {
		if err := (Prior{Objective: prior.Objective, Yes: yes}).Validate(good); err == nil {
			t.Errorf("shares %v of four labels", yes)
		}
	}
	prior.Shares = plurality.Shares{.5, .5}
	if err := prior.Validate(good); err == nil {
		t.Error("two kinds of shares")
	}
}
