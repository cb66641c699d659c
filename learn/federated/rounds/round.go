package rounds

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/strictjson"
	"github.com/darrm/darrm/learn/federated"
	"github.com/darrm/darrm/learn/train"
)

const roundFormat = "darrm federated round 1"

// Round is the state of a run for silos, shuffler and the next round. It is public.
type Round struct {
	Format    string    `json:"format"`
	Plan      string    `json:"plan"`      // its digest
	Round     int       `json:"round"`     // rounds done
	Model     []float64 `json:"model"`     // x_r
	Previous  []float64 `json:"previous"`  // x_{r-1}; x_0 in round 0
	Direction []float64 `json:"direction"` // v_{r-1}; 0 in round 0
	// Kept is the uniformly chosen iterate, where the plan's output is that.
	Kept []float64 `json:"kept,omitempty"`
	// Local asks a silo for its local phase. Before the reports of the round are in it is nil.
	Local *LocalRequest `json:"local,omitempty"`
}

// LocalRequest is federated.Request less the fields of the round.
type LocalRequest struct {
	Silo      int       `json:"silo"` // from 0
	Direction []float64 `json:"direction"`
	Keep      int       `json:"keep"`
}

// maxNumber is the most bytes of a float64 in JSON, with what stands around it.
const maxNumber = 48

// MaxRound returns the most bytes that a file of a round, or of a reply, has.
func (p *Run) MaxRound() int64 { return 4096 + 6*maxNumber*int64(handle.Made(p).priced.Dim()) }

// First returns the round that a run begins with.
func (p *Run) First() *Round {
	p = handle.Made(p)
	return p.round(p.newServer())
}

func (p *Run) newServer() *federated.Server { return p.priced.NewServer(p.coins) }

func (p *Run) uniform() bool { return p.doc.Output == string(federated.Uniform) }

func (p *Run) round(s *federated.Server) *Round {
	state := map[string][]float64{}
	for _, v := range s.State() {
		state[v.Name] = slices.Clone(v.Values)
	}
	r := &Round{Format: roundFormat, Plan: p.Digest(), Round: s.Round(), Model: state["x"],
		Previous: state["previous"], Direction: state["v"]}
	if p.uniform() {
		r.Kept = state["kept"]
	}
	return r
}

// server returns the server in that round.
func (p *Run) server(r *Round) *federated.Server {
	r = handle.Made(r)
	s := p.newServer()
	state := map[string][]float64{"rounds": {float64(r.Round)}, "x": r.Model, "previous": r.Previous,
		"v": r.Direction, "kept": r.Kept}
	for _, v := range s.State() {
		copy(v.Values, state[v.Name])
	}
	return s
}

// ReadRound reads the file of a round of this plan.
func (p *Run) ReadRound(b []byte) (*Round, error) {
	p = handle.Made(p)
	r := new(Round)
	if err := strictjson.DecodeKnown(b, int(p.MaxRound()), r); err != nil {
		return nil, formatf("not a round: %w", err)
	}
	switch {
	case r.Format != roundFormat:
		return nil, formatf("its format is %.40q, but must be %q", r.Format, roundFormat)
	case r.Plan != p.Digest():
		return nil, formatf("it is of the plan %.40q, not of %s", r.Plan, p.Digest())
	case r.Round < 0 || r.Round > p.Rounds():
		return nil, formatf("its round is %d, but must be between 0 and %d", r.Round, p.Rounds())
	case (r.Kept != nil) != p.uniform():
		return nil, formatf("it has a kept model of %d numbers, and the plan's output is %q", len(r.Kept),
			p.doc.Output)
	}
	vectors := map[string][]float64{"model": r.Model, "previous": r.Previous, "direction": r.Direction}
	if r.Kept != nil {
		vectors["kept"] = r.Kept
	}
	if l := r.Local; l != nil {
		if p.LocalSteps() == 1 || r.Round == p.Rounds() || l.Keep < -1 || l.Keep >= p.LocalSteps() ||
			l.Silo != r.Round%len(p.doc.Silos) {
			return nil, formatf(
				"it asks silo %d for a local phase, keep %d, that the plan does not have in round %d", l.Silo+1,
				l.Keep, r.Round)
		}
		vectors["local direction"] = l.Direction
	}
	for name, v := range vectors {
		if err := p.checkVector(name, v); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (p *Run) checkVector(name string, x []float64) error {
	if len(x) != p.priced.Dim() {
		return formatf("%s: %d numbers, but the plan's models have %d", name, len(x), p.priced.Dim())
	}
	for _, v := range x {
		if !train.InRange(v) {
			return formatf("%s: %v is no number of a model", name, v)
		}
	}
	return nil
}

// Encode returns the round's file.
func (r *Round) Encode() ([]byte, error) { return encode(r) }

// Result returns the model that a run returns after this round.
func (r *Round) Result() []float64 {
	r = handle.Made(r)
	if r.Kept != nil {
		return slices.Clone(r.Kept)
	}
	return slices.Clone(r.Model)
}

// broadcast returns the round's message to all silos.
func (r *Round) broadcast() federated.Broadcast {
	r = handle.Made(r)
	b := federated.Broadcast{Round: r.Round, Model: r.Model}
	if r.Round > 0 {
		b.Previous = r.Previous
	}
	return b
}

// request returns the round's request to the selected silo.
func (r *Round) request() federated.Request {
	return federated.Request{Round: r.Round, Silo: r.Local.Silo, Model: r.Model,
		Direction: r.Local.Direction, Keep: r.Local.Keep}
}

// question names what a round asks for: another model in the same round is another question.
func (p *Run) question(r *Round) [32]byte {
	r = handle.Made(r)
	h := sha256.New()
	fmt.Fprintf(h, "darrm federated question 1\n%x %d %v\n", p.digest, r.Round, r.Local != nil)
	vectors := [][]float64{r.Model, r.Previous}
	if l := r.Local; l != nil {
		fmt.Fprintf(h, "%d %d\n", l.Silo, l.Keep)
		vectors = append(vectors, l.Direction)
	}
	for _, v := range vectors {
		_ = binary.Write(h, binary.LittleEndian, v) // a hash takes all
	}
	return [32]byte(h.Sum(nil))
}

// Question names what a round asks for.
func (p *Run) Question(r *Round) string {
	p = handle.Made(p)
	q := p.question(r)
	return hex.EncodeToString(q[:16])
}

// Finished reports whether all rounds are done.
func (p *Run) Finished(r *Round) bool { return handle.Made(r).Round >= handle.Made(p).Rounds() }
