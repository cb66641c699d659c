package teachers

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/train"
)

// Train plans, charges and trains K teachers. charge is called once, before anything is
// trained, with a name that is this training's alone and what everything costs that can be
// made of the teachers (Plan.Total at no slack); its error ends the training. It is
// where a ledger belongs; nil charges nothing. For other totals use NewPlan.
func Train(ctx context.Context, c Config, private, public *data.Records,
	charge func(id string, total accountant.Cost) error) (*Trained, error) {
	p, err := NewPlan(ctx, c, private, public)
	if err != nil {
		return nil, err
	}
	total, err := p.Total(0)
	if err != nil {
		return nil, err
	}
	t, err := p.NewTraining()
	if err != nil {
		return nil, err
	}
	if charge != nil {
		if err := charge(t.ID(), total); err != nil {
			return nil, fmt.Errorf("charge %v: %w", total, err)
		}
	}
	return t.Run(ctx)
}

// Training trains the teachers of a plan once, with the operating system's randomness, of
// which each teacher has its own: their votes are independent of each other. It is not safe
// for concurrent use.
type Training struct {
	p        *Plan
	releases []*train.Release
}

// NewTraining begins a training. Its randomness is drawn here: however often Run is called
// it trains the same teachers, to be charged for once, by ID. It refuses what
// train.NewRelease refuses.
func (p *Plan) NewTraining() (*Training, error) {
	p = p.made()
	if p.plans == nil {
		return nil, errNoTeachers
	}
	t := &Training{p: p}
	for j, plan := range p.plans {
		r, err := train.NewRelease(plan.Algorithm())
		if err != nil {
			return nil, fmt.Errorf("teacher %d: %w", j+1, err)
		}
		t.releases = append(t.releases, r)
	}
	return t, nil
}

var errNoTeachers = errors.New("a plan without teachers: make one with NewPlan")

// ID returns a name of the training that reveals nothing about its randomness: a ledger charges a
// request of one name once.
func (t *Training) ID() string {
	t = handle.Made(t)
	h := sha256.New()
	h.Write([]byte("darrm ensemble training id v1"))
	for _, r := range t.releases {
		fmt.Fprintf(h, " %s", r.ID())
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Run trains the teachers. A run that the context ended goes on where it was. The error of
// one that diverged names the teacher; that it did is a function of its noisy iterates, and
// the training has been paid for.
func (t *Training) Run(ctx context.Context) (*Trained, error) {
	t = handle.Made(t)
	models, err := t.p.trainAll(ctx, func(ctx context.Context, j int) ([]float64, error) {
		return t.releases[j].Run(ctx, nil)
	})
	if err != nil {
		return nil, err
	}
	return &Trained{t.p, models}, nil
}

// Simulate trains the teachers from a seed, for experiments: whoever knows the seed knows
// the noise, so nothing of the result is private. The same plan and seed give the same
// teachers, for any number of workers.
func (p *Plan) Simulate(ctx context.Context, seed uint64) (*Simulated, error) {
	p = p.made()
	models, err := p.trainAll(ctx, func(ctx context.Context, j int) ([]float64, error) {
		own, err := randsrc.NewSeededStream(seed, uint64(j)).Uint53()
		if err != nil {
			return nil, err
		}
		return train.Simulate(p.plans[j].Algorithm(), own).Run(ctx, nil)
	})
	if err != nil {
		return nil, err
	}
	return &Simulated{p, models}, nil
}

// trainAll trains all teachers, some at a time. The error is that of the first teacher that
// has one, or the context's.
func (p *Plan) trainAll(ctx context.Context, one func(context.Context, int) ([]float64, error)) (
	[][]float64, error) {
	p = p.made()
	if p.plans == nil {
		return nil, errNoTeachers
	}
	workers := cmp.Or(p.c.Workers, runtime.GOMAXPROCS(0))
	models, errs := make([][]float64, p.K()), make([]error, p.K())
	var group errgroup.Group
	group.SetLimit(workers)
	for j := range p.K() {
		group.Go(func() error {
			models[j], errs[j] = one(ctx, j) // a cancelled context makes each end at once
			return nil
		})
	}
	_ = group.Wait() // errs are by teacher
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for j, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("teacher %d: %w", j+1, err)
		}
	}
	return models, nil
}

// Trained are K trained teachers, each private by itself at Plan().Teacher(). They are
// immutable and safe for concurrent use.
type Trained struct {
	p      *Plan
	models [][]float64
}

// Plan returns the plan, with all costs.
func (t *Trained) Plan() *Plan { return handle.Copy(handle.Made(t).p) }

// Models returns the teachers' models. Releasing all of them costs Plan().Total.
func (t *Trained) Models() [][]float64 { return cloneAll(handle.Made(t).models) }

// Votes lets the teachers vote on queries, in rows as a Mechanism takes them: of each query,
// how many teachers answer 0 and how many 1. The queries are no part of what was trained on;
// their own privacy is not this package's.
func (t *Trained) Votes(queries *data.Records) ([][]int, error) {
	t = handle.Made(t)
	ones, err := t.p.ones(t.models, queries)
	if err != nil {
		return nil, err
	}
	rows := make([][]int, len(ones))
	for i, n := range ones {
		rows[i] = []int{t.p.K() - n, n}
	}
	return rows, nil
}

// Counts returns the votes on one query for class 0 and for class 1, as a Mechanism takes
// them.
func (t *Trained) Counts(features []float64) ([]int, error) {
	t = handle.Made(t)
	p := t.p.made()
	if p.plans == nil {
		return nil, errNoTeachers
	}
	if len(features) != p.dim {
		return nil, p.dimension(len(features))
	}
	ones := p.onesOf(t.models, features)
	return []int{p.K() - ones, ones}, nil
}

// Simulated are teachers that were trained from a seed. Nothing of them is private,
// so they have no votes in the form that releases take: only what scores and comparisons
// need.
type Simulated struct {
	p      *Plan
	models [][]float64
}

// Plan returns the plan, with all costs that teachers of a Training would have.
func (t *Simulated) Plan() *Plan { return handle.Copy(handle.Made(t).p) }

// Models returns the teachers' models. They are not private.
func (t *Simulated) Models() [][]float64 { return cloneAll(handle.Made(t).models) }

// Ones returns how many teachers answer 1 to each query.
func (t *Simulated) Ones(queries *data.Records) ([]int, error) {
	t = handle.Made(t)
	return t.p.ones(t.models, queries)
}

// Ballots returns the votes on the queries for Compare and Evaluate, with the queries'
// responses where they are 0 or 1.
func (t *Simulated) Ballots(queries *data.Records) (*ensemble.Ballots, error) {
	t = handle.Made(t)
	ones, err := t.Ones(queries)
	if err != nil {
		return nil, err
	}
	b, err := ensemble.NewBallots(t.p.K(), 2)
	if err != nil {
		return nil, err
	}
	for i, n := range ones {
		truth := ensemble.NoTruth
		if y := queries.Response(i); queries.HasResponses() && (y == 0 || y == 1) {
			truth = int(y)
		}
		if err := b.Add([]int{t.p.K() - n, n}, truth); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func (p *Plan) ones(models [][]float64, queries *data.Records) ([]int, error) {
	if queries == nil {
		return nil, errors.New("no queries")
	}
	if queries.Dim() != p.dim {
		return nil, p.dimension(queries.Dim())
	}
	out := make([]int, queries.Len())
	for i := range out {
		out[i] = p.onesOf(models, queries.Row(i))
	}
	return out, nil
}

func (p *Plan) onesOf(models [][]float64, features []float64) int {
	n := 0
	for _, m := range models {
		if p.c.Vote(m, features) {
			n++
		}
	}
	return n
}

func (p *Plan) dimension(d int) error {
	return check.Wantf("dimension of the queries", d, "that of the records, %d", p.dim)
}

func cloneAll(models [][]float64) [][]float64 {
	out := make([][]float64, len(models))
	for j, m := range models {
		out[j] = slices.Clone(m)
	}
	return out
}
