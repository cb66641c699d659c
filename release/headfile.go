package release

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/darrm/darrm/internal/atomicfile"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/filelock"
	"github.com/darrm/darrm/internal/readfile"
	"github.com/darrm/darrm/ledger"
)

// headFile keeps the newest head of a ledger elsewhere, as [ledger.Head.String] and a line feed. A
// ledger that is restored together with its anchor does not show that it is older; the head does.
type headFile struct {
	path string // "" for none
}

const (
	maxHeadFile = 1 << 10
	lockSuffix  = ".lock" // of the file by which writers of the head file wait for each other
	lockTime    = 3 * time.Second
)

// check fails unless the ledger contains the head that is in the file. A file that is not there is
// one that is lost, or on a disk that is not there, unless the ledger has no entries.
func (f *headFile) check(ctx context.Context, l *ledger.Ledger) error {
	if f.path == "" {
		return nil
	}
	head, err := f.read(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		now, err := l.State(ctx)
		if err != nil || now.Head.Seq == 0 {
			return err
		}
		return &InputError{check.Namedf("there is no head file at %s, but the ledger has %d entries: "+
			"put the newest head there that is known (%s); that of the ledger as it is now is %v",
			f.path, now.Head.Seq, pHeadFile, now.Head)}
	}
	if err != nil {
		return &InputError{check.Namedf("%s %s: %w", pHeadFile, f.path, err)}
	}
	if err := l.Contains(ctx, head); err != nil {
		return check.Namedf("%s %s has the head of a later state, or of another ledger: %w",
			pHeadFile, f.path, err)
	}
	return nil
}

func (f *headFile) read(ctx context.Context) (ledger.Head, error) {
	text, err := readfile.Whole(ctx, f.path, maxHeadFile)
	if err != nil {
		return ledger.Head{}, err
	}
	return ledger.ParseHead(string(bytes.TrimSuffix(text, []byte("\n"))))
}

// keep writes a head to the file, durably, unless a later one or this one is there already: other
// servers on the same ledger may keep the same file. A file that is no head is written anew.
func (f *headFile) keep(ctx context.Context, head ledger.Head) error {
	unlock, err := f.lock(ctx)
	if err != nil {
		return check.Namedf("%s: %w", pHeadFile, err)
	}
	defer unlock()
	if there, err := f.read(ctx); err == nil && there.Seq >= head.Seq {
		return nil
	}
	err = atomicfile.Write(f.path, 0o644, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, head)
		return err
	})
	if err != nil {
		return check.Namedf("%s: %w", pHeadFile, err)
	}
	return nil
}

// lock waits for the lock of the head file, for lockTime at most: whoever holds it longer keeps the
// heads of all servers from being written, which must not pass unnoticed. Nobody else can open the
// lock's file, and so hold it.
func (f *headFile) lock(ctx context.Context) (unlock func(), err error) {
	file, err := os.OpenFile(f.path+lockSuffix, os.O_CREATE|os.O_RDWR|filelock.Nonblock, 0o600)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, lockTime)
	defer cancel()
	if err := filelock.Lock(ctx, file, true); err != nil {
		return nil, fmt.Errorf("the lock %s is held by another process: %w", file.Name(), err)
	}
	return func() { _ = filelock.Unlock(file) }, nil
}

// KeepHead writes the ledger's newest head to the head file, where there is one. What is charged
// after the last call is not in it. Errors are those of [Online.State], or of the file.
func (o *Online) KeepHead(ctx context.Context) error {
	if o = o.made(); o.head.path == "" {
		return nil
	}
	now, err := o.State(ctx) // what it has was forced to disk: the file never gets ahead of the ledger
	if err != nil {
		return err
	}
	return o.head.keep(ctx, now.Head)
}
