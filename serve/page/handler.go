package page

import (
	"bytes"
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
)

// fresh is the time for which a page is served again unchanged, so that readers do not slow down
// the answers.
const fresh = time.Second

// handler answers GET / with the page as the ledger stands.
type handler struct {
	page   *Page
	ledger func(context.Context) (*ledger.Ledger, error)

	turn chan struct{} // one token: a page is drawn once, however many ask
	mu   sync.Mutex
	last []byte
	at   time.Time
}

// Handler answers with the page of a ledger, which open returns, at most a second old. A page takes
// the time of [release.NewBudgetView], however long the ledger is.
func (p *Page) Handler(open func(context.Context) (*ledger.Ledger, error)) http.Handler {
	h := &handler{page: p, ledger: open, turn: make(chan struct{}, 1)}
	h.turn <- struct{}{}
	return h
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, err := h.draw(r.Context())
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	if err != nil { // the error may name files
		header.Set("Content-Type", "application/json")
		header.Set("Retry-After", "5")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte(
			`{"error":{"kind":"unavailable","message":"the ledger cannot be used now"}}` + "\n"))
		return
	}
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", Policy)
	header.Set("Referrer-Policy", "no-referrer")
	_, _ = w.Write(text) // whoever is gone asks again
}

func (h *handler) draw(ctx context.Context) ([]byte, error) {
	if text := h.kept(); text != nil {
		return text, nil
	}
	select {
	case <-h.turn:
		defer func() { h.turn <- struct{}{} }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if text := h.kept(); text != nil { // of who was before
		return text, nil
	}
	l, err := h.ledger(ctx)
	if err != nil {
		return nil, err
	}
	budget, err := release.NewBudgetView(ctx, l)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := h.page.Write(&b, budget, time.Now()); err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last, h.at = b.Bytes(), time.Now()
	return h.last, nil
}

// kept returns the last page while it is fresh.
func (h *handler) kept() []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	if time.Since(h.at) < fresh {
		return h.last
	}
	return nil
}
