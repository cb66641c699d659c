// Package darrmbeam releases private labels for more votes than one machine takes: the
// aggregation of package ensemble as a pipeline of Apache Beam. Mechanism, certificate,
// accounting and vote files are the core's; what is here is how the work is
// spread, done again where it failed, and put together.
//
// [Run] does a whole [Job], in this order:
//
//  1. the table is read and certified, a [randsrc.Key] is drawn;
//  2. a first pipeline reads every file, counts its queries, pins what was read and
//     searches all files for repeated query ids. Nothing is drawn;
//  3. the release is charged to the ledger, as one request for all its answers;
//  4. a second pipeline reads the files again, compares them with the pins, and answers
//     every query under the job key, in shards of a temporary directory;
//  5. the shards are read back, counted, and written to the output in the order of the
//     input; only then is there an output. The key is destroyed.
//
// # Notation
//
//	Q          Report.Queries    queries of all files; what is charged
//	K          Report.K          teachers
//	n          Job.ShardRows     queries that are answered together
//	shard i                      queries i·n … min(Q, (i+1)·n)-1, by their number in the input
//	F_k(q, v)                    coins of query q with the votes v under the job key
//
// # Work that is done twice
//
// A runner may run a bundle again, because it failed, because its worker went away, or
// because it seemed slow, and two runs can both finish. With fresh randomness each
// would be another answer to the same query, and whoever sees both learns more
// than was paid for. Here they are one answer: the coins of a query are a
// pseudorandom function of the job key, the query's id and its votes (Mironov, Pandey,
// Reingold and Vadhan, Computational Differential Privacy (2009)). What it needs is kept like
// this:
//
//   - An id is one query's: the first pipeline groups the ids of all files and refuses
//     a repeated one, before anything is charged.
//   - The votes of a query are the same in every try: the second pipeline compares
//     what it reads with the pins of the first, file by file, and answers behind a
//     GroupByKey, which lets nothing through before all files are read. A shard
//     that was written by an earlier try must be the same, byte for byte.
//   - The key stays in the job. It is drawn in this process by the system's
//     generator, for one Run, and cannot be given. If the workers are in this
//     process it never leaves the memory. Otherwise it goes through one file in
//     Job.KeyDir, which is removed at the end. The pipeline itself, which runners show,
//     log and store, holds the key's fingerprint and not the key; a worker that finds
//     another key refuses it.
//
// The key cannot be drawn inside the pipeline: a runner may compute any step again, and
// a second key would be a second set of answers.
//
// # Jobs that end early
//
// If a pipeline fails, it is run again, Job.Attempts times in all, under the same key and charge.
// If the process ends, the key is gone, the charge stays, and there is no output. The same request
// again is refused by the ledger (ledger.ErrReplayed), because it would be a second set of answers.
// It could be resumed if the key were kept, but then a secret that undoes the noise would lie on a
// disk for as long as someone may want to resume, and resuming on votes that have changed would be
// worse than a second release. So a crash costs its budget, as in package ledger.
//
// # Who sees what
//
// The votes go through the runner: its workers, its shuffle, its storage and its
// operators are trusted with them. Those who can read Job.KeyDir must be among them. Temporary
// shards are labels that have been paid for; the pins in the temporary directory and in the
// pipeline say nothing without the key.
//
// # Federated rounds
//
// [RunRound] is the shuffle and the aggregate of one round of package learn/federated/rounds, whose
// rules it calls: the runner is the shuffler.
package darrmbeam
