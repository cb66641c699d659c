package pairwise

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/internal/testing/traintest"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/train"
)

// countedLink counts evaluations of the slope.
type countedLink struct {
	loss.Logit
	slopes *int
}

func (l countedLink) Slope(z, y float64) float64 { *l.slopes++; return l.Logit.Slope(z, y) }

// Acceptance 15 and 11: Algorithm 1 evaluates one gradient a step, of pairs that count, and reads
// two records; Algorithm 4 less than n in all.
func TestEvaluations(t *testing.T) {
	const n = 200
	slopes := 0
	l, err := loss.NewPair(countedLink{slopes: &slopes}, loss.Symmetric)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(51, 52))
	r := gaussians(t, rng, n, 3, 1, .5, .3)
	s := Setting{Base: Base{Loss: l, Radius: 1}, Ball: 1}
	traintest.Simulate(t,
		traintest.Trained(t, plan(t, SGD{Setting: s, Schedule: Schedule{StepSize: .1}, Passes: 7}, n, 3),
			r), 3)
	coins, draws, want := stream.Seeded(3), []int{}, 0
	for k := range 7 { // the run's own draws
		rng := coins.Stream(streamIndex, k)
		for range n + 1 - min(k, 1) {
			draws = append(draws, int(stream.Below(rng, n)))
		}
	}
	for j := 1; j < len(draws); j++ {
		if r.Response(draws[j]) != r.Response(draws[j-1]) {
			want++
		}
	}
	if slopes != want || len(draws) != 7*n+1 {
		t.Errorf("%d slopes in %d steps, want %d", slopes, len(draws)-1, want)
	}
	slopes = 0
	traintest.Simulate(t, traintest.Trained(t, plan(t, LocalizedSGD{Setting: s}, n, 3), r), 3)
	if slopes == 0 || slopes >= n {
		t.Errorf("Algorithm 4 evaluates %d slopes for %d records", slopes, n)
	}
}

// A block of one class has no pairs: only noise is added.
func TestOneClass(t *testing.T) {
	x, y := make([][]float64, 16), make([]float64, 16)
	rng := rand.New(rand.NewPCG(53, 54))
	for i := range x {
		x[i], y[i] = unit(rng, 2), 1
	}
	r := records(t, x, y)
	for _, name := range Methods() {
		m, err := New(name, options(t, name))
		if err != nil {
			t.Fatal(err)
		}
		a := traintest.Trained(t, plan(t, m, 16, 2), r)
		if _, err := train.Simulate(a, 1).Run(t.Context(), nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Steps a second of Algorithm 1, which should not fall with n but by the cache:
//
//	go test ./learn/pairwise -run NONE -bench Steps
//
// prints the time of a step, and for n = 10⁶ how many times that for n = 10³ it is.
func BenchmarkSteps(b *testing.B) {
	each := map[int]float64{}
	for _, n := range []int{1_000, 1_000_000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 2))
			r := gaussians(b, rng, n, 8, 1, .5, .2)
			p, err := SGD{Setting: Setting{Base: Base{Loss: pair(b, "logistic")}, Ball: 1},
				Schedule: Schedule{StepSize: .1}, Passes: 1 + b.N/n}.Plan(n, 8)
			if err != nil {
				b.Fatal(err)
			}
			s := train.Simulate(traintest.Trained(b, p, r), 1)
			b.ResetTimer()
			if _, err := s.Run(context.Background(), nil); err != nil {
				b.Fatal(err)
			}
			each[n] = float64(b.Elapsed().Nanoseconds()) / float64(n*(1+b.N/n))
			b.ReportMetric(each[n], "ns/step")
			if small := each[1_000]; n > 1_000 && small > 0 {
				b.ReportMetric(each[n]/small, "×n=1000")
			}
		})
	}
}

// A gradient over all pairs of a smoothed hinge, by sorted scores and pair by pair.
func BenchmarkAllPairs(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	r := gaussians(b, rng, 2048, 8, 1, .5, .2)
	s := setting(b)
	hinge, err := pair(b, "hinge").Smoothed(1000)
	if err != nil {
		b.Fatal(err)
	}
	s.Loss = hinge
	t, err := s.private(2048, 8, false)
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range []string{"sorted", "pair by pair"} {
		b.Run(name, func(b *testing.B) {
			sum := newPairSum(&t, r, 0, 2048)
			if name != "sorted" {
				sum.ramp = nil
			}
			g, w := make([]float64, 8), unit(rng, 8)
			for b.Loop() {
				w[0] += 1e-3
				if err := sum.gradient(context.Background(), g, w); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
