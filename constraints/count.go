package constraints

import "math/big"

// Count returns the number of constraints: the multisets of K corners with at
// most t of them affected.
//
//	Σ_{j=0..t} C(j+c-1, c-1)·(K-j+1),   c = 6 affected corners (2 when Δ = 0)
//
// j teachers share c affected corners, the other K-j share Zeros and Ones. For
// t = K this is C(K+7,7), or C(K+3,3) when Δ = 0.
func (p Problem) Count() *big.Int {
	c := int64(len(affectedCorners(p.TeacherDelta > 0)))
	total, term := new(big.Int), new(big.Int)
	for j := int64(0); j <= int64(p.Affected); j++ {
		term.Binomial(j+c-1, c-1)
		term.Mul(term, big.NewInt(int64(p.K)-j+1))
		total.Add(total, term)
	}
	return total
}

// affectedCorners lists the corners with p ≠ p'.
func affectedCorners(perturbed bool) []Corner {
	if perturbed {
		return []Corner{High, Low, NearZeroUp, NearZeroDown, NearOneUp, NearOneDown}
	}
	return []Corner{High, Low}
}
