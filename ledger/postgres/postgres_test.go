package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/darrm/darrm/internal/testing/ledgersuite"
	"github.com/darrm/darrm/internal/testing/pgtest"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/ledger/postgres"
)

func open(t testing.TB, location string) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Open(t.Context(), location)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// COMMIT is lost on the way there or the answer on the way back: whoever gets a receipt is
// charged, once, and a charge whose fate cannot be found out has no receipt.
func TestLostCommit(t *testing.T) {
	s := pgtest.Start(t)
	p := newProxy(t, s)
	secret := filepath.Join(t.TempDir(), "secret")
	direct := s.URL("ledger=x&secret=" + secret)
	through := p.through(direct)
	l := ledgersuite.Create(t, through, 100)
	for i, f := range []fault{loseAnswer, loseRequest, loseAnswer, loseRequest} {
		p.plan(f)
		receipt, err := l.Charge(t.Context(), ledgersuite.Request(fmt.Sprint(i)))
		if err != nil || receipt.Redeem() != nil {
			t.Fatalf("fault %d: %v", f, err)
		}
		ledgersuite.MustSpend(t, l, i+1)
	}
	if p.hits != 4 {
		t.Fatalf("%d faults", p.hits)
	}
	entries, err := open(t, direct).History(t.Context())
	if err != nil || len(entries) != 4 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}

	defer postgres.SetResolveTime(300 * time.Millisecond)()
	p.plan(loseAll)
	if receipt, err := l.Charge(t.Context(), ledgersuite.Request("unknown")); !errors.Is(err,
		ledger.ErrWrite) || receipt != nil {
		t.Errorf("an unknown outcome: %v", err)
	}
	if _, err := l.Charge(t.Context(), ledgersuite.Request("after")); !errors.Is(err,
		ledger.ErrBroken) {
		t.Errorf("the handle goes on: %v", err)
	}
	p.plan(none)
	l = open(t, through)
	var replayed *ledger.ReplayedError
	if _, err := l.Charge(t.Context(), ledgersuite.Request("unknown")); !errors.As(err, &replayed) {
		t.Errorf("asked again: %v", err) // it was stored
	}
	ledgersuite.MustSpend(t, l, 5)
}

// No error of the query for an outcome makes an unknown outcome a certain one. Here the charge was
// stored, and the database asks for the query to be repeated when the time for it is over.
func TestUnknownStaysUnknown(t *testing.T) {
	s := pgtest.Start(t)
	p := newProxy(t, s)
	direct := location(t, s)
	ledgersuite.Create(t, direct, 100)
	l := open(t, p.through(direct))
	for _, statement := range []string{
		`create table public.committed (x int)`,
		`create function public.again() returns boolean language plpgsql as $$ begin
			if exists (select from public.committed) then raise exception 'again' using errcode = '40001'; end if;
			return true; end $$`,
		`alter table darrm.heads rename to all_heads`,
		`create view darrm.heads as select * from darrm.all_heads where public.again()`,
	} {
		s.Exec(t, statement)
	}
	atCommit(t, s, `insert into public.committed values (1)`)
	defer postgres.SetResolveTime(500 * time.Millisecond)()
	p.plan(loseAnswer)
	receipt, err := l.Charge(t.Context(), ledgersuite.Request("x"))
	if receipt != nil || !errors.Is(err, ledger.ErrWrite) || errors.Is(err, ledger.ErrUnavailable) ||
		errors.Is(err, ledger.ErrRetry) {
		t.Errorf("an unknown outcome: %v", err)
	}
	if _, err := l.Charge(t.Context(), ledgersuite.Request("y")); !errors.Is(err, ledger.ErrBroken) {
		t.Errorf("the handle goes on: %v", err)
	}
	s.Exec(t, `delete from public.committed`)
	ledgersuite.MustSpend(t, open(t, direct), 1)
}

// What goes wrong before COMMIT is sent stores nothing for certain, and the same handle goes on:
// a statement that is refused, and a connection that breaks at it.
func TestLostBeforeCommit(t *testing.T) {
	s := pgtest.Start(t)
	l := ledgersuite.Create(t, location(t, s), 100)
	for i, statement := range []string{
		`create or replace function at_insert() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$`,
		`create or replace function at_insert() returns trigger language plpgsql as $$ begin perform pg_terminate_backend(pg_backend_pid()); return new; end $$`,
	} {
		s.Exec(t, statement)
		s.Exec(t, `create trigger at_insert before insert on darrm.commits for each row execute function at_insert()`)
		if receipt, err := l.Charge(t.Context(), ledgersuite.Request("x")); receipt != nil ||
			!errors.Is(err, ledger.ErrUnavailable) || errors.Is(err, ledger.ErrWrite) {
			t.Errorf("%d: %v", i, err)
		}
		ledgersuite.MustSpend(t, l, i)
		s.Exec(t, `drop trigger at_insert on darrm.commits`)
		if _, err := l.Charge(t.Context(), ledgersuite.Request(fmt.Sprint(i))); err != nil {
			t.Errorf("%d: afterwards: %v", i, err)
		}
	}
}

// Another server commits at the place where a lost COMMIT would have: its commit is not taken for
// the lost one.
func TestPlaceTaken(t *testing.T) {
	s := pgtest.Start(t)
	p := newProxy(t, s)
	direct := location(t, s)
	l := ledgersuite.Create(t, direct, 100)
	through := open(t, p.through(direct))
	p.plan(loseRequest)
	p.lost = func() {
		if _, err := l.Charge(t.Context(), ledgersuite.Request("other")); err != nil {
			t.Error(err)
		}
	}
	if _, err := through.Charge(t.Context(), ledgersuite.Request("lost")); err != nil {
		t.Error(err)
	}
	ledgersuite.MustSpend(t, l, 2)
	ledgersuite.MustSpend(t, through, 2)
}

// atCommit makes the database run a statement of PL/pgSQL when a transaction that added to
// ledgers commits.
func atCommit(t *testing.T, s *pgtest.Server, statement string) {
	t.Helper()
	s.Exec(t, `drop trigger if exists at_commit on darrm.commits`)
	s.Exec(t, `create or replace function at_commit() returns trigger language plpgsql as $$ begin `+
		statement+`; return null; end $$`)
	s.Exec(t, `create constraint trigger at_commit after insert on darrm.commits deferrable initially deferred for each row execute function at_commit()`)
}

// The answer to a COMMIT that takes its time is lost at once: whoever asks what came of it waits
// until it is decided, instead of making the database choose between it and another try.
func TestSlowCommit(t *testing.T) {
	s := pgtest.Start(t)
	p := newProxy(t, s)
	direct := location(t, s)
	ledgersuite.Create(t, direct, 100)
	l := open(t, p.through(direct))
	s.Exec(t, `create sequence tries`)
	atCommit(t, s, `perform nextval('tries'), pg_sleep(1)`)
	p.plan(loseAnswer)
	if _, err := l.Charge(t.Context(), ledgersuite.Request("x")); err != nil {
		t.Error(err)
	}
	ledgersuite.MustSpend(t, l, 1)
	tries := 0
	if err := connect(t, s).QueryRow(t.Context(), `select last_value from tries`).Scan(&tries); err !=
		nil || tries != 1 {
		t.Errorf("%d transactions for one charge, %v", tries, err)
	}
}

// A COMMIT that the database refuses stores nothing. It is tried again only where the database
// names another transaction as the reason.
func TestRefusedCommit(t *testing.T) {
	s := pgtest.Start(t)
	l := ledgersuite.Create(t, location(t, s), 100)
	atCommit(t, s, `raise exception 'no'`)
	if receipt, err := l.Charge(t.Context(), ledgersuite.Request("x")); !errors.Is(err,
		ledger.ErrUnavailable) || receipt != nil {
		t.Errorf("refused: %v", err)
	}
	s.Exec(t, `create sequence tries`)
	atCommit(t, s, `if nextval('tries') < 4 then raise exception 'again' using errcode = '40001'; end if`)
	if _, err := l.Charge(t.Context(), ledgersuite.Request("x")); err != nil {
		t.Error(err)
	}
	ledgersuite.MustSpend(t, l, 1)
}

// A ledger without its row in heads, which nobody charged yet, is not charged: its lock and its
// anchor would be nobody's.
func TestHeadIsLost(t *testing.T) {
	s := pgtest.Start(t)
	url := location(t, s)
	l := ledgersuite.Create(t, url, 100)
	s.Exec(t, `delete from darrm.heads where ledger = $1`, nameOf(url))
	if receipt, err := l.Charge(t.Context(), ledgersuite.Request("x")); err == nil || receipt != nil {
		t.Errorf("charged: %v", err)
	}
	commits := 0
	if err := connect(t, s).QueryRow(t.Context(),
		`select count(*) from darrm.commits`).Scan(&commits); err != nil || commits != 1 {
		t.Errorf("%d commits, the first line's among them: %v", commits, err)
	}
}

// A server that does not keep what it acknowledged is not charged. Looking is allowed.
func TestUnsafeServer(t *testing.T) {
	for _, setting := range []string{"synchronous_commit=off", "fsync=off"} {
		s := pgtest.Start(t, setting)
		url := location(t, s)
		budget, err := ledger.NewBudget(1, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = ledger.Create(t.Context(), url, budget, ledger.ReplaceOne)
		if !errors.Is(err, ledger.ErrUnavailable) ||
			!strings.Contains(err.Error(), strings.Replace(setting, "=", " is ", 1)) {
			t.Errorf("%s: create: %v", setting, err)
		}
		l := open(t, url)
		if _, err := l.Charge(t.Context(), ledgersuite.Request("x")); !errors.Is(err,
			ledger.ErrUnavailable) {
			t.Errorf("%s: charge: %v", setting, err)
		}
		if _, err := l.State(t.Context()); err != nil {
			t.Errorf("%s: a look alone: %v", setting, err)
		}
		if err := l.Ready(t.Context()); !errors.Is(err, ledger.ErrUnavailable) {
			t.Errorf("%s: ready: %v", setting, err)
		}
		ledgersuite.MustSpend(t, l, 0)
	}
}

// One server for what needs no other settings.
func TestServer(t *testing.T) {
	s := pgtest.Start(t)
	for name, test := range map[string]func(*testing.T, *pgtest.Server){
		"waited": waited, "one state": oneState, "wait": waitEnds, "damage": damage, "rolled back": rolledBack,
		"adopt": adopt,
		"roles": roles, "several ledgers": several, "restart": restart, "created at once": createdAtOnce,
		"encoding": encoding,
	} {
		t.Run(name, func(t *testing.T) { test(t, s) })
	}
}

func connect(t *testing.T, s *pgtest.Server) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.URL(""))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

// nameOf is the ledger of a location.
func nameOf(location string) string {
	_, name, _ := strings.Cut(location, "ledger=")
	name, _, _ = strings.Cut(name, "&")
	return name
}

// whileLocked runs call while another transaction holds the ledger's row, and change in that transaction
// once call waits.
func whileLocked(t *testing.T, s *pgtest.Server, name string, change func(pgx.Tx) error, call func()) {
	t.Helper()
	ctx := t.Context()
	conn, watch := connect(t, s), connect(t, s)
	tx, err := conn.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(ctx, `select from darrm.heads where ledger = $1 for update`, name); err !=
		nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { defer close(done); call() }()
	for waiting := 0; waiting == 0; time.Sleep(time.Millisecond) {
		select {
		case <-done:
			t.Fatal("nobody waits for the lock")
		default:
		}
		if err := watch.QueryRow(ctx, `select count(*) from pg_locks where not granted`).Scan(
			&waiting); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(change(tx), tx.Commit(ctx)); err != nil {
		t.Fatal(err)
	}
	<-done
}

// Who waited for another server's commit sees it, in the anchor and in the lines, without beginning
// again: what a statement reads is what was committed when that statement began, not when the
// transaction did. A charge then follows it.
func waited(t *testing.T, s *pgtest.Server) {
	url := location(t, s)
	name := nameOf(url)
	l := ledgersuite.Create(t, url, 10)
	var size int64
	conn := connect(t, s)
	const last = `select max(begins) from darrm.commits where ledger = $1`
	charge := func(id string) {
		t.Helper()
		if _, err := l.Charge(t.Context(), ledgersuite.Request(id)); err != nil {
			t.Fatal(err)
		}
	}
	charge("a")
	head := `select anchor from darrm.heads where ledger = $1`
	var before, anchor, lines string
	if err := conn.QueryRow(t.Context(), head, name).Scan(&before); err != nil {
		t.Fatal(err)
	}
	// The other server's commit is one that was made and taken back.
	charge("b")
	if err := errors.Join(conn.QueryRow(t.Context(), head, name).Scan(&anchor),
		conn.QueryRow(t.Context(), last, name).Scan(&size),
		conn.QueryRow(t.Context(), `delete from darrm.commits where ledger = $1 and begins = $2 returning lines`,
			name, size).Scan(&lines)); err != nil {
		t.Fatal(err)
	}
	s.Exec(t, `create table kept (ledger text, begins bigint, lines text, anchor text)`)
	s.Exec(t, `insert into kept values ($1, $2, $3, $4)`, name, size, lines, anchor)
	s.Exec(t, `update darrm.heads set anchor = $2 where ledger = $1`, name, before)
	again := func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), `
		with other as (insert into darrm.commits select ledger, begins, lines, '' from kept)
		update darrm.heads h set anchor = kept.anchor from kept where h.ledger = $1 and kept.ledger = $1`, name)
		return err
	}

	store, err := postgres.OpenStore(url)
	if err != nil {
		t.Fatal(err)
	}
	whileLocked(t, s, name, again, func() {
		tx, err := store.Begin(t.Context(), true)
		if err != nil {
			t.Error(err)
			return
		}
		defer tx.Close()
		if got, err := tx.Anchor(); err != nil || string(got) != anchor {
			t.Errorf("anchor %s, %v; want %s", got, err, anchor)
		}
		if got, err := io.ReadAll(tx.Lines(size)); err != nil || string(got) != lines {
			t.Errorf("lines %s, %v; want %s", got, err, lines)
		}
	})

	s.Exec(t, `delete from darrm.commits where ledger = $1 and begins = $2`, name, size)
	s.Exec(t, `update darrm.heads set anchor = $2 where ledger = $1`, name, before)
	l = open(t, url) // knows the first commit alone
	whileLocked(t, s, name, again, func() { charge("c") })
	ledgersuite.MustSpend(t, l, 3)
	entries, err := l.History(t.Context())
	if err != nil || len(entries) != 3 || entries[1].ID != "b" || entries[2].ID != "c" {
		t.Errorf("%+v, %v", entries, err)
	}
}

// A look sees one state, whatever is committed while it reads; also one that reads several pieces.
func oneState(t *testing.T, s *pgtest.Server) {
	url := location(t, s)
	l := ledgersuite.Create(t, url, 10)
	big := ledgersuite.Request("big")
	big.Event = fmt.Appendf(nil, "%q", strings.Repeat("x", ledger.MaxEvent-100))
	for i := range 3 {
		big.ID = fmt.Sprint("big ", i)
		if _, err := l.Charge(t.Context(), big); err != nil {
			t.Fatal(err)
		}
	}
	store, err := postgres.OpenStore(url)
	if err != nil {
		t.Fatal(err)
	}
	tx, err := store.Begin(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Close()
	anchor, err := tx.Anchor()
	if err != nil || !strings.Contains(string(anchor), `"commit":3`) {
		t.Fatalf("%s, %v", anchor, err)
	}
	if _, err := l.Charge(t.Context(), ledgersuite.Request("later")); err != nil {
		t.Fatal(err)
	}
	lines, err := io.ReadAll(tx.Lines(0))
	if err != nil || strings.Count(string(lines), "\n") != 7 || strings.Contains(string(lines), "later") {
		t.Errorf("%d bytes of lines, %v", len(lines), err)
	}
}

// Waiting for another server ends with the context, and the handle is good.
func waitEnds(t *testing.T, s *pgtest.Server) {
	url := location(t, s)
	l := ledgersuite.Create(t, url, 10)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	giveUp := func(pgx.Tx) error {
		cancel()
		<-ended
		return nil
	}
	whileLocked(t, s, nameOf(url), giveUp, func() {
		defer close(ended)
		if _, err := l.Charge(ctx, ledgersuite.Request("x")); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	ledgersuite.MustSpend(t, l, 0)
	if _, err := l.Charge(t.Context(), ledgersuite.Request("x")); err != nil {
		t.Error(err)
	}
}

// Whatever is changed in the tables is seen by who opens the ledger, and by who has it open and
// charges next.
func damage(t *testing.T, s *pgtest.Server) {
	for what, statement := range map[string]string{
		"another count":            `update darrm.commits set lines = replace(lines, '"count":1', '"count":2') where ledger = $1 and begins > 0`,
		"another budget":           `update darrm.commits set lines = replace(lines, '"epsilon":"9', '"epsilon":"8') where ledger = $1 and begins = 0`,
		"the last commit is gone":  `delete from darrm.commits where ledger = $1 and begins = (select max(begins) from darrm.commits where ledger = $1)`,
		"a commit is gone":         `delete from darrm.commits where ledger = $1 and begins = (select min(begins) from darrm.commits where ledger = $1 and begins > 0)`,
		"the first line is gone":   `delete from darrm.commits where ledger = $1 and begins = 0`,
		"a line is cut short":      `update darrm.commits set lines = left(lines, -9) where ledger = $1 and begins = (select max(begins) from darrm.commits where ledger = $1)`,
		"more lines":               `update darrm.commits set lines = lines || 'x' where ledger = $1 and begins = (select max(begins) from darrm.commits where ledger = $1)`,
		"the head is gone":         `delete from darrm.heads where ledger = $1`,
		"the head is empty":        `update darrm.heads set anchor = '' where ledger = $1`,
		"the head says less spent": `update darrm.heads set anchor = replace(anchor, '"epsilon":"3', '"epsilon":"2') where ledger = $1`,
	} {
		url := location(t, s)
		l := ledgersuite.Create(t, url, 9)
		for i := range 3 {
			if _, err := l.Charge(t.Context(), ledgersuite.Request(fmt.Sprint(i))); err != nil {
				t.Fatal(err)
			}
		}
		s.Exec(t, statement, nameOf(url))
		if _, err := ledger.Open(t.Context(), url); !errors.Is(err, ledger.ErrDamaged) {
			t.Errorf("%s: open: %v", what, err)
		}
		if err := l.Verify(t.Context()); !errors.Is(err, ledger.ErrDamaged) {
			t.Errorf("%s: verify: %v", what, err)
		}
	}
}

// An older state of both tables is whole by itself. A handle that is open sees it, and so does
// who kept a head.
func rolledBack(t *testing.T, s *pgtest.Server) {
	url := location(t, s)
	l := ledgersuite.Create(t, url, 9)
	name := nameOf(url)
	if _, err := l.Charge(t.Context(), ledgersuite.Request("a")); err != nil {
		t.Fatal(err)
	}
	s.Exec(t, `create table old_head as select * from darrm.heads`)
	if _, err := l.Charge(t.Context(), ledgersuite.Request("b")); err != nil {
		t.Fatal(err)
	}
	pin, err := l.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.Exec(t, `delete from darrm.commits where ledger = $1 and begins = (select max(begins) from darrm.commits where ledger = $1)`, name)
	s.Exec(t, `update darrm.heads set anchor = (select anchor from old_head where ledger = $1) where ledger = $1`, name)
	again := open(t, url)
	ledgersuite.MustSpend(t, again, 1) // not seen: nothing outside the database says otherwise
	if err := again.Verify(t.Context(), pin); !errors.Is(err, ledger.ErrRolledBack) {
		t.Errorf("verify with a pinned head: %v", err)
	}
	if receipt, err := l.Charge(t.Context(), ledgersuite.Request("c")); !errors.Is(err,
		ledger.ErrRolledBack) || receipt != nil {
		t.Errorf("a handle that was open: %v", err)
	}
}

// A lost head is made again by who kept one, and by nobody else.
func adopt(t *testing.T, s *pgtest.Server) {
	url := location(t, s)
	l := ledgersuite.Create(t, url, 9)
	for i := range 2 {
		if _, err := l.Charge(t.Context(), ledgersuite.Request(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	pin, err := l.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.Exec(t, `delete from darrm.heads where ledger = $1`, nameOf(url))
	if _, err := ledger.Adopt(t.Context(), url, ledger.Head{Seq: 2}); !errors.Is(err,
		ledger.ErrRolledBack) {
		t.Errorf("a head of another ledger: %v", err)
	}
	again, err := ledger.Adopt(t.Context(), url, pin)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.Charge(t.Context(), ledgersuite.Request("more")); err != nil {
		t.Error(err)
	}
	ledgersuite.MustSpend(t, again, 3)
}

// The rights that the documentation names are enough, and no more is done with less.
func roles(t *testing.T, s *pgtest.Server) {
	url := location(t, s)
	l := ledgersuite.Create(t, url, 9)
	for _, statement := range []string{
		`create role charger login`, `create role viewer login`,
		`grant usage on schema darrm to charger, viewer`,
		`grant select on darrm.commits, darrm.heads to charger, viewer`,
		`grant insert on darrm.commits to charger`, `grant update (anchor) on darrm.heads to charger`,
	} {
		s.Exec(t, statement)
	}
	as := func(role string) *ledger.Ledger {
		return open(t, strings.Replace(url, "//darrm@", "//"+role+"@", 1))
	}
	if _, err := as("charger").Charge(t.Context(), ledgersuite.Request("x")); err != nil {
		t.Error(err)
	}
	if err := as("charger").Keep(t.Context(), ledger.Digest{1}, nil); !errors.Is(err, ledger.ErrKept) {
		t.Errorf("a charger without the right keeps: %v", err)
	}
	s.Exec(t, `grant select, insert on darrm.tables to charger`)
	if err := as("charger").Keep(t.Context(), ledger.Digest{1}, []byte("x")); err != nil {
		t.Error(err)
	}
	s.Exec(t, `drop table darrm.tables`) // as in a database of before
	if err := as("charger").Keep(t.Context(), ledger.Digest{1}, nil); !errors.Is(err, ledger.ErrKept) {
		t.Errorf("a charger makes tables: %v", err)
	}
	if _, err := l.Kept(t.Context(), ledger.Digest{1}); !errors.Is(err, ledger.ErrKept) {
		t.Errorf("no table: %v", err)
	}
	if err := l.Keep(t.Context(), ledger.Digest{1}, []byte("x")); err != nil {
		t.Errorf("the owner: %v", err)
	}
	viewer := as("viewer")
	ledgersuite.MustSpend(t, viewer, 1)
	if _, err := viewer.Charge(t.Context(), ledgersuite.Request("y")); !errors.Is(err,
		ledger.ErrUnavailable) || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("a viewer charges: %v", err)
	}
	ledgersuite.MustSpend(t, l, 1)
}

// Ledgers of one database do not know each other, and none is mistaken for one that is missing.
func several(t *testing.T, s *pgtest.Server) {
	a, b := ledgersuite.Create(t, location(t, s), 1), ledgersuite.Create(t, location(t, s), 1)
	for _, l := range []*ledger.Ledger{a, b} {
		if _, err := l.Charge(t.Context(), ledgersuite.Request("x")); err != nil {
			t.Error(err)
		}
		ledgersuite.MustSpend(t, l, 1)
	}
	if _, err := ledger.Open(t.Context(), location(t, s)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a ledger that is not there: %v", err)
	}
	url := location(t, s)
	ledgersuite.Create(t, url, 1)
	s.Exec(t, `delete from darrm.commits where ledger = $1`, nameOf(url))
	if _, err := ledger.Create(t.Context(), url, a.Budget(), ledger.ReplaceOne); !errors.Is(err,
		fs.ErrExist) {
		t.Errorf("a deleted ledger came back: %v", err)
	}
}

// A handle outlives a restart of the server between two calls.
func restart(t *testing.T, s *pgtest.Server) {
	l := ledgersuite.Create(t, location(t, s), 9)
	for i := range 3 {
		if _, err := l.Charge(t.Context(), ledgersuite.Request(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
		s.Kill()
		if _, err := l.Charge(t.Context(), ledgersuite.Request("nobody there")); !errors.Is(err,
			ledger.ErrUnavailable) {
			t.Errorf("without a server: %v", err)
		}
		s.Restart(t)
		ledgersuite.MustSpend(t, l, i+1)
	}
}

func createdAtOnce(t *testing.T, s *pgtest.Server) {
	s.Exec(t, `drop schema if exists darrm cascade`)
	url := location(t, s)
	var made atomic.Int32
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			budget, _ := ledger.NewBudget(1, 0)
			switch _, err := ledger.Create(t.Context(), url, budget, ledger.ReplaceOne); {
			case err == nil:
				made.Add(1)
			case !errors.Is(err, fs.ErrExist):
				t.Error(err)
			}
		})
	}
	all.Wait()
	if made.Load() != 1 {
		t.Errorf("made %d times", made.Load())
	}
	s.Exec(t, `do $$ begin
		if (select 'lz4' = any (enumvals) from pg_settings where name = 'default_toast_compression') and
			(select attcompression <> 'l' from pg_attribute
				where attrelid = 'darrm.commits'::regclass and attname = 'lines') then
			raise 'lines are not compressed by LZ4';
		end if;
	end $$`)
}

// kill -9 of the server, again and again, while clients charge and ask again what was not
// answered. 500 kills if long.
func TestServerKilled(t *testing.T) {
	kills := 5
	if ledgersuite.Long() {
		kills = 500
	}
	s := pgtest.Start(t)
	url := location(t, s)
	ledgersuite.Create(t, url, 1e9)
	ctx, stop := context.WithCancel(t.Context())
	var mu sync.Mutex
	answered := map[string]int{}
	counts := map[string]int{}
	var all sync.WaitGroup
	var shared [3]*ledger.Ledger
	for c := range 3 { // as three servers
		for g := range 4 {
			l := open(t, url) // some share one
			if g%2 == 1 {
				l = shared[c]
			}
			shared[c] = l
			all.Go(func() {
				for i := 0; ctx.Err() == nil; i++ {
					id := fmt.Sprintf("%d-%d-%d", c, g, i)
					for asked := true; asked && ctx.Err() == nil; {
						receipt, err := l.Charge(context.Background(), ledgersuite.Request(id))
						mu.Lock()
						counts[outcome(err)]++
						switch asked = false; {
						case err == nil && receipt.Redeem() == nil:
							answered[id]++
						case errors.Is(err, ledger.ErrUnavailable):
							asked = true
						case errors.Is(err, ledger.ErrWrite), errors.Is(err, ledger.ErrBroken):
							// what came of it was not found out
							if again, err := ledger.Open(context.Background(), url); err == nil {
								l = again
							}
							asked = true
						case !errors.Is(err, ledger.ErrReplayed):
							t.Errorf("%s: %v", id, err)
						}
						mu.Unlock()
						if asked {
							time.Sleep(5 * time.Millisecond)
						}
					}
				}
			})
		}
	}
	for range kills {
		time.Sleep(time.Duration(20+time.Now().UnixNano()%100) * time.Millisecond)
		s.Kill()
		s.Restart(t)
	}
	time.Sleep(50 * time.Millisecond)
	stop()
	all.Wait()
	entries, err := open(t, url).History(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	charged := map[string]bool{}
	for _, e := range entries {
		charged[e.ID] = true
	}
	for id, n := range answered {
		if n != 1 || !charged[id] {
			t.Errorf("%s was answered %d times, charged: %t", id, n, charged[id])
		}
	}
	t.Logf("%d kills, %d answers, %d charges; outcomes %v", kills, len(answered), len(charged), counts)
	if len(answered) < kills || len(charged) < len(answered) {
		t.Errorf("%d answers and %d charges in %d kills", len(answered), len(charged), kills)
	}
}

func outcome(err error) string {
	for _, kind := range []error{ledger.ErrUnavailable, ledger.ErrWrite, ledger.ErrBroken,
		ledger.ErrReplayed} {
		if errors.Is(err, kind) {
			return kind.Error()
		}
	}
	if err != nil {
		return err.Error()
	}
	return "answered"
}

// Of several servers the one is asked that takes charges, wherever it stands in the location. One
// that takes none has an older state, if it has any, and looks like a rollback.
func TestSeveralHosts(t *testing.T) {
	standby, primary := pgtest.Start(t, "default_transaction_read_only=on"), pgtest.Start(t)
	direct := location(t, primary)
	ledgersuite.Create(t, direct, 3)
	for i, hosts := range []string{standby.Dir() + "," + primary.Dir(),
		primary.Dir() + "," + standby.Dir(), standby.Dir() + "," + primary.Dir() +
			"&target_session_attrs=any"} {
		l, err := ledger.Open(t.Context(), strings.Replace(direct, "host="+primary.Dir(), "host="+hosts,
			1))
		if err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		if _, err := l.Charge(t.Context(), ledgersuite.Request(fmt.Sprint(i))); err != nil {
			t.Errorf("%d: %v", i, err)
		}
	}
}

// No error and no report shows a password, whether or not the location can be read.
func TestNoPassword(t *testing.T) {
	const password = "geheim"
	t.Setenv("PGPASSFILE", os.DevNull)
	for _, location := range []string{
		"postgres://me:geheim@127.0.0.1:1/db?ledger=x",
		"postgres://me@127.0.0.1:1/db?ledger=x&password=geheim",
		"postgres://me:geheim@127.0.0.1:1/db",
		"postgres://me:geheim@127.0.0.1:port/db?ledger=x",
		"postgres://me:geheim@[::1/db?ledger=x",
		"postgres://me:geheim%@127.0.0.1:1/db?ledger=x",
		"postgres://me:geheim@127.0.0.1:1/db?ledger=x&sslmode=geheim",
		"postgres://me:geheim@127.0.0.1:1/db?ledger=x&sslrootcert=/nowhere&sslmode=verify-full",
		"postgres://me:geheim@h1:1,h2:2/db?ledger=a%0Ab",
		"postgres://me:geheim@127.0.0.1:1,127.0.0.1:2/db?ledger=x",
		"POSTGRESQL://me:geheim@127.0.0.1:1/db?ledger=x",
		"other://me:geheim@host/db?ledger=x",
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		_, err := ledger.Open(ctx, location)
		cancel()
		if err == nil || strings.Contains(err.Error(), password) {
			t.Errorf("%s: %v", location, err)
		}
		if shown := ledger.Display(location); strings.Contains(shown, password) ||
			!strings.Contains(shown, "://") {
			t.Errorf("%s is shown as %s", location, shown)
		}
	}
	if _, err := ledger.Open(t.Context(), "postgres://me:geheim@127.0.0.1:1/db?ledger=x"); !errors.Is(
		err, ledger.ErrUnavailable) {
		t.Errorf("nobody listens: %v", err)
	}
}

// Without the file of the secret no votes are digested, and the error names the setting for its
// path.
func TestSecretFile(t *testing.T) {
	s := pgtest.Start(t)
	budget, err := ledger.NewBudget(1, 0)
	if err != nil {
		t.Fatal(err)
	}
	url := s.URL("ledger=secret")
	if _, err := ledger.Create(t.Context(), url, budget, ledger.ReplaceOne); !errors.Is(err,
		ledger.ErrSecret) || !strings.Contains(err.Error(), postgres.SecretEnv) {
		t.Errorf("create without a secret: %v", err)
	}
	path := filepath.Join(t.TempDir(), "secret")
	t.Setenv(postgres.SecretEnv, path)
	l, err := ledger.Create(t.Context(), url, budget, ledger.ReplaceOne)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.VoteHash(); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	os.Remove(path)
	if _, err := l.VoteHash(); !errors.Is(err, ledger.ErrSecret) {
		t.Errorf("the secret is gone: %v", err)
	}
}

// Servers read the same bytes, whatever encoding their surroundings ask for.
func encoding(t *testing.T, s *pgtest.Server) {
	url := location(t, s)
	l := ledgersuite.Create(t, url, 10)
	r := ledgersuite.Request("Größe")
	if _, err := l.Charge(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PGCLIENTENCODING", "LATIN1")
	for i, at := range []string{url, url + "&client_encoding=LATIN1"} {
		other := open(t, at)
		if entries, err := other.History(t.Context()); err != nil || entries[0].ID != r.ID {
			t.Errorf("%v, %v", entries, err)
		}
		if _, err := other.Charge(t.Context(), ledgersuite.Request(fmt.Sprint("Größe ", i))); err != nil {
			t.Error(err)
		}
	}
	ledgersuite.MustSpend(t, l, 3)
}
