// Package solve finds the best private mechanism for the plurality of many classes. It
// returns certified tables only: what a solver says is a proposal.
//
// Values of its types are safe for concurrent use while nobody writes to their fields, but for
// those whose comments say otherwise.
//
// # The linear program
//
// It is that of package plurality. For δ = 0 its rows are posed by cliques
// (plurality.Cliques): the probabilities of one class over all ways to add t votes to a
// histogram of K-t lie within a factor e^ε of each other. Where C = 10 this takes a fifth
// of the numbers that the single rows take, and its matrix only selects variables, which is
// as well conditioned as can be. For δ > 0 there is a block for each ordered pair.
//
//	c, m          program.cost, program.classes
//	x, y, x₀, y₀  engine: primal and dual values and their anchors
//	G             rows
//	σ, 1/τ, ω     engine.sigma, engine.load, engine.omega
//	η             excess: the most by which a row is broken
//	U(y)          program.upper
//
// # Methods
//
// FirstOrder is plain Go: primal-dual hybrid gradient, reflected, with Halpern's anchor and
// restarts, begun at permute-and-flip, whose points are made private by a second iteration
// without objective (polish). Projections are exact: on each histogram's simplex, and on
// each clique's cone. It is deterministic, whatever the number of workers.
//
// InteriorPoint is HiGHS's method on the dual, without crossover: a second way, which is as
// fast for small sizes and faster for δ > 0. Simplex and PDLP are HiGHS's others, to compare.
//
// Two classes are package gamma/solve's: the majority of teachers that promise nothing, by the
// simplex method, as far as it takes problems of the size.
//
// Bounds along the way are floating point. The table's are not: plurality.Round makes the
// best point private and checks it in integers, and plurality.NewTable works out the bound
// that the dual values prove.
package solve
