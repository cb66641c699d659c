package release

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/ledger"
)

// guard refuses to replace what the output has already, before anything is charged. Only the same
// request may find its own result there, which stays as it is. What the ledger knows as another
// request's result is paid for, and perhaps nowhere else: nothing replaces it. Anything else is
// replaced where Force states that. Without a ledger [CheckOverwrite] is the guard. A device and a
// pipe have nothing that could be replaced. Cost: where something is there, that of reading it and
// the ledger.
func (t *Transaction) guard(ctx context.Context) error {
	if t.Ledger == nil {
		return nil
	}
	f, err := t.Output.Open(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil { // nobody knows what it is
		return &OutputError{fmt.Errorf("%s, but what is there cannot be read: %w", t.place(), err)}
	}
	there, err := digestOf(func(w io.Writer) error { _, err := io.Copy(w, f); return err })
	if err = errors.Join(err, f.Close()); err != nil {
		return &OutputError{fmt.Errorf("%s, but what is there cannot be read: %w", t.place(), err)}
	}
	switch whose, err := resultOf(ctx, t.Ledger, there, t.Bill.release.ID); {
	case err != nil:
		return err
	case whose != nil && whose.ID == t.Bill.release.ID:
		return nil
	case whose != nil:
		return &UsageError{overwriteError{check.Namedf("%s, but the file is the result of request %q, which "+
			"was paid for and is not replaced: give another %s", t.place(), whose.ID, pOutput)}}
	case t.Force:
		return nil
	}
	return &UsageError{overwriteError{check.Namedf("%s, but the file exists, and it is no result of request %q: "+
		"give another %s, or %s to replace it", t.place(), t.Bill.release.ID, pOutput, pForce)}}
}

// place is the parameter of the output, and its value where that is a file of this machine.
func (t *Transaction) place() error {
	if o, ok := t.Output.(interface {
		at() (check.Parameter, string)
	}); ok {
		name, path := o.at()
		return check.Namedf("%s = %q", name, path)
	}
	return check.Namedf("%s", pOutput)
}

// resultOf returns the entry that notes a digest as the result of the request, else as that of
// another one; nil for none.
func resultOf(ctx context.Context, l *ledger.Ledger, digest ledger.Digest,
	request string) (other *ledger.Entry, err error) {
	for seq := uint64(0); ; {
		entries, err := l.After(ctx, seq)
		if err != nil || len(entries) == 0 {
			return other, err
		}
		for i := range entries {
			e := &entries[i]
			if e.Kind != ledger.KindResult || e.Result != digest {
				continue
			}
			if e.ID == request {
				return e, nil
			}
			if other == nil {
				other = e
			}
		}
		seq = entries[len(entries)-1].Seq
	}
}

// write publishes the result, and replaces nothing: something that came after the guard stays.
// Where Force states it, what the guard lets be replaced now is.
func (t *Transaction) write(ctx context.Context, encode func(io.Writer) error) error {
	if !t.Force {
		_, err := WriteOnce(ctx, t.place().Error(), t.Output, encode)
		return err
	}
	if err := t.guard(ctx); err != nil {
		return err
	}
	return t.Output.Write(ctx, encode)
}

// WriteOnce publishes a result under an unused name. Where a file holds this result already, it
// stays as it is, and before is true. A file that holds something else stays too, since others may
// use it already: then the error is an [OutputError] and an fs.ErrExist. An output with a method
// like [FileOutput.WriteNew] keeps that even for what another run writes at the same time. name is
// the output's, for the error. encode gives the same bytes each time.
func WriteOnce(ctx context.Context, name string, o Output,
	encode func(io.Writer) error) (before bool, err error) {
	if o == nil || encode == nil {
		return false, usagef("output and encode must be given")
	}
	f, err := o.Open(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		fresh, ok := o.(interface {
			WriteNew(context.Context, func(io.Writer) error) error
		})
		if !ok {
			return false, o.Write(ctx, encode)
		}
		if err = fresh.WriteNew(ctx, encode); !errors.Is(err, fs.ErrExist) {
			return false, err
		}
		f, err = o.Open(ctx) // another run was first
	}
	if err != nil {
		return false, err
	}
	there, err := digestOf(func(w io.Writer) error { _, err := io.Copy(w, f); return err })
	if err = errors.Join(err, f.Close()); err != nil {
		return false, err
	}
	result, err := digestOf(encode)
	if err == nil && result != there {
		err = &OutputError{fmt.Errorf("%s, but %w", name, errOther)}
	}
	return err == nil, err
}

var errOther = overwriteError{errors.New("the file exists and holds something else, which others may use " +
	"already: give another name, or remove it yourself")}
