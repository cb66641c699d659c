package serve

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/votes"
)

// query is one query as it is asked.
type query struct {
	RequestID string
	ReplayKey string // "" where none was given
	Votes     []vote // nil where none were given
	Counts    []int  // nil where none were given
	// Sets are the votes on a question with several labels, nil where none were given; in it nil is a null.
	Sets  [][]vote
	Asked []vote // the labels that are to be answered; nil where none were given
}

// vote is the index of a class, one of its spellings, or null.
type vote struct {
	class int // -1 for null
	name  *string
}

// accepts refuses a body that is not JSON in UTF-8 as it stands. Whoever decodes it by a header
// that this server ignores would read another query.
func accepts(w http.ResponseWriter, r *http.Request) *failure {
	unsupported := func(message string) *failure {
		return &failure{Kind: kindMediaType, Message: message, status: http.StatusUnsupportedMediaType}
	}
	types := r.Header.Values("Content-Type")
	if len(types) != 1 {
		return unsupported("one Content-Type must be given: application/json")
	}
	kind, options, err := mime.ParseMediaType(types[0])
	if err != nil || kind != "application/json" {
		return unsupported("Content-Type must be application/json")
	}
	if charset, ok := options["charset"]; ok && !strings.EqualFold(charset, "utf-8") {
		return unsupported("the charset of the body must be utf-8")
	}
	for _, encoding := range r.Header.Values("Content-Encoding") {
		if !strings.EqualFold(encoding, "identity") {
			w.Header().Set("Accept-Encoding", "identity")
			return unsupported("the body must have no Content-Encoding")
		}
	}
	return nil
}

// bounds are the most that a body may have: votes of a query, counts of a query, and queries. labels is the number
// of labels of a question, 0 where a query is one label.
type bounds struct{ teachers, classes, batch, labels int }

// parse reads the body of a request, which has one query, or several if batch is set.
//
//	{"request_id": "a", "votes": [0, "cat", null]}
//	{"request_id": "a", "counts": [2, 1]}
//	{"request_id": "a", "sets": [["cat", 2], [], null], "labels": ["cat"]}
//	{"requests": [{"request_id": "a", …}, …]}
//
// A body that two readers could read differently is refused whole, before anything is charged: one
// with a field twice, an unknown one, text that is not UTF-8, a surrogate without its other half,
// or a null that is no vote. Nothing is read after the first value too many, and nothing is kept of
// it.
func parse(body io.Reader, most bounds) (queries []query, batch bool, fail *failure) {
	p := parser{jsontext.NewDecoder(body), most}
	var q query
	one := false
	fail = p.object(func(name string) *failure {
		if name != "requests" {
			one = true
			return p.field(&q, name)
		}
		batch = true
		return p.list(name, func() (fail *failure) {
			queries, fail = p.another(queries)
			return fail
		})
	})
	if fail == nil {
		fail = p.end()
	}
	switch {
	case fail != nil:
		return nil, batch, fail
	case one && batch:
		return nil, batch, invalid("requests goes without request_id, replay_key, votes, counts, sets and labels")
	case !batch:
		return []query{q}, false, nil
	case len(queries) == 0:
		return nil, true, invalid("requests is empty")
	}
	return queries, true, nil
}

// parser reads a body token by token.
type parser struct {
	d    *jsontext.Decoder
	most bounds
}

// token returns the next token, which is good until the next call.
func (p *parser) token() (jsontext.Token, *failure) {
	t, err := p.d.ReadToken()
	if err != nil {
		return t, wrong(err)
	}
	return t, nil
}

// wrong turns an error of reading a token into the failure of the request.
func wrong(err error) *failure {
	var syntax *jsontext.SyntacticError
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return &failure{Kind: kindTooLarge, Message: "the body is too large",
			status: http.StatusRequestEntityTooLarge}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &failure{Kind: kindTimeout, RetryAfter: 1, status: http.StatusRequestTimeout,
			Message: "the body did not arrive in time; nothing was charged"}
	case errors.As(err, &syntax):
		return unlike("%v", err)
	case err == io.EOF:
		return unlike("it is empty")
	}
	return invalid("the body could not be read")
}

// unlike refuses a body for a reason.
func unlike(format string, args ...any) *failure {
	return invalid("the body is not as POST /v1/answers takes it: "+format, args...)
}

// object reads an object, whose values take reads by their names.
func (p *parser) object(take func(name string) *failure) *failure {
	t, fail := p.token()
	if fail == nil && t.Kind() != '{' {
		fail = unlike("an object must stand here: %q", p.d.StackPointer())
	}
	for fail == nil {
		if t, fail = p.token(); fail != nil || t.Kind() == '}' {
			return fail
		}
		fail = take(t.String())
	}
	return fail
}

// list reads the list of a name, whose values take reads.
func (p *parser) list(name string, take func() *failure) *failure {
	t, fail := p.token()
	if fail == nil && t.Kind() != '[' {
		fail = invalid("%s must be a list", name)
	}
	for fail == nil && p.d.PeekKind() != ']' {
		fail = take()
	}
	if fail == nil {
		_, fail = p.token()
	}
	return fail
}

// items reads the list of a name. one returns the item that a token is, of which n stand before it.
func items[T any](p *parser, name string, one func(t jsontext.Token, n int) (T, *failure)) ([]T, *failure) {
	all := []T{}
	fail := p.list(name, func() *failure {
		t, fail := p.token()
		if fail != nil {
			return fail
		}
		item, fail := one(t, len(all))
		all = append(all, item)
		return fail
	})
	return all, fail
}

// text reads a text, and refuses another value, or one that must not be empty and is, with the rule.
func (p *parser) text(rule string, filled bool) (string, *failure) {
	t, fail := p.token()
	switch {
	case fail != nil:
		return "", fail
	case t.Kind() != '"' || filled && t.String() == "":
		return "", invalid("%s", rule)
	}
	return t.String(), nil
}

// field reads a field of a query.
func (p *parser) field(q *query, name string) *failure {
	var fail *failure
	switch name {
	case "request_id":
		q.RequestID, fail = p.text("request_id must be text", false)
		return fail
	case "replay_key": // an empty one would be none
		q.ReplayKey, fail = p.text("replay_key must be text of 32 to 64 of the digits 0-9 and a-f", true)
		return fail
	case "sets", "labels":
		if p.most.labels == 0 {
			return invalid("%s go with a service of questions with several labels", name)
		}
		if name == "sets" {
			return p.sets(q)
		}
		q.Asked, fail = p.labels(name)
		return fail
	case "votes":
		q.Votes, fail = items(p, name, func(t jsontext.Token, n int) (v vote, _ *failure) {
			if n == p.most.teachers {
				return v, invalid("votes has more than %d votes, one of each teacher", n)
			}
			v, ok := voteOf(t)
			if !ok {
				return v, invalid("vote of teacher %d must be the index of a class, its name, or null", n+1)
			}
			return v, nil
		})
		return fail
	case "counts":
		q.Counts, fail = items(p, name, func(t jsontext.Token, n int) (int, *failure) {
			if n == p.most.classes {
				return 0, invalid("counts has more than %d counts, one of each class", n)
			}
			count, ok := whole(t)
			if !ok {
				return 0, invalid("count of class %d must be a whole number, 0 or more", n+1)
			}
			return count, nil
		})
		return fail
	}
	return unlike("the field %.40q is not known", name)
}

// sets reads the votes on a question with several labels: of each teacher a list, or null.
func (p *parser) sets(q *query) *failure {
	q.Sets = [][]vote{}
	return p.list("sets", func() *failure {
		if len(q.Sets) == p.most.teachers {
			return invalid("sets has more than %d votes, one of each teacher", p.most.teachers)
		}
		if p.d.PeekKind() == 'n' {
			_, fail := p.token()
			q.Sets = append(q.Sets, nil)
			return fail
		}
		set, fail := p.labels("set of teacher " + strconv.Itoa(len(q.Sets)+1))
		q.Sets = append(q.Sets, set)
		return fail
	})
}

// labels reads a list of labels, by index or name, at most as many as a question has.
func (p *parser) labels(name string) ([]vote, *failure) {
	return items(p, name, func(t jsontext.Token, n int) (vote, *failure) {
		v, ok := voteOf(t)
		switch {
		case !ok || v.name == nil && v.class < 0:
			return v, invalid("%s must be a list of labels, each an index or a name", name)
		case n == p.most.labels:
			return v, invalid("%s has more than %d labels", name, n)
		}
		return v, nil
	})
}

// another reads one more query of several.
func (p *parser) another(before []query) ([]query, *failure) {
	if len(before) == p.most.batch {
		return before, tooLarge(p.most.batch,
			"requests has more than %d requests, the most that may be asked at once", p.most.batch)
	}
	var q query
	fail := p.object(func(name string) *failure { return p.field(&q, name) })
	if fail == nil && slices.ContainsFunc(before, func(other query) bool {
		return other.RequestID == q.RequestID
	}) {
		fail = invalid("request id %.64q appears twice", q.RequestID)
	}
	return append(before, q), fail
}

// end makes sure that nothing follows.
func (p *parser) end() *failure {
	switch _, err := p.d.ReadToken(); err {
	case io.EOF:
		return nil
	case nil:
		return unlike("there is more after its end")
	default:
		return wrong(err)
	}
}

// voteOf returns the vote that a token is.
func voteOf(t jsontext.Token) (v vote, ok bool) {
	switch t.Kind() {
	case 'n':
		return vote{class: -1}, true
	case '"':
		name := t.String()
		return vote{name: &name}, true
	}
	v.class, ok = whole(t)
	return v, ok
}

// whole returns the integer of at least 0 that a token is, written with digits alone.
func whole(t jsontext.Token) (int, bool) {
	if t.Kind() != '0' {
		return 0, false
	}
	n, err := strconv.ParseUint(t.String(), 10, 31)
	return int(n), err == nil
}

// resolve returns the query with classes, or labels, by their index: votes that are equal in other spellings
// make equal queries. An error names a teacher whose vote is neither one of them nor missing.
func (q *query) resolve(words *votes.Vocabulary) (release.Query, *failure) {
	out := release.Query{ID: q.RequestID, ReplayKey: q.ReplayKey, Counts: q.Counts}
	indices := func(of []vote) (all []int, bad int) { // bad is the first that is neither a class nor missing, or -1
		if of == nil {
			return nil, -1
		}
		all = make([]int, len(of))
		for i, v := range of {
			if all[i] = v.class; v.name != nil {
				var ok bool
				if all[i], ok = words.Class(*v.name); !ok {
					return nil, i
				}
			}
		}
		return all, -1
	}
	var bad int
	if out.Votes, bad = indices(q.Votes); bad >= 0 {
		return out, invalid("vote of teacher %d is of no class of this service (GET /v1/mechanism lists them)", bad+1)
	}
	if q.Sets != nil {
		out.Sets = make([][]int, len(q.Sets))
	}
	for i := range q.Sets {
		if out.Sets[i], bad = indices(q.Sets[i]); bad >= 0 {
			return out, invalid(
				"set of teacher %d has a label that this service does not have (GET /v1/mechanism lists them)", i+1)
		}
	}
	if out.Asked, bad = indices(q.Asked); bad >= 0 {
		return out, invalid("labels has one that this service does not have (GET /v1/mechanism lists them)")
	}
	return out, nil
}
