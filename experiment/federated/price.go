package federated

import (
	"cmp"
	"fmt"
	"math"
	"runtime"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/stat"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/internal/vec"
	"github.com/darrm/darrm/learn/federated/amplification"
	"github.com/darrm/darrm/learn/federated/randomiser"
	"github.com/darrm/darrm/learn/federated/rates"
)

// price measures the cost of a server that need not be trusted: in noise, against normal noise at
// the same Rényi divergence, and in bytes.
type price struct {
	Dim           int       `json:"dim"`
	Reports       int       `json:"reports"` // of a stream
	LocalEpsilons []float64 `json:"local_eps"`
	Repeats       int       `json:"repeats"` // means of reports that are measured
	Dims          []int     `json:"dims"`    // for the bytes
	Within        float64   `json:"within"`  // what is measured is near what is stated, relatively
	Rates         bounds    `json:"rates"`
}

func (p *price) Validate() error {
	return cmp.Or(
		check.Whole("dim", p.Dim, 1, 100_000), check.Whole("reports", p.Reports, 1, 10_000_000),
		check.Whole("repeats", p.Repeats, 2, 10_000),
		check.Some("local_eps and dims", len(p.LocalEpsilons), len(p.Dims)),
		check.Each("local_eps", p.LocalEpsilons, check.AtMost(randomiser.MaxEpsilon)),
		check.Each("dims", p.Dims, check.WholeIn(1, randomiser.MaxDim)),
		check.Positive("within", p.Within), p.Rates.check(),
	)
}

// Steps returns the number of steps of a run.
func (p *price) Steps() int { return len(p.LocalEpsilons) + 2 }

// size is the bits of a message in d dimensions: of seed and bit in whole bytes, and of numbers.
type size struct{ Sent, Floats float64 }

// sizes writes a message of each kind for each d.
func (p *price) sizes(r *experiment.Run) ([]size, error) {
	out := make([]size, len(p.Dims))
	coins := stream.Seeded(r.Seed).Stream("sizes", 0)
	for i, d := range p.Dims {
		one, err := randomiser.NewOneBit(d, 1)
		if err != nil {
			return nil, err
		}
		zero := make([]float64, d)
		for _, k := range []struct {
			randomiser.Randomizer
			bits *float64
		}{{one, &out[i].Sent}, {randomiser.Floats{OneBit: one}, &out[i].Floats}} {
			message, err := k.Append(nil, zero, 1, coins)
			if err != nil {
				return nil, err
			}
			*k.bits = 8 * float64(len(message))
		}
	}
	return out, nil
}

// noise holds the noise of the mean of a stream at one ε₀, over the clipping norm: √E‖error‖².
type noise struct {
	Measured float64 `json:"measured"` // of real reports of zero vectors
	Stated   float64 `json:"stated"`   // Scale/√N
	Central  float64 `json:"central"`  // of normal noise with the same Rényi divergence of order 2
}

func (p *price) measure(r *experiment.Run, epsilon float64) (noise, error) {
	randomizer, err := randomiser.NewOneBit(p.Dim, epsilon)
	if err != nil {
		return noise{}, err
	}
	rho, err := amplification.Round{Streams: 1, Reports: p.Reports, Epsilon: epsilon,
		OneBit: true}.RDP(2)
	if err != nil {
		return noise{}, err
	}
	n := float64(p.Reports)
	// A mean changes by at most 2/N; normal noise of deviation s has divergence α(2/N)²/(2s²).
	out := noise{Stated: randomizer.Scale(1) / math.Sqrt(n),
		Central: 2 / n / math.Sqrt(rho) * math.Sqrt(float64(p.Dim))}
	squares := make([]float64, p.Repeats)
	g, ctx := errgroup.WithContext(r)
	g.SetLimit(runtime.GOMAXPROCS(0)) // each repeat writes into a place of its own
	for k := range squares {
		g.Go(func() error {
			coins := stream.Seeded(r.Seed<<20+uint64(k)).Stream("price", int(math.Float64bits(epsilon)>>20))
			zero, sum := make([]float64, p.Dim), make([]float64, p.Dim)
			var message []byte
			for range p.Reports {
				if message, err = randomizer.Append(message[:0], zero, 1, coins); err == nil {
					err = randomizer.Add(sum, message, 1)
				}
				if err != nil {
					return err
				}
			}
			squares[k] = vec.Norm(sum) * vec.Norm(sum) / n / n
			return ctx.Err()
		})
	}
	if err := g.Wait(); err != nil {
		return noise{}, err
	}
	out.Measured = math.Sqrt(stat.Mean(squares, nil))
	return out, nil
}

func (p *price) Run(r *experiment.Run) error {
	all := make([]noise, len(p.LocalEpsilons))
	for i, e := range p.LocalEpsilons {
		var err error
		all[i], err = experiment.Step(r, fmt.Sprintf("eps-%g", e),
			[]any{p.Dim, p.Reports, p.Repeats, e, r.Seed}, func() (noise, error) { return p.measure(r, e) })
		if err != nil {
			return err
		}
	}
	sizes, err := experiment.Step(r, "sizes", []any{p.Dims, r.Seed},
		func() ([]size, error) { return p.sizes(r) })
	if err != nil {
		return err
	}
	bounds, err := experiment.Step(r, "rates", []any{p.Rates}, p.Rates.rates)
	if err != nil {
		return err
	}
	p.Rates.report(r, bounds)
	r.Note("%d reports of zero vectors in %d dimensions, clipping norm 1; means of %d rounds. The "+
		"trusted server's noise is normal, at the same Rényi divergence of order 2.", p.Reports, p.Dim,
		p.Repeats)
	f := &experiment.Found{Lines: []experiment.Line{{}}}
	measured := experiment.Series{Method: prefix + "middle", Name: "measured", Marks: true}
	formula := experiment.Series{Method: prefix + "formula", Name: "√(π(1+e^ε₀)/4)", Dashed: true,
		Plain: true}
	for i, e := range p.LocalEpsilons {
		x := all[i]
		ratio, limit := x.Measured/x.Central, math.Sqrt(math.Pi*(1+math.Exp(e))/4)
		f.Places = append(f.Places, experiment.Place{At: map[string]float64{"eps0": e}})
		for name, v := range map[string]float64{"measured": x.Measured, "stated": x.Stated,
			"central": x.Central, "ratio": ratio, "formula": limit} {
			f.Add(i, 0, name, v)
		}
		measured.Add(e, ratio)
		formula.Add(e, limit)
		r.Sentence("stated", math.Abs(x.Measured-x.Stated) <= p.Within*x.Stated, map[string]any{"eps0": e,
			"within": p.Within, "value": x.Measured, "second": x.Stated})
		r.Sentence("price", math.Abs(ratio-limit) <= p.Within*limit, map[string]any{"eps0": e,
			"within": p.Within, "value": ratio, "second": limit})
	}
	r.Grid("noise", nil, f)
	bytes := &experiment.Found{Lines: []experiment.Line{{}}}
	const bits = 65
	for i, d := range p.Dims {
		mb := func(bits float64) float64 { return 2 * float64(p.Reports) * bits / 8e6 }
		s := sizes[i]
		levels, noiseBits, err := rates.ManyMessages(p.Reports, d, p.Rates.Epsilon, p.Rates.Delta)
		if err != nil {
			return err
		}
		bytes.Places = append(bytes.Places, experiment.Place{At: map[string]float64{"dim": float64(d)}})
		for name, v := range map[string]float64{"bits": bits, "float_bits": s.Floats,
			"megabytes": mb(bits), "padded_megabytes": mb(s.Sent), "float_megabytes": mb(s.Floats),
			"many_messages_bits": float64(d) * (2*levels + noiseBits)} {
			bytes.Add(i, 0, name, v)
		}
		r.Sentence("bits", s.Sent >= bits && s.Sent < bits+8 && s.Floats == float64(32*d),
			map[string]any{"d": d, "value": s.Sent, "second": s.Floats})
	}
	r.Grid("bytes", map[string]any{"reports": p.Reports}, bytes)
	r.Note("SDP FedProx-SPIDER, the other method that trusts no server, sends its gradients by a " +
		"protocol of many messages. At the setting that is published for it one record would send the " +
		"bits in the table's last column each round, so it is not run; the constant in them could not " +
		"be confirmed.")
	return r.Figure("price",
		"Noise of a mean over that of a trusted server at the same Rényi divergence.", 1,
		[]experiment.Panel{{Title: "price of an untrusted server", X: "ε₀", Y: "ratio of deviations",
			Series: []experiment.Series{formula, measured}}})
}
