package serve

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A client keeps what is left of its rate over a reload, and has the new rate where it is another.
func TestRateChanges(t *testing.T) {
	o, _, _ := newOptions(t, 1)
	token := strings.Repeat("ab", 32)
	client := func(name, token string, rate float64, burst int) Client {
		return Client{Name: name, TokenSHA256: []string{token}, Rate: rate, Burst: burst,
			May: []string{mayAnswer}}
	}
	o.Clients = []Client{client("a", token, 1, 5)}
	s := newServer(t, o)
	limiter := s.policy.Load().clients[0].limiter
	for _, c := range []struct {
		client Client
		kept   bool
	}{
		{client("a", token, 1, 5), true},
		{client("a", token, 2, 5), false},
		{client("a", token, 1, 6), false},
		{client("b", token, 1, 5), false},
	} {
		if err := s.SetClients([]Client{c.client}); err != nil {
			t.Fatal(err)
		}
		got := s.policy.Load().clients[0].limiter
		if (got == limiter) != c.kept {
			t.Errorf("%s, rate %g, burst %d: kept = %t", c.client.Name, c.client.Rate, c.client.Burst, !c.kept)
		}
		if float64(got.Limit()) != c.client.Rate || got.Burst() != c.client.Burst {
			t.Errorf("%s: limit %v, burst %d", c.client.Name, got.Limit(), got.Burst())
		}
		if err := s.SetClients(o.Clients); err != nil {
			t.Fatal(err)
		}
		limiter = s.policy.Load().clients[0].limiter
	}
}

// On a socket clients have tokens, and are reloaded without certificates.
func TestClientsOfASocket(t *testing.T) {
	o, _, _ := newOptions(t, 1)
	o.Clients = []Client{{Name: "a", TokenSHA256: []string{strings.Repeat("ab", 32)},
		May: []string{mayAnswer}}}
	s := newServer(t, o)
	l, err := s.Listen(t.Context(), Address{Listen: "unix:" + filepath.Join(t.TempDir(), "s")})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	more := append([]Client{{Name: "b", TokenSHA256: []string{strings.Repeat("cd", 32)},
		May: []string{mayAnswer}}}, o.Clients...)
	if err := s.Reload(t.Context(), *s.at, more); err != nil || len(s.policy.Load().clients) != 2 {
		t.Errorf("reloaded: %v", err)
	}
	shown := []Client{{Name: "c", Certificate: "c", May: []string{mayAnswer}}}
	if err := s.Reload(t.Context(), *s.at, shown); err == nil || !strings.Contains(err.Error(), `"c"`) {
		t.Errorf("a certificate on a socket: %v", err)
	}
	if len(s.policy.Load().clients) != 2 {
		t.Error("clients changed by a refused reload")
	}
}

// Where the system refuses to listen, so does the server, by an error that names the address.
func TestAddressThatCannotBeHad(t *testing.T) {
	o, _, _ := newOptions(t, 1)
	o.Clients = []Client{{Name: "a", TokenSHA256: []string{strings.Repeat("ab", 32)},
		May: []string{mayAnswer}}}
	long := "unix:" + filepath.Join(t.TempDir(), strings.Repeat("x", 200))
	if l, err := newServer(t, o).Listen(t.Context(), Address{Listen: long}); err == nil ||
		!strings.Contains(err.Error(), long) || l != nil {
		t.Errorf("a name longer than a socket's: %v", err)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	cert, key, _ := certificate(t, "server", nil)
	at := "tcp:" + taken.Addr().String()
	if l, err := newServer(t, o).Listen(t.Context(), Address{Listen: at, Cert: cert,
		Key: key}); err == nil || !strings.Contains(err.Error(), at) || l != nil {
		t.Errorf("a port in use: %v", err)
	}
}

// Every body that is cut off somewhere is refused and costs nothing.
func TestCutBodies(t *testing.T) {
	o, book, _ := newOptions(t, 3)
	s := newServer(t, o)
	body := one("a")
	for n := range len(body) {
		if status, said, _ := ask(s, "POST", "/v1/answers", body[:n]); status != 400 {
			t.Errorf("%q: %d %s", body[:n], status, said)
		}
	}
	for _, other := range []string{"[" + body[1:len(body)-1] + "]", "[]", "7", `"a"`} {
		if status, said, _ := ask(s, "POST", "/v1/answers", other); status != 400 {
			t.Errorf("%q: %d %s", other, status, said)
		}
	}
	checkSpent(t, book, 0)
}

// The metrics tell answers from those that are given again, and have each one's time.
func TestMetricsOfAnswers(t *testing.T) {
	o, _, _ := newOptions(t, 2)
	s := newServer(t, o)
	for _, id := range []string{"a", "b", "a", "a"} {
		if status, said, _ := ask(s, "POST", "/v1/answers", one(id)); status != 200 {
			t.Fatal(said)
		}
	}
	_, said, _ := ask(s, "GET", "/metrics", "")
	for _, want := range []string{
		`darrm_requests_total{outcome="answered"} 2`, `darrm_requests_total{outcome="replayed"} 2`,
		"darrm_ledger_seconds_count 4",
	} {
		if !strings.Contains(said, want+"\n") {
			t.Errorf("no %s in\n%s", want, said)
		}
	}
}

// A budget that cannot be read is a failure, not one of nothing.
func TestBudgetOfADamagedLedger(t *testing.T) {
	o, book, _ := newOptions(t, 1)
	s := newServer(t, o)
	if status, said, _ := ask(s, "GET", "/v1/budget", ""); status != 200 {
		t.Fatal(said)
	}
	if err := os.WriteFile(book.Path(), []byte("damaged\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, said, _ := ask(s, "GET", "/v1/budget", ""); status != 503 {
		t.Errorf("%d %s", status, said)
	}
}
