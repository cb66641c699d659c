package constraints

// Where all teachers may be affected, g of a macro multiset is nearly largest at one of nine splits:
// those in which the n0 teachers near (0,0) all stay, all go to (Δ,0), or all go to (0,Δ), and the n1
// near (1,1) likewise.
//
// In the notation of splitter, A is nearly linear in i: its second difference there is
//
//	A(i+1,l) - 2A(i,l) + A(i-1,l) = Δ²·E d²U(n1 + X - Y + 1),  X ~ Binomial(i-1,Δ), Y ~ Binomial(l,Δ)
//
// at least -Δ²·M with the M of nearby, and so is that in l. A sequence whose second differences are at
// least -x is above its chord by at most x·i(n0-i)/2 (it is convex with x·i²/2 added). So, first along
// i and then along l,
//
//	A(i,l) ≤ Ā(i,l) + ½Δ²·M·(i(n0-i) + l(n1-l))
//
// with Ā the bilinear interpolation between i = 0, n0 and l = 0, n1; the same holds for -w'·B(j,k), j
// ≤ n0, k ≤ n1, with its own M'. The sum of both interpolations is linear in (i,j) for given (k,l), and
// in (k,l) for given (i,j). Hence over i+j ≤ n0 and k+l ≤ n1 it is largest where (i,j) is (0,0),
// (n0,0) or (0,n0), and (k,l) is (0,0), (n1,0) or (0,n1), where it is g itself. As i(n0-i) ≤ n0²/4,
//
//	max g ≤ (largest g of the nine) + Δ²·(M+M')·(n0²+n1²)/8
//
// That is exact but for an eighth of the second order, where the screens stop at the first.

// vertices returns the largest g of the nine splits and its multiset, High and Low left zero.
func (sp *splitter) vertices(u, v []float64, n1 int) (float64, Multiset) {
	n0 := len(u) - 1 - n1
	// By how the teachers near (0,0) and near (1,1) move: those of p in a, those of p' in b.
	var a, b [2][2]float64
	for zeros := range 2 {
		for ones := range 2 {
			a[zeros][ones] = sp.s.w * sp.mean(u, n1, zeros*n0, ones*n1)
			b[zeros][ones] = sp.s.wp * sp.mean(v, n1, zeros*n0, ones*n1)
		}
	}
	value, at := negInf, Multiset{}
	for _, zeros := range [3][2]int{{0, 0}, {1, 0}, {0, 1}} {
		for _, ones := range [3][2]int{{0, 0}, {1, 0}, {0, 1}} {
			g := a[zeros[0]][ones[0]] - b[zeros[1]][ones[1]]
			if g > value {
				value = g
				at = Multiset{
					Zeros: n0 * (1 - zeros[0] - zeros[1]), NearZeroUp: n0 * zeros[0],
					NearZeroDown: n0 * zeros[1],
					Ones:         n1 * (1 - ones[0] - ones[1]), NearOneDown: n1 * ones[0],
					NearOneUp: n1 * ones[1],
				}
			}
		}
	}
	return value, at
}

// above bounds by how much the best split of n0 and n1 teachers exceeds the best of the nine.
func (nb *nearby) above(n0, n1 int, delta float64) float64 {
	_, u := nb.bends(nb.u, n1)
	_, v := nb.bends(nb.v, n1)
	squares := float64(float64(n0)*float64(n0)) + float64(float64(n1)*float64(n1))
	return float64(delta * delta * (u + v) * squares / 8)
}
