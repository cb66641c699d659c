package main

import (
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/votes"
)

// progressAfter is how long a command may stay silent.
const progressAfter = time.Second

// progress shows how a solve is doing, on a terminal only and not before
// progressAfter. It is safe for concurrent use.
type progress struct {
	mu    sync.Mutex
	start time.Time
	bar   *progressbar.ProgressBar
	lines *json.Encoder // where a program reads along; nil for people
	told  time.Time     // the last line
	off   bool
}

// progressEvery is how often a program that reads along is told.
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
	if a.progress == progressJSON {
		return &progress{start: time.Now(), lines: json.NewEncoder(a.err)}
	}
	f, isFile := a.err.(*os.File)
	return &progress{start: time.Now(), off: a.quiet || a.json || !isFile || !term.IsTerminal(int(f.Fd()))}
}

// show says how many of total pieces are done; total is -1 where that is unknown. Workers may
// come here out of order: the bar does not go back.
func (p *progress) show(total, done int64, text string, options ...progressbar.Option) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lines != nil {
		if !p.off && time.Since(p.told) >= progressEvery {
			p.told = time.Now()
			_ = p.lines.Encode(progressLine{progressStep{text, done, total}}) // a reader that went away is no reason to fail
		}
		return
	}
	if p.off || time.Since(p.start) < progressAfter {
		return
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions64(total, append(options, progressbar.OptionSetWriter(os.Stderr),
			progressbar.OptionClearOnFinish(), progressbar.OptionSetElapsedTime(true))...)
	}
	p.bar.Describe(text)
	_ = p.bar.Set64(max(done, p.bar.State().CurrentNum)) // a terminal that went away is no reason to fail
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

// round is solve.Options.Progress.
func (p *progress) round(r solve.Progress) {
	p.show(-1, int64(r.Round), fmt.Sprintf("round %d, %d rows, worst violation %.1e, error at least %.9f", r.Round, r.Rows, r.Violation, r.Error),
		progressbar.OptionSpinnerType(14))
}

// count returns a function that shows how many of a known number of pieces are done.
func (p *progress) count(title string) func(done, total int) {
	return func(done, total int) { p.show(int64(total), int64(done), title, progressbar.OptionShowCount()) }
}

// rows returns a function that shows how much of the input was read, with the rate and
// the time left where the input's length is known.
func (p *progress) rows(title string) func(votes.Progress) {
	return func(at votes.Progress) {
		total := at.TotalBytes
		if total <= 0 {
			total = -1
		}
		p.show(total, at.Bytes, fmt.Sprintf("%s, %d queries, %.0f/s", title, at.Rows, float64(at.Rows)/time.Since(p.start).Seconds()),
			progressbar.OptionShowBytes(true), progressbar.OptionSetPredictTime(true), progressbar.OptionThrottle(100*time.Millisecond))
	}
}

// steps returns a function that shows which step of which experiment is being done.
func (p *progress) steps(experimentsDone, experiments int) func(experiment.Progress) {
	return func(at experiment.Progress) {
		p.show(int64(at.Of), int64(at.Done), fmt.Sprintf("%s (%d of %d): %s", at.Experiment, experimentsDone+1, experiments, at.Step),
			progressbar.OptionShowCount())
	}
}
