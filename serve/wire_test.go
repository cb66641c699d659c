package serve

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// What is no request is refused as everything else is, as JSON, with and without TLS; it is counted,
// and the connection ends.
func TestRefusedBeforeItIsARequest(t *testing.T) {
	cert, key, own := certificate(t, "server", nil)
	o, _, log := newOptions(t, 1)
	token, hash := NewToken()
	o.Clients = []Client{{Name: "a", TokenSHA256: []string{hash}}}
	s := newServer(t, o)
	l, err := s.Listen(t.Context(), Address{Listen: "tcp:127.0.0.1:0", Cert: cert, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	stop := serving(t, s, l)
	roots := x509.NewCertPool()
	roots.AddCert(own.Leaf)
	over := map[string]func() (net.Conn, error){
		"TLS": func() (net.Conn, error) {
			return tls.Dial("tcp", l.Addr().String(), &tls.Config{RootCAs: roots})
		},
	}
	plainly := newServer(t, Options{Online: o.Online})
	p := &pipes{make(chan net.Conn), make(chan struct{})}
	stopPlain := serving(t, plainly, p)
	over["a socket"] = func() (net.Conn, error) {
		c, _ := p.dial()
		return c, nil
	}
	head := "GET /v1/budget HTTP/1.1\r\nHost: d\r\nAuthorization: Bearer " + token + "\r\n"
	for name, dial := range over {
		for sent, want := range map[string]struct {
			status int
			kind   string
		}{
			head + "X: " + strings.Repeat("x", 30000) + "\r\n\r\n": {431, kindTooLarge},
			"GET /v1/budget HTTP/1.1\r\n\r\n":                      {400, kindInvalid},
			"nothing of HTTP\r\n\r\n":                              {400, kindInvalid},
			"GET / HTTP/3.0\r\nHost: d\r\n\r\n":                    {505, kindInvalid},
			head + "Transfer-Encoding: gzip\r\n\r\n":               {501, kindInvalid},
		} {
			c, err := dial()
			if err != nil {
				t.Fatal(err)
			}
			say(c, sent)
			got, err := io.ReadAll(c)
			c.Close()
			head, body, _ := strings.Cut(string(got), "\r\n\r\n")
			if !strings.HasPrefix(head, fmt.Sprintf("HTTP/1.1 %d ", want.status)) || !strings.Contains(head, "Content-Type: application/json") {
				t.Errorf("%s: %.40q: %q, %v", name, sent, got, err)
				continue
			}
			wantKind(t, body, want.kind)
		}
	}
	// HTTP where TLS is spoken.
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	say(c, head, "")
	got, _ := io.ReadAll(c)
	if !strings.HasPrefix(string(got), "HTTP/1.1 400 ") || !strings.Contains(string(got), `"kind":"invalid"`) {
		t.Errorf("without TLS: %q", got)
	}
	c.Close()
	_, body, _ := ask(s, "GET", "/metrics", "", bearer(token)...)
	if !strings.Contains(body, `darrm_requests_total{outcome="too_large"} 1`) ||
		!strings.Contains(body, `darrm_requests_total{outcome="invalid"} 5`) ||
		!strings.Contains(body, "darrm_tls_certificate_expiry_seconds 1.") {
		t.Errorf("the metrics: %s", body)
	}
	for _, end := range []func() error{stop, stopPlain} {
		if err := end(); err != nil {
			t.Error(err)
		}
	}
	if said := log.String(); strings.Count(said, `"msg":"refused"`) != 6 ||
		strings.Count(said, "connection failed") != 1 {
		t.Errorf("the log: %s", said)
	}
}

// A path is taken as it stands, by who is known or not; what may be asked has its methods, HEAD among
// them, and nothing that is answered is kept on the way.
func TestPathsAndMethods(t *testing.T) {
	o, _, _ := newOptions(t, 1)
	o.API = []byte("{}")
	o.Page = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("p")) })
	token, hash := NewToken()
	o.Clients = []Client{{Name: "a", TokenSHA256: []string{hash}}}
	s := newServer(t, o)
	for _, path := range []string{"//v1/budget", "/v1//budget", "/v1/./budget", "/v1/../v1/budget", "/v1/budget/",
		"/v1%2Fbudget", "/v1/budge%74", "//", "/%2e/"} {
		for _, header := range [][]string{nil, bearer(token)} {
			status, body, h := ask(s, "GET", path, "", header...)
			if wantKind(t, body, kindNotFound); status != 404 || h.Get("Location") != "" {
				t.Errorf("%s: %d %v", path, status, h)
			}
		}
	}
	for _, path := range []string{"/", "/v1/budget", "/v1/mechanism", "/metrics", "/openapi.json", "/healthz"} {
		status, _, h := ask(s, "POST", path, "", bearer(token)...)
		if status != 405 || h.Get("Allow") != "GET, HEAD" {
			t.Errorf("POST %s: %d %v", path, status, h)
		}
		for _, method := range []string{"GET", "HEAD"} {
			for _, header := range [][]string{nil, bearer(token)} {
				status, _, h := ask(s, method, path, "", header...)
				if h.Get("Cache-Control") != "no-store" || status != 200 && (path == "/healthz" || header != nil) {
					t.Errorf("%s %s: %d %v", method, path, status, h)
				}
			}
		}
	}
	if status, _, h := ask(s, "GET", "/v1/answers", "", bearer(token)...); status != 405 || h.Get("Allow") != "POST" {
		t.Errorf("GET /v1/answers: %d %v", status, h)
	}
}

// A body that does not arrive in time is no body that is wrong: the same request may come again.
func TestSlowBody(t *testing.T) {
	o, book, _ := newOptions(t, 1)
	synctest.Test(t, func(t *testing.T) {
		token, hash := NewToken()
		o.Clients = []Client{{Name: "a", TokenSHA256: []string{hash}}}
		s := newServer(t, o)
		l := &pipes{make(chan net.Conn), make(chan struct{})}
		defer serving(t, s, l)()
		c, from := l.dial()
		defer c.Close()
		say(c, "POST /v1/answers HTTP/1.1", "Host: d", "Authorization: Bearer "+token,
			"Content-Type: application/json", "Content-Length: 1000", "", "{")
		start := time.Now()
		w, err := http.ReadResponse(from, nil)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(w.Body)
		if wantKind(t, string(b), kindTimeout); w.StatusCode != 408 || w.Header.Get("Retry-After") != "1" ||
			time.Since(start) > DefaultTimeout+headerTimeout+time.Second {
			t.Errorf("%d %s after %v", w.StatusCode, b, time.Since(start))
		}
	})
	checkSpent(t, book, 0)
}
