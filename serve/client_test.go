package serve

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// A request with no token, or a wrong one, gets no information and is charged nothing. A token that
// is right but for its end, or longer, gets no more.
func TestTokens(t *testing.T) {
	o, book, _ := newOptions(t, 10)
	token, hash := NewToken()
	looks, looksHash := NewToken()
	asks, asksHash := NewToken()
	o.Clients = []Client{
		{Name: "all", TokenSHA256: []string{hash}},
		{Name: "looks", TokenSHA256: []string{looksHash}, May: []string{mayLook}},
		{Name: "asks", TokenSHA256: []string{strings.ToUpper(asksHash)}, May: []string{mayAnswer}},
		{Name: "by-certificate", Certificate: "cn"},
	}
	s := newServer(t, o)
	if len(token) < 40 || token == looks || !strings.HasPrefix(token, tokenPrefix) {
		t.Errorf("tokens %q and %q", token, looks)
	}
	for name, header := range map[string][]string{
		"none": {}, "other": bearer("darrm_x"), "empty": bearer(""), "cut": bearer(token[:len(token)-1]),
		"longer": bearer(token + "x"), "of a space": bearer(token + " "),
		"hash": bearer(hash), "scheme": {"Authorization", "Basic " + token},
		"no scheme": {"Authorization", token},
	} {
		for _, path := range []string{"/v1/answers", "/v1/budget", "/v1/mechanism", "/metrics",
			"/openapi.json", "/"} {
			method := "GET"
			if path == "/v1/answers" {
				method = "POST"
			}
			status, body, h := ask(s, method, path, one("a"), header...)
			if wantKind(t, body, kindUnauthorized); status != 401 || h.Get("WWW-Authenticate") != "Bearer" {
				t.Errorf("%s %s: %d %v", name, path, status, h)
			}
		}
	}
	r := httptest.NewRequest("POST", "/v1/answers", strings.NewReader(one("a")))
	r.Header["Authorization"] = []string{"Bearer " + token, "Bearer " + token}
	w := httptest.NewRecorder()
	if s.ServeHTTP(w, r); w.Code != 401 {
		t.Errorf("two tokens: %d", w.Code)
	}
	checkSpent(t, book, 0)
	if status, body, _ := ask(s, "GET", "/healthz", ""); status != 200 ||
		body != "{\"status\":\"ok\"}\n" {
		t.Errorf("health: %d %s", status, body)
	}
	for _, c := range []struct {
		token, method, path string
		want                int
	}{
		// another client's id
		{token, "POST", "/v1/answers", 200}, {token, "GET", "/v1/budget", 200},
		{asks, "POST", "/v1/answers", 409},
		{looks, "POST", "/v1/answers", 403}, {looks, "GET", "/v1/mechanism", 200},
		{looks, "GET", "/metrics", 200}, {asks, "GET", "/v1/budget", 403},
	} {
		if status, body, _ := ask(s, c.method, c.path, one("a"), bearer(c.token)...); status != c.want {
			t.Errorf("%s: %d, want %d: %s", c.path, status, c.want, body)
		}
	}
	checkSpent(t, book, 1)
}

// A hash opens to its whole token: none of its bytes is left out, in any of a client's hashes.
func TestEveryByteOfAHashCounts(t *testing.T) {
	token, hash := NewToken()
	_, other := NewToken()
	opens := func(hashes ...string) bool {
		t.Helper()
		all, err := newMembers([]Client{{Name: "a", TokenSHA256: hashes}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		_, fail := (&policy{clients: all}).of(r)
		return fail == nil
	}
	if !opens(hash) || !opens(other, hash) || !opens(hash, other) || opens(other) {
		t.Fatal("the token, and no other, must open")
	}
	for i := range len(hash) {
		digit := "0"
		if hash[i] == '0' {
			digit = "1"
		}
		if near := hash[:i] + digit + hash[i+1:]; opens(near) || opens(other, near) {
			t.Errorf("digit %d does not count", i)
		}
	}
}

// A token is changed without a gap: the old one and the new one open while both stand there, and
// the client's rate and its requests under way are the same.
func TestTokensRotate(t *testing.T) {
	o, _, _ := newOptions(t, 1)
	old, oldHash := NewToken()
	next, nextHash := NewToken()
	o.Clients = []Client{{Name: "a", TokenSHA256: []string{oldHash}, Rate: 1e-6, Burst: 100}}
	s := newServer(t, o)
	was := s.policy.Load().clients[0]
	for _, c := range []struct {
		hashes     []string
		old, fresh int
	}{{[]string{oldHash}, 200, 401}, {[]string{nextHash, oldHash}, 200, 200},
		{[]string{nextHash}, 401, 200}} {
		if err := s.SetClients([]Client{{Name: "a", TokenSHA256: c.hashes, Rate: 1e-6,
			Burst: 100}}); err != nil {
			t.Fatal(err)
		}
		for token, want := range map[string]int{old: c.old, next: c.fresh} {
			if status, body, _ := ask(s, "GET", "/v1/budget", "", bearer(token)...); status != want {
				t.Errorf("%d hashes: %d %s, want %d", len(c.hashes), status, body, want)
			}
		}
		if m := s.policy.Load().clients[0]; m.limiter != was.limiter || m.room != was.room {
			t.Error("the client begins anew")
		}
	}
}

// A certificate names a client by its common name, once the connection has verified it.
func TestCertificates(t *testing.T) {
	ca, _, authority := certificate(t, "ca", nil)
	cert, key, _ := certificate(t, "server", authority)
	_, _, stranger := certificate(t, "ca", nil)
	chain := func(name string, by *tls.Certificate, change ...func(*x509.Certificate)) *tls.ConnectionState {
		_, _, c := certificate(t, name, by, change...)
		return &tls.ConnectionState{PeerCertificates: []*x509.Certificate{c.Leaf}}
	}
	old := func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) }
	o, _, _ := newOptions(t, 10)
	_, hash := NewToken()
	o.Clients = []Client{{Name: "by-token", TokenSHA256: []string{hash}},
		{Name: "ward", Certificate: "ward-3"}}
	s := newServer(t, o)
	l, err := s.Listen(t.Context(), Address{Listen: "tcp:127.0.0.1:0", Cert: cert, Key: key,
		ClientCA: ca})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for i, c := range []struct {
		state *tls.ConnectionState
		want  int
	}{
		{nil, 401}, {&tls.ConnectionState{}, 401},
		{chain("ward-3", stranger), 401}, {chain("ward-3", nil), 401},
		{chain("ward-3", authority, old), 401},
		{chain("ward-4", authority), 401}, {chain("", authority), 401},
		{chain("ward-3", authority), 200},
	} {
		r := httptest.NewRequest("GET", "/v1/budget", nil)
		r.TLS = c.state
		w := httptest.NewRecorder()
		if s.ServeHTTP(w, r); w.Code != c.want {
			t.Errorf("%d: %d, want %d", i, w.Code, c.want)
		}
	}
}

// A certificate that is a server's is no client's.
func TestCertificateIsOfAClient(t *testing.T) {
	_, _, authority := certificate(t, "ca", nil)
	pool := x509.NewCertPool()
	pool.AddCert(authority.Leaf)
	p := &policy{tls: &tls.Config{ClientCAs: pool}}
	_, _, server := certificate(t, "ward-3", authority, func(c *x509.Certificate) {
		c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	})
	_, _, client := certificate(t, "ward-3", authority)
	if p.signed([]*x509.Certificate{server.Leaf}) || !p.signed([]*x509.Certificate{client.Leaf}) {
		t.Error("a client is who has a client's certificate, and nobody else")
	}
}

// A share ends where it should, for its client alone, after every start; the client sees what is
// left.
func TestShares(t *testing.T) {
	o, book, _ := newOptions(t, 10)
	token, hash := NewToken()
	free, freeHash := NewToken()
	o.Clients = []Client{{Name: "a", TokenSHA256: []string{hash}, Epsilon: new(2 * perQuery),
		Delta: new(0.0)}, {Name: "b", TokenSHA256: []string{freeHash}}}
	for start, want := range []map[string]int{{"1": 200, "2": 200, "3": 429},
		{"1": 200, "2": 200, "3": 429, "4": 429}} {
		s := newServer(t, o)
		for _, id := range []string{"1", "2", "3", "4"} {
			if want[id] == 0 {
				continue
			}
			status, body, _ := ask(s, "POST", "/v1/answers", one(id), bearer(token)...)
			if status != want[id] {
				t.Errorf("start %d, %s: %d %s", start, id, status, body)
			}
			if status == 429 {
				wantKind(t, body, kindBudget)
				if !strings.Contains(body, `"remaining":{"epsilon":0,"delta":0}`) {
					t.Errorf("%s", body)
				}
			}
		}
		_, body, _ := ask(s, "GET", "/v1/budget", "", bearer(token)...)
		var b budget
		if err := json.Unmarshal([]byte(body), &b); err != nil || b.Client == nil ||
			b.Client.Name != "a" || b.Client.Spent.Epsilon != "0.5" || b.Client.Remaining.Epsilon != "0" {
			t.Errorf("%s, %v", body, err)
		}
	}
	s := newServer(t, o)
	if status, body, _ := ask(s, "POST", "/v1/answers", one("b1"), bearer(free)...); status != 200 {
		t.Errorf("%d %s", status, body)
	}
	if _, body, _ := ask(s, "GET", "/v1/budget", "", bearer(free)...); strings.Contains(body,
		`"client"`) {
		t.Errorf("%s", body)
	}
	checkSpent(t, book, 3)
}

// A rate holds over time, for queries and not for requests, says when to come again, and outlives
// a new reading of the clients.
func TestRates(t *testing.T) {
	m, err := newMember(Client{Name: "a", Certificate: "a", Rate: 2, Burst: 3})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1000, 0)
	step := func(n int, kind string, after int) {
		t.Helper()
		f := m.allow(n, now)
		if (f == nil) != (kind == "") || f != nil && (f.Kind != kind || f.RetryAfter != after) {
			t.Errorf("%d answers: %+v", n, f)
		}
	}
	step(3, "", 0)
	step(1, kindRate, 1)
	step(4, kindTooLarge, 0) // never
	now = now.Add(500 * time.Millisecond)
	step(2, kindRate, 1)
	step(1, "", 0) // what was refused took nothing
	all, err := newMembers([]Client{m.Client}, members{m})
	if err != nil {
		t.Fatal(err)
	}
	m = all[0]
	step(1, kindRate, 1)
	if m, err = newMember(Client{Name: "a", Certificate: "a"}); err != nil ||
		m.allow(1e6, now) != nil {
		t.Errorf("no rate: %v", err)
	}
	o, book, _ := newOptions(t, 10)
	token, hash := NewToken()
	o.Clients = []Client{{Name: "a", TokenSHA256: []string{hash}, Rate: 1e-3, Burst: 2}}
	s := newServer(t, o)
	// A batch takes as much as its queries by themselves.
	if status, body, _ := ask(s, "POST", "/v1/answers", `{"requests":[`+one("x")+`,`+one("y")+`,`+
		one("z")+`]}`, bearer(token)...); status != 413 || !strings.Contains(body, `"most":2}`) {
		t.Errorf("%d %s", status, body)
	}
	for _, want := range []int{200, 200, 429} {
		status, body, h := ask(s, "POST", "/v1/answers", one("a"), bearer(token)...)
		if status != want || want == 429 && h.Get("Retry-After") == "" {
			t.Errorf("%d %s %v", status, body, h)
		}
	}
	checkSpent(t, book, 1)
}

func TestClientsAreChecked(t *testing.T) {
	_, hash := NewToken()
	o, _, _ := newOptions(t, 1)
	for name, clients := range map[string][]Client{
		"no name": {{TokenSHA256: []string{hash}}}, "name": {{Name: "a b", TokenSHA256: []string{hash}}},
		"name of lines": {{Name: "a\n", TokenSHA256: []string{hash}}}, "nothing": {{Name: "a"}},
		"both":         {{Name: "a", TokenSHA256: []string{hash}, Certificate: "a"}},
		"short hash":   {{Name: "a", TokenSHA256: []string{hash[:62]}}},
		"no hash":      {{Name: "a", TokenSHA256: []string{strings.Repeat("x", 64)}}},
		"half a share": {{Name: "a", TokenSHA256: []string{hash}, Epsilon: new(1.0)}},
		"share of nothing": {{Name: "a", TokenSHA256: []string{hash}, Epsilon: new(0.0),
			Delta: new(0.0)}},
		"negative": {{Name: "a", TokenSHA256: []string{hash}, Epsilon: new(-1.0),
			Delta: new(0.0)}},
		"rate":        {{Name: "a", TokenSHA256: []string{hash}, Rate: -1}},
		"burst":       {{Name: "a", TokenSHA256: []string{hash}, Burst: 1}},
		"may":         {{Name: "a", TokenSHA256: []string{hash}, May: []string{"all"}}},
		"twice":       {{Name: "a", TokenSHA256: []string{hash}}, {Name: "a", Certificate: "a"}},
		"empty list":  {{Name: "a", TokenSHA256: []string{}}},
		"second hash": {{Name: "a", TokenSHA256: []string{hash, "00"}}},
		"one token": {{Name: "a", TokenSHA256: []string{hash}},
			{Name: "b", TokenSHA256: []string{strings.ToUpper(hash)}}},
		"one certificate": {{Name: "a", Certificate: "a"}, {Name: "b", Certificate: "a"}},
	} {
		o.Clients = clients
		if _, err := New(o); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	// A client that may do nothing may do nothing.
	o.Clients = []Client{{Name: "a", TokenSHA256: []string{hash}, May: []string{}}}
	s := newServer(t, o)
	if m := s.policy.Load().clients[0]; m.may(mayAnswer) || m.may(mayLook) {
		t.Error("it may")
	}
}

// The hash of an empty token opens to nobody: it is what a variable that was not set gives.
func TestEmptyTokenIsNone(t *testing.T) {
	for token, fits := range map[string]bool{"": false, " ": true, "t": true} {
		sum := sha256.Sum256([]byte(token))
		_, err := newMember(Client{Name: "a", TokenSHA256: []string{hex.EncodeToString(sum[:])}})
		if (err == nil) != fits || err != nil && !strings.Contains(err.Error(), "empty token") {
			t.Errorf("%q: %v", token, err)
		}
	}
}
