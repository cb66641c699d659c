package serve

import (
	"encoding/json"
	"log/slog"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Whoever reaches the port writes few lines into the log, each of few bytes, however often and at
// whatever length he asks. What is left out is counted to the last one.
func TestLogIsBounded(t *testing.T) {
	o, _, _ := newOptions(t, 1)
	synctest.Test(t, func(t *testing.T) {
		var log buffer
		_, hash := NewToken()
		s := newServer(t, Options{Online: o.Online,
			Clients: []Client{{Name: "a", TokenSHA256: []string{hash}}},
			Log:     slog.New(slog.NewJSONHandler(&log, nil))})
		l := &pipes{make(chan net.Conn), make(chan struct{})}
		stop := serving(t, s, l)
		const minutes, asks = 10, 6000
		for range asks {
			s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(strings.Repeat("M", 5000), "/v1/budget",
				nil))
			s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/"+strings.Repeat("p", 5000),
				nil))
			_, _ = s.journal.Write([]byte("http: TLS handshake error " + strings.Repeat("x", 5000) + "\n"))
			time.Sleep(minutes * time.Minute / asks)
		}
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		// Three sorts, each with a burst, and a line and a count every ten seconds; starts and stops.
		if most := 3*(journalBurst+2*minutes*6+2) + 3; len(lines) > most ||
			len(lines) < 3*(journalBurst+minutes*6-1) {
			t.Errorf("%d lines, want at most %d, and a count every ten seconds", len(lines), most)
		}
		told := map[string]int{}
		for _, line := range lines {
			var said struct {
				Msg, Kind string
				Count     int
			}
			if err := json.Unmarshal([]byte(line), &said); err != nil || len(line) > 1000 {
				t.Fatalf("%d bytes: %v", len(line), err)
			}
			sort := strings.TrimPrefix(said.Msg, "more: ") + " " + said.Kind
			if told[sort] += said.Count; said.Count == 0 {
				told[sort]++
			}
		}
		for _, sort := range []string{"refused unauthorized", "refused not_found", "connection failed "} {
			if told[sort] != asks {
				t.Errorf("%s: %d are told of %d", sort, told[sort], asks)
			}
		}
	})
}

// Of one sort there are ten lines at once, as docs/serve.md says, and one that counts the others.
func TestTenLinesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log buffer
		s := newServer(t, Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
		for range 30 {
			s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/nowhere", nil))
		}
		if got := strings.Count(log.String(), "\n"); got != 10 {
			t.Errorf("%d lines: %s", got, log.String())
		}
		// What was left out is told at the end, and not again when its time comes.
		s.journal.end()
		time.Sleep(2 * journalEvery)
		if got := strings.Count(log.String(), "\n"); got != 11 {
			t.Errorf("%d lines with the end: %s", got, log.String())
		}
	})
}

// The line that counts those that were left out says nothing of any of them.
func TestLinesThatAreLeftOutStayOut(t *testing.T) {
	var log buffer
	j := newJournal(slog.New(slog.NewTextHandler(&log, nil)))
	for range journalBurst + 7 {
		j.warn(sort{text: "refused", kind: "invalid"}, "request_id", "patient-7")
	}
	told := log.String()
	j.end()
	if last := log.String()[len(told):]; !strings.Contains(last, "count=7\n") || strings.Contains(last, "patient") {
		t.Errorf("the last line: %s", last)
	}
}

// One sort of refusal hides no other: another client's, or one of another kind, is logged at once.
func TestLogTellsEverySort(t *testing.T) {
	var log buffer
	s := newServer(t, Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	r := httptest.NewRequest("POST", "/v1/answers", nil)
	for range 100 {
		s.note(r, nil, "", unauthorized("no"))
		s.note(r, &member{Client: Client{Name: "ward"}}, "", invalid("no"))
	}
	s.note(r, &member{Client: Client{Name: "other"}}, "late", invalid("no"))
	s.note(r, nil, "", unavailable("no", time.Second, net.ErrClosed))
	s.note(r, &member{Client: Client{Name: "ward"}}, "", unauthorized("no"))
	for _, want := range []string{"client=other", "request_id=late", "level=ERROR",
		"kind=unauthorized client=ward"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("%s is not in the log", want)
		}
	}
	if n := strings.Count(log.String(), "\n"); n != 2*journalBurst+3 {
		t.Errorf("%d lines", n)
	}
}

// A full disk is told once, and then each minute with how often it was met.
func TestWhatLastsIsToldEachMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log buffer
		j := newJournal(slog.New(slog.NewJSONHandler(&log, nil)))
		for range 600 {
			j.error(sort{text: "head not kept", lasts: true}, "cause", "no space")
			time.Sleep(time.Second)
		}
		j.end()
		lines, counted := strings.Split(strings.TrimSpace(log.String()), "\n"), 0
		for i, line := range lines {
			var said struct {
				Msg, Cause string
				Count      int
			}
			if err := json.Unmarshal([]byte(line), &said); err != nil || said.Cause != "no space" ||
				(said.Msg == "head not kept") != (i == 0) {
				t.Errorf("%s, %v", line, err)
			}
			counted += said.Count
		}
		if len(lines) > 12 || len(lines) < 10 || counted != 599 {
			t.Errorf("%d lines, %d of 599 counted: %s", len(lines), counted, log.String())
		}
	})
}
