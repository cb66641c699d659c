package sketch

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/experiment/datasets"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/sketch"
	"github.com/darrm/darrm/sketch/stream"
)

// bitsParameters: who has the smallest error where every client may send the same number of
// bits.
type bitsParameters struct {
	Dimension int       `json:"dimension"`
	Clients   []int     `json:"clients"`
	Rho       []float64 `json:"rho"` // ρ* of vectors in random directions
	// BitsPerCoordinate times d is a client's budget of bits.
	BitsPerCoordinate []float64 `json:"bits_per_coordinate"`
	Trials            int       `json:"trials"`
	Root              uint64    `json:"root"`
	// Images, if not 0, is the number of points of Fashion-MNIST that the clients hold. Then there
	// are rows too for the mean images of a class: vectors with a structure, as rank 1 needs it.
	Images   int    `json:"images,omitempty"`
	DataSeed uint64 `json:"data_seed,omitempty"`
	// Wins are claimed and tested.
	Wins []win `json:"wins"`
}

// win claims that a method has the smallest error in all rows with these values.
type win struct {
	Method            experiment.Method `json:"method"`
	Clients           []int             `json:"clients"`
	Rho               []float64         `json:"rho"`
	BitsPerCoordinate []float64         `json:"bits_per_coordinate"`
}

// contenders are compared. Opt knows ρ*, Avg does not; both are rounded.
var contenders = []experiment.Method{methodRandK, methodProjAvg, methodProjOpt, methodRotated,
	methodRankOne}

func (p *bitsParameters) Validate() error {
	err := cmp.Or(
		check.Whole("dimension", p.Dimension, 64, 1<<16),
		check.Some("clients, rho and bits_per_coordinate", len(p.Clients), len(p.Rho),
			len(p.BitsPerCoordinate)),
		check.Each("clients", p.Clients, check.WholeIn(2, p.Dimension-1)),
		check.Each("rho", p.Rho, check.Probability),
		check.Each("bits_per_coordinate", p.BitsPerCoordinate, func(name string, b float64) error {
			if b*float64(p.Dimension) < 64 {
				return check.Want(name, b, "so large that a client may send 64 bits")
			}
			return check.UpTo(name, b, 16)
		}),
		check.Whole("trials", p.Trials, 2, 100_000),
		check.Whole("images", p.Images, 0, 10_000),
	)
	if err == nil && p.Images != 0 && p.Dimension != 1024 {
		err = check.Want("dimension", p.Dimension, "1024 with images")
	}
	if side := math.Sqrt(float64(p.Dimension)); err == nil && side != math.Trunc(side) {
		err = check.Want("dimension", p.Dimension, "a square: rank 1 takes vectors for square matrices")
	}
	for _, w := range p.Wins {
		err = cmp.Or(err, check.Among(contenders)("method of wins", w.Method))
	}
	return err
}

func (p *bitsParameters) rows() (out []bitsRow) {
	for _, n := range p.Clients {
		for _, rho := range p.Rho {
			for _, bits := range p.BitsPerCoordinate {
				out = append(out, bitsRow{n: n, rho: rho, bits: bits})
			}
		}
	}
	if p.Images > 0 {
		for _, n := range p.Clients {
			for _, bits := range p.BitsPerCoordinate {
				out = append(out, bitsRow{n: n, rho: -1, bits: bits})
			}
		}
	}
	return out
}

// bitsRow is one comparison; ρ is -1 for images.
type bitsRow struct {
	n    int
	rho  float64
	bits float64
}

func (b bitsRow) vectors() string {
	if b.rho < 0 {
		return "images"
	}
	return "random"
}

func (p *bitsParameters) Steps() int { return len(p.rows()) }

// Inputs returns the hash of real images, nil where the stand-in serves.
func (p *bitsParameters) Inputs(ctx context.Context, root string) (map[string]string, error) {
	if p.Images == 0 {
		return nil, nil
	}
	return datasets.PointInputs(ctx, datasets.FashionMNIST, root, p.Images, p.DataSeed, false)
}

// contest holds the scores of the contenders in one row.
type contest struct {
	Rho    float64  `json:"rho"` // ρ*
	Scores []scored `json:"scores"`
}

// scored is a contender's best way to spend the bits.
type scored struct {
	Method    string  `json:"method"`
	Sent      int     `json:"sent"` // numbers, 0 if the bits do not suffice
	Bits      int     `json:"bits"` // of each number
	AssumedAs float64 `json:"assumed"`
	// Error and its standard error are in units of Q/n²: for a single client, the vNMSE.
	Error         float64 `json:"error"`
	StandardError float64 `json:"standard_error"`
	Predicted     float64 `json:"predicted"` // 0 for rank 1, of which nothing is predicted
}

// contest compares the contenders for these vectors.
func (p *bitsParameters) contest(ctx context.Context, xs [][]float64, budget int,
	root uint64) (contest, error) {
	n, d := len(xs), len(xs[0])
	r, q := sketch.Correlation(xs)
	unit := q / float64(n*n)
	// Directions are orthogonal up to rounding, which a table of nine digits would show.
	out := contest{Rho: math.Round(1e9*r/float64(n-1))/1e9 + 0}
	for _, m := range contenders {
		if m == methodRankOne {
			out.Scores = append(out.Scores, p.lowRank(xs, budget, root, unit))
			continue
		}
		spent, err := sketch.Spend(ctx, sketch.Estimator(m),
			sketch.Config{N: n, D: d, Root: root, Workers: 1}, budget, r, q)
		if err != nil {
			return out, err
		}
		v, err := measure(ctx, spent, spent.MSE, xs, p.Trials)
		if err != nil {
			return out, fmt.Errorf("%s: %w", m, err)
		}
		s := scored{string(m), spent.K, spent.Bits, spent.Rho, v.Mean / unit, v.Error / unit,
			spent.MSE / unit}
		out.Scores = append(out.Scores, s)
	}
	return out, nil
}

// lowRank is one step of PowerSGD (Vogels, Karimireddy, Jaggi, NeurIPS 2019) from a random start,
// of the rank that the budget allows: clients take their vectors for square matrices M_i and send
// M_i·Q; the server orthonormalises the mean to P; clients send M_iᵀ·P; the estimate is P·(mean of
// M_iᵀP)ᵀ. It is not unbiased, and its error does not fall with more clients.
func (p *bitsParameters) lowRank(xs [][]float64, budget int, root uint64, unit float64) scored {
	side := int(math.Sqrt(float64(len(xs[0]))))
	s := scored{Method: string(methodRankOne), Bits: 32, Sent: budget / (2 * side * 32) * 2 * side}
	rank := s.Sent / (2 * side)
	if rank == 0 {
		s.Sent = 0
		return s
	}
	mean := sketch.MeanOf(xs) // all steps are linear in the vectors: only their mean matters
	squared := make([]float64, p.Trials)
	for t := range squared {
		rng := stream.New(root, stream.Dense, uint64(t))
		var basis [][]float64
		for range rank {
			start := make([]float64, side)
			for j := range start {
				start[j] = rng.Normal()
			}
			v := make([]float64, side)
			for i := range v {
				v[i] = floats.Dot(mean[i*side:(i+1)*side], start)
			}
			for _, u := range basis {
				c := floats.Dot(u, v)
				for i := range v {
					v[i] -= c * u[i]
				}
			}
			if norm := math.Sqrt(floats.Dot(v, v)); norm > 1e-12*math.Sqrt(floats.Dot(mean, mean)) {
				for i := range v {
					v[i] /= norm
				}
				basis = append(basis, v)
			}
		}
		estimate := make([]float64, len(mean))
		for _, u := range basis {
			for j := range side {
				c := 0.0
				for i := range side {
					c += u[i] * mean[i*side+j]
				}
				for i := range side {
					estimate[i*side+j] += c * u[i]
				}
			}
		}
		squared[t] = sketch.SquaredError(estimate, mean)
	}
	m, sd := experiment.MeanDeviation(squared)
	s.Error, s.StandardError = m/unit, sd/math.Sqrt(float64(p.Trials))/unit
	return s
}

// classMeans returns each client's mean of its images of class 0, of points dealt at random.
func classMeans(p datasets.Points, n int, root uint64) [][]float64 {
	var out [][]float64
	for _, c := range split(p, splitIID, n, root) {
		mean, count := make([]float64, p.Dim()), 0.0
		for r, label := range c.response {
			if label == 0 {
				count++
				for j, v := range c.x[r*p.Dim() : (r+1)*p.Dim()] {
					mean[j] += v
				}
			}
		}
		if count > 0 {
			for j := range mean {
				mean[j] /= count
			}
		}
		out = append(out, mean)
	}
	return out
}

func (p *bitsParameters) Run(r *experiment.Run) error {
	root := p.Root + r.Seed
	var images *datasets.Points
	rows := p.rows()
	found := make([]contest, len(rows))
	for i, row := range rows {
		budget := int(row.bits * float64(p.Dimension))
		v, err := experiment.Step(r, fmt.Sprintf("%s-n-%d-rho-%g-bits-%g", row.vectors(), row.n,
			max(row.rho, 0), row.bits), []any{p.Dimension, row.n, row.rho, budget, p.Trials, root, p.Images,
			p.DataSeed, r.Inputs}, func() (contest, error) {
			if row.rho >= 0 {
				xs, err := sketch.AlikeVectors(r.Context, row.n, p.Dimension, row.rho, root)
				if err != nil {
					return contest{}, err
				}
				return p.contest(r, xs, budget, root)
			}
			if images == nil {
				all, err := datasets.OpenPoints(r, datasets.FashionMNIST, r.Data, p.Images, p.DataSeed)
				if err != nil {
					return contest{}, err
				}
				images = &all
			}
			return p.contest(r, classMeans(*images, row.n, root), budget, root)
		})
		if err != nil {
			return err
		}
		found[i] = v
	}
	return p.report(r, rows, found)
}

// winner returns the method with the smallest error.
func (c contest) winner() experiment.Method {
	able := slices.DeleteFunc(slices.Clone(c.Scores), func(s scored) bool { return s.Sent == 0 })
	return experiment.Method(slices.MinFunc(able, func(a, b scored) int {
		return cmp.Compare(a.Error, b.Error)
	}).Method)
}
