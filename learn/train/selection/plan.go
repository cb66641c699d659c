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
	method := p.plans[0].Price.Method
	for _, q := range p.plans {
		if q.Price.Method != method {
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

// Plan returns the plan for others.
func (p *plan) Plan() train.Plan {
	return train.Plan{Price: p.price.Clone(), Rows: p.Compare, Train: p.Train}
}

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
		return train.Algorithm{}, check.Wantf("number of records", 0, "the %d of the plan", p.price.Records)
	}
	c := common{p: p, records: r}
	a := train.Algorithm{Cost: p.price.Cost, Rounds: p.rounds} // each model is rounded by its own noise
	h := sha256.New()
	fmt.Fprintf(h, "darrm selection v1\n%v %v %v %v %v %v\n%v %v %v\n", p.s.Score.Kind,
		p.s.Score.Bound, p.s.Stopping, p.stopping, p.sigma, p.scale, p.rounds, p.price.Cost,
		p.price.Records)
	if p.s.Score.Loss != nil {
		fmt.Fprintf(h, "%q\n", p.s.Score.Loss.Name())
	}
	for i, q := range p.plans {
		name := p.s.Candidates[i].Name
		one, err := q.Train(r)
		if err != nil {
			return train.Algorithm{}, fmt.Errorf("candidate %s: %w", name, err)
		}
		if err := one.Releasable(); err != nil && a.Refused == nil {
			a.Refused = fmt.Errorf("candidate %s: %w", name, err)
		}
		fmt.Fprintf(h, "%q %x\n", name, one.Digest)
		c.candidates = append(c.candidates, one)
	}
	fmt.Fprintf(h, "%x\n", r.Digest())
	a.Digest = [32]byte(h.Sum(nil))
	a.Start = c.start
	return a, nil
}

// start returns a run with these coins.
func (c common) start(coins train.Coins) train.Run {
	v := func(n int) []float64 { return make([]float64, n) }
	c.coins, c.model, c.chosen = coins, v(c.p.price.Dim), []float64{-1}
	if c.p.s.Stopping == "" {
		return &allRun{common: c, models: v(c.p.price.Dim * len(c.candidates)),
			scores: v(len(c.candidates))}
	}
	return &stoppingRun{common: c, best: v(1), runs: -1}
}
