package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/darrm/darrm/lp"
	answerssolve "github.com/darrm/darrm/plurality/answers/solve"
)

// An estimate is given when enough is done to tell, and never of what is over.
func TestTimeLeft(t *testing.T) {
	for _, tt := range []struct {
		since       time.Duration
		done, total int64
		want        string
	}{
		{time.Second, 50, 100, ""},
		{10 * time.Second, 1, 100, ""},
		{10 * time.Second, 100, 100, ""},
		{10 * time.Second, 7, -1, ""},
		{10 * time.Second, 50, 100, "about 10 s left"},
		{2 * time.Second, 5, 100, "about 38 s left"},
		{10 * time.Minute, 3, 9, "about 20 min left"},
		{10 * time.Hour, 9, 10, "about 2 h left"},
	} {
		if got := timeLeft(tt.since, tt.done, tt.total); got != tt.want {
			t.Errorf("%v for %d of %d: %q, want %q", tt.since, tt.done, tt.total, got, tt.want)
		}
	}
}

// A program that reads along is told a share of every stage that reports prices, which does not go back.
func TestSharesOfPrices(t *testing.T) {
	var told bytes.Buffer
	p := NewProgress(&App{Err: &told, progress: progressJSON})
	_, report := p.Prices(t.Context())
	p.told = time.Time{}
	report(answerssolve.Progress{Law: "chain", Prices: 2, Share: .25, Next: .5})
	p.told = time.Time{}
	report(answerssolve.Progress{Law: "one", Prices: 3, Share: .125, Next: .25})
	p.Stop()
	want := `{"progress":{"text":"pricing tables: chain, price 2","done":250,"total":1000}}` + "\n" +
		`{"progress":{"text":"pricing tables: one, price 3","done":250,"total":1000}}` + "\n"
	if told.String() != want {
		t.Errorf("told\n%s\nwant\n%s", told.String(), want)
	}
}

// The error of an interrupted command names the interrupted task.
func TestInterruption(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("interrupt signal received"))
	a := &App{Err: &bytes.Buffer{}}
	if got := a.interruption(ctx, fmt.Errorf("votes.csv: %w", context.Cause(ctx))).Error(); got !=
		"interrupted: votes.csv" {
		t.Error(got)
	}
	if got := a.interruption(ctx, context.Canceled).Error(); got !=
		"interrupted: stopped before anything was done" {
		t.Error(got)
	}
	a.Doing("planning")
	if got := a.interruption(ctx, context.Canceled).Error(); got != "interrupted: stopped planning" {
		t.Error(got)
	}
	if got := a.interruption(ctx, &lp.StatusError{Status: lp.Interrupted,
		Err: context.Canceled}).Error(); got != "interrupted: stopped planning" {
		t.Error(got)
	}
	a.Finishing("writing the entry in the ledger")
	if got := a.interruption(ctx, fmt.Errorf("3 of 4 are kept: %w", context.Canceled)).Error(); got !=
		"interrupted: 3 of 4 are kept" {
		t.Error(got)
	}
	if got := a.interruption(ctx, errors.New("the disk is full")).Error(); got !=
		"interrupted: the disk is full" {
		t.Error(got)
	}
}

// A stage that nobody can count says how long it has been.
func TestSoFar(t *testing.T) {
	for since, want := range map[time.Duration]string{1900 * time.Millisecond: "certifying, 1 s so far", 59 * time.Second: "certifying, 59 s so far",
		time.Minute: "certifying, 1 min so far", 150 * time.Second: "certifying, 2 min so far"} {
		if got := sofar("certifying", since); got != want {
			t.Errorf("%v: %q, want %q", since, got, want)
		}
	}
}

// Work that is counted has a share, which grows over its pieces; that of a price moves the bar within the search.
func TestSharesOfWork(t *testing.T) {
	w := &pieceMeter{pieces: 2}
	if got := w.share(); got != 0 {
		t.Errorf("%v before anything is told", got)
	}
	for _, tt := range []struct{ told, want float64 }{{.1, .05}, {.5, .25}, {.4, .25}, {1, .5}, {.2, .6}, {1, 1}, {.4, .8}} {
		w.tell(tt.told)
		if got := w.share(); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("told %v: %v, want %v", tt.told, got, tt.want)
		}
	}
}
