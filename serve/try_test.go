package serve

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/ledger/ledgertest"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/serve/page"
)

// newTried is the service of newOptions with a ledger in memory.
func newTried(t testing.TB) Options {
	t.Helper()
	o, _, _ := newOptions(t, 2)
	budget, err := ledger.NewBudget(2*perQuery, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	o.Online, err = release.OpenOnline(t.Context(), release.OnlineOptions{
		Plan: o.Online.Plan(), Charge: release.Charge{AcceptWeak: true},
		Book: ledgertest.New(t, budget, ledger.ReplaceOne), Key: filepath.Join(t.TempDir(), "key"),
		Stated: disjoint,
	})
	if err != nil {
		t.Fatal(err)
	}
	p, err := page.New(page.Service{Plan: o.Online.Plan(), Classes: classes})
	if err != nil {
		t.Fatal(err)
	}
	o.Page = p.Handler(o.Online.Ledger)
	return o
}

// Without TLS and without clients a server listens for a ledger in memory alone, on the loopback
// device alone, and takes no clients later. Answers, the budget and the page say that nothing was
// released.
func TestListenToTry(t *testing.T) {
	o, _, _ := newOptions(t, 1)
	if l, err := newServer(t, o).ListenToTry(t.Context()); err == nil {
		l.Close()
		t.Error("a ledger in a file pays for answers that everybody on the machine may ask for")
	}
	o = newTried(t)
	_, hash := NewToken()
	client := Client{Name: "a", TokenSHA256: []string{hash}}
	o.Clients = []Client{client}
	if l, err := newServer(t, o).ListenToTry(t.Context()); err == nil {
		l.Close()
		t.Error("tokens would travel without TLS")
	}
	o.Clients = nil
	s := newServer(t, o)
	l, err := s.ListenToTry(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if at, ok := l.Addr().(*net.TCPAddr); !ok || !at.IP.IsLoopback() {
		t.Errorf("it listens on %v", l.Addr())
	}
	if err := s.SetClients([]Client{client}); err == nil {
		t.Error("it takes clients, whose tokens would travel without TLS")
	}
	go func() { _ = s.Serve(t.Context(), l) }()
	ask := func(path, body string) string {
		t.Helper()
		url := "http://" + l.Addr().String() + path
		w, err := http.Get(url)
		if body != "" {
			w, err = http.Post(url, "application/json", bytes.NewReader([]byte(body)))
		}
		if err != nil {
			t.Fatal(err)
		}
		defer w.Body.Close()
		b, err := io.ReadAll(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for _, c := range [][3]string{
		{"/v1/answers", `{"request_id":"a","votes":[0,0,0,1,2]}`, `"simulated":true`},
		{"/v1/budget", "", `"simulated":true`}, {"/", "", "no release: the ledger is in memory"},
	} {
		if got := ask(c[0], c[1]); !strings.Contains(got, c[2]) {
			t.Errorf("%s has no %s: %s", c[0], c[2], got)
		}
	}
}

// A site whose name leads to the loopback device is not answered: its scripts would ask as a reader
// of the page.
func TestTriedByItsOwnNameAlone(t *testing.T) {
	s := newServer(t, newTried(t))
	l, err := s.ListenToTry(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for host, want := range map[string]int{"127.0.0.1:8080": 200, "localhost:8080": 200,
		"example.com:8080": 421, "": 421} {
		for _, path := range []string{"/", "/v1/budget", "/metrics", "/healthz"} {
			r := httptest.NewRequest("GET", path, nil)
			r.Host = host
			w := httptest.NewRecorder()
			if s.ServeHTTP(w, r); w.Code != want {
				t.Errorf("%s of %q: %d", path, host, w.Code)
			}
		}
	}
}

// Releases are not marked.
func TestReleasesAreNotMarked(t *testing.T) {
	o, _, _ := newOptions(t, 1)
	s := newServer(t, o)
	for _, c := range [][3]string{
		{"POST", "/v1/answers", `{"request_id":"a","votes":[0,0,0,1,2]}`}, {"GET", "/v1/budget", ""},
	} {
		status, body, _ := ask(s, c[0], c[1], c[2])
		if status != 200 || strings.Contains(body, "simulated") {
			t.Errorf("%s: %d %s", c[1], status, body)
		}
	}
}
