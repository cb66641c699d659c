package ledger

import (
	"context"
	"errors"
	"io"
	"net/url"
	"strings"
	"sync"

	"github.com/darrm/darrm/internal/check"
)

// A Store keeps the lines of one ledger, and its anchor. It knows nothing of what they say: this
// package decides what is written and trusts nothing that it reads. Files are the store of a
// ledger at a path; other stores are found by the scheme of their location ([Register]).
//
// One [Ledger] uses a Store from one goroutine at a time. A store that is forgotten has a
// method Simulated() bool that returns true ([Ledger.Simulated]).
type Store interface {
	// Location names the ledger for people. It must not hold a password.
	Location() string
	// SecretPath is the path of the file that has the key of the digests of votes ([VoteHash]),
	// on this machine; "" where none was named. The key is not to be kept with the lines: both
	// together tell what teachers voted to whoever guesses it.
	SecretPath() (string, error)
	// Create makes the ledger, with the line that first returns and without an anchor. It calls
	// first, which makes the secret, only where no ledger is yet; fs.ErrExist where one is.
	Create(ctx context.Context, first func() ([]byte, error)) error
	// Begin starts a look at the ledger, or, if exclusive, a look that may end with one commit:
	// from then on nobody else commits until [Tx.Close]. It waits as long as ctx allows. The
	// error is an [ErrNotLedger] or fs.ErrNotExist where there is no ledger, an [ErrUnavailable]
	// where the store cannot be reached.
	Begin(ctx context.Context, exclusive bool) (Tx, error)
	// Keep stores content under a name, beside the lines and no part of them, so that it survives any
	// crash when it returns. What has the name already stays. The error is an [ErrKept] where the
	// store may not keep it.
	Keep(ctx context.Context, name Digest, content []byte) error
	// Kept returns what is kept under a name, fs.ErrNotExist where nothing is.
	Kept(ctx context.Context, name Digest) ([]byte, error)
}

// A Tx is one look at a [Store], at one state of it. Any of its errors can be an [ErrRetry].
type Tx interface {
	// Anchor returns the anchor, nil where there is none.
	Anchor() ([]byte, error)
	// Lines returns what is stored from a byte on, counted from the first line's: lines with
	// their line feeds, as they were committed. The reader is used before the next call.
	Lines(from int64) io.Reader
	// Sync returns when what was read survives any crash.
	Sync() error
	// Commit stores lines at byte at, in place of anything that is there, and then the anchor
	// after; both survive any crash when it returns. Where lines and anchor are not stored as
	// one, before survives first: the anchor of the state that the lines follow.
	//
	// An [ErrRetry] or [ErrUnavailable] says for certain that nothing was stored. After any other
	// error the lines may be there or not. Commit or SetAnchor is the last call but Close, and the Tx
	// exclusive.
	Commit(at int64, lines, before, after []byte) error
	// SetAnchor stores the anchor alone.
	SetAnchor(anchor []byte) error
	// Atomic reports whether lines and anchor are stored as one, so that they always agree.
	Atomic() bool
	// Close gives up what Begin took, and without a commit leaves everything as it was.
	Close() error
}

var (
	// ErrRetry: nothing was stored, because somebody else was faster; another try may succeed.
	ErrRetry = errors.New("the ledger's store asks for another try")
	// ErrUnavailable: the ledger's store cannot be reached. Nothing was consumed, and the handle
	// is good.
	ErrUnavailable = errors.New("the ledger cannot be reached")
)

var stores sync.Map // by scheme: a maker of stores

// Register makes open the maker of stores for locations that begin with scheme and "://": of
// lower case, as "postgres". It is for the init function of a package, and a second one for a
// scheme panics, as it does in database/sql. Errors of open must not hold a password.
func Register(scheme string, open func(location string) (Store, error)) {
	if _, there := stores.LoadOrStore(scheme, open); there {
		panic("ledger: store " + scheme + " is registered twice")
	}
}

// openStore returns the store of a location, which need not have a ledger yet.
func openStore(location string) (Store, error) {
	scheme := schemeOf(location)
	if scheme == "" {
		return newFileStore(location)
	}
	open, there := stores.Load(scheme)
	if !there {
		return nil, check.Want("ledger", Display(location),
			"a path, or a URL of a store that this program has (a file of such a name begins with ./)")
	}
	return open.(func(string) (Store, error))(location)
}

// schemeOf returns the scheme of a URL in lower case, "" for a path.
func schemeOf(location string) string {
	scheme, _, ok := strings.Cut(location, "://")
	for i, c := range []byte(scheme) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (i == 0 || !strings.ContainsRune("0123456789+-.", rune(c))) {
			return ""
		}
	}
	if !ok || scheme == "" {
		return ""
	}
	return strings.ToLower(scheme)
}

// IsFile reports whether a location is the path of a file. Every location is, unless it begins as a
// URL does, with a scheme and "://".
func IsFile(location string) bool { return schemeOf(location) == "" }

// Display returns a location as it may be shown: the path, or the URL without password and
// without all parameters but those that identify the ledger.
func Display(location string) string {
	scheme := schemeOf(location)
	if scheme == "" {
		return location
	}
	u, err := url.Parse(location)
	if err != nil {
		return scheme + "://…" // where the password is, is not known
	}
	shown := url.URL{Scheme: scheme, Host: u.Host, Path: u.Path}
	if u.User != nil {
		shown.User = url.User(u.User.Username())
	}
	query := url.Values{}
	for _, name := range []string{"host", "port", "dbname", "user", "ledger"} {
		if v := u.Query()[name]; v != nil {
			query[name] = v
		}
	}
	shown.RawQuery = strings.ReplaceAll(query.Encode(), "%2F", "/") // a directory
	return shown.String()
}
