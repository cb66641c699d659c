package federated

import (
	"context"
	"fmt"
	"slices"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/learn/federated/report"
	"github.com/darrm/darrm/learn/train"
)

// Server is who leads the rounds. It sees shuffled reports and no record, and need not be trusted.
// A round is
//
//	Broadcast → each Silo.Report → shuffler → Receive → Step, or the selected Silo.Local → Accept
//
// of which only Accept changes anything: a round that stops anywhere begins again. Between rounds State
// is all that the server knows. It is not safe for concurrent use.
type Server struct {
	plan  *plan
	coins stream.Coins // which iterate is kept; public

	done           []float64 // rounds done: a float64, as states have
	x, previous, v []float64
	kept           []float64 // the uniformly chosen iterate
	sums           [2][]float64
}

// NewServer returns a server before its first round. The coins choose the iterate that Uniform
// returns, and need not be secret.
func (p *Plan) NewServer(coins stream.Coins) *Server { return newServer(&p.plan, coins) }

func newServer(p *plan, coins stream.Coins) *Server {
	vector := func() []float64 { return make([]float64, p.d) }
	return &Server{
		plan: p, coins: coins, done: make([]float64, 1), v: vector(), sums: [2][]float64{vector(), vector()},
		x: slices.Clone(p.start), previous: slices.Clone(p.start), kept: slices.Clone(p.start),
	}
}

// State returns what later rounds depend on, in the server's memory: what is written there is what it
// goes on with.
func (s *Server) State() []train.Vector {
	return []train.Vector{{Name: "rounds", Values: s.done}, {Name: "x", Values: s.x}, {Name: "previous", Values: s.previous}, {Name: "v", Values: s.v}, {Name: "kept", Values: s.kept}}
}

// Round returns how many rounds are done.
func (s *Server) Round() int { return int(s.done[0]) }

// Model returns the model after the rounds done, by the plan's Output, in the server's memory.
func (s *Server) Model() []float64 {
	if s.plan.Output == Uniform {
		return s.kept
	}
	return s.x
}

// Broadcast returns what to tell the silos. It changes nothing.
func (s *Server) Broadcast() Broadcast {
	b := Broadcast{Round: s.Round(), Model: slices.Clone(s.x)}
	if b.Round > 0 {
		b.Previous = slices.Clone(s.previous)
	}
	return b
}

// Receive takes the shuffled reports of the round and works out
//
//	v_r = (1-ρ)(v_{r-1} + mean of differences) + ρ·mean of gradients,   ρ = 1 in round 0, then β.
//
// It returns the request for the selected silo's local phase, which Step does where there is none. It
// refuses a round with fewer reports than the price was worked out for, one with a stream longer than
// the other, and messages of another length.
func (s *Server) Receive(ctx context.Context, r Reports) (Request, error) {
	p := s.plan
	if err := p.hasReports(); err != nil {
		return Request{}, err
	}
	if s.Round() >= p.Rounds {
		return Request{}, fmt.Errorf("all %d rounds are done", p.Rounds)
	}
	b := s.Broadcast()
	norms := p.sent(b)
	size := p.randomizer.Size()
	count := 0
	for k, norm := range norms {
		n := len(r[k]) / size
		switch {
		case norm == 0 && len(r[k]) > 0:
			return Request{}, &check.Error{Name: fmt.Sprintf("reports of %v", report.Stream(k)), Value: n, Rule: fmt.Sprintf("none in round %d", b.Round)}
		case norm == 0:
			continue
		case len(r[k])%size != 0:
			return Request{}, &check.Error{Name: fmt.Sprintf("bytes of %v", report.Stream(k)), Value: len(r[k]), Rule: fmt.Sprintf("a multiple of %d, the length of a message", size)}
		case n < p.least(b.Round):
			return Request{}, &TooFewError{Round: b.Round, Stream: report.Stream(k), Reports: n, Least: p.least(b.Round)}
		case n > p.expected(b.Round):
			return Request{}, &check.Error{Name: fmt.Sprintf("reports of %v", report.Stream(k)), Value: n, Rule: fmt.Sprintf("at most %d: some came twice", p.expected(b.Round))}
		case count != 0 && n != count:
			return Request{}, &check.Error{Name: "reports of differences", Value: n, Rule: fmt.Sprintf("as many as of gradients, %d", count)}
		}
		count = n
	}
	if err := s.add(ctx, r, norms, count); err != nil {
		return Request{}, err
	}
	return s.turn(b)
}

// TooFewError is a round with fewer reports than the price of the run was worked out for.
type TooFewError struct {
	Round          int
	Stream         report.Stream
	Reports, Least int
}

func (e *TooFewError) Error() string {
	return fmt.Sprintf("round %d: %d reports of %v, but the price is for at least %d (--missing)", e.Round, e.Reports, e.Stream, e.Least)
}

// add sets the sums to the means of the streams.
func (s *Server) add(ctx context.Context, r Reports, norms [2]float64, count int) error {
	p, size := s.plan, s.plan.randomizer.Size()
	err := chunkSums(ctx, count, p.d, p.Workers, s.sums, func(_, from, to int, sums [2][]float64) error {
		for k, norm := range norms {
			if norm == 0 {
				continue
			}
			for i := from; i < to; i++ {
				if err := p.randomizer.Add(sums[k], r[k][i*size:(i+1)*size], norm); err != nil {
					return fmt.Errorf("report %d of %v: %w", i+1, report.Stream(k), err)
				}
			}
		}
		return nil
	})
	for _, sum := range s.sums {
		for j := range sum {
			sum[j] /= float64(count)
		}
	}
	return err
}

// turn works out v_r from the means in s.sums.
func (s *Server) turn(b Broadcast) (Request, error) {
	p := s.plan
	rho := p.weight(b.Round)
	direction := make([]float64, p.d)
	for j := range direction {
		direction[j] = (1-rho)*(s.v[j]+s.sums[differences][j]) + rho*s.sums[gradients][j]
	}
	q := Request{Round: b.Round, Silo: p.silo(b.Round), Model: b.Model, Direction: direction, Keep: s.reservoir(b.Round)}
	return q, checkModel("direction", direction, p.d)
}

// Step is the local phase of one step, x - η·v_r, which needs no data and no silo.
func (s *Server) Step(ctx context.Context, q Request) (Reply, error) {
	if h := s.plan.Local.Steps; h > 1 {
		return Reply{}, fmt.Errorf("silo %d is to do %d local steps", q.Silo, h)
	}
	return s.plan.local(ctx, q, nil, nil, nil)
}

// reservoir returns the step of a round before which the iterate replaces the kept one, or -1. After
// each round every iterate so far was as likely to be kept.
func (s *Server) reservoir(round int) int {
	h := uint64(s.plan.Local.Steps)
	if u := stream.Below(s.coins.Stream("federated output", round), uint64(round+1)*h); u < h {
		return int(u)
	}
	return -1
}

// Accept takes the reply to a request, which ends the round.
func (s *Server) Accept(q Request, r Reply) error {
	if q.Round != s.Round() || r.Round != q.Round {
		return &check.Error{Name: "round of the local phase", Value: r.Round, Rule: fmt.Sprint(s.Round())}
	}
	for name, v := range map[string][]float64{"model": r.Model, "direction": q.Direction} {
		if err := checkModel(name, v, s.plan.d); err != nil {
			return err
		}
	}
	if (r.Kept != nil) != (q.Keep >= 0) {
		return &check.Error{Name: "kept model", Value: len(r.Kept), Rule: "there if and only if it was asked for"}
	}
	if r.Kept != nil {
		if err := checkModel("kept model", r.Kept, s.plan.d); err != nil {
			return err
		}
		copy(s.kept, r.Kept)
	}
	copy(s.previous, s.x)
	copy(s.x, r.Model)
	copy(s.v, q.Direction)
	s.done[0]++
	return nil
}
