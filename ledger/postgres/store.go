package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/darrm/darrm/ledger"
)

const (
	// callTime bounds one statement that waits for nobody. It is no rule for callers: who
	// waits for other servers waits as long as his context allows.
	callTime = 30 * time.Second
	// idleTime limits how long a connection is kept for the next look: handles have no Close.
	idleTime = 10 * time.Second
)

// resolveTime bounds how long the outcome of a lost COMMIT is asked for: a server that was
// killed recovers in seconds. Tests set it.
var resolveTime = time.Minute

// The database ends a transaction that holds the lock and does nothing for a minute, so that a
// machine that vanished stops nobody for ever.
const lockHead = `
	select anchor, current_setting('fsync'), current_setting('synchronous_commit'),
		set_config('idle_in_transaction_session_timeout', '60s', true)
	from darrm.heads where ledger = $1 for update`

const (
	readHead  = `select anchor from darrm.heads where ledger = $1`
	hasCommit = `select exists (select from darrm.commits where ledger = $1)`
)

// store is one ledger of a database.
type store struct {
	config        *pgx.ConnConfig
	name          string
	secret        string // "" if the location names none
	location      string // without passwords
	mu            sync.Mutex
	conn          *pgx.Conn // kept for the next look; nil
	closeWhenIdle *time.Timer
}

// take returns a connection, and whether it was used before and so may be dead by now.
func (s *store) take(ctx context.Context) (conn *pgx.Conn, used bool, err error) {
	s.mu.Lock()
	conn, s.conn = s.conn, nil
	if s.closeWhenIdle != nil {
		s.closeWhenIdle.Stop()
	}
	s.mu.Unlock()
	if conn != nil {
		return conn, true, nil
	}
	conn, err = pgx.ConnectConfig(ctx, s.config.Copy())
	if err != nil {
		if ctx.Err() != nil {
			return nil, false, ctx.Err()
		}
		return nil, false, s.unavailable(err)
	}
	return conn, false, nil
}

// put keeps a connection for the next look.
func (s *store) put(conn *pgx.Conn) {
	if conn.IsClosed() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conn = conn
	s.closeWhenIdle = time.AfterFunc(idleTime, func() {
		s.mu.Lock()
		idle := s.conn == conn
		if idle {
			s.conn = nil
		}
		s.mu.Unlock()
		if idle {
			drop(conn)
		}
	})
}

// drop closes a connection, which ends its transaction.
func drop(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	conn.Close(ctx)
}

// unavailable marks an error after which it is certain that nothing was stored.
func (s *store) unavailable(err error) error {
	switch {
	case isRetry(err):
		return fmt.Errorf("%w: %w", ledger.ErrRetry, err)
	case isConnect(err):
		err = errors.New(connectText(err))
	}
	return fmt.Errorf("%w: %w", ledger.ErrUnavailable, err)
}

// isRetry reports whether the database undid the transaction for another one's sake.
func isRetry(err error) bool {
	var e *pgconn.PgError
	// serialization failure, deadlock
	return errors.As(err, &e) && (e.Code == "40001" || e.Code == "40P01")
}

func isConnect(err error) bool {
	var e *pgconn.ConnectError
	return errors.As(err, &e)
}

// connectText is the first cause of an error of connecting: pgx begins it with user and database,
// and lists every address with and without TLS.
func connectText(err error) string {
	var e *pgconn.ConnectError
	errors.As(err, &e)
	first, _, _ := strings.Cut(errors.Unwrap(e).Error(), "\n")
	return "connect: " + first
}

// Begin implements [ledger.Store].
func (s *store) Begin(ctx context.Context, exclusive bool) (ledger.Tx, error) {
	for {
		conn, used, err := s.take(ctx)
		if err != nil {
			return nil, err
		}
		t := &tx{store: s, conn: conn, ctx: context.WithoutCancel(ctx)}
		err = t.begin(ctx, exclusive)
		switch {
		case err == nil:
			return t, nil
		case ctx.Err() != nil:
			drop(conn)
			return nil, ctx.Err()
		case used && conn.IsClosed():
			continue // the server was restarted since; nothing was begun
		case conn.IsClosed() || errors.Is(err, fs.ErrNotExist) || isRetry(err):
		default:
			drop(conn)
		}
		t.Close()
		if errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		return nil, s.unavailable(err)
	}
}

// begin starts the transaction, with the lock if it is exclusive.
func (t *tx) begin(ctx context.Context, exclusive bool) (err error) {
	options := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	if exclusive {
		// Each statement has a snapshot of its own, so what is read after the lock is what whoever held
		// it before has committed. With one snapshot for all, taken before the wait, every transaction
		// that waited would have to begin again. The lock keeps the snapshots equal.
		options = pgx.TxOptions{IsoLevel: pgx.ReadCommitted}
	}
	if t.tx, err = t.conn.BeginTx(ctx, options); err != nil {
		return err
	}
	var anchor, fsync, commits string
	if exclusive {
		err = t.tx.QueryRow(ctx, lockHead, t.store.name).Scan(&anchor, &fsync, &commits, nil)
	} else {
		err = t.tx.QueryRow(ctx, readHead, t.store.name).Scan(&anchor)
	}
	var e *pgconn.PgError
	switch {
	case errors.As(err, &e) && (e.Code == "42P01" || e.Code == "3F000"):
		// no such table, no such schema
		return t.store.missing()
	case errors.Is(err, pgx.ErrNoRows):
		exists := false
		if err := t.tx.QueryRow(ctx, hasCommit, t.store.name).Scan(&exists); err != nil {
			return err
		}
		if !exists {
			return t.store.missing()
		}
		return nil // the head is lost
	case err != nil:
		return err
	case fsync == "off" || commits == "off":
		return fmt.Errorf("fsync is %s and synchronous_commit is %s on the server: a charge that it "+
			"acknowledged could be lost, so both must be on", fsync, commits)
	}
	if t.found = true; anchor != "" { // "" between the making of a ledger and its first anchor
		t.anchor = []byte(anchor)
	}
	return nil
}

func (s *store) missing() error {
	return presence{fmt.Sprintf("the database has no ledger %q", s.name), fs.ErrNotExist}
}

// presence is an error of package fs about a ledger, in words that do not speak of files.
type presence struct {
	text string
	kind error
}

func (e presence) Error() string        { return e.text }
func (e presence) Is(target error) bool { return target == e.kind }
