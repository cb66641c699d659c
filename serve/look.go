package serve

import (
	"context"
	"encoding/json"
	"math"
	"net/http"
	"sync"
	"time"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/release"
)

// budget is the response to GET /v1/budget.
type budget struct {
	release.BudgetState
	// Usable is the cost that can still be charged to the asker. Remaining is the ledger's.
	Usable *rest `json:"usable,omitempty"`
	// Answers is how many were taken of a table for many answers, which cost nothing more each.
	Answers *answersLeft  `json:"answers,omitempty"`
	Client  *clientBudget `json:"client,omitempty"` // of the asker, where it has a share
}

// answersLeft counts the answers of a table, and those of the asker.
type answersLeft struct {
	Most   uint64  `json:"most"`
	Taken  uint64  `json:"taken"`
	Share  *uint64 `json:"share,omitempty"` // of the asker, where it has one
	Client uint64  `json:"taken_by_client"`
}

type clientBudget struct {
	Name      string         `json:"name"`
	Granted   release.Amount `json:"granted"`
	Spent     release.Amount `json:"spent"`
	Remaining release.Amount `json:"remaining"`
}

func (s *Server) getBudget(w http.ResponseWriter, r *http.Request, client *member) *failure {
	book, err := s.Online.Ledger(r.Context())
	if err != nil {
		return failureOf(err, client)
	}
	now, err := s.Online.State(r.Context())
	if err != nil {
		return failureOf(err, client)
	}
	out := budget{BudgetState: release.NewBudgetState(book, now), Usable: s.rest(r.Context(), client, now)}
	if s.Online.Plan().Together().Most > 0 {
		labels, taken, byClient, err := s.Online.Taken(r.Context(), client.Name)
		if err != nil {
			return failureOf(err, client)
		}
		out.Answers = &answersLeft{labels, taken, client.Answers, byClient}
	}
	if client.share != nil {
		spent, err := s.Online.SpentBy(r.Context(), client.Name)
		if err != nil {
			return failureOf(err, client)
		}
		share := client.share.Cost()
		out.Client = &clientBudget{client.Name, release.NewAmount(share), release.NewAmount(spent),
			release.NewAmount(share.Minus(spent))}
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}

// mechanism is the response to GET /v1/mechanism.
type mechanism struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	ensemble.Figures
	K           int             `json:"k"`
	Classes     []string        `json:"classes"`
	Labels      []string        `json:"labels,omitempty"`   // of each question, where it has several
	MostYes     int             `json:"most_yes,omitempty"` // of them, so many of a teacher's vote are counted
	YesFrom     int             `json:"yes_from,omitempty"` // from so many teachers on a label is yes; 0 for more than half
	Affected    int             `json:"affected"`
	Neighbours  string          `json:"neighbours"`
	Abstains    bool            `json:"abstains"`
	PerAnswer   accountant.Cost `json:"per_answer"` // of one answer by itself
	Promise     promise         `json:"promise"`    // what is charged
	Stated      *stated         `json:"stated,omitempty"`
	Basis       string          `json:"basis"`
	Assumptions []string        `json:"assumptions"`
	Table       json.RawMessage `json:"table,omitempty"`
	ByClass     json.RawMessage `json:"by_class,omitempty"`
}

// stated is the promise of the teachers, as stated by the operator of the server.
type stated struct {
	Epsilon  *float64 `json:"epsilon"` // null for teachers that promise nothing
	Delta    float64  `json:"delta"`
	Affected int      `json:"affected"`
}

func (s *Server) stated() *stated {
	p, _, said := s.Online.Stated()
	if !said {
		return nil
	}
	out := &stated{Delta: p.TeacherDelta, Affected: p.Affected}
	if !math.IsInf(p.Epsilon, 1) { // which JSON has no number for
		out.Epsilon = &p.Epsilon
	}
	return out
}

func (s *Server) getMechanism(w http.ResponseWriter, r *http.Request, client *member) *failure {
	book, err := s.Online.Ledger(r.Context())
	if err != nil {
		return failureOf(err, client)
	}
	m := s.Online.Plan().Mechanism()
	of, several := m.Setting(), s.Online.Plan().Several()
	writeJSON(w, http.StatusOK, mechanism{
		Name: m.Name(), Title: m.Title(), Figures: m.Figures(), K: several.TeachersOf(of.K), Classes: s.Classes, Affected: of.Affected,
		Labels: s.Labels, MostYes: several.MostYes, YesFrom: several.From(),
		Neighbours: book.Relation().Name(),
		Abstains:   m.Abstains(), PerAnswer: m.PerAnswer(), Promise: s.promise(), Stated: s.stated(),
		Basis: m.Basis(), Assumptions: m.Assumptions(), Table: s.Table, ByClass: s.ByClass,
	})
	return nil
}

func (s *Server) getHealth(w http.ResponseWriter, r *http.Request) {
	if !allowed(r, http.MethodGet) {
		s.refuse(w, r, nil, "", wrongMethod(w, http.MethodGet))
		return
	}
	if s.stopping.Load() {
		unavailable("the server is stopping", time.Second, nil).write(w)
		return
	}
	if s.unkept.Load() {
		unavailable("the ledger's newest head cannot be kept", 5*time.Second, nil).write(w)
		return
	}
	if s.health.look(s) != nil {
		unavailable("the ledger takes no charge now", 5*time.Second, nil).write(w)
		return
	}
	writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
}

// health caches for a second whether the ledger can take a charge. Anybody may ask, so questions
// about health must not keep the ledger from answers.
type health struct {
	mu  sync.Mutex
	at  time.Time
	err error
}

// healthTime bounds a look at the ledger, for which strangers wait: they have five seconds for all.
const healthTime = 2 * time.Second

func (h *health) look(s *Server) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if time.Since(h.at) > time.Second {
		ctx, cancel := context.WithTimeout(context.Background(), min(s.Timeout, healthTime))
		defer cancel()
		was := h.err
		h.err = s.Online.Ready(ctx)
		h.at = time.Now()
		switch {
		case h.err != nil:
			s.journal.error(sort{text: "not ready", lasts: true}, "cause", h.err.Error())
		case was != nil:
			s.journal.warn(sort{text: "ready again"})
		}
	}
	return h.err
}

func (s *Server) getAPI(w http.ResponseWriter, _ *http.Request, _ *member) *failure {
	if s.API == nil {
		return notFound()
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(s.API)
	return nil
}

func (s *Server) getPage(w http.ResponseWriter, r *http.Request, _ *member) *failure {
	if s.Page == nil {
		return notFound()
	}
	s.Page.ServeHTTP(w, r)
	return nil
}
