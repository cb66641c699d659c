package serve

import (
	"bytes"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
)

// A panic tells the log where it was, and neither what with nor the arguments of the functions.
func TestPanicsTellNoVotes(t *testing.T) {
	var log bytes.Buffer
	s, err := New(Options{Page: http.HandlerFunc(func(http.ResponseWriter,
		*http.Request) {
		panic("votes 3 and 8")
	}), Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	if w.Code != 500 || !strings.Contains(w.Body.String(), `"kind":"internal"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	// no client: it panics
	out := s.answerOne(t.Context(), nil, &query{RequestID: "a", Counts: []int{3, 8}})
	if out.fail == nil || out.fail.Kind != kindInternal {
		t.Fatalf("%+v", out)
	}
	for _, said := range []string{log.String(), out.fail.cause.Error()} {
		if strings.Contains(said, "votes 3") || regexp.MustCompile(`[({]0x|[({]3\b`).MatchString(said) {
			t.Errorf("the log has the votes: %s", said)
		}
		if !strings.Contains(said, "panic") || !strings.Contains(said, "serve.") {
			t.Errorf("the log does not say where: %s", said)
		}
	}
}

// An id that is refused for its length does not fill the log.
func TestLongIDsAreCutInTheLog(t *testing.T) {
	var log bytes.Buffer
	s, err := New(Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	s.note(httptest.NewRequest("POST", "/v1/answers", nil), nil, strings.Repeat("i", 1<<20),
		invalid("too long"))
	if said := log.String(); len(said) > 1000 ||
		!strings.Contains(said, strings.Repeat("i", ledger.MaxID)) {
		t.Errorf("%d bytes of log", len(said))
	}
}

// Clients are not replaced by none, as an empty file has them: whoever may open the socket could
// ask for the whole budget.
func TestClientsAreNeverReplacedByNone(t *testing.T) {
	_, hash := NewToken()
	s, err := New(Options{Clients: []Client{{Name: "a", TokenSHA256: []string{hash}}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.SetClients(nil); err == nil {
		t.Error("no clients are taken")
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("GET", "/v1/mechanism", nil))
	if w.Code != 401 {
		t.Errorf("without a token: %d", w.Code)
	}
}

// A socket is taken from nobody who may listen there, and one that another server took is left to
// it.
func TestSocketIsTakenFromNobody(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s")
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	if err := syscall.Bind(fd, &syscall.SockaddrUnix{Name: path}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	for range 10 { // until the server is too busy to take one more
		c, err := net.DialTimeout("unix", path, 100*time.Millisecond)
		if err != nil {
			break
		}
		defer c.Close()
	}
	if l, err := listenUnix(t.Context(), path); err == nil {
		l.Close()
		t.Fatal("the socket of a busy server was taken")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	l, err := listenUnix(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil { // by somebody who starts another
		t.Fatal(err)
	}
	other, err := listenUnix(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("a server that stops removes another one's socket: %v", err)
	}
	if left, err := filepath.Glob(path + ".*"); err != nil || left != nil {
		t.Errorf("left: %v, %v", left, err)
	}
}

// The socket can be opened by nobody else at any moment, whatever the process's mask is.
func TestSocketIsNeverOpen(t *testing.T) {
	dir := t.TempDir()
	defer syscall.Umask(syscall.Umask(0))
	stop, seen := make(chan struct{}), make(chan string)
	go func() {
		open := ""
		defer func() { seen <- open }()
		for {
			select {
			case <-stop:
				return
			default:
			}
			entries, _ := os.ReadDir(dir)
			for _, e := range entries {
				if info, err := e.Info(); err == nil && info.Mode().Perm()&0o007 != 0 {
					open = info.Name() + " " + info.Mode().String()
				}
			}
		}
	}()
	for i := range 300 {
		l, err := listenUnix(t.Context(), filepath.Join(dir, string(rune('a'+i%26))))
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
	}
	close(stop)
	if open := <-seen; open != "" {
		t.Errorf("anybody could open %s", open)
	}
}

// However many ask whether the server is well, the ledger is looked at once a second.
func TestHealthLooksSeldom(t *testing.T) {
	var h health
	h.at = time.Now()
	if err := h.look(nil); err != nil { // no ledger is looked at
		t.Error(err)
	}
	h.err = io.EOF
	if err := h.look(nil); err == nil {
		t.Error("what was found is not told")
	}
}

// Frozen teachers' answers cost nothing each, so that a share of them would limit nothing: it is
// refused at the start, and at every new reading.
func TestNoShareOfFrozenTeachers(t *testing.T) {
	_, book, _ := newOptions(t, 10)
	p, err := constraints.NewProblem(3, 3, 0.1, 0)
	if err != nil {
		t.Fatal(err)
	}
	f, err := gamma.Constant(3, 0.25)
	if err != nil {
		t.Fatal(err)
	}
	c, err := gamma.Certify(t.Context(), p, f)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := release.DaRRM(c, accountant.ReplaceOne)
	if err != nil {
		t.Fatal(err)
	}
	online, err := release.OpenOnline(t.Context(), release.OnlineOptions{
		Plan: plan, Stated: ensemble.Stated{Epsilon: &p.Epsilon, TeacherDelta: &p.TeacherDelta,
			Affected: &p.Affected},
		Charge: release.Charge{Ledger: book.Path(), Teachers: "frozen", Ensemble: "e"},
		Key:    filepath.Join(t.TempDir(), "key"),
	})
	if err != nil {
		t.Fatal(err)
	}
	_, hash := NewToken()
	free := []Client{{Name: "a", TokenSHA256: []string{hash}}}
	share := []Client{{Name: "a", TokenSHA256: []string{hash}, Epsilon: new(1.0), Delta: new(0.0)}}
	if _, err := New(Options{Online: online, Clients: share}); err == nil {
		t.Error("a share is taken")
	}
	s, err := New(Options{Online: online, Clients: free})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.SetClients(share); err == nil {
		t.Error("a share is taken when the clients are read anew")
	}
	if got := s.promise().Of; got != ofAllAnswers {
		t.Errorf("the promise is of %s", got)
	}
}
