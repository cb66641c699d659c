package federated

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/learn/federated/randomiser"
	"github.com/darrm/darrm/learn/train"
)

// Server leads the rounds. It sees shuffled reports and no record, and need not be trusted.
// A round is
//
//	Broadcast → each Silo.Report → shuffler → Receive → Step, or the selected Silo.Local → Accept
//
// of which only Accept changes anything: a round that stops anywhere begins again. Between rounds
// State is all that the server knows. It is not safe for concurrent use.
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
func (p *Plan) NewServer(coins stream.Coins) *Server { return newServer(&handle.Made(p).plan, coins) }

func newServer(p *plan, coins stream.Coins) *Server {
	vector := func() []float64 { return make([]float64, p.d) }
	return &Server{
		plan: p, coins: coins, done: make([]float64, 1), v: vector(),
		sums: [2][]float64{vector(), vector()},
		x:    slices.Clone(p.start), previous: slices.Clone(p.start), kept: slices.Clone(p.start),
	}
}

// State returns the vectors that later rounds depend on. They are the server's own memory: the
// server goes on with values written to them.
func (s *Server) State() []train.Vector {
	s = handle.Made(s)
	return []train.Vector{{Name: "rounds", Values: s.done}, {Name: "x", Values: s.x},
		{Name: "previous", Values: s.previous}, {Name: "v", Values: s.v}, {Name: "kept", Values: s.kept}}
}

// Round returns the number of rounds done.
func (s *Server) Round() int {
	s = handle.Made(s)
	if s.done == nil {
		return 0
	}
	return int(s.done[0])
}

// Model returns the model after the rounds done, by the plan's Output, in the server's memory.
func (s *Server) Model() []float64 {
	s = handle.Made(s)
	if s.plan != nil && s.plan.Output == Uniform {
		return s.kept
	}
	return s.x
}

// Broadcast returns the message to all silos. It changes nothing.
func (s *Server) Broadcast() Broadcast {
	s = handle.Made(s)
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
// It returns the request for the selected silo's local phase, which Step does where there is none.
// It refuses a round with fewer reports than the price was worked out for, one with a stream longer
// than the other, and messages of another length.
func (s *Server) Receive(ctx context.Context, r Reports) (Request, error) {
	s = handle.Made(s)
	p := handle.Made(s.plan)
	if err := p.hasReports(); err != nil {
		return Request{}, err
	}
	norms := p.sent(s.Broadcast())
	size := p.randomizer.Size()
	var count [2]int
	for k := range r {
		if len(r[k])%size != 0 {
			return Request{}, check.Wantf(fmt.Sprintf("bytes of %v", randomiser.Stream(k)), len(r[k]),
				"a multiple of %d, the length of a message", size)
		}
		count[k] = len(r[k]) / size
	}
	return s.ReceiveBlocks(count, func(of randomiser.Stream, block int) ([]float64, error) {
		from := block * BlockSize
		sum, err := p.blockSum(ctx, norms[of], r[of][from*size:min(from+BlockSize, count[of])*size])
		if err != nil {
			return nil, fmt.Errorf("reports of %v from %d on: %w", of, from+1, err)
		}
		return sum, nil
	})
}

// ReceiveBlocks is Receive for reports whose blocks of BlockSize were added up elsewhere
// (Plan.BlockSum): count gives the number of reports of each stream, and sum returns the sum of a
// block, numbered from 0. sum is called once for each block, in order. The result is Receive's, bit
// for bit.
func (s *Server) ReceiveBlocks(count [2]int, sum func(of randomiser.Stream, block int) ([]float64,
	error)) (Request, error) {
	s = handle.Made(s)
	p := handle.Made(s.plan)
	if err := p.hasReports(); err != nil {
		return Request{}, err
	}
	if s.Round() >= p.Rounds {
		return Request{}, fmt.Errorf("all %d rounds are done", p.Rounds)
	}
	b := s.Broadcast()
	norms := p.sent(b)
	same := 0 // reports of each stream that there is
	for k, norm := range norms {
		n := count[k]
		switch {
		case norm == 0 && n != 0:
			return Request{}, check.Wantf(fmt.Sprintf("reports of %v", randomiser.Stream(k)), n,
				"none in round %d", b.Round)
		case norm == 0:
			continue
		case n < p.least(b.Round):
			return Request{}, &TooFewError{Round: b.Round, Stream: randomiser.Stream(k), Reports: n,
				Least: p.least(b.Round)}
		case n > p.expected(b.Round):
			return Request{}, check.Wantf(fmt.Sprintf("reports of %v", randomiser.Stream(k)), n,
				"at most %d: some came twice", p.expected(b.Round))
		case same != 0 && n != same:
			return Request{}, check.Wantf("reports of differences", n, "as many as of gradients, %d", same)
		}
		same = n
	}
	for k := range norms {
		clear(s.sums[k])
		for block := range blocks(count[k]) {
			v, err := sum(randomiser.Stream(k), block)
			if err == nil && len(v) != p.d {
				err = check.Want("length of a block's sum", len(v), fmt.Sprint(p.d))
			}
			if err != nil {
				return Request{}, err
			}
			addTo(s.sums[k], v)
		}
		for j := range s.sums[k] {
			s.sums[k][j] /= float64(same)
		}
	}
	return s.turn(b)
}

// BlockSum adds up one block of a stream's shuffled reports to a broadcast, the messages one after
// the other. Cost: d normal numbers for each.
func (p *Plan) BlockSum(ctx context.Context, b Broadcast, of randomiser.Stream,
	messages []byte) ([]float64, error) {
	p = handle.Made(p)
	if err := cmp.Or(p.hasReports(), b.check(&p.task)); err != nil {
		return nil, err
	}
	size := p.randomizer.Size()
	if n := len(messages) / size; len(messages)%size != 0 || n > BlockSize {
		return nil, check.Wantf("bytes of a block", len(messages), "up to %d messages of %d", BlockSize,
			size)
	}
	return p.blockSum(ctx, p.sent(b)[of], messages)
}

func (p *plan) blockSum(ctx context.Context, norm float64, messages []byte) ([]float64, error) {
	size, sum := p.randomizer.Size(), make([]float64, p.d)
	err := chunkSums(ctx, len(messages)/size, p.Workers, sum,
		func(_, from, to int, sum []float64) error {
			for i := from; i < to; i++ {
				if err := p.randomizer.Add(sum, messages[i*size:(i+1)*size], norm); err != nil {
					return fmt.Errorf("report %d: %w", i+1, err)
				}
			}
			return nil
		})
	return sum, err
}

// TooFewError is a round with fewer reports than the price of the run was worked out for.
type TooFewError struct {
	Round          int
	Stream         randomiser.Stream
	Reports, Least int
}

func (e *TooFewError) Error() string {
	return fmt.Sprintf("round %d: %d reports of %v, but the price is for at least %d", e.Round,
		e.Reports, e.Stream, e.Least)
}

// turn works out v_r from the means in s.sums.
func (s *Server) turn(b Broadcast) (Request, error) {
	p := s.plan
	rho := p.weight(b.Round)
	direction := make([]float64, p.d)
	for j := range direction {
		direction[j] = (1-rho)*(s.v[j]+s.sums[differences][j]) + rho*s.sums[gradients][j]
	}
	q := Request{Round: b.Round, Silo: p.silo(b.Round), Model: b.Model, Direction: direction,
		Keep: s.reservoir(b.Round)}
	return q, checkModel("direction", direction, p.d)
}

// Step is the local phase of one step, x - η·v_r, which needs no data and no silo.
func (s *Server) Step(ctx context.Context, q Request) (Reply, error) {
	s = handle.Made(s)
	if err := s.plan.made(); err != nil {
		return Reply{}, err
	}
	if h := s.plan.Local.Steps; h > 1 {
		return Reply{}, fmt.Errorf("silo %d is to do %d local steps", q.Silo, h)
	}
	return s.plan.local(ctx, q, nil, nil, nil)
}

// reservoir returns the step of a round before which the iterate replaces the kept one, or -1.
// After each round every iterate so far was as likely to be kept.
func (s *Server) reservoir(round int) int {
	h := uint64(s.plan.Local.Steps)
	if u := stream.Below(s.coins.Stream("federated output", round), uint64(round+1)*h); u < h {
		return int(u)
	}
	return -1
}

// Accept takes the reply to a request, which ends the round.
func (s *Server) Accept(q Request, r Reply) error {
	s = handle.Made(s)
	if err := s.plan.made(); err != nil {
		return err
	}
	if q.Round != s.Round() || r.Round != q.Round {
		return check.Want("round of the local phase", r.Round, fmt.Sprint(s.Round()))
	}
	for name, v := range map[string][]float64{"model": r.Model, "direction": q.Direction} {
		if err := checkModel(name, v, s.plan.d); err != nil {
			return err
		}
	}
	if (r.Kept != nil) != (q.Keep >= 0) {
		return check.Want("kept model", len(r.Kept), "there if and only if it was asked for")
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
