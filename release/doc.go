// Package release makes private releases: it plans, charges, draws and publishes each of them
// once. It holds their rules: whose teachers a table may be used for, which files may be
// written, what the answers cost, what the ledger is charged, and in which order. It is the
// only way to a file with a promise. The command line, the service and the Beam pipeline call it
// and have no rules of their own, so one ledger serves all, and a request that one of them
// answered is recognised by the others. Which mechanism answers was decided before, by a table or
// by package plan/choose.
//
// [Labels] releases labels for files of votes, [Online] answers queries one at a time, [Model]
// releases anything that is drawn as a whole. All do it by one [Transaction], as does a pipeline
// that draws its answers elsewhere.
//
// Values of its types are safe for concurrent use while nobody writes to their fields, but for
// those whose comments say otherwise.
//
// # Notation
//
//	Q          Plan.Queries()    answers
//	K          Problem.K         teachers
//	t          Problem.Affected  the most teachers that one record reaches
//	(ε, Δ)     Problem           what one teacher promises
//	(ε', δ)    Totals            what all answers cost together
//	δ'         Totals.Slack      what the composition of fresh answers may spend besides
//	draw       Charge.Draw       one series of rows of votes, cast once by fresh teachers
//	k, F_k     OnlineOptions.Key  service key; HMAC-SHA-256 with a subkey of it for each use
//	q, r, v    Query             an on-line query's id, replay key, and votes as they were sent
//
// # Entries of the ledger
//
//	frozen teachers   "teachers:NAME", their training, charged once for all releases of the
//	                  ensemble; and the release, at no cost, which names that charge
//	fresh teachers    first answer to a draw: the release, what its answers cost together.
//	                  Further answers to it: "draw:NAME", the tQ-fold composition of (ε, Δ),
//	                  charged once; and each release, at no cost, which names that charge
//	promise nothing   the release: all privacy is the mechanism's noise, new in each answer
//
// Two answers to the same votes are functions of these votes, so they do not compose as two runs of
// the teachers would: the randomness of the votes is there once. Any number of answers to them
// reveals at most what the votes reveal.
//
// A model is one entry, what it costs. A run whose answers are released one by one, such as a
// silo's to the rounds of a federated training, is charged with its first answer as "run:NAME",
// what all cost together; each answer is a release at no cost, which names that charge. Each entry
// has an [Event], or a [ModelEvent], as JSON, of which nothing is computed from the votes but
// digests under a key: of a draw by the ledger's secret, of an on-line query by the service key.
//
// # Order
//
//  1. The settings and files are checked ([CheckPaths], [CheckOverwrite]): before anything is
//     read.
//  2. The votes are read, checked and counted.
//  3. The answers are accounted for ([Plan.Totals]), and what the ledger is asked for is
//     worked out ([Plan.Bill]).
//  4. The output is checked, which replaces no other result, and the secret of the coins is kept on disk where a Checkpoint is
//     named.
//  5. The ledger is charged ([Bill.Pay]), on disk. Only now may an answer be drawn.
//  6. The votes are read again and answered, where nobody can see the answers. They must be
//     those of step 2.
//  7. The digest of the answers is noted in the ledger, on disk.
//  8. The answers are published, all at once.
//  9. The secret is removed.
//
// A model is trained in step 6 and has no votes; without a ledger the steps 2, 5 and 7 are
// left out.
//
// The secret comes before the charge, so that a death in between costs nothing. The digest
// comes before the publication, so that the ledger knows whatever can be seen: a request
// asked again finds its answers in its output ([Outcome.Before]), whenever the first asker
// died. A death between 7 and 8 costs what one between 5 and 7 costs: the budget is spent and
// nothing is out. The request is then refused, or finished with the same coins where the
// secret was kept. If step 7 fails nothing may be published, because the ledger that was
// charged is not known to be there any more.
//
// A release that is finished later is noted too, with the receipt of the replay. One digest
// is noted per request, so what the same coins give with another noise function, which would
// be a second release, is refused at step 7.
//
// # On line
//
// A query that comes by itself is a release of one answer. Its coins come from a key that stays, so
// that the same query has the same answer whenever and at whichever server of the ledger it is
// asked again, and is charged once:
//
//	s = F_k("scope", ledger's ID, mechanism, its exact noise or table, setting, (ε, δ))
//	p = F_k("votes", s, q, r, v)         in the ledger: tells the same query from others
//	coins = F_k(0, s, p, v), F_k(1, s, p, v), …
//	result = SHA-256(F_k("answer", p), class)   in the ledger: tells the same answer from another
//
// Since the coins are there before, an answer is one commit of the ledger instead of two:
//
//  1. The query is checked and counted.
//  2. The ledger admits its charge, under the lock, or refuses it. A refused query draws nothing.
//  3. The answer is drawn in memory.
//  4. Charge and result are written and forced to disk as one commit.
//  5. The answer leaves.
//
// Where step 4 fails the draw is dropped: nothing of it is in the error, and nothing leaves that is
// not on disk. A death before step 4 spends nothing, and the id is free. A death after it, or a
// commit whose outcome is not known, replays the same coins when the query comes again. A batch,
// files and models keep the order of before, charge, draw, note: their draws take too long for a
// lock, and those without a checkpoint have no coins that could be replayed.
//
// An id with another replay key or other votes, in another form or of another client is refused by
// the ledger. Where no replay key was sent r is 256 random bits that nobody keeps, so that the same
// query again is another one: ids are no secrets, and a repeated answer would confirm a guess of
// the votes. Wrong keys and wrong votes take the same path and have the same error. Even if the
// ledger that refuses it is lost, as by a restored backup, its coins differ, because v goes into p.
// So the two answers are two releases, one of them unpaid, and never two looks at the votes through
// the same noise. Digests are of one query each: the ledger shows neither that two queries had
// equal votes nor what was answered.
//
// Fresh teachers: a request id is its draw, and states that the teachers cast these votes for it.
// Frozen teachers: the training is charged with the first answer, every answer at no cost. Teachers
// that promise nothing: each answer pays. A client's share is judged by the ledger with the charge.
//
// This assumes that HMAC-SHA-256 is pseudorandom, that the key is known to nobody who sees answers,
// and that whoever asks may know the votes. The key is kept as long as the ledger: its loss reveals
// nothing, but no answer can be given again. So a key is refused if the mechanism's latest answers
// in the ledger came from another one, unless the change is stated ([OnlineOptions.NewKey]). The
// table of a mechanism that has one is kept beside the ledger, by what was stated of it
// ([OnlineOptions.Statement]), so that a start after an upgrade has the same s. It is bound to one
// ledger and one mechanism by s, so that a file that is used for two has unrelated coins for each.
// How long a mechanism samples can depend on the votes ([Answered.InLedger] does not). A request
// that waits for the ledger waits for the draws of earlier answers, and of those in the same
// commit: microseconds, beside a forced write of hundreds. How long a refusal takes depends on no
// draw of the query that is refused.
//
// # Secrets
//
// A secret names its ledger and its request: no other release goes on with it or removes it.
// A secret that this release made is removed when the charge is refused. One that was there
// before stays, and one that came meanwhile: it may be of a release that is paid for.
package release
