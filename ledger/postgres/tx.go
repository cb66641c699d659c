package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/darrm/darrm/ledger"
)

// tx is a [ledger.Tx]: one transaction on one connection.
type tx struct {
	store  *store
	conn   *pgx.Conn
	ctx    context.Context // has no end: what is begun is not cut short by who waits for it
	tx     pgx.Tx          // nil before begin and after the end
	found  bool            // there is a row of the ledger in heads
	anchor []byte          // what it has
}

func (t *tx) Anchor() ([]byte, error) { return t.anchor, nil }
func (t *tx) Sync() error             { return nil } // what can be read was forced to disk before
func (t *tx) Atomic() bool            { return true }

// Close ends the transaction.
func (t *tx) Close() error {
	if t.tx != nil && !t.conn.IsClosed() {
		ctx, cancel := t.call()
		defer cancel()
		if t.tx.Rollback(ctx) != nil {
			drop(t.conn)
		}
	}
	t.store.put(t.conn)
	return nil
}

// call bounds one statement.
func (t *tx) call() (context.Context, context.CancelFunc) {
	return context.WithTimeout(t.ctx, callTime)
}

const (
	insertCommit = `insert into darrm.commits (ledger, begins, lines, mark) values ($1, $2, $3, $4)`
	updateHead   = `update darrm.heads set anchor = $2 where ledger = $1`
	insertHead   = `insert into darrm.heads (ledger, anchor) values ($1, $2)`
	readMark     = `select coalesce((select mark from darrm.commits where ledger = $1 and begins = $2), '')`
)

// Commit stores lines and anchor in one transaction.
func (t *tx) Commit(at int64, lines, _, after []byte) error {
	mark := rand.Text()
	return t.finish(at, mark, func(b *pgx.Batch) {
		b.Queue(insertCommit, t.store.name, at, string(lines), mark)
		b.Queue(updateHead, t.store.name, string(after))
	})
}

// SetAnchor stores the anchor, also where the row of the ledger is lost.
func (t *tx) SetAnchor(anchor []byte) error {
	statement := updateHead
	if !t.found {
		statement = insertHead
	}
	return t.finish(-1, "", func(b *pgx.Batch) { b.Queue(statement, t.store.name, string(anchor)) })
}

// finish sends the statements, each of which changes one row, and commits. mark is what the row
// at a byte will have that no other commit has.
func (t *tx) finish(at int64, mark string, queue func(*pgx.Batch)) error {
	if err := t.send(queue); err != nil {
		return t.store.unavailable(err) // without COMMIT nothing is stored
	}
	ctx, cancel := t.call()
	defer cancel()
	err := t.tx.Commit(ctx)
	t.tx = nil
	switch {
	case err == nil:
		return nil
	case refused(err):
		return t.store.unavailable(err)
	case mark == "":
		return err
	}
	// The connection was lost, or the server was told to end it, before the answer came.
	drop(t.conn)
	stored, ask := t.store.resolve(at, mark)
	switch {
	case ask != nil:
		return fmt.Errorf("whether the charge was stored is not known: %w; asked again: %v", err, ask)
	case stored:
		return nil
	}
	return fmt.Errorf("%w: %w", ledger.ErrRetry, err)
}

// refused reports whether an error of COMMIT is the database's statement that it undid the
// transaction. All else, such as a server that shuts down, leaves it open.
func refused(err error) bool {
	var e *pgconn.PgError
	return errors.Is(err, pgx.ErrTxCommitRollback) || errors.As(err, &e) &&
		e.SeverityUnlocalized == "ERROR" && len(e.Code) == 5 && e.Code[:2] != "08" && e.Code != "40003"
}

func (t *tx) send(queue func(*pgx.Batch)) error {
	b := &pgx.Batch{}
	queue(b)
	ctx, cancel := t.call()
	defer cancel()
	results := t.tx.SendBatch(ctx, b)
	for range b.Len() {
		tag, err := results.Exec()
		if err == nil && tag.RowsAffected() != 1 {
			err = fmt.Errorf("%s of the ledger %q changed %d rows instead of one", tag, t.store.name,
				tag.RowsAffected())
		}
		if err != nil {
			results.Close()
			return err
		}
	}
	return results.Close()
}

// resolve finds out whether a transaction whose COMMIT was not answered stored its row. The lock
// that it needs is the lost transaction's until that is decided, also in the database.
func (s *store) resolve(at int64, mark string) (stored bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), resolveTime)
	defer cancel()
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		stored, err = s.lookFor(ctx, at, mark)
		if err == nil || ctx.Err() != nil {
			return stored, err
		}
		time.Sleep(wait)
	}
}

func (s *store) lookFor(ctx context.Context, at int64, mark string) (stored bool, err error) {
	begun, err := s.Begin(ctx, true)
	if err != nil {
		return false, err
	}
	defer begun.Close()
	t := begun.(*tx)
	if !t.found {
		return false, errors.New("the ledger's row in darrm.heads is lost, and with it the lock")
	}
	found := ""
	err = t.tx.QueryRow(ctx, readMark, s.name, at).Scan(&found)
	return found == mark, err
}
