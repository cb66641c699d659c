package serve

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener whose connections are dialled in memory, so that time can be a test's own.
type pipes struct {
	next chan net.Conn
	done chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.next:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}
func (p *pipes) Close() error   { close(p.done); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

func (p *pipes) dial() (net.Conn, *bufio.Reader) {
	ours, theirs := net.Pipe()
	p.next <- theirs
	return ours, bufio.NewReader(ours)
}

// say writes a request, which who reads slowly may not take.
func say(c net.Conn, lines ...string) {
	go func() { _, _ = io.WriteString(c, strings.Join(lines, "\r\n")) }()
}

// lasts returns the time for which a silent connection stays open.
func lasts(from io.Reader) time.Duration {
	start := time.Now()
	_, _ = io.Copy(io.Discard, from)
	return time.Since(start)
}

// A connection of a stranger has one request and the time of a header for all of it; a client's
// stays for the next one, and its body may take its time.
func TestStrangersAreShort(t *testing.T) {
	o, _, _ := newOptions(t, 1)
	synctest.Test(t, func(t *testing.T) {
		token, hash := NewToken()
		s := newServer(t, Options{Online: o.Online,
			Clients: []Client{{Name: "a", TokenSHA256: []string{hash}}}, API: []byte("{}")})
		l := &pipes{make(chan net.Conn), make(chan struct{})}
		stop := serving(t, s, l)
		defer stop()
		most := headerTimeout + time.Second // package http waits a moment before it closes
		for name, lines := range map[string][]string{
			"nothing":              {},
			"half a header":        {"GET /v1/budget HTTP/1.1", "Host: d", ""},
			"no token":             {"GET /v1/budget HTTP/1.1", "Host: d", "", ""},
			"no path":              {"GET /nothing HTTP/1.1", "Host: d", "", ""},
			"a path to be cleaned": {"GET //v1/budget HTTP/1.1", "Host: d", "", ""},
			"a wrong token": {"GET /v1/budget HTTP/1.1", "Host: d", "Authorization: Bearer x", "",
				""},
			"a body that never ends": {"POST /v1/answers HTTP/1.1", "Host: d",
				"Content-Type: application/json", "Content-Length: 1000", "", "{"},
		} {
			c, from := l.dial()
			say(c, lines...)
			if open := lasts(from); open > most {
				t.Errorf("%s: open for %v", name, open)
			}
			c.Close()
		}

		c, from := l.dial()
		defer c.Close()
		for range 3 {
			say(c, "GET /openapi.json HTTP/1.1", "Host: d", "Authorization: Bearer "+token, "", "")
			w, err := http.ReadResponse(from, nil)
			if err != nil || w.StatusCode != 200 {
				t.Fatal(w, err)
			}
			_, _ = io.Copy(io.Discard, w.Body)
			time.Sleep(idleTimeout - time.Second)
		}
		say(c, "POST /v1/answers HTTP/1.1", "Host: d", "Authorization: Bearer "+token,
			"Content-Type: application/json", "Content-Length: 3", "", "")
		for range 3 {
			time.Sleep(headerTimeout)
			say(c, "{")
		}
		w, err := http.ReadResponse(from, nil)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(w.Body); err != nil || w.StatusCode != 400 ||
			strings.Contains(string(b), "could not be read") {
			t.Errorf("a slow body: %d %s, %v", w.StatusCode, b, err)
		}
		if open := lasts(from); open > idleTimeout+time.Second {
			t.Errorf("idle for %v", open)
		}
	})
}

// A proxy that goes by the Content-Length beside a chunked body sends what follows as part of it.
// It is no request here: after a chunked body the connection ends, and after another it stays.
func TestNoRequestFollowsAChunkedBody(t *testing.T) {
	o, book, _ := newOptions(t, 10)
	synctest.Test(t, func(t *testing.T) {
		token, hash := NewToken()
		o.Clients = []Client{{Name: "a", TokenSHA256: []string{hash}}}
		s := newServer(t, o)
		l := &pipes{make(chan net.Conn), make(chan struct{})}
		defer serving(t, s, l)()
		head := []string{"POST /v1/answers HTTP/1.1", "Host: d", "Authorization: Bearer " + token,
			"Content-Type: application/json"}
		length := func(id string) string { return fmt.Sprintf("Content-Length: %d", len(one(id))) }
		chunked := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(one("a")), one("a"))
		answers := func(lines ...string) (n int) {
			c, from := l.dial()
			defer c.Close()
			say(c, lines...)
			for ; ; n++ {
				w, err := http.ReadResponse(from, nil)
				if err != nil {
					return n
				}
				if _, _ = io.Copy(io.Discard, w.Body); w.StatusCode != 200 {
					t.Errorf("%d", w.StatusCode)
				}
			}
		}
		inner := append(slices.Clone(head), length("b"), "", one("b"))
		if n := answers(append(append(slices.Clone(head), length("a"), "Transfer-Encoding: chunked", "",
			chunked[:len(chunked)-2]), inner...)...); n != 1 {
			t.Errorf("%d requests after a chunked body", n)
		}
		checkSpent(t, book, 1)
		if n := answers(append(append(slices.Clone(head), length("c"), "", one("c")+head[0]),
			append(head[1:], length("d"), "", one("d"))...)...); n != 2 {
			t.Errorf("%d requests on a connection that stays", n)
		}
	})
}

// One address has its share of the connections and no more, and all together have theirs: others
// wait until there is room.
func TestConnectionsAreBounded(t *testing.T) {
	ca, _, authority := certificate(t, "ca", nil)
	cert, key, _ := certificate(t, "server", authority)
	o, _, log := newOptions(t, 1)
	token, hash := NewToken()
	o.Clients = []Client{{Name: "a", TokenSHA256: []string{hash}}}
	o.Connections, o.PerAddress = 3, 2
	s := newServer(t, o)
	l, err := s.Listen(t.Context(), Address{Listen: "tcp:127.0.0.1:0", Cert: cert, Key: key,
		ClientCA: ca})
	if err != nil {
		t.Fatal(err)
	}
	stop := serving(t, s, l)
	defer stop()
	roots := x509.NewCertPool()
	roots.AddCert(authority.Leaf)
	// dial asks over a connection from an address, and keeps it open.
	dial := func(from string, wait time.Duration) (net.Conn, error) {
		d := tls.Dialer{NetDialer: &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)},
			Timeout: wait}, Config: &tls.Config{RootCAs: roots}}
		c, err := d.DialContext(t.Context(), "tcp", l.Addr().String())
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { c.Close() })
		_ = c.SetDeadline(time.Now().Add(wait))
		fmt.Fprintf(c, "GET /v1/budget HTTP/1.1\r\nHost: d\r\nAuthorization: Bearer %s\r\n\r\n", token)
		w, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err == nil && w.StatusCode != 200 {
			err = errors.New(w.Status)
		}
		return c, err
	}
	const soon, long = 200 * time.Millisecond, 20 * time.Second
	first, err := dial("127.0.0.1", long)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dial("127.0.0.1", long); err != nil {
		t.Fatal(err)
	}
	var late net.Error
	if _, err := dial("127.0.0.1", long); err == nil || errors.As(err, &late) && late.Timeout() {
		t.Errorf("a third one from the same address: %v", err) // closed at once, not left to wait
	}
	if _, err := dial("127.0.0.2", long); err != nil {
		t.Errorf("from another address: %v", err)
	}
	if _, err := dial("127.0.0.3", soon); err == nil {
		t.Error("a fourth one is served")
	}
	waiting := make(chan error, 1)
	go func() { _, err := dial("127.0.0.1", long); waiting <- err }()
	time.Sleep(soon)
	first.Close() // makes room for one, in all and for the address
	if err := <-waiting; err != nil {
		t.Errorf("after one has left: %v", err)
	}
	if !strings.Contains(log.String(), "its address has too many") {
		t.Error("the log does not say that connections were closed")
	}
}

func TestSource(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"192.0.2.1", "192.0.2.1", true}, {"192.0.2.1", "192.0.2.2", false},
		{"192.0.2.1", "::ffff:192.0.2.1", true},
		{"2001:db8::1", "2001:db8::ffff", true}, {"2001:db8:0:0::1", "2001:db8:0:1::1", false},
	} {
		a, ok := source(&net.TCPAddr{IP: net.ParseIP(c.a), Port: 1})
		b, too := source(&net.TCPAddr{IP: net.ParseIP(c.b), Port: 2})
		if !ok || !too || (a == b) != c.same {
			t.Errorf("%s and %s: %v and %v", c.a, c.b, a, b)
		}
	}
	if _, ok := source(&net.UnixAddr{Name: "s"}); ok {
		t.Error("a Unix socket has addresses")
	}
}

// Requests whose bodies come slowly take no place from others.
func TestSlowBodiesHoldNoPlace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	o, book, _ := newOptions(t, 10)
	o.AtOnce, o.Timeout = 1, 10*time.Second
	s := newServer(t, o)
	l, err := s.Listen(t.Context(), Address{Listen: "unix:" + path})
	if err != nil {
		t.Fatal(err)
	}
	defer serving(t, s, l)()
	for range 3 {
		c, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		say(c, "POST /v1/answers HTTP/1.1", "Host: d", "Content-Type: application/json",
			"Expect: 100-continue", "Content-Length: 100", "", "{")
		if line, err := bufio.NewReader(c).ReadString('\n'); err != nil ||
			line != "HTTP/1.1 100 Continue\r\n" {
			t.Fatal(line, err)
		}
	}
	if status, body, _ := ask(s, "POST", "/v1/answers", one("a")); status != 200 {
		t.Errorf("%d %s", status, body)
	}
	checkSpent(t, book, 1)
}

// slow is a response that nobody reads before the test says so.
type slow struct {
	*httptest.ResponseRecorder
	begun, end chan struct{}
}

func (w slow) Write(b []byte) (int, error) {
	close(w.begun)
	<-w.end
	return w.ResponseRecorder.Write(b)
}

// A response that is read slowly takes no place from others.
func TestSlowReadersHoldNoPlace(t *testing.T) {
	o, _, _ := newOptions(t, 10)
	o.AtOnce, o.Timeout = 1, 10*time.Second
	s := newServer(t, o)
	w, done := slow{httptest.NewRecorder(), make(chan struct{}), make(chan struct{})},
		make(chan struct{})
	go func() {
		s.ServeHTTP(w, httptest.NewRequest("GET", "/v1/mechanism", nil))
		close(done)
	}()
	<-w.begun
	if status, body, _ := ask(s, "POST", "/v1/answers", one("a")); status != 200 {
		t.Errorf("%d %s", status, body)
	}
	close(w.end)
	if <-done; w.Code != 200 || w.Body.Len() == 0 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// One client has half of the places at most, also after the clients were read anew.
func TestClientsLeavePlaces(t *testing.T) {
	o, _, _ := newOptions(t, 10)
	busy, release := make(chan struct{}, 10), make(chan struct{})
	o.Page = http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		busy <- struct{}{}
		<-release
	})
	o.AtOnce, o.Timeout = 4, 10*time.Second
	greedy, hash := NewToken()
	other, otherHash := NewToken()
	o.Clients = []Client{{Name: "greedy", TokenSHA256: []string{hash}},
		{Name: "other", TokenSHA256: []string{otherHash}}}
	s := newServer(t, o)
	done := make(chan int)
	for i := range 6 {
		if i == 2 { // two are at work
			<-busy
			<-busy
			o.Clients[0].Rate = 5
			if err := s.SetClients(o.Clients); err != nil {
				t.Fatal(err)
			}
		}
		go func() {
			status, _, _ := ask(s, "GET", "/", "", bearer(greedy)...)
			done <- status
		}()
	}
	time.Sleep(50 * time.Millisecond) // for those who wait to do so
	if status, body, _ := ask(s, "POST", "/v1/answers", one("a"), bearer(other)...); status != 200 ||
		len(s.room) != 2 {
		t.Errorf("%d %s, %d places are taken", status, body, len(s.room))
	}
	close(release)
	for range 6 {
		if status := <-done; status != 200 {
			t.Errorf("who waited: %d", status)
		}
	}
}
