package constraints

import (
	"fmt"
	"math/big"
	"strings"
)

// Corner is one extreme pair (p, p') of a teacher's probabilities of answering 1
// on two neighbouring datasets: a vertex of the polygon F of the package comment.
type Corner int

// The corners. a = (e^ε+Δ)/(e^ε+1), b = (1-Δ)/(e^ε+1) = 1-a. Zeros and Ones are the
// two whose teacher answers alike on both datasets; only they remain for teachers
// that the record does not reach. When Δ = 0 the four "near" corners coincide
// with Zeros and Ones and are left out.
const (
	Zeros        Corner = iota // (0, 0)
	Ones                       // (1, 1)
	NearZeroUp                 // (Δ, 0)
	NearZeroDown               // (0, Δ)
	NearOneUp                  // (1, 1-Δ)
	NearOneDown                // (1-Δ, 1)
	High                       // (a, b)
	Low                        // (b, a)
	corners                    // how many there are
)

var cornerNames = [corners]string{"(0,0)", "(1,1)", "(Δ,0)", "(0,Δ)", "(1,1-Δ)", "(1-Δ,1)", "(a,b)",
	"(b,a)"}

// String returns the corner in the notation of the package comment.
func (c Corner) String() string {
	if c < 0 || c >= corners {
		return fmt.Sprintf("Corner(%d)", int(c))
	}
	return cornerNames[c]
}

// Multiset counts the teachers, of K, that sit at each corner, indexed by Corner. One multiset is
// one constraint: the teachers are exchangeable (corners_private in proofs/Corners.v).
type Multiset [corners]int

// Teachers returns how many teachers the multiset places.
func (m Multiset) Teachers() int {
	n := 0
	for _, k := range m {
		n += k
	}
	return n
}

// Affected returns how many teachers sit at a corner with p ≠ p'.
func (m Multiset) Affected() int { return m.Teachers() - m[Zeros] - m[Ones] }

// mirrored returns the multiset in which each teacher answers the other label.
func (m Multiset) mirrored() Multiset {
	return Multiset{Zeros: m[Ones], Ones: m[Zeros], NearZeroUp: m[NearOneDown], NearOneDown: m[NearZeroUp],
		NearZeroDown: m[NearOneUp], NearOneUp: m[NearZeroDown], High: m[Low], Low: m[High]}
}

// String lists the corners in use, for example "(0,0)×3 (a,b)×8".
func (m Multiset) String() string {
	var parts []string
	for c, k := range m {
		if k > 0 {
			parts = append(parts, fmt.Sprintf("%v×%d", Corner(c), k))
		}
	}
	return strings.Join(parts, " ")
}

// probability is a number in [0,1] with its complement, both correctly rounded.
type probability struct{ p, q float64 }

// pair is a corner's (p, p').
type pair [2]probability

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
