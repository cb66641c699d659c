package serve

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Of one sort of refusal the log has so many lines at once, and one more every so often. What is
// left out is counted, and told as often: else anybody who reaches the port could fill the disk.
const (
	journalBurst = 10
	journalEvery = 10 * time.Second
	lastingEvery = time.Minute // of what lasts there is one line, and then one with the count so often
	maxLogged    = 256         // bytes of what a stranger chooses in a line
)

// journal writes refusals to the log.
type journal struct {
	log    *slog.Logger
	mu     sync.Mutex
	counts map[sort]*tally
}

// sort groups the lines that are counted together. There are few sorts: kinds of refusal and names
// of clients.
type sort struct {
	level              slog.Level
	text, kind, client string
	lasts              bool // a state that is noticed again and again
}

// often returns how many lines of a sort are written at once, and how often one more is.
func (of sort) often() (burst int, every time.Duration) {
	if of.lasts {
		return 1, lastingEvery
	}
	return journalBurst, journalEvery
}

// tally limits the lines of a sort, and counts those that were left out.
type tally struct {
	lines *rate.Limiter
	more  int
	last  []any // of the latest line that was left out, of what lasts
}

func newJournal(log *slog.Logger) *journal { return &journal{log: log, counts: map[sort]*tally{}} }

func (j *journal) warn(of sort, args ...any) {
	of.level = slog.LevelWarn
	j.write(of, args)
}

func (j *journal) error(of sort, args ...any) {
	of.level = slog.LevelError
	j.write(of, args)
}

func (j *journal) write(of sort, args []any) {
	if j.take(of, args) {
		j.line(of, of.text, args)
	}
}

// take reports whether one more line may be written. If not, it counts the line as left out.
func (j *journal) take(of sort, args []any) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	t := j.counts[of]
	burst, every := of.often()
	if t == nil {
		t = &tally{lines: rate.NewLimiter(rate.Every(every), burst)}
		j.counts[of] = t
	}
	if t.more == 0 && t.lines.Allow() {
		return true
	}
	if of.lasts {
		t.last = args
	}
	if t.more++; t.more == 1 {
		time.AfterFunc(every, func() { j.tell(of) })
	}
	return false
}

// tell writes how many lines of a sort were left out.
func (j *journal) tell(of sort) {
	j.mu.Lock()
	t := j.counts[of]
	n, last := t.more, t.last
	t.more = 0
	if of.lasts {
		t.lines.Allow() // this line is the one of its minute
	}
	j.mu.Unlock()
	if n > 0 { // else the end told it already
		j.line(of, "more: "+of.text, append([]any{"count", n}, last...))
	}
}

// end writes the numbers of lines that were left out until now.
func (j *journal) end() {
	j.mu.Lock()
	var all []sort
	for of := range j.counts {
		all = append(all, of)
	}
	j.mu.Unlock()
	for _, of := range all {
		j.tell(of)
	}
}

func (j *journal) line(of sort, text string, args []any) {
	var head []any
	if of.kind != "" {
		head = append(head, "kind", of.kind)
	}
	if of.client != "" {
		head = append(head, "client", of.client)
	}
	j.log.Log(context.Background(), of.level, text, append(head, args...)...)
}

// Write takes what package http says of connections, one line at a time.
func (j *journal) Write(line []byte) (int, error) {
	j.warn(sort{text: "connection failed"}, "cause", cut(strings.TrimSpace(string(line))))
	return len(line), nil
}

// cut shortens what a stranger chose.
func cut(text string) string { return text[:min(len(text), maxLogged)] }
