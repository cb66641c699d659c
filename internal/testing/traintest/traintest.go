// Package traintest tests methods of private training: it trains, and audits what is released.
//
// Values of its types are safe for concurrent use while nobody writes to their fields, but for
// those whose comments say otherwise.
package traintest

import (
	"context"
	"encoding/hex"
	"errors"
	"math"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mathext"

	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/train"
)

// level is the chance that one of an audit's two confidence bounds does not hold.
const level = 1e-7

// Allowed is the largest probability of an event in one world that the promise allows, where
// it has probability q in the other.
type Allowed func(q float64) float64

// interval returns lower and upper confidence bounds, each at level, after k of n.
func interval(k, n int) (lower, upper float64) {
	a, b := float64(k), float64(n-k)
	lower, upper = 0, 1
	if k > 0 {
		lower = mathext.InvRegIncBeta(a, b+1, level)
	}
	if k < n {
		upper = 1 - mathext.InvRegIncBeta(b, a+1, level)
	}
	return lower, upper
}

// Broken reports whether the values of the two worlds disprove the promise. Half of them choose a
// threshold and the other half test it, by Clopper and Pearson's intervals.
func Broken(zero, one []float64, a Allowed) bool {
	half := len(zero) / 2
	above := func(v []float64, threshold float64) int {
		n := 0
		for _, x := range v {
			if x > threshold {
				n++
			}
		}
		return n
	}
	all := slices.Concat(zero[:half], one[:half])
	slices.Sort(all)
	best, at := math.Inf(-1), 0.0
	for i := 1; i < 40; i++ {
		threshold := all[len(all)*i/40]
		p, q := float64(above(one[:half], threshold))/float64(half),
			float64(above(zero[:half], threshold)+5)/float64(half)
		if v := p - a(min(q, 1)); v > best {
			best, at = v, threshold
		}
	}
	p, _ := interval(above(one[half:], at), len(one)-half)
	_, q := interval(above(zero[half:], at), len(zero)-half)
	return p > a(q)
}

// Trained returns the plan's method on these records.
func Trained(t testing.TB, p train.Plan, r *data.Records) train.Algorithm {
	t.Helper()
	return must.Get(p.Train(r))(t)
}

// Simulate returns the model of a seed.
func Simulate(t testing.TB, a train.Algorithm, seed uint64) []float64 {
	t.Helper()
	return must.Get(train.Simulate(a, seed).Run(context.Background(), nil))(t)
}

// Resumes fails where a simulation that stops after a round and is resumed does not end at want,
// the model of the seed.
func Resumes(t testing.TB, name string, a train.Algorithm, seed uint64, want []float64) {
	t.Helper()
	stop := errors.New("stop")
	for after := 1; after < a.Rounds; after++ {
		s := train.Simulate(a, seed)
		if _, err := s.Run(t.Context(), func(round int, _ []float64) error {
			if round == after {
				return stop
			}
			return nil
		}); !errors.Is(err, stop) {
			t.Fatal(err)
		}
		if got := must.Get(must.Get(train.ResumeSimulation(a, s.Checkpoint()))(t).Run(t.Context(),
			nil))(t); !slices.Equal(got, want) {
			t.Errorf("%s: resumed after round %d it ends at %v, not %v", name, after, got, want)
		}
	}
}

// Silent is noise of 0.
type Silent struct{}

func (Silent) Restart(string, int) {}
func (Silent) Fill(z []float64)    { clear(z) }

// Digests fails where the digest of an algorithm is not the one that is wanted, in its first 8 bytes.
// A checkpoint of yesterday is of the same algorithm today, so digests stay as they are. They are of
// the roundings of amd64.
func Digests(t *testing.T, got map[string]train.Algorithm, want map[string]string) {
	t.Helper()
	if runtime.GOARCH != "amd64" {
		t.Skip("the digests are of amd64's roundings")
	}
	if len(got) != len(want) {
		t.Errorf("%d algorithms, but %d digests", len(got), len(want))
	}
	for name, a := range got {
		if text := hex.EncodeToString(a.Digest[:8]); text != want[name] {
			t.Errorf("%q: %q, want %q", name, text, want[name])
		}
	}
}
