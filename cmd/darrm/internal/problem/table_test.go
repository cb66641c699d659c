package problem

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/internal/testing/must"
)

// endsLater is a context that ends once over is set. Its end closes no channel: only calls of Err
// notice it.
type endsLater struct {
	context.Context
	over *atomic.Bool
}

func (c endsLater) Err() error {
	if c.over.Load() {
		return context.Canceled
	}
	return nil
}

// endOf sets over when its reader is at its end.
type endOf struct {
	io.Reader
	over *atomic.Bool
}

func (r endOf) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err == io.EOF {
		r.over.Store(true)
	}
	return n, err
}

// A table is not only read but checked until its context ends, of either kind: an interrupt that
// comes when the file has been read stops the check, which may take minutes.
func TestCheckEndsWithItsContext(t *testing.T) {
	for _, path := range []string{"../../../../gamma/testdata/k11-m3-free.json",
		"../../../../python/tests/tables/classes/k7-c3.json"} {
		data := must.Get(os.ReadFile(filepath.FromSlash(path)))(t)
		var over, never atomic.Bool
		a := &cli.App{In: endOf{bytes.NewReader(data), &over}}
		if _, err := checkTable(endsLater{t.Context(), &over}, a, "-"); !errors.Is(err,
			context.Canceled) || !over.Load() {
			t.Errorf("%s: %v", path, err)
		}
		a.In = bytes.NewReader(data)
		if _, err := checkTable(endsLater{t.Context(), &never}, a, "-"); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}
