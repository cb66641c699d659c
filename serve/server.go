package serve

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
)

// Options are a service. Only Online and Classes are required.
type Options struct {
	Online *release.Online
	// Classes are the names of the classes, in order.
	Classes []string
	// Clients may ask. None: whoever can open the Unix socket.
	Clients []Client
	// Table is the mechanism's table as JSON, with its certificate; nil for none.
	Table json.RawMessage
	// Page answers GET /, and API is GET /openapi.json; nil for none.
	Page http.Handler
	API  []byte
	// Log takes starts, stops and refusals. It gets no votes and no labels. Defaults to none.
	Log *slog.Logger
	Limits
}

// Limits bound what one request, and all together, may take. A zero is the default.
type Limits struct {
	Body  int64 // most bytes of a request's body; 4 MiB
	Batch int   // most queries of one request; 256
	// most requests that are worked on at once, of one client half of them, others wait; 256
	AtOnce  int
	Timeout time.Duration // longest that a request may wait and take; 30 s
	// Connections is the most that are open at once, others wait; 1024. PerAddress is the most from
	// one IPv4 address or one IPv6 network of 64 bits, others are closed; 128.
	Connections, PerAddress int
}

// Default limits.
const (
	DefaultBody        = 4 << 20
	DefaultBatch       = 256
	DefaultAtOnce      = 256
	DefaultTimeout     = 30 * time.Second
	DefaultConnections = 1024
	DefaultPerAddress  = 128
)

func (l *Limits) settle() error {
	if l.Body == 0 {
		l.Body = DefaultBody
	}
	if l.Batch == 0 {
		l.Batch = DefaultBatch
	}
	if l.AtOnce == 0 {
		l.AtOnce = DefaultAtOnce
	}
	if l.Timeout == 0 {
		l.Timeout = DefaultTimeout
	}
	if l.Connections == 0 {
		l.Connections = DefaultConnections
	}
	if l.PerAddress == 0 {
		l.PerAddress = DefaultPerAddress
	}
	switch {
	case l.Body < 0 || l.Body > 1<<30:
		return &check.Error{Name: "max body", Value: l.Body, Rule: "between 1 and 2^30 bytes"}
	case l.Batch < 0 || l.Batch > 4096:
		return &check.Error{Name: "max batch", Value: l.Batch, Rule: "between 1 and 4096 requests"}
	case l.AtOnce < 0 || l.AtOnce > 1<<16:
		return &check.Error{Name: "max requests", Value: l.AtOnce, Rule: "between 1 and 65536"}
	case l.Connections < 0 || l.Connections > 1<<20:
		return &check.Error{Name: "max connections", Value: l.Connections, Rule: "between 1 and 2^20"}
	case l.PerAddress < 0 || l.PerAddress > 1<<20:
		return &check.Error{Name: "max per address", Value: l.PerAddress, Rule: "between 1 and 2^20"}
	case l.Timeout < 0:
		return &check.Error{Name: "request timeout", Value: l.Timeout, Rule: "more than 0"}
	}
	return nil
}

// Server answers HTTP. Make it with New. It is safe for concurrent use; Listen comes before Serve.
type Server struct {
	Options
	clients  atomic.Pointer[members]
	stopping atomic.Bool
	at       *Address // where it listens; nil before
	tls      atomic.Pointer[tls.Config]
	room     chan struct{} // one token for each request that is worked on
	journal  *journal
	metrics  *metrics
	health   health
	unkept   atomic.Bool // the ledger's newest head could not be kept elsewhere
	routes   *http.ServeMux
}

// New returns a server that does not listen yet. The error names the client or the limit that
// breaks a rule.
func New(o Options) (*Server, error) {
	if err := o.Limits.settle(); err != nil {
		return nil, err
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{Options: o, room: make(chan struct{}, o.AtOnce), journal: newJournal(o.Log)}
	s.clients.Store(new(members))
	if err := s.SetClients(o.Clients); err != nil {
		return nil, err
	}
	s.metrics = newMetrics(s)
	s.routes = http.NewServeMux()
	s.route("/v1/answers", http.MethodPost, mayAnswer, s.postAnswers)
	s.route("/v1/budget", http.MethodGet, mayLook, s.placed(s.getBudget))
	s.route("/v1/mechanism", http.MethodGet, mayLook, s.placed(s.getMechanism))
	s.route("/metrics", http.MethodGet, mayLook,
		s.placed(func(w http.ResponseWriter, r *http.Request, _ *member) *failure {
			s.metrics.handler.ServeHTTP(w, r)
			return nil
		}))
	s.route("/openapi.json", http.MethodGet, mayLook, s.getAPI)
	s.route("/{$}", http.MethodGet, mayLook, s.placed(s.getPage))
	s.routes.HandleFunc("/healthz", s.getHealth)
	s.routes.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.refuse(w, r, nil, "", notFound())
	})
	return s, nil
}

// SetClients replaces the clients, for every request that begins after it. On an error the old ones
// stay. They are never replaced by none: anybody who can open the socket could then ask, without a
// share and without a rate.
func (s *Server) SetClients(clients []Client) error {
	before := *s.clients.Load()
	all, err := newMembers(clients, before)
	if err != nil {
		return err
	}
	if len(all) == 0 && len(before) > 0 {
		return usagef("no client is left who may ask: keep one table [[client]] in the configuration")
	}
	if s.at != nil {
		if err := s.at.check(all); err != nil {
			return err
		}
	}
	// A share of nothing would look like a limit: frozen teachers' answers cost nothing each.
	for _, m := range all {
		if m.share != nil && s.Online.Teachers() == "frozen" {
			return &check.Error{Name: "share of client " + m.Name, Value: m.share,
				Rule: "left out for frozen teachers, whose answers cost nothing each: see rate"}
		}
	}
	for _, m := range all {
		if m.share == nil && m.Answers == nil {
			continue
		}
		switch together := s.Online.Plan().Mechanism().Together().Most > 0; {
		case together && m.share != nil:
			return &check.Error{Name: "share of client " + m.Name, Value: m.share,
				Rule: "left out for a table for many answers, which cost nothing each: state answers"}
		case !together && m.Answers != nil:
			return &check.Error{Name: "answers of client " + m.Name, Value: *m.Answers,
				Rule: "left out but for a table for many answers: state epsilon and delta"}
		}
	}
	for _, m := range all {
		if m.room == nil {
			m.room = make(chan struct{}, (s.AtOnce+1)/2)
		}
	}
	s.clients.Store(&all)
	return nil
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer func() { // before package http, which would log what was panicked with
		if recover() != nil {
			s.refuse(w, r, nil, "", panicked())
		}
	}()
	w.Header().Set("Connection", "close") // route keeps the connections of clients
	s.routes.ServeHTTP(w, r)
}

type handler func(http.ResponseWriter, *http.Request, *member) *failure

// route lets clients that may do what it takes have one path by one method. What a client does at
// once is bounded, so that no one takes all places.
func (s *Server) route(path, method, what string, do handler) {
	s.routes.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
		client, fail := s.clients.Load().of(r)
		if fail == nil {
			s.welcome(w, r)
		}
		switch {
		case fail != nil:
		case r.Method != method && !(method == http.MethodGet && r.Method == http.MethodHead):
			fail = wrongMethod(w, method)
		case !client.may(what):
			fail = &failure{Kind: kindForbidden, Message: "the client may not " + what,
				status: http.StatusForbidden}
		case s.stopping.Load():
			fail = unavailable("the server is stopping", time.Second, nil)
		default:
			ctx, cancel := context.WithTimeout(r.Context(), s.Timeout)
			defer cancel()
			if client.room != nil {
				if fail = enter(ctx, client.room); fail != nil {
					break
				}
				defer leave(client.room)
			}
			fail = do(w, r.WithContext(ctx), client)
		}
		if fail != nil {
			s.refuse(w, r, client, "", fail)
		}
	})
}

// welcome gives a client the time that a request may take, and keeps the connection for the next.
// Strangers have the time of a header for all, and one request. A connection with a chunked body is
// closed: a proxy that goes by a Content-Length beside it takes what follows for part of the body.
// Source: RFC 9112, section 6.3.
func (s *Server) welcome(w http.ResponseWriter, r *http.Request) {
	if len(r.TransferEncoding) == 0 {
		w.Header().Del("Connection")
	}
	// a test's response has none
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(s.Timeout + headerTimeout))
}

// placed makes a handler wait for one of the places in which requests are worked on. It has the
// place neither while a body is read nor while the response is sent: who is slow takes his own
// time.
func (s *Server) placed(do handler) handler {
	return func(w http.ResponseWriter, r *http.Request, client *member) *failure {
		kept := &kept{ResponseWriter: w, status: http.StatusOK}
		fail := func() *failure {
			if fail := enter(r.Context(), s.room); fail != nil {
				return fail
			}
			defer leave(s.room)
			return do(kept, r, client)
		}()
		if fail == nil {
			kept.send()
		}
		return fail
	}
}

func enter(ctx context.Context, room chan struct{}) *failure {
	select {
	case room <- struct{}{}:
		return nil
	case <-ctx.Done():
		return unavailable("too many requests are being worked on", time.Second, nil)
	}
}

func leave(room chan struct{}) { <-room }

// kept is a response that is held back.
type kept struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

func (k *kept) WriteHeader(status int)      { k.status = status }
func (k *kept) Write(b []byte) (int, error) { return k.body.Write(b) }

func (k *kept) send() {
	k.ResponseWriter.WriteHeader(k.status)
	_, _ = k.ResponseWriter.Write(k.body.Bytes()) // whoever is gone asks again
}

// refuse responds with a failure, and notes it.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, client *member, id string,
	f *failure) {
	s.note(r, client, id, f)
	f.write(w)
}

// note counts a refusal and writes it to the log: by its kind alone, since the message may quote
// what was asked.
func (s *Server) note(r *http.Request, client *member, id string, f *failure) {
	s.metrics.count(f.Kind)
	of := sort{kind: f.Kind}
	if client != nil {
		of.client = client.Name
	}
	args := []any{"status", f.status, "method", cut(r.Method), "path", cut(r.URL.Path), "from",
		r.RemoteAddr}
	if id != "" {
		// a refused one may be as long as the body
		args = append(args, "request_id", id[:min(len(id), ledger.MaxID)])
	}
	if f.cause != nil {
		of.text = "failed"
		s.journal.error(of, append(args, "cause", f.cause.Error())...)
		return
	}
	of.text = "refused"
	s.journal.warn(of, args...)
}

func wrongMethod(w http.ResponseWriter, method string) *failure {
	w.Header().Set("Allow", method)
	return &failure{Kind: kindMethod, Message: "the method must be " + method,
		status: http.StatusMethodNotAllowed}
}

func notFound() *failure {
	return &failure{Kind: kindNotFound, Message: "there is nothing at this path",
		status: http.StatusNotFound}
}

// postAnswers answers one query or several.
func (s *Server) postAnswers(w http.ResponseWriter, r *http.Request, client *member) *failure {
	if fail := accepts(w, r); fail != nil {
		return fail
	}
	of := s.Online.Plan().Mechanism().Setting()
	queries, batch, fail := parse(http.MaxBytesReader(w, r.Body, s.Body),
		bounds{of.K, of.Classes, s.Batch})
	if fail != nil {
		return fail
	}
	return s.placed(func(w http.ResponseWriter, r *http.Request, client *member) *failure {
		return s.answerAll(w, r, client, queries, batch)
	})(w, r, client)
}

// answerAll answers the queries of a request.
func (s *Server) answerAll(w http.ResponseWriter, r *http.Request, client *member, queries []query,
	batch bool) *failure {
	if fail := client.allow(len(queries), time.Now()); fail != nil {
		return fail
	}
	results := s.answer(r.Context(), client, queries)
	if !batch {
		if fail := results[0].fail; fail != nil {
			s.refuse(w, r, client, queries[0].RequestID, fail)
			return nil
		}
		writeJSON(w, http.StatusOK, results[0].answer)
		return nil
	}
	out := make([]any, len(results))
	for i, one := range results {
		if out[i] = one.answer; one.fail != nil {
			s.note(r, client, queries[i].RequestID, one.fail)
			out[i] = map[string]*failure{"error": one.fail}
		}
	}
	writeJSON(w, http.StatusOK, map[string]any{"answers": out})
	return nil
}
