package darrmbeam

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
)

// store is a file system that does nothing once its context is done, as a real one across a
// network; what is closed can be seen.
type store map[string][]byte

func (store) Close() error { return nil }
func (s store) List(ctx context.Context, name string) (names []string, err error) {
	if _, ok := s[name]; ok {
		names = append(names, name)
	}
	return names, ctx.Err()
}
func (store) OpenRead(context.Context, string) (io.ReadCloser, error) {
	return nil, errors.New("not read")
}
func (s store) OpenWrite(_ context.Context, name string) (io.WriteCloser, error) {
	return &object{store: s, name: name}, nil
}
func (s store) Size(context.Context, string) (int64, error) { return 0, errors.New("not asked") }
func (s store) Remove(ctx context.Context, name string) error {
	if ctx.Err() == nil {
		delete(s, name)
	}
	return ctx.Err()
}

type object struct {
	bytes.Buffer
	store store
	name  string
}

func (o *object) Close() error { o.store[o.name] = o.Bytes(); return nil }

// What an interruption cut short is not seen, and an interruption does not keep it.
func TestInterruptedOutputIsRemoved(t *testing.T) {
	s := store{}
	filesystem.Register("interrupted", func(context.Context) filesystem.Interface { return s })
	ctx, cancel := context.WithCancel(t.Context())
	err := remoteOutput("interrupted://labels.csv").Write(ctx, func(w io.Writer) error {
		_, err := io.WriteString(w, "query,label\n0,1\n")
		cancel()
		return errors.Join(err, ctx.Err())
	})
	if !errors.Is(err, context.Canceled) || len(s) != 0 {
		t.Errorf("%v, left %q", err, s)
	}
}
