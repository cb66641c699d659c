package shuffled_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/experiment/datasets"
	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/learn/shuffled"
	"github.com/darrm/darrm/learn/shuffled/iteration"
	"github.com/darrm/darrm/learn/train"
)

// Seeds give the iterates that version 0.1 gave, bit for bit: the first 8 bytes of SHA-256 of
// three epochs' iterates in each order. Other processors may fuse a product and a sum.
func TestGoldenTraces(t *testing.T) {
	raced.Sequential(t)
	if runtime.GOARCH != "amd64" {
		t.Skip("the digests are of amd64's roundings")
	}
	for _, golden := range []struct {
		set    string
		method shuffled.Scheme
		digest string
	}{
		{"crime", "shuffle-g", "fc8384a424fc3918"},
		{"crime", "dp-shuffle-g", "f3c0d51f9b050444"},
		{"crime", "priv-pub", "26401d4fad7cc9ce"},
		{"crime", "pub-priv", "bc92f7788b0f9a9e"},
		{"crime", "interleaved", "47963b70a1790707"},
		{"crime", "public-only", "dd6ea40b1984f0b0"},
		{"crime", "dp-sgd", "1d52860f8bb898c9"},
		{"compas", "shuffle-g", "198758d974e72487"},
		{"compas", "dp-shuffle-g", "d0f5759d2d175a9e"},
		{"compas", "priv-pub", "c9d6dc92b951d52c"},
		{"compas", "pub-priv", "3bc2f7489ae2ff60"},
		{"compas", "interleaved", "d46ef7155f75b3b0"},
		{"compas", "public-only", "50b35bad42e813dd"},
		{"compas", "dp-sgd", "3b76e1bd0602cb9e"},
		{"credit-card", "shuffle-g", "b389c07cb09cfe5a"},
		{"credit-card", "dp-shuffle-g", "17af7c8af212e594"},
		{"credit-card", "priv-pub", "3aee702a7dfa3d01"},
		{"credit-card", "pub-priv", "5ed230b7afd08579"},
		{"credit-card", "interleaved", "ccccefdf89584707"},
		{"credit-card", "public-only", "654efb8274fb6652"},
		{"credit-card", "dp-sgd", "abc925f1f28267d9"},
	} {
		set, err := datasets.Standin(golden.set, 3)
		if err != nil {
			t.Fatal(err)
		}
		h := sha256.New()
		for _, order := range []iteration.SampleOrder{iteration.FixedOrder, iteration.ShuffledOnce,
			iteration.Reshuffled} {
			if golden.method == shuffled.DPSGD || golden.method == shuffled.PublicOnly {
				order = 0
			}
			c := shuffled.Config{
				Task: set.Task, Regularizer: set.Regularizer, Start: set.Start, Method: golden.method,
				Fraction: 0.4, Epochs: 3,
				Order: order, StepSize: 1e-3, Clip: 2, Target: accountant.Cost{Epsilon: 3, Delta: 1e-6},
				Radius: 5, Mode: iteration.Paper,
			}
			if golden.method.IsPrivate() {
				c.Noise = 7
			}
			p, err := shuffled.NewPlan(t.Context(), c, set.Private, set.Public)
			if err != nil {
				t.Fatal(err)
			}
			_, err = train.Simulate(p.Algorithm(), 17).Run(context.Background(), func(_ int, x []float64) error {
				for _, v := range x {
					h.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if got := fmt.Sprintf("%x", h.Sum(nil)[:8]); got != golden.digest {
			t.Errorf("%s, %s: %s, want %s", golden.set, golden.method, got, golden.digest)
		}
	}
	set, err := datasets.Standin(datasets.CreditCard, 3)
	if err != nil {
		t.Fatal(err)
	}
	d, err := shuffled.EstimateDissimilarity(context.Background(), set.Task, set.Private, set.Public,
		150, shuffled.DissimilarityOptions{Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	if math.Float64bits(d.Mean[20]) != 0x402e7ce1aa9f851b ||
		math.Float64bits(d.Cn) != 0x404f271cb07ebed5 {
		t.Errorf("dissimilarity %x, %x", math.Float64bits(d.Mean[20]), math.Float64bits(d.Cn))
	}
}
