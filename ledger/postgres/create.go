package postgres

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"

	"github.com/darrm/darrm/ledger"
)

// Tables that are there are left as they are: making them needs rights that a role that makes a
// ledger need not have.
const (
	hasTables = `
		select to_regclass('darrm.commits') is not null and to_regclass('darrm.heads') is not null
			and to_regclass('darrm.tables') is not null`
	makeTables = `
		create schema if not exists darrm;
		create table if not exists darrm.commits (
			ledger text not null, begins bigint not null, lines text not null, mark text not null,
			primary key (ledger, begins));
		create table if not exists darrm.heads (ledger text primary key, anchor text not null);
		comment on table darrm.commits is 'privacy budgets spent: never update or delete a row, nor restore an older copy';
		comment on table darrm.heads is 'where each ledger in darrm.commits must end'`

	// PostgreSQL compresses rows of more than some 2 KB. Lines are unpacked by LZ4 in a fifth of the
	// time of its default, and take a third of the room. Not every build has it.
	compressLines = `
		do $$ begin
			if (select 'lz4' = any (enumvals) from pg_settings where name = 'default_toast_compression') then
				execute 'alter table darrm.commits alter column lines set compression lz4';
			end if;
		end $$`

	// Two that make tables at once could both find none.
	makeAlone = `select pg_advisory_xact_lock(hashtext('darrm ledger'))`

	hasLedger = `
		select exists (select from darrm.commits where ledger = $1) or exists (select from darrm.heads where ledger = $1)`
)

// Create implements [ledger.Store]. A head without lines is refused like a ledger: a deleted
// ledger must not come back with a fresh budget.
func (s *store) Create(ctx context.Context, first func() ([]byte, error)) error {
	conn, _, err := s.take(ctx)
	if err != nil {
		return err
	}
	defer s.put(conn)
	var inFirst error
	err = pgx.BeginFunc(ctx, conn, func(t pgx.Tx) error {
		if _, err := t.Exec(ctx, makeAlone); err != nil {
			return err
		}
		there := false
		if err := t.QueryRow(ctx, hasTables).Scan(&there); err != nil {
			return err
		}
		if !there {
			if _, err := t.Exec(ctx, makeTables+";"+makeKept+";"+compressLines); err != nil {
				return err
			}
		}
		if err := t.QueryRow(ctx, hasLedger, s.name).Scan(&there); err != nil {
			return err
		}
		var line []byte
		if there {
			inFirst = presence{fmt.Sprintf("the database has a ledger %q already", s.name), fs.ErrExist}
		} else {
			line, inFirst = first()
		}
		if inFirst != nil {
			return inFirst
		}
		if _, err := t.Exec(ctx, insertCommit, s.name, 0, string(line), ""); err != nil {
			return err
		}
		_, err := t.Exec(ctx, insertHead, s.name, "")
		return err
	})
	switch {
	case err == nil:
		return nil
	case inFirst != nil:
		return inFirst
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return fmt.Errorf("%w: %w", ledger.ErrUnavailable, err)
}
