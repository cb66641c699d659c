package serve

import (
	"context"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/votes"
)

// large is a service whose ledger holds 40, and whose answers cost 4 each: after two, one more would
// make a total of ε = 12, which protects nobody.
func large(t *testing.T) (Options, *buffer) {
	t.Helper()
	return holding(t, 40, 0.5)
}

// holding is the same of a ledger that holds so much.
func holding(t *testing.T, epsilon, delta float64) (Options, *buffer) {
	t.Helper()
	budget, err := ledger.NewBudget(epsilon, delta)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	book, err := ledger.Create(t.Context(), filepath.Join(dir, "ledger"), budget, ledger.ReplaceOne)
	if err != nil {
		t.Fatal(err)
	}
	m, err := ensemble.PermuteAndFlip(ensemble.Setting{K: teachers, Classes: len(classes), Affected: 1,
		Neighbours: accountant.ReplaceOne}, 4)
	if err != nil {
		t.Fatal(err)
	}
	online, err := release.OpenOnline(t.Context(), release.OnlineOptions{
		Plan: must.Get(release.NewPlan(m))(t), Charge: release.Charge{Ledger: book.Path()},
		Key: filepath.Join(dir, "key"), Stated: disjoint, Missing: votes.MissingCoin})
	if err != nil {
		t.Fatal(err)
	}
	log := new(buffer)
	return Options{Online: online, Classes: classes, Log: slog.New(slog.NewJSONHandler(log, nil))}, log
}

// What remains, in answers and in refusals, is the least of the ledger, of the rule on totals, and
// of the client's share; who may not look is told of its own share and of nothing else.
func TestRemaining(t *testing.T) {
	o, log := large(t)
	var tokens []string
	client := func(c Client) string {
		token, hash := NewToken()
		c.TokenSHA256 = []string{hash}
		o.Clients, tokens = append(o.Clients, c), append(tokens, token)
		return token
	}
	all := client(Client{Name: "all"})
	some := client(Client{Name: "some", Epsilon: new(5.0), Delta: new(0.001)})
	blind := client(Client{Name: "blind", May: []string{mayAnswer}})
	own := client(Client{Name: "own", Epsilon: new(100.0), Delta: new(0.25), May: []string{mayAnswer}})
	s := newServer(t, o)
	step := func(token, id string, status int, left string) (message string) {
		t.Helper()
		got, body, _ := ask(s, "POST", "/v1/answers", one(id), bearer(token)...)
		var out struct {
			Remaining json.RawMessage
			Error     struct {
				Message   string
				Remaining json.RawMessage
			}
		}
		if err := json.Unmarshal([]byte(body), &out); err != nil {
			t.Fatal(err)
		}
		if said := string(out.Remaining) + string(out.Error.Remaining); got != status || said != left {
			t.Errorf("%s: %d %s, want %d %s", id, got, said, status, left)
		}
		return out.Error.Message
	}
	step(some, "a", 200, `{"epsilon":1,"delta":0.001}`) // of its share
	step(blind, "b", 200, "")
	s.warnOfRest(t.Context())
	if said := log.String(); !strings.Contains(said, "stops before its ledger is spent") ||
		!strings.Contains(said, "32") || !strings.Contains(said, "(2, ") {
		t.Errorf("the log: %s", said)
	}
	_, body, _ := ask(s, "GET", "/v1/budget", "", bearer(all)...)
	var b struct {
		Usable, Remaining struct{ Epsilon, Delta json.Number }
	}
	if err := json.Unmarshal([]byte(body), &b); err != nil || b.Usable.Epsilon != "2" ||
		b.Remaining.Epsilon != "32" {
		t.Errorf("%s, %v", body, err)
	}
	limit := `{"epsilon":2,"delta":` + b.Usable.Delta.String() + `}`
	if d, err := b.Usable.Delta.Float64(); err != nil || !(d < 0.01 && d > 0.0099) {
		t.Errorf("δ %v, %v", d, err)
	}
	step(all, "c", 429, limit)
	step(some, "d", 429, `{"epsilon":1,"delta":0.001}`)
	if said := step(blind, "e", 429, ""); strings.ContainsAny(said, "0123456789") {
		t.Errorf("who may not look is told %q", said)
	}
	if said := step(own, "f", 429, `{"epsilon":100,"delta":0.25}`); strings.ContainsAny(said,
		"0123456789") {
		t.Errorf("who may not look is told %q", said)
	}
	_, body, _ = ask(s, "GET", "/metrics", "", bearer(all)...)
	for _, want := range []string{`darrm_budget_epsilon{part="remaining"} 32`,
		`darrm_budget_epsilon{part="usable"} 2`, `darrm_client_epsilon{client="some",part="spent"} 4`,
		`darrm_client_epsilon{client="some",part="granted"} 5`,
		`darrm_client_requests_total{client="some",outcome="answered"} 1`,
		`darrm_client_requests_total{client="blind",outcome="budget"} 1`, "darrm_build_info{"} {
		if !strings.Contains(body, want) {
			t.Errorf("the metrics have no %s", want)
		}
	}
	// An answer that is given again is given however little is left.
	step(some, "a", 200, `{"epsilon":1,"delta":0.001}`)
}

// Of a table for many answers the answers that are left are told, of a share those of the share.
func TestRemainingAnswers(t *testing.T) {
	o := Options{Online: manyAnswers(t), Classes: []string{"no", "yes"}}
	first, firstHash := NewToken()
	second, secondHash := NewToken()
	o.Clients = []Client{{Name: "a", TokenSHA256: []string{firstHash}},
		{Name: "b", TokenSHA256: []string{secondHash}, Answers: new(uint64(2)), May: []string{mayAnswer}}}
	s := newServer(t, o)
	for i, c := range []struct{ token, left string }{
		{first, `"answers":4}`}, {second, `"remaining":{"answers":1}`}, {second, `"remaining":{"answers":0}`},
		{second, `"remaining":{"answers":0}`}, {first, `"answers":1}`}, {first, `"answers":0}`},
		{first, `"answers":0}`},
	} {
		status, body, _ := ask(s, "POST", "/v1/answers", three(string(rune('p'+i))), bearer(c.token)...)
		if want := []int{200, 200, 200, 429, 200, 200, 429}[i]; status != want ||
			!strings.Contains(body, c.left) {
			t.Errorf("%d: %d %s, want %d with %s", i, status, body, want, c.left)
		}
	}
	// A number that cannot be read is none, and not 0.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range append(o.Clients, Client{Name: "c", Certificate: "c", Epsilon: new(1.0), Delta: new(0.1), May: []string{mayAnswer}}) {
		m := must.Get(newMember(c))(t)
		if got := s.rest(ctx, m, ledger.State{}); got != nil {
			t.Errorf("%s: %+v is left, by a ledger that cannot be read", c.Name, got)
		}
	}
}

// A server that spends its whole ledger warns of nothing.
func TestNoWarningOfWhatCanBeSpent(t *testing.T) {
	o, log := holding(t, 8, 1e-3)
	s := newServer(t, o)
	if s.warnOfRest(t.Context()); log.String() != "" {
		t.Errorf("the log: %s", log)
	}
}
