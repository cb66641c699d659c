package serve

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/accountant/game"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/must"
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
	reach := 1
	return must.Get(release.OpenOnline(t.Context(), release.OnlineOptions{
		Plan:   must.Get(release.Table{Answers: table}.Plan(accountant.ReplaceOne))(t),
		Stated: ensemble.Stated{Affected: &reach}, Charge: release.Charge{Ledger: book.Path()},
		Key: filepath.Join(t.TempDir(), "key"),
	}))(t)
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
