// Package served asks a server of private answers what histories of package lineartest ask of a
// ledger, so that one checker judges both: a charge is a query, a look is the budget.
//
// Values of its types are safe for concurrent use while nobody writes to their fields, but for
// those whose comments say otherwise.
package served

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/darrm/darrm/internal/testing/lineartest"
	"github.com/darrm/darrm/internal/testing/servetest"
)

// Server is a server on a socket, whose ledger has a budget of [lineartest.Room] answers.
type Server struct {
	Client *servetest.Client
	Unit   float64 // ε of an answer, a power of two
	// Votes are the votes, as counts, on a query, or the other ones under its id.
	Votes func(other bool) []int
}

// Ask asks once. An error leaves open what was done.
func (s *Server) Ask(ctx context.Context, a lineartest.Ask) (told lineartest.Told, err error) {
	if a.Look {
		return s.look(ctx)
	}
	answer, err := s.Client.Once(ctx, fmt.Sprintf("id-%d", a.ID), s.Votes(a.Other))
	var refused *servetest.Refusal
	switch {
	case err == nil:
		told.Seq = answer.Receipt.Seq
		if answer.Class != nil {
			told.Class = uint8(*answer.Class)
		}
		if told.Verdict = lineartest.Paid; answer.Replayed {
			told.Verdict = lineartest.Replayed
		}
	case !errors.As(err, &refused):
	case refused.Status == http.StatusConflict:
		return lineartest.Told{Verdict: lineartest.Conflict}, nil
	case refused.Kind == "budget":
		return lineartest.Told{Verdict: lineartest.Exceeded}, nil
	}
	return told, err
}

// look returns how many answers were paid for.
func (s *Server) look(ctx context.Context) (lineartest.Told, error) {
	budget, err := s.Client.Get(ctx, "/v1/budget")
	if err != nil {
		return lineartest.Told{}, err
	}
	spent, _ := budget["spent"].(map[string]any)
	number, _ := spent["epsilon"].(json.Number)
	epsilon, err := number.Float64()
	return lineartest.Told{Spent: int(epsilon / s.Unit)}, err
}
