package serve

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/accountant/game"
	"github.com/darrm/darrm/accountant/noisymax"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/plurality/answers"
	"github.com/darrm/darrm/plurality/answers/solve"
	"github.com/darrm/darrm/release"
)

// manyAnswers is a release by a table for five answers of three teachers.
func manyAnswers(t *testing.T) *release.Online {
	t.Helper()
	_, book, _ := newOptions(t, 20)
	p := answers.Problem{K: 3, Classes: 2, Affected: 1, Answers: 5, Epsilon: 2, Delta: 1e-3}
	table := must.Get(solve.Best(t.Context(), p, answers.DefaultPrior(p), solve.Options{
		Law: answers.NormalLaw, Price: game.Options{Step: 1}}))(t)
	return must.Get(byTable(t, release.Table{Answers: table}, disjoint, book.Path()))(t)
}

// byTable opens a release by a table for many answers.
func byTable(t *testing.T, table release.Table, stated ensemble.Stated, ledger string) (*release.Online, error) {
	t.Helper()
	return release.OpenOnline(t.Context(), release.OnlineOptions{
		Plan:   must.Get(table.Plan(accountant.ReplaceOne))(t),
		Stated: stated, Charge: release.Charge{Ledger: ledger}, Key: filepath.Join(t.TempDir(), "key"),
	})
}

// three is a query to it.
func three(id string) string {
	return `{"request_id":"` + id + `","replay_key":"` + myKey + `","votes":[1,0,1]}`
}

// A table for many answers is charged once; the answer after its last one, or after a client's
// last one, is refused with 429, and what is left is shown. The promise is of all answers. A share
// of the budget would bound nothing, and the other way round.
func TestManyAnswersOnLine(t *testing.T) {
	online := manyAnswers(t)
	token, hash := NewToken()
	free, freeHash := NewToken()
	s := newServer(t, Options{Online: online, Classes: []string{"no", "yes"}, Clients: []Client{
		{Name: "a", TokenSHA256: []string{hash}, Answers: new(uint64(3))},
		{Name: "b", TokenSHA256: []string{freeHash}}}})
	for _, c := range []struct {
		id, token string
		want      int
	}{
		{"1", token, 200}, {"2", token, 200}, {"1", token, 200}, {"3", token, 200}, {"4", token, 429},
		{"5", free, 200}, {"6", free, 200}, {"7", free, 429}, {"6", free, 200}, {"3", token, 200},
	} {
		status, body, _ := ask(s, "POST", "/v1/answers", three(c.id), bearer(c.token)...)
		if status != c.want {
			t.Errorf("%s: %d %s", c.id, status, body)
		}
		if status == 429 {
			wantKind(t, body, kindBudget)
		} else if !strings.Contains(body, `"promise":{"epsilon":2,"delta":0.001,`+
			`"of":"all answers of this table","teachers":"none","affected":1,"answers":5}`) {
			t.Errorf("%s", body)
		}
	}
	_, body, _ := ask(s, "GET", "/v1/budget", "", bearer(token)...)
	var b budget
	if err := json.Unmarshal([]byte(body), &b); err != nil || b.Answers == nil ||
		b.Answers.Most != 5 || b.Answers.Taken != 5 || b.Answers.Client != 3 || *b.Answers.Share != 3 ||
		b.Spent.Epsilon != "2" {
		t.Errorf("%s, %v", body, err)
	}
	share := []Client{{Name: "a", TokenSHA256: []string{hash}, Epsilon: new(1.0), Delta: new(0.0)}}
	if err := s.SetClients(share); err == nil {
		t.Error("a share of the budget is taken")
	}
	o, _, _ := newOptions(t, 10)
	o.Clients = []Client{{Name: "a", TokenSHA256: []string{hash}, Answers: new(uint64(3))}}
	if _, err := New(o); err == nil {
		t.Error("a share in answers is taken where each is paid for")
	}
}

// A document of noise is charged once, for all its answers: they come back to who asks again, the one
// after the last is refused, and after a start with another document it answers none of their ids. The
// noise is in /v1/mechanism. Votes of another number, a missing one, and a record of another reach are refused.
func TestNoiseOnLine(t *testing.T) {
	_, book, _ := newOptions(t, 20)
	document := func(sigma float64) release.Table {
		p := noisymax.Problem{Teachers: 3, Classes: 2, Affected: 1, Answers: 2, Epsilon: 2, Delta: 1e-3}
		var file bytes.Buffer
		table := &noisymax.Table{Certified: must.Get(noisymax.Certify(t.Context(), p, sigma, 0.1))(t)}
		if err := table.Encode(&file); err != nil {
			t.Fatal(err)
		}
		return must.Get(release.ReadTable(t.Context(), &file))(t)
	}
	if _, err := byTable(t, document(3), ensemble.Stated{Affected: new(2)}, book.Path()); err == nil {
		t.Error("a record of two votes is served by a document for one")
	}
	s := newServer(t, Options{Online: must.Get(byTable(t, document(3), disjoint, book.Path()))(t), Classes: []string{"no", "yes"}})
	if status, body, _ := ask(s, "POST", "/v1/answers", `{"request_id":"0","votes":[1,0,1,1]}`); status != 400 {
		t.Errorf("four votes: %d %s", status, body)
	}
	if status, body, _ := ask(s, "POST", "/v1/answers", `{"request_id":"0","votes":[1,null,1]}`); status != 400 {
		t.Errorf("a missing vote: %d %s", status, body)
	}
	labels := map[string]string{}
	for _, c := range []struct {
		id   string
		want int
	}{{"1", 200}, {"2", 200}, {"1", 200}, {"3", 429}, {"2", 200}} {
		status, body, _ := ask(s, "POST", "/v1/answers", three(c.id))
		var got struct{ Label string }
		_ = json.Unmarshal([]byte(body), &got) // else no label is the same
		switch before, known := labels[c.id]; {
		case status != c.want:
			t.Errorf("%s: %d %s", c.id, status, body)
		case status == 429:
			wantKind(t, body, kindBudget)
		case !strings.Contains(body, `"promise":{"epsilon":2,"delta":0.001,`+
			`"of":"all answers of this table","teachers":"none","affected":1,"answers":2}`):
			t.Error(body)
		case got.Label == "" || known && got.Label != before:
			t.Errorf("%s was %q: %s", c.id, before, body)
		default:
			labels[c.id] = got.Label
		}
	}
	_, body, _ := ask(s, "GET", "/v1/mechanism", "")
	if want := `"name":"gnmax-label","title":"gnmax-label, 2 answers, σ = 3","answers":2,"sigma":3,"k":3`; !strings.Contains(body, want) {
		t.Errorf("%s is not in %s", want, body)
	}
	var b budget
	_, body, _ = ask(s, "GET", "/v1/budget", "")
	if err := json.Unmarshal([]byte(body), &b); err != nil || b.Answers == nil || b.Answers.Most != 2 ||
		b.Answers.Taken != 2 || b.Spent.Epsilon != "2" {
		t.Errorf("%s, %v", body, err)
	}
	s = newServer(t, Options{Online: must.Get(byTable(t, document(4), disjoint, book.Path()))(t), Classes: []string{"no", "yes"}})
	status, body, _ := ask(s, "POST", "/v1/answers", three("1"))
	if status != 409 {
		t.Errorf("an answer of other noise under its id: %d %s", status, body)
	}
	wantKind(t, body, kindConflict)
}

// A client's share in answers is a key of the configuration.
func TestAnswersOfClientsAreConfigured(t *testing.T) {
	path := filepath.Join(t.TempDir(), "serve.toml")
	text := "[[client]]\nname = \"a\"\ncertificate = \"a\"\nanswers = 3\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := ReadConfig(t.Context(), path)
	if err != nil || len(c.Clients) != 1 || c.Clients[0].Answers == nil || *c.Clients[0].Answers != 3 {
		t.Errorf("%+v, %v", c, err)
	}
}
