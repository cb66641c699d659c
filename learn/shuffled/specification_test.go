package shuffled

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/shuffled/iteration"
	"github.com/darrm/darrm/learn/train"
)

// A second trainer, written from the specification of shuffled gradient methods (sections
// 1.4, 1.5, 2.1 to 2.4) and from the comments on a key's streams. Of the real one it uses the
// data only, so that whoever holds a run's key computes each
// step's noise again, to the last digit but for the order of roundings.

type key [32]byte

const (
	zigLayers = 256
	zigRight  = 3.6541528853610088
	zigArea   = 0.00492867323397465524
)

// slowStream is the stream of a purpose and epoch.
func slowStream(k key, purpose string, epoch int) *rand.ChaCha8 {
	b := append([]byte("darrm shuffleg stream v1 "), k[:]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(epoch))
	return rand.NewChaCha8(sha256.Sum256(append(b, purpose...)))
}

// slowNormal is a standard normal by Marsaglia and Tsang's ziggurat: of 64 bits the low 8
// choose the layer, the next the sign, the top 53 the place in the layer. A point under the
// curve is kept; below the lowest layer lies the tail.
func slowNormal(rng *rand.ChaCha8) float64 {
	curve := func(x float64) float64 { return math.Exp(-x * x / 2) }
	right := []float64{zigArea / curve(zigRight), zigRight}
	for i := 1; i < zigLayers-1; i++ {
		right = append(right, math.Sqrt(-2*math.Log(zigArea/right[i]+curve(right[i]))))
	}
	right = append(right, 0)
	uniform := func() float64 { return (float64(rng.Uint64()>>11) + 0.5) / (1 << 53) }
	for {
		u := rng.Uint64()
		i, sign := u%256, 1.0
		if u>>8%2 == 1 {
			sign = -1
		}
		part := float64(u>>11) / (1 << 53)
		x := part * right[i]
		switch {
		case x < right[i+1]: // a rounding of this happens once in 2⁵³ draws
		case i == 0:
			for {
				beyond, height := -math.Log(uniform())/zigRight, -math.Log(uniform())
				if 2*height > beyond*beyond {
					x = zigRight + beyond
					break
				}
			}
		default:
			low, high := curve(right[i]), curve(right[i+1])
			if i == zigLayers-1 {
				high = 1
			}
			if low+(high-low)*uniform() >= curve(x) {
				continue
			}
		}
		return sign * x
	}
}

// slowRun is the training that a configuration asks for, from a key. A release adds four
// normals and halves them (Holohan and Braghin, 2021).
type slowRun struct {
	c               Config
	private, public *data.Records
	sigma           float64
	k               key
	four            bool
}

func (r slowRun) normal(rng *rand.ChaCha8) float64 {
	if !r.four {
		return slowNormal(rng)
	}
	sum := 0.0
	for range 4 {
		sum += slowNormal(rng)
	}
	return sum / 2
}

// step is x - η(clip_G(∇f(x; q)) + ρ), ρ from rng.
func (r slowRun) step(x []float64, records *data.Records, i int, clip, sigma float64,
	rng *rand.ChaCha8) {
	g := make([]float64, len(x))
	r.c.Task.Gradient(g, x, records.Row(i), records.Response(i))
	square := 0.0
	for _, v := range g {
		square += v * v
	}
	shorten := min(1, clip/math.Sqrt(square))
	for j := range x {
		rho := 0.0
		if sigma > 0 {
			rho = sigma * r.normal(rng)
		}
		x[j] -= r.c.StepSize * (shorten*g[j] + rho)
	}
}

// prox is section 1.5's table.
func (r slowRun) prox(x []float64, t float64) {
	size := 0.0
	for _, v := range x {
		size += v * v
	}
	size = math.Sqrt(size)
	for j, v := range x {
		switch reg := r.c.Regularizer.(type) {
		case geometry.Ball:
			x[j] = v * min(1, reg.Radius/size)
		case geometry.L2:
			x[j] = v / (1 + t*reg.Lambda)
		case geometry.L1:
			x[j] = math.Copysign(max(math.Abs(v)-t*reg.Lambda, 0), v)
		}
	}
}

// slowBelow returns an integer of {0 … m-1}: outputs are drawn again that would prefer small
// ones.
func slowBelow(rng *rand.ChaCha8, m uint64) int {
	for {
		if u := rng.Uint64(); u < math.MaxUint64-math.MaxUint64%m {
			return int(u % m)
		}
	}
}

func (r slowRun) order(n, epoch int) []int {
	perm := make([]int, n)
	for i := range perm {
		perm[i] = i
	}
	if r.c.Order == iteration.FixedOrder {
		return perm
	}
	if r.c.Order == iteration.ShuffledOnce {
		epoch = 0
	}
	rng := slowStream(r.k, "order", epoch)
	for i := n - 1; i > 0; i-- {
		j := slowBelow(rng, uint64(i+1))
		perm[i], perm[j] = perm[j], perm[i]
	}
	return perm
}

// iterates returns x after each epoch.
func (r slowRun) iterates() [][]float64 {
	n, eta := r.private.Len(), r.c.StepSize
	x := make([]float64, r.private.Dim())
	copy(x, r.c.Start)
	publicClip := r.c.Clip
	if r.c.UnclippedPublic {
		publicClip = math.Inf(1)
	}
	share := func(of int) int { return min(max(1, int(math.Floor(r.c.Fraction*float64(of)))), of-1) }
	var out [][]float64
	for k := range r.c.Epochs {
		noise := slowStream(r.k, "noise", k)
		if r.c.Method == DPSGD {
			which := slowStream(r.k, "order", k)
			for range n {
				r.step(x, r.private, slowBelow(which, uint64(n)), r.c.Clip, r.sigma, noise)
				r.prox(x, eta)
			}
			out = append(out, slices.Clone(x))
			continue
		}
		private, sigma, publicSigma := n, r.sigma, 0.0
		switch r.c.Method {
		case ShuffleG:
			sigma = 0
		case PublicOnly:
			private = 0
		case PrivPub:
			if k >= share(r.c.Epochs) {
				private = 0
			}
		case PubPriv:
			if k < r.c.Epochs-share(r.c.Epochs) {
				private = 0
			}
		case Interleaved:
			private, publicSigma = share(n), r.sigma
		}
		order := r.order(n, k)
		for i := range private {
			r.step(x, r.private, order[i], r.c.Clip, sigma, noise)
		}
		for i := range n - private {
			r.step(x, r.public, i, publicClip, publicSigma, noise)
		}
		r.prox(x, float64(n)*eta) // whatever n_d is
		out = append(out, slices.Clone(x))
	}
	return out
}

// specificationCases are configurations of all methods, orders and regularisers, where
// each of them matters: clipping bites, and every regulariser moves the iterate.
func specificationCases(t *testing.T) map[string]Config {
	t.Helper()
	cases := map[string]Config{}
	regularizers := []geometry.Regularizer{nil, geometry.Ball{Radius: 0.4}, geometry.L2{Lambda: 0.8},
		geometry.L1{Lambda: 0.3}}
	tasks := []loss.Loss{loss.MeanEstimation{}, loss.LeastSquares{}, loss.Logistic{}}
	for i, m := range Schemes() {
		for j, order := range []iteration.SampleOrder{iteration.FixedOrder, iteration.ShuffledOnce,
			iteration.Reshuffled} {
			for l, reg := range regularizers {
				c := config(m)
				c.Task, c.Order, c.Regularizer = tasks[(i+j+l)%len(tasks)], order, reg
				c.Epochs, c.StepSize, c.Clip, c.Fraction = 3, 0.05, 0.7, []float64{0.3, 0.5, 0.74}[j]
				c.Start = []float64{0.3, -0.2, 0.1}
				c.UnclippedPublic = l == 2
				if m.IsPrivate() {
					c.Noise = 0.9
				}
				cases[fmt.Sprintf("%s, %v, %v", m, order, reg)] = c
			}
		}
	}
	return cases
}

func closeTo(t *testing.T, what string, got, want []float64, within float64) {
	t.Helper()
	for j := range want {
		if !(math.Abs(got[j]-want[j]) <= within) {
			t.Fatalf("%s: coordinate %d = %.17g, by the specification %.17g", what, j+1, got[j], want[j])
		}
	}
}

// Each epoch's iterate is the specification's, noise included: a normal that is too small
// by one part in 10⁹, noise drawn twice or left out on some steps, a step that is clipped
// where it should not be, another record, or a proximal map at another time or of another
// size would show.
func TestIteratesAreTheSpecifications(t *testing.T) {
	raced.Sequential(t)
	private := gaussians(t, 41, 7, 3, func(j int) float64 { return float64(j) }, 1, true)
	public := gaussians(t, 42, 7, 3, func(j int) float64 { return 2 - float64(j) }, 1, true)
	for name, c := range specificationCases(t) {
		p := plan(t, c, private, public)
		for seed := range uint64(3) {
			want := slowRun{c, private, public, c.Noise, stream.Seeded(seed).Key(), false}.iterates()
			_, err := train.Simulate(p.Algorithm(), seed).Run(context.Background(), func(epoch int, x []float64) error {
				closeTo(t, fmt.Sprintf("%s, seed %d, epoch %d", name, seed, epoch), x, want[epoch-1], 1e-11)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A released model is the specification's for the secret key that the release has drawn,
// but for what is rounded away at the end.
func TestReleaseIsTheSpecificationsForItsKey(t *testing.T) {
	raced.Sequential(t)
	private := gaussians(t, 43, 7, 3, func(j int) float64 { return float64(j) }, 1, true)
	public := gaussians(t, 44, 7, 3, func(j int) float64 { return 2 - float64(j) }, 1, true)
	for name, c := range specificationCases(t) {
		if !c.Method.IsPrivate() {
			continue
		}
		p := plan(t, c, private, public)
		r, err := train.NewRelease(p.Algorithm())
		if err != nil {
			t.Fatal(err)
		}
		want := slowRun{c, private, public, c.Noise, keyOf(r), true}.iterates()
		got, err := r.Run(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		closeTo(t, name, got, want[len(want)-1], releaseGrid(p)/2+1e-11)
	}
}

// A calibrated plan trains with the noise of its account. That is no less than the target needs at
// the account's sensitivity, 2G.
func TestTrainedNoiseIsTheAccounted(t *testing.T) {
	private := gaussians(t, 45, 7, 3, func(j int) float64 { return float64(j) }, 1, true)
	public := gaussians(t, 46, 7, 3, func(j int) float64 { return 2 - float64(j) }, 1, true)
	for _, m := range Schemes() {
		if !m.IsPrivate() {
			continue
		}
		c := config(m)
		c.Task, c.Radius = loss.Logistic{}, 10
		p := plan(t, c, private, public)
		sigma := p.Report().Noise
		if !(sigma > 0) || p.Report().Clip != c.Clip {
			t.Fatalf("%s: %+v", m, p.Report())
		}
		want := slowRun{c, private, public, sigma, stream.Seeded(9).Key(), false}.iterates()
		closeTo(t, string(m), simulate(t, p, 9), want[len(want)-1], 1e-11*sigma)
	}
}

// An order is drawn from all permutations, however many records there are. A buffer of 1,000
// records, which is how some readers shuffle, would let no record come forward by more than
// 1,000 places. The mean distance between a record's two places is n/3 in expectation and has
// a variance of about 2n/45 for one order (Spearman's footrule), so with 200 orders of 4,000
// records 1 % of it is 14 standard deviations: false alarm below 1e-40. The buffer's is off by
// more than 10 %.
func TestOrdersReachEveryPlace(t *testing.T) {
	const n, orders = 4000, 200
	distance := func(shuffle func(perm []int)) float64 {
		perm := make([]int, n)
		sum := 0.0
		for range orders {
			identity(perm)
			shuffle(perm)
			if !isPermutation(perm) {
				t.Fatal("no permutation")
			}
			for place, record := range perm {
				sum += math.Abs(float64(place - record))
			}
		}
		return sum / (n * orders)
	}
	rng := stream.Seeded(8).Stream(streamOrder, 0)
	uniform := func(perm []int) { stream.Shuffle(rng, perm) }
	buffered := func(perm []int) {
		const buffer = 1000
		for i := range len(perm) - 1 {
			j := i + int(stream.Below(rng, uint64(min(buffer, len(perm)-i))))
			perm[i], perm[j] = perm[j], perm[i]
		}
	}
	if d := distance(uniform); math.Abs(d-n/3.) > 0.01*n/3 {
		t.Errorf("records move by %g places, want %g", d, n/3.)
	}
	if d := distance(buffered); math.Abs(d-n/3.) <= 0.01*n/3 {
		t.Errorf("a shuffle buffer passes: records move by %g places", d)
	} else {
		t.Logf("a shuffle buffer moves records by %g places, a shuffle by %g", d, n/3.)
	}
}

// A gradient that is not finite counts as 0: the step adds its noise and nothing else, whatever
// the other coordinates are.
func TestStepsWithoutAGradientAreNoise(t *testing.T) {
	for _, bad := range [][]float64{{1e3, math.NaN(), 1e3}, {math.Inf(-1), 0.5, -0.5},
		{math.NaN(), math.NaN(), math.NaN()}} {
		c := config(DPShuffleG)
		c.Task, c.Epochs, c.Noise, c.Clip = broken{gradient: bad}, 2, 0.9, 1
		p := plan(t, c, gaussians(t, 47, 4, 3, func(int) float64 { return 0 }, 1, false), nil)
		want := make([]float64, 3)
		for epoch := range c.Epochs {
			rng := slowStream(stream.Seeded(3).Key(), "noise", epoch)
			for range p.n {
				for j := range want {
					want[j] -= c.StepSize * c.Noise * slowNormal(rng)
				}
			}
		}
		closeTo(t, fmt.Sprint(bad), simulate(t, p, 3), want, 1e-12)
	}
}

// broken is mean estimation whose gradient is always the same, and no gradient.
type broken struct {
	loss.MeanEstimation
	gradient []float64
}

func (b broken) Gradient(g, _, _ []float64, _ float64) { copy(g, b.gradient) }

// Public steps amplify by their own noise: with less of it than private steps have, the run
// costs more than with as much, and without any as much as without public steps.
func TestPublicStepsAmplifyByTheirOwnNoise(t *testing.T) {
	private, public := gaussians(t, 50, 10, 2, func(int) float64 { return 0 }, 1, false),
		gaussians(t, 51, 10, 2, func(int) float64 { return 0 }, 1, false)
	report := func(noise float64) iteration.Report {
		c := config("")
		c.Order, c.Mode = iteration.FixedOrder, iteration.Paper
		return scheduled(t, c, Schedule{{Epochs: 3, Private: 5, Noise: 40, PublicNoise: noise}}, private,
			public).Report()
	}
	none, little, full := report(0), report(4), report(40)
	if none.PublicNoise != 0 || little.PublicNoise != 4 || full.PublicNoise != 40 || none.Noise != 40 {
		t.Errorf("noise on public steps: %g, %g, %g", none.PublicNoise, little.PublicNoise,
			full.PublicNoise)
	}
	if !(full.Cost.Epsilon < little.Cost.Epsilon && little.Cost.Epsilon < none.Cost.Epsilon) ||
		none.Amplification != 1 {
		t.Errorf("noise 0, 4 and 40 on public steps cost %g, %g, %g", none.Cost.Epsilon,
			little.Cost.Epsilon, full.Cost.Epsilon)
	}
}
