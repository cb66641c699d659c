package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
)

// failure is a request that is not answered.
type failure struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
	// where the budget, or the share, is too small and the client may know it
	Remaining *rest `json:"remaining,omitempty"`
	// of a batch that is too large: the most queries of one that is not
	Most int `json:"most,omitempty"`
	// seconds after which to ask again; left out where the same request is never answered
	RetryAfter int `json:"retry_after,omitempty"`

	status int
	cause  error // for the log, where it is the server's own fault
}

// The kinds of failure.
const (
	kindInvalid      = "invalid"
	kindUnauthorized = "unauthorized"
	kindForbidden    = "forbidden"
	kindNotFound     = "not_found"
	kindMethod       = "method"
	kindConflict     = "conflict"
	kindTooLarge     = "too_large"
	kindTimeout      = "timeout"
	kindMediaType    = "media_type"
	kindBudget       = "budget"
	kindRate         = "rate"
	kindUnavailable  = "unavailable"
	kindInternal     = "internal"
)

// kinds are all of them, for the metrics.
var kinds = []string{
	kindInvalid, kindUnauthorized, kindForbidden, kindNotFound, kindMethod, kindConflict, kindTooLarge,
	kindTimeout, kindMediaType, kindBudget, kindRate, kindUnavailable, kindInternal,
}

func invalid(format string, args ...any) *failure {
	return &failure{Kind: kindInvalid, Message: fmt.Sprintf(format, args...),
		status: http.StatusBadRequest}
}

func unauthorized(message string) *failure {
	return &failure{Kind: kindUnauthorized, Message: message, status: http.StatusUnauthorized}
}

func unavailable(message string, after time.Duration, cause error) *failure {
	return &failure{Kind: kindUnavailable, Message: message, status: http.StatusServiceUnavailable,
		RetryAfter: seconds(after), cause: cause}
}

// seconds rounds a time up: an earlier request would be refused again.
func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }

// tooLarge refuses a batch of more queries than are answered at once.
func tooLarge(most int, format string, args ...any) *failure {
	return &failure{Kind: kindTooLarge, Message: fmt.Sprintf(format, args...), Most: most,
		status: http.StatusRequestEntityTooLarge}
}

// exhausted refuses what cannot be paid. A client that may not look is told of its own share only.
func exhausted(client *member, own bool, message string) *failure {
	if !own && !client.may(mayLook) {
		message = "the budget of this service cannot pay for the request"
	}
	return &failure{Kind: kindBudget, Message: message, status: http.StatusTooManyRequests}
}

// failureOf turns an error of release.Online into the response to a client.
func failureOf(err error, client *member) *failure {
	var (
		input    *release.InputError
		share    *ledger.ShareError
		exceeded *ledger.ExceededError
		quota    *ledger.QuotaError
		weak     *release.WeakError
	)
	switch {
	case errors.As(err, &quota):
		return exhausted(client, quota.Client != "", quota.Error())
	case errors.As(err, &share):
		return exhausted(client, true, share.Error())
	case errors.As(err, &exceeded):
		return exhausted(client, false, exceeded.Error())
	case errors.As(err, &weak):
		return exhausted(client, false, "no further answer is charged: with it, "+weak.Error())
	case errors.Is(err, ledger.ErrConflict), errors.Is(err, ledger.ErrReplayed),
		errors.Is(err, ledger.ErrDraw), errors.Is(err, ledger.ErrDrawn):
		return &failure{Kind: kindConflict, Message: err.Error(), status: http.StatusConflict}
	case errors.Is(err, ledger.ErrRefused): // by a rule that does not depend on the request
		return unavailable("the ledger refuses what this service charges", time.Minute, err)
	case errors.Is(err, ledger.ErrDamaged), errors.Is(err, ledger.ErrBroken),
		errors.Is(err, ledger.ErrWrite):
		return unavailable("the ledger cannot be used now; ask again with the same request id and "+
			"replay key", 5*time.Second, err)
	case errors.Is(err, ledger.ErrUnavailable): // a database that is down or starts again
		return unavailable("the ledger cannot be reached now; ask again with the same request id and "+
			"replay key", time.Second, err)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return unavailable("the ledger was busy for too long; ask again with the same request id and "+
			"replay key", time.Second, nil)
	case errors.As(err, &input):
		return invalid("%v", input)
	}
	// What is left is the system's, such as a ledger's file that is gone. It is never another answer
	// to ask again.
	return unavailable("the request could not be finished; ask again with the same request id and "+
		"replay key", 5*time.Second, err)
}

func (f *failure) write(w http.ResponseWriter) {
	if f.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(f.RetryAfter))
	}
	if f.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	writeJSON(w, f.status, map[string]*failure{"error": f})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil { // only of what this package makes
		b, status = []byte(`{"error":{"kind":"internal","message":"the answer has no JSON"}}`),
			http.StatusInternalServerError
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(b, '\n')) // whoever is gone asks again
}
