package answers

import (
	"bytes"
	"math"
	"testing"

	"github.com/darrm/darrm/accountant/game"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/plurality"
)

// Two classes that are told apart, and votes that may be missing: the lead of the first class decides, of either sign.
// Weights, value and neighbours are those of all votes of all teachers, one by one.
func TestToldApartAndMissing(t *testing.T) {
	const k, mean, present = 4, .7, .8
	for _, affected := range []int{1, 2} {
		p := Problem{K: k, Classes: 2, Affected: affected, Missing: true, Answers: 1, Epsilon: 3, Delta: .01, Named: true}
		prior := Prior{Objective: plurality.Objective{Accuracy: mean}, Present: present, Shares: plurality.Shares{.8, .2},
			Costs: plurality.Costs{{0, 3}, {1, 0}}}
		s := must.Get(NewSystem(t.Context(), p))(t)
		tighter := p
		tighter.Delta = .0099
		link := tighter.CoinLink(3)
		w := must.Get(prior.Weights(t.Context(), s))(t)
		second := p.Anchored(s.Gains(prior, w), link)
		law := make([]float64, s.space.Variables())
		for h := range s.space.Histograms() {
			q := second[s.space.Histogram(h)[1]]
			law[2*h], law[2*h+1] = 1-(q*(1-1e-4)+.5e-4), q*(1-1e-4)+.5e-4
		}
		masses := s.space.Masses(law)
		c := must.Get(CertifyEach(t.Context(), s, masses, game.Each{Epsilon: 3, Delta: .00995}))(t)
		table := must.Get(NewTable(t.Context(), c, prior, Law{Name: OneLaw, Epsilon: 3, Delta: .00995}, nil))(t)

		value, seen := 0.0, map[[2]int]float64{}
		var visit func(teacher int, n [2]int, weight [2]float64)
		visit = func(teacher int, n [2]int, weight [2]float64) {
			if teacher == k {
				both := prior.Shares[0]*weight[0] + prior.Shares[1]*weight[1]
				seen[n] += both
				for a, q := range must.Get(c.Law(n[:]))(t) {
					value += both * q * prior.Worth(n[:], a)
				}
				return
			}
			visit(teacher+1, n, [2]float64{weight[0] * (1 - present), weight[1] * (1 - present)})
			visit(teacher+1, [2]int{n[0] + 1, n[1]}, [2]float64{weight[0] * present * mean, weight[1] * present * (1 - mean)})
			visit(teacher+1, [2]int{n[0], n[1] + 1}, [2]float64{weight[0] * present * (1 - mean), weight[1] * present * mean})
		}
		visit(0, [2]int{}, [2]float64{1, 1})
		if math.Abs(table.Value-value) > 1e-9 || table.UpperBound != 0 {
			t.Errorf("t = %d: value %v, want %v; bound %v", affected, table.Value, value, table.UpperBound)
		}
		worst := 0.0
		for a := range seen {
			for b := range seen {
				none := [3]int{a[0] - b[0], a[1] - b[1], b[0] + b[1] - a[0] - a[1]}
				if max(0, none[0])+max(0, none[1])+max(0, none[2]) > affected {
					continue
				}
				sum := 0.0
				for y, q := range must.Get(c.Law(a[:]))(t) {
					sum += max(0, q-math.Exp(3)*must.Get(c.Law(b[:]))(t)[y])
				}
				worst = max(worst, sum)
			}
		}
		if worst > .00995 || worst < .008 {
			t.Errorf("t = %d: the dearest pair of votes costs %v", affected, worst)
		}
		if law := must.Get(c.Law([]int{2, 0}))(t); affected == 1 && math.Abs(law[0]-must.Get(c.Law([]int{0, 2}))(t)[1]) < 1e-6 {
			t.Errorf("t = %d: the classes are treated alike: %v", affected, law)
		}
		var file bytes.Buffer
		if err := table.Encode(&file); err != nil {
			t.Fatal(err)
		}
		again := must.Get(Decode(t.Context(), bytes.NewReader(file.Bytes())))(t)
		if again.Hash() != table.Hash() || again.Value != table.Value {
			t.Errorf("t = %d: read again it is another table", affected)
		}
		turned := bytes.Replace(file.Bytes(), []byte(`"lead": -1`), []byte(`"lead": 1`), 1)
		if _, err := Decode(t.Context(), bytes.NewReader(turned)); err == nil && !bytes.Equal(turned, file.Bytes()) {
			t.Errorf("t = %d: a lead of the other sign is read", affected)
		}
	}
	for _, bad := range []Problem{{K: 4, Classes: 3, Affected: 1, Missing: true, Answers: 1, Epsilon: 3, Delta: .01, Named: true},
		{K: 4, Classes: 2, Affected: 1, Missing: true, Answers: 1, Epsilon: 3, Delta: .01, Named: true, Labels: 2}} {
		if bad.Validate() == nil {
			t.Errorf("%+v is valid", bad)
		}
	}
}
