// Package ledger records on disk what has been spent of a privacy budget, before
// what it was spent on can be seen.
//
// [Create] a ledger with a [Budget] and a [Relation], or [Open] it. For every release call
// [Ledger.Charge] with a [Request]; only with the [*Receipt] that it returns may a
// mechanism draw an answer:
//
//	receipt, err := l.Charge(ctx, ledger.Request{ID: id, Count: n, Unit: unit, Relation: ledger.ReplaceOne, Event: event})
//	if err != nil {
//		return err // refused, or not known to be on disk: nothing is released
//	}
//	if err := receipt.Redeem(); err != nil {
//		return err
//	}
//	// sample n answers, note their digest with l.RecordResult, publish them
//
// The order is: check in integers, write, force to disk, receipt, sample, note, release.
// A crash at any moment leaves at worst budget spent without a release, never a
// release that is not paid for. There is no refund.
//
// Where the coins of the answer were kept before, [Ledger.ChargeDrawn] makes one write of two:
// check in integers, sample in memory, write charge and result, force to disk, release. What was
// sampled for a write that failed is dropped. A crash before the write spends nothing. A crash
// after it leaves a charge with its result, which the same coins give again.
//
// # Notation
//
//	(ε, δ)   Cost             a privacy guarantee, in units of 10⁻¹² and 10⁻²⁴
//	n        Request.Count    equal releases in one charge
//	Σ n(ε,δ) Ledger.Spent     basic composition
//	         Budget           the most that may be spent
//	Q        Quota.Answers    the most answers of a table that one charge pays for
//	h_i      Entry.Hash       hash of entry i; h_0 is the genesis record's
//	c        Entry.Commit     number of the write; one write has one or more entries
//	‖                         one after the other
//
// # Composition
//
// Costs add: what is spent is Σ n_i ε_i and Σ n_i δ_i over all charges, and a charge is
// admitted if neither sum would exceed the budget (ε, δ). All that is ever released
// under a ledger is then (ε, δ)-DP, also where mechanisms, costs and the number of
// charges are chosen after seeing earlier answers: basic composition is a privacy
// filter (Rogers, Roth, Ullman, Vadhan, Privacy Odometers and Filters (2016)). The
// reason is an induction on the number of charges still possible, which is finite,
// because each costs at least one unit. The next charge (ε_1, δ_1) is fixed before
// its answer is drawn. Whatever the answer, the rest of the transcript has the budget
// (ε-ε_1, δ-δ_1) and is that private by induction, so both together are (ε, δ)-DP (Dwork
// and Roth, The Algorithmic Foundations of Differential Privacy (2014), Theorem B.1).
// No tighter rule for many mechanisms is used: those need costs fixed in advance.
//
// This needs fresh randomness in every mechanism, one neighbouring relation for all
// costs, and all releases from the same people's data in the same ledger. The relation is
// the ledger's and is stated with every charge: another one is an [ErrRelation]. The ledger
// cannot see the other two.
//
// Costs round up to whole units and budgets round down; sums are exact and stay at the
// largest number instead of wrapping around. The ledger knows nothing of mechanisms;
// the event describes the release as JSON, so that an accountant can compose the
// history more tightly. Such a figure is a report: what is admitted is decided by the
// sums.
//
// A charge may name an earlier one that covers it, [Request].PaidBy, and then costs
// nothing. It is for answers that are post-processing of what was paid for, and it is the
// caller who vouches for that: those of teachers trained once, paid by the charge of their
// training, and those to a draw that is covered. Who pays is of the same ensemble and spent
// something itself.
//
// # Clients
//
// A charge may name a client, and state the share of the budget that all charges of the client may
// spend together. The share is judged as the budget is: under the lock, with what all processes
// have charged for the client, and what is more is an [ErrShare] that costs nothing. It limits one
// client for the others' sake and is no promise to anybody, so it is not stored: each request
// brings it.
//
// # Draws
//
// Costs add up over answers to fresh votes: the teachers, private mechanisms themselves,
// ran anew for each. A second answer to the same row of votes is another function of the
// same run, and the two together can cost more than the sum. So the unit is a [Draw], a
// series of rows that teachers cast once. The first answer to a draw pays as any other
// charge. All further answers together are covered by one more charge, Draw.Covers, of what
// the votes themselves cost: the composition of the teachers' promises over all rows and all
// teachers whom a record reaches. Each further answer is a charge that names it in PaidBy.
// Where the promise is the mechanism's own noise, new in each answer, costs add up over
// answers to the same votes too, and a charge has no draw.
//
// Which votes are one draw is stated, not guessed: a draw has a name, unique within the
// ensemble. As a safety net the ledger keeps a digest of each draw's votes ([VoteHash]),
// keyed with a secret and with the draw's name. Other votes under the name of a draw are
// refused; so are votes that equal those of a draw of another name, unless the request states
// that the teachers cast them anew (Draw.CastAnew).
//
// Equality of the votes of two draws reveals something of the data that the teachers learned from.
// So a reader of the ledger cannot see it: digests of two draws differ whatever their votes. For
// the refusal the votes that are asked for are tried on the name of every draw, under the lock;
// neither the refusal nor the statement leaves anything in the ledger. The refusal reaches the
// asker alone, who has the votes. Draws of queries on line (Draw.Query) are not tried: an id is a
// query there, and teachers agree on many.
//
// Only equal multisets of rows are refused. These are not noticed: rows shared
// by draws that differ elsewhere; the same votes with the teachers in another order, or as
// votes here and as counts there; the same votes in another ledger, or on line; votes answered
// in a release without a ledger; and teachers who say that they voted anew and did not.
//
// # Quotas
//
// One table of probabilities can answer many queries, with fresh noise in each answer, for teachers
// that promise nothing. What up to Q such answers cost together, also where a query is chosen after
// seeing earlier answers, is less than Q times the cost of one. So one charge pays for them: its
// [Quota] states Q and the SHA-256 of the table, and Unit is the cost (ε, δ) of all Q. To the
// composition it is one release of that cost like any other. Fewer answers, and a number of them
// that depends on the answers, cost no more than Q (package accountant/game prices them, and has
// the reason). Q and the table are fixed by the charge, before the first answer: another number or
// another table under its id is an [ErrConflict].
//
// Answers are taken by charges that cost nothing and name that one in PaidBy, as those to a covered
// draw do. So they are written, replayed, noted, and grouped into commits as all charges are. Count
// is how many are taken: 1 by a query on line, n by a file of n queries. The answers taken of a
// quota are Σ Count over the charges that it pays for. A charge that would make them more than Q is
// a [QuotaError] with the number that is left, an [ErrAnswers], and takes nothing. The sum is judged with the
// commit, under the lock, and again by whoever reads the ledger. So any number of processes
// together take at most Q answers. An answer that was taken and not delivered stays taken; a
// request that is asked again takes nothing. Each charge states the table too, and another table
// than the quota's is an [ErrUnpaid], because answers of two tables in turn cost more than those of
// either.
//
// A ledger may have several quotas, of one table or of several. They add up as (ε, δ) like any
// charges, and Q is counted for each: a series of queries may take answers of them in turn, since
// basic composition holds whatever is asked next. Their losses are not composed with each other.
//
// Each of the answers costs nothing more, so a client's share is a number of answers (Quota.Share),
// of all quotas together. It is judged as a share of the budget is, and not stored either.
// [Ledger.Quota] and [Ledger.Quotas] return what was taken, [Ledger.TakenBy] what a client took.
//
// # What is kept beside
//
// [Ledger.Keep] stores bytes under a name: the table of a charge, by the name that its event has,
// which the release needs again long after it was solved for, or what names a server's table, by the
// digest of all that was stated of it. Files keep them in the folder
// path + ".tables", one file for each name. They are public, no hash of the ledger covers them, and
// whoever reads one judges it from scratch. What a charge names is on disk before the charge. A
// copy of a ledger without them is a whole ledger: what was spent does not depend on them.
//
// The ledger does not see which table answered: who takes an answer vouches for it, as for a cost.
//
// # Ensembles
//
// An ensemble is a name. Whether the same teachers are behind it is the caller's word, and
// other teachers under the name of frozen ones are not noticed. A text that identifies
// them, [Request].EnsembleDigest, must be stated ever after once a charge of the ensemble
// stated it. It is compared and verifies nothing.
//
// # Requests asked again
//
// A request has an id. The same id with the same count, cost, payer, client, ensemble, draw, quota
// and event is charged once. Asked again, it returns an [ErrReplayed] and nothing that admits an
// answer, because a second answer with fresh randomness is a second release; what a
// caller may do is to read a result stored earlier, which it recognises by the digest of
// [Ledger.RecordResult]. Where there is none, the first asker crashed, or has not come
// so far: the budget is spent, and only another id, charged anew by the rules for draws,
// leads to an answer.
//
// A caller who kept the coins of the first answers, and whose event names them, may work
// out those same answers again, which is no second release. It notes them with the
// receipt of the [Replay], which is used up for everything else. Whatever was drawn, the
// request has one result: who comes with another digest is refused, and releases nothing.
// The same id with other content is an [ErrConflict]. [Ledger.Check] tells all this
// without charging.
//
// Ids, names and events are kept in plain text, for whoever may read the file. They must
// hold nothing that was computed from private data. The digests of votes are computed from
// them, and tell nothing without the secret. With the secret, a guess of all votes of a draw
// can be tested.
//
// # Several processes
//
// Any number of goroutines and processes may use one ledger. Each call opens the file, takes its
// lock (flock(2), exclusive for charges and shared for looks), reads what others wrote since, and
// gives the lock back. Waiting ends with the context; a charge that has begun to write is not cut
// short. A process that ends, however it ends, gives its lock back. Calls of several goroutines
// that wait on one handle share a commit: each is admitted or refused by itself, in the order in
// which they came. Systems without flock are not supported, nor file systems without hard links,
// which [Create] needs to replace nobody's file.
//
// # Stores
//
// A location that begins with a scheme and "://" is of a [Store] that a package registered, such
// as ledger/postgres. Its lines, its anchor and all that is said here of them are those of a
// file, but for this: it may store both as one, and then they are always level.
//
// # Files
//
// A ledger at a path is three files: the ledger at PATH, its anchor at PATH.anchor and the secret
// at PATH.secret. They belong together and are moved together.
//
// The ledger is a file of lines, which is appended to and never changed. One write is one
// commit: one or more entries and the head record that closes them.
//
//	PATH                                      PATH.anchor
//	┌──────────────────────────────────┐     ┌────────────────────────────────────┐
//	│ genesis                    h_0   │     │ head record of commit c or c-1,    │
//	├──────────────────────────────────┤     │ with the id of the ledger          │
//	│ charge   seq 1, commit 1   h_1   │     └────────────────────────────────────┘
//	│ head     commit 1, h_1, spent    │                       │
//	├──────────────────────────────────┤                       │
//	│ charge   seq 2, commit 2   h_2   │                       │
//	│ charge   seq 3, commit 2   h_3   │                       │
//	│ head     commit 2, h_3, spent  ◄─┼───────────────────────┘
//	├──────────────────────────────────┤
//	│ charge   seq 4, com▒▒▒▒▒▒▒       │  a write cut short, of a charge that was not acknowledged
//	└──────────────────────────────────┘
//
// Each line is JSON without space, in exactly this order of fields, and a line feed; any
// other form of the same content is damage. Amounts are decimal integers of units. Times
// are RFC 3339 in UTC, with as many digits of the second as are not zero.
//
//	genesis   {"format":4,"ledger":32 random hex digits,"created":time,"epsilon_unit":"1e-12","delta_unit":"1e-24","composition":"basic","neighbours":"…","secret_sha256":SHA-256 of the file,"budget":{"epsilon":"…","delta":"…"},"about":about}
//	about     {"purpose":"…","custodian":"…","data_set":"…","from":"2006-01-02","until":"2006-01-02"}
//	charge    {"seq":i,"commit":c,"kind":"charge","id":"…","time":"…","neighbours":"…","count":n,"unit":{"epsilon":"…","delta":"…"},"paid_by":"…","client":"…","ensemble":"…","ensemble_digest":"…","draw":draw,"quota":quota,"event":…,"previous":"h_{i-1}"}
//	draw      {"name":"…","votes":"…","query":true,"covers":true}
//	quota     {"table":"…","answers":Q}
//	result    {"seq":i,"commit":c,"kind":"result","id":"…","time":"…","sha256":"…","previous":"h_{i-1}"}
//	head      {"commit":c,"seq":i,"hash":"h_i","spent":{"epsilon":"…","delta":"…"}}
//	anchor    {"ledger":"…", and the fields of a head record
//
// What does not apply is left out: names that are "", false, an about of which nothing is stated, a
// draw or a quota where there is none, and the number of answers in a charge that takes some. A
// charge that spends something itself has no paid_by; one that was paid by another has the zero
// unit. The event is any JSON value, its objects with unique and sorted keys, its numbers as they
// were given, characters that act on a terminal or on the direction of text (Unicode Cc, Cf, Zl,
// Zp) as \u escapes. Ids have none of those. The hashes are
//
//	h_0 = SHA-256("darrm ledger genesis 1\n" ‖ genesis record)
//	h_i = SHA-256("darrm ledger entry 1\n" ‖ h_{i-1} as 32 bytes ‖ record i)
//
// The secret is a file for its owner only, made with the ledger and never changed:
//
//	darrm ledger secret 1
//	64 random hex digits
//
// The keys of the digests are made of the 32 bytes of these digits ([VoteHash]). Without the file,
// or where others may open it, no votes can be digested; all else works. It cannot be made again.
//
// # How a charge gets to disk
//
//  1. The anchor is made level with the ledger, unless this handle wrote it itself.
//  2. What a write cut short left behind the last commit is removed.
//  3. The commit is appended to the ledger and forced to disk.
//  4. The anchor is replaced: a new file is forced to disk, renamed, and the directory forced.
//  5. The receipt is returned.
//
// So a crash leaves the ledger level with its anchor or one commit ahead, and only behind
// a commit that is in the anchor can there be one that is not whole. That one was never
// acknowledged: it is passed over. Anything else is damage.
//
// # Assumptions
//
//	A1  What fsync(2) reported as written stays written: bytes of a file, and names in a directory.
//	A2  Of what was not forced to disk any sectors, sizes and names may be there after a loss of
//	    power, in any combination. A killed process loses nothing that it wrote.
//	A3  rename(2) and link(2) are atomic: the old file has the name or the new one.
//	A4  flock(2) excludes all processes that use the ledger. Over a network file system that
//	    depends on the file system.
//	A5  SHA-256 is collision resistant.
//	A6  Nobody who may write the files wants to deceive: the hashes are not keyed. Who does not
//	    assume it keeps heads elsewhere.
//
// # What is seen, and what is not
//
// [Open], [Ledger.Verify] and [Ledger.History] read everything; other calls read what is new
// since. They refuse, with an [ErrDamaged] or [ErrRolledBack]:
//
//   - a changed bit or byte anywhere in the ledger or its anchor, a file cut short or
//     missing, records changed, removed, added or reordered;
//   - a ledger replaced by any older copy, by itself;
//   - an anchor replaced by a copy that is two or more commits old, by itself. One
//     commit old is what a crash leaves, and nothing is lost by it;
//   - entries that could not have been charged, by the rules of [Ledger.Charge];
//   - files of another ledger.
//
// A file that is no ledger's, with no anchor beside it, is an [ErrNotLedger] instead. A
// missing or exchanged secret is an [ErrSecret] of [Ledger.VoteHash].
//
// Not seen by the files alone: both files replaced by copies that belong together; the
// anchor by an older copy together with damage to the commit after it, which then passes, with
// all that follows, for a write that was cut short; a copy of both files
// under another name, which is a second ledger with the same budget; and entries written by
// someone who computes the hashes anew and changes the anchor to match. Against these, keep
// [Ledger.Head] where that person cannot write, and give it to [Ledger.Verify]. A handle
// that stays open sees the first two, too. Nor is it seen whether a caller released without a
// charge, or lied about a cost or about who voted.
//
// A lost or damaged anchor makes a refusal; [Adopt] makes a new one from a pinned
// head. A damaged ledger has no repair: what was spent is no longer known.
//
// After a failed write or sync the handle refuses everything until the ledger is
// opened again. What a killed process left under a temporary name is removed by the next one
// that writes there.
//
// # Cost
//
// A charge writes about 500 bytes, 700 with a draw or a quota, and forces them and the anchor to
// disk. [Ledger.ChargeAll] shares the writes among its requests, [Ledger.ChargeDrawn] among charge
// and result. Open decodes every entry: 10⁶ take about 1.1 s of two cores and 45 MB, with draws 1.8
// s and 98 MB, which the handle keeps. From PostgreSQL on the same two cores it is 1.9 and 4.1 s.
// Verify and History read all entries again; both keep others from charging meanwhile.
package ledger
