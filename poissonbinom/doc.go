// Package poissonbinom computes with the Poisson binomial law, the law of the number
// of ones among independent Bernoulli variables with different probabilities.
//
// Use [PMF] for a list of probabilities; [GroupedPMF] where
// a few probabilities are shared by many variables; [Binomial] where there is
// one. [Append] adds one variable to a law. Use [Average] to compute the
// expectation of a function of the number of ones, above all of one function
// for many lists that share parts. [Hypergeometric] is the law of ones in a
// sample without replacement.
//
// Values of its types are safe for concurrent use while nobody writes to their fields, but for
// those whose comments say otherwise.
//
// # Notation
//
//	X_i ~ Bernoulli(p_i)      p            probabilities, each in [0,1]
//	1 - p_i                   Group.Q, q   complements, given apart where known better
//	n, or K teachers          len(p), N    number of variables
//	L = Σ X_i                              number of ones, 0 … n
//	α_l = Pr[L = l]           PMF          length n+1
//	T_p                       Average      averaging operator, length n → n-1
//	u = 2⁻⁵³                               unit roundoff of float64
//
// # Averaging operators
//
// For a function ψ given by its values ψ(0) … ψ(n), (T_p ψ)(l) =
// (1-p)·ψ(l) + p·ψ(l+1) is the expectation of ψ(l+X), X ~ Bernoulli(p). So the
// operators commute, and for a function φ of length n+1
//
//	E[φ(L)] = Σ_l α_l·φ(l) = (T_{p_1} … T_{p_n} φ)(0)
//
// No two numbers of opposite size are ever subtracted: with |φ| ≤ 1 the error of
// the chain is at most about 3n·u, whatever φ is; [AverageError] gives the bound and
// its proof.
//
// # Accuracy
//
// All laws are computed from sums and products of non-negative numbers and are accurate in
// relative terms in the far tails: about 3n·u for PMF ([PMFError]), u for
// Binomial and Hypergeometric. Values below 2⁻¹⁰²² may be returned as 0.
// Results are the same bits on every architecture.
//
// # Sources
//
//   - Y. Hong, On computing the distribution function for the Poisson binomial
//     distribution, Computational Statistics and Data Analysis 59 (2013).
//   - W. Biscarri, S. D. Zhao and R. J. Brunner, A simple and fast method for
//     computing the Poisson binomial distribution function, Computational
//     Statistics and Data Analysis 122 (2018).
//   - N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd edition (2002).
//   - C. Loader, Fast and accurate computation of binomial probabilities (2000).
//   - S. Jiang, Communication Efficient and Differentially Private Optimization
//     (2024), chapter 3, for the use of the law in private majority votes.
package poissonbinom
