package serve

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// Logs and metrics have no votes, no labels, no tokens and nothing that is computed from them,
// whatever goes well or wrong.
func TestNothingOfVotesIsTold(t *testing.T) {
	o, book, log := newOptions(t, 40)
	token, hash := NewToken()
	o.Clients = []Client{{Name: "ward", TokenSHA256: []string{hash}}}
	o.Batch = 4
	s := newServer(t, o)
	// A class, and counts, that stand nowhere else.
	secret := func(id string) string {
		return fmt.Sprintf(`{"request_id":%q,"replay_key":"`+myKey+
			`","votes":["zebrafinch","zebrafinch","zebrafinch","zebrafinch","zebrafinch"]}`, id)
	}
	seen := map[int]bool{}
	for _, body := range []string{
		secret("a"), secret("a"), `{"request_id":"a","counts":[5,0,0]}`,
		`{"request_id":"b","votes":["zebrafinch",73191,0,0,0]}`,
		`{"request_id":"b","votes":["zebrafinch","sparrowhawk",0,0,0]}`,
		`{"request_id":"b","counts":[73191,0,0]}`, `{"request_id":"b","counts":[73191.5,0,0]}`,
		`{"request_id":"b","votes":"zebrafinch"}`, `{"request_id":"b","votes":[73191.5]}`,
		`{"request_id":"b","zebrafinch":1}`,
		`{"requests":[` + secret("c") + `,{"request_id":"d","votes":["sparrowhawk"]}]}`,
		secret("b") + "zebrafinch", `{"requests":[` +
			strings.Join([]string{secret("c"), secret("d"), secret("e"), secret("f"), secret("g")}, ",") +
			`]}`,
	} {
		status, said, _ := ask(s, "POST", "/v1/answers", body, bearer(token)...)
		seen[status] = true
		if status != 200 && (strings.Contains(said, "73191") || strings.Contains(said, "sparrowhawk")) {
			t.Errorf("a refusal quotes votes: %s", said)
		}
		ask(s, "POST", "/v1/answers?votes=zebrafinch", body, bearer(token+"x")...)
	}
	// The ledger goes, and every request fails at it.
	away := func(from, to string) {
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	path := book.Path()
	away(path, path+".away")
	for _, id := range []string{"f", "g"} {
		status, _, h := ask(s, "POST", "/v1/answers", secret(id), bearer(token)...)
		if seen[status] = true; status == 503 && h.Get("Retry-After") == "" {
			t.Error("it does not say when to come again")
		}
	}
	if status, _, _ := ask(s, "GET", "/healthz", ""); status != 503 {
		t.Errorf("healthy without a ledger: %d", status)
	}
	_, metrics, _ := ask(s, "GET", "/metrics", "", bearer(token)...)
	if !strings.Contains(metrics, "darrm_ledger_up 0") ||
		!strings.Contains(metrics, `darrm_requests_total{outcome="conflict"} 1`) {
		t.Errorf("metrics: %s", metrics)
	}
	away(path+".away", path)
	for _, want := range []int{200, 400, 409, 413, 503} {
		if !seen[want] {
			t.Errorf("no response had the status %d", want)
		}
	}
	text := log.String()
	for _, id := range []string{`"request_id":"a"`, `"request_id":"d"`, `"client":"ward"`,
		`"kind":"conflict"`, `"kind":"unauthorized"`} {
		if !strings.Contains(text, id) {
			t.Errorf("the log has no %s", id)
		}
	}
	for _, secret := range []string{"zebrafinch", "sparrowhawk", "73191", token, hash, myKey,
		myKey[1:]} {
		if strings.Contains(text, secret) || strings.Contains(metrics, secret) {
			t.Errorf("%q is told: %s", secret, text)
		}
	}
}

// Two servers that answered the same queries with other votes, and so with other labels, have the
// same metrics but for times: no sum of counters tells them apart.
func TestMetricsDoNotDependOnVotes(t *testing.T) {
	var of [2][]string
	for i, votes := range []string{`[5,0,0]`, `[0,0,5]`} {
		o, _, _ := newOptions(t, 40)
		s := newServer(t, o)
		for n := range 30 {
			if status, body, _ := ask(s, "POST", "/v1/answers",
				fmt.Sprintf(`{"request_id":"%d","counts":%s}`, n, votes)); status != 200 {
				t.Fatal(status, body)
			}
		}
		_, text, _ := ask(s, "GET", "/metrics", "")
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "darrm_") && !strings.HasPrefix(line, "darrm_ledger_seconds_") {
				of[i] = append(of[i], line)
			}
		}
	}
	if a, b := strings.Join(of[0], ""), strings.Join(of[1], ""); a != b ||
		!strings.Contains(a, `darrm_requests_total{outcome="answered"} 30`) {
		t.Errorf("%s\n%s", a, b)
	}
}

// No label of a metric is a class, a client or a request: their number is fixed.
func TestMetricLabels(t *testing.T) {
	o, _, _ := newOptions(t, 40)
	s := newServer(t, o)
	ask(s, "POST", "/v1/answers", one("a"))
	ch := make(chan prometheus.Metric, 100)
	s.metrics.requests.Collect(ch)
	close(ch)
	n := 0
	for m := range ch {
		var d dto.Metric
		if err := m.Write(&d); err != nil || len(d.Label) != 1 || d.Label[0].GetName() != "outcome" {
			t.Errorf("%v, %v", &d, err)
		}
		n++
	}
	if want := len(kinds) + 2; n != want {
		t.Errorf("%d outcomes, want %d", n, want)
	}
}

// A failure that nobody foresaw tells nobody what it was about.
func TestUnforeseen(t *testing.T) {
	f := failureOf(errors.New("the votes were zebrafinch"), anybody)
	if f.status != http.StatusServiceUnavailable || strings.Contains(f.Message, "zebrafinch") ||
		f.Kind != kindUnavailable {
		t.Errorf("%+v", f)
	}
	o, _, log := newOptions(t, 1)
	o.Classes = nil // a mistake of the program: the answer is of no class
	s := newServer(t, o)
	status, body, _ := ask(s, "POST", "/v1/answers", `{"request_id":"a","counts":[5,0,0]}`)
	if wantKind(t, body, kindInternal); status != 500 || !strings.Contains(log.String(), "panic") {
		t.Errorf("%d %s %s", status, body, log)
	}
}
