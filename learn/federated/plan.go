package federated

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/federated/randomiser"
	"github.com/darrm/darrm/learn/train"
)

// kind names the source of the noise in the server's estimate.
type kind int

const (
	shuffled  kind = iota // each record's report has its own
	trusted               // the server sees the records, and adds normal noise to means
	noiseless             // nowhere: for measuring what noise does. No price
	rehearsed             // normal noise in place of reports, of their size. No price
)

// plan is a run whose parameters are fixed.
type plan struct {
	task
	kind   kind
	beta   float64 // of PSGM
	period int     // of Central: rounds from one full gradient to the next, 0 for PSGM
	// Reports.
	batches    [2][]int // B_0 and B_1 of each silo; nil for all records
	taken      [2]int   // and of all silos
	missing    int      // reports that need not come
	colluding  int      // of those that come, how many need not be honest
	reportKind Randomizer
	randomizer randomiser.Randomizer
	lagged     bool // what the source prints: gradients at x_{r-1}. For a test
	// Noise.
	multipliers [2]float64 // of Central, over the sensitivity of a mean
	sigma       float64    // of the local phase

	account Account     // of PSGM
	noise   train.Noise // of Central
	price   train.Price
}

// Plan is a priced method. It is immutable and safe for concurrent use.
type Plan struct{ plan }

// weight returns ρ of a round: the weight of fresh gradients.
func (p *plan) weight(round int) float64 {
	switch {
	case round == 0:
		return 1
	case p.period == 0:
		return p.beta
	case round%p.period == 0:
		return 1
	}
	return 0
}

// made refuses a plan that nobody made.
func (p *plan) made() error {
	if p == nil || p.d < 1 || p.Loss == nil {
		return errors.New("a plan must be made by PSGM.New or Central.New")
	}
	return nil
}

// sent returns the clipping norms of the streams that a round has, 0 for one that it has not: for
// want of weight, or because the model did not move, so that all differences are 0.
func (p *plan) sent(b Broadcast) [2]float64 {
	norms := p.bounds(b)
	rho := p.weight(b.Round)
	if rho == 1 {
		norms[differences] = 0
	}
	if rho == 0 {
		norms[gradients] = 0
	}
	return norms
}

// batch returns the number of records that a silo takes in a round.
func (p *plan) batch(round, silo int) int {
	if b := p.batches[min(round, 1)]; b != nil {
		return b[silo]
	}
	return p.Silos[silo]
}

// rate returns the largest share of its records that a silo takes in a round.
func (p *plan) rate(round int) float64 {
	rate := 0.0
	for m, size := range p.Silos {
		rate = max(rate, float64(p.batch(round, m))/float64(size))
	}
	return rate
}

// expected returns the number of reports of a stream in a round; least is the number it must have.
func (p *plan) expected(round int) int {
	if p.batches[0] == nil {
		return p.n
	}
	return p.taken[min(round, 1)]
}

func (p *plan) least(round int) int { return p.expected(round) - p.missing }

// honest returns the least number of reports of a stream that hide one another. The price assumes
// it.
func (p *plan) honest(round int) int { return p.least(round) - p.colluding }

// streams returns the number of rounds that send each stream. A model that does not move saves some
// of them, which are paid for all the same.
func (p *plan) streams() (count [2]int) {
	for r := range p.Rounds {
		rho := p.weight(r)
		if rho > 0 {
			count[gradients]++
		}
		if rho < 1 {
			count[differences]++
		}
	}
	return count
}

// Plan returns the plan for callers that know no silos.
func (p *Plan) Plan() train.Plan {
	p = handle.Made(p)
	return train.Plan{Price: p.Price(), Rows: p.Compare, Train: p.Train}
}

// Price returns the privacy cost of the model.
func (p *Plan) Price() train.Price { return handle.Made(p).price.Clone() }

// LocalEpsilon returns ε₀ of one report, 0 for a method without reports.
func (p *Plan) LocalEpsilon() float64 {
	p = handle.Made(p)
	switch {
	case p.randomizer != nil:
		return p.randomizer.Epsilon()
	case p.kind == shuffled: // nobody made the plan
		return math.Inf(1)
	}
	return 0
}

// Randomizer returns the randomiser of the reports, nil for a method without them.
func (p *Plan) Randomizer() randomiser.Randomizer { return handle.Made(p).randomizer }

// Expected returns the number of reports of a stream in a round, and the least that it must have.
func (p *Plan) Expected(round int) (reports, least int) {
	p = handle.Made(p)
	return p.expected(round), p.least(round)
}

// hasReports refuses a plan whose silos send none.
func (p *plan) hasReports() error {
	if p.kind != shuffled {
		return fmt.Errorf("%s has no reports: its server sees the records", p.price.Method)
	}
	return p.made()
}

// Reports returns the largest number of reports that the run sends; 0 for a method without reports.
func (p *Plan) Reports() int {
	p = handle.Made(p)
	if p.randomizer == nil {
		return 0
	}
	sum := 0
	for r := range p.Rounds {
		streams := 1
		if rho := p.weight(r); rho < 1 {
			streams = 2
		}
		sum += streams * p.expected(r)
	}
	return sum
}

// Dim returns the length of the model.
func (p *Plan) Dim() int { return handle.Made(p).d }

// Train returns the method on the records of all silos, silo after silo.
func (p *Plan) Train(records *data.Records) (train.Algorithm, error) {
	p = handle.Made(p)
	if err := p.take(records); err != nil {
		return train.Algorithm{}, err
	}
	return p.algorithm(records)
}

// Noiseless returns a plan of the same steps, batches and clips without any noise. It has no price.
func (p *Plan) Noiseless() *Plan { return handle.Made(p).priceless(noiseless) }

// Rehearsal returns a plan that adds to each mean of clipped vectors normal noise of the deviation
// Scale/√(d·N) that the mean of N reports has, in place of reports. It is tens of times faster and
// protects nothing: who holds the records adds no noise of their own. It has no price and is
// never released.
func (p *Plan) Rehearsal() (*Plan, error) {
	p = handle.Made(p)
	if p.kind != shuffled {
		return nil, fmt.Errorf("%s has no reports to stand in for", p.price.Method)
	}
	return p.priceless(rehearsed), nil
}

func (p *Plan) priceless(k kind) *Plan {
	q := &Plan{p.plan}
	q.kind = k
	if k == noiseless {
		q.sigma, q.multipliers, q.randomizer = 0, [2]float64{}, nil
		q.price.Method += " without noise"
	} else {
		q.price.Method += " rehearsed"
	}
	q.price.Event, q.price.Bound, q.price.Blocks, q.price.Notes = nil, "", nil, nil
	q.price.Cost = accountant.Cost{Epsilon: math.Inf(1)}
	return q
}

func (p *plan) algorithm(records *data.Records) (train.Algorithm, error) {
	a := train.Algorithm{Cost: p.price.Cost, Rounds: p.Rounds, NoiseScale: p.noiseScale(),
		Digest: train.DigestOf(records.Digest(), "%s", p.text())}
	if p.price.Event == nil {
		a.Refused = errors.New(p.price.Method + ": no price, no release")
	}
	var silos []*data.Records
	for m, size := range p.Silos {
		rows := make([]int, size)
		for i := range rows {
			rows[i] = p.first[m] + i
		}
		own, err := records.Select(rows)
		if err != nil {
			return train.Algorithm{}, err
		}
		silos = append(silos, own)
	}
	a.Start = func(coins train.Coins) train.Run { return newRun(p, silos, coins) }
	return a, nil
}

// text describes all that a model depends on but the records and the coins.
func (p *plan) text() []byte {
	b := fmt.Appendf(nil, "darrm federated v1\n%d %s\n%v %v %v %v %v %v %v %v %v\n", p.kind,
		p.task.text(), p.beta, p.period, p.batches[0], p.batches[1], p.missing, p.colluding, p.lagged,
		p.multipliers, p.sigma)
	if p.randomizer != nil {
		b = fmt.Appendf(b, "%T %v %v\n", p.randomizer, p.randomizer.Epsilon(), p.randomizer.Size())
		if strings.Contains(string(p.reportKind), ":") { // its numbers, which its type does not tell
			b = fmt.Appendf(b, "%s\n", p.reportKind)
		}
	}
	return b
}

// noiseScale returns the deviation that the last round's gradients leave on a coordinate of the
// model.
func (p *plan) noiseScale() float64 {
	last := p.Rounds - 1
	rho := p.weight(last)
	if rho == 0 {
		rho, last = 1, 0 // the full gradient that all differences are added to
	}
	return p.StepSize * rho * p.deviation(gradients, p.GradientClip, p.expected(last))
}

// deviation returns the deviation per coordinate of the noise in the mean of a stream of so many
// vectors of norm at most that.
func (p *plan) deviation(stream randomiser.Stream, norm float64, count int) float64 {
	switch p.kind {
	case trusted:
		return p.multipliers[stream] * sensitivity(norm, count)
	case shuffled, rehearsed:
		return p.randomizer.Scale(norm) / math.Sqrt(float64(p.d)*float64(count))
	}
	return 0
}

// sensitivity returns by how much the mean of so many vectors of norm at most that changes where
// one is replaced, rounded up.
func sensitivity(norm float64, count int) float64 {
	return 2 * norm / float64(count) * (1 + train.Slack)
}

// LocalNoise returns σ, 0 without local steps.
func (p *Plan) LocalNoise() float64 { return handle.Made(p).sigma }

// SiloReports returns the number of reports that a silo, numbered from 0, sends to a broadcast on
// each stream.
func (p *Plan) SiloReports(b Broadcast, silo int) (count [2]int) {
	p = handle.Made(p)
	for k, norm := range p.sent(b) {
		if norm > 0 {
			count[k] = p.batch(b.Round, silo)
		}
	}
	return count
}
