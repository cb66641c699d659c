package sketch

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// Acceptance A9: a process that knows only the messages and the parameters decodes to the same
// bits.
func TestA9AnotherProcess(t *testing.T) {
	type parcel struct {
		Config   Config
		Round    uint64
		Messages map[uint64][]byte
	}
	const variable = "DARRM_SKETCH_PARCEL"
	if path := os.Getenv(variable); path != "" {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var p parcel
		if err := json.Unmarshal(b, &p); err != nil {
			t.Fatal(err)
		}
		x, err := Decode(t.Context(), codec(t, p.Config), p.Round, p.Messages)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Printf("mean %x\n", bitsOf(x))
		return
	}
	for _, e := range []Ensemble{RowSelect, SRHT} {
		p := parcel{Config{N: 4, K: 40, D: 200, Ensemble: e, T: Transform{Rho: 0.5}, Root: 77}, 6,
			map[uint64][]byte{}}
		c := codec(t, p.Config)
		_, xs := messages(t, c, 6, 8)
		for i, x := range xs {
			m, err := c.Encode(6, uint64(i), x)
			if err != nil {
				t.Fatal(err)
			}
			if len(m) != 48+8*40 {
				t.Errorf("%d bytes, want a header and k numbers", len(m))
			}
			p.Messages[uint64(i)] = m
		}
		want, err := Decode(t.Context(), c, 6, p.Messages)
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		path := t.TempDir() + "/parcel"
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(os.Args[0], "-test.run=^TestA9AnotherProcess$", "-test.v")
		cmd.Env = append(os.Environ(), variable+"="+path)
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), fmt.Sprintf("mean %x\n", bitsOf(want))) {
			t.Errorf("%v: another process decodes differently: %v\n%s", e, err, out)
		}
	}
}

func bitsOf(x []float64) []uint64 {
	b := make([]uint64, len(x))
	for j, v := range x {
		b[j] = math.Float64bits(v)
	}
	return b
}

// The mean has the same bits for every number of workers and processors, and for every order of
// messages.
func TestDeterministic(t *testing.T) {
	for _, c := range []Config{
		{N: 37, K: 7, D: 1000, Ensemble: SRHT, T: Transform{Rho: 0.5}, Root: 1},  // conjugate gradients
		{N: 40, K: 25, D: 1024, Ensemble: SRHT, T: Transform{Rho: 0.9}, Root: 1}, // the same
		{N: 8, K: 16, D: 2048, Ensemble: SRHT, T: Transform{Avg: true}, Root: 1}, // Cholesky
		{N: 5, K: 30, D: 256, Ensemble: SRHT, T: Transform{Rho: 1}, Root: 1},
		{N: 6, K: 5, D: 128, Ensemble: SRHT, T: Transform{Avg: true}, Root: 8}, // β by Monte Carlo
		{N: 3, K: 4, D: 64, Ensemble: Gaussian, T: Transform{Rho: 0.5}, Root: 1,
			Beta: BetaMode{BetaMonteCarlo, 20}},
	} {
		var want []float64
		for _, workers := range []int{1, 2, 3, 16} {
			before := runtime.GOMAXPROCS(min(workers, 2))
			c.Workers = workers
			co := codec(t, c)
			shared = laws{} // β by Monte Carlo is found again
			y, xs := messages(t, co, 0, 3)
			d := co.NewDecoder(0)
			clients := slices.Sorted(maps.Keys(y))
			if workers > 1 {
				slices.Reverse(clients)
			}
			for _, i := range clients {
				m, err := co.Encode(0, i, xs[i])
				if err != nil {
					t.Fatal(err)
				}
				if err := d.Add(i, m); err != nil {
					t.Fatal(err)
				}
			}
			got, err := d.Mean(t.Context())
			runtime.GOMAXPROCS(before)
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = got
			}
			if !slices.Equal(got, want) {
				t.Errorf("%+v: another mean with %d workers", c, workers)
			}
		}
	}
}

func TestCancelled(t *testing.T) {
	c := codec(t, Config{N: 40, K: 25, D: 1024, Ensemble: SRHT, T: Transform{Rho: 0.9}})
	y, _ := messages(t, c, 0, 3)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.decodeValues(ctx, 0, y); err == nil ||
		!strings.Contains(err.Error(), context.Canceled.Error()) {
		t.Errorf("got %v", err)
	}
}
