// Package postgres keeps ledgers in a PostgreSQL database, so that several machines can charge
// one budget. Importing it makes locations of the schemes postgres and postgresql known to
// [ledger.Open], [ledger.Create] and [ledger.Adopt]:
//
//	import _ "github.com/darrm/darrm/ledger/postgres"
//
//	l, err := ledger.Open(ctx, "postgres://darrm@db.example/budgets?ledger=patients")
//
// All rules, sums and hashes are those of package ledger. This package stores the same lines in
// the same order, and nothing else.
//
// # Location
//
//	postgres://USER@HOST:PORT/DATABASE?ledger=NAME&secret=FILE&…
//
//	ledger   which ledger of the database: 1 to 256 bytes of text. Required.
//	secret   path of the file with the key of the digests of votes, on this machine. Defaults to
//	         the environment variable DARRM_LEDGER_SECRET. Made where the ledger is created,
//	         and given to every machine that answers fresh teachers' votes. Never in the database.
//	…        what libpq knows: sslmode, sslrootcert, host (the directory of a Unix socket), …
//
// A password belongs in ~/.pgpass or PGPASSWORD. One in the location is never shown.
//
// # Tables
//
//	darrm.commits  ledger, begins, lines, mark   one row for each commit: its lines, and the byte at
//	                                             which they begin; the genesis line is at 0
//	darrm.heads    ledger, anchor                one row for each ledger: the anchor
//	darrm.tables   ledger, name, content         one row for each table that a charge names
//	                                             ([ledger.Ledger.Keep])
//
// A role that charges needs USAGE on the schema darrm, SELECT and INSERT on commits and tables,
// SELECT and UPDATE on heads; one that looks needs USAGE and SELECT. Nobody needs DELETE, nor
// UPDATE on commits or tables. The first [ledger.Create] in a database makes the tables and needs
// CREATE on the database. A database of before darrm.tables gets it from the first role that keeps
// a table and has CREATE on the schema; a charger without that right, or without INSERT, gets an
// [ledger.ErrKept] before anything is charged.
//
// # A commit
//
// One transaction that locks the row of the ledger in heads, reads what is new, inserts the commit
// and updates the head. The lock makes servers wait for each other. The transaction is READ
// COMMITTED, where each statement sees what was committed when it began: lock and reading are two
// statements, so whoever waited reads what the others wrote meanwhile, and has lost nothing by the
// wait. Nobody else commits between the reading and the end. That two commits never follow the same
// one is also the primary key's doing. A transaction that the database gives up for another one's
// sake is tried again, which is safe since the database said that it did nothing.
//
// A look takes no lock. It is REPEATABLE READ, one state of both tables.
//
// A connection that ends during COMMIT leaves open what happened. Then a new connection takes the
// lock, which the lost transaction holds until it is decided, and looks for the row with
// its random mark. Where that fails for a minute, the outcome stays unknown: the caller gets an
// [ledger.ErrWrite] and no receipt, so that at worst budget is spent without a release.
//
// # Assumptions
//
// What PostgreSQL reported as committed stays committed. A charge is refused where fsync or
// synchronous_commit is off. With asynchronous replication a failover loses the latest commits:
// handles that are open see it as an [ledger.ErrRolledBack], others see it if a head was pinned.
package postgres
