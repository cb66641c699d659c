package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/darrm/darrm/internal/atomicfile"
	"github.com/darrm/darrm/internal/filelock"
)

// AnchorSuffix is added to the path of a ledger for the path of its anchor.
const AnchorSuffix = ".anchor"

// anchor records the commit that the ledger must at least have reached. It is one line: a head
// record that begins with the id of the ledger.
type anchor struct {
	id ledgerID
	state
}

type anchorJSON struct {
	Ledger string   `json:"ledger"`
	Commit uint64   `json:"commit"`
	Seq    uint64   `json:"seq"`
	Hash   Digest   `json:"hash"`
	Spent  costJSON `json:"spent"`
}

func (a *anchor) encode() []byte {
	b := fmt.Appendf(nil, `{"ledger":"%s",`, a.id)
	head := a.state.appendTo(nil)
	return append(append(b, head[1:]...), '\n')
}

// decodeAnchor accepts exactly what encode produces.
func decodeAnchor(b []byte) (a anchor, err error) {
	var j anchorJSON
	if err := strictJSON(b, &j); err != nil {
		return a, err
	}
	if a.id, err = parseLedgerID(j.Ledger); err != nil {
		return a, err
	}
	a.commit, a.head = j.Commit, Head{j.Seq, j.Hash}
	if a.spent, err = j.Spent.cost(); err != nil {
		return a, err
	}
	if !bytes.Equal(a.encode(), b) {
		return a, errors.New("it is not in canonical form")
	}
	return a, nil
}

// maxAnchor is more than an anchor has.
const maxAnchor = 1 << 10

// readAnchor returns nil and no error where there is no anchor file.
func readAnchor(path string) ([]byte, error) {
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
	b, err := io.ReadAll(io.LimitReader(f, maxAnchor))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return b, nil
}

// writeAnchor replaces the anchor, durably. The caller holds the exclusive lock.
func writeAnchor(path string, anchor []byte) error {
	return atomicfile.Write(path, 0o600, atomicfile.Bytes(anchor))
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
	f, err := os.OpenFile(path, flag|filelock.Nonblock, 0)
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
