// Package labellaw describes what a student can learn from released labels: the law of a label given
// the class with the most votes, the worth of a number of labels, and the layer that a student adds
// after its shares of votes.
//
// All of it is post-processing: a function of a mechanism and of a public prior of votes. Nothing here
// reads votes, nothing is drawn, and nothing costs privacy. No promise rests on any figure.
//
// Values of its types are safe for concurrent use while nobody writes to their fields.
//
// Where mechanism and prior treat the classes alike, a Channel has three numbers; of classes that are told apart it has
// a law for each.
//
// # Notation
//
//	K, C          teachers, classes
//	h, prior(h)   histogram of the votes of one query; its public law
//	T[c][y]       Channel.Transition: probability of label y where class c has the most votes; a tie
//	              shares its weight equally among its classes
//	a, n          Channel.Agrees, Channel.Abstains: T[c][c], or its mean by π, and the probability of no class
//	π, q = πT     public shares of the classes, law of a label
//	χ², MI        Channel.ChiSquare, Channel.Information (in nats)
//	β, o          Law.Beta, Offsets: softmax(β·h + o) is the nearest to the law in log likelihood
//	μ             the parameter of Gaussian differential privacy that belongs to (ε, δ)
//
// a is not a plan's agreement, which counts any class of a tie in full.
//
// Source of μ: Dong, Roth and Su, Gaussian Differential Privacy (2022), Corollary 2.13.
package labellaw
