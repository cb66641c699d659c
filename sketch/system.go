package sketch

import "context"

// system is the decoding problem of one round: n clients' matrices and numbers.
type system struct {
	codec  *Codec
	config Config // with N the clients that answered
	g      []matrix
	y      [][]float64
	steps  int // of conjugate gradients, 2n transforms each
}

// mean returns the estimate, the first d coordinates of (β/n) T(S)⁺ b with b = Σ G_iᵀ y_i.
func (s *system) mean(ctx context.Context) ([]float64, error) {
	n := len(s.g)
	b := make([]float64, s.config.padded())
	var sum *summer
	if s.config.Ensemble == RowSelect { // nk additions in all; a worker's vectors would cost more
		for i, g := range s.g {
			g.addTransposed(b, s.y[i], nil)
		}
	} else {
		sum = newSummer(s.config.Workers, n, s.config.K, s.config.padded())
		if err := sum.add(ctx, b, func(i int, out []float64, room buffer) {
			s.g[i].addTransposed(out, s.y[i], room.scratch)
		}); err != nil {
			return nil, err
		}
	}
	t := s.config.T.of(n, s.plugIn(b))
	z, err := s.solve(ctx, sum, t, b)
	if err != nil {
		return nil, err
	}
	l, err := s.codec.law(ctx, n, t, false)
	if err != nil {
		return nil, err
	}
	z = z[:s.config.D:s.config.D]
	for j := range z {
		z[j] *= l.beta / float64(n)
	}
	return z, nil
}

// plugIn estimates R from the messages. With E GᵀG = e·I it is
// (‖b‖² - Σ ‖G_iᵀ y_i‖²) / (e Σ ‖y_i‖²): the numerator has mean e² Σ_{i≠l} ⟨x_i,x_l⟩, the
// denominator e² Q. Orthonormal rows keep lengths, so that ‖G_iᵀ y_i‖ = ‖y_i‖.
func (s *system) plugIn(b []float64) float64 {
	if !s.config.T.PlugIn {
		return 0
	}
	own, energy := 0.0, 0.0
	out, scratch := make([]float64, len(b)), make([]float64, len(b))
	for i, y := range s.y {
		e := dot(y, y)
		energy += e
		if !s.config.Ensemble.orthonormal() {
			clear(out)
			s.g[i].addTransposed(out, y, scratch)
			e = dot(out, out)
		}
		own += e
	}
	if energy == 0 {
		return 0
	}
	return (dot(b, b) - own) / (energy * s.config.meanSquare())
}

// meanSquare is e in E GᵀG = e·I.
func (c Config) meanSquare() float64 {
	if c.Ensemble == CountSketch {
		return 1
	}
	return float64(c.K) / float64(c.padded())
}
