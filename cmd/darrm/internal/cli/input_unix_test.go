//go:build unix

package cli

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/darrm/darrm/release/exitcode"
)

// Nobody writes to the pipe, and /dev/zero has no end. The test hangs, or takes all memory,
// if one of them is read.
func TestOpenTakesRegularFilesOnly(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{pipe: pipe + " is a pipe, not a file",
		"/dev/zero": "/dev/zero is a device, not a file"} {
		_, err := (&App{}).Open(context.Background(), path, 1<<20)
		if err == nil || err.Error() != want || (&App{}).exitCode(context.Background(), err) != exitcode.Input {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// Stdin is limited like a file.
func TestStdinIsLimited(t *testing.T) {
	r, err := (&App{In: bytes.NewReader(make([]byte, 1000))}).Open(context.Background(), "-", 999)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(r); len(b) != 999 || err == nil ||
		err.Error() != "stdin has more than 999 bytes, the most that are read of it" {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}
