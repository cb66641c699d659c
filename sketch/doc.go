// Package sketch estimates the mean of n clients' vectors from k numbers each. It promises
// NO privacy: messages are linear images of the clients' vectors, nothing here adds noise,
// nothing here is an event of package accountant, and the shared randomness is known to all.
//
// A client i with the vector x_i in R^d sends y_i = G_i x_i. The matrix G_i of k rows is drawn
// from a stream that the server has too (package stream), so it is never sent. The server
// returns
//
//	x̂ = (β/n) T(S)⁺ Σ G_iᵀ y_i,   S = Σ G_iᵀ G_i,
//
// where T(λ) = 1 + ρ(λ-1) is applied to the eigenvalues of S and β makes x̂ unbiased. ρ says
// how alike the decoder takes the vectors to be: 0 for orthogonal ones, 1 for identical ones.
// The estimator is unbiased for every ρ. Its error is least for the ρ of the vectors, ρ*.
//
//	G_i             T = 1    any ρ                       source
//	row selection   Rand-k   Rand-k-Spatial              Jhunjhunwala et al., 2021
//	SRHT            –        Rand-Proj-Spatial           Jiang, Sharma, Joshi, NeurIPS 2023
//	Gaussian, row-normalised Gaussian, Count Sketch, Haar      ablations: they have no fast transform
//
// A Codec encodes and decodes. Codec.Beta is β, PredictMSE the mean squared error to expect,
// Correlation the two statistics of the vectors that it depends on, and Advise which estimator to
// take. Compressor is the interface that baselines with indices or
// quantised values implement too; package wire has the binary form of messages.
//
// Values of its types are safe for concurrent use while nobody writes to their fields, but for
// those whose comments say otherwise.
//
// # Notation
//
//	symbol   here                     meaning
//	n        Config.N                 clients; n' of them may answer, and T and β follow n'
//	k        Config.K                 numbers that a client sends
//	d        Config.D                 length of a vector
//	d'       Codec.Dimension          the next power of two for SRHT, else d
//	ρ        Transform.Rho, RhoAvg …  correlation that the decoder assumes
//	T        Transform                function of the eigenvalues of S
//	R        Correlation              Σ_{i≠l} ⟨x_i, x_l⟩ / Q, in [-1, n-1]
//	Q        Correlation              Σ ‖x_i‖²
//	ρ*       RhoOpt(n, R)             R/(n-1), the ρ of least error
//	β        Codec.Beta               what makes the estimator unbiased
//	G_i      matrix                   a client's k × d' matrix in one round
//	K        gram                     G Gᵀ of all rows, nk × nk, or S if that is smaller
//
// # Cost
//
// With row selection a client reads k coordinates, and the server takes O(d + nk) time and memory.
// With SRHT a client pays one Walsh-Hadamard transform, O(d log d). The server keeps O(d + nk)
// numbers. It solves one linear system by 10 to 30 steps of conjugate gradients of 2n transforms,
// or of order nk where that is small or badly conditioned (see solve). No d × d matrix is made
// unless nk > d and T demands it. Results do not depend on Config.Workers or on the order of
// messages.
//
// # Limits
//
// Clients are trusted to send their own vectors: one hostile client moves the mean as far as
// it likes. Damaged or foreign messages are refused with an error.
package sketch
