package serve

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/darrm/darrm/votes"
)

// Whatever is sent, the parser ends, and what it takes is as it was written: every query with an id
// that stands there once, votes of which none was made up, and no more queries than are allowed.
func FuzzParse(f *testing.F) {
	for _, body := range []string{
		one("a"), `{"requests":[` + one("a") + `,{"request_id":"b","counts":[1,2,3]}]}`,
		`{"request_id":"a","votes":null}`, `{"requests":null}`, `{"votes":["a",0,null,1.0]}`,
		`{"request_id":"\ud800","votes":["\u0000"]}`,
		`{"requests":[{"request_id":"a"},{"request_id":"a"}]}`, `[[[[[[[[[[[[[[[[[[`,
		`{"request_id":"a","counts":[1e9]}`,
		`{"request_id":"a\xe9","counts":[1,2,2]}`,
		`{"request_id":"\ud83d\ude00\ufffd","counts":[null,5,0]}`,
		`{"request_id":"\ude00\ud83d","votes":["\\ud800"]}`,
		`{"requests":[{"request_id":"a","votes":[0,0,0,0,0,0]}]}`,
		`{"request_id":"a","sets":[["a",2],[],null],"labels":["a",1]}`,
		`{"requests":[{"request_id":"a","sets":[[0,0,0,0]]},{"request_id":"b","sets":[[null]],"labels":[]}]}`,
	} {
		f.Add([]byte(body))
	}
	words, err := votes.NewVocabulary(classes, nil)
	if err != nil {
		f.Fatal(err)
	}
	read := func(t *testing.T, data []byte, labels int) {
		const most = 3
		queries, batch, fail := parse(bytes.NewReader(data), bounds{teachers, len(classes), most, labels})
		if fail != nil {
			if queries != nil || fail.Message == "" || fail.status != 400 && fail.status != 413 {
				t.Fatalf("%+v, %+v", queries, fail)
			}
			return
		}
		if len(queries) == 0 || len(queries) > most || !batch && len(queries) != 1 {
			t.Fatalf("%d queries, batch %t", len(queries), batch)
		}
		if !utf8.Valid(data) || replaced(data) {
			t.Fatalf("%q: text that two readers read differently", data)
		}
		// A second reader, which knows nothing of types, sees the same.
		var raw map[string]any
		d := json.NewDecoder(strings.NewReader(string(data)))
		d.UseNumber()
		if err := d.Decode(&raw); err != nil {
			t.Fatalf("%q: %v", data, err)
		}
		of := []any{raw}
		if batch {
			of = raw["requests"].([]any)
		}
		seen := map[string]bool{}
		for i, q := range queries {
			was, _ := of[i].(map[string]any)
			if id, _ := was["request_id"].(string); id != q.RequestID || seen[id] {
				t.Fatalf("%q: id %q", data, q.RequestID)
			}
			seen[q.RequestID] = true
			votes, _ := was["votes"].([]any)
			if len(votes) != len(q.Votes) || len(votes) > teachers {
				t.Fatalf("%q: %d votes", data, len(q.Votes))
			}
			counts, _ := was["counts"].([]any)
			if len(counts) != len(q.Counts) || len(counts) > len(classes) {
				t.Fatalf("%q: %d counts", data, len(q.Counts))
			}
			for j, n := range q.Counts {
				if counts[j] != json.Number(strconv.Itoa(n)) {
					t.Fatalf("%q: count %v, want %v", data, n, counts[j])
				}
			}
			for j, v := range q.Votes {
				if votes[j] != written(v) {
					t.Fatalf("%q: vote %v, want %v", data, written(v), votes[j])
				}
			}
			sets, _ := was["sets"].([]any)
			asked, _ := was["labels"].([]any)
			if len(sets) != len(q.Sets) || len(sets) > teachers || labels == 0 && (q.Sets != nil || q.Asked != nil) {
				t.Fatalf("%q: %d sets", data, len(q.Sets))
			}
			for j, set := range append(q.Sets, q.Asked) {
				of := asked
				if j < len(sets) {
					of, _ = sets[j].([]any)
					if (sets[j] == nil) != (set == nil) {
						t.Fatalf("%q: the set of teacher %d is none, or none is one", data, j+1)
					}
				}
				if len(of) != len(set) || len(set) > labels {
					t.Fatalf("%q: %d labels, want %d", data, len(set), len(of))
				}
				for k, v := range set {
					if of[k] != written(v) {
						t.Fatalf("%q: label %v, want %v", data, written(v), of[k])
					}
				}
			}
			if _, fail := q.resolve(words); fail != nil && fail.status != 400 {
				t.Fatalf("%+v", fail)
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		read(t, data, 0)
		read(t, data, 3)
	})
}

// written returns the vote as a reader without types reads it.
func written(v vote) any {
	switch {
	case v.name != nil:
		return *v.name
	case v.class >= 0:
		return json.Number(strconv.Itoa(v.class))
	}
	return nil
}

var escape = regexp.MustCompile(`(?s)\\\\(u[0-9a-fA-F]{4}|.)`)

// replaced reports whether a reader of package encoding/json puts U+FFFD where a surrogate has no
// other half: its text has more of them than were written.
func replaced(data []byte) bool {
	written := bytes.Count(data, []byte("\uFFFD"))
	for _, e := range escape.FindAll(data, -1) {
		if strings.EqualFold(string(e), `\ufffd`) {
			written++
		}
	}
	var v any
	_ = json.Unmarshal(data, &v)
	again, _ := json.Marshal(v)
	return bytes.Count(again, []byte("\uFFFD")) > written
}

// Whatever a configuration holds, the parser ends, and what it takes has clients that can be
// checked.
func FuzzConfig(f *testing.F) {
	f.Add([]byte("ledger = \"a\"\neps = inf\nclasses = [\"a\", \"b\"]\n[[client]]\nname = " +
		"\"a\"\nepsilon = 1.0\n"))
	f.Add([]byte("[client]\nname = 1\n"))
	f.Add([]byte("a = 1979-05-27T07:32:00Z\n[a.b]\nc = {d = 1}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parseConfig(data)
		if err != nil {
			return
		}
		for name, v := range c.Settings {
			if name == "client" || !plain(v) {
				t.Fatalf("%q: %T", name, v)
			}
		}
		_, _ = newMembers(c.Clients, nil)
	})
}

// A number beyond 31 bits is no class and no count: cut to 64 bits, 2⁶⁴-1 would be -1, a missing vote.
func TestNumbersBeyond31Bits(t *testing.T) {
	for _, number := range []string{"2147483648", "4294967295", "9223372036854775807",
		"18446744073709551615", "18446744073709551616"} {
		for _, field := range []string{"votes", "counts"} {
			body := `{"request_id":"a","` + field + `":[` + number + `]}`
			if queries, _, fail := parse(strings.NewReader(body), bounds{3, 3, 3, 0}); fail == nil {
				t.Errorf("%s: %+v", body, queries)
			}
		}
	}
	queries, _, fail := parse(strings.NewReader(`{"request_id":"a","counts":[2147483647]}`), bounds{3, 3, 3, 0})
	if fail != nil || queries[0].Counts[0] != 1<<31-1 {
		t.Errorf("%+v, %+v", queries, fail)
	}
}
