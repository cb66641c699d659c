package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/darrm/darrm/internal/strictjson"
	"github.com/darrm/darrm/release"
)

// query is one query as it is asked.
type query struct {
	RequestID string `json:"request_id"`
	Votes     []vote `json:"votes"`
	Counts    []int  `json:"counts"`
}

// body is what POST /v1/answers takes: one query, or several.
type body struct {
	query
	Requests []query `json:"requests"`
}

// vote is the index of a class, its name, or null.
type vote struct {
	class int // -1 for null
	name  *string
}

func (v *vote) UnmarshalJSON(b []byte) error {
	switch {
	case string(b) == "null":
		v.class = -1
		return nil
	case b[0] == '"':
		var name string
		err := json.Unmarshal(b, &name)
		v.name = &name
		return err
	}
	n, err := strconv.ParseUint(string(b), 10, 31)
	if err != nil || len(b) > 1 && b[0] == '0' {
		return errors.New("a vote must be the index of a class, its name, or null")
	}
	v.class = int(n)
	return nil
}

// parse reads the body of a request, which has one query unless batch says that it has several.
// A body that two readers could read differently is refused whole, before anything is charged.
func parse(data []byte, most int) (queries []query, batch bool, fail *failure) {
	var b body
	if err := strictjson.DecodeKnown(data, len(data), &b); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) { // its own words quote the value
			return nil, false, invalid("the body is not as POST /v1/answers takes it: %q has another type there", wrong.Field)
		}
		return nil, false, invalid("the body is not as POST /v1/answers takes it: %v", err)
	}
	one := b.RequestID != "" || b.Votes != nil || b.Counts != nil
	switch {
	case one && b.Requests != nil:
		return nil, false, invalid("requests goes without request_id, votes and counts")
	case b.Requests == nil:
		return []query{b.query}, false, nil
	case len(b.Requests) == 0:
		return nil, true, invalid("requests is empty")
	case len(b.Requests) > most:
		return nil, true, &failure{Kind: kindTooLarge, status: http.StatusRequestEntityTooLarge,
			Message: fmt.Sprintf("requests has %d requests, but at most %d may be asked at once", len(b.Requests), most)}
	}
	seen := map[string]bool{}
	for _, q := range b.Requests {
		if seen[q.RequestID] {
			return nil, true, invalid("request id %.64q stands there twice", q.RequestID)
		}
		seen[q.RequestID] = true
	}
	return b.Requests, true, nil
}

// resolve returns the query with classes by their index. An error names a class that is none.
func (q *query) resolve(classes []string) (release.Query, *failure) {
	out := release.Query{ID: q.RequestID, Counts: q.Counts}
	if q.Votes == nil {
		return out, nil
	}
	out.Votes = make([]int, len(q.Votes))
	for i, v := range q.Votes {
		out.Votes[i] = v.class
		if v.name != nil {
			if out.Votes[i] = slices.Index(classes, *v.name); out.Votes[i] < 0 {
				return out, invalid("vote of teacher %d is of no class of this service (GET /v1/mechanism lists them)", i+1)
			}
		}
	}
	return out, nil
}
