package train

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/internal/testing/must"
)

// walk is a method with a state of two vectors, like one that averages: each round adds
// noise to its point, of which the output is the sum so far.
type walk struct {
	name    string // goes into the digest
	rounds  int
	refused error
	fail    func(ctx context.Context, k int, e *walker) error // after the round's work
	states  []Vector                                          // of which there are more
}

func (w walk) algorithm() Algorithm {
	return Algorithm{Cost: accountant.Cost{Epsilon: 1, Delta: 1e-6}, Refused: w.refused, Rounds: w.rounds,
		Digest: sha256.Sum256([]byte(w.name)), NoiseScale: 3, Start: func(coins Coins) Run {
			return &walker{w, coins.Normals(), make([]float64, 3), make([]float64, 3)}
		}}
}
func (e *walker) Output() []float64 { return e.sum }
func (e *walker) State() []Vector {
	return append([]Vector{{"point", e.x}, {"sum", e.sum}}, e.w.states...)
}

type walker struct {
	w      walk
	noise  *stream.Normals
	x, sum []float64
}

func (e *walker) Round(ctx context.Context, k int) error {
	z := make([]float64, 3)
	e.noise.Restart("noise", k)
	e.noise.Fill(z)
	for j := range z {
		e.x[j] = e.x[j]/2 + z[j]
		e.sum[j] += e.x[j]
	}
	if e.w.fail != nil {
		return e.w.fail(ctx, k, e)
	}
	return nil
}

// Interrupted after any round and resumed, a release is the same model under the same ID, a
// simulation the same model; two releases are two models.
func TestResumedRunsAreTheSame(t *testing.T) {
	ctx, a := context.Background(), walk{rounds: 5}.algorithm()
	r := must.Get(NewRelease(a))(t)
	saved := [][]byte{r.Checkpoint()}
	want := must.Get(r.Run(ctx, func(round int) error {
		saved = append(saved, r.Checkpoint())
		if round != r.Round() || round != len(saved)-1 {
			t.Errorf("round %d, %d", round, r.Round())
		}
		return nil
	}))(t)
	for round, b := range saved {
		again := must.Get(ResumeRelease(a, b))(t)
		if again.Round() != round || again.ID() != r.ID() || len(b) != CheckpointSize(a) {
			t.Errorf("round %d, id %s, %d bytes", again.Round(), again.ID(), len(b))
		}
		if x := must.Get(again.Run(ctx, nil))(t); !slices.Equal(x, want) {
			t.Errorf("from round %d: %v, want %v", round, x, want)
		}
	}
	other := must.Get(NewRelease(a))(t)
	if x := must.Get(other.Run(ctx, nil))(t); slices.Equal(x, want) || other.ID() == r.ID() ||
		len(r.ID()) != 32 || r.Cost() != a.Cost {
		t.Errorf("another release: %v, %s", x, other.ID())
	}
	// The ID is public. By chance the key has 8 of its digits once in 7e7 runs.
	if key := r.r.coins.Key(); strings.Contains(hex.EncodeToString(key[:]), r.ID()[:8]) {
		t.Error("the ID tells the key of the noise")
	}
	s := Simulate(a, 9)
	begun := s.Checkpoint()
	end := must.Get(s.Run(ctx, nil))(t)
	if x := must.Get(must.Get(ResumeSimulation(a, begun))(t).Run(ctx, nil))(t); !slices.Equal(x, end) {
		t.Errorf("simulation: %v, want %v", x, end)
	}
}

// What may not be released is refused when it begins and when it goes on.
func TestReleasableIsAsked(t *testing.T) {
	refused := errors.New("not private")
	good := must.Get(NewRelease(walk{rounds: 2}.algorithm()))(t).Checkpoint()
	bad := walk{rounds: 2, refused: refused}.algorithm()
	if _, err := NewRelease(bad); !errors.Is(err, refused) {
		t.Errorf("begun: %v", err)
	}
	if _, err := ResumeRelease(bad, good); !errors.Is(err, refused) {
		t.Errorf("resumed: %v", err)
	}
}

// A round that fails, diverges or is cancelled leaves every vector of the state as it was.
func TestFailedRoundsLeaveNothing(t *testing.T) {
	boom := errors.New("boom")
	for name, c := range map[string]struct {
		fail func(ctx context.Context, k int, e *walker) error
		want error
	}{
		"an error": {func(context.Context, int, *walker) error { return boom }, boom},
		"NaN": {func(_ context.Context, _ int, e *walker) error { e.x[1] = math.NaN(); return nil },
			ErrDiverged},
		"too large": {func(_ context.Context, _ int, e *walker) error { e.sum[2] = -1e101; return nil },
			ErrDiverged},
		"cancelled": {func(ctx context.Context, _ int, _ *walker) error { return ctx.Err() },
			context.Canceled},
	} {
		ctx, cancel := context.WithCancel(context.Background())
		fails := true
		a := walk{rounds: 4, fail: func(ctx context.Context, k int, e *walker) error {
			if k == 2 && fails {
				cancel()
				return c.fail(ctx, k, e)
			}
			return nil
		}}.algorithm()
		s := Simulate(a, 3)
		if _, err := s.Run(ctx, nil); !errors.Is(err, c.want) || s.Round() != 2 {
			t.Fatalf("%s: round %d, %v", name, s.Round(), err)
		}
		fails = false
		got, want := must.Get(s.Run(context.Background(), nil))(t),
			must.Get(Simulate(walk{rounds: 4}.algorithm(), 3).Run(context.Background(), nil))(t)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// A checkpoint that is well formed but lies is refused, and so is one of another algorithm,
// another kind or an earlier version. Package shuffled flips every byte of one.
func TestForeignCheckpointsAreRefused(t *testing.T) {
	a := walk{rounds: 3}.algorithm()
	good := must.Get(NewRelease(a))(t).Checkpoint()
	unnamed := a
	unnamed.Digest = [32]byte{}
	lie := func(change func(r *run)) []byte {
		r := newRun(a, stream.Seeded(1))
		change(r)
		return r.checkpoint(kindRelease)
	}
	for name, c := range map[string]struct {
		a    Algorithm
		b    []byte
		says string
	}{
		"more rounds":  {a, lie(func(r *run) { r.round = 4 }), "round = 4"},
		"NaN":          {a, lie(func(r *run) { r.state[1].Values[0] = math.NaN() }), "not finite"},
		"another name": {a, lie(func(r *run) { r.state[1].Name = "mus" }), "not sum of length 3"},
		"shorter": {a, lie(func(r *run) { r.state[0].Values = r.state[0].Values[:2] }),
			"not point of length 3"},
		"a vector less": {a, lie(func(r *run) { r.state = r.state[:1] }), "not sum of length 3"},
		"a vector more": {a, lie(func(r *run) { r.state = append(r.state, Vector{"z", []float64{1}}) }),
			"too long"},
		"another digest": {walk{name: "other", rounds: 3}.algorithm(), good, "another configuration"},
		"no digest":      {unnamed, must.Get(NewRelease(unnamed))(t).Checkpoint(), "no digest"},
		"a simulation":   {a, Simulate(a, 1).Checkpoint(), "nor a release a simulation"},
		"cut":            {a, good[:40], "cut short"},
		"of other state": {walk{rounds: 3, states: []Vector{{"z", []float64{0}}}}.algorithm(), good,
			"not z of length 1"},
	} {
		if _, err := ResumeRelease(c.a, c.b); !errors.Is(err, ErrCheckpoint) ||
			!strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The format is the one that checkpoint.go draws.
func TestCheckpointFormat(t *testing.T) {
	s := Simulate(walk{name: "w", rounds: 1}.algorithm(), 7)
	x := must.Get(s.Run(context.Background(), nil))(t)
	digest, key := sha256.Sum256([]byte("w")), stream.Seeded(7).Key()
	want := slices.Concat([]byte("darrm training checkpoint v2\nS"), digest[:], key[:])
	number := func(v uint64) { want = binary.LittleEndian.AppendUint64(want, v) }
	number(1)
	for _, name := range []string{"point", "sum"} { // alike after one round
		number(uint64(len(name)))
		want = append(want, name...)
		number(3)
		for _, v := range x {
			number(math.Float64bits(v))
		}
	}
	sum := sha256.Sum256(want)
	if got := s.Checkpoint(); !bytes.Equal(got, append(want, sum[:]...)) {
		t.Errorf("checkpoint %q, want %q", got, want)
	}
}

// What a release rounds away is far below its noise, and always a multiple of the grid.
func TestReleasesAreCoarse(t *testing.T) {
	a := walk{rounds: 2}.algorithm()
	g := grid(a)
	if !(g <= a.NoiseScale*0x1p-19 && g >= a.NoiseScale*0x1p-21) {
		t.Errorf("grid %g for noise %g", g, a.NoiseScale)
	}
	x := []float64{0.1, -3.7, 1e30, 0}
	y := slices.Clone(x)
	roundToGrid(y, g)
	for j := range x {
		if math.Abs(x[j]-y[j]) > g/2 || math.Mod(y[j], g) != 0 {
			t.Errorf("%g became %g", x[j], y[j])
		}
	}
	for _, v := range must.Get(must.Get(NewRelease(a))(t).Run(context.Background(), nil))(t) {
		if math.Mod(v, g) != 0 {
			t.Errorf("%g is not a multiple of %g", v, g)
		}
	}
}

// Settle takes calibrated noise at its word only after the account: noise that is too little
// is refused, and noise that is more costs less.
func TestSettle(t *testing.T) {
	target := accountant.Cost{Epsilon: 1, Delta: 1e-5}
	m := must.Get(NoiseFor(target))(t)
	settle := func(multiplier float64, calibrated bool) (Price, error) {
		p := Price{Method: "m", Relation: accountant.ReplaceOne}
		return p, p.Settle(accountant.Gaussian{NoiseMultiplier: multiplier, Neighbours: p.Relation},
			accountant.MethodGaussian, target, calibrated)
	}
	for _, c := range []struct {
		multiplier float64
		calibrated bool
		fits       bool
	}{{m, true, true}, {m * 0.999, true, false}, {m * 1.001, false, true}, {m * 0.999, false, false}} {
		if _, err := settle(c.multiplier, c.calibrated); (err == nil) != c.fits {
			t.Errorf("%v: %v", c, err)
		}
	}
	p := Price{Method: "m", Relation: accountant.ReplaceOne}
	if err := p.Settle(accountant.Gaussian{NoiseMultiplier: 2 * m, Neighbours: p.Relation},
		accountant.MethodGaussian, target, false); err != nil || !(p.Cost.Epsilon < 0.6) {
		t.Errorf("twice the noise costs %v (%v)", p.Cost, err)
	}
	if got := (Block{Sensitivity: 2, Deviation: 2 * m / (1 + 4*Slack)}).Multiplier(); got >= m ||
		got < m/2*(1-1e-10) {
		t.Errorf("multiplier %g for %g", got, m)
	}
	b := Price{Blocks: []Block{{Name: "a"}}, Notes: []string{"b"}}
	c := b.Clone()
	c.Blocks[0].Name, c.Notes[0] = "z", "z"
	if b.Blocks[0].Name != "a" || b.Notes[0] != "b" {
		t.Error("a clone shares its slices")
	}
}

// The multiplier that is priced is not above the exact quotient, and the one that is planned for is above it
// again, by less than anybody sees.
func TestMultipliersAreRoundedDown(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		b := Block{Deviation: math.Exp(20 * rng.NormFloat64()), Sensitivity: math.Exp(20 * rng.NormFloat64())}
		exact := new(big.Rat).Quo(new(big.Rat).SetFloat64(b.Deviation), new(big.Rat).SetFloat64(b.Sensitivity))
		got := new(big.Rat).SetFloat64(b.Multiplier())
		near := new(big.Rat).Mul(got, new(big.Rat).SetFloat64(1+0x1p-39))
		if got.Cmp(exact) > 0 || near.Cmp(exact) < 0 {
			t.Fatalf("%+v: %v for %s", b, b.Multiplier(), exact.FloatString(20))
		}
	}
}
