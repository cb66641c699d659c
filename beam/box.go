package darrmbeam

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/votes"
)

// A box is a job's own directory for those who have the job key. Every file in it ends in a seal, a keyed hash of its
// name and content. What else may write there can so take a file away, which stops the job, and put none
// in its place: no label, no number of queries, no digest of votes.
type box struct {
	dir string
	key secret
}

// put writes a file by the rules of [put].
func (b box) put(ctx context.Context, name string, content []byte) error {
	return put(ctx, join(b.dir, name), append(content[:len(content):len(content)], b.seal(name, content)...))
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
		return nil, fmt.Errorf("%s is not as this job's workers left it", path)
	}
	return file[:n], nil
}

// seal is HMAC of label ‖ len(name) ‖ name ‖ content: no pin of an input, which begins with the length of an id or
// with a magic, is the seal of a file.
func (b box) seal(name string, content []byte) []byte {
	h := b.key.Pin()
	h.Write([]byte("darrm beam seal\x00"))
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(name))))
	h.Write([]byte(name))
	h.Write(content)
	return h.Sum(nil)
}

// errOther is of two runs of one step that disagree.
var errOther = errors.New("is there already and holds something else: two runs of one step disagree")

// errChanged is of an input that is not what the first pipeline read.
var errChanged = errors.New("changed")

// lasting ends the text of an error that would come again: across a runner, nothing but text comes back.
const lasting = " (no further try would help)"

// settled marks an error of a worker that every try would meet.
func settled(err error) error {
	var parse *votes.ParseError
	var parameter *check.Error
	for _, of := range []error{errOther, errChanged, fs.ErrNotExist, fs.ErrPermission, syscall.EROFS, syscall.ENOSPC} {
		if errors.Is(err, of) {
			return fmt.Errorf("%w%s", err, lasting)
		}
	}
	if errors.As(err, &parse) || errors.As(err, &parameter) {
		return fmt.Errorf("%w%s", err, lasting)
	}
	return err
}

// isSettled says whether trying again would not help.
func isSettled(err error) bool { return strings.Contains(err.Error(), lasting) }
