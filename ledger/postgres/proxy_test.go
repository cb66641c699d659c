package postgres_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/darrm/darrm/internal/testing/pgtest"
)

// cancelRequest is the code of the protocol's message in the place of a version.
const cancelRequest = 80877102

// fault is a failure that a proxy inflicts on the next COMMIT.
type fault int

const (
	none        fault = iota
	loseAnswer        // the server commits, and the answer is lost
	loseRequest       // the connection breaks before the server hears of it
	loseAll           // as loseAnswer, and nobody gets through any more
)

// proxy stands between a client and the server, on a Unix socket of its own.
type proxy struct {
	dir    string
	server string // the server's socket
	mu     sync.Mutex
	next   fault
	closed bool
	hits   int
	lost   func() // runs when the server knows that a request was lost, and the client does not
}

func newProxy(t *testing.T, s *pgtest.Server) *proxy {
	p := &proxy{dir: t.TempDir(), server: filepath.Join(s.Dir(), ".s.PGSQL.5432")}
	l, err := net.Listen("unix", filepath.Join(p.dir, ".s.PGSQL.5432"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(c)
		}
	}()
	return p
}

// through returns the location of a ledger by way of the proxy.
func (p *proxy) through(direct string) string {
	return strings.Replace(direct, "host="+filepath.Dir(p.server), "host="+p.dir, 1)
}

func (p *proxy) plan(f fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next, p.closed = f, false
}

func (p *proxy) isClosed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

func (p *proxy) serve(client net.Conn) {
	defer client.Close()
	if p.isClosed() {
		return
	}
	server, err := net.Dial("unix", p.server)
	if err != nil {
		return
	}
	defer server.Close()
	var lose sync.Mutex // held while answers are lost
	lost := false
	go func() {
		defer client.Close()
		b := make([]byte, 1<<16)
		for {
			n, err := server.Read(b)
			lose.Lock()
			if err != nil || lost {
				lose.Unlock()
				return
			}
			client.Write(b[:n])
			lose.Unlock()
		}
	}()
	b := make([]byte, 1<<16)
	for first := true; ; first = false {
		n, err := client.Read(b)
		if err != nil {
			return
		}
		// pgx asks the server to cancel what a lost connection was about. That is lost, too:
		// else the COMMIT is undone half the time, which is another fault.
		if first && n >= 8 && binary.BigEndian.Uint32(b[4:]) == cancelRequest {
			return
		}
		// pgx sends COMMIT in a message of its own.
		if bytes.Contains(bytes.ToLower(b[:n]), []byte("commit\x00")) {
			p.mu.Lock()
			f := p.next
			p.next, p.closed = none, f == loseAll
			if f != none {
				p.hits++
			}
			p.mu.Unlock()
			switch f {
			case loseRequest:
				server.Close()
				if p.lost != nil {
					p.lost()
				}
				return
			case loseAnswer, loseAll:
				lose.Lock()
				lost = true
				lose.Unlock()
				server.Write(b[:n])
				client.Close()              // who does not wait for the server
				io.Copy(io.Discard, server) // which does it all the same
				return
			}
		}
		if _, err := server.Write(b[:n]); err != nil {
			return
		}
	}
}
