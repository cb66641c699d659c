//go:build unix

package votes

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A named pipe is read once and opened again; one that nobody writes to is waited for until the
// context ends.
func TestKeptPipes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	go func() {
		w, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err == nil {
			_, err = w.WriteString("t1,t2\n1,1\n0,1\n")
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			t.Error(err)
		}
	}()
	k, err := Keep(context.Background(), Options{}, path)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	for range 2 {
		r, err := k.Open(context.Background(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := collect(r); err != nil || got.N != 2 || got.K != 2 {
			t.Errorf("%+v, error %v", got, err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if k, err := Keep(ctx, Options{}, path); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, error %v", k, err)
	}
	w, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0) // lets the reader that was left go on
	if err == nil {
		w.Close()
	}
}
