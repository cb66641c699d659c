package darrmbeam

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/votes"
)

// A box is a job's own directory for those who have the job key. Every file in it ends in a seal, a
// keyed hash of its name and content. What else may write there can so take a file away, which
// stops the job, and put none in its place: no label, no number of queries, no digest of votes.
type box struct {
	dir string
	key jobKeys
}

// put writes a file by the rules of [put].
func (b box) put(ctx context.Context, name string, content []byte) error {
	return put(ctx, join(b.dir, name), append(content[:len(content):len(content)],
		b.seal(name, content)...))
}

// worker is the common part of a job's workers. They find its keys before their first piece of work.
type worker struct {
	Temp string // the job's own directory
	Key  keyAt

	keys jobKeys
}

func (w *worker) Setup(ctx context.Context) (err error) {
	w.keys, err = w.Key.find(ctx)
	return err
}

// leave puts a file into the job's own directory.
func (w *worker) leave(ctx context.Context, name string, content []byte) error {
	return settled(box{w.Temp, w.keys}.put(ctx, name, content), lastingOutput)
}

// report is leave of a finding of the first pipeline, as JSON.
func (w *worker) report(ctx context.Context, name string, finding any) error {
	b, err := json.Marshal(finding)
	if err != nil {
		return err
	}
	return w.leave(ctx, name, b)
}

// get returns the content of a file that put wrote. Its absence is an os.ErrNotExist.
func (b box) get(ctx context.Context, name string) ([]byte, error) {
	path := join(b.dir, name)
	file, err := get(ctx, path)
	if err != nil {
		return nil, err
	}
	n := max(0, len(file)-sha256.Size)
	if !hmac.Equal(file[n:], b.seal(name, file[:n])) {
		return nil, fmt.Errorf("%s %w", path, errForged)
	}
	return file[:n], nil
}

// seal is HMAC of label ‖ len(name) ‖ name ‖ content: no pin of an input, which begins with the
// length of an id or with a magic, is the seal of a file.
func (b box) seal(name string, content []byte) []byte {
	h := b.key.Pin()
	h.Write([]byte("darrm beam seal\x00"))
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(name))))
	h.Write([]byte(name))
	h.Write(content)
	return h.Sum(nil)
}

// errOther is of two runs of one step that disagree.
var errOther = errors.New(
	"is there already and holds something else: two runs of one step disagree")

// errChanged is of an input that is not what the first pipeline read.
var errChanged = errors.New("changed")

// errForged is of a file in a job's directory that none of its workers put there.
var errForged error = &release.OutputError{Err: errors.New("is not as this job's workers left it")}

// lasting ends the text of an error that would come again: across a runner, nothing but text comes
// back.
const (
	lastingEnd    = "no further try would help)"
	lasting       = " (" + lastingEnd
	lastingInput  = " (the input is at fault: " + lastingEnd
	lastingOutput = " (a place to write is at fault: " + lastingEnd
)

// settled marks an error that every try of a worker would meet, by its cause.
func settled(err error, lasts string) error {
	var parse *votes.ParseError
	var parameter *check.Error
	again := errors.As(err, &parse) || errors.As(err, &parameter)
	for _, of := range []error{
		errOther, errChanged, errForged, fs.ErrNotExist, fs.ErrPermission, syscall.EROFS, syscall.ENOSPC,
		syscall.EDQUOT,
	} {
		again = again || errors.Is(err, of)
	}
	switch {
	case !again:
		return err
	case errors.Is(err, errOther):
		lasts = lasting
	}
	return fmt.Errorf("%w%s", err, lasts)
}

// isSettled reports whether another try would give the same error.
func isSettled(err error) bool {
	return err != nil && strings.Contains(err.Error(), lastingEnd)
}

// kindOf gives an error that came across a runner its type again.
func kindOf(err error) error {
	switch text := fmt.Sprint(err); {
	case strings.Contains(text, lastingInput):
		return &release.InputError{Err: err}
	case strings.Contains(text, lastingOutput):
		return &release.OutputError{Err: err}
	}
	return err
}
