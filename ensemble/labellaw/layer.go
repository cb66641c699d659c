package labellaw

import (
	"math"
	"slices"
)

// layerSteps bounds the steps of Newton's method, and flat is the slope at which it ends: probabilities are then
// right to some twelve digits.
const (
	layerSteps = 200
	flat       = 1e-13
)

// layer returns the b and the offset o_c of each class, 0 for the first, that maximise
//
//	Σ_h prior(h) Σ_y law(y given h)·ln softmax(b·h + o)_y
//
// Of classes that are told apart the offsets say how much the table favours each whatever the votes. It is concave.
// Where a class is never answered its offset only falls, and the search ends where that changes nothing. b is at least
// 0, as that of a table that follows its votes is. Cost: O(C²) a histogram, some ten times.
func layer(all []query, classes int) (b float64, offsets []float64) {
	x := make([]float64, classes) // x[0] is b, x[c] the offset of class c
	value, slope, curve := likelihood(all, x)
	for range layerSteps {
		if largest(slope) < flat {
			break
		}
		step := solved(curve, slope)
		moved := false
		for size := 1.0; size > 1e-9; size /= 2 {
			next := slices.Clone(x)
			for i, d := range step {
				next[i] += float64(size * d)
			}
			if v, s, c := likelihood(all, next); v > value {
				x, value, slope, curve, moved = next, v, s, c, true
				break
			}
		}
		if !moved { // within rounding of the top
			break
		}
	}
	offsets = slices.Clone(x)
	offsets[0] = 0
	return max(0, x[0]), offsets
}

// likelihood returns the mean log likelihood of a layer, its slope and minus its curvature.
func likelihood(all []query, x []float64) (value float64, slope []float64, curve [][]float64) {
	n := len(x)
	slope, curve = make([]float64, n), make([][]float64, n)
	for i := range curve {
		curve[i] = make([]float64, n)
	}
	score, softmax, of := make([]float64, n), make([]float64, n), make([]float64, n)
	for _, q := range all {
		top := math.Inf(-1)
		for c, votes := range q.counts {
			score[c] = float64(x[0] * (float64(votes) - q.most))
			if c > 0 {
				score[c] += x[c]
			}
			top = max(top, score[c])
		}
		sum := 0.0
		for c := range softmax {
			softmax[c] = math.Exp(score[c] - top)
			sum += softmax[c]
		}
		log, mean := math.Log(sum)+top, 0.0
		for c, votes := range q.counts {
			softmax[c] /= sum
			mean += float64(softmax[c] * (float64(votes) - q.most))
			value += float64(q.weight * q.law[c] * (score[c] - log))
		}
		for c, votes := range q.counts {
			// the part of class c: its derivatives are of[i] = votes, and 1 in its own place
			below := float64(votes) - q.most
			slope[0] += float64(q.weight * (q.law[c] - softmax[c]) * below)
			for i := range of {
				of[i] = -softmax[i]
			}
			of[0] = below - mean
			if c > 0 {
				slope[c] += float64(q.weight * (q.law[c] - softmax[c]))
				of[c]++
			}
			for i := range of {
				for j := range of {
					curve[i][j] += float64(q.weight * softmax[c] * of[i] * of[j])
				}
			}
		}
	}
	return value, slope, curve
}

func largest(x []float64) (most float64) {
	for _, v := range x {
		most = max(most, math.Abs(v))
	}
	return most
}

// solved returns m⁻¹·b of a symmetric matrix m that is positive semidefinite, by Cholesky. A little on its diagonal
// keeps flat directions from being long ones.
func solved(m [][]float64, b []float64) []float64 {
	n := len(b)
	root := make([][]float64, n)
	x := slices.Clone(b)
	for i := range root {
		root[i] = make([]float64, n)
		for j := 0; j <= i; j++ {
			v := m[i][j]
			for k := range j {
				v -= float64(root[i][k] * root[j][k])
			}
			if i == j {
				root[i][i] = math.Sqrt(max(v, 0) + float64(1e-12*m[i][i]) + 1e-14)
				continue
			}
			root[i][j] = v / root[j][j]
		}
	}
	for i := range x {
		for k := range i {
			x[i] -= float64(root[i][k] * x[k])
		}
		x[i] /= root[i][i]
	}
	for i := n - 1; i >= 0; i-- {
		for k := i + 1; k < n; k++ {
			x[i] -= float64(root[k][i] * x[k])
		}
		x[i] /= root[i][i]
	}
	return x
}
