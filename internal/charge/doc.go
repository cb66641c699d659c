// Package charge says how a release of answers is charged to a ledger: what its answers
// cost together, which entries it makes, and in what order they come.
//
// It is the one definition of this for everything that releases: the command line and the
// Beam pipeline ask for the same bytes, so one ledger serves both, and a request that one
// of them answered is recognised by the other. It is internal, because the entries are a
// promise between programs of this project and not to callers; the module of the pipeline is
// below this one's path and may import it.
//
// # Entries
//
//	fresh teachers      one charge, of the release: what its answers cost together
//	frozen teachers     the charge of their training, id "teachers:NAME", once for all
//	                    releases; and one of the release, at no cost, which names that id
//	promise nothing     one charge, of the release: all privacy is the mechanism's noise
//
// Each has an [Event] as JSON, of which nothing is computed from the votes: a ledger is
// read by people who may not see them.
//
// # Order
//
// The caller counts the queries, then:
//
//  1. [Release.Totals], [Terms.Check], [Release.Bill];
//  2. [Bill.Pay]: on disk. Only now may an answer be drawn;
//  3. all answers are drawn, where nobody can see them;
//  4. [ledger.Ledger.RecordResult]: their digest, on disk;
//  5. they are published, all at once.
//
// The digest comes before the publication, so that what can be seen is always known to
// the ledger: a request asked again finds its answers ([Released]), whenever the first
// asker died. The other order has a moment in which the answers are out and
// asking again is refused as if they were lost. A death between 4 and 5 costs what one
// between 2 and 4 costs: the budget is spent and nothing is out. The request is refused, or
// finished with the same coins where the caller kept their key; the ledger then names
// answers that nobody saw, which is the private side, and their digest tells nothing that
// was not paid for. If 4 fails nothing may be published: the ledger that was charged is not
// known to be there any more.
//
// A release that is finished is noted too, with the receipt of the replay ([Once]). One
// digest is noted per request, so what the same coins give with another noise function,
// which would be a second release, is refused at 4.
package charge
