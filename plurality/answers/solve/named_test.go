package solve

import (
	"bytes"
	"math"
	"os"
	"testing"

	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/answers"
)

func ordered(n int) plurality.Costs {
	costs := make(plurality.Costs, n)
	for a := range costs {
		costs[a] = make([]float64, n)
		for b := range costs[a] {
			costs[a][b] = math.Abs(float64(a - b))
		}
	}
	return costs
}

// Tables for stated losses are worth what another implementation found, or more, and no more than its
// bound; they survive their file, and say how they treat each class.
func TestStatedLosses(t *testing.T) {
	for _, x := range []struct {
		k, c, q        int
		epsilon, delta float64
		mean           float64
		shares         plurality.Shares
		costs          plurality.Costs
		value, bound   float64
		constant       float64
		balanced       float64 // 0 where it is not known
	}{
		{25, 2, 1, .3, 1e-3, .75, plurality.Shares{.9, .1}, nil, .945671867 - 2e-6, .945671867 + 2e-6, .897303642, .8332},
		{25, 2, 1, .3, 1e-9, .75, plurality.Shares{.5, .5}, plurality.Costs{{0, 9}, {1, 0}}, -.275055089 - 2e-6,
			-.275055089 + 2e-6, -.5, .8378},
		{25, 2, 5, 2, 1e-5, .75, plurality.Shares{.9, .1}, nil, .965815 - 3e-4, .972472 + 1e-4, .897304, 0},
		{25, 2, 20, 3, 1e-5, .75, plurality.Shares{.9, .1}, nil, .938567 - 3e-4, .944747 + 1e-4, .897304, 0},
		{9, 3, 1, .3, 1e-3, .6, plurality.Shares{.8, .1, .1}, nil, .750497208 - 1e-8, .750497208 + 1e-8, .749361664, 0},
		{9, 3, 1, .5, 0, .6, plurality.Shares{.7, .2, .1}, nil, .740730533 - 1e-8, .740730533 + 1e-8, .667332096, 0},
		{9, 3, 1, .5, 0, .6, nil, ordered(3), -.383385949 - 1e-8, -.383385949 + 1e-8, -.633442987, 0},
		{9, 3, 1, .5, 0, .6, plurality.Shares{.7, .2, .1}, ordered(3), -.317072846 - 1e-8, -.317072846 + 1e-8, -.454987264, 0},
		{7, 4, 1, .5, 0, .6, plurality.Shares{.7, .1, .1, .1}, nil, .673927753 - 1e-8, .673927753 + 1e-8, .667215425, 0},
		{5, 3, 3, 2, 1e-5, .6, plurality.Shares{.7, .2, .1}, nil, .7, .95, .650688, 0},
		// without δ all answers are as one of a Qth of ε
		{9, 3, 4, 2, 0, .6, plurality.Shares{.7, .2, .1}, nil, .740730533 - 1e-8, .740730533 + 1e-8, .667332096, 0},
		{20, 3, 2, 2, 0, .6, plurality.Shares{.7, .2, .1}, nil, .92, 1, 0.691450781, 0}, // too large for the linear program
	} {
		if os.Getenv("DARRM_LONG") == "" && (x.k == 25 && x.q > 1 || x.c == 4) { // some seconds each
			continue
		}
		p := answers.Problem{K: x.k, Classes: x.c, Affected: 1, Answers: x.q, Epsilon: x.epsilon, Delta: x.delta, Named: true}
		prior := answers.Prior{Objective: plurality.Objective{Accuracy: x.mean}, Shares: x.shares, Costs: x.costs}
		table := must.Get(Best(t.Context(), p, prior, Options{}))(t)
		if table.Value < x.value || table.UpperBound > x.bound || table.Value > x.bound {
			t.Errorf("%+v: value %.9f by %s, bound %.9f", x, table.Value, table.Law.Name, table.UpperBound)
		}
		by := must.Get(table.ByClass(t.Context()))(t)
		if math.Abs(by.ConstantValue-x.constant) > 1e-6 || !by.Tells(table.Value) {
			t.Errorf("%+v: the constant %d is worth %.9f", x, by.Constant, by.ConstantValue)
		}
		if x.balanced != 0 && math.Abs(by.Balanced-x.balanced) > 1e-3 {
			t.Errorf("%+v: balanced agreement %.4f, of the classes %v", x, by.Balanced, by.Recall)
		}
		var file bytes.Buffer
		if err := table.Encode(&file); err != nil {
			t.Fatal(err)
		}
		claim := must.Get(answers.ReadClaim(t.Context(), bytes.NewReader(file.Bytes())))(t)
		again := must.Get(claim.Verify(t.Context()))(t)
		if !again.Same(table.Certified) || !again.Prior.Equal(prior) || again.Hash() != table.Hash() {
			t.Errorf("%+v: another table is read", x)
		}
	}
}

// Where always the same answer is best, the table is that answer, and says so.
func TestConstantIsBest(t *testing.T) {
	p := answers.Problem{K: 25, Classes: 2, Affected: 1, Answers: 1, Epsilon: .1, Delta: 1e-12, Named: true}
	prior := answers.Prior{Objective: plurality.Objective{Accuracy: .75}, Shares: plurality.Shares{.9, .1}}
	table := must.Get(Best(t.Context(), p, prior, Options{}))(t)
	by := must.Get(table.ByClass(t.Context()))(t)
	if by.Tells(table.Value) || by.Constant != 0 || math.Abs(by.ConstantValue-.897303642) > 1e-8 {
		t.Errorf("value %.12f, the constant %d %.12f", table.Value, by.Constant, by.ConstantValue)
	}
}
