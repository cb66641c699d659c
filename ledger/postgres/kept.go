package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/darrm/darrm/ledger"
)

const (
	makeKept = `
		create table if not exists darrm.tables (
			ledger text not null, name text not null, content bytea not null,
			primary key (ledger, name));
		comment on table darrm.tables is 'public tables that charges in darrm.commits name: keep them as long'`

	keepOne = `insert into darrm.tables (ledger, name, content) values ($1, $2, $3)
		on conflict (ledger, name) do nothing`
	isKept  = `select exists (select from darrm.tables where ledger = $1 and name = $2)`
	keptOne = `select content from darrm.tables where ledger = $1 and name = $2`
)

// noTable, noSchema and noRight are codes of PostgreSQL.
const noTable, noSchema, noRight = "42P01", "3F000", "42501"

func coded(err error, codes ...string) bool {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return false
	}
	for _, code := range codes {
		if e.Code == code {
			return true
		}
	}
	return false
}

// Keep implements [ledger.Store]. A database of before this table gets it from the first role that
// may make it.
func (s *store) Keep(ctx context.Context, name ledger.Digest, content []byte) error {
	err := s.on(ctx, func(conn *pgx.Conn) error {
		there := false
		err := conn.QueryRow(ctx, isKept, s.name, name.String()).Scan(&there)
		if err == nil && there {
			return nil
		}
		if coded(err, noTable) {
			if _, err := conn.Exec(ctx, makeAlone+";"+makeKept); err != nil {
				return err
			}
		} else if err != nil {
			return err
		}
		_, err = conn.Exec(ctx, keepOne, s.name, name.String(), content)
		return err
	})
	if coded(err, noRight, noTable, noSchema) {
		return fmt.Errorf("%w: the role may not write to darrm.tables: its owner makes the table, and "+
			"grants SELECT and INSERT on it, as the guide to ledgers says: %w", ledger.ErrKept, err)
	}
	return err
}

// Kept implements [ledger.Store].
func (s *store) Kept(ctx context.Context, name ledger.Digest) (content []byte, err error) {
	err = s.on(ctx, func(conn *pgx.Conn) error {
		return conn.QueryRow(ctx, keptOne, s.name, name.String()).Scan(&content)
	})
	switch {
	case errors.Is(err, pgx.ErrNoRows), coded(err, noTable):
		return nil, fs.ErrNotExist
	case coded(err, noRight):
		return nil, fmt.Errorf("%w: the role may not read darrm.tables: %w", ledger.ErrKept, err)
	}
	return content, err
}

// on runs fn on a connection, again where the kept one is dead. What fn does is safe to do twice.
// Errors that are not of the statements are an [ledger.ErrUnavailable].
func (s *store) on(ctx context.Context, fn func(*pgx.Conn) error) error {
	for {
		conn, used, err := s.take(ctx)
		if err != nil {
			return err
		}
		err = fn(conn)
		switch {
		case err == nil || errors.Is(err, pgx.ErrNoRows) || coded(err, noTable, noSchema, noRight):
			s.put(conn)
			return err
		case ctx.Err() != nil:
			drop(conn)
			return ctx.Err()
		case used && conn.IsClosed():
			continue // the server was restarted since
		}
		drop(conn)
		return s.unavailable(err)
	}
}
