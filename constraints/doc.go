// Package constraints is the one definition of what makes a noise function
// private: the complete set of linear constraints on γ, how to list it, and how
// to search it exactly without listing it.
//
// Start with NewProblem and NewSystem. Rows lists the set; UpperBound bounds the largest
// left-hand side rigorously, the heart of every certificate; Separate and, faster and
// incomplete, SeparateFirstOrder find violated constraints for a cutting-plane method.
//
// Values of its types are safe for concurrent use while nobody writes to their fields, but for
// those whose comments say otherwise.
//
// # The constraint set
//
// K teachers answer 1 with probability p_i on a dataset and p'_i on a
// neighbouring one. Being (ε,Δ)-DP, each pair lies in the polygon F given by
//
//	p ≤ e^ε p' + Δ,   1-p ≤ e^ε (1-p') + Δ,   and the same with p and p' exchanged.
//
// The majority released with noise function γ is (mε,δ)-DP if and only if
//
//	f = Φ(p) - E·Φ(p') ≤ E - 1 + 2δ,   E = e^{mε}
//
// for all pairs in F, where Φ(p) = E[φ(L)], φ(l) = sign(l-K/2)·γ(l), and L is
// the number of ones (Jiang, Communication Efficient and Differentially Private
// Optimization, 2025, Lemma 3.4.4). f is affine in each pair, so it is largest
// at corners of F, and it depends on how many teachers sit at each corner only:
// the constraints are indexed by multisets of corners. A γ that treats the labels by their names, so that
// γ(K-l) may differ from γ(l), has the constraints of the other label besides: -Φ in Φ's place. Where one record reaches
// only t of the teachers, the others have p = p' and sit at (0,0) or (1,1).
//
// # Notation
//
//	K          Problem.K             number of teachers
//	m          Problem.M             privacy allowance
//	ε          Problem.Epsilon       each teacher's ε
//	Δ          Problem.TeacherDelta  each teacher's δ
//	δ          Problem.Delta         δ of the release
//	t          Problem.Affected      teachers that one record can reach
//	E          e^{mε}                kept as an interval in System
//	(p,p')     Corner                one teacher's pair at a vertex of F
//	φ          phi                   sign(l-K/2)·γ(l), length K+1, antisymmetric but by names
//	Φ          E[φ(L)]               (T_{p_1}…T_{p_K} φ)(0), see package poissonbinom
//	w, w'      1/(1+E), E/(1+E)      weights of the scaled constraint
//	r          System.RHS            scaled right-hand side
package constraints
