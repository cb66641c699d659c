package serve

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// A client whose authority is taken out is refused over the connection that it has, and over one
// that resumes an earlier session: who may ask is judged for every request.
func TestRevokedOnAnOpenConnection(t *testing.T) {
	ca, _, authority := certificate(t, "ca", nil)
	nextCA, _, _ := certificate(t, "next ca", nil)
	cert, key, _ := certificate(t, "server", authority)
	_, _, ward := certificate(t, "ward-3", authority)
	o, _, _ := newOptions(t, 10)
	o.Clients = []Client{{Name: "w", Certificate: "ward-3"}}
	s := newServer(t, o)
	l, err := s.Listen(t.Context(), Address{Listen: "tcp:127.0.0.1:0", Cert: cert, Key: key,
		ClientCA: ca})
	if err != nil {
		t.Fatal(err)
	}
	defer serving(t, s, l)()
	// The same server behind a listener that gives tickets.
	resuming := httptest.NewUnstartedServer(s)
	resuming.TLS = s.policy.Load().tls.Clone()
	resuming.TLS.SessionTicketsDisabled = false
	resuming.StartTLS()
	defer resuming.Close()
	roots := x509.NewCertPool()
	roots.AddCert(authority.Leaf)
	sessions := tls.NewLRUClientSessionCache(0)
	client := func() *http.Client {
		return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots,
			Certificates: []tls.Certificate{*ward}, ClientSessionCache: sessions}}}
	}
	look := func(c *http.Client, url string) (status int, resumed bool) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), "GET", url+"/v1/budget", nil)
		if err != nil {
			t.Fatal(err)
		}
		w, err := c.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Body.Close()
		_, _ = io.Copy(io.Discard, w.Body)
		return w.StatusCode, w.TLS.DidResume
	}
	open, url := client(), "https://"+l.Addr().String()
	defer open.CloseIdleConnections()
	if status, _ := look(open, url); status != 200 {
		t.Fatal(status)
	}
	for want := range 2 { // the second begins anew with the ticket of the first
		c := client()
		if status, resumed := look(c, resuming.URL); status != 200 || resumed != (want == 1) {
			t.Fatalf("%d, resumed %t", status, resumed)
		}
		c.CloseIdleConnections()
	}
	a := *s.at
	a.ClientCA = nextCA
	if err := s.Reload(t.Context(), a, o.Clients); err != nil {
		t.Fatal(err)
	}
	if status, _ := look(open, url); status != 401 {
		t.Errorf("over the connection of before: %d", status)
	}
	if status, resumed := look(client(), resuming.URL); status != 401 || !resumed {
		t.Errorf("over a resumed session: %d, resumed %t", status, resumed)
	}
}

// A server takes its files of certificates from where a new reading has them, and goes nowhere
// else: on any error all stays as it was.
func TestReloadNamesWhatItLeaves(t *testing.T) {
	ca, _, authority := certificate(t, "ca", nil)
	nextCA, _, _ := certificate(t, "next ca", nil)
	cert, key, _ := certificate(t, "server", authority)
	nextCert, nextKey, _ := certificate(t, "server", authority)
	o, _, _ := newOptions(t, 10)
	o.Clients = []Client{{Name: "w", Certificate: "ward-3"}}
	s := newServer(t, o)
	at := Address{Listen: "tcp:127.0.0.1:0", Cert: cert, Key: key, ClientCA: ca}
	if err := s.Reload(t.Context(), at, o.Clients); err == nil {
		t.Error("a server that does not listen is reloaded")
	}
	l, err := s.Listen(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	before := s.policy.Load()
	for name, a := range map[string]Address{
		"listen":         {Listen: "tcp:127.0.0.1:1", Cert: cert, Key: key, ClientCA: ca},
		"client CA":      {Listen: at.Listen, Cert: cert, Key: key},
		"TLS key":        {Listen: at.Listen, Cert: cert, Key: nextKey, ClientCA: ca},
		"another's cert": {Listen: at.Listen, Cert: nextCert, Key: key, ClientCA: ca},
	} {
		if err := s.Reload(t.Context(), a, o.Clients); err == nil || s.policy.Load() != before {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := s.Reload(t.Context(), Address{Listen: at.Listen, Cert: nextCert, Key: nextKey,
		ClientCA: nextCA}, o.Clients); err != nil {
		t.Fatal(err)
	}
	now := s.policy.Load().tls
	if now.ClientCAs.Equal(before.tls.ClientCAs) || string(now.Certificates[0].Certificate[0]) ==
		string(before.tls.Certificates[0].Certificate[0]) {
		t.Error("the files of before are in effect")
	}

	start, err := parseConfig([]byte("affected = 1\nlisten = 'unix:s'\ntls-cert = 'a'\nK = 3"))
	if err != nil {
		t.Fatal(err)
	}
	may := Rereads(func(key string) bool { return key == "tls-key" })
	for text, want := range map[string]string{
		"affected = 1\nlisten = 'unix:s'\ntls-cert = 'b'\nclient-ca = 'c'\nK = 3": "",
		"affected = 1\nlisten = 'unix:s'\nK = 3":                                  "",
		"affected = 2\nlisten = 'unix:s'\ntls-cert = 'a'\nK = 3":                  "affected differ",
		"affected = 1\ntls-cert = 'a'\nK = 3":                                     "listen differ",
		"listen = 'unix:t'\ntls-cert = 'a'\nK = 3\ntls-key = 'k'":                 "affected, listen, tls-key differ",
	} {
		next, err := parseConfig([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if err = start.Kept(next, may); (err == nil) != (want == "") || err != nil &&
			!strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// A certificate that is not valid now is refused, in a chain too, and an authority is unless another
// one of the file is valid.
func TestCertificatesAreCurrent(t *testing.T) {
	old := func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) }
	early := func(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Minute) }
	ca, _, authority := certificate(t, "ca", nil)
	oldCA, _, expired := certificate(t, "old ca", nil, old)
	cert, key, own := certificate(t, "server", authority)
	join := func(name string, parts ...*tls.Certificate) string {
		var all []byte
		for _, c := range parts {
			all = append(all, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Leaf.Raw})...)
		}
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, all, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	oldCert, oldKey, _ := certificate(t, "server", authority, old)
	earlyCert, earlyKey, _ := certificate(t, "server", authority, early)
	for name, c := range map[string]struct {
		a    Address
		says string
	}{
		"good":             {Address{Cert: cert, Key: key, ClientCA: ca}, ""},
		"expired":          {Address{Cert: oldCert, Key: oldKey, ClientCA: ca}, "expired at 20"},
		"not yet":          {Address{Cert: earlyCert, Key: earlyKey, ClientCA: ca}, "valid from 20"},
		"between":          {Address{Cert: join("chain", own, expired), Key: key}, `"old ca" expired at`},
		"old authority":    {Address{Cert: cert, Key: key, ClientCA: oldCA}, `client CA = "` + oldCA},
		"old beside new":   {Address{Cert: cert, Key: key, ClientCA: join("both", expired, authority)}, ""},
		"nobody's":         {Address{Cert: cert, Key: key, ClientCA: key}, "no certificates"},
		"no certificate":   {Address{Cert: filepath.Join(t.TempDir(), "none"), Key: key}, "TLS certificate: "},
		"no key":           {Address{Cert: cert, Key: filepath.Join(t.TempDir(), "none")}, "TLS key: "},
		"no authority":     {Address{Cert: cert, Key: key, ClientCA: "none"}, "client CA: "},
		"half of the pair": {Address{Cert: oldCert, Key: key}, "TLS key = "},
	} {
		_, err := c.a.tls(t.Context())
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	config, err := (&Address{Cert: join("chain", own, authority), Key: key}).tls(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	first := own.Leaf.NotAfter
	if authority.Leaf.NotAfter.Before(first) {
		first = authority.Leaf.NotAfter
	}
	if got := expiry(config); !got.Equal(first) {
		t.Errorf("expires %v, want %v", got, first)
	}
}

// A key that others may read is refused, as the service key is. Root may give it to a group.
func TestKeyIsSecret(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a file's mode says nothing of others")
	}
	cert, key, _ := certificate(t, "server", nil)
	for mode, good := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o640: os.Getuid() == 0,
		0o660: false, 0o644: false, 0o604: false, 0o650: false} {
		if err := os.Chmod(key, mode); err != nil {
			t.Fatal(err)
		}
		_, err := (&Address{Cert: cert, Key: key}).tls(t.Context())
		if (err == nil) != good || err != nil && (!strings.Contains(err.Error(), "TLS key = ")) {
			t.Errorf("mode %#o: %v", mode, err)
		}
	}
}
