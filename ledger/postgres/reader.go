package postgres

import (
	"fmt"
	"io"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/darrm/darrm/ledger"
)

const (
	firstRead = 64 << 10 // most looks find little that is new
	mostRead  = 4 << 20
)

// The commits that begin in [$2, $3). Bytes bound what is held in memory, where a number of
// rows would not.
const readCommits = `
	select begins, lines from darrm.commits
	where ledger = $1 and begins >= $2 and begins < $3 order by begins`

// The commit that byte $2 is in, and those that follow it, if they begin before $3.
const readFirst = `
	select begins, lines from darrm.commits
	where ledger = $1 and begins < $3 and begins >=
		(select max(begins) from darrm.commits where ledger = $1 and begins <= $2)
	order by begins`

// Lines implements [ledger.Tx].
func (t *tx) Lines(from int64) io.Reader {
	return &reader{tx: t, from: from, next: -1, most: firstRead}
}

// reader reads the lines of commits, in pieces of about most bytes.
type reader struct {
	tx   *tx
	from int64 // the first byte that is wanted
	next int64 // where the next commit begins; -1 before the first
	most int64
	end  bool   // no commit begins at next: the transaction sees all of them
	room []byte // for the lines of a piece
	rest []byte // read and not returned yet
	err  error
}

func (r *reader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 && r.err == nil {
		r.err = r.fill()
	}
	if len(r.rest) == 0 {
		return 0, r.err
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// fill reads the next piece; io.EOF where there is none.
func (r *reader) fill() error {
	if r.end {
		return io.EOF
	}
	ctx, cancel := r.tx.call()
	defer cancel()
	statement, at, skip := readCommits, r.next, int64(0)
	if r.next < 0 {
		statement, at = readFirst, r.from
	}
	past := at + r.most
	rows, err := r.tx.tx.Query(ctx, statement, r.tx.store.name, at, past)
	if err != nil {
		return r.tx.store.unavailable(err)
	}
	defer rows.Close()
	r.most = min(2*r.most, mostRead)
	piece := r.room[:0]
	for rows.Next() {
		var begins int64
		var lines pgtype.DriverBytes // in the room of pgx, until the next row
		if err := rows.Scan(&begins, &lines); err != nil {
			return err
		}
		if r.next < 0 {
			r.next, skip = begins, r.from-begins
		}
		if begins != r.next {
			return fmt.Errorf("%w: the commit before byte %d ends at byte %d", ledger.ErrDamaged, begins,
				r.next)
		}
		r.next += int64(len(lines))
		piece = append(piece, lines...)
	}
	switch err := rows.Err(); {
	case err != nil:
		return r.tx.store.unavailable(err)
	case int64(len(piece)) <= skip:
		return io.EOF
	}
	r.room = piece
	// A commit that began here would have been among those read.
	r.end = r.next < past
	r.rest = piece[skip:]
	return nil
}
