// Package folder lets the roles of a federated run meet in one folder that all of them share:
// silos, shuffler and leader, each a process beside its own secrets. A role is asked to go on
// (Step) as often as one likes; it does what the files in the folder allow, and says what it waits
// for. Every file is written whole, under a name that nothing had. So a role that dies goes on
// where it was.
//
// Nobody who can read the folder learns more than the shuffler gives out: reports lie there sealed
// to the shuffler's key (rounds.Run.Seal). Whoever can write to the folder can stop the run, and
// can put in rounds, and so a model, of his own. The silos' price holds against that: a silo goes
// by its own copy of the plan (Place.OwnPlan), which it prices itself, answers a round once, and
// seals to a key whose fingerprint it was told.
//
// # Files
//
//	plan.json               the plan, for the leader
//	shuffler.pub            the shuffler's public key
//	0000.round              a round, from 0
//	0000.0001.sealed        the reports of silo 1 to it
//	0000.shuffled           the shuffled reports
//	0000.asks, 0000.reply   with local steps: the round that asks a silo for them, and its reply
//
// A role's own folder of secrets has the file role, which keeps two roles apart, and
//
//	key, book, 0000.silos   of the shuffler: its key, what it released, whose reports these were
//	0000.coins, 0000.answer, 0000.sealed   of a silo: coins and reports of the answer under way
//
// Values of its types are for one goroutine at a time.
package folder
