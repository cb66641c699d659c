package postgres

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/ledger"
)

// SecretEnv is the environment variable that names the file of a ledger's secret where the
// location does not.
const SecretEnv = "DARRM_LEDGER_SECRET"

func init() {
	open := func(location string) (ledger.Store, error) { return newStore(location) }
	ledger.Register("postgres", open)
	ledger.Register("postgresql", open)
}

// newStore reads a location. Its errors have nothing in them of what the location holds, but for
// the ledger's name: the rest may be a password.
func newStore(location string) (*store, error) {
	shown := ledger.Display(location)
	u, err := url.Parse(location)
	if err != nil {
		return nil, check.Want("ledger", shown, "a URL such as postgres://user@host/database?ledger=name")
	}
	query := u.Query()
	s := &store{name: query.Get("ledger"), secret: query.Get("secret"), location: shown}
	if err := checkName(s.name); err != nil {
		return nil, fmt.Errorf("%s: %w", shown, err)
	}
	query.Del("ledger")
	query.Del("secret")
	u.RawQuery = query.Encode()
	if s.config, err = pgx.ParseConfig(u.String()); err != nil {
		return nil, fmt.Errorf("%s: the parameters of the connection are not valid: %w", shown,
			cause(err))
	}
	// With any other encoding, as a role or PGCLIENTENCODING may set it, two servers would store one
	// text as different bytes, and each would take the other's entries for damaged.
	s.config.RuntimeParams["client_encoding"] = "UTF8"
	// A standby that lags has an older state, which looks like a rollback and takes no charge.
	if s.config.ValidateConnect == nil && severalHosts(s.config) {
		s.config.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	return s, nil
}

// severalHosts reports whether a location names more servers than one. pgx lists a server twice
// where it is tried with TLS and without.
func severalHosts(c *pgx.ConnConfig) bool {
	return slices.ContainsFunc(c.Fallbacks, func(f *pgconn.FallbackConfig) bool {
		return f.Host != c.Host || f.Port != c.Port
	})
}

// cause returns what pgx says without the location, in which it hides only some passwords.
func cause(err error) error {
	if inner := errors.Unwrap(err); inner != nil {
		return inner
	}
	return errors.New("see PostgreSQL's documentation of connection URIs")
}

func checkName(name string) error {
	visible := name != "" && len(name) <= ledger.MaxID && utf8.ValidString(name)
	for _, r := range name {
		visible = visible && unicode.IsPrint(r)
	}
	if !visible {
		return check.Wantf("ledger", fmt.Sprintf("%.40q", name),
			"a name of 1 to %d printable bytes at the end of the location: ?ledger=NAME", ledger.MaxID)
	}
	return nil
}

func (s *store) Location() string { return s.location }

func (s *store) SecretPath() (string, error) {
	if s.secret != "" {
		return s.secret, nil
	}
	if path := os.Getenv(SecretEnv); path != "" {
		return path, nil
	}
	return "", fmt.Errorf(
		"%w: name its file on this machine, with secret=FILE in the location or with %s",
		ledger.ErrSecret, SecretEnv)
}
