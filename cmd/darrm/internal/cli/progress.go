package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/meter"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/lp"
	answerssolve "github.com/darrm/darrm/plurality/answers/solve"
	pluralitysolve "github.com/darrm/darrm/plurality/solve"
	"github.com/darrm/darrm/votes"
)

// progressAfter is the time before a command first shows its progress.
const progressAfter = time.Second

// Progress displays how far a command is: on a terminal after progressAfter, or as lines of JSON.
// It is safe for concurrent use.
type Progress struct {
	app   *App
	width int
	mu    sync.Mutex
	start time.Time
	bar   *progressbar.ProgressBar
	lines *json.Encoder // where a program reads along; nil for people
	told  time.Time     // the last line
	off   bool
}

// ProgressEvery is the time between two lines of progress for a program that reads them.
const ProgressEvery = 100 * time.Millisecond

// The values of --progress.
const (
	progressAuto = "auto"
	progressJSON = "json"
)

// progressLine is a line of --progress json.
type progressLine struct {
	Progress progressStep `json:"progress"`
}

type progressStep struct {
	Text  string `json:"text"`
	Done  int64  `json:"done"`
	Total int64  `json:"total"` // -1 where it is unknown
}

// NewProgress starts the clock of a progress display; Stop ends it.
func NewProgress(a *App) *Progress {
	p := &Progress{app: a, width: terminal.Width(a.Err), start: time.Now()}
	if a.progress == progressJSON {
		p.lines = json.NewEncoder(a.Err)
	} else {
		p.off = a.Quiet || a.JSON || !terminal.Is(a.Err)
	}
	return p
}

// barWidth returns the width of a bar in a terminal of the given width.
func barWidth(width int) int { return min(max(width-64, 4), 16) }

// aroundBar is the width of the rest of the line but the text: the share, the bar's ends, spaces.
const aroundBar = 12

// Show displays that done of total pieces of a stage are done; total is -1 where it is unknown.
// text describes the stage in more detail. Workers may call show out of order: the bar does not
// go back.
func (p *Progress) Show(stage string, total, done int64, text string,
	options ...progressbar.Option) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.app.Doing(stage)
	if p.lines != nil {
		if !p.off && time.Since(p.told) >= ProgressEvery {
			p.told = time.Now()
			// a reader that went away is no reason to fail
			_ = p.lines.Encode(progressLine{progressStep{text, done, total}})
		}
		return
	}
	if p.off || time.Since(p.start) < progressAfter {
		return
	}
	if p.bar != nil && p.bar.GetMax64() < 0 && total > 0 { // what was waited for is counted now
		_ = p.bar.Clear()
		p.bar = nil
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions64(total, append(options, progressbar.OptionSetWriter(os.Stderr),
			progressbar.OptionClearOnFinish(), progressbar.OptionSetElapsedTime(false),
			progressbar.OptionSetPredictTime(false),
			progressbar.OptionSetWidth(barWidth(p.width)))...)
	}
	room := p.width - 4 // beside what turns
	if total > 0 {
		room = p.width - barWidth(p.width) - aroundBar
	}
	left := timeLeft(time.Since(p.start), done, total)
	if left != "" {
		left = ", " + left
	}
	p.bar.Describe(terminal.Cut(text, max(1, room-len(left))) + left) // the text gives way to the time
	// a terminal that went away is no reason to fail
	_ = p.bar.Set64(max(done, p.bar.State().CurrentNum))
}

// Stop removes the display.
func (p *Progress) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.off = true
	if p.bar != nil {
		_ = p.bar.Finish()
		p.bar = nil
	}
}

// timeLeft estimates the time of the rest, "" where too little is done for an estimate.
func timeLeft(since time.Duration, done, total int64) string {
	if since < 2*time.Second || 20*done < total || done >= total {
		return ""
	}
	left := time.Duration(float64(since) / float64(done) * float64(total-done))
	switch {
	case left < time.Minute:
		return fmt.Sprintf("about %d s left", int(math.Ceil(left.Seconds())))
	case left < time.Hour:
		return fmt.Sprintf("about %d min left", int(math.Ceil(left.Minutes())))
	}
	return fmt.Sprintf("about %d h left", int(math.Ceil(left.Hours())))
}

// Round serves as solve.Options.Progress. The share that is done is an estimate.
func (p *Progress) Round(r solve.Progress) {
	const whole = 1000
	p.Show("solving", whole, int64(whole*r.Share),
		fmt.Sprintf("round %d, error at least %.6f", r.Round, r.Error))
}

// Gap returns plurality/solve.Options.Progress. The bar's length is that of the gap's logarithm,
// from 1 to the goal. It repeats the last report while the solver sends none.
func (p *Progress) Gap(goal float64) func(pluralitysolve.Progress) {
	report, _ := p.repeated("solving")
	return func(at pluralitysolve.Progress) {
		share := math.Log(max(at.Gap(), goal)) / math.Log(goal)
		report(fmt.Sprintf("gap %.1e of %.0e, value %.4f", at.Gap(), goal, at.Value), share, share)
	}
}

// Prices returns plurality/answers/solve.Options.Progress, and the context of the search, by which each price
// tells how much of it is done.
func (p *Progress) Prices(ctx context.Context) (context.Context, func(answerssolve.Progress)) {
	report, within := p.repeated("pricing tables for many labels")
	return meter.With(ctx, within), func(at answerssolve.Progress) {
		report(fmt.Sprintf("pricing tables: %s, price %d", at.Law, at.Prices), at.Share, at.Next)
	}
}

// repeated returns a function that shows a share of the stage, and goes on to show it while no other is reported. Until
// then the bar moves towards the share that is to come next: by the part of that which is counted, told to the
// second function, else at the pace of the report before: the clock serves the display alone.
func (p *Progress) repeated(stage string) (report func(text string, share, next float64), within func(part float64)) {
	const whole = 1000
	var mu sync.Mutex
	text, share, next, counted, took := stage, 0., 0., 0., time.Duration(0)
	last := time.Now()
	p.app.Doing(stage)
	again := func() {
		mu.Lock()
		text, at := text, share
		if counted > 0 {
			at += (next - share) * counted
		} else if took > 0 {
			at += (next - share) * min(0.9, float64(time.Since(last))/float64(took))
		}
		mu.Unlock()
		p.Show(stage, whole, int64(whole*at), text)
	}
	if !p.off && p.lines == nil {
		go func() {
			for tick := time.Tick(ProgressEvery); !p.stopped(); <-tick {
				again()
			}
		}()
	}
	report = func(now string, at, following float64) {
		mu.Lock()
		text, share, next, counted = now, max(share, at), max(share, at, following), 0
		took, last = time.Since(last), time.Now()
		done := int64(whole * share)
		mu.Unlock()
		p.Show(stage, whole, done, now)
	}
	return report, func(part float64) {
		mu.Lock()
		counted = part
		mu.Unlock()
	}
}

func (p *Progress) stopped() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.off
}

// Count returns a function that shows how many of a known number of pieces are done.
func (p *Progress) Count(stage, pieces string) func(done, total int) {
	return func(done, total int) {
		p.Show(stage, int64(total), int64(done), fmt.Sprintf("%s: %d of %d %s", stage, done, total,
			pieces))
	}
}

// Rows returns a function that shows how much of the input was read, with the rate and
// the time left where the input's length is known.
func (p *Progress) Rows(stage string) func(votes.Progress) {
	return func(at votes.Progress) {
		total := at.TotalBytes
		if total <= 0 {
			total = -1
		}
		p.Show(stage, total, at.Bytes, fmt.Sprintf("%s: %d queries", stage, at.Rows),
			progressbar.OptionThrottle(100*time.Millisecond))
	}
}

// Wait displays, until Stop, that a stage without reports of its own is under way, and for how long.
func (p *Progress) Wait(stage string) { p.Work(context.Background(), stage, 1) }

// Work is Wait of a stage some of which is counted: by the context that it returns, pieces of work tell how much of
// each is done. pieces is about how many there are.
func (p *Progress) Work(ctx context.Context, stage string, pieces int) context.Context {
	w := &pieceMeter{pieces: pieces}
	p.app.Doing(stage)
	if p.lines != nil {
		return ctx
	}
	go func() {
		for tick := int64(1); ; tick++ {
			time.Sleep(ProgressEvery)
			if p.stopped() {
				return
			}
			const whole = 1000
			if share := w.share(); share > 0 {
				p.Show(stage, whole, int64(whole*share), stage)
			} else {
				p.Show(stage, -1, tick, sofar(stage, time.Since(p.start)), progressbar.OptionSpinnerType(14))
			}
		}
	}()
	return meter.With(ctx, w.tell)
}

// pieceMeter adds up the shares of pieces of work that are done one after the other. Where there are more than was
// thought, all but the last of them count for that many less one.
type pieceMeter struct {
	mu     sync.Mutex
	pieces int
	done   int     // pieces
	at     float64 // of the piece under way
}

func (w *pieceMeter) tell(share float64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if share < w.at/2 { // another one: workers tell shares out of order, but not so far
		w.done++
		w.at = 0
	}
	w.at = max(w.at, share)
}

func (w *pieceMeter) share() float64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return (float64(w.done) + w.at) / float64(max(w.pieces, w.done+1))
}

// sofar is the text of a stage without a known end.
func sofar(stage string, since time.Duration) string {
	if since < time.Minute {
		return fmt.Sprintf("%s, %d s so far", stage, int(since.Seconds()))
	}
	return fmt.Sprintf("%s, %d min so far", stage, int(since.Minutes()))
}

// stage is a task under way, by its name: "answering".
type stage struct {
	name   string
	finish bool // it is short, and goes on to its end after an interruption
}

// Doing sets the stage's name, which the error of an interruption has.
func (a *App) Doing(name string) { a.stage.Store(&stage{name: name}) }

// Finishing sets the name of a stage that goes on to its end after an interruption.
func (a *App) Finishing(name string) { a.stage.Store(&stage{name, true}) }

// interrupted confirms a signal on a terminal at once, with the stage that stops or is finished.
func (a *App) interrupted() {
	s := a.stage.Load()
	if s == nil || a.Quiet || a.JSON || !terminal.Is(a.Err) {
		return
	}
	how := "stopping"
	if s.finish {
		how = "finishing"
	}
	fmt.Fprintf(a.Err, "\ninterrupted: %s %s\n", how, s.name)
}

// interruption returns the error of an interrupted command, which names the interrupted task.
func (a *App) interruption(ctx context.Context, err error) error {
	text := err.Error()
	// which says no more than "interrupted"
	for _, told := range []error{context.Canceled, context.Cause(ctx)} {
		if told != nil {
			text = strings.TrimSuffix(strings.TrimSuffix(text, told.Error()), ": ")
		}
	}
	if text == (&lp.StatusError{Status: lp.Interrupted}).Error() { // nor does this
		text = ""
	}
	if s := a.stage.Load(); text == "" && s != nil {
		text = "stopped " + s.name
	} else if text == "" {
		text = "stopped before anything was done"
	}
	return fmt.Errorf("interrupted: %s", text)
}
