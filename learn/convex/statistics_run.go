package convex

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/train"
)

// statisticsRun is one run of SufficientStatistics, of a single round.
type statisticsRun struct {
	p     *statisticsPlan
	rows  *data.Records
	count int
	noise normals
	w     []float64
}

// State returns the model.
func (e *statisticsRun) State() []train.Vector { return []train.Vector{{Name: "w", Values: e.w}} }

// Output returns the model.
func (e *statisticsRun) Output() []float64 { return e.w }

// sums are X'X, of which the part on and above the diagonal counts, and X'Y by classes.
type sums struct{ xx, xy []float64 }

// Sums are formed in parts that depend on the number of records alone, and added up in their order: they have the
// same bits on one core and on many.
const statisticsParts = 4

// add returns the sums of the records.
func (e *statisticsRun) add(ctx context.Context) (sums, error) {
	size := max(leastPart, (e.count+statisticsParts-1)/statisticsParts)
	parts := make([]sums, max(1, (e.count+size-1)/size))
	onCores(len(parts), func(k int) { parts[k] = e.part(ctx, k*size, min(e.count, (k+1)*size)) })
	if ctx.Err() != nil {
		return sums{}, ctx.Err()
	}
	for _, s := range parts[1:] {
		floats.Add(parts[0].xx, s.xx)
		floats.Add(parts[0].xy, s.xy)
	}
	return parts[0], nil
}

// part returns the sums of the records from one place to another.
func (e *statisticsRun) part(ctx context.Context, from, to int) sums {
	p, d := e.p, e.p.d
	s := sums{make([]float64, d*d), make([]float64, p.classes*d)}
	y := make([]float64, p.classes)
	for i := from; i < to; i++ {
		if (i-from)%checkEvery == 0 && ctx.Err() != nil {
			break
		}
		x := e.rows.Row(i)
		for j, v := range x {
			if v != 0 {
				floats.AddScaled(s.xx[j*d+j:(j+1)*d], v, x[j:])
			}
		}
		p.response(y, e.rows.Response(i))
		for c, v := range y {
			floats.AddScaled(s.xy[c*d:(c+1)*d], v, x)
		}
	}
	return s
}

// response sets y to a record's, of norm Y at most. What is not a number becomes 0.
func (p *statisticsPlan) response(y []float64, v float64) {
	switch {
	case p.regression:
		y[0] = clampSlope(v, p.length)
	case p.classes == 1:
		y[0] = -1
		if v == 1 {
			y[0] = 1
		}
	default:
		for k := range y {
			y[k] = -1 / float64(p.classes)
			if float64(k) == v {
				y[k]++
			}
		}
	}
}

// The stream of the noise on both sums.
const streamStatistics = "statistics"

// perturb adds the noise: to X'X symmetrically, off the diagonal with half the variance.
func (e *statisticsRun) perturb(s sums, round int) {
	d := e.p.d
	e.noise.Restart(streamStatistics, round)
	z := make([]float64, d)
	for j := range d {
		e.noise.Fill(z[:d-j])
		for k := j; k < d; k++ {
			sigma := e.p.sigma1
			if k > j {
				sigma /= math.Sqrt2 * (1 - slack)
			}
			s.xx[j*d+k] += float64(sigma * z[k-j])
		}
	}
	for from := 0; from < len(s.xy); from += d {
		e.noise.Fill(z)
		floats.AddScaled(s.xy[from:from+d], e.p.sigma2, z)
	}
}

// Round does all of it.
func (e *statisticsRun) Round(ctx context.Context, k int) error {
	s, err := e.add(ctx)
	if err != nil {
		return err
	}
	e.perturb(s, k)
	return e.p.solve(e.w, s)
}

// solve sets w to the model of noised sums: (X'X)⁻¹X'Y with X'X's eigenvalues cut to a floor from below. The
// noise alone has eigenvalues up to √(2d)·σ₁, the edge of Wigner's semicircle for entries of variance σ₁²/2, so
// directions below a share of that carry noise, and a small eigenvalue would make it large. The others are as
// they are: a ridge on all shrinks what the data do tell. A stated ridge is added to what is not negative.
func (p *statisticsPlan) solve(w []float64, s sums) error {
	d := p.d
	var eigen mat.EigenSym
	if !eigen.Factorize(mat.NewSymDense(d, s.xx), true) {
		return errors.New("no eigenvalues of the noised X'X were found")
	}
	var v mat.Dense
	eigen.VectorsTo(&v)
	values := eigen.Values(nil)
	for i := range values {
		if p.ridge > 0 {
			values[i] = max(values[i], 0) + p.ridge
		} else {
			values[i] = max(values[i], p.floor())
		}
	}
	var u mat.VecDense
	for from := 0; from < len(w); from += d {
		u.MulVec(v.T(), mat.NewVecDense(d, s.xy[from:from+d]))
		u.DivElemVec(&u, mat.NewVecDense(d, values))
		mat.NewVecDense(d, w[from:from+d]).MulVec(&v, &u)
	}
	floats.Scale(p.stretch(), w)
	return nil
}

// floor is the least eigenvalue that a model takes for one of the records.
func (p *statisticsPlan) floor() float64 { return edgeShare * math.Sqrt(2*float64(p.d)) * p.sigma1 }

// stretch is what scores are multiplied by. Least squares estimate the mean response, 2q - 1 of two classes and
// q_k - 1/K of several where the probabilities are q. Links take logits: near equal probabilities those are K
// times as large, and towards the ends more.
func (p *statisticsPlan) stretch() float64 {
	switch {
	case p.regression:
		return 1
	case p.classes == 1:
		return 2 * logits
	}
	return float64(p.classes) * logits
}
