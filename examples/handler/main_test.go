package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// The handler answers a query, gives the same answer again to who has the replay key, and has a
// status for each refusal.
func TestHandler(t *testing.T) {
	t.Chdir(t.TempDir())
	r, err := open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ask := func(id, key, votes string) (int, string) {
		body := fmt.Sprintf(`{"ID":%q,"ReplayKey":%q,"Votes":[%s]}`, id, key, votes)
		w := httptest.NewRecorder()
		answer(r)(w, httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body)))
		return w.Code, w.Body.String()
	}
	const votes = "0,1,1,1,1,1,1,1,1,1,1"
	key := strings.Repeat("5a", 16)
	code, first := ask("image-1", key, votes)
	if code != http.StatusOK || !strings.Contains(first, `"replayed":false`) {
		t.Fatalf("%d, %s", code, first)
	}
	if code, again := ask("image-1", key, votes); code != http.StatusOK ||
		again != strings.Replace(first, "false", "true", 1) {
		t.Errorf("%d, %s, then %s", code, first, again)
	}
	for what, c := range map[string]struct {
		id, key, votes string
		code           int
	}{
		"another key":   {"image-1", strings.Repeat("a5", 16), votes, http.StatusConflict},
		"other votes":   {"image-1", key, "1" + votes[1:], http.StatusConflict},
		"too few votes": {"image-2", key, "0,1", http.StatusBadRequest},
		"no id":         {"", key, votes, http.StatusBadRequest},
		"a short key":   {"image-2", "5a", votes, http.StatusBadRequest},
		"no JSON":       {"image-2", key, "x", http.StatusBadRequest},
	} {
		if code, said := ask(c.id, c.key, c.votes); code != c.code {
			t.Errorf("%s: %d, %s", what, code, said)
		}
	}
	if code, said := ask("image-2", "", votes); code != http.StatusOK {
		t.Errorf("%d, %s", code, said)
	}
	if code, said := ask("image-3", "", votes); code != http.StatusForbidden {
		t.Errorf("more than the budget: %d, %s", code, said)
	}
}
