package release

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/darrm/darrm/internal/atomicfile"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/readfile"
)

// A secret is the file of a release that can be resumed: it holds where all randomness of the
// release comes from. It is on disk before the release is paid for, so that a death in between
// costs nothing, and removed when the result is out: with both, anyone could compute what the
// noise hides. A nil secret is that of a release that cannot be resumed.
type secret struct {
	path    string
	of      owner
	resumed bool          // the file was there: the release was begun before
	made    bool          // this run made the file
	state   func() []byte // what the file is to hold
}

// owner is the release that a secret is of. Its file says so, and no other release takes it over,
// charges again for it or removes it.
type owner struct {
	Ledger  string `json:"ledger,omitempty"`  // its ID
	Request string `json:"request,omitempty"` // as it was stated
}

func (o owner) String() string {
	name := "a release without a request id"
	if o.Request != "" {
		name = fmt.Sprintf("request %q", o.Request)
	}
	if o.Ledger == "" {
		return name + " and without a ledger"
	}
	return fmt.Sprintf("%s of the ledger %.8s…", name, o.Ledger)
}

const (
	secretMagic = "darrm checkpoint 1\n" // then the owner, as a line of JSON, and the state
	maxOwner    = 4 << 10                // more bytes than the magic and an owner have
)

// seal returns the content of the file of a state.
func (o owner) seal(state []byte) []byte {
	b, _ := json.Marshal(o) // texts always have JSON
	return slices.Concat([]byte(secretMagic), b, []byte{'\n'}, state)
}

// unseal returns the state of a file's content, and whose it is.
func unseal(b []byte) (of owner, state []byte, ok bool) {
	b, ok = bytes.CutPrefix(b, []byte(secretMagic))
	line, state, ended := bytes.Cut(b, []byte{'\n'})
	return of, state, ok && ended && json.Unmarshal(line, &of) == nil
}

// openSecret returns the secret of a release at path, nil for "", and the state that the file holds,
// of at most limit bytes; nil where there is none yet. A file that cannot be read, or is of another
// release, is an [InputError].
func openSecret(ctx context.Context, path string, of owner, limit int64) (*secret, []byte, error) {
	if path == "" {
		return nil, nil, nil
	}
	b, err := readfile.Whole(ctx, path, limit+maxOwner)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &secret{path: path, of: of}, nil, nil
	case err != nil:
		return nil, nil, &InputError{err}
	}
	whose, state, ok := unseal(b)
	switch {
	case !ok || int64(len(state)) > limit:
		return nil, nil, &InputError{check.Namedf("%s = %q, but the file is no checkpoint", pCheckpoint, path)}
	case whose != of:
		return nil, nil, &InputError{check.Namedf("%s = %q, but the file is the secret of %s, and this is %s: "+
			"finish that one, or give another file", pCheckpoint, path, whose, of)}
	}
	return &secret{path: path, of: of, resumed: true}, state, nil
}

func (s *secret) isResumed() bool { return s != nil && s.resumed }

// make writes the file of a release that was not begun before. A file that came meanwhile is
// another run's, which may have paid for its release by now.
func (s *secret) make() error {
	if s == nil || s.resumed {
		return nil
	}
	switch _, err := os.Lstat(atomicfile.Target(s.path)); {
	case err == nil:
		return &OutputError{fmt.Errorf("another run made the checkpoint %s meanwhile: %w", s.path,
			fs.ErrExist)}
	case !errors.Is(err, fs.ErrNotExist):
		return &OutputError{err}
	}
	s.made = true // also where it fails halfway
	return s.save()
}

// save writes the state, which nobody else may read, also where others could read the file
// that it replaces. Links are followed.
func (s *secret) save() error {
	if s == nil {
		return nil
	}
	err := atomicfile.Replace(atomicfile.Target(s.path), 0o600, atomicfile.Bytes(s.of.seal(s.state())))
	if err != nil {
		return &OutputError{err}
	}
	return nil
}

// forget removes the file, links followed.
func (s *secret) forget() error {
	if s == nil {
		return nil
	}
	if err := atomicfile.Remove(s.path); err != nil {
		return &OutputError{fmt.Errorf("the secret checkpoint is still there: %w", err)}
	}
	return nil
}

// giveUp removes the file if this run made it. One that was there before may be of a release
// that is paid for.
func (s *secret) giveUp() error {
	if s == nil || !s.made {
		return nil
	}
	return s.forget()
}
