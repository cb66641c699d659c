package federated

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/internal/vec"
	"github.com/darrm/darrm/learn/data"
)

// Request asks the silo that a round selects for its local phase.
type Request struct {
	Round     int       `json:"round"`
	Silo      int       `json:"silo"` // from 0
	Model     []float64 `json:"model"`
	Direction []float64 `json:"direction"` // v_r
	// Keep is the step, from 0, before which the model is to be returned as well; -1 is none.
	Keep int `json:"keep"`
}

// Reply is the selected silo's answer to a Request.
type Reply struct {
	Round int       `json:"round"`
	Model []float64 `json:"model"`          // x_{r+1}
	Kept  []float64 `json:"kept,omitempty"` // what Request.Keep asked for
}

// Local does the local phase: H steps along u, which begins as v_r and follows the silo's own
// records,
//
//	u ← u + (1/B_2)Σ CLIP(∇f(w_k) - ∇f(w_{k-1}), c) + c·σ·N(0, I),   c = C_3·‖w_k - w_{k-1}‖.
//
// The first step touches no data. The noise is in float64, as package train says.
func (s *Silo) Local(ctx context.Context, q Request) (Reply, error) {
	s = handle.Made(s)
	p := s.plan
	if err := p.made(); err != nil {
		return Reply{}, err
	}
	if err := check.Whole("round", q.Round, 0, p.Rounds-1); err != nil {
		return Reply{}, err
	}
	if want := p.silo(q.Round); q.Silo != want || s.number != want {
		return Reply{}, check.Wantf("silo of the local phase", q.Silo, "%d in round %d, and this one is %d",
			want, q.Round, s.number)
	}
	if err := check.Whole("step to keep", q.Keep+1, 0, p.Local.Steps); err != nil {
		return Reply{}, err
	}
	for name, v := range map[string][]float64{"model": q.Model, "direction": q.Direction} {
		if err := checkModel(name, v, p.d); err != nil {
			return Reply{}, err
		}
	}
	question := digest(fmt.Sprintf("local %d", q.Keep), q.Round, q.Model, q.Direction)
	rng := s.coins.Stream(s.purpose("local batch", question), q.Round)
	noise := s.coins.Normals()
	noise.Restart(s.purpose("local noise", question), q.Round)
	return p.local(ctx, q, s.records, rng, noise)
}

// local is Local on records that may be nil where there is one step.
func (p *plan) local(ctx context.Context, q Request, records *data.Records, rng *rand.ChaCha8,
	noise *stream.Normals) (Reply, error) {
	reply := Reply{Round: q.Round}
	vector := func() []float64 { return make([]float64, p.d) }
	w, before, u := vector(), vector(), vector()
	g, h, sum := vector(), vector(), vector()
	copy(w, q.Model)
	copy(before, q.Model)
	copy(u, q.Direction)
	for k := range p.Local.Steps {
		if err := ctx.Err(); err != nil {
			return Reply{}, err
		}
		if k == q.Keep {
			reply.Kept = append([]float64(nil), w...)
		}
		if c := bound(p.Local.Clip, w, before); c > 0 {
			clear(sum)
			for _, i := range sample(rng, records.Len(), p.Local.Batch) {
				a, y := records.Row(i), records.Response(i)
				p.Loss.Gradient(g, w, a, y)
				p.Loss.Gradient(h, before, a, y)
				for j := range g {
					g[j] -= h[j]
				}
				vec.Clip(g, c)
				for j, v := range g {
					sum[j] += v
				}
			}
			if p.sigma > 0 {
				noise.Fill(h)
			} else {
				clear(h)
			}
			for j := range u {
				u[j] += sum[j]/float64(p.Local.Batch) + c*p.sigma*h[j]
			}
		}
		copy(before, w)
		for j := range w {
			w[j] -= p.StepSize * u[j]
		}
	}
	reply.Model = w
	return reply, checkModel("model", w, p.d)
}
