package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// What is read is what is there, in whatever pieces.
func TestInputPassesEverythingOn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := bytes.Repeat(rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "bytes"),
			rapid.IntRange(0, 700).Draw(t, "times"))
		a := &App{In: bytes.NewReader(want)}
		r, err := a.Open(context.Background(), "-", 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(iotest.HalfReader(r))
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%d bytes, %v; want %d", len(got), err, len(want))
		}
	})
	name := filepath.Join(t.TempDir(), "file")
	want := bytes.Repeat([]byte("0,1\n"), 1<<16)
	if err := os.WriteFile(name, want, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := (&App{}).Open(context.Background(), name, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, %v; want %d", len(got), err, len(want))
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// silent is a reader that never returns, and tells when it was called.
type silent chan struct{}

func (s silent) Read([]byte) (int, error) {
	close(s)
	select {}
}

// A read that waits for ever ends with its context, and so does every later one.
// The test hangs if it does not.
func TestInputEndsWithItsContext(t *testing.T) {
	in := make(silent)
	ctx, cancel := context.WithCancel(context.Background())
	r, err := (&App{In: in}).Open(ctx, "-", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		_, err := r.Read(make([]byte, 10))
		done <- err
	}()
	<-in
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	if n, err := r.Read(make([]byte, 10)); n != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("a later read: %d, %v", n, err)
	}
	if _, err := (&App{}).Open(ctx, filepath.Join(t.TempDir(), "missing"), 1<<20); err == nil {
		t.Error("a file that is missing was opened")
	}
}
