package main

import (
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
	off   bool
}

func newProgress(a *app) *progress {
	f, isFile := a.err.(*os.File)
	return &progress{start: time.Now(), off: a.quiet || a.json || !isFile || !term.IsTerminal(int(f.Fd()))}
}

// round is solve.Options.Progress.
func (p *progress) round(r solve.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.off || time.Since(p.start) < progressAfter {
		return
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions(-1, progressbar.OptionSetWriter(os.Stderr), progressbar.OptionClearOnFinish(),
			progressbar.OptionSpinnerType(14), progressbar.OptionSetElapsedTime(true))
	}
	p.bar.Describe(fmt.Sprintf("round %d, %d rows, worst violation %.1e, error at least %.9f", r.Round, r.Rows, r.Violation, r.Error))
	_ = p.bar.Add(1) // a terminal that went away is no reason to fail
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

// count returns a function that shows how many of a known number of pieces are done.
func (p *progress) count(title string) func(done, total int) {
	return func(done, total int) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.off || time.Since(p.start) < progressAfter {
			return
		}
		if p.bar == nil {
			p.bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(os.Stderr), progressbar.OptionClearOnFinish(),
				progressbar.OptionSetDescription(title), progressbar.OptionShowCount(), progressbar.OptionSetElapsedTime(true))
		}
		// Workers may come here out of order; the bar must not go back.
		done = max(done, int(p.bar.State().CurrentNum))
		_ = p.bar.Set(done) // a terminal that went away is no reason to fail
	}
}

// rows returns a function that shows how much of the input was read, with the rate and
// the time left where the input's length is known.
func (p *progress) rows(title string) func(votes.Progress) {
	return func(at votes.Progress) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.off || time.Since(p.start) < progressAfter {
			return
		}
		if p.bar == nil {
			total := at.TotalBytes
			if total <= 0 {
				total = -1
			}
			p.bar = progressbar.NewOptions64(total, progressbar.OptionSetWriter(os.Stderr), progressbar.OptionClearOnFinish(),
				progressbar.OptionShowBytes(true), progressbar.OptionSetElapsedTime(true), progressbar.OptionSetPredictTime(true),
				progressbar.OptionThrottle(100*time.Millisecond))
		}
		p.bar.Describe(fmt.Sprintf("%s, %d queries, %.0f/s", title, at.Rows, float64(at.Rows)/time.Since(p.start).Seconds()))
		_ = p.bar.Set64(at.Bytes) // a terminal that went away is no reason to fail
	}
}

// steps returns a function that shows which step of which experiment is being done.
func (p *progress) steps(experimentsDone, experiments int) func(experiment.Progress) {
	return func(at experiment.Progress) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.off || time.Since(p.start) < progressAfter {
			return
		}
		if p.bar == nil {
			p.bar = progressbar.NewOptions(at.Of, progressbar.OptionSetWriter(os.Stderr), progressbar.OptionClearOnFinish(),
				progressbar.OptionShowCount(), progressbar.OptionSetElapsedTime(true))
		}
		p.bar.Describe(fmt.Sprintf("%s (%d of %d): %s", at.Experiment, experimentsDone+1, experiments, at.Step))
		_ = p.bar.Set(at.Done) // a terminal that went away is no reason to fail
	}
}
