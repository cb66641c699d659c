// Private answers over HTTP, each paid for before it is drawn. "darrm serve" is the service that
// has clients, limits and a page; this is the least that one's own program needs.
//
//	go run ./examples/handler localhost:8080
package main

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"os"

	"github.com/darrm/darrm"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
)

// answer answers a query {"ID": …, "ReplayKey": …, "Votes": […]}. Who asks again with the same
// replay key has the same label.
func answer(r *darrm.Releaser) http.HandlerFunc {
	return func(w http.ResponseWriter, q *http.Request) {
		var query struct {
			ID, ReplayKey string
			Votes         []int
		}
		if err := json.NewDecoder(http.MaxBytesReader(w, q.Body, 1<<16)).Decode(&query); err != nil {
			http.Error(w, "no query", http.StatusBadRequest)
			return
		}
		a, err := r.Online().Answer(q.Context(), release.Query{ID: query.ID,
			ReplayKey: query.ReplayKey, Votes: query.Votes})
		var wrong *release.InputError
		switch {
		case errors.As(err, &wrong):
			http.Error(w, err.Error(), http.StatusBadRequest)
		case errors.Is(err, ledger.ErrExceeded):
			http.Error(w, "the budget is spent", http.StatusForbidden)
		case errors.Is(err, ledger.ErrRefused):
			http.Error(w, err.Error(), http.StatusConflict)
		case err != nil:
			log.Print(err)
			http.Error(w, "no answer", http.StatusInternalServerError)
		default:
			_ = json.NewEncoder(w).Encode(map[string]any{"label": a.Class, "replayed": a.Replayed})
		}
	}
}

func open(ctx context.Context) (*darrm.Releaser, error) {
	teachers := darrm.Teachers{K: 11, Affected: 1, Neighbours: darrm.ReplaceOne}
	m, err := darrm.Optimal(ctx, teachers, darrm.PerLabel(0.5))
	if err != nil {
		return nil, err
	}
	budget, err := ledger.NewBudget(1, 0)
	if err != nil {
		return nil, err
	}
	book, _, err := ledger.OpenOrCreate(ctx, "patients.ledger", budget, darrm.ReplaceOne)
	if err != nil {
		return nil, err
	}
	return darrm.NewReleaser(ctx, m, book, darrm.KeyFile("service.key"))
}

func main() {
	r, err := open(context.Background())
	if err == nil {
		err = http.ListenAndServe(os.Args[1], answer(r)) //nolint:gosec // an example without timeouts
	}
	log.Fatal(err)
}
