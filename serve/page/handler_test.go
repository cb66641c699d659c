package page_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/serve/page"
)

func get(h http.Handler) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	return w
}

// The page follows the ledger, and is drawn once a second at most.
func TestHandler(t *testing.T) {
	budget, err := ledger.NewBudget(4, 0)
	if err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Create(context.Background(), filepath.Join(t.TempDir(), "l.ledger"), budget,
		ledger.ReplaceOne)
	if err != nil {
		t.Fatal(err)
	}
	p, err := page.New(service(t, "gamma"))
	if err != nil {
		t.Fatal(err)
	}
	looks := 0
	h := p.Handler(func(context.Context) (*ledger.Ledger, error) { looks++; return l, nil })
	first := get(h)
	if first.Code != http.StatusOK || !strings.Contains(first.Body.String(),
		"<strong title=\"4\">4</strong> remains") {
		t.Fatalf("%d: %s", first.Code, first.Body)
	}
	for name, want := range map[string]string{
		"Content-Security-Policy": page.Policy, "X-Content-Type-Options": "nosniff",
		"Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
		"Content-Type": "text/html; charset=utf-8",
	} {
		if got := first.Header().Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if strings.Contains(page.Policy, "script") ||
		!strings.HasPrefix(page.Policy, "default-src 'none'") {
		t.Errorf("the policy lets scripts run: %s", page.Policy)
	}
	unit, err := ledger.NewCost(1, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Charge(context.Background(), ledger.Request{ID: "request-1", Count: 1, Unit: unit,
		Relation: ledger.ReplaceOne}); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		get(h)
	}
	if looks > 2 {
		t.Errorf("%d pages were drawn for 21 readers within a second", looks)
	}
	var text string
	for end := time.Now().Add(time.Minute); time.Now().Before(end) &&
		!strings.Contains(text, "request-1"); time.Sleep(100 * time.Millisecond) {
		text = get(h).Body.String()
	}
	if !strings.Contains(text, "<strong title=\"3\">3</strong> remains") ||
		!strings.Contains(text, "1 charge by") {
		t.Errorf("the page does not know the charge:\n%s", text)
	}
}

// Where the ledger cannot be read there is no page, and no word of files.
func TestHandlerWithoutLedger(t *testing.T) {
	p, err := page.New(service(t, "gamma"))
	if err != nil {
		t.Fatal(err)
	}
	w := get(p.Handler(func(context.Context) (*ledger.Ledger, error) {
		return nil, errors.New("open /secret/path")
	}))
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" ||
		strings.Contains(w.Body.String(), "/secret") {
		t.Errorf("%d %v: %s", w.Code, w.Header(), w.Body)
	}
}
