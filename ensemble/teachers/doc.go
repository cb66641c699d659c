// Package teachers trains the K teachers of an ensemble, each privately and on its own part
// of the records, and lets them vote.
//
// NewPlan checks a Config against the data and accounts for every teacher before anything is
// trained; Plan.Total is what everything costs that can be made of them. NewTraining then
// draws the randomness once, and Run trains. Train does all of it around one charge.
// Plan.Simulate trains from a seed, for experiments, and gives a type of its own, of which
// nothing is private.
//
// Values of its types are safe for concurrent use while nobody writes to their fields, but for
// those whose comments say otherwise.
//
// # Notation
//
//	K        Plan.K              teachers
//	t        Parts.Affected      teachers whose part one record may be in
//	(ε, Δ)   Plan.Report         what one teacher costs
//	(ε', δ)  Plan.Total          what everything costs that can be made of the teachers
//
// Source: Papernot et al., Semi-supervised Knowledge Transfer for Deep Learning from Private
// Training Data (2017), for teachers on parts of the records; package learn/shuffled for how
// each is trained.
package teachers
