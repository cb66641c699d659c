// Package release holds the rules of a private release: whose teachers a table may be used
// for, which files may be written, what the answers cost, what the ledger is charged, and in
// which order. The command line and the Beam pipeline call it and have no rules of their
// own, so one ledger serves both, and a request that one of them answered is recognised by
// the other.
//
// # Notation
//
//	Q          Release.Queries   answers
//	K          Problem.K         teachers
//	t          Problem.Affected  the most teachers that one record reaches
//	(ε, Δ)     Problem           what one teacher promises
//	(ε', δ)    Totals            what all answers cost together
//	δ'         Terms.Slack       what the composition of fresh answers may spend besides
//	draw       Terms.Draw        one series of rows of votes, cast once by fresh teachers
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
// Two answers to the same votes are functions of these votes, so they do not compose as two
// runs of the teachers would: the randomness of the votes is there once. What any number
// of answers to them tells is at most what the votes tell.
//
// Each entry has an [Event] as JSON, of which nothing is computed from the votes. The digest
// of a draw is keyed by the ledger's secret.
//
// # Order
//
//  1. [Stated.Match], [CheckPaths], [CheckOverwrite] or [CheckOut]: before anything is read;
//  2. the votes are read and counted ([Reading]);
//  3. [Release.Totals], [Terms.Check], [Release.Bill];
//  4. [Bill.Pay]: on disk. Only now may an answer be drawn;
//  5. the votes are read again and answered, where nobody can see the answers ([Draft]). They
//     must be those of step 2;
//  6. [Note]: the digest of the answers, on disk;
//  7. they are published, all at once.
//
// The digest comes before the publication, so that the ledger knows whatever can be seen: a
// request asked again finds its answers ([Released]), whenever the first asker died. A death
// between 6 and 7 costs what one between 4 and 6 costs: the budget is spent and nothing is
// out. The request is then refused, or finished with the same coins where the caller kept
// their key ([Checkpoint]). If step 6 fails nothing may be published, because the ledger that
// was charged is not known to be there any more.
//
// A release that is finished later is noted too, with the receipt of the replay ([Once]). One
// digest is noted per request, so what the same coins give with another noise function,
// which would be a second release, is refused at step 6.
package release
