package main

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

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/lp"
	pluralitysolve "github.com/darrm/darrm/plurality/solve"
	"github.com/darrm/darrm/votes"
)

// progressAfter is the time before a command first shows its progress.
const progressAfter = time.Second

// progress shows how a solve is doing, on a terminal only and not before
// progressAfter. It is safe for concurrent use.
type progress struct {
	app   *app
	width int
	mu    sync.Mutex
	start time.Time
	bar   *progressbar.ProgressBar
	lines *json.Encoder // where a program reads along; nil for people
	told  time.Time     // the last line
	off   bool
}

// progressEvery is the time between two lines of progress for a program that reads them.
const progressEvery = 100 * time.Millisecond

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

func newProgress(a *app) *progress {
	p := &progress{app: a, width: terminal.Width(a.err), start: time.Now()}
	if a.progress == progressJSON {
		p.lines = json.NewEncoder(a.err)
	} else {
		p.off = a.quiet || a.json || !terminal.Is(a.err)
	}
	return p
}

// barWidth returns the width of a bar in a terminal of the given width.
func barWidth(width int) int { return min(max(width-64, 4), 16) }

// aroundBar is the width of the rest of the line but the text: the share, the bar's ends, spaces.
const aroundBar = 12

// show displays that done of total pieces of a stage are done; total is -1 where it is unknown.
// text describes the stage in more detail. Workers may call show out of order: the bar does not
// go back.
func (p *progress) show(stage string, total, done int64, text string,
	options ...progressbar.Option) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.app.doing(stage)
	if p.lines != nil {
		if !p.off && time.Since(p.told) >= progressEvery {
			p.told = time.Now()
			// a reader that went away is no reason to fail
			_ = p.lines.Encode(progressLine{progressStep{text, done, total}})
		}
		return
	}
	if p.off || time.Since(p.start) < progressAfter {
		return
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions64(total, append(options, progressbar.OptionSetWriter(os.Stderr),
			progressbar.OptionClearOnFinish(), progressbar.OptionSetElapsedTime(false),
			progressbar.OptionSetPredictTime(false),
			progressbar.OptionSetWidth(barWidth(p.width)))...)
	}
	if left := timeLeft(time.Since(p.start), done, total); left != "" {
		text += ", " + left
	}
	room := p.width - 4 // beside what turns
	if total > 0 {
		room = p.width - barWidth(p.width) - aroundBar
	}
	p.bar.Describe(terminal.Cut(text, room))
	// a terminal that went away is no reason to fail
	_ = p.bar.Set64(max(done, p.bar.State().CurrentNum))
}

func (p *progress) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.off = true
	if p.bar != nil {
		_ = p.bar.Finish()
		p.bar = nil
	}
}

// timeLeft estimates how long the rest takes, "" where too little is done to tell.
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

// round is solve.Options.Progress. How many rounds there will be, nobody knows.
func (p *progress) round(r solve.Progress) {
	p.show("solving", -1, int64(r.Round),
		fmt.Sprintf("round %d, %d rows, worst violation %.1e, error at least %.9f", r.Round, r.Rows,
			r.Violation, r.Error),
		progressbar.OptionSpinnerType(14))
}

// gap returns plurality/solve.Options.Progress. The bar's length is that of the gap's logarithm,
// from 1 to the goal. Since much of a solve tells nothing, what was told last is shown again.
func (p *progress) gap(goal float64) func(pluralitysolve.Progress) {
	const whole = 1000
	var mu sync.Mutex
	text, done := "solving", int64(0)
	p.app.doing("solving")
	again := func() {
		mu.Lock()
		text, done := text, done
		mu.Unlock()
		p.show("solving", whole, done, text)
	}
	if !p.off && p.lines == nil {
		go func() {
			for tick := time.Tick(progressEvery); !p.stopped(); <-tick {
				again()
			}
		}()
	}
	return func(at pluralitysolve.Progress) {
		mu.Lock()
		share := math.Log(max(at.Gap(), goal)) / math.Log(goal)
		text, done = fmt.Sprintf("gap %.1e of %.0e, value %.4f", at.Gap(), goal, at.Value),
			max(done, int64(whole*share))
		mu.Unlock()
		again()
	}
}

func (p *progress) stopped() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.off
}

// count returns a function that shows how many of a known number of pieces are done.
func (p *progress) count(stage, pieces string) func(done, total int) {
	return func(done, total int) {
		p.show(stage, int64(total), int64(done), fmt.Sprintf("%s: %d of %d %s", stage, done, total,
			pieces))
	}
}

// rows returns a function that shows how much of the input was read, with the rate and
// the time left where the input's length is known.
func (p *progress) rows(stage string) func(votes.Progress) {
	return func(at votes.Progress) {
		total := at.TotalBytes
		if total <= 0 {
			total = -1
		}
		p.show(stage, total, at.Bytes, fmt.Sprintf("%s: %d queries", stage, at.Rows),
			progressbar.OptionThrottle(100*time.Millisecond))
	}
}

// wait shows until stop that a stage is under way which tells nothing of itself.
func (p *progress) wait(stage string) {
	p.app.doing(stage)
	if p.lines != nil {
		return
	}
	go func() {
		for tick := int64(1); ; tick++ {
			time.Sleep(progressEvery)
			if p.stopped() {
				return
			}
			p.show(stage, -1, tick, stage, progressbar.OptionSpinnerType(14))
		}
	}()
}

// steps returns a function that shows which step of which experiment is being done.
func (p *progress) steps(experimentsDone, experiments int) func(experiment.Progress) {
	return func(at experiment.Progress) {
		p.show("running "+at.Experiment, int64(at.Of), int64(at.Done),
			fmt.Sprintf("%s (%d of %d): %s", at.Experiment, experimentsDone+1, experiments, at.Step))
	}
}

// stage is a task under way, by its name: "answering".
type stage struct {
	name   string
	finish bool // it is short, and goes on to its end after an interruption
}

// doing notes what is being done, which an interruption tells.
func (a *app) doing(name string) { a.stage.Store(&stage{name: name}) }

// finishing notes what is not left half done.
func (a *app) finishing(name string) { a.stage.Store(&stage{name, true}) }

// interrupted says on a terminal, at once, that a signal was heard and what is finished.
func (a *app) interrupted() {
	s := a.stage.Load()
	if s == nil || a.quiet || a.json || !terminal.Is(a.err) {
		return
	}
	how := "stopping"
	if s.finish {
		how = "finishing"
	}
	fmt.Fprintf(a.err, "\ninterrupted: %s %s\n", how, s.name)
}

// interruption returns the error of an interrupted command, which names the interrupted task.
func (a *app) interruption(ctx context.Context, err error) error {
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
