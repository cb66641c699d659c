// Package darrm releases private majority votes: labels that teachers, models trained on private
// records, vote for, with the least noise that hides every record. Each release is charged to a
// ledger before anything is drawn, and is drawn once.
//
//	t := darrm.Teachers{K: 25, Affected: 1, Neighbours: darrm.ReplaceOne}
//	m, err := darrm.Optimal(ctx, t, darrm.PerLabel(0.5))
//	book, created, err := ledger.OpenOrCreate(ctx, "patients.ledger", budget, darrm.ReplaceOne)
//	r, err := darrm.NewReleaser(ctx, m, book, darrm.KeyFile("service.key"))
//	labels, err := r.Batch(ctx, "march", darrm.Counts(counts)) // charged once; again: the same, free
//
//	to release                            use
//	labels of rows in memory              Releaser.Batch; of Sets several for each
//	one label at a time                   Releaser.Answer; release.Online for more
//	labels of files                       Mechanism.Labels
//	a trained model                       release.Model
//	by the best that a budget allows      Optimal, with Within; plan.New shows all there is
//	by a table that somebody made         ReadTable, which proves it again
//	in a test                             ledgertest.New, whose releases are marked
//
// Promised is the price that [Mechanism.PerLabel] and the ledger state, (ε, δ)-differential
// privacy, if the teachers keep what [Teachers] states; what is left out there means the worst
// case. Not promised is that timing, memory or the order of requests tell nothing. All types are
// safe for concurrent use.
//
// Private learning, communication (sketch) and the evidence (experiment) share this module. A
// program that releases votes links none of them.
package darrm
