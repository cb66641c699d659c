package selection

import (
	"crypto/sha256"
	"fmt"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/train"
)

// describe adds the selection's fields and notes to the price.
func (p *plan) describe() {
	m := len(p.s.Candidates)
	method := p.plans[0].Price().Method
	for _, q := range p.plans {
		if q.Price().Method != method {
			method = "several methods"
		}
	}
	p.price.Method = fmt.Sprintf("best of %d %s", m, method)
	notes := []string{fmt.Sprintf("each of %d candidates is trained once, at epsilon = %.6g and "+
		"delta = %.3g by itself, and paid for; so is the choice among them by %s, at epsilon = %.6g",
		m, p.base.Epsilon, p.base.Delta, p.s.Score.Kind, p.s.Share*p.s.Target.Epsilon)}
	if p.s.Stopping != "" {
		_, of := p.s.Score.shown(0, p.sigma, p.price.Records)
		notes = []string{
			fmt.Sprintf("a random number of runs, %s (%.6g expected), each of one of %d candidates at "+
				"epsilon = %.6g and delta = %.3g by itself", p.stopping, p.stopping.Mean(), m, p.base.Epsilon,
				p.base.Delta),
			fmt.Sprintf("a run's score, its %s, has noise of deviation %.3g; how many runs there were "+
				"must not be told", p.s.Score.Kind, of),
		}
	}
	p.price.Notes, p.price.Chosen = notes, true
}

// Price returns the privacy cost of the selection.
func (p *plan) Price() train.Price { return p.price.Clone() }

// Compare prices, beside the selection, what is often claimed: the released model as if it alone
// had been trained; and other laws of the number of runs, for the same candidates. Sensitivity and
// Deviation are of the comparison, in records.
func (p *plan) Compare() ([]train.PriceRow, error) {
	row := train.PriceRow{Noise: train.Calibrated, Sensitivity: 1}
	if p.s.Stopping != "" {
		row.Sensitivity, row.Deviation = 1, p.sigma/unit
	} else {
		row.Sensitivity, row.Deviation = float64(p.s.Score.spread(p.price.Relation))/unit,
			float64(p.scale)/unit
	}
	naive, used := row, row
	naive.Reading, naive.Epsilon = "the released model alone", p.base.Epsilon
	used.Reading, used.Epsilon, used.InUse, used.Holds = "all candidates and the choice",
		p.price.Cost.Epsilon, true, true
	if p.s.Stopping == "" {
		return []train.PriceRow{naive, used}, nil
	}
	used.Reading = "best of K runs, " + p.stopping.String()
	rows := []train.PriceRow{naive, used}
	for _, name := range []string{"poisson", "logarithmic", "geometric"} {
		if name == p.s.Stopping {
			continue
		}
		other := plan{s: p.s, base: p.base, price: train.Price{Relation: p.price.Relation}}
		var err error
		if other.stopping, err = accountant.NewStopping(name, p.s.Runs); err != nil {
			continue // its mean is 1
		}
		cost, err := other.settle(p.base.Epsilon, accountant.MethodRDP)
		if err != nil {
			return nil, err
		}
		row.Reading, row.Epsilon, row.Holds = "best of K runs, "+other.stopping.String(), cost, true
		rows = append(rows, row)
	}
	return rows, nil
}

// Train returns the selection on these records. Every candidate is made ready, so that what refuses
// records does so before anything is paid for.
func (p *plan) Train(r *data.Records) (train.Algorithm, error) {
	if r == nil {
		return nil, &check.Error{Name: "number of records", Value: 0,
			Rule: fmt.Sprintf("the %d of the plan", p.price.Records)}
	}
	a := &algorithm{p: p, records: r}
	h := sha256.New()
	fmt.Fprintf(h, "darrm selection v1\n%v %v %v %v %v %v\n%v %v %v\n", p.s.Score.Kind,
		p.s.Score.Bound, p.s.Stopping, p.stopping, p.sigma, p.scale, p.rounds, p.price.Cost,
		p.price.Records)
	if p.s.Score.Loss != nil {
		fmt.Fprintf(h, "%q\n", p.s.Score.Loss.Name())
	}
	for i, q := range p.plans {
		one, err := q.Train(r)
		if err != nil {
			return nil, fmt.Errorf("candidate %s: %w", p.s.Candidates[i].Name, err)
		}
		fmt.Fprintf(h, "%q %x\n", p.s.Candidates[i].Name, one.Digest())
		a.candidates = append(a.candidates, one)
	}
	fmt.Fprintf(h, "%x\n", r.Digest())
	a.digest = [32]byte(h.Sum(nil))
	return a, nil
}

// algorithm is a plan with its records.
type algorithm struct {
	p          *plan
	records    *data.Records
	candidates []train.Algorithm
	digest     [32]byte
}

func (a *algorithm) Cost() accountant.Cost { return a.p.price.Cost }
func (a *algorithm) Rounds() int           { return a.p.rounds }
func (a *algorithm) Digest() [32]byte      { return a.digest }

// NoiseScale is 0: each candidate's model was rounded by its own.
func (a *algorithm) NoiseScale() float64 { return 0 }

// Releasable refuses a candidate that may not be released by itself.
func (a *algorithm) Releasable() error {
	for i, c := range a.candidates {
		if err := c.Releasable(); err != nil {
			return fmt.Errorf("candidate %s: %w", a.p.s.Candidates[i].Name, err)
		}
	}
	return nil
}

func (a *algorithm) Start(coins train.Coins) train.Run {
	v := func(n int) []float64 { return make([]float64, n) }
	c := common{a: a, coins: coins, model: v(a.p.price.Dim), chosen: []float64{-1}}
	if a.p.s.Stopping == "" {
		return &allRun{common: c, models: v(a.p.price.Dim * len(a.candidates)),
			scores: v(len(a.candidates))}
	}
	return &stoppingRun{common: c, best: v(1), runs: -1}
}
