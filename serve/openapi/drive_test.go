package openapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
	"pgregory.net/rapid"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/plan"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/serve"
	"github.com/darrm/darrm/serve/openapi"
	"github.com/darrm/darrm/serve/page"
	"github.com/darrm/darrm/votes"
)

const teachers = 5

var classes = []string{"no", "yes"}

func init() { // a page is text to the validator
	openapi3filter.RegisterBodyDecoder("text/html", openapi3filter.RegisteredBodyDecoder("text/plain"))
}

// rig is a server on a ledger, and the document that it is held to.
type rig struct {
	handler http.Handler
	online  *release.Online
	book    *ledger.Ledger
	doc     *openapi3.T
	router  routers.Router
	down    bool // the ledger is gone
}

// newRig returns a server of five teachers that promise nothing, whose ledger pays for so many
// answers at ε = 1/4.
func newRig(t testing.TB, answers int, clients ...serve.Client) *rig {
	t.Helper()
	doc, err := load(t, openapi.JSON)
	if err != nil {
		t.Fatal(err)
	}
	doc.Servers = nil // the router would ask for their hosts
	router, err := legacy.NewRouter(doc)
	if err != nil {
		t.Fatal(err)
	}
	s := ensemble.Setting{K: teachers, Classes: len(classes), Affected: 1,
		Neighbours: accountant.ReplaceOne}
	m, err := ensemble.PermuteAndFlip(s, 0.25)
	if err != nil {
		t.Fatal(err)
	}
	budget, err := ledger.NewBudget(float64(answers)/4, 0)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	path := filepath.Join(folder, "l.ledger")
	if _, err := ledger.Create(context.Background(), path, budget, ledger.ReplaceOne); err != nil {
		t.Fatal(err)
	}
	online, err := release.OpenOnline(context.Background(), release.OnlineOptions{
		Plan:   must.Get(release.NewPlan(m))(t),
		Stated: ensemble.Stated{Affected: &s.Affected},
		Charge: release.Charge{Ledger: path}, Key: filepath.Join(folder, "key"),
		Missing: votes.MissingCoin,
	})
	if err != nil {
		t.Fatal(err)
	}
	book, err := online.Ledger(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	p, err := page.New(page.Service{Plan: online.Plan(), Teachers: string(online.Teachers()),
		Classes: classes, Usable: online.Usable})
	if err != nil {
		t.Fatal(err)
	}
	h, err := serve.New(serve.Options{Online: online, Classes: classes, Clients: clients,
		ByClass: byClass(t),
		Page:    p.Handler(online.Ledger), API: openapi.JSON, Limits: serve.Limits{Batch: 8, Body: 1 << 16}})
	if err != nil {
		t.Fatal(err)
	}
	return &rig{handler: h, online: online, book: book, doc: doc, router: router}
}

// byClass returns how a table treats classes, with all that can be said of it.
func byClass(t testing.TB) json.RawMessage {
	recall := 0.75
	each := []*float64{&recall, nil}
	return must.Get(json.Marshal(plan.ReportedClasses{Value: -0.5, Recall: each, Balanced: recall, Constant: "cat",
		ConstantValue: -1, Tells: true, Labels: []plan.ReportedLabel{{Label: "fish", Yes: 0.1, Value: 0.75, Recall: each, Constant: "no"}}}))(t)
}

// response is a response of the server. valid is set where the document allows the request.
type response struct {
	status int
	body   []byte
	valid  bool
}

// send sends a request, and fails unless the response is one that the document describes.
func (r *rig) send(t require, method, path, body string, header http.Header) response {
	t.Helper()
	request := func() *http.Request {
		q := httptest.NewRequest(method, "http://darrm"+path, strings.NewReader(body))
		maps.Copy(q.Header, header)
		return q
	}
	w := httptest.NewRecorder()
	r.handler.ServeHTTP(w, request())
	out := response{status: w.Code, body: w.Body.Bytes()}
	if w.Code >= 500 && !(r.down && w.Code == http.StatusServiceUnavailable) {
		t.Fatalf("%s %s %s: %d: %s", method, path, body, w.Code, w.Body)
	}
	route, parameters, err := r.router.FindRoute(request())
	if err != nil { // no such path, or no such method of it
		if w.Code != http.StatusNotFound && w.Code != http.StatusMethodNotAllowed {
			t.Fatalf("%s %s is not in the document, and answered by %d: %s", method, path, w.Code, w.Body)
		}
		return out
	}
	input := &openapi3filter.RequestValidationInput{
		Request: request(), PathParams: parameters, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc,
			IncludeResponseStatus: true},
	}
	out.valid = openapi3filter.ValidateRequest(context.Background(), input) == nil
	answer := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: w.Code, Header: w.Header(),
		Body: io.NopCloser(bytes.NewReader(out.body)), Options: input.Options,
	}
	if err := openapi3filter.ValidateResponse(context.Background(), answer); err != nil {
		t.Fatalf("%s %s %s: %d %s\nis not as the document says: %v", method, path, body, w.Code, w.Body,
			err)
	}
	return out
}

// require is testing.T or rapid.T.
type require interface {
	Helper()
	Fatalf(string, ...any)
}

var asJSON = http.Header{"Content-Type": {"application/json"}}

// Each path of the document answers as the document says, and so does each way to fail that a
// client can bring about.
func TestEveryResponseIsAsTheDocumentSays(t *testing.T) {
	token, hash := serve.NewToken()
	looks, looksHash := serve.NewToken()
	slow, slowHash := serve.NewToken()
	r := newRig(t, 3, serve.Client{Name: "all", TokenSHA256: []string{hash}},
		serve.Client{Name: "looks", TokenSHA256: []string{looksHash}, May: []string{"look"}},
		serve.Client{Name: "slow", TokenSHA256: []string{slowHash}, Rate: 1e-3, Burst: 1})
	with := func(token string) http.Header {
		return http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + token}}
	}
	for _, c := range []struct {
		method, path, body string
		header             http.Header
		status             int
		kind               string
	}{
		{"GET", "/healthz", "", nil, 200, ""},
		{"GET", "/", "", with(token), 200, ""},
		{"GET", "/v1/budget", "", with(token), 200, ""},
		{"GET", "/v1/mechanism", "", with(token), 200, ""},
		{"GET", "/metrics", "", with(looks), 200, ""},
		{"GET", "/openapi.json", "", with(looks), 200, ""},
		{"POST", "/v1/answers", `{"request_id":"a","counts":[2,3]}`, with(token), 200, ""},
		{"POST", "/v1/answers", `{"request_id":"b","votes":["yes",0,null,1,1]}`, with(token), 200, ""},
		{"POST", "/v1/answers",
			`{"requests":[{"request_id":"a","counts":[2,3]},{"request_id":"a b\n","counts":[2,3]},{"request_id":"a","votes":[1,1,1,1,1]}]}`, with(token), 400, "invalid"},
		{"POST", "/v1/answers",
			`{"requests":[{"request_id":"a","counts":[2,3]},{"request_id":"b","counts":[0,5]},{"request_id":"c","counts":[2,3]},{"request_id":"d","counts":[2,3]}]}`, with(token), 200, ""},
		{"POST", "/v1/answers", `{"request_id":"a","counts":[3,2]}`, with(token), 409, "conflict"},
		{"POST", "/v1/answers", `{"request_id":"e","counts":[2,3]}`, with(token), 429, "budget"},
		{"POST", "/v1/answers",
			`{"requests":[{"request_id":"f","counts":[2,3]},{"request_id":"g","counts":[2,3]}]}`, with(slow),
			413, "too_large"},
		{"POST", "/v1/answers", `{"request_id":"f","counts":[2,3]}`, with(slow), 429, "budget"},
		{"POST", "/v1/answers", `{"request_id":"f","counts":[2,3]}`, with(slow), 429, "rate"},
		{"POST", "/v1/answers", `{"request_id":"e","counts":[2,4]}`, with(token), 400, "invalid"},
		{"POST", "/v1/answers", `{"request_id":"e","counts":[2,3]}`,
			http.Header{"Authorization": {"Bearer " + token}}, 415, "media_type"},
		{"POST", "/v1/answers", `{"request_id":"e","counts":[2,3]` + strings.Repeat(" ", 1<<16) + "}",
			with(token), 413, "too_large"},
		{"POST", "/v1/answers", `{"request_id":"e","counts":[2,3]}`, with(looks), 403, "forbidden"},
		{"POST", "/v1/answers", `{"request_id":"e","counts":[2,3]}`, asJSON, 401, "unauthorized"},
		{"GET", "/", "", nil, 401, "unauthorized"},
		{"GET", "/", "", with("darrm_x"), 401, "unauthorized"},
		{"GET", "/v1/answers", "", with(token), 405, "method"},
		{"GET", "/v1/nothing", "", with(token), 404, "not_found"},
	} {
		got := r.send(t, c.method, c.path, c.body, c.header)
		var e struct{ Error struct{ Kind string } }
		if got.status != c.status || c.kind != "" &&
			(json.Unmarshal(got.body, &e) != nil || e.Error.Kind != c.kind) {
			t.Errorf("%s %s %.80s: %d %s, want %d %s", c.method, c.path, c.body, got.status, got.body,
				c.status, c.kind)
		}
	}
	if got, err := r.book.Remaining(t.Context()); err != nil || got != (ledger.Cost{}) {
		t.Errorf("%v remains, %v; three answers are all that was granted", got, err)
	}
}

// A server whose ledger is gone says so as the document says, by every path that needs it.
func TestUnavailableIsAsTheDocumentSays(t *testing.T) {
	r := newRig(t, 3)
	r.down = true
	if err := os.Rename(r.book.Path(), r.book.Path()+".away"); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/healthz", "/v1/budget"} {
		if got := r.send(t, "GET", path, "", nil); got.status != http.StatusServiceUnavailable {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
}

// value draws a JSON value that a schema allows, of those that mean something to this server
// where the schema says less than the rules do.
func value(t *rapid.T, ref *openapi3.SchemaRef, name string) any {
	s := ref.Value
	switch {
	case len(s.OneOf) > 0 && s.Properties == nil:
		return value(t, rapid.SampledFrom([]*openapi3.SchemaRef(s.OneOf)).Draw(t, "one of"), name)
	case s.Nullable && rapid.IntRange(0, 9).Draw(t, "null") == 0:
		return nil
	case len(s.AnyOf) > 0:
		return value(t, rapid.SampledFrom([]*openapi3.SchemaRef(s.AnyOf)).Draw(t, "any of"), name)
	case s.Type.Is("object"):
		out := map[string]any{}
		left := ""
		if len(s.OneOf) > 0 { // which of the optional fields it has
			left = rapid.SampledFrom([]*openapi3.SchemaRef(s.OneOf)).Draw(t, "fields").Value.Required[0]
		}
		for _, field := range slices.Sorted(maps.Keys(s.Properties)) {
			often := field == "replay_key" && rapid.IntRange(0, 3).Draw(t, "has a replay key") > 0
			if field == left || often || slices.Contains(s.Required, field) {
				out[field] = value(t, s.Properties[field], field)
			}
		}
		return out
	case s.Type.Is("array"):
		n := rapid.IntRange(int(s.MinItems), int(s.MinItems)+8).Draw(t, "items")
		if name == "votes" && rapid.IntRange(0, 3).Draw(t, "as many") > 0 {
			n = teachers
		}
		if name == "counts" && rapid.IntRange(0, 3).Draw(t, "right") > 0 {
			ones := rapid.IntRange(0, teachers).Draw(t, "ones")
			return []any{teachers - ones, ones}
		}
		out := make([]any, n)
		for i := range out {
			out[i] = value(t, s.Items, name)
		}
		return out
	case s.Type.Is("integer"):
		if rapid.IntRange(0, 19).Draw(t, "any number") == 0 {
			return rapid.SampledFrom([]any{int64(math.MaxInt32), int64(math.MaxInt64), json.Number("1e3"),
				json.Number("18446744073709551616"), 2}).Draw(t, "number")
		}
		return rapid.IntRange(0, 1).Draw(t, "number")
	case s.Type.Is("string"):
		if name == "request_id" && rapid.IntRange(0, 4).Draw(t, "plain id") > 0 {
			return fmt.Sprintf("r%d", rapid.IntRange(0, 80).Draw(t, "id"))
		}
		if name == "replay_key" {
			if rapid.IntRange(0, 9).Draw(t, "another key") > 0 {
				return strings.Repeat("0a", 16)
			}
			return rapid.StringMatching(s.Pattern).Draw(t, "replay key")
		}
		if name != "request_id" && rapid.Bool().Draw(t, "class") {
			return rapid.SampledFrom(classes).Draw(t, "class")
		}
		return rapid.StringN(int(s.MinLength), int(s.MinLength)+40, 300).Draw(t, "text")
	}
	panic(fmt.Sprintf("no value of %v", s.Type))
}

// broken makes of the text of a request one that may be none.
func broken(t *rapid.T, text string) string {
	at := func() int { return rapid.IntRange(0, len(text)).Draw(t, "at") }
	switch rapid.IntRange(0, 9).Draw(t, "break") {
	case 0:
		return text[:at()]
	case 1:
		i := at()
		return text[:i] + string(rapid.SliceOfN(rapid.Byte(), 1, 4).Draw(t, "bytes")) + text[i:]
	case 2:
		return strings.Replace(text, "{", `{"more":1,`, 1)
	case 3:
		return strings.Replace(text, `"request_id"`, `"request_id":"x","request_id"`, 1)
	case 4:
		return strings.Replace(text, `"counts"`, `"Counts"`, 1)
	case 5:
		return strings.Replace(text, "[", "[-1,", 1)
	case 6:
		return strings.Replace(text, "1", "1.0", 1)
	case 7:
		return text + text
	case 8:
		return strings.Replace(text, `"0a`, `"`+rapid.SampledFrom([]string{"", "0A", "0a0", "x"}).Draw(t,
			"key"), 1)
	}
	return rapid.SampledFrom([]string{"", "null", "[]", "{}", `""`, "0", "\xff", "{\"requests\":null}",
		"{\"requests\":[null]}", `{"request_id":"x","votes":null,"counts":null}`}).Draw(t, "text")
}

// Requests made from the document, and broken ones: no response has a status of 500 or more, each
// is as the document says, what is no request by the document is not answered, the same id has one
// answer, and the ledger has spent what the answers cost: not less, and nothing twice.
func TestRequestsFromTheDocument(t *testing.T) {
	d := newDrive(t)
	rapid.Check(t, d.requests)
	if d.served < d.sent/20 || d.conflicts == 0 || len(d.answers) == d.served {
		t.Errorf("of %d requests %d answers came, %d of them different, %d were in conflict: the "+
			"requests try too little", d.sent, d.served, len(d.answers), d.conflicts)
	}
	t.Logf("%d requests, %d answers, %d of them different, %d conflicts", d.sent, d.served,
		len(d.answers), d.conflicts)
}

// The same, steered by what the code does.
func FuzzRequestsFromTheDocument(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(newDrive(f).requests))
}

// drive records the requests to a rig in all runs, and their responses.
type drive struct {
	*rig
	question                *openapi3.SchemaRef
	answers                 map[string]any // by request id
	sent, served, conflicts int
}

func newDrive(t testing.TB) *drive {
	r := newRig(t, 1_000_000)
	return &drive{rig: r, question: r.doc.Paths.Find("/v1/answers").Post.RequestBody.Value.Content.Get(
		"application/json").Schema, answers: map[string]any{}}
}

func (d *drive) requests(t *rapid.T) {
	text := ""
	for range 5 {
		// A quarter ask again what was asked just before, so that some answers are replays: some twelve
		// are expected of 500 requests, none with a probability of e^-12.
		if text == "" || rapid.IntRange(0, 3).Draw(t, "again") > 0 {
			b, err := json.Marshal(value(t, d.question, ""))
			if err != nil {
				t.Fatal(err)
			}
			text = string(b)
			if rapid.IntRange(0, 2).Draw(t, "broken") == 0 {
				text = broken(t, text)
			}
		}
		method, path := "POST", "/v1/answers"
		if rapid.IntRange(0, 19).Draw(t, "elsewhere") == 0 {
			method = rapid.SampledFrom([]string{"GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"}).Draw(t,
				"method")
			path = rapid.SampledFrom([]string{"/", "/v1/answers", "/v1/budget", "/v1/mechanism", "/metrics",
				"/healthz", "/openapi.json", "/v1", "/v1/answers.json", "//", "/%2e%2e/x",
				"/v1/answers?x=1"}).Draw(t, "path")
		}
		got := d.send(t, method, path, text, asJSON)
		if d.sent++; got.status == http.StatusConflict {
			d.conflicts++
		}
		if at, _, _ := strings.Cut(path, "?"); at != "/v1/answers" || method != "POST" ||
			got.status != http.StatusOK {
			continue
		}
		type one struct {
			ID    string `json:"request_id"`
			Class any    `json:"class"`
			Error any    `json:"error"`
		}
		var all struct {
			one
			Answers []one `json:"answers"`
		}
		if err := json.Unmarshal(got.body, &all); err != nil {
			t.Fatal(err)
		}
		var asked struct{ Requests []any }
		if err := json.Unmarshal([]byte(text), &asked); err != nil ||
			len(asked.Requests) != len(all.Answers) {
			t.Fatalf("%q is answered: %s", text, got.body)
		}
		for i, a := range append(all.Answers, all.one) {
			if a.ID == "" || a.Error != nil {
				continue // a refusal of a batch
			}
			valid := got.valid
			if i < len(asked.Requests) { // each by itself
				valid = d.doc.Components.Schemas["Question"].Value.VisitJSON(asked.Requests[i]) == nil
			}
			if !valid {
				t.Fatalf("%q is no request by the document, and is answered: %s", text, got.body)
			}
			d.served++
			if before, ok := d.answers[a.ID]; ok && before != a.Class {
				t.Fatalf("request %q has the answers %v and %v", a.ID, before, a.Class)
			}
			d.answers[a.ID] = a.Class
		}
	}
	spent, err := d.book.Spent(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if want := d.online.Unit().Times(uint64(len(d.answers))); spent != want {
		t.Fatalf("%v is spent for %d answers, which cost %v", spent, len(d.answers), want)
	}
}
