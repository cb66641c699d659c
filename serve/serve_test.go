package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/votes"
)

// buffer is a log that several goroutines write.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

const (
	teachers = 5
	perQuery = 0.25 // ε
)

var classes = []string{"cat", "dog", "zebrafinch"}

// newOptions is a service of permute-and-flip with a budget for n answers.
func newOptions(t testing.TB, n int) (Options, *ledger.Ledger, *buffer) {
	t.Helper()
	return newStated(t, n, disjoint)
}

// disjoint states that one record reaches one teacher.
var disjoint = ensemble.Stated{Affected: new(1)}

// newStated is newOptions with what the operator states of the teachers.
func newStated(t testing.TB, n int, stated ensemble.Stated) (Options, *ledger.Ledger, *buffer) {
	t.Helper()
	budget, err := ledger.NewBudget(perQuery*float64(n), 0.5)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	book, err := ledger.Create(t.Context(), filepath.Join(dir, "ledger"), budget, ledger.ReplaceOne)
	if err != nil {
		t.Fatal(err)
	}
	s := ensemble.Setting{K: teachers, Classes: len(classes), Affected: stated.Reach(teachers),
		Neighbours: accountant.ReplaceOne}
	m, err := ensemble.PermuteAndFlip(s, perQuery)
	if err != nil {
		t.Fatal(err)
	}
	online, err := release.OpenOnline(t.Context(), release.OnlineOptions{
		Plan:   must.Get(release.NewPlan(m))(t),
		Charge: release.Charge{Ledger: book.Path(), AcceptWeak: true}, Key: filepath.Join(dir, "key"),
		Missing: votes.MissingCoin, Stated: stated,
	})
	if err != nil {
		t.Fatal(err)
	}
	var log buffer
	return Options{Online: online, Classes: classes,
			Log: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}, book,
		&log
}

// What the operator states of the teachers is told to clients and to the log, and nothing is where
// nothing was stated.
func TestStatedIsTold(t *testing.T) {
	one := 1
	for name, c := range map[string]struct {
		stated ensemble.Stated
		want   string
	}{
		"nothing":     {ensemble.Stated{}, "null"},
		"one teacher": {ensemble.Stated{Affected: &one}, `{"epsilon":null,"delta":0,"affected":1}`},
	} {
		o, _, log := newStated(t, 1, c.stated)
		s := newServer(t, o)
		status, body, _ := ask(s, "GET", "/v1/mechanism", "")
		var got struct{ Stated json.RawMessage }
		if err := json.Unmarshal([]byte(body), &got); err != nil || status != 200 {
			t.Fatalf("%s: %d %s, %v", name, status, body, err)
		}
		var said bytes.Buffer
		if got.Stated == nil {
			got.Stated = json.RawMessage("null")
		}
		if err := json.Compact(&said, got.Stated); err != nil || said.String() != c.want {
			t.Errorf("%s: %s, want %s", name, said.String(), c.want)
		}
		if err := serving(t, s, &pipes{make(chan net.Conn), make(chan struct{})})(); err != nil {
			t.Fatal(err)
		}
		if nothing := strings.Contains(log.String(), `"stated_of_teachers":"nothing"`); nothing !=
			(c.want == "null") || !strings.Contains(log.String(), `"msg":"stopped"`) {
			t.Errorf("%s: %s", name, log.String())
		}
	}
}

func newServer(t testing.TB, o Options) *Server {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ask sends a request and returns the status and the body.
func ask(s http.Handler, method, path, body string, header ...string) (int, string, http.Header) {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		r.Header.Del(header[i])
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	b, _ := io.ReadAll(w.Result().Body)
	return w.Code, string(b), w.Result().Header
}

func bearer(token string) []string { return []string{"Authorization", "Bearer " + token} }

const myKey = "00112233445566778899aabbccddeeff" // a replay key

func one(id string) string {
	return fmt.Sprintf(`{"request_id":%q,"replay_key":%q,"votes":[0,1,"zebrafinch",2,null]}`, id,
		myKey)
}

func wantKind(t testing.TB, body, kind string) {
	t.Helper()
	var f struct {
		Error struct{ Kind, Message string }
	}
	if err := json.Unmarshal([]byte(body), &f); err != nil || f.Error.Kind != kind ||
		f.Error.Message == "" {
		t.Errorf("%q, want kind %q (%v)", strings.TrimSpace(body), kind, err)
	}
}

func checkSpent(t testing.TB, book *ledger.Ledger, n int) {
	t.Helper()
	spent, err := book.Spent(t.Context())
	if e, _ := spent.Ceil(); err != nil || e != perQuery*float64(n) {
		t.Errorf("spent %v, want %d answers: %v", spent, n, err)
	}
}

// A query is answered, again the same and free; the budget ends exactly where it should, and what
// was answered is answered still.
func TestAnswers(t *testing.T) {
	o, book, _ := newOptions(t, 3)
	s := newServer(t, o)
	var first answer
	for i, id := range []string{"a", "b", "c", "a"} {
		status, body, header := ask(s, "POST", "/v1/answers", one(id))
		var a answer
		if err := json.Unmarshal([]byte(body), &a); err != nil || status != 200 ||
			header.Get("Content-Type") != "application/json" || header.Get("Cache-Control") != "no-store" {
			t.Fatal(status, body, header, err)
		}
		if a.RequestID != id || a.Label == nil || *a.Label != classes[*a.Class] ||
			a.Replayed != (i == 3) || a.Receipt.Ledger != book.ID() || a.Promise.Of != ofThisAnswer {
			t.Errorf("%s", body)
		}
		if left := fmt.Sprint([]any{0.5, 0.25, 0, 0}[i]); a.Remaining.Epsilon.String() != left {
			t.Errorf("remaining %v, want %s", a.Remaining, left)
		}
		if i == 0 {
			first = a
		} else if i == 3 && (*a.Class != *first.Class || a.Receipt != first.Receipt) {
			t.Errorf("%+v, then %+v", first, a)
		}
	}
	status, body, _ := ask(s, "POST", "/v1/answers", one("d"))
	if wantKind(t, body, kindBudget); status != 429 ||
		!strings.Contains(body, `"remaining":{"epsilon":0,"delta":0.5}`) {
		t.Errorf("%d %s", status, body)
	}
	checkSpent(t, book, 3)
}

// Votes have the spellings that they have in files: equal votes in other spellings are the same query,
// and what names no class is refused.
func TestSpellingsOfVotes(t *testing.T) {
	o, book, _ := newOptions(t, 3)
	o.Same = []votes.Spelling{{Class: "dog", Text: "Hund"}}
	s := newServer(t, o)
	for i, votes := range []string{`["cat","dog","zebrafinch",null,"dog"]`, `[" cat ","Hund","zebrafinch","NA","Hund"]`,
		`[0,1,2,"#N/A","dog "]`} {
		status, body, _ := ask(s, "POST", "/v1/answers",
			fmt.Sprintf(`{"request_id":"a","replay_key":%q,"votes":%s}`, myKey, votes))
		var a answer
		if err := json.Unmarshal([]byte(body), &a); err != nil || status != 200 || a.Replayed != (i > 0) {
			t.Errorf("%s: %d %s", votes, status, body)
		}
	}
	status, body, _ := ask(s, "POST", "/v1/answers",
		fmt.Sprintf(`{"request_id":"b","replay_key":%q,"votes":["Cat",0,0,0,0]}`, myKey))
	if wantKind(t, body, kindInvalid); status != 400 {
		t.Errorf("%d %s", status, body)
	}
	checkSpent(t, book, 1)
	if _, err := New(Options{Online: o.Online, Classes: classes,
		Same: []votes.Spelling{{Class: "bird", Text: "Vogel"}}}); err == nil {
		t.Error("a spelling of no class is taken")
	}
}

// A server is ready while its ledger takes a write, which is tried once a second at most; a spent
// budget is no reason not to be, since what was answered is answered again.
func TestReady(t *testing.T) {
	o, book, log := newOptions(t, 1)
	s := newServer(t, o)
	anchor := func() os.FileInfo {
		t.Helper()
		info, err := os.Stat(book.Path() + ledger.AnchorSuffix)
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	ready := func(want int) {
		t.Helper()
		if status, body, _ := ask(s, "GET", "/healthz", ""); status != want {
			t.Fatalf("%d %s, want %d", status, body, want)
		}
	}
	if status, body, _ := ask(s, "POST", "/v1/answers", one("a")); status != 200 {
		t.Fatal(status, body)
	}
	before, start := anchor(), time.Now()
	ready(200)
	if before.ModTime().Equal(anchor().ModTime()) {
		t.Error("nothing was written")
	}
	before = anchor()
	for range 50 {
		ready(200)
	}
	if time.Since(start) < time.Second && !before.ModTime().Equal(anchor().ModTime()) {
		t.Error("written twice within a second")
	}
	checkSpent(t, book, 1)
	if err := os.Rename(book.Path(), book.Path()+".away"); err != nil {
		t.Fatal(err)
	}
	s.health.at = time.Time{} // as if a second had gone by
	ready(503)
	if !strings.Contains(log.String(), "not ready") {
		t.Errorf("the log: %s", log)
	}
}

// Of several queries each is answered or refused by itself, in their order, and an answer has the
// budget that remains after all of them.
func TestBatches(t *testing.T) {
	o, book, _ := newOptions(t, 10)
	s := newServer(t, o)
	status, body, _ := ask(s, "POST", "/v1/answers",
		`{"requests":[`+one("a")+
			`,{"request_id":"b","votes":[0]},{"request_id":"c","counts":[5,0,0]},{"request_id":"","counts":[5,0,0]},{"request_id":"e","votes":["cat","dog","fish","cat","cat"]}]}`)
	var out struct {
		Answers []struct {
			RequestID string `json:"request_id"`
			Error     *failure
			Remaining release.Amount
		}
	}
	if err := json.Unmarshal([]byte(body), &out); err != nil || status != 200 ||
		len(out.Answers) != 5 {
		t.Fatal(status, body, err)
	}
	for i, id := range []string{"a", "b", "c", "", "e"} {
		a, answered := out.Answers[i], id == "a" || id == "c"
		if a.RequestID != id || (a.Error == nil) != answered || a.Error != nil &&
			a.Error.Kind != kindInvalid {
			t.Errorf("%d: %+v", i, a)
		}
		if answered && a.Remaining.Epsilon != "2" {
			t.Errorf("remaining %v", a.Remaining)
		}
	}
	checkSpent(t, book, 2)
	// One query in a batch has the form of a batch, refused too.
	if status, body, _ := ask(s, "POST", "/v1/answers",
		`{"requests":[{"request_id":"b","votes":[0]}]}`); status != 200 ||
		!strings.HasPrefix(body, `{"answers":[{"request_id":"b","error":`) {
		t.Errorf("%d %s", status, body)
	}
}

// What is no request is refused before anything is charged, each with its status and kind.
func TestRefusals(t *testing.T) {
	o, book, _ := newOptions(t, 10)
	o.Body, o.Batch = 400, 2
	s := newServer(t, o)
	post := func(status int, kind, body string, header ...string) {
		t.Helper()
		got, said, _ := ask(s, "POST", "/v1/answers", body, header...)
		if wantKind(t, said, kind); got != status {
			t.Errorf("%s: %d, want %d", body, got, status)
		}
	}
	for _, body := range []string{
		``, ` `, `null`, `[]`, `1`, `"a"`, `{`, `{}`, `{}{}`, one("a") + one("b"), one("a") + "}",
		`{"request_id":"a"}`, `{"request_id":1,"counts":[5,0,0]}`,
		`{"request_id":"a","counts":[5,0,0],"more":1}`, `{"request_id":"a","Counts":[5,0,0]}`,
		`{"request_id":"a","request_id":"b","counts":[5,0,0]}`,
		`{"request_id":"a","counts":[5.0,0,0]}`, `{"request_id":"a","counts":[5e0,0,0]}`,
		`{"request_id":"a","counts":["5",0,0]}`, `{"request_id":"a","counts":[6,-1,0]}`,
		`{"request_id":"a","counts":[5,0,0],"votes":[0,0,0,0,0]}`,
		`{"request_id":"a","votes":[0,0,0,0,3]}`, `{"request_id":"a","votes":[0,0,0,0,-1]}`,
		`{"request_id":"a","votes":[0,0,0,0,0.0]}`, `{"request_id":"a","votes":[0,0,0,0,true]}`,
		`{"request_id":"a","votes":[0,0,0,0,"Cat"]}`, `{"request_id":"a","votes":[0,0,0,0,[0]]}`,
		`{"request_id":"a","votes":[0,0,0,0,99999999999999999999]}`,
		`{"request_id":"a","votes":[0,0,0,0]}`, `{"request_id":"a","votes":[]}`,
		`{"request_id":"a","votes":[],"counts":[5,0,0]}`, `{"request_id":"a","votes":[0,0,0,0,0],"counts":[]}`,
		`{"request_id":"a\u0000","counts":[5,0,0]}`,
		`{"requests":[]}`, `{"requests":[` + one("a") + `],"request_id":"a"}`,
		`{"requests":[` + one("a") + `,` + one("a") + `]}`, `{"requests":[{"requests":[]}]}`,
		`{"requests":{}}`,
		`{"request_id":"run:a","counts":[5,0,0]}`,
		// Two readers take these for different queries.
		"{\"request_id\":\"a\xe9\",\"counts\":[5,0,0]}",
		"{\"request_id\":\"a\",\"votes\":[\"cat\",\"cat\",\"cat\",\"cat\",\"\xe8\"]}",
		`{"request_id":"a\ud800","counts":[5,0,0]}`, `{"request_id":"\ude00\ud83d","counts":[5,0,0]}`,
		`{"request_id":"a","counts":[null,5,0]}`, `{"request_id":"a","counts":[5,0,0,null]}`,
		`{"request_id":null,"counts":[5,0,0]}`, `{"request_id":"a","votes":null,"counts":[5,0,0]}`,
		`{"requests":null}`,
		`{"requests":[null]}`, `{"request_id":"a","counts":[-0,5,0]}`,
		// More than there are teachers, or classes, in one query of several: the body is read no further.
		`{"requests":[` + one("a") + `,{"request_id":"b","votes":[0,0,0,0,0,0]}]}`,
		`{"requests":[` + one("a") + `,{"request_id":"b","counts":[1,1,1,2]}]}`,
		`{"request_id":"a","counts":[5,0,0],"replay_key":""}`,
		`{"request_id":"a","counts":[5,0,0],"replay_key":null}`,
		`{"request_id":"a","counts":[5,0,0],"replay_key":12345678901234567890123456789012}`,
		`{"request_id":"a","counts":[5,0,0],"replay_key":"00112233445566778899aabbccddeef"}`,
		`{"requests":[` + one("a") + `],"replay_key":"` + myKey + `"}`,
	} {
		post(400, kindInvalid, body)
	}
	_, body, _ := ask(s, "POST", "/v1/answers", `{"request_id":"a","votes":[0,0,0,"yak",0]}`)
	if !strings.Contains(body, "vote of teacher 4 ") {
		t.Errorf("the fourth teacher's vote: %s", body)
	}
	post(413, kindTooLarge, `{"requests":[`+one("a")+`,`+one("b")+`,`+one("c")+`]}`)
	post(413, kindTooLarge, `{"request_id":"`+strings.Repeat("a", 400)+`"}`)
	post(415, kindMediaType, one("a"), "Content-Type", "text/plain")
	post(415, kindMediaType, one("a"), "Content-Type", "")
	post(415, kindMediaType, one("a"), "Content-Type", "application/json; charset=utf-16")
	post(415, kindMediaType, one("a"), "Content-Type", "application/json; charset=iso-8859-1")
	post(415, kindMediaType, one("a"), "Content-Type", "application/json", "Content-Type",
		"application/json; charset=utf-16")
	post(415, kindMediaType, one("a"), "Content-Encoding", "gzip")
	post(415, kindMediaType, one("a"), "Content-Encoding", "identity, gzip")
	if status, _, header := ask(s, "GET", "/v1/answers", ""); status != 405 ||
		header.Get("Allow") != "POST" {
		t.Errorf("GET: %d %v", status, header)
	}
	for request, want := range map[string]int{
		"HEAD /v1/answers": 405, "DELETE /v1/answers": 405, "POST /v1/mechanism": 405,
		"DELETE /v1/budget": 405, "HEAD /v1/mechanism": 200,
	} {
		method, path, _ := strings.Cut(request, " ")
		if status, body, _ := ask(s, method, path, ""); status != want {
			t.Errorf("%s: %d, want %d: %s", request, status, want, body)
		}
	}
	if status, body, _ := ask(s, "POST", "/v1/answers", ""); status != 400 ||
		!strings.Contains(string(body), "it is empty") {
		t.Errorf("nothing: %d %s", status, body)
	}
	if status, body, _ := ask(s, "GET", "/v1/nothing", ""); status != 404 {
		t.Errorf("%d %s", status, body)
	}
	checkSpent(t, book, 0)
	// What is honoured is no reason to refuse.
	for i, header := range [][]string{{"Content-Type", "application/json; charset=UTF-8"},
		{"Content-Encoding", "identity"}} {
		if status, body, _ := ask(s, "POST", "/v1/answers", one(string(rune('a'+i))),
			header...); status != 200 {
			t.Errorf("%v: %d %s", header, status, body)
		}
	}
	if status, body, _ := ask(s, "POST", "/v1/answers",
		`{"request_id":"\ud83d\ude00\ufffd","counts":[5,0,0]}`); status != 200 {
		t.Errorf("%d %s", status, body)
	}
}

// Of a body with too many votes, counts or queries no more is read than up to the first too many,
// and a value that is as long as the body is not gathered.
func TestBodiesAreReadAsFarAsNeeded(t *testing.T) {
	o, book, _ := newOptions(t, 10)
	s := newServer(t, o)
	for name, body := range map[string]string{
		"votes":    `{"request_id":"a","votes":[` + strings.Repeat("0,", 2_000_000),
		"counts":   `{"request_id":"a","counts":[` + strings.Repeat("0,", 2_000_000),
		"requests": `{"requests":[` + strings.Repeat(`{"request_id":"a"},`, 200_000),
		"nested":   `{"request_id":"a","votes":[0,` + strings.Repeat("[", 4_000_000),
		"unknown":  `{"request_id":"a","more":[` + strings.Repeat("0,", 2_000_000),
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.NewReader(body)
			r := httptest.NewRequest("POST", "/v1/answers", text)
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			if read := len(body) - text.Len(); w.Code != 400 || read > 1<<16 {
				t.Errorf("%d after %d bytes: %s", w.Code, read, w.Body)
			}
		})
	}
	checkSpent(t, book, 0)
}
