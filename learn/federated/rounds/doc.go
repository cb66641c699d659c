// Package rounds lets a run of package federated cross machines by files: no part waits for
// another, and no part is a server.
//
//	New → plan, first round                                           whoever leads
//	plan, round → reports of one silo, or its reply                   each silo
//	plan, round, reports of the silos → shuffled reports              the shuffler
//	plan, round, shuffled reports or reply → next round               whoever leads
//
// A Plan and a Round are public: they are JSON. Reports are for the shuffler alone, which keeps
// of them neither source nor order. All that is read is of strangers: it is checked, and its
// size is known from the plan before a byte is read.
//
// Of the parts only the shuffler remembers anything, in a Book: that it released a round, so that
// it never releases the same round with other reports, whose difference would be one silo's.
// Release, Aggregate and Accept are functions of their files: a round that is done again is the
// same, byte for byte, and the silos' answers to the next one, which were paid for, fit it. What a
// silo's records have spent is a ledger's matter: package release/silo.
//
// Values of its types are safe for concurrent use while nobody writes to their fields, but for
// those whose comments say otherwise.
//
// # Notation
//
//	r        Round.Round        from 0
//	M, n_m   Plan.Silos         silos, records of one
//	ε₀       document.Epsilon   of one report
//	σ        Plan's local noise of local steps
//	(ε, δ)   Plan.Cost          what all rounds cost a record together
//
// # Files of messages
//
// Integers are little-endian. A file of reports is its magic, 32 bytes of the plan's digest, 32 of
// the question's, the silo's number from 0, the number of reports of gradients, that of differences
// and the bytes of a report, each in 8 bytes; then the reports, stream after stream. A file of
// shuffled reports is the same without the silo, and each of its streams is in the order of its
// reports' bytes. docs/federated.md defines a report.
package rounds
