package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/loopback"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/votes"
)

// Options are a service. Only Online and Classes are required.
type Options struct {
	Online *release.Online
	// Classes are the names of the classes, in order, and Same are their other spellings.
	Classes []string
	Same    []votes.Spelling
	// Labels are the names of the labels of each question, in order, where Online answers questions with
	// several: then Same are their spellings, and Classes are those of each label, no and yes.
	Labels []string
	// Clients may ask. None: whoever can open the Unix socket.
	Clients []Client
	// Table is the mechanism's table as JSON, with its certificate; nil for none.
	Table json.RawMessage
	// ByClass is how the table treats classes that it tells apart, as JSON; nil where it treats them alike.
	ByClass json.RawMessage
	// Page answers GET /, and API is GET /openapi.json; nil for none.
	Page http.Handler
	API  []byte
	// Version of the program, for the metrics.
	Version string
	// Log takes starts, stops and refusals. It gets no votes and no labels. Defaults to none.
	Log *slog.Logger
	Limits
}

// Server answers HTTP. Make it with New. It is safe for concurrent use; Listen comes before Serve.
type Server struct {
	Options
	words    *votes.Vocabulary // the spellings of the classes
	policy   atomic.Pointer[policy]
	stopping atomic.Bool
	trying   atomic.Bool   // it listens to whoever is on this machine, browsers among them
	changing sync.Mutex    // of policy and at
	at       *Address      // where it listens; nil before
	room     chan struct{} // one token for each request that is worked on
	journal  *journal
	metrics  *metrics
	health   health
	unkept   atomic.Bool                 // the ledger's newest head could not be kept elsewhere
	routes   map[string]http.HandlerFunc // by exact path
}

// unmade reports whether the server is not one that New made.
func (s *Server) unmade() bool { return s == nil || s.policy.Load() == nil }

var errUnmade = errors.New("the server was not made by New")

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
	var err error
	names := o.Classes
	if several := o.Online.Plan().Several().Labels; len(o.Labels) != several {
		return nil, check.Wantf("number of labels", len(o.Labels), "%d, which each question has", several)
	} else if several > 0 {
		names = o.Labels
		if err = votes.CheckLabels(o.Labels, 0, o.Same); err != nil {
			return nil, err
		}
	}
	if s.words, err = votes.NewVocabulary(names, o.Same); err != nil {
		return nil, err
	}
	s.policy.Store(new(policy))
	if err := s.SetClients(o.Clients); err != nil {
		return nil, err
	}
	s.metrics = newMetrics(s)
	s.routes = map[string]http.HandlerFunc{
		"/v1/answers":   s.route(http.MethodPost, mayAnswer, s.postAnswers),
		"/v1/budget":    s.route(http.MethodGet, mayLook, s.placed(s.getBudget)),
		"/v1/mechanism": s.route(http.MethodGet, mayLook, s.placed(s.getMechanism)),
		"/metrics": s.route(http.MethodGet, mayLook,
			s.placed(func(w http.ResponseWriter, r *http.Request, _ *member) *failure {
				s.metrics.handler.ServeHTTP(w, r)
				return nil
			})),
		"/openapi.json": s.route(http.MethodGet, mayLook, s.getAPI),
		"/":             s.route(http.MethodGet, mayLook, s.placed(s.getPage)),
		"/healthz":      s.getHealth,
	}
	return s, nil
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.unmade() || s.metrics == nil || w == nil || r == nil { // nobody made it: it knows no client
		if w != nil {
			http.Error(w, errUnmade.Error(), http.StatusInternalServerError)
		}
		return
	}
	defer func() { // before package http, which would log what was panicked with
		if recover() != nil {
			s.refuse(w, r, nil, "", panicked())
		}
	}()
	w.Header().Set("Connection", "close") // route keeps the connections of clients
	w.Header().Set("Cache-Control", "no-store")
	if s.trying.Load() && !loopback.Host(r.Host) {
		s.refuse(w, r, nil, "", &failure{Kind: kindInvalid, status: http.StatusMisdirectedRequest,
			Message: "a development server answers requests to localhost or 127.0.0.1 alone"})
		return
	}
	// The exact path: one that has to be cleaned or decoded first is another to whoever guards paths.
	if handle := s.routes[r.URL.EscapedPath()]; handle != nil {
		handle(w, r)
		return
	}
	s.refuse(w, r, nil, "", notFound())
}

type handler func(http.ResponseWriter, *http.Request, *member) *failure

// route lets clients that may do what it takes use one method. What a client does at once is
// bounded, so that no one takes all places.
func (s *Server) route(method, what string, do handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		client, fail := s.policy.Load().of(r)
		if fail == nil {
			s.welcome(w, r)
		}
		switch {
		case fail != nil:
		case !allowed(r, method):
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
	}
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
	s.metrics.count(client, f.Kind)
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

// allowed reports whether a request has the method, or asks for the header of what GET gives.
func allowed(r *http.Request, method string) bool {
	return r.Method == method || method == http.MethodGet && r.Method == http.MethodHead
}

func wrongMethod(w http.ResponseWriter, method string) *failure {
	if method == http.MethodGet {
		method += ", " + http.MethodHead
	}
	w.Header().Set("Allow", method)
	return &failure{Kind: kindMethod, Message: "the method must be " + method,
		status: http.StatusMethodNotAllowed}
}

func notFound() *failure {
	return &failure{Kind: kindNotFound, Message: "there is nothing at this path; /openapi.json lists all paths",
		status: http.StatusNotFound}
}

// postAnswers answers one query or several.
func (s *Server) postAnswers(w http.ResponseWriter, r *http.Request, client *member) *failure {
	if fail := accepts(w, r); fail != nil {
		return fail
	}
	of := s.Online.Plan().Mechanism().Setting()
	queries, batch, fail := parse(http.MaxBytesReader(w, r.Body, s.Body),
		bounds{s.Online.Plan().Several().TeachersOf(of.K), of.Classes, s.Batch, len(s.Labels)})
	if fail != nil {
		return fail
	}
	return s.placed(func(w http.ResponseWriter, r *http.Request, client *member) *failure {
		return s.answerAll(w, r, client, queries, batch)
	})(w, r, client)
}

// refused is a query of a batch that is not answered.
type refused struct {
	RequestID string   `json:"request_id"`
	Error     *failure `json:"error"`
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
			out[i] = refused{queries[i].RequestID, one.fail}
		}
	}
	writeJSON(w, http.StatusOK, map[string]any{"answers": out})
	return nil
}
