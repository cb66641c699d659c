package serve

import (
	"fmt"
	"net/http"
	"testing"
)

// On a socket without clients anybody may ask under an id, which stands on the page. Whoever
// guesses the votes of its query, all of them one by one, is given no answer, and the same response
// to each guess: with no replay key, with one of his own, in each form. So is who has the key and
// not the votes. Nothing is charged for it, and the first asker is answered as before.
func TestVotesCannotBeGuessed(t *testing.T) {
	o, book, _ := newOptions(t, 40)
	s := newServer(t, o)
	const votes, counts = `"votes":[0,1,2,2,1]`, `"counts":[1,2,2]`
	query := func(votes, key string) string {
		if key != "" {
			key = fmt.Sprintf(`"replay_key":%q,`, key)
		}
		return fmt.Sprintf(`{"request_id":"a",%s%s}`, key, votes)
	}
	first := query(votes, myKey)
	status, answered, _ := ask(s, "POST", "/v1/answers", first)
	if status != 200 {
		t.Fatal(status, answered)
	}
	var said string
	guess := func(body string) {
		t.Helper()
		status, text, header := ask(s, "POST", "/v1/answers", body)
		header.Del("Date")
		if got := fmt.Sprint(status, text, header); said == "" {
			said = got
		} else if got != said {
			t.Errorf("%s: %s, but before: %s", body, got, said)
		}
		if status != http.StatusConflict {
			t.Fatalf("%s: %d %s", body, status, text)
		}
	}
	const others = "ffeeddccbbaa99887766554433221100"
	for _, key := range []string{"", others, myKey + "00"} {
		guess(query(votes, key))
		guess(query(counts, key))
		for n := range 243 { // all votes of five teachers
			guess(query(fmt.Sprintf(`"votes":[%d,%d,%d,%d,%d]`, n%3, n/3%3, n/9%3, n/27%3, n/81), key))
		}
	}
	guess(query(counts, myKey))
	guess(query(`"votes":[0,1,2,2,0]`, myKey))
	if status, again, _ := ask(s, "POST", "/v1/answers", first); status != 200 {
		t.Errorf("%d %s", status, again)
	}
	checkSpent(t, book, 1)
}

// An id belongs to the client that asked first: another one, who has the votes and the replay key
// of it, hears what it hears with other votes.
func TestIDsBelongToTheirClient(t *testing.T) {
	o, book, _ := newOptions(t, 40)
	token, hash := NewToken()
	other, otherHash := NewToken()
	o.Clients = []Client{{Name: "a", TokenSHA256: []string{hash}},
		{Name: "b", TokenSHA256: []string{otherHash}, Epsilon: new(1.0), Delta: new(0.0)}}
	s := newServer(t, o)
	if status, body, _ := ask(s, "POST", "/v1/answers", one("x"), bearer(token)...); status != 200 {
		t.Fatal(status, body)
	}
	said := map[string]bool{}
	for _, body := range []string{one("x"), `{"request_id":"x","counts":[5,0,0]}`} {
		status, text, header := ask(s, "POST", "/v1/answers", body, bearer(other)...)
		if wantKind(t, text, kindConflict); status != 409 {
			t.Errorf("%d %s", status, text)
		}
		header.Del("Date")
		said[fmt.Sprint(text, header)] = true
	}
	if len(said) != 1 {
		t.Errorf("%v", said)
	}
	if status, body, _ := ask(s, "POST", "/v1/answers", one("x"), bearer(token)...); status != 200 {
		t.Errorf("%d %s", status, body)
	}
	checkSpent(t, book, 1)
}
