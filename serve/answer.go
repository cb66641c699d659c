package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
)

// answer is the answer to one query.
type answer struct {
	RequestID string  `json:"request_id"`
	Label     *string `json:"label"` // null where the mechanism abstained, and of a question with several
	Class     *int    `json:"class"`
	Abstained bool    `json:"abstained,omitempty"`
	// Labels are the answers to the labels that were asked of a question with several.
	Labels    []labelAnswer `json:"labels,omitempty"`
	Replayed  bool          `json:"replayed"`
	Simulated bool          `json:"simulated,omitempty"` // no release: the ledger is one to try
	Receipt   receipt       `json:"receipt"`
	Promise   promise       `json:"promise"`
	Remaining *rest         `json:"remaining,omitempty"` // left out where the client may not know it
}

// labelAnswer is the answer to one yes/no label.
type labelAnswer struct {
	Label string `json:"label"`
	Class *int   `json:"class"` // 1 for yes, 0 for no, null where the mechanism abstained
}

// receipt names the charge in the ledger.
type receipt struct {
	Ledger string `json:"ledger"`
	Seq    uint64 `json:"seq"`
	Hash   string `json:"hash"`
}

// promise is the privacy cost of an answer, or of all answers of frozen teachers.
type promise struct {
	release.Amount
	Of       string `json:"of"`
	Teachers string `json:"teachers"`
	Affected int    `json:"affected"`
	Answers  int    `json:"answers,omitempty"` // the most of a table that has one price for all
	// EachQuestion is how many answers a question with several labels is charged as, whichever are asked.
	EachQuestion int `json:"each_question,omitempty"`
}

// result is an answer, or why there is none.
type result struct {
	answer *answer
	after  ledger.State // with the answer
	fail   *failure
}

// answer answers queries at once, so that their charges share writes to the disk. The results
// are in the order of the queries.
func (s *Server) answer(ctx context.Context, client *member, queries []query) []result {
	out := make([]result, len(queries))
	var all sync.WaitGroup
	for i := range queries {
		all.Go(func() { out[i] = s.answerOne(ctx, client, &queries[i]) })
	}
	all.Wait()
	last, told := ledger.State{}, false // last is of the latest of these writes
	for i := range out {
		if out[i].after.Head.Seq > last.Head.Seq {
			last = out[i].after
		}
		told = told || out[i].answer != nil || out[i].fail.Kind == kindBudget
	}
	if !told {
		return out
	}
	left := s.rest(ctx, client, last)
	for i := range out {
		if a := out[i].answer; a != nil {
			a.Remaining = left
		} else if f := out[i].fail; f.Kind == kindBudget {
			f.Remaining = left
		}
	}
	return out
}

func (s *Server) answerOne(ctx context.Context, client *member, asked *query) (out result) {
	defer func() {
		if recover() != nil {
			out = result{fail: panicked()}
		}
	}()
	q, fail := asked.resolve(s.words)
	if fail != nil {
		return result{fail: fail}
	}
	q.Client, q.Share, q.AnswersShare = client.Name, client.share, client.Answers
	a, err := s.Online.Answer(ctx, q)
	if err != nil {
		return result{fail: failureOf(err, client)}
	}
	s.metrics.answered(client, a)
	ID, err := s.ledgerID(ctx)
	if err != nil {
		return result{fail: failureOf(err, client)}
	}
	told := &answer{
		RequestID: a.ID, Replayed: a.Replayed, Simulated: a.Simulated, Promise: s.promise(),
		Receipt: receipt{ID, a.Charge.Seq, a.Charge.Hash.String()},
	}
	if a.Asked != nil {
		told.Labels = s.labelAnswers(a)
	} else if told.Abstained = a.Class == ensemble.Abstained; !told.Abstained {
		told.Class, told.Label = &a.Class, &s.Classes[a.Class]
	}
	return result{answer: told, after: a.After}
}

func (s *Server) labelAnswers(a *release.Answered) (out []labelAnswer) {
	for i, l := range a.Asked {
		one := labelAnswer{Label: s.Labels[l]}
		if a.Classes[i] != ensemble.Abstained {
			one.Class = &a.Classes[i]
		}
		out = append(out, one)
	}
	return out
}

// panicked is the failure after a panic, for the log with the places in the code. What was panicked
// with may hold votes, and so may the arguments that debug.Stack prints.
func panicked() *failure {
	where := make([]uintptr, 64)
	frames := runtime.CallersFrames(where[:runtime.Callers(2, where)])
	var text strings.Builder
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		fmt.Fprintf(&text, " < %s:%d", f.Function, f.Line)
	}
	return &failure{
		Kind: kindInternal, Message: "the request failed", status: http.StatusInternalServerError,
		cause: errors.New("panic" + text.String()),
	}
}

func (s *Server) ledgerID(ctx context.Context) (string, error) {
	book, err := s.Online.Ledger(ctx)
	if err != nil {
		return "", err
	}
	return book.ID(), nil
}

// What a promise is of.
const (
	ofThisAnswer = "this answer"
	ofAllAnswers = "all answers of these teachers"
	ofOneTable   = "all answers of this table"
)

func (s *Server) promise() promise {
	out := promise{Amount: release.NewAmount(s.Online.Unit()), Of: ofThisAnswer,
		Teachers: string(s.Online.Teachers()), Affected: s.Online.Plan().Mechanism().Setting().Affected}
	if out.Answers = s.Online.Plan().Together().Most; out.Answers > 0 {
		out.Of = ofOneTable
	}
	if several := s.Online.Plan().Several(); several.Labels > 0 {
		out.EachQuestion = several.PerQuestion(out.Affected)
	}
	switch out.Teachers {
	case "":
		out.Teachers = "none"
	case string(ensemble.FrozenTeachers):
		out.Of = ofAllAnswers
	}
	return out
}

// allow takes n answers off the client's rate.
func (m *member) allow(n int, now time.Time) *failure {
	r := m.limiter.ReserveN(now, n)
	if !r.OK() { // at no time: the limiter never holds so many
		return tooLarge(m.limiter.Burst(), "the client may ask for %d answers at once, not for %d",
			m.limiter.Burst(), n)
	}
	wait := r.DelayFrom(now)
	if wait == 0 {
		return nil
	}
	r.CancelAt(now)
	return &failure{Kind: kindRate, status: http.StatusTooManyRequests, RetryAfter: seconds(wait),
		Message: fmt.Sprintf("the client may ask for %v answers a second; ask again in %d s", m.Rate,
			seconds(wait))}
}
