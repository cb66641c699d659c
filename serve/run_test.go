package serve

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/votes"
)

// certificate writes a certificate and its key, signed by parent or by itself, and returns them.
func certificate(t *testing.T, name string, parent *tls.Certificate, change ...func(*x509.Certificate)) (
	cert, key string, made *tls.Certificate) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: parent == nil, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, c := range change {
		c(template)
	}
	signer, signed := any(k), template
	if parent != nil {
		signer, signed = parent.PrivateKey, parent.Leaf
	}
	der, err := x509.CreateCertificate(rand.Reader, template, signed, k.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der},
		key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	return cert, key, &pair
}

// Nobody listens on TCP without TLS and clients, and clients cannot be taken away from one who
// does.
func TestListenRefuses(t *testing.T) {
	cert, key, _ := certificate(t, "server", nil)
	o, _, _ := newOptions(t, 1)
	anyone := newServer(t, o)
	token, hash := NewToken()
	o.Clients = []Client{{Name: "a", TokenSHA256: []string{hash}}}
	known := newServer(t, o)
	o.Clients = []Client{{Name: "a", TokenSHA256: []string{hash}}, {Name: "w", Certificate: "ward-3"}}
	signed := newServer(t, o)
	for name, c := range map[string]struct {
		s *Server
		a Address
	}{
		"no TLS":     {known, Address{Listen: "tcp:127.0.0.1:0"}},
		"no key":     {known, Address{Listen: "tcp:127.0.0.1:0", Cert: cert}},
		"no clients": {anyone, Address{Listen: "tcp:127.0.0.1:0", Cert: cert, Key: key}},
		"a CA and no clients": {anyone, Address{Listen: "tcp:127.0.0.1:0", Cert: cert, Key: key,
			ClientCA: cert}},
		"no network": {known, Address{Listen: "127.0.0.1:0", Cert: cert, Key: key}},
		"no path":    {known, Address{Listen: "unix:"}},
		"no folder": {known, Address{Listen: "unix:" +
			filepath.Join(t.TempDir(), "none", "s")}},
		"TLS on a socket": {known, Address{Listen: "unix:" + filepath.Join(t.TempDir(), "s"),
			Cert: cert, Key: key}},
		"a file is there":      {known, Address{Listen: "unix:" + cert}},
		"certificate for keys": {known, Address{Listen: "tcp:127.0.0.1:0", Cert: cert, Key: cert}},
		"nobody's certificate": {signed, Address{Listen: "tcp:127.0.0.1:0", Cert: cert, Key: key}},
		"no CA": {known, Address{Listen: "tcp:127.0.0.1:0", Cert: cert, Key: key,
			ClientCA: key}},
	} {
		l, err := c.s.Listen(t.Context(), c.a)
		var usage *release.UsageError
		var input *release.InputError
		file := name == "certificate for keys" || name == "no CA"
		if l != nil || errors.As(err, &usage) == file || errors.As(err, &input) != file {
			t.Errorf("%s: %v, %v", name, l, err)
		}
	}
	if _, err := signed.Listen(t.Context(), Address{Listen: "unix:" +
		filepath.Join(t.TempDir(), "s")}); err == nil || !strings.Contains(err.Error(), "Unix socket") {
		t.Errorf("a certificate on a socket: %v", err)
	}
	l, err := known.Listen(t.Context(), Address{Listen: "tcp:127.0.0.1:0", Cert: cert, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := known.SetClients(nil); err == nil {
		t.Error("anybody may ask over TCP")
	}
	var usage *release.UsageError
	if err := known.SetClients(o.Clients); !errors.As(err, &usage) ||
		!strings.Contains(err.Error(), `client "w" has a certificate`) ||
		!strings.Contains(err.Error(), "client CA") {
		t.Errorf("a certificate that nobody asks for: %v", err)
	}
	if status, _, _ := ask(known, "GET", "/v1/budget", "", bearer(token)...); status != 200 {
		t.Errorf("the old clients are gone: %d", status)
	}
}

// serving starts a server and returns what stops it, which gives what Serve returned.
func serving(t *testing.T, s *Server, l net.Listener) (stop func() error) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	return func() error {
		cancel()
		return <-ended
	}
}

// Over TCP a client shows a token or a certificate that the given authority signed, in TLS 1.3;
// over anything else there is no answer.
func TestTLS(t *testing.T) {
	ca, _, authority := certificate(t, "ca", nil)
	cert, key, _ := certificate(t, "server", authority)
	_, _, ward := certificate(t, "ward-3", authority)
	_, _, stranger := certificate(t, "ward-3", nil)
	o, _, log := newOptions(t, 10)
	token, hash := NewToken()
	o.Clients = []Client{{Name: "a", TokenSHA256: []string{hash}}, {Name: "w", Certificate: "ward-3"}}
	s := newServer(t, o)
	l, err := s.Listen(t.Context(), Address{Listen: "tcp:127.0.0.1:0", Cert: cert, Key: key,
		ClientCA: ca})
	if err != nil {
		t.Fatal(err)
	}
	stop := serving(t, s, l)
	roots := x509.NewCertPool()
	roots.AddCert(authority.Leaf)
	get := func(scheme string, c *tls.Config, token string) int {
		c.RootCAs = roots
		client := http.Client{Transport: &http.Transport{TLSClientConfig: c}}
		defer client.CloseIdleConnections()
		r, _ := http.NewRequestWithContext(t.Context(), "GET", scheme+"://"+l.Addr().String()+
			"/v1/budget", nil)
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		w, err := client.Do(r)
		if err != nil {
			return 0
		}
		defer w.Body.Close()
		return w.StatusCode
	}
	for i, c := range []struct {
		scheme string
		config *tls.Config
		token  string
		want   int
	}{
		{"https", &tls.Config{}, token, 200}, {"https", &tls.Config{}, "", 401},
		{"https", &tls.Config{}, token + "x", 401},
		{"https", &tls.Config{Certificates: []tls.Certificate{*ward}}, "", 200},
		{"https", &tls.Config{Certificates: []tls.Certificate{*ward}}, "x", 401},
		{"https", &tls.Config{GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate,
			error) {
			return stranger, nil
		}}, "", 0},
		{"https", &tls.Config{MaxVersion: tls.VersionTLS12}, token, 0},
		{"http", &tls.Config{}, token, 400},
	} {
		if got := get(c.scheme, c.config, c.token); got != c.want {
			t.Errorf("%d: %d, want %d", i, got, c.want)
		}
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	if strings.Contains(log.String(), token) {
		t.Error("a token in the log")
	}
}

// The certificates of the server, and of who signs those of clients, are read anew with the
// clients: all of them or none. A client whose authority was taken out does not come back, not by a
// ticket either.
func TestReload(t *testing.T) {
	ca, _, authority := certificate(t, "ca", nil)
	nextCA, _, next := certificate(t, "next ca", nil)
	cert, key, own := certificate(t, "server", authority)
	nextCert, nextKey, nextOwn := certificate(t, "server", next)
	_, _, ward := certificate(t, "ward-3", authority)
	_, _, nextWard := certificate(t, "ward-3", next)
	o, _, _ := newOptions(t, 10)
	o.Clients = []Client{{Name: "w", Certificate: "ward-3"}}
	s := newServer(t, o)
	l, err := s.Listen(t.Context(), Address{Listen: "tcp:127.0.0.1:0", Cert: cert, Key: key,
		ClientCA: ca})
	if err != nil {
		t.Fatal(err)
	}
	defer serving(t, s, l)()
	roots := x509.NewCertPool()
	roots.AddCert(authority.Leaf)
	roots.AddCert(next.Leaf)
	tickets := tls.NewLRUClientSessionCache(0)
	look := func(with *tls.Certificate) (status int, shown *x509.Certificate) {
		t.Helper()
		c := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots,
			ClientSessionCache: tickets,
			GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
				return with,
					nil
			}}}}
		defer c.CloseIdleConnections()
		r, _ := http.NewRequestWithContext(t.Context(), "GET", "https://"+l.Addr().String()+"/v1/budget",
			nil)
		w, err := c.Do(r)
		if err != nil {
			return 0, nil
		}
		defer w.Body.Close()
		_, _ = io.Copy(io.Discard, w.Body)
		return w.StatusCode, w.TLS.PeerCertificates[0]
	}
	step := func(name string, with *tls.Certificate, want int, shows *tls.Certificate) {
		t.Helper()
		status, shown := look(with)
		if status != want || want != 0 && !shown.Equal(shows.Leaf) {
			t.Errorf("%s: %d, want %d, and the right certificate", name, status, want)
		}
	}
	replace := func(files map[string]string) {
		t.Helper()
		for to, from := range files {
			b, err := os.ReadFile(from)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(to, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	clients := []Client{{Name: "renamed", Certificate: "ward-3"}}
	step("at first", ward, 200, own)
	// Half of a pair, as while it is replaced: nothing changes, the clients neither.
	replace(map[string]string{cert: nextCert})
	if err := s.Reload(t.Context(), *s.at, clients); err == nil {
		t.Error("a certificate of another key")
	}
	if name := s.policy.Load().clients[0].Name; name != "w" {
		t.Errorf("client %q", name)
	}
	step("after half a pair", ward, 200, own)
	// Clients that break a rule: the certificate does not change.
	replace(map[string]string{key: nextKey})
	if err := s.Reload(t.Context(), *s.at, nil); err == nil {
		t.Error("no clients")
	}
	step("after no clients", ward, 200, own)
	if err := s.Reload(t.Context(), *s.at, clients); err != nil {
		t.Fatal(err)
	}
	step("the new certificate", ward, 200, nextOwn)
	replace(map[string]string{ca: nextCA})
	if err := s.Reload(t.Context(), *s.at, clients); err != nil {
		t.Fatal(err)
	}
	step("an authority that was taken out", ward, 0, nil)
	step("another in its place", nextWard, 200, nextOwn)
}

// The socket is for its owner and its group, is replaced where a server left it behind, and not
// where one listens; its name is gone with the server.
func TestSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	o, _, _ := newOptions(t, 10)
	s := newServer(t, o)
	left, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	left.SetUnlinkOnClose(false)
	left.Close()
	l, err := s.Listen(t.Context(), Address{Listen: "unix:" + path})
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o660 ||
		info.Mode()&os.ModeSocket == 0 {
		t.Errorf("%v, %v", info, err)
	}
	if _, err := newServer(t, o).Listen(t.Context(), Address{Listen: "unix:" + path}); err == nil ||
		!strings.Contains(err.Error(), "another server") {
		t.Errorf("two servers: %v", err)
	}
	stop := serving(t, s, l)
	client := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _,
		_ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}}
	w, err := client.Get("http://darrm/v1/budget")
	if err != nil || w.StatusCode != 200 {
		t.Fatal(w, err)
	}
	_, _ = io.Copy(io.Discard, w.Body)
	w.Body.Close()
	if err := stop(); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(path + "*"); left != nil {
		t.Errorf("left: %v", left)
	}
}

// The newest head is kept elsewhere while a server runs, and at its end that of the last answer.
// While it cannot be kept the server is not ready, and the log has the reason.
func TestHeadsAreKept(t *testing.T) {
	o, book, log := newOptions(t, 10)
	folder := filepath.Join(t.TempDir(), "elsewhere")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "head")
	online, err := release.OpenOnline(t.Context(), release.OnlineOptions{
		Plan: o.Online.Plan(), Stated: disjoint,
		Charge: release.Charge{Ledger: book.Path(), AcceptWeak: true},
		Key:    filepath.Join(filepath.Dir(book.Path()), "key"), Missing: votes.MissingCoin, HeadFile: file,
	})
	if err != nil {
		t.Fatal(err)
	}
	o.Online = online
	s := newServer(t, o)
	l, err := s.Listen(t.Context(), Address{Listen: "unix:" + filepath.Join(t.TempDir(), "s")})
	if err != nil {
		t.Fatal(err)
	}
	stop := serving(t, s, l)
	answer := func(id string) {
		t.Helper()
		if status, body, _ := ask(s, "POST", "/v1/answers", one(id)); status != 200 {
			t.Fatal(status, body)
		}
	}
	kept := func() bool {
		b, _ := os.ReadFile(file)
		now, err := book.Head(t.Context())
		return err == nil && string(b) == now.String()+"\n"
	}
	until := func(what string, is func() bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); !is(); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s: never", what)
			}
		}
	}
	ready := func() bool {
		status, _, _ := ask(s, "GET", "/healthz", "")
		return status == 200
	}
	answer("a")
	until("kept while it runs", kept)
	if err := os.Rename(folder, folder+".away"); err != nil {
		t.Fatal(err)
	}
	answer("b")
	until("not ready", func() bool { return !ready() })
	if err := os.Rename(folder+".away", folder); err != nil {
		t.Fatal(err)
	}
	until("ready again", ready)
	answer("c")
	if err := stop(); err != nil {
		t.Error(err)
	}
	if !kept() {
		t.Error("the head of the last answer is not kept")
	}
	if !strings.Contains(log.String(), "head not kept") {
		t.Errorf("the log: %s", log)
	}
}

// A server that is stopped finishes the requests in progress, and takes no more.
func TestStopFinishesWhatIsAnswered(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	o, book, _ := newOptions(t, 10)
	s := newServer(t, o)
	l, err := s.Listen(t.Context(), Address{Listen: "unix:" + path})
	if err != nil {
		t.Fatal(err)
	}
	stop := serving(t, s, l)
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	body := one("a")
	if _, err := io.WriteString(c,
		"POST /v1/answers HTTP/1.1\r\nHost: d\r\nContent-Type: application/json\r\nExpect: "+
			"100-continue\r\nContent-Length: "+big.NewInt(int64(len(body))).String()+"\r\n\r\n"+body[:5]); err != nil {
		t.Fatal(err)
	}
	from := bufio.NewReader(c)
	// the body is being read
	if line, err := from.ReadString('\n'); err != nil || line != "HTTP/1.1 100 Continue\r\n" {
		t.Fatal(line, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- stop() }()
	for !s.stopping.Load() {
		time.Sleep(time.Millisecond)
	}
	if status, text, h := ask(s, "POST", "/v1/answers", one("b")); status != 503 ||
		h.Get("Retry-After") == "" {
		t.Errorf("%d %s", status, text)
	}
	if status, _, _ := ask(s, "GET", "/healthz", ""); status != 503 {
		t.Errorf("healthy: %d", status)
	}
	if _, err := io.WriteString(c, body[5:]); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(from)
	if err != nil || !strings.HasPrefix(string(answer), "\r\nHTTP/1.1 200") ||
		!strings.Contains(string(answer), `"request_id":"a"`) {
		t.Errorf("%s, %v", answer, err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	checkSpent(t, book, 1)
}

// A listener that fails ends the server with its error: nobody tells such a server to stop, so it
// does not wait for that.
func TestServeWithoutAListener(t *testing.T) {
	o, _, _ := newOptions(t, 1)
	s := newServer(t, o)
	l, err := s.Listen(t.Context(), Address{Listen: "unix:" + filepath.Join(t.TempDir(), "s")})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(t.Context(), l) }()
	select {
	case err := <-ended:
		if !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the server waits to be stopped")
	}
}

// When no more requests may be worked on, others wait, and are told when that is too long.
func TestRoom(t *testing.T) {
	o, _, _ := newOptions(t, 10)
	o.AtOnce, o.Timeout = 1, 50*time.Millisecond
	s := newServer(t, o)
	s.room <- struct{}{}
	status, body, h := ask(s, "POST", "/v1/answers", one("a"))
	if wantKind(t, body, kindUnavailable); status != 503 || h.Get("Retry-After") == "" {
		t.Errorf("%d %v", status, h)
	}
	<-s.room
	s.Timeout = time.Minute
	if status, body, _ := ask(s, "POST", "/v1/answers", one("a")); status != 200 || len(s.room) != 0 {
		t.Errorf("%d %s", status, body)
	}
	for _, l := range []Limits{{Body: -1}, {Batch: -1}, {Batch: 5000}, {AtOnce: -1}, {Timeout: -1},
		{Connections: -1}, {PerAddress: -1}} {
		o.Limits = l
		if _, err := New(o); err == nil {
			t.Errorf("%+v: taken", l)
		}
	}
}

// Every limit is taken up to the number that its rule names, and no further. Zeros are the defaults
// that the comment of Limits names.
func TestLimitsAreThoseNamed(t *testing.T) {
	var unset Limits
	named := Limits{Body: 4 << 20, Batch: 256, AtOnce: 256, Timeout: 30 * time.Second,
		Connections: 1024, PerAddress: 128}
	if err := unset.settle(); err != nil || unset != named {
		t.Errorf("the defaults are %+v, %v", unset, err)
	}
	for _, c := range []struct {
		last, above Limits
		named       string
	}{
		{Limits{Body: 1 << 30}, Limits{Body: 1<<30 + 1}, "1 and 2^30"},
		{Limits{Batch: 4096}, Limits{Batch: 4097}, "1 and 4096"},
		{Limits{AtOnce: 65536}, Limits{AtOnce: 65537}, "1 and 65536"},
		{Limits{Connections: 1 << 20}, Limits{Connections: 1<<20 + 1}, "1 and 2^20"},
		{Limits{PerAddress: 1 << 20}, Limits{PerAddress: 1<<20 + 1}, "1 and 2^20"},
	} {
		if err := c.last.settle(); err != nil {
			t.Error(err)
		}
		if err := c.above.settle(); err == nil || !strings.Contains(err.Error(), c.named) {
			t.Errorf("%+v: %v, want between %s", c.above, err, c.named)
		}
	}
}

// A rate is taken up to the number that its rule names.
func TestRateIsTheOneNamed(t *testing.T) {
	for rate, want := range map[float64]bool{0: true, 1e9: true, 1.001e9: false, -1: false} {
		_, err := newMember(Client{Name: "a", Certificate: "a", Rate: rate})
		if (err == nil) != want {
			t.Errorf("rate %g: %v", rate, err)
		}
	}
}

// A socket removes its name once: later the name may be another's, even with the same file number.
func TestSocketIsRemovedOnce(t *testing.T) {
	dir := t.TempDir()
	path, kept := filepath.Join(dir, "s"), filepath.Join(dir, "kept")
	o, _, _ := newOptions(t, 1)
	l, err := newServer(t, o).Listen(t.Context(), Address{Listen: "unix:" + path})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Link(path, kept); err != nil {
		t.Skip(err) // a file system without links
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("the name is still there: %v", err)
	}
	if err := os.Link(kept, path); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	if _, err := os.Lstat(path); err != nil {
		t.Error(err)
	}
}
