package sketch

import (
	"cmp"
	"fmt"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/sketch"
)

// rankParameters: how often the rows that n clients draw depend on each other.
type rankParameters struct {
	Pairs []rankPair `json:"pairs"`
	Root  uint64     `json:"root"`
}

// rankPair is one shape with what is known of it.
type rankPair struct {
	Clients   int `json:"clients"`
	Sent      int `json:"sent"` // k
	Dimension int `json:"dimension"`
	Trials    int `json:"trials"`
	// Derived, if given, bounds the share of draws with a rank below nk. It is claimed and tested.
	Derived [2]float64 `json:"derived,omitzero"`
}

func (p *rankParameters) Validate() error {
	if err := check.Some("pairs", len(p.Pairs)); err != nil {
		return err
	}
	for _, q := range p.Pairs {
		err := cmp.Or(
			check.Whole("dimension", q.Dimension, 2, 4096),
			check.Whole("clients", q.Clients, 1, q.Dimension),
			check.Whole("sent", q.Sent, 1, q.Dimension/max(1, q.Clients)),
			check.Whole("trials", q.Trials, 1, 1_000_000),
		)
		if err != nil {
			return err
		}
	}
	return nil
}

// rankLooks are the looks of numbers of clients.
var rankLooks = []experiment.Method{methodRandK, methodProjMax, methodSpatialMax, methodWangni,
	methodInduced, methodUncompressed}

func (p *rankParameters) Steps() int { return len(p.Pairs) }

func (p *rankParameters) Run(r *experiment.Run) error {
	f := &experiment.Found{Lines: make([]experiment.Line, 1)}
	shares := map[int]*experiment.Series{} // by clients, where nk = d
	var order []int
	for i, q := range p.Pairs {
		v, err := experiment.Step(r, fmt.Sprintf("n-%d-k-%d-d-%d", q.Clients, q.Sent, q.Dimension),
			[]any{q.Clients, q.Sent, q.Dimension, q.Trials, p.Root + r.Seed}, func() ([]float64, error) {
				return ranks(r, q, p.Root+r.Seed)
			})
		if err != nil {
			return err
		}
		mean, deficient := v[0], v[1]
		nk := q.Clients * q.Sent
		f.Places = append(f.Places, experiment.Place{At: map[string]float64{"d": float64(q.Dimension),
			"n": float64(q.Clients), "k": float64(q.Sent), "trials": float64(q.Trials)}})
		f.Add(i, 0, "mean", mean)
		f.Add(i, 0, "deficient", deficient)
		if nk == q.Dimension {
			if shares[q.Clients] == nil {
				shares[q.Clients] = &experiment.Series{Method: rankLooks[len(order)%len(rankLooks)],
					Name: fmt.Sprintf("n = %d", q.Clients)}
				order = append(order, q.Clients)
			}
			shares[q.Clients].Add(float64(q.Dimension), 100*deficient)
		}
		if q.Derived != [2]float64{} {
			r.Sentence("rank", deficient >= q.Derived[0] && deficient <= q.Derived[1], map[string]any{"n": q.Clients, "k": q.Sent,
				"d": q.Dimension, "low": q.Derived[0], "high": q.Derived[1], "value": deficient})
		}
	}
	r.Grid("rank", nil, f)
	r.Note("The source finds a deficient rank for d = nk = 32 only, in 2.1 %% of draws, and does " +
		"not say n. It depends strongly on n: 85 %% for two clients, 1.9 %% for eight, none for 32.")
	r.Note("Counting by eigenvalues below 1e-9 would find deficient ranks that are none: near nk = " +
		"d the smallest true eigenvalues are that small.")
	chart := experiment.Panel{Title: "Rank of S below nk = d", X: "d", Y: "draws, %", LogX: true}
	for _, n := range order {
		chart.Series = append(chart.Series, *shares[n])
	}
	return r.Figure("rank",
		"Share of draws in which the rank of S is below nk, for nk = d, by the number of clients.", 1,
		[]experiment.Panel{chart})
}

// ranks returns the mean rank and the share of draws below nk.
func ranks(r *experiment.Run, q rankPair, root uint64) ([]float64, error) {
	c := sketch.Config{N: q.Clients, K: q.Sent, D: q.Dimension, Ensemble: sketch.SRHT, Root: root}
	var sum, deficient, next atomic.Int64
	g, ctx := errgroup.WithContext(r)
	for range runtime.GOMAXPROCS(0) {
		g.Go(func() error {
			for {
				t := next.Add(1) - 1
				if t >= int64(q.Trials) || ctx.Err() != nil {
					return ctx.Err()
				}
				rank, err := sketch.Rank(c, uint64(t))
				if err != nil {
					return err
				}
				sum.Add(int64(rank)) // whole numbers: the order does not matter
				if rank < q.Clients*q.Sent {
					deficient.Add(1)
				}
			}
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	n := float64(q.Trials)
	return []float64{float64(sum.Load()) / n, float64(deficient.Load()) / n}, nil
}
