package serve

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
)

// DefaultListen is the address of a server without a configured one.
const DefaultListen = "unix:/run/darrm/serve.sock"

// Address is the address of a server, with its TLS certificate and those of its clients'
// authorities.
type Address struct {
	// Listen is "unix:PATH", or "tcp:HOST:PORT", which needs TLS. Defaults to DefaultListen.
	Listen string `flag:"listen" help:"where to listen: unix:PATH, or tcp:HOST:PORT"`
	// Cert and Key are the files of the server's certificate and its key, for TCP.
	Cert string `flag:"tls-cert" help:"tcp: file of the server's certificate, as PEM"`
	Key  string `flag:"tls-key" help:"tcp: file of the certificate's key, as PEM"`
	// ClientCA is the file of the certificates that sign those of clients; "" for none.
	ClientCA string `flag:"client-ca" help:"tcp: file of the certificates, as PEM, that sign those of clients"`
}

// Parameters of an address, as errors name them.
const (
	listen   = check.Parameter("listen")
	tlsCert  = check.Parameter("TLS certificate")
	tlsKey   = check.Parameter("TLS key")
	clientCA = check.Parameter("client CA")
)

// check refuses addresses that would let anybody ask, and clients that could never come in.
func (a *Address) check(clients members) error {
	network, address := a.split()
	tls := a.Cert != "" || a.Key != "" || a.ClientCA != ""
	switch {
	case address == "" || network != "unix" && network != "tcp":
		return usagef("%s = %q, but it must be unix:PATH or tcp:HOST:PORT", listen, a.Listen)
	case network == "unix" && tls:
		return usagef("%s = %q is a Unix socket, which needs no TLS: leave %s, %s and %s out", listen,
			a.Listen, tlsCert, tlsKey, clientCA)
	case network == "tcp" && (a.Cert == "" || a.Key == ""):
		return usagef("%s = %q, but over TCP votes and tokens travel by TLS only: give %s and %s", listen,
			a.Listen, tlsCert, tlsKey)
	case network == "tcp" && len(clients) == 0:
		return usagef("%s = %q, but over TCP anybody could ask: name those who may as clients (tables "+
			"[[client]] of the configuration)", listen, a.Listen)
	}
	for _, m := range clients {
		switch {
		case m.Certificate != "" && network == "unix":
			return usagef("client %q has a certificate, which nobody shows on the Unix socket %s = %q: "+
				"give it a token_sha256 instead, or listen on TCP", m.Name, listen, a.Listen)
		case m.Certificate != "" && a.ClientCA == "":
			return usagef("client %q has a certificate, but without %s, the file of the certificates that "+
				"sign those of clients, none is asked for", m.Name, clientCA)
		}
	}
	return nil
}

func (a *Address) split() (network, address string) {
	network, address, _ = strings.Cut(a.Listen, ":")
	return network, address
}

func usagef(format string, args ...any) error {
	return &release.UsageError{Err: check.Namedf(format, args...)}
}

// Listen listens at an address for the server's clients. Over TCP it refuses to listen without
// TLS or without clients. The socket has mode 0660; one that a server left behind is replaced,
// one that is in use is not. Errors are a [release.UsageError], or a [release.InputError] of a
// certificate.
func (s *Server) Listen(ctx context.Context, a Address) (net.Listener, error) {
	if s.unmade() {
		return nil, errUnmade
	}
	if a.Listen == "" {
		a.Listen = DefaultListen
	}
	if err := a.check(s.policy.Load().clients); err != nil {
		return nil, err
	}
	s.at = &a // from now on clients who change are checked against it
	network, address := a.split()
	if network == "unix" {
		l, err := listenUnix(ctx, address)
		if err != nil {
			return nil, err
		}
		return s.limit(l), nil
	}
	config, err := a.tls(ctx)
	if err != nil {
		return nil, err
	}
	s.policy.Store(&policy{s.policy.Load().clients, config})
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, check.Namedf("%s = %q: %w", listen, a.Listen, err)
	}
	// Each connection has the certificates of when it began. Package http sees TLS only where it is
	// outermost.
	return tls.NewListener(s.limit(l), &tls.Config{
		MinVersion: tls.VersionTLS13,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			return s.policy.Load().tls, nil
		},
	}), nil
}

// ListenToTry listens on a port of the loopback device that the system chooses, without TLS, for
// every user of this machine. It is for a server that is tried out: a ledger that is no
// simulation ([ledger.Ledger.Simulated]), and clients, are a [release.UsageError].
func (s *Server) ListenToTry(ctx context.Context) (net.Listener, error) {
	s = handle.Made(s)
	book, err := s.Online.Ledger(ctx)
	if err != nil {
		return nil, err
	}
	switch {
	case !book.Simulated():
		return nil, usagef("ledger = %q, but a server without TLS and clients pays with a ledger in memory "+
			"alone", ledger.Display(book.Path()))
	case len(s.policy.Load().clients) > 0:
		return nil, usagef("a server without TLS must have no clients, whose tokens would travel unencrypted")
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s.at = &Address{Listen: "tcp:" + l.Addr().String()} // refuses clients from now on
	s.trying.Store(true)
	s.Log.Warn("answers are no releases: the ledger is in memory")
	return s.limit(l), nil
}

// listenUnix makes the socket in a directory of its own, which nobody else may enter, and gives it
// its name when only those may open it who are to ask.
func listenUnix(ctx context.Context, path string) (net.Listener, error) {
	if err := replaceable(ctx, path); err != nil {
		return nil, err
	}
	private := path + "." + rand.Text()[:8]
	switch err := os.Mkdir(private, 0o700); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, usagef("%s = %q, but there is no folder %q", listen, "unix:"+path, filepath.Dir(path))
	case err != nil:
		return nil, check.Namedf("%s = %q: %w", listen, "unix:"+path, err)
	}
	defer os.RemoveAll(private)
	hidden := filepath.Join(private, "s")
	l, err := new(net.ListenConfig).Listen(ctx, "unix", hidden)
	if err != nil {
		return nil, check.Namedf("%s = %q: %w", listen, "unix:"+path, err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	s := &socket{Listener: l, path: path}
	if err = os.Chmod(hidden, 0o660); err == nil {
		s.info, err = os.Lstat(hidden)
	}
	if err == nil {
		err = os.Rename(hidden, path)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return s, nil
}

// replaceable fails unless there is nothing at path, or a socket at which nobody listens.
func replaceable(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return nil // it cannot be made there either, or there is nothing
	}
	if info.Mode()&fs.ModeSocket == 0 {
		return usagef("%s = %q, but a file of this name is there, and it is no socket", listen, "unix:"+path)
	}
	c, err := new(net.Dialer).DialContext(ctx, "unix", path)
	switch {
	case err == nil:
		c.Close()
		return usagef("%s = %q, but another server listens there", listen, "unix:"+path)
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, fs.ErrNotExist):
		return nil
	}
	// A server that is too busy, or another user's, is one that listens.
	return usagef("%s = %q, but another server may listen there: %w", listen, "unix:"+path, err)
}

// socket removes its name when it is closed.
type socket struct {
	net.Listener
	path string
	info fs.FileInfo // of the socket that was made
}

func (s *socket) Addr() net.Addr { return &net.UnixAddr{Name: s.path, Net: "unix"} }

func (s *socket) Close() error {
	err := s.Listener.Close()
	if errors.Is(err, net.ErrClosed) {
		return err
	}
	if info, gone := os.Lstat(s.path); gone != nil || !os.SameFile(info, s.info) {
		return err // its name is another server's by now
	}
	return errors.Join(err, os.Remove(s.path))
}

// Limits of time that no client needs to reach: to shake hands, to send a header, and between two
// requests of a client. Strangers have no second request.
const (
	headerTimeout = 5 * time.Second
	idleTimeout   = 30 * time.Second
)

// Limits bound what one request, and all together, may take. A zero is the default.
type Limits struct {
	// 4 MiB by default
	Body int64 `flag:"max-body" help:"most bytes of one request"`
	// 256
	Batch int `flag:"max-batch" help:"most queries of one request"`
	// 256
	AtOnce int `flag:"max-requests" help:"most requests that are worked on at once, half of them of one client; others wait"`
	// 30 s
	Timeout time.Duration `flag:"request-timeout" help:"longest that a request may wait and take"`
	// 1024
	Connections int `flag:"max-connections" help:"most connections that are open at once; others wait"`
	// 128
	PerAddress int `flag:"max-per-address" help:"tcp: most connections from one IPv4 address or IPv6 /64; others are closed"`
}

// Default limits.
const (
	DefaultBody        = 4 << 20
	DefaultBatch       = 256
	DefaultAtOnce      = 256
	DefaultTimeout     = 30 * time.Second
	DefaultConnections = 1024
	DefaultPerAddress  = 128
)

func (l *Limits) settle() error {
	l.Body = cmp.Or(l.Body, DefaultBody)
	l.Batch = cmp.Or(l.Batch, DefaultBatch)
	l.AtOnce = cmp.Or(l.AtOnce, DefaultAtOnce)
	l.Timeout = cmp.Or(l.Timeout, DefaultTimeout)
	l.Connections = cmp.Or(l.Connections, DefaultConnections)
	l.PerAddress = cmp.Or(l.PerAddress, DefaultPerAddress)
	switch {
	case l.Body < 0 || l.Body > 1<<30:
		return check.Want("max body", l.Body, "between 1 and 2^30 bytes")
	case l.Batch < 0 || l.Batch > 4096:
		return check.Want("max batch", l.Batch, "between 1 and 4096 requests")
	case l.AtOnce < 0 || l.AtOnce > 1<<16:
		return check.Want("max requests", l.AtOnce, "between 1 and 65536")
	case l.Connections < 0 || l.Connections > 1<<20:
		return check.Want("max connections", l.Connections, "between 1 and 2^20")
	case l.PerAddress < 0 || l.PerAddress > 1<<20:
		return check.Want("max per address", l.PerAddress, "between 1 and 2^20")
	case l.Timeout < 0:
		return check.Want("request timeout", l.Timeout, "more than 0")
	}
	return nil
}
