package darrmbeam

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/release"
)

// Engine holds the runner of a job's pipelines, and the places that its workers share.
type Engine struct {
	// Temp is a directory that workers and this process share. Defaults to a new one in
	// os.TempDir, for workers of this machine. What the job puts there is removed.
	Temp string
	// KeyDir is the directory where workers of other processes find the job key. Nobody else may
	// read it. "" keeps the key in this process's memory, for workers in this process.
	KeyDir string
	// Attempts is the number of tries of the second pipeline, where the runner itself does not
	// repeat what fails. An error that would come again is not tried again. Defaults to
	// DefaultAttempts.
	Attempts int
	// AttemptTimeout ends a pipeline that takes longer, for runners that may hang when a
	// worker is lost: an attempt then counts as failed, and reading the input is an error.
	// Defaults to the runner's own limit, which [Local] has and others may not.
	AttemptTimeout time.Duration
	// Run executes a pipeline and waits for its end. Required; see [Runner].
	Run func(context.Context, *beam.Pipeline) error
	// Retrying, if it is not nil, is called for every attempt that failed and is repeated.
	Retrying func(attempt int, err error)
}

// check checks the engine, and sets what is left out.
func (e *Engine) check() (err error) {
	e.Attempts = cmp.Or(e.Attempts, DefaultAttempts)
	switch {
	case e.Run == nil:
		return errors.New("the job has no runner")
	case e.Attempts < 1 || e.Attempts > MaxAttempts:
		return check.Wantf("attempts", e.Attempts, "between 1 and %d", MaxAttempts)
	case e.AttemptTimeout < 0:
		return check.Want("attempt timeout", e.AttemptTimeout, "≥ 0")
	}
	e.KeyDir, err = absolute(e.KeyDir)
	return err
}

// makeTemp makes the job's own directory in the temporary one.
func (e *Engine) makeTemp(ctx context.Context) (temp string, forget func() error, err error) {
	base, err := absolute(e.Temp)
	if err != nil {
		return "", nil, err
	}
	if isLocal(base) {
		if temp, err = os.MkdirTemp(base, "darrm-beam-"); err != nil { // permissions 0700
			return "", nil, &release.OutputError{Err: fmt.Errorf("--temp: %w", err)}
		}
		return temp, func() error { return removeAll(temp) }, nil
	}
	temp = join(base, "darrm-beam-"+rand.Text())
	return temp, func() error {
		ctx := context.WithoutCancel(ctx)
		names, err := list(ctx, temp, "*")
		for _, name := range names {
			err = errors.Join(err, remove(ctx, name))
		}
		return err
	}, nil
}

// removeAll is os.RemoveAll beside workers of other processes, which may still put a file there.
func removeAll(dir string) (err error) {
	for end := time.Now().Add(endTime); ; time.Sleep(20 * time.Millisecond) {
		if err = os.RemoveAll(dir); !errors.Is(err, syscall.ENOTEMPTY) || time.Now().After(end) {
			return err
		}
	}
}

// shared holds the places where the workers of a running job find its files and its key.
type shared struct {
	box         // the job's own directory
	keyAt keyAt // where workers find the key
}

// worker returns what the job's workers have in common.
func (s *shared) worker() worker { return worker{Temp: s.dir, Key: s.keyAt} }

// begin makes the directory, puts the keys where workers find them, and runs the first pipeline,
// which reads the input. end stops the workers and removes directory and keys; it must be called
// after an error too.
func (s *shared) begin(ctx context.Context, e *Engine, keys jobKeys, input string,
	read func() *beam.Pipeline) (end func() error, err error) {
	temp, forgetTemp, err := e.makeTemp(ctx)
	if err != nil {
		return func() error { return nil }, err
	}
	at, forgetKey, err := placeKey(ctx, e.KeyDir, keys)
	if err != nil {
		return forgetTemp, err
	}
	work := beginWork(keys.Fingerprint())
	*s, end = shared{box{temp, keys}, at}, func() error {
		work.end()
		defer works.Delete(keys.Fingerprint())
		return errors.Join(forgetKey(), forgetTemp())
	}
	if err := e.once(ctx, read); err != nil {
		return end, fmt.Errorf("read the %s: %w", input, err)
	}
	return end, nil
}

// finding reads what the first pipeline left in the directory on a file of the input.
func (s *shared) finding(ctx context.Context, name, file string, finding any) error {
	b, err := s.get(ctx, name)
	if errors.Is(err, os.ErrNotExist) {
		return &release.OutputError{Err: fmt.Errorf(
			"no report on %s arrived in %s: that directory must be one that the workers and this "+
				"process share", file, s.dir)}
	}
	if err = cmp.Or(err, json.Unmarshal(b, finding)); err != nil {
		return fmt.Errorf("%s: %w", join(s.dir, name), err)
	}
	return nil
}

// once runs a pipeline within the limit of an attempt. A panic of the SDK is an error: the key and
// the directory must go.
func (e *Engine) once(ctx context.Context, pipeline func() *beam.Pipeline) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the runner panics: %v%s", p, lasting)
		}
	}()
	inner := ctx
	if e.AttemptTimeout > 0 {
		var cancel context.CancelFunc
		inner, cancel = context.WithTimeout(ctx, e.AttemptTimeout)
		defer cancel()
	}
	err = kindOf(e.Run(inner, pipeline()))
	switch { // what failed when the time was up failed because of it
	case err == nil:
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case inner.Err() != nil && !errors.Is(err, context.Cause(inner)):
		err = fmt.Errorf("%w (%v)", context.Cause(inner), err)
	}
	return err
}

// repeat runs a pipeline until it succeeds. Every attempt has the same key, so the next one
// draws the same answers and writes the same files as a failed one.
func (e *Engine) repeat(ctx context.Context, pipeline func() *beam.Pipeline) (
	attempts int, err error) {
	for attempts < e.Attempts {
		attempts++
		err = e.once(ctx, pipeline)
		if err == nil || ctx.Err() != nil || isSettled(err) {
			break
		}
		if attempts < e.Attempts && e.Retrying != nil {
			e.Retrying(attempts, err)
		}
	}
	return attempts, err
}
