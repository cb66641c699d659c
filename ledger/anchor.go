package ledger

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/darrm/darrm/internal/atomicfile"
)

// AnchorSuffix is added to the path of a ledger for the path of its anchor.
const AnchorSuffix = ".anchor"

// The anchor file holds two slots of one sector each. The state of commit n goes
// to slot n mod 2, so a write that is cut short damages the slot of commit n only
// and commit n-1 can still be read.
const (
	slotSize   = 512
	anchorSize = 2 * slotSize
)

// anchor says how far the database must be.
type anchor struct {
	id ledgerID
	state
	durable bool // known to be on disk
}

// A slot that looks as it should need not be on disk: the process that wrote it may
// have been killed before it forced it there. Were the database to go on from it, a
// loss of power could take back two commits of the anchor, and the ledger would be
// refused as rolled back. So the byte at markAt, a space until then, is changed to
// durableMark once the slot is on disk. The mark itself need not get there: after a
// loss of power whatever can be read is on disk.
const (
	markAt      = slotSize - 2
	durableMark = '+'
)

const slotMagic = "darrm ledger anchor 1\n"

// encode returns one slot: lines of text, their SHA-256, and spaces up to
// slotSize.
func (a *anchor) encode() []byte {
	text := fmt.Appendf(nil, slotMagic+"ledger %s\ncommit %d\nhead %s\nspent %s %s\n",
		a.id, a.commit, a.head, a.spent.epsilon, a.spent.delta)
	text = fmt.Appendf(text, "sha256 %x\n", sha256.Sum256(text))
	pad := bytes.Repeat([]byte{' '}, slotSize-1-len(text))
	return append(append(text, pad...), '\n')
}

// decodeSlot accepts exactly what encode produces, with the mark or without.
func decodeSlot(b []byte) (anchor, error) {
	var a anchor
	if len(b) == slotSize && b[markAt] == durableMark {
		a.durable = true
		b = bytes.Clone(b)
		b[markAt] = ' '
	}
	var id, head, epsilon, delta string
	_, err := fmt.Sscanf(string(b), slotMagic+"ledger %s\ncommit %d\nhead %s\nspent %s %s\n", &id, &a.commit, &head, &epsilon, &delta)
	if err != nil {
		return a, errors.New("slot has not the form of an anchor")
	}
	if a.id, err = parseLedgerID(id); err != nil {
		return a, err
	}
	if a.head, err = ParseHead(head); err != nil {
		return a, err
	}
	if a.spent, err = (costJSON{epsilon, delta}).cost(); err != nil {
		return a, err
	}
	if !bytes.Equal(a.encode(), b) {
		return a, errors.New("slot does not have its checksum")
	}
	return a, nil
}

// decodeAnchor returns the newer of two slots. One slot that cannot be read is
// the trace of a write cut short, or was never used; what is wrong beyond that is
// an error.
func decodeAnchor(b []byte) (anchor, error) {
	if len(b) != anchorSize {
		return anchor{}, damaged("anchor file has %d bytes, not %d", len(b), anchorSize)
	}
	var found []anchor
	for i := range 2 {
		a, err := decodeSlot(b[i*slotSize : (i+1)*slotSize])
		if err == nil && a.commit%2 == uint64(i) {
			found = append(found, a)
		}
	}
	switch len(found) {
	case 0:
		return anchor{}, damaged("anchor file has no readable slot")
	case 1:
		return found[0], nil
	}
	older, newer := found[0], found[1]
	if older.commit > newer.commit {
		older, newer = newer, older
	}
	if older.id != newer.id || older.commit+1 != newer.commit {
		return anchor{}, damaged("the slots of the anchor file do not belong together")
	}
	return newer, nil
}

// readAnchor returns nil and no error where there is no anchor file.
func readAnchor(path string) (*anchor, error) {
	f, err := openRegular(path, os.O_RDONLY)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, errNotRegular):
		return nil, damaged("%w", err)
	case err != nil:
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, anchorSize+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	a, err := decodeAnchor(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &a, nil
}

// writeAnchor makes a durable. The caller holds the exclusive lock.
func writeAnchor(path string, a *anchor) error {
	f, err := openRegular(path, os.O_WRONLY)
	if err != nil {
		return err
	}
	at := int64(a.commit%2) * slotSize
	_, err = f.WriteAt(a.encode(), at)
	if err == nil {
		err = syncData(f)
	}
	if err == nil {
		_, err = f.WriteAt([]byte{durableMark}, at+markAt)
	}
	if err != nil {
		err = fmt.Errorf("write %s: %w", path, err)
	}
	return errors.Join(err, f.Close())
}

// createAnchor replaces the whole file, durably; the other slot is blank. The slot
// is not marked: the name comes into force before it is known to be on disk, so the
// next commit cannot tell whether it is. The caller holds the exclusive lock, so that a
// temporary file of this anchor is of a process that was killed.
func createAnchor(path string, a *anchor) error {
	sweepAnchors(path)
	return atomicfile.Replace(path, 0o600, func(w io.Writer) error {
		slots := [][]byte{a.encode(), append(bytes.Repeat([]byte{' '}, slotSize-1), '\n')}
		_, err := w.Write(bytes.Join([][]byte{slots[a.commit%2], slots[(a.commit+1)%2]}, nil))
		return err
	})
}

// sweepAnchors removes the temporary files of the anchor at path. What it may not remove
// stays, and is no harm.
func sweepAnchors(path string) {
	dir, base := filepath.Dir(path), filepath.Base(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if target, ok := atomicfile.TempTarget(e.Name()); ok && target == base && e.Type().IsRegular() {
			os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// openRegular refuses directories, devices and pipes, on which open could wait or
// do something.
func openRegular(path string, flag int) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("open %s: %w", path, errNotRegular)
	}
	f, err := os.OpenFile(path, flag|nonblock, 0)
	if err != nil {
		return nil, err
	}
	// Once more, since the name may stand for another file by now.
	info, err = f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("open %s: %w", path, errNotRegular)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

var errNotRegular = errors.New("not a regular file")
