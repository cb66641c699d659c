package serve

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/testing/ledgersuite"
	"github.com/darrm/darrm/internal/testing/lineartest"
	"github.com/darrm/darrm/internal/testing/lineartest/served"
	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/internal/testing/servetest"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
)

// listening serves a handler on a socket until the test ends, and returns how it is asked.
func listening(t *testing.T, h http.Handler) *served.Server {
	t.Helper()
	folder, err := os.MkdirTemp("", "linear") // the name of a socket has little room
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	socket := filepath.Join(folder, "s")
	l, err := new(net.ListenConfig).Listen(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &httptest.Server{Listener: l, Config: &http.Server{Handler: h}}
	server.Start()
	client := servetest.NewClient(socket)
	t.Cleanup(func() { client.Close(); server.Close() })
	return &served.Server{Client: client, Unit: perQuery, Votes: func(other bool) []int {
		if other {
			return []int{0, 2, 3}
		}
		return []int{2, 2, 1}
	}}
}

// another is a second server of the ledger at a path, with the service key of the first.
func another(t *testing.T, first Options, book *ledger.Ledger, path string) *Server {
	t.Helper()
	online, err := release.OpenOnline(t.Context(), release.OnlineOptions{
		Plan: first.Online.Plan(), Stated: disjoint,
		Charge: release.Charge{Ledger: path, AcceptWeak: true},
		Key:    filepath.Join(filepath.Dir(book.Path()), "key"),
	})
	if err != nil {
		t.Fatal(err)
	}
	return newServer(t, Options{Online: online, Classes: classes})
}

// linearStore returns a store whose clients each ask one of the servers.
func linearStore(t *testing.T, handlers ...http.Handler) lineartest.Store {
	t.Helper()
	var servers []*served.Server
	for _, h := range handlers {
		servers = append(servers, listening(t, h))
	}
	return lineartest.Store{Plain: true, Ask: func(ctx context.Context, client int,
		a lineartest.Ask) (lineartest.Told, error) {
		return servers[client%len(servers)].Ask(ctx, a)
	}}
}

// Clients ask for answers, for the same ones again, with other votes and what is spent, of one
// server and of two with one ledger: each history has an order in which one answer after the other
// was charged.
func TestLinearisable(t *testing.T) {
	t.Parallel()
	histories := 4
	if ledgersuite.Long() {
		histories = 100
	}
	lineartest.Judge(t, histories, 25, func(t *testing.T, i int) lineartest.Store {
		o, book, _ := newOptions(t, lineartest.Room)
		handlers := []http.Handler{newServer(t, o)}
		if i%2 == 0 {
			handlers = append(handlers, another(t, o, book, book.Path()))
		}
		return linearStore(t, handlers...)
	})
}

// doubling is a server that charges the answers to ids with an 8 at the end twice, the second time
// under an id that nobody asked for.
type doubling struct{ http.Handler }

func (d doubling) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		body, _ := io.ReadAll(r.Body)
		if bytes.Contains(body, []byte(`8"`)) {
			more := strings.Replace(string(body), `"id-`, `"more-`, 1)
			ask(d.Handler, "POST", "/v1/answers", more)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	d.Handler.ServeHTTP(w, r)
}

// Lost updates are found, and charges that nobody asked for: two servers, each of which has a copy
// of the ledger, lose what the other one charged. Each of 5 histories of both kinds is found; to go
// unnoticed, none of some 60 looks and 240 requests could meet a lost charge.
func TestLostAnswersAreFound(t *testing.T) {
	if raced.Enabled {
		t.Skip("about what finds lost answers; TestLinearisable races the server")
	}
	t.Parallel()
	stores := map[string]func(t *testing.T) lineartest.Store{
		"lost": func(t *testing.T) lineartest.Store {
			o, book, _ := newOptions(t, lineartest.Room)
			backup := book.Path() + ".copy"
			for _, file := range []string{"", ".anchor", ".secret"} {
				b, err := os.ReadFile(book.Path() + file)
				if os.IsNotExist(err) {
					continue
				}
				if err == nil {
					err = os.WriteFile(backup+file, b, 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			return linearStore(t, newServer(t, o), another(t, o, book, backup))
		},
		"double": func(t *testing.T) lineartest.Store {
			o, _, _ := newOptions(t, lineartest.Room)
			return linearStore(t, doubling{newServer(t, o)})
		},
	}
	for name, store := range stores {
		for i := range 5 {
			t.Run(fmt.Sprint(name, i), func(t *testing.T) {
				history, err := store(t).History(t.Context(), 25, uint64(i))
				if err != nil {
					t.Fatal(err)
				}
				if lineartest.Linearisable(history) == "" {
					t.Error("it is not found")
				}
			})
		}
	}
}
