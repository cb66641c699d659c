// Package teachers trains the K teachers of an ensemble, each privately and on its own part
// of the records, and lets them vote.
//
// NewPlan checks a Config against the data and accounts for every teacher before anything is
// trained; Plan.Total is what everything costs that can be made of them. NewTraining then
// draws the randomness once, and Run trains. Train does all of it around one charge.
// Plan.Simulate trains from a seed, for experiments, and gives a type of its own, of which
// nothing is private.
package teachers
