//go:build unix

package main

import (
	"context"
	"errors"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// Opening a named pipe waits for its writer; nobody comes here. The test hangs if
// the wait does not end with the context.
func TestOpenEndsWithItsContext(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	// Leaves the abandoned open a way to end.
	defer func() {
		if fd, err := syscall.Open(pipe, syscall.O_RDWR|syscall.O_NONBLOCK, 0); err == nil {
			defer syscall.Close(fd)
			time.Sleep(10 * time.Millisecond)
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := (&app{}).open(ctx, pipe); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want context.DeadlineExceeded", err)
	}
}
