package sketch

import (
	"context"

	"github.com/darrm/darrm/sketch/stream"
	"github.com/darrm/darrm/sketch/wire"
)

// wangni is the sparsifier of wangni, Wang, Liu and Zhang (NeurIPS 2018): coordinate j is kept with
// a probability p_j of its own and sent as x_j/p_j. The p_j make the variance Σ x_j² (1/p_j - 1)
// least for K numbers on average. It looks at the vector, so that the coordinates must be sent too:
// a number costs 64 + ⌈log₂ d⌉ bits, and how many there are is random.
type wangni struct{ baseline }

var _ Compressor = (*wangni)(nil)

// newWangni checks b.
func newWangni(b baseline) (*wangni, error) {
	if err := b.check(); err != nil {
		return nil, err
	}
	return &wangni{b}, nil
}

// probabilities returns the p_j for a vector of which sum is Σ |x_j|: min(1, c|x_j|) with the c
// for which they add up to K, found by raising c as long as that brings further p_j to 1.
func (w *wangni) probabilities(x []float64, sum float64) []float64 {
	p := make([]float64, len(x))
	if sum == 0 {
		return p
	}
	for j, v := range x {
		p[j] = min(1, float64(w.K)*(max(v, -v)/sum))
	}
	for {
		full, rest := 0, 0.0
		for _, v := range p {
			if v == 1 {
				full++
			} else {
				rest += v
			}
		}
		c := float64(w.K-full) / rest
		if rest == 0 || c <= 1+1e-12 {
			return p
		}
		for j, v := range p {
			if v < 1 {
				p[j] = min(1, c*v)
			}
		}
	}
}

// Encode returns a header with the number of coordinates kept, these in ⌈log₂ d⌉ bits each,
// and their values. It takes O(d) and a few passes more where many p_j are 1.
func (w *wangni) Encode(round, client uint64, x []float64) ([]byte, error) {
	sum, err := checkVector(x, w.D)
	if err != nil {
		return nil, err
	}
	coins := stream.New(w.Root, stream.WangniCoins, round, client)
	var kept []int
	var values []float64
	for j, p := range w.probabilities(x, sum) {
		if coins.Float64() < p {
			kept, values = append(kept, j), append(values, x[j]/p)
		}
	}
	b := appendBits(w.header(wire.Wangni, round, client, len(kept)).Append(nil, w.Root), indexBits(w.D), kept)
	return wire.AppendFloats(b, values), nil
}

// NewDecoder returns a decoder for one round. It keeps what was sent.
func (w *wangni) NewDecoder(round uint64) Decoder {
	return w.newAverage(round, func(client uint64, message []byte) (contribution, error) {
		n, body, err := wire.Read(message, w.header(wire.Wangni, round, client, -1), w.Root)
		if err != nil {
			return nil, err
		}
		kept, body, err := takeIndices(body, w.D, n)
		if err != nil {
			return nil, err
		}
		values, err := wire.Floats(body, n)
		if err != nil {
			return nil, err
		}
		return func(out []float64) {
			for a, j := range kept {
				out[j] += values[a]
			}
		}, nil
	})
}

// MSE returns the mean squared error for these vectors: (1/n²) ΣΣ x_ij² (1/p_ij - 1). It is exact.
func (w *wangni) MSE(_ context.Context, xs [][]float64) (float64, error) {
	total := 0.0
	for _, x := range xs {
		sum, err := checkVector(x, w.D)
		if err != nil {
			return 0, err
		}
		for j, p := range w.probabilities(x, sum) {
			if p > 0 {
				total += x[j] * x[j] * (1/p - 1)
			}
		}
	}
	return total / float64(len(xs)*len(xs)), nil
}
