package selection

import (
	"context"
	"crypto/sha256"
	"math"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/train"
)

// bit is a method whose model is one number: w = told(records) with probability e^ε/(1+e^ε), else
// w = -told(records).
type bit struct {
	target accountant.Cost
	n      int
	side   float64
	twist  func(ctx context.Context, w float64) error // after the bit is drawn; nil is nothing
}

func (b bit) plan() train.Plan {
	return train.Plan{Price: train.Price{
		Method: "bit", Records: b.n, Dim: 1, Relation: accountant.ReplaceOne, Cost: b.target,
		Bound: accountant.MethodBasic,
		Event: accountant.ApproxDP{Cost: accountant.Cost{Epsilon: b.target.Epsilon},
			Neighbours: accountant.ReplaceOne},
	}, Train: func(r *data.Records) (train.Algorithm, error) { return b.algorithm(r), nil }}
}

func (b bit) algorithm(r *data.Records) train.Algorithm {
	d := r.Digest()
	return train.Algorithm{Cost: b.target, Rounds: 1,
		Digest: sha256.Sum256(append(d[:], byte(int(2+b.side)))),
		Start: func(coins train.Coins) train.Run {
			return &bitRun{b: b, r: r, coins: coins, w: []float64{0}}
		}}
}

// told returns side where most records have a feature above 0, else -side.
func (b bit) told(r *data.Records) float64 {
	above := 0
	for i := range r.Len() {
		if r.Row(i)[0] > 0 {
			above++
		}
	}
	if 2*above > r.Len() {
		return b.side
	}
	return -b.side
}

func (b bit) truth() float64 { return 1 / (1 + math.Exp(-b.target.Epsilon)) }

type bitRun struct {
	b     bit
	r     *data.Records
	coins train.Coins
	w     []float64
}

func (e *bitRun) State() []train.Vector { return []train.Vector{{Name: "w", Values: e.w}} }
func (e *bitRun) Output() []float64     { return e.w }
func (e *bitRun) Round(ctx context.Context, _ int) error {
	src := e.coins.Source()
	src.Restart("bit", 0)
	u, err := src.Uint53()
	if err != nil {
		return err
	}
	e.w[0] = e.b.told(e.r)
	if float64(u)*0x1p-53 >= e.b.truth() {
		e.w[0] = -e.w[0]
	}
	if e.b.twist != nil {
		return e.b.twist(ctx, e.w[0])
	}
	return ctx.Err()
}

// bits are two candidates of opposite sides.
func bits(n int) []Candidate {
	one := func(side float64) Candidate {
		return Candidate{Name: map[float64]string{1: "plus", -1: "minus"}[side],
			Plan: func(t accountant.Cost) (train.Plan, error) {
				return bit{target: t, n: n, side: side}.plan(), nil
			}}
	}
	return []Candidate{one(1), one(-1)}
}

// bitOf is the i-th of bits, as a selection plans it.
func bitOf(p train.Plan, i int) bit {
	return bit{target: p.Price.Cost, n: p.Price.Records, side: []float64{1, -1}[i]}
}

// features are records of one feature and a class.
func features(t testing.TB, x ...float64) *data.Records {
	y := make([]float64, len(x))
	for i := range y {
		y[i] = 1
	}
	return must.Get(data.NewRecords(len(x), 1, x, y))(t)
}

func tiny(stopping string, runs float64) Selection {
	return Selection{
		Candidates: bits(5), Score: Score{Kind: Accuracy, Loss: loss.Logistic{}},
		Target:   accountant.Cost{Epsilon: 3, Delta: 0.01},
		Stopping: stopping, Runs: runs, Share: 0.3,
	}
}

func planOf(t testing.TB, s Selection, n, d int) *plan {
	t.Helper()
	p, err := s.plan(t.Context(), n, d)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// outcome is the release of a tiny selection: the candidate, its bit and the noisy score.
type outcome struct {
	candidate int
	w         float64
	score     int64
}

// runLaw is the law of one run of a tiny selection with stopping, without those of probability
// below 1e-15 or so.
func runLaw(p *plan, r *data.Records) map[outcome]float64 {
	law := map[outcome]float64{}
	reach := int64(8.5 * p.sigma)
	masses := make([]float64, 2*reach+1)
	total := 0.0
	for z := -reach; z <= reach; z++ {
		masses[z+reach] = math.Exp(-float64(z*z) / (2 * p.sigma * p.sigma))
		total += masses[z+reach]
	}
	for i, q := range p.plans {
		b := bitOf(q, i)
		for _, w := range []float64{1, -1} {
			prob := b.truth()
			if w != b.told(r) {
				prob = 1 - prob
			}
			score := p.s.Score.of([]float64{w}, r)
			for z := -reach; z <= reach; z++ {
				law[outcome{i, w, score + z}] += prob * masses[z+reach] / total / float64(len(p.plans))
			}
		}
	}
	return law
}

// choiceLaw is the law of a tiny selection that trains each of two candidates once.
func choiceLaw(p *plan, r *data.Records) map[outcome]float64 {
	law := map[outcome]float64{}
	for _, w0 := range []float64{1, -1} {
		for _, w1 := range []float64{1, -1} {
			prob, weights := 1.0, [2]float64{}
			for i, w := range []float64{w0, w1} {
				b := bitOf(p.plans[i], i)
				if w == b.told(r) {
					prob *= b.truth()
				} else {
					prob *= 1 - b.truth()
				}
				weights[i] = math.Exp(float64(p.s.Score.of([]float64{w}, r)) / float64(p.scale))
			}
			for i, w := range []float64{w0, w1} {
				law[outcome{i, w, 0}] += prob * weights[i] / (weights[0] + weights[1])
			}
		}
	}
	return law
}
