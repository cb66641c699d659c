package serve

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/votes"
)

// severalLabels is a service of questions with three labels to five teachers, of whose labels the first is
// counted: a question is two answers. One charge pays for so many questions.
func severalLabels(t *testing.T, questions int) Options {
	t.Helper()
	_, book, _ := newOptions(t, 4000)
	several := ensemble.Several{Labels: 3, MostYes: 1}
	m := must.Get(ensemble.PermuteAndFlip(ensemble.Setting{K: teachers, Classes: 2, Affected: 1,
		Neighbours: accountant.ReplaceOne}, 40))(t) // next to no noise
	plan := must.Get(must.Get(release.NewPlan(m))(t).ForLabels(2*questions, new(0.0)))(t)
	online := must.Get(release.OpenOnline(t.Context(), release.OnlineOptions{Plan: plan, Several: several, Stated: disjoint,
		Charge: release.Charge{Ledger: book.Path(), AcceptWeak: true}, Key: filepath.Join(t.TempDir(), "key"),
		Missing: votes.MissingNo}))(t)
	return Options{Online: online, Classes: []string{"0", "1"}, Labels: classes,
		Same: []votes.Spelling{must.Get(votes.ParseSpelling("cat=Katze"))(t)}}
}

// A request about a question takes two answers of the charge, whichever of its labels are asked; the answers
// are those of the votes, of which each teacher's first is counted.
func TestSeveralLabels(t *testing.T) {
	s := newServer(t, severalLabels(t, 3))
	sets := `"sets":[["cat","dog"],["dog","Katze"],[0],["zebrafinch","dog"],null]`
	for _, c := range []struct{ id, asked, want string }{
		{"all", ``, `[{"label":"cat","class":1},{"label":"dog","class":0},{"label":"zebrafinch","class":0}]`},
		{"one", `,"labels":["Katze"]`, `[{"label":"cat","class":1}]`},
		{"two", `,"labels":[2,"cat"]`, `[{"label":"cat","class":1},{"label":"zebrafinch","class":0}]`},
	} {
		body := `{"request_id":"` + c.id + `","replay_key":"` + myKey + `",` + sets + c.asked + `}`
		for range 2 {
			status, got, _ := ask(s, "POST", "/v1/answers", body)
			if status != 200 || !strings.Contains(got, `"label":null,"class":null,"labels":`+c.want) ||
				!strings.Contains(got, `"of":"all answers of this table","teachers":"none","affected":1,"answers":6,"each_question":2}`) {
				t.Errorf("%s: %d %s", c.id, status, got)
			}
		}
	}
	_, body, _ := ask(s, "GET", "/v1/budget", "")
	var b budget
	if err := json.Unmarshal([]byte(body), &b); err != nil || b.Answers == nil || b.Answers.Most != 6 || b.Answers.Taken != 6 {
		t.Errorf("%s, %v", body, err)
	}
	status, body, _ := ask(s, "POST", "/v1/answers", `{"request_id":"more",`+sets+`,"labels":[0]}`)
	if status != 429 {
		t.Errorf("one label beyond the last question: %d %s", status, body)
	}
	status, body, _ = ask(s, "POST", "/v1/answers", `{"request_id":"one","replay_key":"`+myKey+`",`+sets+`,"labels":[1]}`)
	if status != 409 {
		t.Errorf("another label under an id: %d %s", status, body)
	}
	if _, body, _ = ask(s, "GET", "/v1/mechanism", ""); !strings.Contains(body, `"labels":["cat","dog","zebrafinch"],"most_yes":1`) {
		t.Errorf("%s", body)
	}
}

// With a threshold requests have the teachers' sets alone, and an answer is yes where so many say yes.
func TestSeveralLabelsYesFrom(t *testing.T) {
	_, book, _ := newOptions(t, 4000)
	several := must.Get(ensemble.Several{Labels: 3, MostYes: 1, YesFrom: "2"}.Of(teachers))(t)
	m := must.Get(ensemble.PermuteAndFlip(ensemble.Setting{K: several.Votes(teachers), Classes: 2, Affected: 1,
		Neighbours: accountant.ReplaceOne}, 80))(t) // next to no noise
	plan := must.Get(must.Get(release.NewPlan(m))(t).ForLabels(2, new(0.0)))(t)
	of := release.OnlineOptions{Plan: plan, Several: several, Stated: disjoint,
		Charge: release.Charge{Ledger: book.Path(), AcceptWeak: true}, Key: filepath.Join(t.TempDir(), "key"),
		Missing: votes.MissingNo}
	online := must.Get(release.OpenOnline(t.Context(), of))(t)
	s := newServer(t, Options{Online: online, Classes: []string{"0", "1"}, Labels: classes})
	for _, sets := range []string{`[[0],[0],[1],null,[],[],[]]`, `[[0],[0]]`} {
		if status, body, _ := ask(s, "POST", "/v1/answers", `{"request_id":"a","sets":`+sets+`}`); status != 400 {
			t.Errorf("sets %s of other teachers: %d %s", sets, status, body)
		}
	}
	status, body, _ := ask(s, "POST", "/v1/answers", `{"request_id":"a","sets":[[0],[0],[1],null,[]]}`)
	if want := `[{"label":"cat","class":1},{"label":"dog","class":0},{"label":"zebrafinch","class":0}]`; status != 200 ||
		!strings.Contains(body, want) {
		t.Errorf("two of five say cat, one dog: %d %s, want %s", status, body, want)
	}
	if _, body, _ = ask(s, "GET", "/v1/mechanism", ""); !strings.Contains(body, `"most_yes":1,"yes_from":2,`) || !strings.Contains(body, `"k":5,`) {
		t.Errorf("%s", body)
	}
	for _, other := range []ensemble.Several{{Labels: 3, MostYes: 1, YesFrom: "2"}, must.Get(ensemble.Several{Labels: 3, YesFrom: "3"}.Of(teachers))(t)} {
		of.Several = other
		if _, err := release.OpenOnline(t.Context(), of); err == nil {
			t.Errorf("%+v is served by a mechanism for 7 votes", other)
		}
	}
}

// With a threshold and no labels a request has the teachers' votes, and the answer is the second class where so many say so.
func TestYesFrom(t *testing.T) {
	_, book, _ := newOptions(t, 4000)
	several := must.Get(ensemble.Several{YesFrom: "2"}.Of(teachers))(t)
	m := must.Get(ensemble.PermuteAndFlip(ensemble.Setting{K: several.Votes(teachers), Classes: 2, Affected: 1,
		Neighbours: accountant.ReplaceOne}, 80))(t) // next to no noise
	plan := must.Get(must.Get(release.NewPlan(m))(t).ForLabels(2, new(0.0)))(t)
	online := must.Get(release.OpenOnline(t.Context(), release.OnlineOptions{Plan: plan, Several: several, Stated: disjoint,
		Charge: release.Charge{Ledger: book.Path(), AcceptWeak: true}, Key: filepath.Join(t.TempDir(), "key")}))(t)
	s := newServer(t, Options{Online: online, Classes: []string{"no", "yes"}})
	for _, c := range []struct {
		id, votes string
		status    int
		want      string
	}{
		{"a", `"votes":[0,1,0,1,0]`, 200, `"label":"yes","class":1`},
		{"b", `"counts":[4,1]`, 200, `"label":"no","class":0`},
		{"c", `"votes":[0,1,0,1,0,1,1]`, 400, ""},
		{"d", `"counts":[4,3]`, 400, ""},
		{"e", `"sets":[[0],[],[],[],[]]`, 400, ""},
	} {
		if status, body, _ := ask(s, "POST", "/v1/answers", `{"request_id":"`+c.id+`",`+c.votes+`}`); status != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s: %d %s, want %d %s", c.votes, status, body, c.status, c.want)
		}
	}
	if _, body, _ := ask(s, "GET", "/v1/mechanism", ""); !strings.Contains(body, `"yes_from":2,`) || !strings.Contains(body, `"k":5,`) {
		t.Errorf("%s", body)
	}
}

// What is no set of labels is refused, and takes nothing.
func TestSeveralLabelsRefused(t *testing.T) {
	o := severalLabels(t, 2)
	s := newServer(t, o)
	for _, c := range []struct{ fields, want string }{
		{`"votes":[0,1,1,0,0]`, "sets"},
		{`"counts":[2,3]`, "sets"},
		{``, "sets must be given"},
		{`"sets":[[0],[1]]`, "number of sets"},
		{`"sets":[[0,1,2,0],[],[],[],[]]`, "set of teacher 1 has more than 3 labels"},
		{`"sets":[[0],["cow"],[],[],[]]`, "set of teacher 2 has a label that this service does not have"},
		{`"sets":[[0],"cat",[],[],[]]`, "set of teacher 2 must be a list"},
		{`"sets":[[0],[null],[],[],[]]`, "set of teacher 2 must be a list of labels"},
		{`"sets":[[0],[1,"dog"],[],[],[]]`, "each once"},
		{`"sets":[[7],[],[],[],[]]`, "some of the 3 labels"},
		{`"sets":[[],[],[],[],[],[]]`, "more than 5 votes"},
		{`"sets":[[],[],[],[],[]],"votes":[1,1,1,1,1]`, "sets"},
		{`"sets":[[],[],[],[],[]],"labels":[]`, "each once"},
		{`"sets":[[],[],[],[],[]],"labels":null`, "labels must be a list"},
		{`"sets":[[],[],[],[],[]],"labels":["cow"]`, "labels has one that"},
		{`"sets":[[],[],[],[],[]],"sets":[[],[],[],[],[]]`, "duplicate"},
	} {
		if c.fields != "" {
			c.fields = "," + c.fields
		}
		status, body, _ := ask(s, "POST", "/v1/answers", `{"request_id":"a"`+c.fields+`}`)
		if status != 400 || !strings.Contains(body, c.want) {
			t.Errorf("%s: %d %s, want %q", c.fields, status, body, c.want)
		}
	}
	if labels, taken, _, err := o.Online.Taken(t.Context(), ""); labels != 4 || taken != 0 || err != nil {
		t.Errorf("%d of %d are taken, %v", taken, labels, err)
	}
	plain, _, _ := newOptions(t, 2)
	for _, fields := range []string{`"sets":[[0],[1],[],[],[]]`, `"votes":[0,1,1,0,0],"labels":[0]`} {
		if status, body, _ := ask(newServer(t, plain), "POST", "/v1/answers", `{"request_id":"a",`+fields+`}`); status != 400 {
			t.Errorf("%s where a query is one label: %d %s", fields, status, body)
		}
	}
	o.Labels = o.Labels[:2]
	if _, err := New(o); err == nil {
		t.Error("two names of three labels")
	}
	plain.Labels = classes
	if _, err := New(plain); err == nil {
		t.Error("names of labels where a query is one label")
	}
}
