package data

import (
	"context"
	"io"
	"runtime"

	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/textrows"
)

// partBytes is the size of a part of a text.
const partBytes = 1 << 19

// Parts calls read with tables of the rows that are left, part by part, on several goroutines, and take with what it
// returns, in the order of the rows and from one goroutine. A text of separated cells and an array have many parts, any
// other table is one. The first error in that order ends it.
func Parts[R any](t *Table, read func(part *Table) (R, error), take func(R) error) error {
	t = handle.Made(t)
	if t.split == nil {
		r, err := read(t)
		if err != nil {
			return err
		}
		return take(r)
	}
	type result struct {
		r   R
		err error
	}
	parse := func(part Table) (out result) {
		part.Columns, part.Kinds, part.Named, part.DecimalComma = t.Columns, t.Kinds, t.Named, t.DecimalComma
		out.r, out.err = read(&part)
		return out
	}
	if t.first != nil {
		first := parse(Table{first: t.first, line: t.line})
		if t.first = nil; first.err != nil {
			return first.err
		}
		if err := take(first.r); err != nil {
			return err
		}
	}
	next := t.split()
	t.next, t.split = nil, nil
	ctx, cancel := context.WithCancel(context.Background())
	p := textrows.InOrder(ctx, runtime.GOMAXPROCS(0), next,
		func(part func() Table) result { return parse(part()) },
		func(err error) result { return result{err: err} })
	defer func() {
		cancel()
		<-p.Done // the source is not read any more
	}()
	for {
		out, err := p.Next()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case out.err != nil:
			return out.err
		}
		if err := take(out.r); err != nil {
			return err
		}
	}
}
